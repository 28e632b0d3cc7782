//! What a sentence is about, when it is no order. A topic is only ever looked at, answered or offered, so
//! its words may be loose.

use super::clauses::parts_of;
use super::cues::{self, HINT, STRONG};
use super::doubts::{Doubt, lets_be};
use super::orders::{Heard, asks};
use super::patterns::Pattern;
use super::words::{Sentence, is_one_of};
use super::{Knowledge, Next, catalogue, loads, looks, records, reports, undo, unsupported};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    /// "stop everything", "thaw"
    Freeze,
    Undo,
    FollowUp,
    Waiting,
    Refused,
    /// "mute iventoy"
    Mute,
    /// "make a backup"
    Backup,
    /// "remind me tomorrow"
    Reminder,
    /// "is there an update for void?"
    Updates,
    /// "which containers do I have?"
    Guests,
    /// "is the record intact?"
    Verify,
    /// Who did what when.
    History,
    Logs,
    /// "is anything running out?"
    RunningOut,
    HowTo,
    /// "what does restart-caddy do?"
    ExplainAction,
    Uptime,
    /// "what's on pve1?"
    OnPlace,
    Abilities,
    /// "what is wrong?"
    Check,
    /// "why is X down?", "X feels dead", "is X up?"
    Explain,
    /// "how is everything?"
    Status,
    Greet,
    Thanks,
    Farewell,
}

/// What a sentence is about, and how much shows it.
#[derive(Debug, Clone, Copy)]
pub(super) struct About {
    pub topic: Topic,
    /// More than a hint shows it.
    pub is_strong: bool,
    /// Less than a hint: a name that is known weighs more.
    pub is_weak: bool,
}

/// What may stand before a question without being part of it.
const OPENERS: &str = "hey|hi|hello|hallo|moin|servus|yo|ok|okay|so|well|na|also|und|and|but|aber|please|bitte|little blue\
    |blue|sentinel|sag mal|sag|mal|tell me|can you tell me|could you tell me|kannst du mir sagen|weisst du|do you know|eigentlich\
    |good morning|guten morgen|good evening|guten abend|morning|just|quick question|kurze frage|oh|ah|hm|hmm|ups|oops|damn|dude\
    |alter|man|mann|wait";
const OPEN_QUESTIONS: &str =
    "who whose why how what which wer warum wieso wie was welche welcher welches";
/// What doubts an answer.
const ONCE_MORE: &str = "really sure certain are you sicher wirklich echt bist du dir ehrlich";
/// What a sentence is about shows in so many words of it.
const WORDS_MAX: usize = 60;
/// More than a name and a joint is a sentence of its own.
const ELLIPSIS_WORDS_MAX: usize = 5;

pub(super) fn of(turn: &Knowledge<'_>, sentence: &Sentence) -> Option<About> {
    let own = of_words(sentence);
    let before = turn.said_before.filter(|_| is_elliptical(sentence));
    let carried = before.and_then(|said| of_words(&Sentence::read(said)));
    match (own, carried) {
        (Some(own), _) if own.is_strong => Some(own),
        (_, Some(carried)) if carried.topic.is_about_a_thing() => Some(carried),
        (own, _) => own,
    }
}

fn of_words(sentence: &Sentence) -> Option<About> {
    let all: Vec<&str> = sentence.spoken().take(WORDS_MAX).collect();
    let core = match without_openers(&all) {
        [] => &all,
        core => core,
    };
    let found = cues::best(core).or_else(|| {
        let mended = cues::mended(core);
        let mended: Vec<&str> = mended.iter().map(String::as_str).collect();
        cues::best(&mended)
    });
    // "good morning dear": what opens a sentence may be all that it says.
    let found = found.or_else(|| cues::best(&all));
    let about = found.map(|(topic, score)| About {
        topic,
        is_strong: score >= STRONG,
        is_weak: score < HINT,
    });
    let is_open = about.is_none_or(|about| about.is_weak) && asks(sentence);
    let past = About {
        topic: Topic::History,
        is_strong: false,
        is_weak: false,
    };
    match is_open && core.iter().enumerate().any(is_past) {
        true => Some(past),
        false => about,
    }
}

