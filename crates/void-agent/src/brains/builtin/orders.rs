//! Whether something is an order. An order *begins* with its verb, after politeness, and has nothing but
//! its target behind it. Everything else that speaks of doing something is doubted, and what is doubted
//! is never done: it is answered, or asked back.
//!
//! The safety does not rest on the lists of doubtful words: a word that belongs neither to the verb, nor to
//! politeness, nor to the target's own name makes [`super::targets`] find nothing. The lists give a
//! better answer, and they win over names: a service called `once` is always asked about.

use super::words::{MARK, ORDER_WORDS_MAX, Sentence, is_slip_of};

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
    /// "fix", "revive": no operation of the catalogue, so it is only ever offered.
    Mend,
}

/// Why something that speaks of an action is not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    Quoted,
    Negated,
    Condition,
    Time,
    Question,
    /// Words that are neither verb nor politeness, or more than one clause.
    Words,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Order {
    pub verb: Verb,
    /// The words behind the verb; all of them have to fit.
    pub target: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Heard {
    /// Plain orders, one a clause.
    Orders(Vec<Order>),
    /// It speaks of an action. `first` is a plain order that stands before what is doubted.
    Doubted {
        doubt: Doubt,
        first: Option<Order>,
        verb: Verb,
        /// It begins like an order, so it is about doing something and not about how something is.
        begins: bool,
    },
    /// It speaks of no action.
    Nothing(Option<Doubt>),
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
            Self::Mend => "look at",
        }
    }
}

/// What stands first, what stands last, and the verb that both make. Longer forms come first.
const IMPERATIVES: [(&str, &str, Verb); 66] = [
    ("power cycle", "", Verb::Reboot),
    ("power-cycle", "", Verb::Reboot),
    ("restart", "", Verb::Restart),
    ("reboot", "", Verb::Reboot),
    ("boot up", "", Verb::Start),
    ("boot", "neu", Verb::Reboot),
    ("boot", "", Verb::Start),
    ("start up", "", Verb::Start),
    ("start", "up", Verb::Start),
    ("start", "neu", Verb::Restart),
    ("start", "", Verb::Start),
    ("launch", "", Verb::Start),
    ("spin up", "", Verb::Start),
    ("turn on", "", Verb::Start),
    ("turn", "on", Verb::Start),
    ("switch on", "", Verb::Start),
    ("switch", "on", Verb::Start),
    ("power on", "", Verb::Start),
    ("power up", "", Verb::Start),
    ("power", "on", Verb::Start),
    ("power", "up", Verb::Start),
    ("stop", "", Verb::Stop),
    ("halt", "", Verb::Stop),
    ("turn off", "", Verb::Stop),
    ("turn", "off", Verb::Stop),
    ("switch off", "", Verb::Stop),
    ("switch", "off", Verb::Stop),
    ("power off", "", Verb::Stop),
    ("power down", "", Verb::Shutdown),
    ("power", "off", Verb::Stop),
    ("power", "down", Verb::Shutdown),
    ("shut down", "", Verb::Shutdown),
    ("shut", "down", Verb::Shutdown),
    ("shutdown", "", Verb::Shutdown),
    ("deploy", "", Verb::Deploy),
    ("redeploy", "", Verb::Deploy),
    ("roll back", "", Verb::Rollback),
    ("roll", "back", Verb::Rollback),
    ("rollback", "", Verb::Rollback),
    ("scale", "", Verb::Scale),
    ("run", "", Verb::Run),
    ("execute", "", Verb::Run),
    ("starte neu", "", Verb::Restart),
    ("starte", "neu", Verb::Restart),
    ("starte", "", Verb::Start),
    ("boote", "neu", Verb::Reboot),
    ("reboote", "", Verb::Reboot),
    ("schalte", "ein", Verb::Start),
    ("schalte", "an", Verb::Start),
    ("schalte", "aus", Verb::Stop),
    ("schalte", "ab", Verb::Stop),
    ("schalt", "ein", Verb::Start),
    ("schalt", "an", Verb::Start),
    ("schalt", "aus", Verb::Stop),
    ("schalt", "ab", Verb::Stop),
    ("mach", "an", Verb::Start),
    ("mach", "aus", Verb::Stop),
    ("fahre", "hoch", Verb::Start),
    ("fahre", "herunter", Verb::Shutdown),
    ("fahre", "runter", Verb::Shutdown),
    ("fahr", "hoch", Verb::Start),
    ("fahr", "herunter", Verb::Shutdown),
    ("fahr", "runter", Verb::Shutdown),
    ("stoppe", "", Verb::Stop),
    ("stopp", "", Verb::Stop),
    ("fuehre", "aus", Verb::Run),
];

