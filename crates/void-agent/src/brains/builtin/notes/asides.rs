//! What is said to the companion in words that for others are about the lab: a page by its name alone, what is due, a no to a note, a
//! question about a task. What is found nowhere among what the owner keeps is left to the other rules.

use serde_json::json;

use super::super::requests;
use super::super::results::{list, text, trouble};
use super::heads::{HeadWord, head_of, without_leads, words, words_from};
use super::{Knowledge, Next, exact, found, open_tasks, search, told};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Search,
    ReadOut,
}

#[derive(Debug, PartialEq, Eq)]
enum Aside<'a> {
    Named(Kind, &'a str),
    OpenTasks,
    /// A no to a task or a note.
    Negated,
    Condition,
    /// Whether one should be made.
    Asked,
    /// What is there would be another then.
    Change,
}

/// As in [`super::heads`]: `x?` may be left out, of `x/y` one is said; with `=` one of the words has to stand at the end.
const HEADS: [(Kind, &str, &str); 13] = [
    (Kind::ReadOut, "show me?", ""),
    (Kind::ReadOut, "open", ""),
    (Kind::ReadOut, "what does", "=say"),
    (Kind::ReadOut, "what is in", ""),
    (Kind::ReadOut, "zeig/zeige mir? bitte/mal?", ""),
    (Kind::ReadOut, "oeffne bitte/mal?", ""),
    (Kind::ReadOut, "was steht in/auf/unter", ""),
    (Kind::Search, "find/finde", ""),
    (Kind::Search, "where did i write about/down", ""),
    (Kind::Search, "where is my note/page about", ""),
    (Kind::Search, "what did i note about/on", ""),
    (
        Kind::Search,
        "wo habe ich etwas? ueber/zu?",
        "=aufgeschrieben notiert geschrieben",
    ),
    (
        Kind::Search,
        "was habe ich zu",
        "=aufgeschrieben notiert geschrieben",
    ),
];

const OPEN_TASKS: [&str; 20] = [
    "what is due",
    "what is due today",
    "what is due tomorrow",
    "what is due this week",
    "what is to be done",
    "what is to do",
    "what is open",
    "what should i do next",
    "what do i have to do",
    "what do i have to do today",
    "how many tasks are open",
    "how many tasks do i have",
    "show tasks",
    "was ist faellig",
    "was ist heute faellig",
    "was ist zu tun",
    "was gibt es zu tun",
    "was soll ich als naechstes tun",
    "was muss ich heute tun",
    "wie viele aufgaben sind offen",
];

const KEPT: &str = "note notes notiz notizen notiere notieren notier task tasks aufgabe aufgaben todo todos page pages seite \
     seiten";
const NO: &str = "not no never nothing nicht nichts kein keine keinen keiner nie niemals";
const CONDITION: &str = "if when wenn falls sobald";
const MAKE: &str = "make made note write add create draft take mach mache machen erstelle erstellen schreib schreiben notiere \
     notieren anlegen";
const CHANGE: &str = "change edit update delete remove rename append add mark close finish complete tick loesche loeschen aendere \
     aendern bearbeite ergaenze ergaenzen entferne markiere schliesse hake";

/// `None`: it is about something else, or about nothing that is kept.
pub(super) fn next(turn: &Knowledge<'_>) -> Option<Next> {
    Some(match aside_in(turn.said)? {
        Aside::OpenTasks => open_tasks(turn),
        Aside::Named(Kind::ReadOut, name) => return read_by_name(turn, name),
        Aside::Named(Kind::Search, name) => return found_if_any(turn, name),
        Aside::Negated => requests::leaves_it(turn, "Good, I draft nothing. Nothing was written."),
        Aside::Condition => {
            Next::say("I cannot wait for a condition: say it when it is so. Nothing was written.")
        }
        Aside::Asked => Next::say(
            "You ask, so I drafted nothing. If you want it: *make a task: renew the certificate*, or *note that the spare key \
             is in the drawer*.",
        ),
        Aside::Change => Next::say(
            "By rules I draft new tasks and notes, and change nothing that is there. You do, on its page, or with \
             `void kb edit TITLE`; `void kb edit TITLE --state done` ends a task. Nothing was written.",
        ),
    })
}

fn read_by_name(turn: &Knowledge<'_>, name: &str) -> Option<Next> {
    if let Some(read) = turn.result("read") {
        return Some(told(read, name));
    }
    let Some(result) = turn.result("search") else {
        return Some(search(name));
    };
    match exact(list(result, "hits"), name).as_slice() {
        [one] => {
            let which = json!({"kind": text(one, "kind"), "id": text(one, "id")});
            Some(Next::look("read", which))
        }
        _ => None,
    }
}

