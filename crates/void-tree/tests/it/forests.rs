//! Random trees as text, and a walk that knows how two of their agents stand to each other.

use std::collections::{BTreeMap, BTreeSet};

use void_domain::agents::AgentName;
use void_domain::capabilities::{Capabilities, Capability};
use void_domain::relations::Relation;

/// A written tree: each name with the parents that it is written with, more than one if it stands there twice.
pub(crate) type Written = BTreeMap<String, Vec<Option<String>>>;

pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound).unwrap()).unwrap()
    }

    pub(crate) fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    pub(crate) fn capabilities(&mut self) -> Capabilities {
        let bits = self.next();
        Capability::ALL
            .into_iter()
            .enumerate()
            .filter(|(at, _)| bits >> at & 1 == 1)
            .map(|(_, one)| one)
            .collect()
    }
}

pub(crate) fn name(text: &str) -> AgentName {
    text.parse().unwrap()
}

/// Up to `most` agents below the root: chains, fans and what is between.
pub(crate) fn forest(random: &mut Random, most: usize) -> Written {
    let mut written = Written::from([("root".to_owned(), vec![None])]);
    let mut names = vec!["root".to_owned()];
    let shape = random.below(3);
    // No two of these read alike.
    let letters = b"abcdefghijkmpqstuvwxyz";
    for at in 0..random.below(most) {
        let letter = char::from(letters[at % letters.len()]).to_string();
        let new = format!("agent-{}", letter.repeat(1 + at / letters.len()));
        let parent = match shape {
            0 => names.last().unwrap().clone(),
            1 => names[random.below(names.len().min(3))].clone(),
            _ => random.pick(&names).clone(),
        };
        written.insert(new.clone(), vec![Some(parent)]);
        names.push(new);
    }
    written
}

/// Somebody wrote something into the file that should not be there.
pub(crate) fn spoil(random: &mut Random, written: &mut Written) {
    let names: Vec<String> = written.keys().cloned().collect();
    if names.is_empty() {
        return;
    }
    let (one, other) = (random.pick(&names).clone(), random.pick(&names).clone());
    let parents = match random.below(10) {
        // Often a cycle: the parent of a random one is a random one.
        0..=3 => vec![Some(other)],
        4 => vec![None],
        5 => vec![Some("nobody-here".to_owned())],
        6 => vec![Some(other), None],
        7 => {
            written.remove(&one);
            return;
        }
        8 => {
            let odd = [
                one.to_uppercase(),
                format!("{one} "),
                format!("-{one}"),
                one.replace('a', "\u{430}"),
                String::new(),
                "x".repeat(65),
            ];
            written.insert(random.pick(&odd).clone(), vec![Some(other)]);
            return;
        }
        _ => {
            let alike = [
                one.replacen('-', "", 1),
                one.replace('o', "0"),
                one.replacen("gent", "-gent", 1),
            ];
            let alike = random.pick(&alike).clone();
            if written.contains_key(&alike) {
                return;
            }
            written.insert(alike, vec![Some(other)]);
            return;
        }
    };
    written.insert(one, parents);
}

pub(crate) fn json(written: &Written) -> String {
    let entries: Vec<String> = written
        .iter()
        .flat_map(|(name, parents)| parents.iter().map(move |parent| (name, parent)))
        .map(|(name, parent)| format!("{}:{}", serde_json::json!(name), serde_json::json!(parent)))
        .collect();
    format!("{{{}}}", entries.join(","))
}

/// The oracle: for everybody the way to the root, itself first, if there is one. It shares nothing with what it judges
/// but how names are read.
pub(crate) struct Ways<'a>(BTreeMap<&'a str, Vec<&'a str>>);

impl<'a> Ways<'a> {
    pub(crate) fn of(written: &'a Written) -> Self {
        let names: Vec<AgentName> = written
            .keys()
            .filter_map(|name| name.parse().ok())
            .collect();
        let is_wrong = |name: &str| {
            let Ok(one) = name.parse::<AgentName>() else {
                return true;
            };
            let alike = |other: &AgentName| *other != one && one.reads_like(other);
            name != "root" && names.iter().any(alike)
        };
        let wrong: BTreeSet<&str> = written
            .keys()
            .map(String::as_str)
            .filter(|name| is_wrong(name))
            .collect();
        let ways = written
            .keys()
            .filter_map(|name| Some((name.as_str(), way(written, &wrong, name)?)));
        Self(ways.collect())
    }

    pub(crate) fn leads(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(crate) fn relation(&self, actor: &str, target: &str) -> Relation {
        let (Some(up), Some(down)) = (self.0.get(actor), self.0.get(target)) else {
            return Relation::Stranger;
        };
        let depth = |way: &[&str], of: &str| {
            let depth = way.iter().position(|one| *one == of);
            depth.map(|depth| u8::try_from(depth).unwrap())
        };
        match (depth(down, actor), depth(up, target)) {
            (Some(0), _) => Relation::Same,
            (Some(depth), _) => Relation::Ancestor { depth },
            (None, Some(depth)) => Relation::Descendant { depth },
            (None, None) if up[1] == down[1] => Relation::Sibling,
            (None, None) => Relation::Stranger,
        }
    }
}

fn way<'a>(written: &'a Written, wrong: &BTreeSet<&str>, name: &'a str) -> Option<Vec<&'a str>> {
    let mut way = Vec::new();
    let mut at = name;
    loop {
        let [parent] = written.get(at)?.as_slice() else {
            return None;
        };
        if wrong.contains(at) || way.contains(&at) || way.len() > 64 {
            return None;
        }
        way.push(at);
        match parent {
            Some(parent) => at = parent,
            None => return (at == "root").then_some(way),
        }
    }
}

/// Everybody who is written or named as a parent, and some who are not.
pub(crate) fn everybody(written: &Written) -> Vec<AgentName> {
    let parents = written.values().flatten().flatten();
    let all: BTreeSet<&str> = written
        .keys()
        .chain(parents)
        .map(String::as_str)
        .chain(["root", "stranger"])
        .collect();
    all.into_iter()
        .filter_map(|name| name.parse().ok())
        .collect()
}