/// How a German request ends: `kannst du caddy neu starten`.
const INFINITIVES: [(&str, Verb); 19] = [
    ("neu starten", Verb::Restart),
    ("neustarten", Verb::Restart),
    ("neu booten", Verb::Reboot),
    ("rebooten", Verb::Reboot),
    ("starten", Verb::Start),
    ("hochfahren", Verb::Start),
    ("einschalten", Verb::Start),
    ("anschalten", Verb::Start),
    ("anmachen", Verb::Start),
    ("stoppen", Verb::Stop),
    ("anhalten", Verb::Stop),
    ("ausschalten", Verb::Stop),
    ("abschalten", Verb::Stop),
    ("ausmachen", Verb::Stop),
    ("herunterfahren", Verb::Shutdown),
    ("runterfahren", Verb::Shutdown),
    ("ausfuehren", Verb::Run),
    ("reparieren", Verb::Mend),
    ("wiederbeleben", Verb::Mend),
];

/// Words that speak of an action without ordering it.
const MENTIONS: [(&str, Verb); 46] = [
    ("restart", Verb::Restart),
    ("restarts", Verb::Restart),
    ("restarted", Verb::Restart),
    ("restarting", Verb::Restart),
    ("neustart", Verb::Restart),
    ("reload", Verb::Restart),
    ("bounce", Verb::Restart),
    ("kick", Verb::Restart),
    ("reboot", Verb::Reboot),
    ("reboots", Verb::Reboot),
    ("rebooted", Verb::Reboot),
    ("rebooting", Verb::Reboot),
    ("stop", Verb::Stop),
    ("stops", Verb::Stop),
    ("stopped", Verb::Stop),
    ("stopping", Verb::Stop),
    ("kill", Verb::Stop),
    ("stoppe", Verb::Stop),
    ("shutdown", Verb::Shutdown),
    ("start", Verb::Start),
    ("started", Verb::Start),
    ("starting", Verb::Start),
    ("wake", Verb::Start),
    ("deploy", Verb::Deploy),
    ("deployed", Verb::Deploy),
    ("deploying", Verb::Deploy),
    ("rollback", Verb::Rollback),
    ("scale", Verb::Scale),
    ("fix", Verb::Mend),
    ("repair", Verb::Mend),
    ("revive", Verb::Mend),
    ("heal", Verb::Mend),
    ("resurrect", Verb::Mend),
    ("repariere", Verb::Mend),
    ("touch", Verb::Mend),
    ("starte", Verb::Start),
    ("launch", Verb::Start),
    ("halt", Verb::Stop),
    ("startest", Verb::Start),
    ("startet", Verb::Start),
    ("gestartet", Verb::Start),
    ("neugestartet", Verb::Restart),
    ("stoppst", Verb::Stop),
    ("gestoppt", Verb::Stop),
    ("ausgeschaltet", Verb::Stop),
    ("turned", Verb::Stop),
];

