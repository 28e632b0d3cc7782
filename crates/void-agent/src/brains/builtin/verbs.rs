//! The verbs of orders, in English and German: how an order begins and ends, and how one is only spoken of.

use std::sync::LazyLock;

use super::patterns::Pattern;
use super::words::is_slip_of;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Start,
    Stop,
    Shutdown,
    Restart,
    Reboot,
    Deploy,
    Rollback,
    Scale,
    /// `run ID`
    Run,
    /// "bring it back up": its start or its restart, if it has only one of them.
    Revive,
    /// "fix", "revive": no operation of the catalogue, so it is only ever offered.
    Mend,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Order {
    pub verb: Verb,
    /// The words behind the verb; all of them have to fit.
    pub target: Vec<String>,
}

impl Verb {
    /// The operations of the catalogue that it means, the nearest first.
    pub(super) const fn operations(self) -> &'static [&'static str] {
        match self {
            Self::Start => &["start"],
            Self::Stop => &["stop", "shutdown"],
            Self::Shutdown => &["shutdown", "stop"],
            // Whoever says restart of a guest means a reboot.
            Self::Restart => &["restart", "reboot"],
            Self::Reboot => &["reboot", "restart"],
            Self::Deploy => &["deploy"],
            Self::Rollback => &["rollback"],
            Self::Scale => &["scale"],
            Self::Run => &[],
            Self::Revive => &["start", "restart"],
            Self::Mend => &["restart", "start", "reboot"],
        }
    }

    pub(super) const fn spoken(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Shutdown => "shut down",
            Self::Restart => "restart",
            Self::Reboot => "reboot",
            Self::Deploy => "deploy",
            Self::Rollback => "roll back",
            Self::Scale => "scale",
            Self::Run => "run",
            Self::Revive => "bring back",
            Self::Mend => "look at",
        }
    }
}

/// What an order begins with, what it ends with, and the verb that both make. The first that fits is it.
const IMPERATIVES: [(&str, &str, Verb); 47] = [
    ("power cycle|power-cycle", "", Verb::Reboot),
    ("restart|restarte", "", Verb::Restart),
    ("reboot|reboote", "", Verb::Reboot),
    ("boot up", "", Verb::Start),
    ("boot|boote", "neu", Verb::Reboot),
    ("boot", "", Verb::Start),
    ("start up", "", Verb::Start),
    ("start", "up", Verb::Start),
    ("start|starte|starten sie", "neu", Verb::Restart),
    ("starte neu", "", Verb::Restart),
    ("start|starte|starten sie", "", Verb::Start),
    ("launch|spin up", "", Verb::Start),
    ("turn on|switch on|power on|power up", "", Verb::Start),
    ("turn|switch|power", "on", Verb::Start),
    ("power", "up", Verb::Start),
    ("stop|halt|stoppe|stopp|stoppen sie", "", Verb::Stop),
    ("turn off|switch off|power off", "", Verb::Stop),
    ("turn|switch|power", "off", Verb::Stop),
    ("power down|shut down|shutdown", "", Verb::Shutdown),
    ("power|shut", "down", Verb::Shutdown),
    ("deploy|redeploy", "", Verb::Deploy),
    ("roll back|rollback", "", Verb::Rollback),
    ("roll", "back", Verb::Rollback),
    ("scale", "", Verb::Scale),
    ("run|execute", "", Verb::Run),
    ("schalte|schalt|schalten sie", "ein", Verb::Start),
    ("schalte|schalt|schalten sie", "an", Verb::Start),
    ("schalte|schalt|schalten sie", "aus", Verb::Stop),
    ("schalte|schalt|schalten sie", "ab", Verb::Stop),
    ("mach|mache", "an", Verb::Start),
    ("mach|mache", "aus", Verb::Stop),
    ("stell|stelle", "an", Verb::Start),
    ("stell|stelle", "ab", Verb::Stop),
    ("halte", "an", Verb::Stop),
    ("fahre|fahr", "hoch", Verb::Start),
    ("fahre|fahr", "herunter", Verb::Shutdown),
    ("fahre|fahr", "runter", Verb::Shutdown),
    ("fuehre|fuehr", "aus", Verb::Run),
    (
        "bring back up|bring back online|bring back",
        "",
        Verb::Revive,
    ),
    ("bring", "back up", Verb::Revive),
    ("bring", "back online", Verb::Revive),
    ("bring", "back to life", Verb::Revive),
    ("bring", "back", Verb::Revive),
    ("bring|bringe", "hoch", Verb::Revive),
    ("hol|hole", "zurueck", Verb::Revive),
    ("bring", "up", Verb::Start),
    ("bring", "down", Verb::Stop),
];

