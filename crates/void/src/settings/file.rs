//! The settings file. Unknown names are errors, with their line and the name that was likely meant.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use void_domain::retention::{Kept, Retention};
use void_domain::text;

use super::agents::{AgentTable, ClaudeTable};
use super::notify::NotifyTable;
use crate::exit::Problem;

const FILE_BYTES_MAX: u64 = 1024 * 1024;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FileSettings {
    pub listen: Option<String>,
    pub instance: Option<String>,
    pub public_url: Option<String>,
    pub allowed_hosts: Vec<String>,
    pub actions: Option<PathBuf>,
    pub services: Option<PathBuf>,
    pub owner_token: Option<String>,
    pub database: Database,
    pub proxmox: Proxmox,
    pub ssh: Ssh,
    pub local: Local,
    pub backups: Backups,
    pub bridge: Bridge,
    pub limits: LimitSettings,
    pub retention: RetentionSettings,
    pub agents: BTreeMap<String, AgentTable>,
    pub claude: ClaudeTable,
    pub notify: NotifyTable,
    #[serde(rename = "self")]
    pub own: Own,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Database {
    pub url: Option<String>,
    pub ca_file: Option<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Proxmox {
    pub url: Option<String>,
    pub token: Option<String>,
    pub fingerprint: Option<String>,
    pub ca_file: Option<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Ssh {
    pub key: Option<PathBuf>,
    pub known_hosts: Option<PathBuf>,
    pub run_folder: Option<PathBuf>,
    pub program: Option<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Local {
    pub program: Option<PathBuf>,
    pub list: Option<PathBuf>,
    pub state: Option<PathBuf>,
    pub trust_own_list: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Backups {
    pub enabled: Option<bool>,
    pub folder: Option<PathBuf>,
}

/// `[bridge]`: the folder of the file bridge, and whether a move in it counts as a decision.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Bridge {
    pub dir: Option<PathBuf>,
    pub decisions: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct LimitSettings {
    pub token_requests_per_s: Option<u32>,
    pub token_rows_per_minute: Option<u32>,
    pub token_streams: Option<u32>,
    pub open_proposals: Option<u64>,
    pub open_proposals_per_agent: Option<u64>,
    pub safe_runs_per_agent_hour: Option<u32>,
    pub lease_s: Option<u64>,
    pub verify_within_s: Option<u64>,
}

/// `[retention]`: for how many days what is over is kept.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RetentionSettings {
    pub refused_days: Option<u32>,
    pub ended_days: Option<u32>,
    pub events_days: Option<u32>,
    pub notifications_days: Option<u32>,
    pub sessions_days: Option<u32>,
    pub messages_days: Option<u32>,
}

impl RetentionSettings {
    pub(super) fn read(&self) -> Result<Retention, String> {
        let given = |kept| match kept {
            Kept::Refused => self.refused_days,
            Kept::Ended => self.ended_days,
            Kept::Events => self.events_days,
            Kept::Notifications => self.notifications_days,
            Kept::Sessions => self.sessions_days,
            Kept::Messages => self.messages_days,
        };
        let mut retention = Retention::default();
        for kept in Kept::ALL {
            if let Some(days) = given(kept) {
                retention = retention.with(kept, days)?;
            }
        }
        Ok(retention)
    }
}

/// `[self]`: where Void lives, and what must stay up for the owner to reach it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Own {
    pub guests: Vec<String>,
    pub hosts: Vec<String>,
    pub protected: Vec<String>,
}

impl FileSettings {
    /// A file that was named must be there; the default one need not.
    pub(super) fn read(path: &Path, must_exist: bool) -> Result<Self, Problem> {
        let unreadable =
            |error: std::io::Error| Problem::config(format!("{}: {error}", path.display()));
        match std::fs::metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => {
                return Ok(Self::default());
            }
            Err(error) => return Err(unreadable(error)),
            Ok(file) if file.len() > FILE_BYTES_MAX => {
                return Err(Problem::config(format!(
                    "{}: larger than {FILE_BYTES_MAX} bytes",
                    path.display()
                )));
            }
            Ok(_) => {}
        }
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        Self::parse(&text)
            .map_err(|message| Problem::config(format!("{}: {message}", path.display())))
    }

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| {
                let before = text.get(..span.start).unwrap_or_default();
                before.bytes().filter(|byte| *byte == b'\n').count() + 1
            });
            format!("line {line}: {}", with_suggestion(error.message()))
        })
    }
}

/// serde lists every known name; a person wants the one that was meant.
fn with_suggestion(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let unknown = message
        .starts_with("unknown field")
        .then(|| quoted.next())
        .flatten();
    match unknown.and_then(|name| text::nearest(name, quoted).map(|near| (name, near))) {
        Some((name, near)) => format!("unknown key `{name}`; did you mean `{near}`?"),
        None => text::without_rust_words(message)
            .replace("unknown field", "unknown key")
            .replace('\n', " "),
    }
}
