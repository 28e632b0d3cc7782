//! Tasks: `UPID:node:pid:pstart:starttime:type:id:user:`, and how they end.

use std::fmt;

use serde_json::Value;
use void_domain::executions::GuestPower;
use void_domain::failures::FailureCode;

use super::calls::escape;
use super::powers::{self, is_word};
use super::{Proxmox, refusals, rows};
use crate::proxmox::calls::CallError;

const UPID_BYTES_MAX: usize = 256;
/// More than any power operation writes.
const LOG_LINES_MAX: u32 = 500;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Task {
    pub node: String,
    /// When it began, in seconds, by the node's clock.
    pub started_s: u64,
    kind: String,
    id: String,
    /// `user@realm!token`
    pub user: String,
    upid: String,
}

impl Task {
    /// Only what is one: it goes into a path.
    pub(super) fn parse(upid: &str) -> Option<Self> {
        let parts: Vec<&str> = upid.split(':').collect();
        let &["UPID", node, pid, pstart, start, kind, id, user, ""] = parts.as_slice() else {
            return None;
        };
        let hex = |text: &str| {
            let fits = (1..=16).contains(&text.len());
            fits && text.bytes().all(|b| b.is_ascii_hexdigit())
        };
        let plain = upid.len() <= UPID_BYTES_MAX && upid.bytes().all(|b| b.is_ascii_graphic());
        let fits = is_word(node) && hex(pid) && hex(pstart) && hex(start) && is_word(kind) && plain;
        let started_s = u64::from_str_radix(start, 16).ok()?;
        fits.then(|| Self {
            node: node.to_owned(),
            started_s,
            kind: kind.to_owned(),
            id: id.to_owned(),
            user: user.to_owned(),
            upid: upid.to_owned(),
        })
    }

    /// Whether it does this to this guest there.
    pub(super) fn is_of(&self, power: &GuestPower) -> bool {
        self.node == power.node
            && self.id == power.vmid.to_string()
            && powers::task_types(power).contains(&self.kind.as_str())
    }

    /// Its end says only that the cluster was asked; the guest follows later.
    pub(super) fn is_request(&self) -> bool {
        self.kind.starts_with("ha")
    }

    fn path(&self, rest: &str) -> String {
        format!("/nodes/{}/tasks/{}/{rest}", self.node, self.encoded())
    }

    /// As one segment of a path.
    fn encoded(&self) -> String {
        let encode = |byte: u8| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
            b'-' | b'_' | b'.' | b':' | b'@' | b'!' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        };
        self.upid.bytes().map(encode).collect()
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.upid)
    }
}

/// How a task ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TaskEnd {
    /// `OK`, or with warnings, which are for reading and not for failing.
    Ok(String),
    Failed(String),
    /// It is over, and Proxmox does not know how: its node went down, or its log is gone.
    Unknown(String),
}

impl TaskEnd {
    /// The words of `upid_read_status` in libpve-common.
    pub(super) fn parse(exit: &str) -> Self {
        let unreadable = [
            "unexpected status",
            "unable to open file",
            "unable to extract last line",
            "unable to read tail",
        ];
        let shown = escape(exit);
        if exit == "OK" || exit.starts_with("WARNINGS: ") {
            Self::Ok(shown)
        } else if exit.is_empty() || unreadable.iter().any(|words| exit.starts_with(words)) {
            Self::Unknown(shown)
        } else {
            Self::Failed(shown)
        }
    }

    /// Of a task's status; `None` while it runs.
    fn of_status(data: &Value) -> Option<Self> {
        let word = |name: &str| data.get(name).and_then(Value::as_str);
        let stopped = word("status") == Some("stopped");
        stopped.then(|| Self::parse(word("exitstatus").unwrap_or_default()))
    }

    /// Of a row in the list: an ended task has its end in `status`, a running one has no `endtime`.
    pub(super) fn of_row(row: &Value) -> Option<Self> {
        let exit = row.get("endtime").and(row.get("status"));
        exit.and_then(Value::as_str).map(Self::parse)
    }
}