/// How a German request ends: `kannst du caddy neu starten`.
const INFINITIVES: [(&str, Verb); 9] = [
    (
        "neu starten|neustarten|durchstarten|restarten|neu zu starten",
        Verb::Restart,
    ),
    ("neu booten|rebooten|neu zu booten", Verb::Reboot),
    (
        "starten|hochfahren|einschalten|anschalten|anmachen|zu starten",
        Verb::Start,
    ),
    (
        "stoppen|anhalten|ausschalten|abschalten|ausmachen|zu stoppen",
        Verb::Stop,
    ),
    ("herunterfahren|runterfahren", Verb::Shutdown),
    ("ausfuehren", Verb::Run),
    ("deployen", Verb::Deploy),
    (
        "reparieren|wiederbeleben|fixen|in ordnung bringen",
        Verb::Mend,
    ),
    ("zum laufen bringen", Verb::Mend),
];

/// How an action is spoken of without being ordered. The first that is found is it.
const MENTIONS: [(&str, Verb); 10] = [
    (
        "restart*|neustart*|neugestartet|neu start*|neu gestart*|neu zu starten|start* .. neu|reload*|bounce|bouncing\
         |kick|durchstart*|durchgestartet|reset*|relaunch*|off and on|aus und wieder an|aus und an",
        Verb::Restart,
    ),
    (
        "reboot*|neu boot*|neu geboot*|boot* .. neu|power cycl*",
        Verb::Reboot,
    ),
    (
        "shutdown*|shut* down|shut* .. down|herunterfahr*|runterfahr*|heruntergefahren|runtergefahren|fahr* .. herunter\
         |fahr* .. runter",
        Verb::Shutdown,
    ),
    (
        "stop|stops|stopped|stopping|stopp*|gestoppt|kill|killed|killing|kille|killen|abschiess*|suspend|pause|halt|halte|turn* off|turn* .. off|switch* off\
         |power* off|power* .. off|switch* .. off|schalt* .. aus|schalt* .. ab|ausschalt*|ausgeschaltet|abschalt*|abgeschaltet|mach* .. aus|ausmach*\
         |ausgemacht|bring .. down|take .. down|anhalten|angehalten",
        Verb::Stop,
    ),
    (
        "start|starts|started|starting|starte|starten|startest|startet|gestartet|launch*|wake|turn* on|turn* .. on\
         |switch* on|switch* .. on|power* on|power* .. on|boot|boots|booting|booted|schalt* .. ein|schalt* .. an|einschalt*|eingeschaltet|anschalt*|hochfahr*|hochgefahren\
         |fahr* .. hoch|mach* .. an|wirf .. an|schmeiss .. an|anschmeiss*|anwerfen|fire .. up|boot .. up|bring .. up|spin .. up|anmach*|angemacht",
        Verb::Start,
    ),
    (
        "run/runs/running/execute @|@ .. ausfuehren|fuehr* .. aus",
        Verb::Run,
    ),
    ("deploy*", Verb::Deploy),
    ("rollback*|roll back|rolled back", Verb::Rollback),
    ("scale|scaled|scaling", Verb::Scale),
    (
        "fix|fixed|fixing|get .. running/going/working/back|bring .. back|make .. work|take care of|sort out|deal with\
         |do something about|kuemmer*|zum laufen|in gang|in ordnung bring*|bring .. in ordnung|repair*|repar*|heal|reviv*|resurrect*|touch|touched|touching|anfass*|anruehr*",
        Verb::Mend,
    ),
];

