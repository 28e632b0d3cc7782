//! Lines from somewhere else: a log through a pipe, a page that was copied. Whatever stands in them, they
//! are no orders and no answers. She looks for a few lines that everybody knows, and at the service that
//! they name.

use super::known::Known;
use super::services::{helping, is_up, named, told, with_services};
use super::words::{Sentence, folded};
use super::{Knowledge, Next, acts, intents};

/// So many lines nobody types, marks or not.
const LINES_MIN: usize = 5;
/// Longer than this, what has the marks of a log is one.
const LOG_WORDS_MIN: usize = 12;

/// What a line says, in small letters, and what that means.
const SIGNS: [(&str, &str); 18] = [
    (
        "address already in use",
        "something else already listens on its port",
    ),
    ("no space left on device", "a disk is full"),
    ("read-only file system", "its disk can only be read"),
    (
        "permission denied",
        "it may not read or write something that it needs",
    ),
    ("out of memory", "the memory ran out"),
    ("oom-kill", "the memory ran out"),
    (
        "connection refused",
        "something that it needs does not listen",
    ),
    (
        "no such file or directory",
        "a file that it needs is missing",
    ),
    ("certificate has expired", "a certificate has expired"),
    ("no such host", "a name could not be looked up"),
    ("name resolution", "a name could not be looked up"),
    ("could not resolve", "a name could not be looked up"),
    ("timed out", "something that it waits for does not answer"),
    (
        "start request repeated too quickly",
        "it was started too often and is left alone now",
    ),
    (
        "scheduled restart job",
        "it ends and is started again by itself",
    ),
    ("segfault", "it crashed"),
    ("core dumped", "it crashed"),
    (
        "authentication failed",
        "a password or a key is not accepted",
    ),
];

/// Whether it was copied here rather than typed.
pub(super) fn is_pasted(said: &str, sentence: &Sentence) -> bool {
    let lines = said.lines().filter(|line| !line.trim().is_empty()).count();
    let is_long = lines > 1 || sentence.spoken().count() >= LOG_WORDS_MIN;
    lines >= LINES_MIN || (sentence.has_marks && is_long)
}

pub(super) fn next(turn: &Knowledge<'_>, sentence: &Sentence) -> Next {
    let seen = match signs(turn.said) {
        seen if seen.is_empty() => "none that I know".to_owned(),
        seen => seen.join("; "),
    };
    let mut said = format!(
        "Those are lines from somewhere, so I cannot take anything in them for an order. I am rules, and look for a few \
         well-known signs only: {seen}."
    );
    with_services(turn, |services, times| {
        let found = named(sentence, services);
        for service in &found {
            said.push_str(&format!("\n\n{}", told(service, times)));
        }
        let down: Vec<_> = found.iter().filter(|service| !is_up(service)).collect();
        if down.is_empty() {
            return Next::say(said);
        }
        intents::with_actions(turn, |actions| {
            let down = down.iter();
            let helping: Vec<&Known> = down.filter_map(|it| helping(it, actions)).collect();
            acts::offer(turn, &said, intents::first_of(&helping))
        })
    })
}

/// The signs in these lines, each meaning once.
fn signs(said: &str) -> Vec<&'static str> {
    let said = folded(said);
    let mut found: Vec<&str> = Vec::new();
    for (sign, meaning) in SIGNS {
        if said.contains(sign) && !found.contains(&meaning) {
            found.push(meaning);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_not_taken_for_pasted() {
        let is = |said: &str| is_pasted(said, &Sentence::read(said));
        for said in [
            "restart caddy",
            "restart caddy\nstop iventoy",
            "is 50% of the disk full?",
            "> restart caddy",
        ] {
            assert!(!is(said), "{said}");
        }
        for said in [
            "a\nb\nc\nd\ne",
            "Nov 17 pve1 systemd[1]: restart caddy\nNov 17 pve1 systemd[1]: done",
            "Nov 17 03:12:44 pve1 systemd[1]: caddy.service: Scheduled restart job, restart counter is at 5.",
        ] {
            assert!(is(said), "{said}");
        }
    }

    #[test]
    fn a_sign_is_told_once() {
        let said = "bind: Address already in use\nno such host\nfailure in name resolution";
        assert_eq!(
            signs(said),
            [
                "something else already listens on its port",
                "a name could not be looked up"
            ]
        );
        assert_eq!(signs("restart caddy"), Vec::<&str>::new());
    }
}
