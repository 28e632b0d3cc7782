//! What one process of an agent is started with.

use std::fmt;
use std::path::PathBuf;

use void_sandbox::{Folder, SandboxLimits, SandboxMode};

/// The descriptor whose first line is the agent's token. It is the lifeline, so nothing else is inherited.
pub const TOKEN_FD: i32 = 0;

/// A token. It is shown to nobody; it leaves through the lifeline and through nothing else.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenText(String);

impl TokenText {
    /// `None` if it would not be one line.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let is_line = !text.is_empty() && text.chars().all(|one| one.is_ascii_graphic());
        is_line.then(|| Self(text.to_owned()))
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for TokenText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

/// What an agent knows of itself from its environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFacts {
    pub name: String,
    /// `None` at the root.
    pub parent: Option<String>,
    /// Where the server is: `http://` with an address and a port.
    pub api_url: String,
}

impl AgentFacts {
    /// The whole environment of the process.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let mut all = vec![
            ("VOID_API_URL", self.api_url.clone()),
            ("VOID_AGENT", self.name.clone()),
            ("VOID_TOKEN_FD", TOKEN_FD.to_string()),
        ];
        if let Some(parent) = &self.parent {
            all.push(("VOID_PARENT", parent.clone()));
            // As agents of hyperhive know it.
            all.push(("HIVE_PARENT", parent.clone()));
        }
        all
    }
}

/// A folder of this machine, and where it is in a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountedFolder {
    pub folder: Folder,
    pub inside: PathBuf,
}

#[derive(Debug, Clone)]
pub struct Order {
    pub facts: AgentFacts,
    pub token: TokenText,
    /// The agent's own state first.
    pub folders: Vec<MountedFolder>,
    /// Where the server listens.
    pub server_port: u16,
    /// Who it runs as; `None`: as the server.
    pub user: Option<u32>,
    pub groups: Vec<u32>,
    pub limits: SandboxLimits,
    pub mode: SandboxMode,
    /// Where what it writes is kept.
    pub log: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(parent: Option<&str>) -> AgentFacts {
        AgentFacts {
            name: "alice".to_owned(),
            parent: parent.map(str::to_owned),
            api_url: "http://127.0.0.1:3000".to_owned(),
        }
    }

    #[test]
    fn the_environment_is_exactly_what_is_agreed() {
        let expected = [
            ("VOID_API_URL", "http://127.0.0.1:3000"),
            ("VOID_AGENT", "alice"),
            ("VOID_TOKEN_FD", "0"),
            ("VOID_PARENT", "root"),
            ("HIVE_PARENT", "root"),
        ];
        let expected = expected.map(|(name, value)| (name, value.to_owned()));
        assert_eq!(facts(Some("root")).environment(), expected);
        assert_eq!(facts(None).environment(), expected[..3]);
    }

    #[test]
    fn a_token_is_one_word_and_is_not_printed() {
        for text in ["", "a b", "a\nb", "a\0", "é"] {
            assert_eq!(TokenText::new(text), None, "{text:?}");
        }
        let token = TokenText::new("void_agent_hunter2").unwrap();
        assert_eq!(format!("{token:?}"), "[secret]");
    }
}