/// What a slip of the finger is looked for in: an order with one asks.
const SLIPPED: [(&str, Verb); 7] = [
    ("restart", Verb::Restart),
    ("reboot", Verb::Reboot),
    ("starte", Verb::Start),
    ("start", Verb::Start),
    ("stoppe", Verb::Stop),
    ("schalte", Verb::Stop),
    ("shutdown", Verb::Shutdown),
];

/// How a restart is said by its two halves.
const CYCLE: &str = "off and on|off and back on|off and then .. on|off then .. on|off .. and turn/switch/power it .. on\
    |aus und an|aus und ein|aus und wieder an/ein|aus und dann wieder an/ein|aus und schalt* .. wieder an/ein\
    |stop and start|stop .. and start/restart it|stop .. and then start it|stop .. then start it|down and up|down and back up\
    |stopp* und start*|stopp* .. und starte ihn/sie/es";

static CYCLES: LazyLock<Vec<Pattern>> = LazyLock::new(|| Pattern::parse_all(CYCLE).collect());

static MENTIONED: LazyLock<Vec<(Pattern, Verb)>> = LazyLock::new(|| {
    let all = MENTIONS.into_iter();
    let all = all.flat_map(|(texts, verb)| Pattern::parse_all(texts).map(move |it| (it, verb)));
    all.collect()
});

/// The order that these words are, if they begin and end as one.
pub(super) fn imperative(words: &[String]) -> Option<Order> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    IMPERATIVES.iter().find_map(|(fronts, back, verb)| {
        let rest = fronts.split('|').find_map(|front| {
            let front: Vec<&str> = front.split(' ').collect();
            words.strip_prefix(front.as_slice())
        })?;
        let rest = match *back {
            "" => rest,
            back => {
                let back: Vec<&str> = back.split(' ').collect();
                rest.strip_suffix(back.as_slice())?
            }
        };
        Some(Order {
            verb: *verb,
            target: rest.iter().map(|word| (*word).to_owned()).collect(),
        })
    })
}

/// The words before a German infinitive that stands last, and its verb.
pub(super) fn infinitive(words: &[String]) -> Option<(&[String], Verb)> {
    INFINITIVES.iter().find_map(|(endings, verb)| {
        endings.split('|').find_map(|ending| {
            let ending: Vec<&str> = ending.split(' ').collect();
            let front = words.len().checked_sub(ending.len())?;
            let (rest, last) = words.split_at_checked(front)?;
            last.iter().eq(ending.iter()).then_some((rest, *verb))
        })
    })
}

/// The action that words speak of, wherever.
pub(super) fn mention(words: &[String]) -> Option<Verb> {
    let spoken: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut all = MENTIONED.iter();
    all.find(|(pattern, _)| pattern.is_in(&spoken))
        .map(|(_, verb)| *verb)
}

/// "turn it off and on again": one operation, not the two that its words are.
pub(super) fn is_cycle(words: &[&str]) -> bool {
    CYCLES.iter().any(|pattern| pattern.is_in(words))
}

/// The verb that the first word was meant to be, but for a slip.
pub(super) fn slipped(words: &[String]) -> Option<Verb> {
    let first = words.first()?;
    let mut all = SLIPPED.iter();
    let (_, verb) = all.find(|(verb, _)| is_slip_of(first, verb))?;
    let is_again = words.last().is_some_and(|last| last == "neu");
    Some(if is_again { Verb::Restart } else { *verb })
}

/// `restart-caddy`, whether the catalogue has it or not.
pub(super) fn is_like_an_id(word: &str) -> bool {
    const FIRST: [&str; 9] = [
        "restart", "reboot", "start", "stop", "shutdown", "deploy", "rollback", "scale", "run",
    ];
    let first = word.split_once('-').map(|(first, _)| first);
    first.is_some_and(|first| FIRST.contains(&first))
}
