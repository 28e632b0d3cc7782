//! Tasks: their ids, their life from running to ended, their log, and the list with its filters.
//!
//! As in Proxmox, an ended task's `user` has lost its token name to `tokenid`, while a running one in
//! the list still carries both in `user`, has `"saved":"0"` and the status `RUNNING`. Read from
//! `PVE/API2/Tasks.pm` of pve-manager 8.4 and `upid_decode` of libpve-common.

use std::collections::VecDeque;
use std::fmt;

use serde_json::{Value, json};

use crate::proxmox::rows::Row;

/// Ended tasks that are kept; Proxmox rotates its index at about as many.
pub const TASKS_KEPT_MAX: usize = 1000;
/// Tasks that may run at the same time.
pub const TASKS_RUNNING_MAX: usize = 200;

/// `UPID:node:pid:pstart:starttime:type:id:user:`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Upid {
    pub node: String,
    pub pid: u32,
    pub pstart: u64,
    pub starttime: u64,
    pub kind: String,
    pub id: String,
    pub user: String,
}

impl Upid {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        (parts.next()? == "UPID").then_some(())?;
        let mut part = || parts.next().filter(|part| !part.contains(['/', ' ']));
        let upid = Self {
            node: part()?.to_owned(),
            pid: u32::try_from(hex(part()?, 8..=8)?).ok()?,
            pstart: hex(part()?, 8..=9)?,
            starttime: hex(part()?, 8..=8)?,
            kind: part().filter(|kind| !kind.is_empty())?.to_owned(),
            id: part()?.to_owned(),
            user: part().filter(|user| !user.is_empty())?.to_owned(),
        };
        (parts.next() == Some("") && parts.next().is_none()).then_some(upid)
    }

    /// The user and, if a token did it, the token's name.
    pub(crate) fn owner(&self) -> (&str, Option<&str>) {
        match self.user.split_once('!') {
            Some((user, token)) => (user, Some(token)),
            None => (&self.user, None),
        }
    }
}

impl fmt::Display for Upid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            node, pid, pstart, ..
        } = self;
        let Self {
            starttime,
            kind,
            id,
            user,
            ..
        } = self;
        write!(
            f,
            "UPID:{node}:{pid:08X}:{pstart:08X}:{starttime:08X}:{kind}:{id}:{user}:"
        )
    }
}

fn hex(text: &str, lengths: std::ops::RangeInclusive<usize>) -> Option<u64> {
    let all_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    (all_hex && lengths.contains(&text.len())).then_some(())?;
    u64::from_str_radix(text, 16).ok()
}

#[derive(Debug, Clone)]
pub(crate) enum TaskState {
    Running,
    Ended {
        at_s: u64,
        /// `OK` or the error.
        exit: String,
    },
}

#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub upid: Upid,
    pub state: TaskState,
    log: Vec<String>,
}

impl Task {
    /// The answer of `…/tasks/{upid}/status`.
    pub(crate) fn status(&self) -> Value {
        let mut status = self.shown_with_token();
        match &self.state {
            TaskState::Running => status.set("status", "running"),
            TaskState::Ended { exit, .. } => {
                status.set("status", "stopped");
                status.set("exitstatus", exit.as_str());
            }
        }
        status.into()
    }

    /// Its row in the list.
    pub(crate) fn row(&self) -> Value {
        match &self.state {
            TaskState::Running => {
                let mut row = self.shown();
                row.set("user", self.upid.user.as_str());
                row.set("saved", "0");
                row.set("status", "RUNNING");
                row.into()
            }
            TaskState::Ended { at_s, exit } => {
                let mut row = self.shown_with_token();
                row.set("endtime", *at_s);
                row.set("status", exit.as_str());
                row.into()
            }
        }
    }

    /// Lines so far; the last one of an ended task repeats its end.
    pub(crate) fn log(&self) -> Vec<String> {
        let mut lines = self.log.clone();
        match &self.state {
            TaskState::Running => {}
            TaskState::Ended { exit, .. } if exit == "OK" => lines.push("TASK OK".to_owned()),
            TaskState::Ended { exit, .. } => lines.push(format!("TASK ERROR: {exit}")),
        }
        lines
    }

    pub(crate) fn is_running(&self) -> bool {
        matches!(self.state, TaskState::Running)
    }

    fn shown_with_token(&self) -> Row {
        let mut shown = self.shown();
        let (user, token) = self.upid.owner();
        shown.set("user", user);
        if let Some(token) = token {
            shown.set("tokenid", token);
        }
        shown
    }

    fn shown(&self) -> Row {
        let upid = &self.upid;
        Row::of(json!({
            "upid": upid.to_string(), "node": upid.node, "pid": upid.pid, "pstart": upid.pstart,
            "starttime": upid.starttime, "type": upid.kind, "id": upid.id,
        }))
    }
}

/// All tasks of all nodes: running ones as they began, ended ones as they ended.
#[derive(Debug, Default)]
pub(crate) struct TaskBook {
    running: Vec<Task>,
    ended: VecDeque<Task>,
}

impl TaskBook {
    /// Whether there was room for one more.
    pub(crate) fn begin(&mut self, upid: Upid) -> bool {
        if self.running.len() >= TASKS_RUNNING_MAX {
            return false;
        }
        self.running.push(Task {
            upid,
            state: TaskState::Running,
            log: Vec::new(),
        });
        true
    }

    pub(crate) fn write(&mut self, upid: &Upid, line: &str) {
        if let Some(task) = self.running.iter_mut().find(|task| task.upid == *upid) {
            task.log.push(line.to_owned());
        }
    }

    pub(crate) fn end(&mut self, upid: &Upid, at_s: u64, exit: String) {
        let Some(index) = self.running.iter().position(|task| task.upid == *upid) else {
            return;
        };
        let mut task = self.running.remove(index);
        task.state = TaskState::Ended { at_s, exit };
        self.ended.push_front(task);
        self.ended.truncate(TASKS_KEPT_MAX);
    }

    pub(crate) fn find(&self, upid: &str) -> Option<&Task> {
        let mut all = self.running.iter().chain(&self.ended);
        all.find(|task| task.upid.to_string() == upid)
    }

    /// As they began: Proxmox appends to its file of active tasks.
    pub(crate) fn running(&self) -> impl Iterator<Item = &Task> {
        self.running.iter()
    }

    /// Last ended first.
    pub(crate) fn ended(&self) -> impl Iterator<Item = &Task> {
        self.ended.iter()
    }
}
