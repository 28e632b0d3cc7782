//! The environment of the process, read once and passed on as a value.

use std::collections::BTreeMap;
use std::ffi::OsString;

#[derive(Clone)]
pub(crate) struct Environment {
    variables: BTreeMap<String, String>,
    original_command: Option<OsString>,
}

impl Environment {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the environment"
    )]
    pub(crate) fn of_process() -> Self {
        let text = |(name, value): (OsString, OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self {
            variables: std::env::vars_os().filter_map(text).collect(),
            original_command: std::env::var_os("SSH_ORIGINAL_COMMAND"),
        }
    }

    /// Nothing from outside.
    pub(crate) const fn empty() -> Self {
        Self {
            variables: BTreeMap::new(),
            original_command: None,
        }
    }

    #[cfg(test)]
    pub(crate) fn of(variables: &[(&str, &str)]) -> Self {
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        Self {
            variables,
            original_command: None,
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// Set and not empty: an empty variable counts as one that is not set.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }

    pub(crate) fn original_command(&self) -> Option<OsString> {
        self.original_command.clone()
    }
}
