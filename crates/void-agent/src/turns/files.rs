//! The tools that an agent's process has of its own: files of its sandbox. The server offers them, reads what the model
//! asks for, and hands the process what fits; the process answers in a form of which only texts and names are its own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use void_domain::agents::AgentName;
use void_domain::failures::FailureCode;

use crate::brains::ToolSpec;
use crate::tools::{Outcome, ToolError, schema};

/// What a file tool reads at a time, so that its JSON fits a result of a tool.
const FILE_READ_BYTES_MAX: usize = 12 * 1024;
const FILE_WRITE_BYTES_MAX: usize = 64 * 1024;
const FILE_ENTRIES_MAX: usize = 200;
const PATH_BYTES_MAX: usize = 512;
const PATH_PARTS_MAX: usize = 16;
const NAME_BYTES_MAX: usize = 255;

/// One of them, as the model asked for it and the process gets it. The path is one of names, below the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCall {
    /// Whose folder: its own, or that of an agent below it.
    pub agent: AgentName,
    /// Empty: the folder itself.
    pub path: Vec<String>,
    pub wish: FileWish,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileWish {
    List,
    Read { from: u64, bytes_max: usize },
    Write { text: String },
    Edit { find: String, replace: String },
}

/// What the process says came of it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case", deny_unknown_fields)]
pub enum FileOutcome {
    Listed { entries: Vec<FileEntry>, more: bool },
    Read { text: String, bytes: u64 },
    Written { bytes: u64 },
    Failed { why: FileFailure },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    pub name: String,
    pub kind: FileKind,
    pub bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    File,
    Folder,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileFailure {
    NotFound,
    NotAFile,
    NotAFolder,
    NotText,
    TooLarge,
    /// What an edit is to replace is not there, or is there more than once.
    NotOnce,
    Refused,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileListArguments {
    /// The agent below you whose folder it is; your own if left out.
    agent: Option<String>,
    /// A folder in it, like `notes/2026`; all of it if left out.
    path: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileReadArguments {
    /// The agent below you whose folder it is; your own if left out.
    agent: Option<String>,
    path: String,
    /// The byte to begin at, for a long file; 0 if left out.
    from: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteArguments {
    /// The agent below you whose folder it is; your own if left out.
    agent: Option<String>,
    path: String,
    /// All that is to be in it.
    text: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileEditArguments {
    /// The agent below you whose folder it is; your own if left out.
    agent: Option<String>,
    path: String,
    /// Text that is in the file exactly once.
    find: String,
    replace: String,
}

const LIST: &str = "list_files";
const READ: &str = "read_file";
const WRITE: &str = "write_file";
const EDIT: &str = "edit_file";

/// Makes the schema of a tool's arguments.
type Schema = fn() -> Value;

pub(super) fn specs() -> impl Iterator<Item = ToolSpec> {
    let all: [(&str, &str, Schema); 4] = [
        (
            LIST,
            "What is in your folder, or in that of an agent below you.",
            schema::<FileListArguments>,
        ),
        (
            READ,
            "Read a text file of your folder, or of that of an agent below you.",
            schema::<FileReadArguments>,
        ),
        (
            WRITE,
            "Write a text file, whole: it is made, or takes the place of what was there. Folders on the way are made.",
            schema::<WriteArguments>,
        ),
        (
            EDIT,
            "Replace one text in a file by another. It has to be there exactly once.",
            schema::<FileEditArguments>,
        ),
    ];
    all.into_iter().map(|(name, description, schema)| ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        schema: schema(),
    })
}

pub(super) fn is_one(name: &str) -> bool {
    [LIST, READ, WRITE, EDIT].contains(&name)
}

impl FileCall {
    /// What the model asked for, if it is something that a process is asked for. `reached` are the agents whose folders
    /// it reaches beside its own.
    pub(super) fn read(
        name: &str,
        arguments: &Map<String, Value>,
        own: &AgentName,
        reached: &[AgentName],
    ) -> Result<Self, ToolError> {
        let arguments = Value::Object(arguments.clone());
        let (agent, path, wish) = match name {
            LIST => {
                let asked: FileListArguments = fit(arguments)?;
                (asked.agent, asked.path.unwrap_or_default(), FileWish::List)
            }
            READ => {
                let asked: FileReadArguments = fit(arguments)?;
                let from = asked.from.unwrap_or(0);
                let bytes_max = FILE_READ_BYTES_MAX;
                (asked.agent, asked.path, FileWish::Read { from, bytes_max })
            }
            WRITE => {
                let asked: WriteArguments = fit(arguments)?;
                bound(asked.text.len())?;
                (
                    asked.agent,
                    asked.path,
                    FileWish::Write { text: asked.text },
                )
            }
            _ => {
                let asked: FileEditArguments = fit(arguments)?;
                bound(asked.find.len().max(asked.replace.len()))?;
                if asked.find.is_empty() {
                    return Err(unfit("what is to be replaced is empty"));
                }
                let (find, replace) = (asked.find, asked.replace);
                (asked.agent, asked.path, FileWish::Edit { find, replace })
            }
        };
        let agent = match agent {
            None => own.clone(),
            Some(named) => reached
                .iter()
                .chain([own])
                .find(|one| one.as_str() == named)
                .cloned()
                .ok_or_else(|| {
                    let message = "that is no agent below you that has a folder; nothing was done";
                    ToolError::new(FailureCode::NotFound, message)
                })?,
        };
        let path = parts(&path)?;
        if path.is_empty() && wish != FileWish::List {
            return Err(unfit("the path is empty"));
        }
        Ok(Self { agent, path, wish })
    }

    /// Whether what is in the folder comes back with its answer. All else of an answer is a number or a word of ours.
    pub(super) const fn reads(&self) -> bool {
        match self.wish {
            FileWish::List | FileWish::Read { .. } => true,
            FileWish::Write { .. } | FileWish::Edit { .. } => false,
        }
    }

    /// What the model is told, in our form. `None`: that is no answer to this call.
    pub(super) fn told(
        &self,
        outcome: FileOutcome,
        is_foreign: bool,
    ) -> Option<Result<Outcome, ToolError>> {
        let named = |name: &str| match is_foreign {
            true => format!("untrusted_{name}"),
            false => name.to_owned(),
        };
        let value = match (&self.wish, outcome) {
            (_, FileOutcome::Failed { why }) => return Some(Err(why.error())),
            (FileWish::List, FileOutcome::Listed { entries, more }) => {
                let fit = |entry: &FileEntry| entry.name.len() <= NAME_BYTES_MAX;
                if entries.len() > FILE_ENTRIES_MAX || !entries.iter().all(fit) {
                    return None;
                }
                let entry = |one: FileEntry| {
                    let mut told = Map::new();
                    told.insert(named("name"), one.name.into());
                    told.insert("kind".to_owned(), json!(one.kind));
                    told.insert("bytes".to_owned(), one.bytes.into());
                    Value::Object(told)
                };
                let entries: Vec<Value> = entries.into_iter().map(entry).collect();
                json!({"entries": entries, "more": more})
            }
            (FileWish::Read { from, bytes_max }, FileOutcome::Read { text, bytes }) => {
                if text.len() > *bytes_max {
                    return None;
                }
                let end = from.saturating_add(u64::try_from(text.len()).unwrap_or(u64::MAX));
                let mut told = Map::new();
                told.insert("bytes".to_owned(), bytes.into());
                if end < bytes {
                    told.insert("next_from".to_owned(), end.into());
                }
                told.insert(named("text"), text.into());
                Value::Object(told)
            }
            (FileWish::Write { .. } | FileWish::Edit { .. }, FileOutcome::Written { bytes }) => {
                json!({"written": true, "bytes": bytes})
            }
            (
                FileWish::List
                | FileWish::Read { .. }
                | FileWish::Write { .. }
                | FileWish::Edit { .. },
                _,
            ) => {
                return None;
            }
        };
        Some(Ok(Outcome {
            value: value.into(),
            ..Outcome::default()
        }))
    }
}

impl FileFailure {
    fn error(self) -> ToolError {
        let (code, message) = match self {
            Self::NotFound => (FailureCode::NotFound, "there is no such file or folder"),
            Self::NotAFile => (FailureCode::InvalidArguments, "that is no regular file"),
            Self::NotAFolder => (
                FailureCode::InvalidArguments,
                "a part of the path is no folder",
            ),
            Self::NotText => (FailureCode::Unreadable, "that is no text"),
            Self::TooLarge => (
                FailureCode::Limit,
                "that is longer than a file of an agent is read or written",
            ),
            Self::NotOnce => (
                FailureCode::InvalidArguments,
                "what is to be replaced is not in the file exactly once; read it again",
            ),
            Self::Refused => (
                FailureCode::Forbidden,
                "the system does not let this agent do that",
            ),
        };
        ToolError::new(code, format!("{message}; nothing was written"))
    }
}

fn fit<T: for<'de> Deserialize<'de>>(arguments: Value) -> Result<T, ToolError> {
    serde_json::from_value(arguments).map_err(|error| {
        let message = void_domain::text::escaped(&error.to_string());
        ToolError::new(FailureCode::InvalidArguments, message)
    })
}

fn unfit(problem: &str) -> ToolError {
    ToolError::new(
        FailureCode::InvalidArguments,
        format!("{problem}; nothing was done"),
    )
}

fn bound(bytes: usize) -> Result<(), ToolError> {
    match bytes <= FILE_WRITE_BYTES_MAX {
        true => Ok(()),
        false => Err(ToolError::new(
            FailureCode::Limit,
            format!("a text is at most {FILE_WRITE_BYTES_MAX} bytes; nothing was done"),
        )),
    }
}

/// The names of a path, none of which leads anywhere but down.
fn parts(path: &str) -> Result<Vec<String>, ToolError> {
    if path.is_empty() || path == "." {
        return Ok(Vec::new());
    }
    let parts: Vec<String> = path.split('/').map(str::to_owned).collect();
    let is_name = |part: &String| {
        let is_down = !part.is_empty() && part != "." && part != "..";
        is_down && part.len() <= NAME_BYTES_MAX && !part.chars().any(char::is_control)
    };
    let fits = path.len() <= PATH_BYTES_MAX && parts.len() <= PATH_PARTS_MAX;
    match fits && parts.iter().all(is_name) {
        true => Ok(parts),
        false => Err(unfit(
            "a path is names with / between them, below the folder",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> AgentName {
        text.parse().unwrap()
    }

    fn call(tool: &str, arguments: Value) -> Result<FileCall, ToolError> {
        let arguments = arguments.as_object().cloned().unwrap();
        FileCall::read(tool, &arguments, &name("alice"), &[name("bob")])
    }

    #[test]
    fn a_path_leads_down_and_a_folder_is_ones_own_or_of_somebody_below() {
        let read = call(READ, json!({"path": "notes/a b.md", "agent": "bob"})).unwrap();
        assert_eq!(
            (read.agent, read.path),
            (name("bob"), vec!["notes".to_owned(), "a b.md".to_owned()])
        );
        assert_eq!(
            call(READ, json!({"path": "x"})).unwrap().agent,
            name("alice")
        );
        let deep = "a/".repeat(PATH_PARTS_MAX) + "a";
        let long = "a".repeat(NAME_BYTES_MAX + 1);
        for path in [
            "",
            "/etc/passwd",
            "..",
            "a/../b",
            "./a",
            "a//b",
            "a/",
            "a\nb",
            "a\0b",
            &deep,
            &long,
        ] {
            let refused = call(READ, json!({"path": path}));
            assert_eq!(
                refused.unwrap_err().code,
                FailureCode::InvalidArguments,
                "{path:?}"
            );
        }
        for agent in ["root", "carol", "", "../bob", "Bob"] {
            let refused = call(LIST, json!({"agent": agent}));
            assert_eq!(
                refused.unwrap_err().code,
                FailureCode::NotFound,
                "{agent:?}"
            );
        }
        let long = "x".repeat(FILE_WRITE_BYTES_MAX + 1);
        for (tool, arguments) in [
            (WRITE, json!({"path": "a", "text": long})),
            (EDIT, json!({"path": "a", "find": "", "replace": "b"})),
            (WRITE, json!({"path": "a"})),
            (READ, json!({"path": "a", "mode": "w"})),
        ] {
            assert!(call(tool, arguments.clone()).is_err(), "{tool} {arguments}");
        }
    }

    #[test]
    fn an_answer_fits_its_call_or_is_none() {
        let list = call(LIST, json!({})).unwrap();
        let read = call(READ, json!({"path": "a", "from": 3})).unwrap();
        let write = call(WRITE, json!({"path": "a", "text": "b"})).unwrap();
        let text = |text: &str| FileOutcome::Read {
            text: text.to_owned(),
            bytes: 9,
        };
        let written = FileOutcome::Written { bytes: 1 };
        let entry = |name: &str| FileEntry {
            name: name.to_owned(),
            kind: FileKind::File,
            bytes: 1,
        };
        let listed = |entries| FileOutcome::Listed {
            entries,
            more: false,
        };
        for (call, outcome) in [
            (&list, text("x")),
            (&list, written.clone()),
            (&read, written.clone()),
            (&read, text(&"x".repeat(FILE_READ_BYTES_MAX + 1))),
            (&write, text("x")),
            (&list, listed(vec![entry("a"); FILE_ENTRIES_MAX + 1])),
            (&list, listed(vec![entry(&"a".repeat(NAME_BYTES_MAX + 1))])),
        ] {
            assert!(call.told(outcome.clone(), false).is_none(), "{outcome:?}");
        }
        let told = |call: &FileCall, outcome, is_foreign| {
            call.told(outcome, is_foreign)
                .unwrap()
                .unwrap()
                .value
                .into_value()
        };
        assert_eq!(
            told(&read, text("abc"), false),
            json!({"text": "abc", "bytes": 9, "next_from": 6})
        );
        assert_eq!(
            told(&read, text("abcdef"), true),
            json!({"untrusted_text": "abcdef", "bytes": 9})
        );
        let names = told(&list, listed(vec![entry("a")]), true);
        assert_eq!(names["entries"][0]["untrusted_name"], "a");
        assert_eq!(
            told(&write, written, true),
            json!({"written": true, "bytes": 1})
        );
        let failed = FileOutcome::Failed {
            why: FileFailure::NotOnce,
        };
        assert!(write.told(failed, false).unwrap().is_err());
    }
}
