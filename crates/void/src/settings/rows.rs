//! What is known about one setting. The rows themselves are in `table.rs`; the merge, `void config show`,
//! `void config check` and `docs/settings.md` are made from them.

use super::agent_names::AgentNames;
use super::brains::BrainKind;

/// One setting.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    /// The name in the file, with its tables. `NAME` stands for each agent, `N` for each entry of a list.
    pub key: &'static str,
    pub kind: Kind,
    /// A sentence for the page, without its end.
    pub help: &'static str,
    pub flag: Option<&'static str>,
    pub variable: Variable,
    pub fallback: Fallback,
    pub is_in_file: bool,
}

/// What a value has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// Shown without a password in it.
    Url,
    /// In the file as seen from the file's folder.
    Path,
    /// A path, or a name that is looked for.
    Program,
    Address,
    InstanceName,
    Bool,
    Number {
        min: u64,
        max: u64,
    },
    /// Dollars per million tokens.
    Price,
    /// In the file only where the secret is.
    Secret,
    Texts,
    UserIds,
    /// The lists of `[self]`.
    Guests,
    Hosts,
    Protected,
    Brain,
    TimeZone,
}

/// Which variable of the environment sets it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Variable {
    None,
    /// It wins over the file.
    OverFile(&'static str),
    /// It is the default of every agent; the agent's own table wins.
    UnderFile(&'static str),
    /// The same, and which one goes by the agent's brain.
    OfBrain(fn(BrainKind) -> Option<&'static str>),
}

/// What holds where nothing is set.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fallback {
    /// No value; the words say what happens then.
    Nothing(&'static str),
    /// Read as if it stood in the file.
    Text(&'static str),
    Number(u64),
    Bool(bool),
    /// In the data folder.
    InData(&'static str),
    /// The data folder by XDG.
    DataFolder,
    OfBrain(fn(BrainKind) -> Option<&'static str>),
    /// Its entry of a list is nothing without it.
    Required,
}

impl Row {
    pub(super) const fn flag(mut self, flag: &'static str) -> Self {
        self.flag = Some(flag);
        self
    }

    /// The names that this row stands for; `entries` says how many a list of the file has.
    pub(super) fn names(&self, agents: &AgentNames, entries: impl Fn(&str) -> usize) -> Vec<Name> {
        let name = |table: &str, part: &str, key: &str| Name {
            key: format!("{table}.{part}.{key}"),
            table: Some(format!("{table}.{part}")),
        };
        if let Some((table, key)) = self.key.split_once(".NAME.") {
            return agents.iter().map(|agent| name(table, agent, key)).collect();
        }
        if let Some((list, key)) = self.key.split_once(".N.") {
            let numbers = 1..=entries(list);
            return numbers
                .map(|number| name(list, &number.to_string(), key))
                .collect();
        }
        vec![Name {
            key: self.key.to_owned(),
            table: None,
        }]
    }

    /// Whether `path` is this setting, a table that holds it, or neither.
    pub(super) fn fit(&self, path: &str, agents: &AgentNames) -> Option<Fit> {
        let mut pattern = self.key.split('.').filter(|_| self.is_in_file);
        for part in path.split('.').filter(|part| !part.is_empty()) {
            let fits = match pattern.next()? {
                "NAME" => agents.has(part),
                "N" => part.bytes().all(|byte| byte.is_ascii_digit()),
                word => word == part,
            };
            if !fits {
                return None;
            }
        }
        Some(match pattern.next() {
            None => Fit::Setting,
            Some(next) => Fit::Table { next },
        })
    }
}

/// The name of a setting, and which of several tables it is in if there are several.
pub(super) struct Name {
    pub key: String,
    pub table: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    Setting,
    /// `next` is what comes below the table on the way to the setting.
    Table {
        next: &'static str,
    },
}