/// Before the verb. Those of `YOU` make a question mark part of the politeness.
const LEADS: [&str; 22] = [
    "please",
    "kindly",
    "hey",
    "hi",
    "hello",
    "hallo",
    "moin",
    "ok",
    "okay",
    "yes",
    "yeah",
    "sure",
    "alright",
    "little blue",
    "blue",
    "just",
    "now",
    "bitte",
    "ja",
    "gut",
    "jetzt",
    "dear",
];
const YOU: [&str; 3] = ["can you", "could you", "would you"];
const DU: [&str; 5] = [
    "kannst du",
    "koenntest du",
    "wuerdest du",
    "koennten sie",
    "koennen sie",
];
/// Behind the target.
const TAILS: [&str; 18] = [
    "right now",
    "please",
    "now",
    "right away",
    "immediately",
    "again",
    "thanks",
    "thank you",
    "for me",
    "quickly",
    "little blue",
    "blue",
    "bitte",
    "jetzt",
    "sofort",
    "danke",
    "nochmal",
    "noch einmal",
];
/// Anywhere in a clause, without a meaning of their own.
const FILLERS: [&str; 11] = [
    "please", "bitte", "mal", "doch", "eben", "kurz", "jetzt", "einmal", "kindly", "noch",
    "nochmal",
];
const JOINTS: [&str; 7] = ["and", "then", "but", "also", "und", "dann", "aber"];

const NEGATIONS: [&str; 41] = [
    "not",
    "never",
    "no",
    "none",
    "nothing",
    "nobody",
    "neither",
    "nor",
    "without",
    "avoid",
    "refrain",
    "instead",
    "rather",
    "except",
    "leave",
    "keep",
    "ignore",
    "forget",
    "nevermind",
    "nope",
    "nah",
    "hardly",
    "nicht",
    "nichts",
    "kein",
    "keine",
    "keinen",
    "keiner",
    "keinem",
    "keines",
    "nie",
    "niemals",
    "niemand",
    "ohne",
    "weder",
    "nein",
    "lass",
    "lasse",
    "statt",
    "ausser",
    "cancel",
];
const CONDITIONS: [&str; 23] = [
    "if",
    "unless",
    "when",
    "once",
    "whenever",
    "provided",
    "assuming",
    "while",
    "until",
    "till",
    "otherwise",
    "else",
    "case",
    "falls",
    "wenn",
    "sobald",
    "sofern",
    "solange",
    "bevor",
    "nachdem",
    "waehrend",
    "ob",
    "sonst",
];
const TIMES: [&str; 82] = [
    "yesterday",
    "tomorrow",
    "tonight",
    "today",
    "later",
    "soon",
    "every",
    "daily",
    "nightly",
    "weekly",
    "hourly",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "next",
    "last",
    "before",
    "after",
    "ago",
    "midnight",
    "noon",
    "am",
    "pm",
    "minute",
    "minutes",
    "min",
    "hour",
    "hours",
    "second",
    "seconds",
    "day",
    "days",
    "week",
    "weeks",
    "weekend",
    "month",
    "night",
    "morning",
    "evening",
    "afternoon",
    "always",
    "someday",
    "eventually",
    "already",
    "gestern",
    "morgen",
    "uebermorgen",
    "spaeter",
    "heute",
    "nachts",
    "abends",
    "morgens",
    "taeglich",
    "jeden",
    "jede",
    "jedes",
    "uhr",
    "minuten",
    "stunde",
    "stunden",
    "tag",
    "tage",
    "tagen",
    "woche",
    "gleich",
    "bald",
    "nachher",
    "vorhin",
    "danach",
    "immer",
    "naechste",
    "naechsten",
    "letzte",
    "wochenende",
    "mitternacht",
    "mittag",
    "abend",
    "nacht",
];
const QUOTING: [&str; 10] = [
    "said", "says", "told", "wrote", "reads", "sagte", "sagt", "schrieb", "meinte", "steht",
];
const QUESTION_STARTS: [&str; 52] = [
    "what", "why", "how", "when", "who", "where", "which", "whose", "should", "shall", "do",
    "does", "did", "is", "are", "was", "were", "has", "have", "had", "may", "might", "must", "can",
    "could", "would", "will", "am", "was", "wer", "wie", "wann", "warum", "wieso", "weshalb", "wo",
    "welche", "welcher", "welches", "soll", "sollte", "sollen", "kann", "koennte", "darf", "muss",
    "ist", "sind", "hat", "hast", "laeuft", "wird",
];