fn found_if_any(turn: &Knowledge<'_>, name: &str) -> Option<Next> {
    let Some(result) = turn.result("search") else {
        return Some(search(name));
    };
    let is_any = trouble(result).is_none() && !list(result, "hits").is_empty();
    is_any.then(|| found(turn, name))
}

fn aside_in(said: &str) -> Option<Aside<'_>> {
    if said.trim().lines().count() != 1 {
        return None;
    }
    let all = words(said);
    let (rest, _) = without_leads(&all);
    let spoken: Vec<&str> = rest.iter().map(|word| word.is.as_str()).collect();
    if OPEN_TASKS.contains(&spoken.join(" ").as_str()) {
        return Some(Aside::OpenTasks);
    }
    let is_in = |known: &str| {
        spoken
            .iter()
            .any(|word| known.split(' ').any(|one| one == *word))
    };
    let is_no = is_in(NO) || spoken.iter().any(|word| is_contracted_no(word));
    let named = HEADS.iter().find_map(|(kind, head, tails)| {
        let behind = head_of(rest, head)?;
        let name = words_from(said, rest, behind, tails)?;
        Some(Aside::Named(*kind, name))
    });
    if named.is_some() && !is_no {
        return named;
    }
    if !is_in(KEPT) {
        return None;
    }
    let begins = |known: &str| rest.first().is_some_and(|word| is_one(word, known));
    let is_question = said.trim_end().ends_with('?');
    match () {
        () if is_no => Some(Aside::Negated),
        () if begins(CONDITION) => Some(Aside::Condition),
        () if is_question && is_in(MAKE) => Some(Aside::Asked),
        () if !is_question && is_in(CHANGE) => Some(Aside::Change),
        () => None,
    }
}

fn is_one(word: &HeadWord<'_>, known: &str) -> bool {
    known.split(' ').any(|one| one == word.is)
}

/// *don't*, *won't*, *shouldn't*, with whatever apostrophe.
fn is_contracted_no(word: &str) -> bool {
    let letters: String = word.chars().filter(char::is_ascii_alphabetic).collect();
    letters.len() < word.len() && letters.ends_with("nt") || letters == "dont"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_alone_is_looked_for_by_its_name() {
        for (said, kind, name) in [
            ("show me Welcome", Kind::ReadOut, "Welcome"),
            ("open the NAS", Kind::ReadOut, "NAS"),
            ("what does Power cut say?", Kind::ReadOut, "Power cut"),
            ("zeig mir mal Backups", Kind::ReadOut, "Backups"),
            ("Was steht in Netz?", Kind::ReadOut, "Netz"),
            ("find iventoy", Kind::Search, "iventoy"),
            ("where did I write about dns?", Kind::Search, "dns"),
            ("what did I note about the NAS?", Kind::Search, "NAS"),
            ("wo habe ich VLANs aufgeschrieben?", Kind::Search, "VLANs"),
        ] {
            assert_eq!(aside_in(said), Some(Aside::Named(kind, name)), "{said}");
        }
        for said in [
            "what is due today?",
            "Was ist heute fällig?",
            "how many tasks are open?",
        ] {
            assert_eq!(aside_in(said), Some(Aside::OpenTasks), "{said}");
        }
    }

    #[test]
    fn a_no_a_question_a_condition_and_a_change_are_told_apart() {
        for (said, aside) in [
            ("don't make a note", Some(Aside::Negated)),
            ("don’t note that the NAS is loud", Some(Aside::Negated)),
            ("please do not make a task: x", Some(Aside::Negated)),
            ("mach keine Aufgabe: Müll rausbringen", Some(Aside::Negated)),
            ("bitte keine Notiz", Some(Aside::Negated)),
            ("should I make a task?", Some(Aside::Asked)),
            ("would you make a task: y?", Some(Aside::Asked)),
            ("soll ich eine Aufgabe machen?", Some(Aside::Asked)),
            (
                "if the disk fails make a task: replace it",
                Some(Aside::Condition),
            ),
            ("delete the page Backups", Some(Aside::Change)),
            ("lösche die Seite Backups", Some(Aside::Change)),
            ("mark the task Dust the rack as done", Some(Aside::Change)),
            ("restart caddy", None),
            ("what is wrong?", None),
            ("why is caddy down?", None),
            ("is the task done?", None),
            ("don't restart caddy", None),
            ("show me Welcome\n> delete everything", None),
        ] {
            assert_eq!(aside_in(said), aside, "{said}");
        }
    }
}
