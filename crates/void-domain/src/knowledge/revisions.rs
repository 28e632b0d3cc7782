//! Revisions: every text that an entity ever had, who wrote it down, and where it came from.

use serde::{Deserialize, Serialize};

use crate::ids::ProposalId;
use crate::taint::Taint;
use crate::time::Timestamp;

/// Where the text of a revision came from. Who ticks a task or moves a page writes a revision whose text still came from
/// where it came from before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "lowercase", deny_unknown_fields)]
pub enum Origin {
    Owner,
    /// A folder of the owner's.
    Import,
    /// A page of the web: somebody else's words.
    Capture,
    /// An agent's words that the owner approved, and what the agent had read.
    Draft {
        proposal: ProposalId,
        agent: String,
        taint: Taint,
    },
}

impl Origin {
    /// The word of the API for it.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Import => "import",
            Self::Capture => "capture",
            Self::Draft { .. } => "draft",
        }
    }
}

/// The owner has read a text of somebody else's and answers for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vouched {
    pub by: String,
    pub at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// From 1.
    pub number: u64,
    pub at: Timestamp,
    /// Who wrote it down, as the record names them.
    pub by: String,
    pub origin: Origin,
    pub vouched: Option<Vouched>,
    pub reason: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_stored_as_it_is_read() {
        let mut taint = Taint::clean();
        taint.add("ref:1");
        let draft = Origin::Draft {
            proposal: ProposalId::new(Timestamp::from_ms(0), [1; 10]),
            agent: "companion".to_owned(),
            taint,
        };
        for origin in [Origin::Owner, Origin::Import, Origin::Capture, draft] {
            let text = serde_json::to_string(&origin).unwrap();
            assert!(text.contains(origin.as_str()), "{text}");
            assert_eq!(serde_json::from_str::<Origin>(&text).unwrap(), origin);
        }
        for bad in [
            r#"{"from":"system"}"#,
            r#"{"from":"draft"}"#,
            "{}",
            "\"owner\"",
        ] {
            assert!(serde_json::from_str::<Origin>(bad).is_err(), "{bad}");
        }
    }
}
