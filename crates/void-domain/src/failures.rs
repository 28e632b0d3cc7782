//! Why something did not go as wished, as a stable word that programs decide by. There is one table of these words:
//! what each means, how the command line ends with it, and the HTTP status it is answered with. `docs/failures.md` and
//! `void help-codes` are made from it.
//!
//! A word of another version, from an older database or a newer server, is passed on as it was read.

mod codes;
mod exits;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use codes::FailureCode;
pub use exits::Exit;

/// A code as it was read: one of the table, or the word of another version.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AnyCode {
    Known(FailureCode),
    Other(String),
}

impl AnyCode {
    pub fn read(text: &str) -> Self {
        FailureCode::parse(text).map_or_else(|| Self::Other(text.to_owned()), Self::Known)
    }

    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(code) => code.as_str(),
            Self::Other(text) => text,
        }
    }

    /// `None`: nothing here decides by the words of others.
    pub const fn known(&self) -> Option<FailureCode> {
        match self {
            Self::Known(code) => Some(*code),
            Self::Other(_) => None,
        }
    }
}

impl From<FailureCode> for AnyCode {
    fn from(code: FailureCode) -> Self {
        Self::Known(code)
    }
}

impl PartialEq<FailureCode> for AnyCode {
    fn eq(&self, code: &FailureCode) -> bool {
        self.known() == Some(*code)
    }
}

impl PartialEq<str> for AnyCode {
    fn eq(&self, text: &str) -> bool {
        self.as_str() == text
    }
}

impl PartialEq<&str> for AnyCode {
    fn eq(&self, text: &&str) -> bool {
        self.as_str() == *text
    }
}

impl fmt::Display for AnyCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for AnyCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for AnyCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::read(&text))
    }
}

impl fmt::Display for FailureCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for FailureCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// `docs/failures.md`.
pub fn page() -> String {
    let mut page = "# Exit codes and failure codes\n\n\
        Made from the tables in `crates/void-domain/src/failures`. A program decides by these words and numbers; the \
        sentences beside them may change.\n\n\
        ## Exit codes of the command line\n\n| exit | meaning |\n|---|---|\n"
        .to_owned();
    for exit in Exit::ALL {
        page.push_str(&format!("| {} | {} |\n", exit.number(), exit.meaning()));
    }
    page.push_str(
        "\n## Failure codes\n\n\
        The code of an answer that is an error (`error.code`), of a row that did not go as wished, of a turn or a tool \
        that failed, and of the command line's own errors (`--json`). The HTTP status is that of an answer with this \
        code; a code without one is never the code of an answer. The exit is the command line's when it ends with this \
        code and nothing else is known. A code that is not listed is of another version.\n\n\
        | code | meaning | exit | HTTP |\n|---|---|---|---|\n",
    );
    for code in FailureCode::ALL {
        let http = code.http().map(|status| status.to_string());
        page.push_str(&format!(
            "| `{code}` | {} | {} | {} |\n",
            code.meaning(),
            code.exit().number(),
            http.unwrap_or_default()
        ));
    }
    page
}