/// A verb of something that is over. `was` is German where it comes first.
fn is_past((position, word): (usize, &&str)) -> bool {
    const VERBS: &str =
        "been were did had has have gewesen war waren wurde wurden hatte hatten hat hast haben";
    const NOT: &str = "need speed feed indeed gehen genau gerade gesamt gestern general gerne";
    let ends = |endings: [&str; 2]| endings.iter().any(|ending| word.ends_with(ending));
    let is_participle = word.len() > 5 && word.starts_with("ge") && ends(["t", "en"]);
    let is_simple = word.len() > 4 && word.ends_with("ed");
    let is_verb = is_one_of(word, VERBS) || (*word == "was" && position > 0);
    is_verb || (is_participle || is_simple) && !is_one_of(word, NOT)
}

pub(super) fn without_openers<'a, 'b>(words: &'a [&'b str]) -> &'a [&'b str] {
    let mut rest = words;
    loop {
        let length = OPENERS.split('|').find_map(|opener| {
            let length = opener.split(' ').count();
            let front = rest.get(..length)?;
            front
                .iter()
                .copied()
                .eq(opener.split(' '))
                .then_some(length)
        });
        match length {
            Some(length) => rest = rest.get(length..).unwrap_or_default(),
            None => return rest,
        }
    }
}

/// "who", "when": it asks for an answer and not for an act, whatever else it says.
fn begins_openly(sentence: &Sentence) -> bool {
    let words: Vec<&str> = sentence.spoken().collect();
    let first = without_openers(&words).first();
    first.is_some_and(|first| is_one_of(first, OPEN_QUESTIONS))
}

/// "when jellyfin goes down, restart it": what is to be done, and when. "when did it go down?" asks.
fn begins_conditionally(sentence: &Sentence) -> bool {
    const STARTS: &str = "when whenever if once should unless wenn sobald falls sofern sollte";
    let words: Vec<&str> = sentence.spoken().collect();
    let first = without_openers(&words).first();
    let begins = first.is_some_and(|first| is_one_of(first, STARTS));
    let clauses = parts_of(sentence);
    let orders = clauses
        .iter()
        .skip(1)
        .any(|clause| clause.order().is_some());
    begins && orders && !sentence.has_question_mark
}

/// "really?": the question before, once more. What was ordered before is followed up, never repeated.
pub(super) fn once_more(turn: &Knowledge<'_>, sentence: &Sentence) -> Option<Next> {
    let mut words = sentence.spoken();
    let doubts = sentence.has_question_mark && words.all(|word| is_one_of(word, ONCE_MORE));
    let before = Sentence::read(turn.said_before.filter(|_| doubts)?);
    let about = of_words(&before).filter(|_| asks(&before));
    Some(match about {
        Some(about) => about
            .topic
            .next(turn, &before, &Heard::Nothing(Some(Doubt::Question))),
        None => records::follow_up(turn),
    })
}

/// "and grafana?": the question before, about something else.
fn is_elliptical(sentence: &Sentence) -> bool {
    let mut words = sentence.spoken();
    let begins = words
        .next()
        .is_some_and(|first| is_one_of(first, "and und what how was wie"));
    begins && sentence.spoken().count() <= ELLIPSIS_WORDS_MAX
}

/// "don't freeze"
fn is_not_to_freeze(sentence: &Sentence) -> bool {
    let words: Vec<&str> = sentence.spoken().collect();
    let patterns = "not/never/nicht/kein/keine .. freeze/thaw/unfreeze/brake/einfrieren/auftauen|frier* .. nicht";
    Pattern::parse_all(patterns).any(|pattern| pattern.is_in(&words))
}

/// What begins like an order and means something that no action does: "stop the alerts", "make a backup".
pub(super) fn of_no_action(sentence: &Sentence) -> Option<Topic> {
    let about = of_words(sentence).filter(|about| about.is_strong)?;
    matches!(about.topic, Topic::Mute | Topic::Backup).then_some(about.topic)
}

pub(super) fn is_about_everything(sentence: &Sentence) -> bool {
    of_words(sentence).is_some_and(|about| about.topic == Topic::Freeze)
}

