//! Whether something is an order. An order *begins* with its verb, after politeness, and has nothing but
//! its target behind it. Everything else that speaks of doing something is doubted, and what is doubted
//! is never done: it is answered, or asked back.
//!
//! The safety does not rest on the lists of doubtful words: a word that belongs neither to the verb, nor to
//! politeness, nor to the target's own name makes [`super::targets`] find nothing. The lists give a
//! better answer, and they win over names: a service called `once` is always asked about.

use super::clauses::{Clause, parts_of};
use super::doubts::{Doubt, doubt_of, is_question, word_doubt};
use super::verbs::{self, Order, Verb};
use super::words::{ORDER_WORDS_MAX, Sentence, is_one_of};

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

impl Heard {
    pub(super) const fn doubt(&self) -> Option<Doubt> {
        match self {
            Self::Doubted { doubt, .. } => Some(*doubt),
            Self::Nothing(doubt) => *doubt,
            Self::Orders(_) => None,
        }
    }

    /// The action that it speaks of without ordering it.
    pub(super) const fn doubted_verb(&self) -> Option<Verb> {
        match self {
            Self::Doubted { verb, .. } => Some(*verb),
            Self::Nothing(_) | Self::Orders(_) => None,
        }
    }
}

/// What a German verb ends with, behind all else.
const CLOSING: &str = "neu ein aus ab an hoch herunter runter";
/// What takes back the whole of what was said before it.
const DISMISSALS: &str =
    "no not never mind way wait thanks nein nicht doch lieber nee nope just kidding nevermind stop";

pub(super) fn hear(sentence: &Sentence) -> Heard {
    let sentence = &sentence.without_greeting();
    let clauses = parts_of(sentence);
    let doubt = doubt_of(sentence, &clauses);
    let plain: Vec<Option<Order>> = clauses.iter().map(Clause::order).collect();
    let begins = plain.first().is_some_and(Option::is_some);
    let all_plain = !plain.is_empty() && plain.iter().all(Option::is_some);
    let is_short = sentence.words.len() <= ORDER_WORDS_MAX;
    let spoken: Vec<&str> = sentence.spoken().collect();
    if doubt.is_none() && verbs::is_cycle(&spoken) {
        return Heard::Doubted {
            doubt: Doubt::Words,
            first: None,
            verb: Verb::Restart,
            begins,
        };
    }
    if doubt.is_none() && all_plain && is_short {
        return Heard::Orders(plain.into_iter().flatten().collect());
    }
    if doubt == Some(Doubt::Negated) && is_lament(&sentence.owned()) {
        return Heard::Nothing(doubt);
    }
    let doubt = doubt.map(|doubt| match is_ordered_at_last(&clauses, &plain) {
        true if doubt == Doubt::Negated && !sentence.has_quotes => Doubt::Words,
        _ => doubt,
    });
    // "starte caddy und grafana neu": a German verb may close behind a joint.
    let closes = sentence
        .words
        .last()
        .is_some_and(|last| is_one_of(last, CLOSING));
    let whole = Clause::of(&sentence.owned()).order();
    let whole = whole.filter(|_| closes).map(|order| order.verb);
    let each = || clauses.iter().find_map(Clause::mention);
    let Some(verb) = whole.or_else(each) else {
        return Heard::Nothing(doubt);
    };
    let first = plain.into_iter().next().flatten();
    Heard::Doubted {
        doubt: doubt.unwrap_or(Doubt::Words),
        first: first.filter(|_| stands_alone(sentence, &clauses)),
        verb,
        begins,
    }
}

/// "I don't need iventoy any more, turn it off": the no is not about the order. It is asked about. A no that has
/// nothing of its own to deny is about the order: "do not, under any circumstances, reboot it".
fn is_ordered_at_last(clauses: &[Clause], plain: &[Option<Order>]) -> bool {
    let (Some((last, before)), Some(Some(_))) = (clauses.split_last(), plain.last()) else {
        return false;
    };
    let others = before.iter().any(|clause| clause.mention().is_some());
    let is_about_it = before
        .iter()
        .any(|clause| denies_what_follows(&clause.words));
    !before.is_empty() && !others && !is_about_it && word_doubt(&last.words).is_none()
}