pub(super) fn hear(sentence: &Sentence) -> Heard {
    let clauses = parts_of(sentence);
    let doubt = doubt_of(sentence, &clauses);
    let plain: Vec<Option<Order>> = clauses.iter().map(Clause::order).collect();
    let begins = plain.first().is_some_and(Option::is_some);
    let all_plain = !plain.is_empty() && plain.iter().all(Option::is_some);
    let short = sentence.words.len() <= ORDER_WORDS_MAX;
    if doubt.is_none() && all_plain && short {
        return Heard::Orders(plain.into_iter().flatten().collect());
    }
    // What stands first without any doubt may be offered, if another clause is what is doubted.
    let first = match (clauses.first(), plain.into_iter().next().flatten()) {
        (Some(clause), Some(order)) if clauses.len() > 1 && clause.is_clean() => Some(order),
        _ => None,
    };
    let mentioned = clauses.iter().find_map(Clause::mention);
    match mentioned.or(first.as_ref().map(|order| order.verb)) {
        Some(verb) => Heard::Doubted {
            doubt: doubt.unwrap_or(Doubt::Words),
            first: first.filter(|_| !sentence.has_quotes),
            verb,
            begins,
        },
        None => Heard::Nothing(doubt),
    }
}

/// A part of a sentence without marks, joints and politeness.
struct Clause {
    words: Vec<String>,
    /// "can you …": a question mark belongs to it.
    asks_you: bool,
    /// "kannst du …": the verb stands last.
    asks_du: bool,
}

fn parts_of(sentence: &Sentence) -> Vec<Clause> {
    let is_joint = |word: &String| word == MARK || JOINTS.contains(&word.as_str());
    let parts = sentence.words.split(is_joint).map(Clause::of);
    parts.filter(|clause| !clause.words.is_empty()).collect()
}

impl Clause {
    fn of(words: &[String]) -> Self {
        let mut clause = Self {
            words: words.to_vec(),
            asks_you: false,
            asks_du: false,
        };
        loop {
            if take_front(&mut clause.words, &YOU) {
                clause.asks_you = true;
            } else if take_front(&mut clause.words, &DU) {
                clause.asks_du = true;
            } else if !take_front(&mut clause.words, &LEADS) {
                break;
            }
        }
        while take_back(&mut clause.words, &TAILS) {}
        clause
            .words
            .retain(|word| !FILLERS.contains(&word.as_str()));
        clause
    }

    fn is_polite(&self) -> bool {
        self.asks_you || self.asks_du
    }

    /// The order that it is, if it is nothing else.
    fn order(&self) -> Option<Order> {
        if self.asks_du
            && let Some((rest, verb)) = infinitive(&self.words)
        {
            let verb = (verb != Verb::Mend).then_some(verb)?;
            let target = rest.to_vec();
            return Some(Order { verb, target });
        }
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        IMPERATIVES.iter().find_map(|(front, back, verb)| {
            let front: Vec<&str> = front.split(' ').collect();
            let rest = words.strip_prefix(front.as_slice())?;
            let rest = match *back {
                "" => rest,
                back => match rest.split_last() {
                    Some((last, rest)) if *last == back => rest,
                    _ => return None,
                },
            };
            Some(Order {
                verb: *verb,
                target: rest.iter().map(|word| (*word).to_owned()).collect(),
            })
        })
    }

