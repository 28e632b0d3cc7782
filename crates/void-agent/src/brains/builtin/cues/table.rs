//! The words themselves, topic by topic, with how much they show.

use super::super::topics::Topic;

/// The weight of a question that can be nothing else, of a phrase that means one thing, of a word that does, of
/// a hint, and of what counts only where nothing else is found.
const DECISIVE: u32 = 20;
const CERTAIN: u32 = 8;
pub(in super::super) const STRONG: u32 = 5;
pub(in super::super) const HINT: u32 = 3;
pub(super) const WEAK: u32 = 1;

pub(super) const CUES: [(Topic, u32, &str); 51] = [
    (
        Topic::Freeze,
        CERTAIN,
        "freeze|unfreeze|thaw*|einfrieren|einzufrieren|friere|frier|auftau*|taue|notaus|not aus|notstop*\
         |notbremse|emergency|brake*|panic|kill switch|killswitch|lockdown|lock everything|stop the world\
         |pull the plug|stop* everything|halt/pause/kill/abort .. everything|everything .. stop/off\
         |shut everything|shut .. all down|stop/halt/pause all|all stop|hands off everything|stopp* .. alles\
         |halt* .. alles|sperr* alles|alles .. stopp*|alles .. anhalten|alles .. abschalten|alles .. aus\
         |alles .. runterfahren|alles sperren|pause yourself|stop/pause all agents|all* agent* stopp*/anhalt*/pausier*/halt\
         |disable yourself|cease everything",
    ),
    (
        Topic::Mute,
        DECISIVE,
        "mute*|unmute*|snooze*|silence*|stummschalt*|stumm .. schalt*|schalt* .. stumm|stumm|schalt* .. fuer .. stumm*|shut up about|stop telling/notifying/alerting me|stop/stoppe .. meldungen/nachrichten/alarme\
         |stop .. notification*/alert*/messages|no .. notification*/alert*|keine .. meldung*/nachricht*/benachrichtigung*\
         |hoer auf .. melden/nerven|stop bugging/nagging me|turn off .. notification*/alert*|benachrichtigung* .. aus*",
    ),
    (
        Topic::Backup,
        DECISIVE,
        "make/create/take/do/run/start/trigger .. backup|^back .. up|^backup $|^backup now/please/void|backup now|mach*/erstell*/zieh*/leg* .. backup\
         |mach*/erstell* .. sicherung*|sicherung .. machen/erstellen/anlegen|backup .. machen/erstellen/anlegen/ziehen\
         |make/create/take .. snapshot|mach*/erstell* .. snapshot",
    ),
    (
        Topic::Reminder,
        DECISIVE,
        "remind me/us|^remind|set .. reminder*|reminder* for|erinner* mich/uns|erinnerung .. an/fuer|weck* mich",
    ),
    (
        Topic::Updates,
        DECISIVE,
        "update/updates/upgrade .. for/of void|update/updates/upgrade .. fuer void|void .. update/updates/upgrade/aktualisier*\
         |new/newer/newest/latest version|neue/neuere/neueste version|void .. up to date|void .. aktuell|update/upgrade void\
         |version .. void|void .. version",
    ),
    (
        Topic::ExplainAction,
        CERTAIN,
        "can/could/will/would/does/might/kann/koennte/wird/wuerde .. break/harm/hurt/damage/interrupt/affect\
         |break anything/something|breaks anything/something|what breaks|what .. affected|was .. betroffen|what depends|depends on\
         |haengt .. ab|kann .. schaden/kaputtgehen|.. kaputt machen|etwas/was kaputt .. gehen|schadet",
    ),
    (
        Topic::Verify,
        DECISIVE,
        "record/log/audit/chain/history .. intact/complete/whole/genuine/damaged/trustworthy/ok/okay/valid|intact|tamper*|manipul*\
         |unversehrt|verify .. record/audit/chain/log|audit .. verify|verfaelscht|gefaelscht|forged|protokoll .. ordnung/vollstaendig\
         |record .. trust|trust .. record|aufzeichnung* .. echt/vollstaendig/ordnung|hash chain|edited .. record|record .. edited/changed",
    ),
    (
        Topic::Undo,
        CERTAIN,
        "undo*|undone|revert*|reverse it/that/this|rueckgaengig|ungeschehen|take .. back|put .. back\
         |change .. back|set .. back|go back to|back to how/what/where|roll it/that/this back|rollback .. it/that\
         |restore .. before/previous|nimm .. zurueck|nehm* .. zurueck|mach* .. zurueck|dreh* .. zurueck\
         |setz* .. zurueck|roll* .. zurueck|zurueck damit|zuruecknehmen|zuruecksetzen|zurueckdrehen|zurueckrollen\
         |wiederherstell*|wie vorher|wie es war|wie davor|like before|as it was|the way it was|did not mean that\
         |was a mistake|ein versehen|aus versehen|like it was|wie es vorher|scrap that",
    ),
    (
        Topic::FollowUp,
        CERTAIN,
        "did it/that/this work*/help*/run/go/finish/succeed/fix|did it/that really/actually work/help\
         |is it/that done/finished/over/through/fixed|is it .. now|did you do it|has it run/finished/worked\
         |how did it/that go|what became of|any news|daraus geworden|it worked|is it better\
         |hat es/das geklappt/funktioniert/geholfen/gewirkt|hat es .. gebracht\
         |ist es/das fertig/durch/erledigt/besser|es .. geklappt|lief es|war es erfolgreich|^worked|^geklappt\
         |^done|^fertig|^erledigt|^erfolgreich|^better|^besser|^and now|^und jetzt|^und nun|^und $|^and $\
         |^result*|^ergebnis|^success*|gibt es neuigkeiten|still broken|is it back|ist es wieder da|wieder da",
    ),
    (
        Topic::Waiting,
        STRONG,
        "waits|waiting|pending|inbox|queue*|approval*|to approve|i approve|sign .. off|signoff|to sign\
         |my yes/ok/okay/decision/go/approval/attention/turn|need* .. from me|need* me|need/needs my|on my plate\
         |i block*|blocking me|wartet|warten|freigab*|freigeb*|freizugeben|genehmig*|absegn*|abnick*|zustimm*\
         |mein ok/okay/ja|steht .. aus|steht .. an|liegt .. an|was .. offen|noch offen*|offene*|ausstehend*\
         |outstanding|anstehend*|to decide/confirm/review|entscheid*|decide*|decision*|bestaetig*|auf mich\
         |von mir|brauch* .. mich|anfragen|antraege|requests|backlog|postfach|posteingang|anything .. for me\
         |something .. for me|fuer mich|todo*|zu tun|left to do|me to do|my input|awaiting|on hold|wartest\
         |worauf warte*|muss ich .. machen/tun/klicken/bestaetigen|muss ich ran|do i have/need to do|to click\
         |yes to|ja sagen|ok geben",
    ),
    (
        Topic::Refused,
        STRONG,
        "refus*|denied|deny|denies|declin*|reject*|turned down|blocked|abgelehnt|ablehn*|verweiger*|blockiert\
         |zurueckgewiesen|fehlgeschlag*|failed|fail|failure*|fails|schief*|went wrong|gone wrong|go wrong\
         |suspicious|unusual|verdaechtig*|ungewoehnlich*|verboten|forbidden|not allowed|gescheitert|misslungen",
    ),
    (
        Topic::HowTo,
        CERTAIN,
        "how do/can/would/should/could/must/might i/we/one|how do you|how to\
         |wie kann/muss/soll/starte/stoppe/schalte/mache/mach/boote/fahre/bekomme/krieg/kriege/fuehre .. ich/man\
         |wie startet/stoppt/macht/schaltet .. man|which command|what command|welcher befehl|welchen befehl\
         |what do i type|show me how|zeig mir wie|walk me through|wie geht das",
    ),
    (
        Topic::ExplainAction,
        CERTAIN,
        "explain*|erklaer*|describe*|beschreib*|happen* .. if/when|what would happen|what will happen|what if\
         |passiert .. wenn/bei/falls|was waere|was wuerde|what .. @|was .. @|is/ist/are @\
         |can/may/should/could/kann/darf/soll i/ich .. @|wozu|wofuer|what .. good for|what is .. for|about @\
         |ueber @|bewirkt|is it safe|safe to|safely|ist es sicher|how risky|how dangerous|difference between\
         |unterschied|consequence*|side effect*|auswirkung*|folgen|info .. @|details .. @|mehr zu @|more about\
         |the point of|the deal with|schlimm wenn|mean to|what does/would/will .. .. do",
    ),
    (
        Topic::ExplainAction,
        STRONG,
        "risky|risk|risks|dangerous|gefaehrlich*|riskant*|harmless|harmlos|destructive|can .. be|kann .. werden\
         |who may/can|wer darf/kann",
    ),
    (
        Topic::Logs,
        CERTAIN,
        "check/show/read/see/open/get .. log/logs|look .. log/logs|zeig*/lies/schau*/guck* .. log/logs/logfile/protokoll",
    ),
    (
        Topic::Logs,
        STRONG,
        "log|logs|logged|logging|geloggt|logfile*|logdatei*|logeintr*|syslog*|dmesg|journal*|protokoll*|stdout\
         |stderr|printed|output|console|konsole|ausgabe*|ausgegeben|stack trace*|stacktrace*|traceback*\
         |last .. lines|letzten .. zeilen|tail|show .. error*|zeig .. fehler*|welche* fehler*|which error*|debug*\
         |trace|print|loggt",
    ),
    (
        Topic::RunningOut,
        CERTAIN,
        "running/run/runs/ran out|out of .. space/memory/disk/room|disk*|storage|ram|cpu*|temperature*|temps\
         |festplatte*|platte*|speicherplatz|platz|temperatur*|laeuft .. voll|fill* up|stromverbrauch|power usage\
         |zfs|raid|backup*|sicherung*|snapshot*|how much/many .. left/free|wie viel/viele .. noch/frei\
         |wieviel .. noch/frei|running/run/runs/getting low|low on|zur neige",
    ),
    (
        Topic::RunningOut,
        STRONG,
        "drive|drives|space|memory|capacity|speicher*|auslastung|prozessor*|swap|bandwidth|bandbreite|traffic\
         |zertifikat*|certificate*|certs|nas|ssd|hdd|gb|tb|gigabyte*|gigs|full|voll|knapp|usage|the load\
         |load average|overload*|ueberlast*|heiss|hot|warm|geht .. aus|watt|verbrauch|energy|resources|ressourcen\
         |quota|wie viel|wieviel|how much|enough",
    ),
    (
        Topic::RunningOut,
        HINT,
        "update|upgrade*|aktualisier*|updates available",
    ),
    (
        Topic::Uptime,
        DECISIVE,
        "how long|how longs|since when|wie lang*|seit wann",
    ),
    (
        Topic::Uptime,
        CERTAIN,
        "uptime*|laufzeit|been .. up/down/running|when .. go/went/gone/get/got down/offline\
         |when .. crash*/die/died/fail|when .. come/came back/up\
         |wann .. ausgefallen/abgestuerzt/gestorben/abgeraucht/down/offline/weg/hochgekommen|schon lang*|down for\
         |when .. last up/down/seen/online|wann .. zuletzt da/up/online/erreichbar|downtime|letzter ausfall\
         |last outage",
    ),
    (
        Topic::History,
        DECISIVE,
        "how long ago|how long since|wie lange .. her",
    ),
    (
        Topic::History,
        CERTAIN,
        "logged in|signed in|sign ins|logins|angemeldet|eingeloggt|audit*\
         |last .. actions/things/requests/events/entries/restart/reboot|letzte* .. aktion*/neustart*\
         |letzte* .. ereignis*|letzte* .. eintr*|catch me up|up to speed|update me|an update|any update*\
         |neuesten stand|who approved|who said yes|wer .. erlaubt|wer .. genehmigt|wer .. freigegeben\
         |how was the night/day/weekend/week|wie war die/der/das",
    ),
    (
        Topic::History,
        STRONG,
        "happen*|passiert|geschehen|what changed|has changed|geaendert|veraendert|what is new|anything new\
         |what was new|something new|neues|neuigkeiten|missed|i miss|verpasst|recap|history|verlauf|historie\
         |timeline|activity|activities|aktivitaet*|events|ereignisse|what went on|been going on|goes on|was ging\
         |was lief|what ran|war .. los|los war|was gab es|gab es|was/were there|there been|has there|getrieben\
         |zusammenfass*|fass .. zusammen|record|been doing|been up to|what did|what have|what has|was hast\
         |was hat|was haben|was war|was wurde|when did/was/were/has/have\
         |wann wurde/wurden/hast/hat/war/haben/lief|why did|why have|why was|warum hast/hat/wurde\
         |wieso hast/hat/wurde|while i|while away|waehrend ich|als ich|ich weg war|the last thing\
         |last/latest action|zuletzt|did/has/have anyone/anybody/someone/somebody|hat .. jemand|hat .. wer\
         |was that you|warst du|did .. do|hat .. gemacht|hat .. getan|has .. done|by whom|von wem|which agent\
         |welcher agent|responsible|schuld|rumgespielt|gefummelt|anything interesting|anything exciting\
         |was spannendes|ruhige nacht|quiet night|what were you|tell me everything|erzaehl*|in my absence\
         |meiner abwesenheit|ich weg bin|sonst so|to blame|whats the story|last visit|news|anybody been\
         |jemand da gewesen|getan|was gewesen",
    ),
    (
        Topic::History,
        HINT,
        "^who|^whose|^wer|^when|^wann|^did|^has|^have|^had|^hast|^hat|^haben|^habe|^wurde|^wurden|^war|^waren\
         |^were|restarted|rebooted|gestartet|neugestartet|gestoppt|ausgeschaltet|touched|angefasst|changed\
         |last night|overnight|ueber nacht|heute nacht|letzte nacht|yesterday|gestern|this morning|heute morgen\
         |heute frueh|this week|diese woche|weekend|wochenende|recently|lately|earlier|vorhin|kuerzlich\
         |letzter zeit|since|seit|ran|approved|genehmigt|asked for|the latest|past hour*|last hour*\
         |letzte* stunde*|monday|tuesday|wednesday|thursday|friday|saturday|sunday|montag|dienstag|mittwoch\
         |donnerstag|freitag|samstag|sonntag",
    ),
    (
        Topic::OnPlace,
        STRONG,
        "what is on|what runs on|what is running on|which/what services .. on|was laeuft auf|was ist auf\
         |what lives on|what do we have on|welche dienste .. auf|was liegt auf|was gibt es auf",
    ),
    (
        Topic::Abilities,
        CERTAIN,
        "what can/may/could you|what else can you|you can do|can you do|who are you|what are you\
         |which/list/show .. actions|abilities|capabilities|capable|features|commands|befehle|was kannst\
         |was darfst|was koenntest|was machst du|was tust du|wer bist du|bist du ein*|are you a/an\
         |welche aktionen|allowed to do|you allowed|faehigkeiten|what is possible|was kann ich|was kann man\
         |what can i|what do you do|what do you know|possible actions|moegliche aktionen|options|optionen\
         |moeglichkeiten|your name|dein name|heisst du|introduce yourself|stell dich vor|you help|du helfen\
         |you for|du da|examples|beispiele|what do i say|tipps|tips|can you help|du .. helfen|you understand\
         |verstehst du|i say|say to you|tell you|talk to you|dir sagen|ich .. sagen|rede ich mit dir|ask you|dich .. fragen|fragen kann|can i ask",
    ),
    (
        Topic::Abilities,
        STRONG,
        "^help|help me|need help|hilfe|^hilf|^menu|instructions|your job|deine aufgabe",
    ),
    (
        Topic::Check,
        STRONG,
        "wrong|broken|problem*|trouble*|issue*|kaputt*|defekt*|alarm*|alert*|warning*|warnung*|outage*|incident*\
         |vorfall*|vorfaelle|stimmt .. nicht|stoerung*|ausfall*|ausfaelle|aerger|auffaellig*\
         |what/who/anything/something is/are down|anything/something down|failing|need* .. attention\
         |needs .. fixing|worry|sorgen|should i do/look/fix|i should|is off|anything/something .. off|strange\
         |komisch*|seltsam*|merkwuerdig*|irgendwas/irgendetwas .. nicht|was geht .. nicht|was laeuft .. nicht\
         |was funktioniert .. nicht|nichts geht|geht nichts|nothing works/work|nothing is working\
         |nothing .. works|brennt|on fire|is red|was ist .. los|was fehlt|ist was|fix everything|fix it/that\
         |repair everything|look after|ausgefallen|what does not|soll ich .. machen|the matter|unhealthy\
         |anything bad|schlimm*|complain*|bad news|sick|krank",
    ),
    (
        Topic::Check,
        CERTAIN,
        "which .. down|services .. down|dienste .. down|what .. down",
    ),
    (
        Topic::Explain,
        CERTAIN,
        "can not .. log/sign/open/see/watch/reach/connect/get/load/use/access/play\
         |kann .. nicht .. oeffnen/sehen/schauen/erreichen/nutzen/anmelden/einloggen/gucken\
         |komm* .. nicht .. rein/drauf/ran",
    ),
    (
        Topic::Explain,
        STRONG,
        "feel*|seem*|not work*|not respond*|not load*|not open*|not connect*|not answer*|not play*|not stream*\
         |hang|hangs|hanging|stuck|crash*|unreachable|reachable|erreich*|unerreichbar|unresponsive|acting|weird\
         |laggy|lagging|lags|laggt|slow|langsam|lahm*|spinn*|haengt|hakt|klemmt|freezes|freezing|frozen|friert\
         |eingefroren|tot|dead|died|geht .. nicht|laeuft .. nicht|laedt .. nicht|antwortet .. nicht\
         |reagiert .. nicht|funktioniert .. nicht|startet .. nicht|will/mag/tut nicht|kommt .. nicht\
         |komm* .. nicht|oeffnet .. nicht|verbindet .. nicht|is/ist weg|gone|verschwunden|offline|down|zickt\
         |streikt|buffer*|stutter*|ruckel*|ruckelt|abgestuerzt|abgeraucht|im eimer|am arsch|hinueber|spackt\
         |unavailable|timeout*|timing out|forever|ewig|not .. reach|problem* with|wrong with|up with\
         |was ist .. mit|los mit|error*|fehler*|bug*|flaky|messed up|alive|screen|bildschirm|404|500|502|503|504\
         |will/mag/tut/kann .. nicht $|not found|nicht gefunden",
    ),
    (
        Topic::Explain,
        HINT,
        "^why|^warum|^wieso|^weshalb|check|look at|look into|nach .. schau*|nach .. gucken|schau*|guck*|how is\
         |how does|wie geht|wie laeuft|wie steht|^is|^ist|^laeuft|^geht|^are|^sind|^does|^funktioniert\
         |can i reach|was macht|working|laeuft|running|noch da|still there|lebt|online|responding|what about\
         |how about|was ist mit",
    ),
    (
        Topic::Status,
        CERTAIN,
        "all good/well/ok/okay/fine/green/clear/systems|everything ok/okay/fine/good/alright/up/running/smooth\
         |everything all right|alles gut/ok/okay/klar/fit/gruen/roger/paletti/palletti/stabil/super/tutti/frisch\
         |alles in ordnung|alles im lot|alles im gruenen|laeuft alles|alles laeuft|geht alles|how is everything\
         |how are things/we|wie sieht/schaut es .. aus|is/are .. lab/homelab/servers/network .. ok/okay/fine/good/alright/well|wie laeuft/geht .. kiste/laden/lab/homelab/bude\
         |ist/sind .. lab/homelab/dienste/server .. ok/okay/ordnung/gut|wie ist die lage|wie ist der stand|we good|you good|you ok\
         |are we ok|still standing|beim alten|lebt .. noch|how is it going/looking|what is going on|^was geht $\
         |was geht ab|steht alles noch|steht noch alles",
    ),
    (
        Topic::Status,
        STRONG,
        "status*|health*|overview|uebersicht|zustand|dashboard|what is up|rundown|sitrep|how is it|how are the\
         |how is my|how are you|how is the lab/homelab/server/network|wie geht es|wie laeuft es|wie steht es\
         |wie ist der|situation|how goes|which services|welche dienste|list .. services|you watch*|monitor\
         |monitoring you|ueberwach*|surviv*|ueberlebt*|alle dienste|all services|all .. up",
    ),
    (
        Topic::Status,
        HINT,
        "services|dienste|everything|lab|homelab|state|summary|report|bericht|lage|alles|how are|servers|systems\
         |systeme",
    ),
    (
        Topic::Guests,
        CERTAIN,
        "which/what containers/vms/guests/lxcs/machines|list/show .. containers/vms/guests/lxcs/machines|how many .. containers/vms/guests/machines\
         |welche container/vms/gaeste/lxcs/maschinen|zeig*/liste .. container/vms/gaeste/maschinen|wie viele .. container/vms/gaeste/maschinen\
         |my containers/vms/guests|meine container/vms/gaeste/maschinen",
    ),
    (Topic::Guests, HINT, "^containers|^vms|^guests|^gaeste"),
    (
        Topic::Thanks,
        HINT,
        "thank*|danke*|merci|well done|good job|good girl|good work|good bot|great job|cheers|super|great|perfect\
         |perfekt|nice|awesome|klasse|toll|prima|cool|sweet|love you|the best|gut gemacht|sehr gut|brav|spitze\
         |wunderbar|stark|top",
    ),
    (
        Topic::Farewell,
        HINT,
        "good night|gute nacht|goodnight|bye*|tschuess*|tschau|ciao|bis spaeter|bis morgen|bis dann|see you\
         |feierabend|gn|gn8|nacht|bis bald|cu|good bye|^exit $|^quit $|^logout $|^ende $|^beenden $|auf wiedersehen|later alligator|schlaf gut|mach es gut",
    ),
    (
        Topic::Greet,
        HINT,
        "^hello*|^hi|^hey*|^moin*|^hallo*|^yo|^good morning|^good evening|^good afternoon|^good day|^guten morgen\
         |^guten tag|^guten abend|^morning|^evening|^servus|^gruess*|^tach|^na|^mahlzeit|^howdy|^huhu|^nabend\
         |you there|bist du da|jemand da|^test|^ping|^sorry|^lol|^haha*",
    ),
    (Topic::Undo, WEAK, "zurueck|back"),
    (Topic::Waiting, WEAK, "approve*|open|offen|confirm*|for me"),
    (Topic::Uptime, WEAK, "long|lange"),
    (Topic::RunningOut, WEAK, "load|free|frei|left|uebrig|reicht"),
    (Topic::Logs, WEAK, "lines|zeilen|error message*"),
    (
        Topic::History,
        WEAK,
        "did|wer|who|when|wann|gemacht|done|getan|new|today|heute|last|letzte*|lief",
    ),
    (
        Topic::Check,
        WEAK,
        "anything|something|irgendwas|irgendetwas|irgendwo|fix|bad|schlecht",
    ),
    (
        Topic::ExplainAction,
        WEAK,
        "what does|was tut|safe|sicher|mean|bedeutet",
    ),
    (Topic::Abilities, WEAK, "actions|aktionen"),
    (Topic::Explain, WEAK, "up|ok|okay|gut|good|fine|how|wie"),
];