/// The code that tells a failed task's reason apart.
pub(super) fn code_of(exit: &str) -> FailureCode {
    if refusals::is_lock(exit) || exit.starts_with("can't lock file") {
        FailureCode::Locked
    } else {
        FailureCode::TaskFailed
    }
}

impl Proxmox {
    pub(super) async fn task_end(&self, task: &Task) -> Result<Option<TaskEnd>, CallError> {
        let data = self.client.get(&task.path("status")).await?;
        Ok(TaskEnd::of_status(&data))
    }

    /// The last line of its log that says more than its end.
    pub(super) async fn last_log_line(&self, task: &Task, exit: &str) -> Option<String> {
        let path = task.path(&format!("log?limit={LOG_LINES_MAX}"));
        let data = self.client.get(&path).await.ok()?;
        last_line(&data, exit)
    }
}

fn last_line(data: &Value, exit: &str) -> Option<String> {
    let lines = rows(data).filter_map(|row| row.get("t")?.as_str());
    let told = lines
        .map(escape)
        .filter(|line| !line.is_empty() && line != "no content")
        .filter(|line| line.strip_prefix("TASK ERROR: ").unwrap_or(line) != exit);
    told.last()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_task_number_becomes_a_path() {
        let upid = "UPID:z:0001A2B3:0034F5C7:66A1B2C3:vzstop:107:void@pve!actions:";
        let task = Task::parse(upid).unwrap();
        assert_eq!(task.to_string(), upid);
        assert_eq!(task.encoded(), upid);
        assert_eq!(task.started_s, 0x66A1_B2C3);
        for bad in [
            "",
            "UPID",
            "UPID:z:1:2:3:vzstop:107:u",
            "UPID:../z:1:2:3:vzstop:107:u:",
            "UPID:z:1:2:3:vzstop:107:u x:",
            "UPID:z:g:2:3:vzstop:107:u:",
            "UPID:z:1:2::vzstop:107:u:",
        ] {
            assert_eq!(Task::parse(bad), None, "{bad}");
        }
        let odd = Task::parse("UPID:z:1:2:3:vzstop:107:a/b?c:").unwrap();
        assert_eq!(odd.encoded(), "UPID:z:1:2:3:vzstop:107:a%2Fb%3Fc:");
    }

    #[test]
    fn an_end_that_nobody_recorded_is_no_failure() {
        let ok = |exit: &str| matches!(TaskEnd::parse(exit), TaskEnd::Ok(_));
        assert!(ok("OK") && ok("WARNINGS: 2"));
        for exit in ["unexpected status", "unable to open file - x", ""] {
            assert!(matches!(TaskEnd::parse(exit), TaskEnd::Unknown(_)));
        }
        assert!(matches!(TaskEnd::parse("ok"), TaskEnd::Failed(_)));
        assert_eq!(TaskEnd::of_status(&json!({"status": "running"})), None);
        let gone = TaskEnd::of_status(&json!({"status": "stopped"}));
        assert_eq!(gone, Some(TaskEnd::Unknown(String::new())));
        assert_eq!(TaskEnd::of_row(&json!({"status": "RUNNING"})), None);
    }

    #[test]
    fn the_log_adds_what_the_end_does_not_say() {
        let log =
            json!([{"n": 1, "t": "mounting"}, {"n": 2, "t": ""}, {"n": 3, "t": "TASK ERROR: no"}]);
        assert_eq!(last_line(&log, "no").as_deref(), Some("mounting"));
        assert_eq!(last_line(&json!({"n": 1, "t": "gone"}), "no"), None);
        assert_eq!(code_of("CT is locked (backup)"), FailureCode::Locked);
        assert_eq!(
            code_of("storage 'nas' is not online"),
            FailureCode::TaskFailed
        );
    }
}