    /// The action that it speaks of anywhere.
    fn mention(&self) -> Option<Verb> {
        if let Some(order) = self.order() {
            return Some(order.verb);
        }
        if let Some((_, verb)) = infinitive(&self.words) {
            return Some(verb);
        }
        let later = (1..self.words.len()).find_map(|begin| {
            let clause = Self {
                words: self.words.get(begin..)?.to_vec(),
                asks_you: false,
                asks_du: false,
            };
            clause.order().map(|order| order.verb)
        });
        let named = || {
            let mut words = self.words.iter();
            words.find_map(|word| {
                let mut known = MENTIONS.iter();
                known
                    .find(|(mention, _)| word == mention)
                    .map(|(_, verb)| *verb)
            })
        };
        // A verb with a slip is never an order, but one can ask whether it was meant.
        let slipped = || {
            let first = self.words.first()?;
            let mut known = MENTIONS.iter().filter(|(mention, _)| mention.len() > 4);
            known
                .find(|(mention, _)| is_slip_of(first, mention))
                .map(|(_, verb)| *verb)
        };
        later.or_else(named).or_else(slipped)
    }

    fn is_clean(&self) -> bool {
        word_doubt(&self.words).is_none()
    }
}

fn infinitive(words: &[String]) -> Option<(&[String], Verb)> {
    INFINITIVES.iter().find_map(|(ending, verb)| {
        let ending: Vec<&str> = ending.split(' ').collect();
        let front = words.len().checked_sub(ending.len())?;
        let (rest, last) = words.split_at_checked(front)?;
        last.iter().eq(ending.iter()).then_some((rest, *verb))
    })
}

fn take_front(words: &mut Vec<String>, phrases: &[&str]) -> bool {
    let length = phrases.iter().find_map(|phrase| {
        let length = phrase.split(' ').count();
        let front = words.get(..length)?;
        front.iter().eq(phrase.split(' ')).then_some(length)
    });
    length.is_some_and(|length| {
        words.drain(..length);
        true
    })
}

fn take_back(words: &mut Vec<String>, phrases: &[&str]) -> bool {
    let kept = phrases.iter().find_map(|phrase| {
        let kept = words.len().checked_sub(phrase.split(' ').count())?;
        let back = words.get(kept..)?;
        back.iter().eq(phrase.split(' ')).then_some(kept)
    });
    kept.is_some_and(|kept| {
        words.truncate(kept);
        true
    })
}

/// The strongest doubt about a sentence.
fn doubt_of(sentence: &Sentence, clauses: &[Clause]) -> Option<Doubt> {
    if sentence.has_quotes || sentence.has_any(&QUOTING) {
        return Some(Doubt::Quoted);
    }
    let spoken: Vec<String> = sentence.spoken().map(str::to_owned).collect();
    if let Some(doubt) = word_doubt(&spoken) {
        return Some(doubt);
    }
    let starts_as_question = clauses.iter().any(|clause| {
        let first = clause.words.first().map(String::as_str);
        first.is_some_and(|first| QUESTION_STARTS.contains(&first))
    });
    let is_marked = sentence.has_question_mark && !clauses.iter().any(Clause::is_polite);
    (starts_as_question || is_marked).then_some(Doubt::Question)
}

