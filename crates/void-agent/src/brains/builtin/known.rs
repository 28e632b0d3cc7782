//! The actions of the catalogue as `list_actions` tells them, and what each is called.
//!
//! An action has names of its own (what its label, its id and its target call it) and places (the host or
//! node that it works on). A place alone identifies nothing.

use serde_json::Value;

use super::results::{list, text};
use super::times::Times;
use super::words::{folded, is_one_of, is_slip_of};

/// An action as `list_actions` tells it.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub id: String,
    pub label: String,
    pub operation: String,
    pub is_safe: bool,
    pub needs_params: bool,
    /// `CT 107 on pve1`, `caddy on local`.
    pub place: String,
    pub inverse: Option<String>,
    pub confirmed_by: Option<String>,
    /// When it may run again, if it is cooling down: `again in 23 s`.
    pub again: Option<String>,
    /// `running` or `stopped`: its guest is already as it would make it.
    pub already: Option<String>,
    /// What the owner's runbook says of it: the page's title, and the line.
    pub runbook: Option<(String, String)>,
    names: Vec<Vec<String>>,
    places: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    Exact,
    Guess,
}

/// Fewer letters in common are chance.
const ALIKE_CHARS_MIN: usize = 4;

/// Words before a name.
pub(super) const ARTICLES: &str =
    "the a an my our this der die das den dem ein eine einen mein meine meinen unseren unser";
const PREPOSITIONS: &str = "on in at of from auf im von";
/// What a label says besides the name.
const LABEL_WORDS: &str = "restart reboot start stop shut down shutdown deploy scale roll back rollback service rehearsal";

pub(super) fn known(result: &Value) -> Vec<Known> {
    let actions = list(result, "actions").iter();
    let times = Times::at(text(result, "at"));
    actions.map(|action| Known::of(action, &times)).collect()
}

impl Known {
    fn of(action: &Value, times: &Times) -> Self {
        let owned = |name: &str| Some(text(action, name).to_owned()).filter(|it| !it.is_empty());
        let (id, label) = (text(action, "id"), text(action, "label"));
        let target = text(action, "target");
        let (place, own) = target.rsplit_once('/').unwrap_or(("", target));
        let place = folded(place.rsplit(':').next().unwrap_or_default());
        let mut names: Vec<Vec<String>> = Vec::new();
        for source in [label, id] {
            let words: Vec<String> = pieces(source)
                .filter(|word| {
                    let empty = [LABEL_WORDS, ARTICLES, PREPOSITIONS];
                    !empty.iter().any(|list| is_one_of(word, list)) && *word != place
                })
                .collect();
            names.push(words);
        }
        names.push(pieces(own).collect());
        names.push(pieces(&text(action, "guest").replace(' ', "")).collect());
        let joined: Vec<Vec<String>> = names
            .iter()
            .filter(|name| name.len() > 1)
            .map(|name| vec![name.concat()])
            .collect();
        names.extend(joined);
        names.retain(|name| !name.is_empty());
        names.dedup();
        Self {
            id: id.to_owned(),
            label: label.to_owned(),
            operation: text(action, "op").to_owned(),
            is_safe: text(action, "tier") == "safe",
            needs_params: action
                .get("params")
                .and_then(Value::as_object)
                .is_some_and(|params| !params.is_empty()),
            place: match (text(action, "guest"), place.as_str()) {
                ("", "") => own.to_owned(),
                ("", place) => format!("{own} on {place}"),
                (guest, "") => guest.to_owned(),
                (guest, place) => format!("{guest} on {place}"),
            },
            inverse: owned("inverse"),
            confirmed_by: owned("confirmed_by"),
            again: owned("cooling_until").map(|until| times.again(&until)),
            already: owned("already"),
            runbook: action.get("runbook").map(|runbook| {
                (
                    text(runbook, "title").to_owned(),
                    text(runbook, "says").to_owned(),
                )
            }),
            names,
            places: vec![place],
        }
    }

    /// Whether it is about what a service runs on, or is called like the service.
    pub(super) fn works_on(&self, service: &str, runs_on: &str) -> bool {
        let Some((what, place)) = self.place.split_once(" on ") else {
            return self.place == service;
        };
        let number = what.strip_prefix("CT ").or(what.strip_prefix("VM "));
        match number {
            Some(number) => folded(runs_on) == format!("{number} on {place}"),
            None => what == service,
        }
    }

    pub(super) fn is_on_guest(&self) -> bool {
        self.place.starts_with("CT ") || self.place.starts_with("VM ")
    }

    /// What an order would call it: what its label does.
    pub(super) fn spoken_name(&self) -> Option<String> {
        let mut names = self.names.iter().map(|name| name.join(" "));
        names.find(|name| name.chars().any(char::is_alphabetic))
    }

    fn is_place(&self, word: &str) -> bool {
        self.places.iter().any(|place| place == word)
    }

    fn is_named_with(&self, word: &str) -> bool {
        let mut all = self.names.iter().flatten();
        all.any(|name| name == word)
    }

    fn slip(&self, word: &str) -> Option<&String> {
        let mut all = self.names.iter().flatten();
        all.find(|name| is_slip_of(word, name))
    }

    /// Whether a word is what people make of its name: its first letters, or a word that begins like it.
    pub(super) fn resembles(&self, word: &str) -> bool {
        let begins_alike = |name: &String| {
            let same = name.chars().zip(word.chars());
            let same = same.take_while(|(a, b)| a == b).count();
            same >= ALIKE_CHARS_MIN && same * 2 > name.chars().count()
        };
        let initials = |name: &Vec<String>| -> String {
            name.iter().filter_map(|part| part.chars().next()).collect()
        };
        let is_short = |name: &Vec<String>| name.len() > 1 && initials(name) == word;
        // A digit away is another one.
        let is_numbered = word.chars().any(|c| c.is_ascii_digit());
        let is_alike =
            self.names.iter().any(is_short) || self.names.iter().flatten().any(begins_alike);
        is_alike && !is_numbered
    }

    /// How these words fit, if all of them do. With `loosely` words that fit nothing are passed over.
    pub(super) fn fit(&self, words: &[String], loosely: bool) -> Option<Fit> {
        let mut found: Vec<&str> = Vec::new();
        let mut slipped = false;
        for (position, word) in words.iter().enumerate() {
            let next = words.get(position + 1);
            let leads_to_place =
                is_one_of(word, PREPOSITIONS) && next.is_some_and(|next| self.is_place(next));
            if self.is_named_with(word) {
                found.push(word);
            } else if let Some(name) = self.slip(word) {
                found.push(name);
                slipped = true;
            } else if !(leads_to_place || self.is_place(word) || loosely) {
                return None;
            }
        }
        let is_whole = |name: &Vec<String>| name.iter().all(|part| found.contains(&part.as_str()));
        match self.names.iter().any(is_whole) {
            true if !slipped => Some(Fit::Exact),
            true => Some(Fit::Guess),
            false if found.is_empty() || loosely => None,
            false => Some(Fit::Guess),
        }
    }
}

pub(super) fn pieces(text: &str) -> impl Iterator<Item = String> {
    let folded = folded(text);
    let pieces: Vec<String> = folded
        .split(|c: char| !c.is_alphanumeric())
        .filter(|piece| !piece.is_empty())
        .map(str::to_owned)
        .collect();
    pieces.into_iter()
}
