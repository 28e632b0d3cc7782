//! Reading one object of a file: typed members, and a complaint for every name that nobody
//! asked for.

use super::problems::Problems;
use super::source::{Member, SourceContent, SourceNode};
use crate::text;

pub(crate) struct ObjectFields<'a> {
    members: &'a [Member],
    asked: Vec<&'static str>,
    pub line: u32,
    pub path: String,
}

impl<'a> ObjectFields<'a> {
    /// `None`, with a complaint, if the value is not an object.
    pub(crate) fn of(node: &'a SourceNode, path: &str, problems: &mut Problems) -> Option<Self> {
        let SourceContent::Object(members) = &node.content else {
            problems.error(
                node.line,
                path,
                format!("expected an object, found {}", node.kind()),
            );
            return None;
        };
        Some(Self {
            members,
            asked: Vec::new(),
            line: node.line,
            path: path.to_owned(),
        })
    }

    pub(crate) fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.path)
        }
    }

    pub(crate) fn node(&mut self, name: &'static str) -> Option<&'a SourceNode> {
        if !self.asked.contains(&name) {
            self.asked.push(name);
        }
        self.members
            .iter()
            .find(|member| member.name == name)
            .map(|member| &member.value)
    }

    pub(crate) fn text(
        &mut self,
        name: &'static str,
        problems: &mut Problems,
    ) -> Option<(u32, &'a str)> {
        let node = self.node(name)?;
        if let SourceContent::Text(text) = &node.content {
            return Some((node.line, text.as_str()));
        }
        let message = format!("expected a string, found {}", node.kind());
        problems.error(node.line, &self.path_of(name), message);
        None
    }

    pub(crate) fn required_text(
        &mut self,
        name: &'static str,
        problems: &mut Problems,
    ) -> Option<(u32, &'a str)> {
        let missing = self.node(name).is_none();
        if missing {
            problems.error(self.line, &self.path_of(name), "is missing");
            return None;
        }
        self.text(name, problems)
    }

    /// A whole number within `range`, which the complaint repeats.
    pub(crate) fn integer(
        &mut self,
        name: &'static str,
        range: std::ops::RangeInclusive<i64>,
        problems: &mut Problems,
    ) -> Option<i64> {
        let node = self.node(name)?;
        match node.content {
            SourceContent::Integer(number) if range.contains(&number) => Some(number),
            _ => {
                let message = format!(
                    "expected a whole number from {} to {}",
                    range.start(),
                    range.end()
                );
                problems.error(node.line, &self.path_of(name), message);
                None
            }
        }
    }

    /// `true` or `false`.
    pub(crate) fn truth(&mut self, name: &'static str, problems: &mut Problems) -> Option<bool> {
        let node = self.node(name)?;
        if let SourceContent::Bool(truth) = node.content {
            return Some(truth);
        }
        let message = format!("expected true or false, found {}", node.kind());
        problems.error(node.line, &self.path_of(name), message);
        None
    }

    /// One of a closed set of words.
    pub(crate) fn word<T: Copy>(
        &mut self,
        name: &'static str,
        known: &[(&'static str, T)],
        problems: &mut Problems,
    ) -> Option<T> {
        let (line, word) = self.text(name, problems)?;
        if let Some((_, value)) = known.iter().find(|(candidate, _)| *candidate == word) {
            return Some(*value);
        }
        let words = known.iter().map(|(word, _)| *word);
        problems.unknown(line, &self.path_of(name), name, word, words);
        None
    }

    pub(crate) fn texts(
        &mut self,
        name: &'static str,
        problems: &mut Problems,
    ) -> Option<Vec<(u32, &'a str)>> {
        let node = self.node(name)?;
        let SourceContent::List(items) = &node.content else {
            let message = format!("expected a list of strings, found {}", node.kind());
            problems.error(node.line, &self.path_of(name), message);
            return None;
        };
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            match &item.content {
                SourceContent::Text(text) => texts.push((item.line, text.as_str())),
                _ => problems.error(item.line, &self.path_of(name), "expected a list of strings"),
            }
        }
        Some(texts)
    }

    /// Complains about every member that was not asked for.
    pub(crate) fn finish(self, problems: &mut Problems) {
        self.finish_but(&[], problems);
    }

    /// The same, with names that will mean something one day. Accepting them silently now would make
    /// an owner believe that they already guard something.
    pub(crate) fn finish_but(self, reserved: &[&str], problems: &mut Problems) {
        for member in self.members {
            let name = member.name.as_str();
            if self.asked.contains(&name) {
                continue;
            }
            if reserved.contains(&name) {
                let path = self.path_of(name);
                problems.error(
                    member.line,
                    &path,
                    "not yet: this name is reserved and does nothing",
                );
                continue;
            }
            let shown = text::escaped(text::cut(name, 80));
            let path = self.path_of(&shown);
            let asked = self.asked.iter().copied();
            problems.unknown(member.line, &path, "key", name, asked);
        }
    }
}