fn word_doubt(words: &[String]) -> Option<Doubt> {
    let any = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let ends_something = words.windows(2).any(|pair| match pair {
        [first, second] => {
            let is_doing = second.ends_with("ing") && !second.ends_with("thing");
            is_doing && ["stop", "quit", "cease", "halt"].contains(&first.as_str())
        }
        _ => false,
    });
    if any(&NEGATIONS) || ends_something {
        return Some(Doubt::Negated);
    }
    if let Some(first) = words.first()
        && ["when", "wann"].contains(&first.as_str())
        && words.get(1).is_some_and(|next| {
            [
                "did", "was", "were", "is", "will", "have", "has", "do", "hast", "wurde", "war",
            ]
            .contains(&next.as_str())
        })
    {
        return Some(Doubt::Question);
    }
    if any(&CONDITIONS) {
        return Some(Doubt::Condition);
    }
    let is_moment = words.windows(2).any(|pair| match pair {
        [first, second] => {
            let begins = [
                "at", "in", "um", "by", "for", "um", "ab", "gegen", "about", "around",
            ];
            let is_number = second.starts_with(|c: char| c.is_ascii_digit());
            let is_span = [
                "a", "an", "half", "einer", "einem", "one", "two", "five", "ten",
            ]
            .contains(&second.as_str());
            begins.contains(&first.as_str()) && (is_number || is_span)
        }
        _ => false,
    });
    (any(&TIMES) || is_moment).then_some(Doubt::Time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(said: &str) -> Heard {
        hear(&Sentence::read(said))
    }

    fn doubt(said: &str) -> Option<Doubt> {
        match heard(said) {
            Heard::Doubted { doubt, .. } => Some(doubt),
            Heard::Orders(_) => None,
            Heard::Nothing(doubt) => doubt,
        }
    }

    #[test]
    fn what_is_not_plainly_ordered_is_doubted() {
        for (said, why) in [
            ("don't restart caddy", Doubt::Negated),
            ("do not stop iventoy", Doubt::Negated),
            ("stop restarting caddy", Doubt::Negated),
            ("starte caddy nicht neu", Doubt::Negated),
            ("should I restart caddy?", Doubt::Question),
            ("how do I restart caddy?", Doubt::Question),
            ("when did you restart caddy", Doubt::Question),
            ("restart caddy?", Doubt::Question),
            ("soll ich caddy neu starten", Doubt::Question),
            ("restart caddy if it is down", Doubt::Condition),
            ("falls caddy hängt, starte caddy neu", Doubt::Condition),
            ("restart caddy tomorrow at 8", Doubt::Time),
            ("restart caddy in 5 minutes", Doubt::Time),
            ("starte caddy um 8 neu", Doubt::Time),
            ("he said \"restart caddy\"", Doubt::Quoted),
            ("caddy neu starten", Doubt::Words),
            ("I want you to restart caddy", Doubt::Words),
            ("restrat caddy", Doubt::Words),
        ] {
            assert_eq!(doubt(said), Some(why), "{said}");
        }
    }

    #[test]
    fn on_and_off_count_only_with_their_verb() {
        assert_eq!(
            heard("what's on pve1?"),
            Heard::Nothing(Some(Doubt::Question))
        );
        assert_eq!(heard("iventoy off"), Heard::Nothing(None));
        assert_eq!(heard("pve1 on"), Heard::Nothing(None));
    }

    #[test]
    fn an_order_begins_with_its_verb_after_politeness() {
        for (said, verb, target) in [
            ("restart caddy", Verb::Restart, "caddy"),
            (
                "Hey Little Blue, could you please restart caddy?",
                Verb::Restart,
                "caddy",
            ),
            ("turn iventoy off, please", Verb::Stop, "iventoy"),
            (
                "shut down the media stack now",
                Verb::Shutdown,
                "the media stack",
            ),
            ("starte caddy bitte mal neu", Verb::Restart, "caddy"),
            ("kannst du caddy neu starten?", Verb::Restart, "caddy"),
            (
                "könntest du iventoy bitte ausschalten",
                Verb::Stop,
                "iventoy",
            ),
            ("schalte iventoy aus", Verb::Stop, "iventoy"),
            ("run restart-caddy", Verb::Run, "restart-caddy"),
        ] {
            let Heard::Orders(orders) = heard(said) else {
                panic!("{said}: {:?}", heard(said))
            };
            let [order] = orders.as_slice() else {
                panic!("{said}: {orders:?}")
            };
            assert_eq!(
                (order.verb, order.target.join(" ").as_str()),
                (verb, target),
                "{said}"
            );
        }
    }
}
