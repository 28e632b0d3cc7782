//! Reading a tree that somebody wrote. Any text is taken: what is sound of it counts, and what is not is told.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserializer as _;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;
use void_domain::agents::AgentName;
use void_domain::text;

use crate::bounds::TOPOLOGY_BYTES_MAX;
use crate::problems::TreeProblem;
use crate::topology::Topology;

/// How much of a word that is wrong is told.
const TOLD_BYTES_MAX: usize = 80;

/// What came of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    pub topology: Topology,
    /// Empty: all of it counts.
    pub problems: Vec<TreeProblem>,
}

impl Reading {
    fn nobody(problem: TreeProblem) -> Self {
        Self {
            topology: Topology::empty(),
            problems: vec![problem],
        }
    }
}

impl Topology {
    /// `None`: there is no file.
    pub fn read(text: Option<&str>) -> Reading {
        let Some(text) = text else {
            return Reading::nobody(TreeProblem::Missing);
        };
        if text.len() > TOPOLOGY_BYTES_MAX {
            return Reading::nobody(TreeProblem::TooLong);
        }
        let written = match written(text) {
            Ok(written) => written,
            Err(error) => {
                let said = text::without_rust_words(&error.to_string());
                return Reading::nobody(TreeProblem::NotJson(text::escaped(&said)));
            }
        };
        let mut problems = Vec::new();
        let (entries, taken) = entries(written, &mut problems);
        let (topology, unsound) = Self::beside(entries, &taken);
        problems.extend(unsound);
        problems.sort();
        Reading { topology, problems }
    }
}

/// Every name as it stands there, also one that stands there twice.
pub(crate) fn written(text: &str) -> Result<Vec<(String, Value)>, serde_json::Error> {
    struct Names;

    impl<'de> Visitor<'de> for Names {
        type Value = Vec<(String, Value)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object of names")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut names = Vec::new();
            while let Some(entry) = map.next_entry()? {
                names.push(entry);
            }
            Ok(names)
        }
    }

    let mut json = serde_json::Deserializer::from_str(text);
    let names = json.deserialize_map(Names)?;
    json.end()?;
    Ok(names)
}

/// The names that have one parent, or null, and those that stand there without. Whoever stands there twice stands
/// nowhere: nobody can say which is meant.
fn entries(
    written: Vec<(String, Value)>,
    problems: &mut Vec<TreeProblem>,
) -> (BTreeMap<AgentName, Option<AgentName>>, BTreeSet<AgentName>) {
    let mut entries = BTreeMap::new();
    let mut all = BTreeSet::new();
    for (word, parent) in written {
        let Ok(name) = word.parse::<AgentName>() else {
            problems.push(TreeProblem::NotAName(told(&word)));
            continue;
        };
        if !all.insert(name.clone()) {
            problems.push(TreeProblem::Twice(name.clone()));
            entries.remove(&name);
            continue;
        }
        let parent = match parent {
            Value::Null => Ok(None),
            Value::String(word) => word.parse().map(Some).map_err(|_| told(&word)),
            other => Err(told(&other.to_string())),
        };
        match parent {
            Ok(parent) => {
                entries.insert(name, parent);
            }
            Err(said) => problems.push(TreeProblem::NotAParent(name, said)),
        }
    }
    all.retain(|name| !entries.contains_key(name));
    (entries, all)
}

pub(crate) fn told(word: &str) -> String {
    text::escaped(text::cut(word, TOLD_BYTES_MAX))
}
