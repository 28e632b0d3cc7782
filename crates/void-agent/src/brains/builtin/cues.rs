//! The words that show what a sentence is about, with how much they show. The topic with the most wins, the
//! earlier one of two that have as much. Cues are loose on purpose: a topic is only looked at, answered
//! or offered.

use std::sync::LazyLock;

use super::patterns::Pattern;
use super::topics::Topic;
use super::words::is_slip_of;

/// Shorter words have too many neighbours to be mended.
const MENDED_CHARS_MIN: usize = 5;

/// The weight of a phrase that means one thing, of a word that does, of a hint, and of what counts only where
/// nothing else is found.
const CERTAIN: u32 = 8;
pub(super) const STRONG: u32 = 5;
const HINT: u32 = 3;
const WEAK: u32 = 1;

const CUES: [(Topic, u32, &str); 38] = [
    (
        Topic::Freeze,
        CERTAIN,
        "freeze*|frozen|unfreeze*|thaw*|einfrier*|frier*|eingefroren|auftau*|taue|notaus|not aus|notstop*|notbremse\
         |emergency|brake*|panic|kill switch|killswitch|lockdown|stop the world|pull the plug|stop* everything\
         |halt/pause/kill .. everything|shut everything|stop/halt/pause all|stopp* .. alles|halt* .. alles .. an\
         |alles .. stopp*|alles .. anhalten|alles .. abschalten|alles .. aus|alles .. runterfahren",
    ),
    (
        Topic::Undo,
        CERTAIN,
        "undo*|undone|revert*|rueckgaengig|ungeschehen|take .. back|put .. back|change .. back|set .. back|bring .. back\
         |roll it/that/this back|rollback .. it/that|nimm .. zurueck|nehm* .. zurueck|mach* .. zurueck|dreh* .. zurueck\
         |setz* .. zurueck|zurueck damit|zuruecknehmen|zuruecksetzen|zurueckdrehen|wie vorher|wie es war|like before\
         |as it was|the way it was",
    ),
    (
        Topic::FollowUp,
        CERTAIN,
        "did it/that/this .. work*/help*/run/go/finish|is it/that .. done/finished/over/through|did you do it\
         |has it .. run/finished/worked|how did it/that go|what became of|any news|daraus geworden|it worked|is it better\
         |hat es/das .. geklappt/funktioniert/geholfen/gewirkt|ist es/das .. fertig/durch/erledigt/besser|es .. geklappt\
         |^worked|^geklappt|^done|^fertig|^erledigt|^better now|^besser|^and now|^und jetzt|^und nun|gibt es neuigkeiten",
    ),
    (
        Topic::Waiting,
        STRONG,
        "waits|waiting|pending|inbox|queue*|approval*|to approve|i approve|sign .. off|signoff|my yes/ok/okay/decision/go\
         |need* .. from me|need/needs me|need/needs my|wartet|warten|freigab*|freigeb*|freizugeben|genehmig*\
         |steht .. aus|steht .. an|liegt .. an|was .. offen|noch offen*|offene*|ausstehend*|outstanding|anstehend*\
         |to decide/confirm/review|entscheid*|decide*|decision*|bestaetig*|auf mich|von mir|brauch* .. mich\
         |anfragen|requests|backlog|postfach|posteingang|anything .. for me|something .. for me|fuer mich|todo*\
         |zu tun|left to do",
    ),
    (
        Topic::Refused,
        STRONG,
        "refus*|denied|deny|denies|reject*|turned down|block*|abgelehnt|ablehn*|verweiger*|blockier*|fehlgeschlag*\
         |failed|fail|failure*|schief*|went wrong|gone wrong|go wrong|suspicious|unusual|verdaechtig*|ungewoehnlich*\
         |verboten|forbidden|gescheitert",
    ),
    (
        Topic::HowTo,
        CERTAIN,
        "how do/can/would/should/could/must i/we/you/one|how to|wie .. ich|wie .. man|which command|what command\
         |welcher befehl|welchen befehl|what do i type",
    ),
    (
        Topic::ExplainAction,
        CERTAIN,
        "explain*|erklaer*|describe*|beschreib*|what happens if/when|what would happen|what will happen|what if\
         |was passiert wenn/bei/dann/falls|was waere|was wuerde|what does/would/will .. do|what .. @|was .. @|is/ist/are @\
         |wozu|wofuer|what .. good for|what is .. for|tell me about @|about @|ueber @|bewirkt|is it safe|safe to\
         |ist es sicher|how risky|how dangerous",
    ),
    (
        Topic::ExplainAction,
        STRONG,
        "risky|risk*|dangerous|gefaehrlich*|riskant|harmless|harmlos|can .. be|kann .. werden|who may/can|wer darf/kann",
    ),
    (
        Topic::Logs,
        STRONG,
        "log|logs|logged|logging|geloggt|logfile*|logdatei*|journal*|protokoll*|stdout|stderr|printed|output\
         |ausgabe*|ausgegeben|stack trace*|stacktrace*|traceback*|last .. lines|letzten .. zeilen|tail\
         |show .. error*|zeig .. fehler*|welche* fehler*|which error*",
    ),
    (
        Topic::RunningOut,
        CERTAIN,
        "running/run/runs/ran out|out of .. space/memory/disk/room|disk*|storage|ram|cpu*|temperature*|festplatte*|platte*\
         |speicherplatz|temperatur*|laeuft .. voll|stromverbrauch|power usage|zfs|raid",
    ),
    (
        Topic::RunningOut,
        STRONG,
        "drive|drives|space|memory|temps|capacity|speicher*|auslastung|prozessor*|swap|bandwidth|bandbreite|traffic\
         |backup*|snapshot*|sicherung*|zertifikat*|certificate*|certs|nas|ssd|hdd|gb|tb|gigabyte*|full|voll|knapp\
         |usage|the load|load average|overload*|ueberlast*|heiss|hot|geht .. aus",
    ),
    (Topic::RunningOut, HINT, "update*|upgrade*|aktualisier*"),
    (
        Topic::Uptime,
        CERTAIN,
        "how long|how longs|since when|uptime*|wie lang*|seit wann|laufzeit|been .. up/down/running\
         |when .. go/went/gone/get/got down/offline|when .. crash*/die/died/fail|when .. come/came back/up\
         |wann .. ausgefallen/abgestuerzt/gestorben/abgeraucht/down/offline/weg/hochgekommen",
    ),
    (
        Topic::History,
        CERTAIN,
        "how long ago|how long since|wie lange .. her|logged in|signed in|sign ins|login*|angemeldet|eingeloggt\
         |last .. actions/things/requests/events/entries|letzte* .. aktion*|letzte* .. ereignis*|letzte* .. eintr*",
    ),
    (
        Topic::History,
        STRONG,
        "happen*|passiert|geschehen|what changed|has changed|geaendert|veraendert|what is new|anything new|what was new\
         |something new|neues|neuigkeiten|missed|i miss|verpasst|recap|history|verlauf|historie|activity|activities\
         |aktivitaet*|what went on|been going on|was ging|war .. los|los war|was gab es|getrieben|zusammenfass*\
         |fass .. zusammen|audit|record|been doing|been up to|what did|what have|what has|was hast|was hat|was haben\
         |was war|was wurde|when did/was/were/has/have|wann wurde/wurden/hast/hat/war/haben|why did|why have\
         |warum hast/hat/wurde|wieso hast/hat/wurde|while i|waehrend ich|als ich|the last thing|last/latest action\
         |zuletzt|did/has/have anyone/anybody/someone/somebody|hat .. jemand|hat .. wer|was that you|warst du|did .. do|hat .. gemacht|hat .. getan|has .. done",
    ),
    (
        Topic::History,
        HINT,
        "^who|^whose|^wer|^did|^has|^have|^had|^hast|^hat|^haben|^habe|^wurde|^wurden|^war|^waren|^were|restarted|rebooted\
         |gestartet|neugestartet|gestoppt|ausgeschaltet|touched|angefasst|changed|last night|overnight|heute nacht\
         |letzte nacht|yesterday|gestern|this morning|heute morgen|heute frueh|this week|diese woche|recently|lately\
         |kuerzlich|letzter zeit|since|seit|ran|approved|genehmigt|asked for|the latest",
    ),
    (
        Topic::OnPlace,
        CERTAIN,
        "what is on|what runs on|what is running on|which/what services .. on|was laeuft auf|was ist auf|what lives on\
         |what do we have on|welche dienste .. auf|was liegt auf|was gibt es auf",
    ),
    (
        Topic::Abilities,
        CERTAIN,
        "what can/may/could you|what else can you|you can do|can you do|who are you|what are you|which/list/show .. actions\
         |abilities|commands|befehle|was kannst|was darfst|was koenntest|wer bist du|bist du ein*|are you a/an\
         |welche aktionen|allowed to|faehigkeiten|what is possible|was kann ich|what can i|what do you do|what do you know\
         |possible actions|moegliche aktionen",
    ),
    (
        Topic::Abilities,
        STRONG,
        "^help|help me|need help|can you help|hilfe|^hilf|^menu|instructions|your job",
    ),
    (
        Topic::Check,
        STRONG,
        "wrong|broken|problem*|trouble*|issue*|kaputt*|defekt*|alarm*|stimmt .. nicht|stoerung*|ausfall*|ausfaelle\
         |what/who/anything/something is/are down|anything/something down|failing|need* .. attention|needs .. fixing\
         |worry|sorgen|should i do/look/fix|i should|is off|something .. off|irgendwas/irgendetwas .. nicht|was geht .. nicht\
         |was laeuft .. nicht|was funktioniert .. nicht|brennt|on fire|is red|was ist .. los|was fehlt|ist was|fix everything\
         |fix it/that|repair everything|look after|ausgefallen|what does not|soll ich .. machen|the matter|unhealthy\
         |anything bad|schlimm*|complain*",
    ),
    (
        Topic::Explain,
        STRONG,
        "feel*|seem*|not work*|not respond*|not load*|not open*|not connect*|not answer*|not play*|hang|hangs\
         |hanging|stuck|crash*|unreachable|reachable|erreich*|unerreichbar|acting|weird|laggy|lagging|slow|langsam|lahm*\
         |spinn*|haengt|tot|dead|died|geht .. nicht|laeuft .. nicht|laedt .. nicht|antwortet .. nicht|reagiert .. nicht\
         |funktioniert .. nicht|kommt .. nicht|komm* .. nicht|oeffnet .. nicht|verbindet .. nicht|is/ist weg|gone|offline\
         |down|zickt|streikt|buffer*|stutter*|ruckel*|abgestuerzt|abgeraucht|im eimer|am arsch|hinueber|spackt|unavailable\
         |timeout*|timing out|not .. reach|problem* with|wrong with|up with|was ist .. mit|los mit|error*|fehler*|flaky\
         |messed up|alive",
    ),
    (
        Topic::Explain,
        HINT,
        "^why|^warum|^wieso|^weshalb|check|look at|look into|nach .. schau*|nach .. gucken|schau*|guck*|how is|how does\
         |wie geht|wie laeuft|wie steht|^is|^ist|^laeuft|^geht|^are|^sind|^does|^funktioniert|can i reach|was macht|working\
         |laeuft|running|noch da|still there|lebt|online|responding|what about|how about",
    ),
    (
        Topic::Status,
        CERTAIN,
        "all good/well/ok/okay/fine/green/clear|everything ok/okay/fine/good/alright/up/running|everything all right\
         |alles gut/ok/okay/klar/fit/gruen/roger/paletti/stabil/super|alles in ordnung|alles im lot|laeuft alles|geht alles\
         |how is everything|how are things/we|wie sieht es .. aus|wie ist die lage",
    ),
    (
        Topic::Status,
        STRONG,
        "status|health*|overview|uebersicht|zustand|dashboard|what is up|rundown|how is it|how are the|how is my\
         |how is the lab/homelab/server/network|wie geht es|wie laeuft es|wie steht es|wie ist der|situation|how goes",
    ),
    (
        Topic::Status,
        HINT,
        "services|dienste|everything|lab|homelab|state|summary|report|bericht|lage|alles|how are|servers",
    ),
    (
        Topic::Thanks,
        HINT,
        "thank*|danke*|merci|well done|good job|good girl|good work|cheers|super|great|perfect|perfekt|nice|awesome\
         |klasse|toll|prima|cool|sweet|love you|gut gemacht|brav",
    ),
    (
        Topic::Farewell,
        HINT,
        "good night|gute nacht|goodnight|bye*|tschuess*|tschau|ciao|bis spaeter|bis morgen|see you|feierabend",
    ),
    (
        Topic::Greet,
        HINT,
        "^hello*|^hi|^hey*|^moin*|^hallo|^yo|^good morning|^good evening|^good afternoon|^guten morgen|^guten tag\
         |^guten abend|^morning|^servus|^gruess*|^tach|^na|^mahlzeit|^howdy|^huhu|are you there|bist du da|^test",
    ),
    (Topic::Undo, WEAK, "zurueck|back"),
    (Topic::Waiting, WEAK, "approve*|open|offen|confirm*|for me"),
    (Topic::Uptime, WEAK, "long|lange"),
    (
        Topic::RunningOut,
        WEAK,
        "load|free|frei|left|uebrig|warm|reicht",
    ),
    (Topic::Logs, WEAK, "lines|zeilen|error message*"),
    (
        Topic::History,
        WEAK,
        "did|wer|who|when|wann|gemacht|done|getan|new|today|heute|last|letzte*",
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
    (Topic::Abilities, WEAK, "actions|aktionen|kannst du|can you"),
    (Topic::Explain, WEAK, "up|ok|okay|gut|good|fine|how|wie"),
];

struct Cue {
    topic: Topic,
    weight: u32,
    pattern: Pattern,
}

static ALL: LazyLock<Vec<Cue>> = LazyLock::new(|| {
    let rows = CUES.into_iter();
    let cues = rows.flat_map(|(topic, weight, texts)| {
        Pattern::parse_all(texts).map(move |pattern| Cue {
            topic,
            weight,
            pattern,
        })
    });
    cues.collect()
});

/// What the words are about, and how sure that is.
pub(super) fn best(words: &[&str]) -> Option<(Topic, u32)> {
    most(words, |weight| weight > WEAK).or_else(|| most(words, |weight| weight == WEAK))
}

fn most(words: &[&str], counts: impl Fn(u32) -> bool) -> Option<(Topic, u32)> {
    let mut scores: Vec<(Topic, u32)> = Vec::new();
    let cues = ALL.iter().filter(|cue| counts(cue.weight));
    for cue in cues.filter(|cue| cue.pattern.is_in(words)) {
        match scores.iter_mut().find(|(topic, _)| *topic == cue.topic) {
            Some((_, score)) => *score += cue.weight,
            None => scores.push((cue.topic, cue.weight)),
        }
    }
    let mut best: Option<(Topic, u32)> = None;
    for (topic, score) in scores {
        if best.is_none_or(|(_, most)| score > most) {
            best = Some((topic, score));
        }
    }
    best
}

/// The words with slips of the finger mended where a cue is near.
pub(super) fn mended(words: &[&str]) -> Vec<String> {
    let near = |word: &str| {
        let known = ALL.iter().flat_map(|cue| cue.pattern.vocabulary());
        let mut known = known.filter(|known| known.len() >= MENDED_CHARS_MIN);
        known.find(|known| is_slip_of(word, known))
    };
    let mend = |word: &&str| match word.len() < MENDED_CHARS_MIN {
        true => (*word).to_owned(),
        false => near(word).unwrap_or(word).to_owned(),
    };
    words.iter().map(mend).collect()
}