impl About {
    /// Whether it may be what a sentence is about that also speaks of an action. What begins like an order
    /// is about doing; a no, a condition and a time are told as such, unless something is asked.
    pub(super) fn fits(self, sentence: &Sentence, heard: &Heard, asks: bool) -> bool {
        let topic = self.topic;
        let is_explained = matches!(topic, Topic::HowTo | Topic::ExplainAction);
        let is_asked_openly = is_explained && asks && begins_openly(sentence);
        let leaves = heard.doubt() == Some(Doubt::Negated) && lets_be(sentence);
        // Whatever it is that she is to remember: she does not.
        if topic == Topic::Reminder {
            return true;
        }
        if begins_conditionally(sentence) && heard.doubted_verb().is_some() {
            return false;
        }
        if leaves && !topic.is_looked_for() && !is_asked_openly {
            return matches!(topic, Topic::Freeze);
        }
        let Heard::Doubted { doubt, begins, .. } = heard else {
            return true;
        };
        if *begins {
            let is_other = matches!(
                topic,
                Topic::Freeze | Topic::Undo | Topic::Mute | Topic::Backup
            );
            return self.is_strong && is_other;
        }
        match doubt {
            Doubt::Question => true,
            Doubt::Words => (asks || self.is_strong) && !topic.is_small_talk(),
            // For how long is part of it.
            Doubt::Time if topic == Topic::Mute => self.is_strong,
            Doubt::Quoted => false,
            Doubt::Negated | Doubt::Condition | Doubt::Time => {
                asks && (self.is_strong || begins_openly(sentence)) && !topic.is_small_talk()
                    || topic == Topic::Check && self.is_strong && *doubt == Doubt::Negated
                    || topic == Topic::Freeze
            }
        }
    }
}

impl Topic {
    const fn is_small_talk(self) -> bool {
        matches!(self, Self::Greet | Self::Thanks | Self::Farewell)
    }

    /// What is asked for in one breath with *don't touch anything*.
    const fn is_looked_for(self) -> bool {
        matches!(self, Self::Check | Self::Status)
    }

    /// Whether the next name may be asked about in the same way.
    const fn is_about_a_thing(self) -> bool {
        matches!(
            self,
            Self::Uptime
                | Self::Status
                | Self::History
                | Self::Explain
                | Self::HowTo
                | Self::ExplainAction
                | Self::Logs
        )
    }

    pub(super) fn next(self, turn: &Knowledge<'_>, sentence: &Sentence, heard: &Heard) -> Next {
        match self {
            Self::Freeze if is_not_to_freeze(sentence) => {
                Next::say("I leave it alone: nothing was frozen or thawed.")
            }
            Self::Freeze => Next::say(
                "I cannot freeze or thaw; you can, at once: `void freeze --reason \"hands off\"` or the Freeze \
                 button stops everything, `void thaw` lets go.",
            ),
            Self::Undo => undo::next(turn, sentence),
            Self::FollowUp => records::follow_up(turn),
            Self::Waiting => records::waiting(turn),
            Self::Refused => records::refused(turn, sentence),
            Self::History => reports::history(turn, sentence),
            Self::Logs => Next::say(
                "I cannot read logs: I see whether services answer, not what they write. \
                 `journalctl -u UNIT -n 20 | void chat` lets me look for well-known lines, and `void inbox show CODE` shows you what an \
                 action printed.",
            ),
            Self::RunningOut => loads::running_out(turn, sentence),
            Self::HowTo => catalogue::how_to(turn, sentence, heard),
            Self::ExplainAction => catalogue::explain_action(turn, sentence, heard),
            Self::Uptime => looks::uptime(turn, sentence),
            Self::OnPlace => looks::on_place(turn, sentence),
            Self::Abilities => catalogue::abilities(turn),
            // "is a reboot of caddy bad?" is about the reboot.
            Self::Check | Self::Status
                if heard.doubt() == Some(Doubt::Question) && heard.doubted_verb().is_some() =>
            {
                catalogue::explain_action(turn, sentence, heard)
            }
            Self::Check | Self::Explain | Self::Status => {
                looks::how_it_is(turn, self, sentence, heard)
            }
            Self::Mute => looks::mute(turn, sentence),
            Self::Guests => looks::guests(turn),
            Self::Reminder => Next::say(unsupported::REMINDER),
            Self::Updates => Next::say(unsupported::UPDATES),
            Self::Backup => Next::say(
                "I cannot make backups. `void backup create` makes one of Void's own data and `void backup ls` lists them; those \
                 of your services are not Void's.",
            ),
            Self::Verify => Next::say(
                "I cannot walk the record from here, so I do not say that it is whole: `void audit verify` walks all of it, \
                 names every place that does not fit, and checks it against its witness.",
            ),
            Self::Greet => catalogue::greeting(turn),
            Self::Thanks => Next::say("Gladly."),
            Self::Farewell => Next::say(format!(
                "{} What happens meanwhile is on the record: ask me *what happened?*",
                match sentence.has_any("night nacht goodnight gn gn8 schlaf") {
                    true => "Good night.",
                    false => "Good-bye.",
                }
            )),
        }
    }
}