/// Whether a clause says no and does not itself say to what: "do not", "you must never, ever", "auf keinen Fall".
fn denies_what_follows(words: &[String]) -> bool {
    const NOT: &str = "not never no none nothing nobody nicht nichts nie niemals kein keine keinen keinem keinesfalls";
    /// Who tells how something is: everybody but the one who is spoken to.
    const TELLERS: &str = "i we it he she they this that there the my our its nobody ich wir es er sie das dies der die den \
        mein meine unser unsere";
    const EMPTY: &str = "ever at all really under any circumstance circumstances account event case way what whatever so please now \
        umstaenden fall falle unter auf in jetzt bitte wirklich absolut absolutely definitely and und you du to should must may \
        would could can will soll sollst darf darfst";
    let Some(at) = words.iter().position(|word| is_one_of(word, NOT)) else {
        return false;
    };
    let behind = words.get(at + 1..).unwrap_or_default();
    let in_front = words.get(..at).unwrap_or_default();
    let says = |words: &[String]| words.iter().any(|word| !is_one_of(word, EMPTY));
    let tells = words.first().is_some_and(|first| is_one_of(first, TELLERS));
    // "caddy is not": a subject of its own, and something said of it.
    let is_named = in_front.first().is_some_and(|first| {
        !is_one_of(first, EMPTY) && !is_one_of(first, "do does did please bitte never not no")
    });
    !says(behind) || !(tells || is_named)
}

/// "jellyfin won't start": a no that tells of something that fails. Nothing is forbidden with it.
fn is_lament(words: &[String]) -> bool {
    const SPEAKERS: &str = "you i we nobody please do can could would must should may never no not niemand keiner du ich will is does \
        has did it that this there";
    const FAILS: &str = "will does can is has did";
    const FAILS_IN_GERMAN: &str = "startet bootet laedt spielt faehrt stoppt";
    const FORBIDS: &str = "be to need want require allowed supposed";
    /// Behind these a no tells of something that fails only where that is still going on: "is not starting".
    const STATES: &str = "is has";
    let has_subject = words
        .first()
        .is_some_and(|first| !is_one_of(first, SPEAKERS));
    let fails = words.windows(3).any(|three| match three {
        [verb, not, then] => {
            let is_failing = !is_one_of(verb, STATES) || is_under_way(then);
            is_one_of(verb, FAILS) && not == "not" && !is_one_of(then, FORBIDS) && is_failing
        }
        _ => false,
    });
    let in_german = words.iter().any(|word| is_one_of(word, FAILS_IN_GERMAN))
        && words
            .last()
            .is_some_and(|last| is_one_of(last, "nicht mehr hoch an"));
    has_subject && (fails || in_german)
}

/// "starting", "started": what a machine does or has become. "needed" is what somebody wants.
fn is_under_way(word: &str) -> bool {
    const OF_MACHINES: &str = "starting started stopping stopped booting booted restarting restarted rebooting rebooted \
        deploying deployed launching launched loading loaded responding coming working running";
    is_one_of(word, OF_MACHINES)
}

/// Whether the first clause is without any doubt, and what is doubted is about something else: "restart caddy
/// and don't touch grafana", but not "restart caddy? no way".
fn stands_alone(sentence: &Sentence, clauses: &[Clause]) -> bool {
    let Some((first, rest)) = clauses.split_first() else {
        return false;
    };
    let says_more = |word: &String| !is_one_of(word, DISMISSALS);
    let others = rest.iter().any(|clause| clause.words.iter().any(says_more));
    others && word_doubt(&first.words).is_none() && !sentence.has_quotes
}

/// Whether something is asked, in whatever form.
pub(super) fn asks(sentence: &Sentence) -> bool {
    is_question(sentence, &parts_of(sentence))
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
            ("caddy neu zu starten", Doubt::Words),
            ("lieber caddy neu starten", Doubt::Words),
            ("caddy neu starten?", Doubt::Question),
            ("caddy nicht neu starten", Doubt::Negated),
            ("- caddy neu starten", Doubt::Quoted),
            ("restart photos, hello", Doubt::Words),
            ("restart photos and hello", Doubt::Words),
            ("I want you to restart caddy", Doubt::Words),
            ("restrat caddy", Doubt::Words),
            ("would you restart caddy?", Doubt::Question),
            ("would you restart caddy", Doubt::Question),
            ("würdest du caddy neu starten?", Doubt::Question),
            ("would you please turn iventoy off", Doubt::Question),
            ("turn jellyfin off and on again", Doubt::Words),
            ("stop caddy and start it", Doubt::Words),
            ("schalte caddy aus und wieder ein", Doubt::Words),
            (
                "do not, under any circumstances, reboot the proxy",
                Doubt::Negated,
            ),
            ("please never, ever, restart caddy", Doubt::Negated),
            ("you must not, as i said, restart caddy", Doubt::Negated),
            ("auf keinen Fall, starte caddy neu", Doubt::Negated),
            ("caddy restart is not needed", Doubt::Negated),
            ("a reboot of the proxy is not necessary", Doubt::Negated),
            ("i do not need iventoy any more, turn it off", Doubt::Words),
            ("when jellyfin goes down, restart it", Doubt::Condition),
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
            ("Caddy neustarten!", Verb::Restart, "caddy"),
            ("hello, restart caddy", Verb::Restart, "caddy"),
            ("bring caddy back up", Verb::Revive, "caddy"),
            (
                "reboot the monitoring once more",
                Verb::Reboot,
                "the monitoring",
            ),
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
