//! The settings file: every value with its line. Names that no row has are errors, with the name that was likely
//! meant, all of them at once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};
use void_domain::text;

use super::agent_names::AgentNames;
use super::problems::Problems;
use super::rows::Fit;
use super::table;
use super::values::Raw;
use crate::exit::CommandError;

const FILE_BYTES_MAX: u64 = 1024 * 1024;

#[derive(Default)]
pub(super) struct File {
    path: PathBuf,
    agents: AgentNames,
    entries: BTreeMap<String, FileEntry>,
    /// How many entries each list of tables has.
    lists: BTreeMap<String, usize>,
}

pub(super) struct FileEntry {
    pub raw: Raw,
    pub line: usize,
}

impl File {
    /// A file that was named must be there; the default one need not.
    pub(super) fn read(
        path: &Path,
        must_exist: bool,
        agents: AgentNames,
        problems: &mut Problems,
    ) -> Result<Self, CommandError> {
        let problem = |what: String| CommandError::config(format!("{}: {what}", path.display()));
        let mut file = Self {
            path: path.to_owned(),
            agents,
            ..Self::default()
        };
        match std::fs::metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => {
                return Ok(file);
            }
            Err(error) => return Err(problem(error.to_string())),
            Ok(metadata) if metadata.len() > FILE_BYTES_MAX => {
                return Err(problem(format!("larger than {FILE_BYTES_MAX} bytes")));
            }
            Ok(_) => {}
        }
        let text = std::fs::read_to_string(path).map_err(|error| problem(error.to_string()))?;
        let lines = Lines(&text);
        match DeTable::parse(&text) {
            Ok(table) => file.walk(table.get_ref(), "", lines, problems),
            Err(error) => {
                let line = error.span().map_or(1, |span| lines.at(span.start));
                // The message alone: the text of the line may be a secret.
                let message = text::without_rust_words(error.message()).replace('\n', " ");
                problems.push(None, Some(line), file.problem(line, &message));
            }
        }
        Ok(file)
    }

    /// Forgets everything but these settings.
    pub(super) fn keep(&mut self, keys: &[&str]) {
        self.entries.retain(|key, _| keys.contains(&key.as_str()));
        self.lists.clear();
    }

    pub(super) fn get(&self, key: &str) -> Option<&FileEntry> {
        self.entries.get(key)
    }

    pub(super) fn agents(&self) -> &AgentNames {
        &self.agents
    }

    pub(super) fn list_len(&self, key: &str) -> usize {
        self.lists.get(key).copied().unwrap_or(0)
    }

    /// Paths in the file are seen from here.
    pub(super) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    pub(super) fn problem(&self, line: usize, message: &str) -> CommandError {
        CommandError::config(format!("{}: line {line}: {message}", self.path.display()))
    }

    fn walk(
        &mut self,
        table: &DeTable<'_>,
        above: &str,
        lines: Lines<'_>,
        problems: &mut Problems,
    ) {
        for (key, value) in table {
            let line = lines.at(key.span().start);
            let name: &str = key.get_ref();
            let path = below(above, name);
            // A name with a dot in quotes is another one than the same without quotes.
            let fit = table::rows()
                .find_map(|row| row.fit(&path, &self.agents))
                .filter(|_| !name.is_empty() && !name.contains('.'));
            match (fit, value.get_ref()) {
                (None, _) => {
                    let problem = self.problem(line, &unknown(above, name, &self.agents));
                    problems.push(Some(&path), Some(line), problem);
                }
                (Some(Fit::Setting), value) => {
                    let raw = raw(value);
                    self.entries.insert(path, FileEntry { raw, line });
                }
                (Some(Fit::Table { next: "N" }), DeValue::Array(items)) => {
                    for (index, item) in items.iter().enumerate() {
                        let path = format!("{path}.{}", index + 1);
                        self.table(
                            item.get_ref(),
                            &path,
                            lines.at(item.span().start),
                            lines,
                            problems,
                        );
                    }
                    self.lists.insert(path, items.len());
                }
                (Some(Fit::Table { next: "N" }), _) => {
                    let message = format!("{path} must be a list of tables, as [[{path}]]");
                    problems.push(Some(&path), Some(line), self.problem(line, &message));
                }
                (Some(Fit::Table { .. }), value) => {
                    if above == "agents" {
                        self.agents.note(name);
                    }
                    self.table(value, &path, line, lines, problems);
                }
            }
        }
    }

    fn table(
        &mut self,
        value: &DeValue<'_>,
        path: &str,
        line: usize,
        lines: Lines<'_>,
        problems: &mut Problems,
    ) {
        if let DeValue::Table(table) = value {
            self.walk(table, path, lines, problems);
        } else {
            let message = format!("{path} must be a table, as [{path}]");
            problems.push(Some(path), Some(line), self.problem(line, &message));
        }
    }
}

fn below(above: &str, name: &str) -> String {
    if above.is_empty() {
        name.to_owned()
    } else {
        format!("{above}.{name}")
    }
}

/// What is said about a name that no row has.
fn unknown(above: &str, name: &str, agents: &AgentNames) -> String {
    let shown = text::escaped(text::cut(name, 64));
    if above == "agents" {
        let near = text::nearest(name, agents.iter());
        let near = near.map(|near| format!("; did you mean {near}?"));
        let near = near.unwrap_or_default();
        return format!("[agents.{shown}]: there is no such agent{near}");
    }
    let siblings = table::rows().filter_map(|row| match row.fit(above, agents)? {
        Fit::Table { next } => Some(next),
        Fit::Setting => None,
    });
    // Perhaps it stands in the wrong table.
    let elsewhere = || {
        let mut rows = table::rows().filter(|row| row.is_in_file);
        let row = rows.find(|row| row.key.rsplit('.').next() == Some(name))?;
        Some(row.key)
    };
    match text::nearest(name, siblings).or_else(elsewhere) {
        Some(near) => format!("unknown key `{shown}`; did you mean `{near}`?"),
        None => format!("unknown key `{shown}`"),
    }
}

fn raw(value: &DeValue<'_>) -> Raw {
    match value {
        DeValue::String(text) => Raw::Text(text.clone().into_owned()),
        DeValue::Integer(number) => {
            let whole = i64::from_str_radix(number.as_str(), number.radix());
            whole.map_or(Raw::Other, Raw::Whole)
        }
        DeValue::Float(number) => number.as_str().parse().map_or(Raw::Other, Raw::Decimal),
        DeValue::Boolean(value) => Raw::Bool(*value),
        DeValue::Array(items) => Raw::List(items.iter().map(|item| raw(item.get_ref())).collect()),
        DeValue::Datetime(_) | DeValue::Table(_) => Raw::Other,
    }
}

/// Byte offsets to lines.
#[derive(Clone, Copy)]
struct Lines<'a>(&'a str);

impl Lines<'_> {
    fn at(self, offset: usize) -> usize {
        let before = self.0.get(..offset).unwrap_or_default();
        before.bytes().filter(|byte| *byte == b'\n').count() + 1
    }
}
