//! One node's mailbox: what waits for its poll, what it was handed, and which of its programs is the present one.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;
use void_act::Answer;
use void_domain::failures::FailureCode;
use void_domain::proposals::Failure;
use void_domain::text;

use crate::act::{PROGRESS_LINE_BYTES_MAX, PROGRESS_LINES_MAX};

/// How many commands one poll is answered with.
const COMMANDS_PER_POLL_MAX: usize = 16;

/// One run of a node's program. Each start counts one further, so that an older one cannot come back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    pub generation: u64,
    pub nonce: String,
}

/// What a poll brings.
#[derive(Debug, Clone)]
pub struct Arrival {
    pub session: Connection,
    /// The answer to `void-list`; `None` when the node could not read its own list.
    pub list: Option<Value>,
    /// The commands that it works on or has not been able to report.
    pub holding: Vec<String>,
}

/// A later program of this node has been here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Superseded;

/// One command of `void-act`'s grammar for a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    pub id: String,
    pub command: String,
    pub limit: Duration,
    /// Whether it starts something; questions go out even while everything is frozen.
    pub is_run: bool,
}

/// What became of a command.
#[derive(Debug, Clone, PartialEq)]
pub enum Reported {
    Answer(Box<Answer>),
    /// It certainly was not handed over.
    NotSent(Failure),
    /// It may have arrived.
    Lost(Failure),
}

impl Reported {
    /// What a node reports as the answer; without one its journal has to be asked.
    pub fn of(answer: Option<Value>) -> Self {
        match answer.map(serde_json::from_value) {
            Some(Ok(answer)) => Self::Answer(Box::new(answer)),
            Some(Err(_)) => {
                let message = "the node answered in a way that cannot be read";
                Self::Lost(Failure::new(FailureCode::BadAnswer, message))
            }
            None => {
                let message = "the node's executor ended without an answer";
                Self::Lost(Failure::new(FailureCode::NoAnswer, message))
            }
        }
    }

    /// The answer as a node reported it, to be passed on to another instance.
    pub fn to_value(&self) -> Option<Value> {
        match self {
            Self::Answer(answer) => serde_json::to_value(answer).ok(),
            Self::NotSent(_) | Self::Lost(_) => None,
        }
    }
}

fn read(list: Option<Value>) -> Option<Answer> {
    serde_json::from_value(list?).ok()
}

struct Posted {
    command: Command,
    foreign: bool,
    reply: oneshot::Sender<Reported>,
}

#[derive(Default)]
struct State {
    session: Option<Connection>,
    list: Option<Answer>,
    seen: Option<Instant>,
    polls: u64,
    open_polls: usize,
    waiting: VecDeque<Posted>,
    /// With the node, or with another instance.
    handed: HashMap<String, Posted>,
    /// On its way through another instance; polls here say nothing about it.
    away: HashMap<String, Posted>,
    said: HashMap<String, Vec<String>>,
}

pub(super) struct Mailbox {
    state: Mutex<State>,
    changes: watch::Sender<u64>,
}

impl Default for Mailbox {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            changes: watch::Sender::new(0),
        }
    }
}

impl Mailbox {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(super) fn remember(&self, list: Option<Value>) {
        let list = read(list);
        let mut state = self.lock();
        if list.is_some() {
            state.list = list;
        }
        drop(state);
        self.changed();
    }

    pub(super) fn seen(&self) -> (Option<Duration>, bool) {
        let state = self.lock();
        let here = state.open_polls > 0;
        let ago = state.seen.map(|seen| seen.elapsed());
        (if here { Some(Duration::ZERO) } else { ago }, here)
    }

    pub(super) fn list_if(&self, present: impl Fn(Option<Duration>) -> bool) -> Option<Answer> {
        let (seen, _) = self.seen();
        let list = self.lock().list.clone();
        list.filter(|_| present(seen))
    }

    pub(super) fn progress(&self, command: &str) -> Vec<String> {
        self.lock().said.get(command).cloned().unwrap_or_default()
    }

    /// A poll begins. Earlier ones of this node get nothing any more, so what is handed out next goes to the
    /// connection that is surely the newest.
    pub(super) fn arrive(self: &Arc<Self>, arrival: Arrival) -> Result<Poll, Superseded> {
        let list = read(arrival.list);
        let mut state = self.lock();
        if let Some(known) = &state.session
            && *known != arrival.session
            && known.generation >= arrival.session.generation
        {
            return Err(Superseded);
        }
        state.session = Some(arrival.session);
        state.list = list;
        state.polls += 1;
        state.open_polls += 1;
        state.seen = Some(Instant::now());
        let lost: Vec<String> = state
            .handed
            .keys()
            .filter(|id| !arrival.holding.contains(id))
            .cloned()
            .collect();
        for id in lost {
            let message = "the node came back without it";
            state.end(
                &id,
                Reported::Lost(Failure::new(FailureCode::ConnectionLost, message)),
            );
        }
        let number = state.polls;
        drop(state);
        self.changed();
        Ok(Poll {
            mailbox: Arc::clone(self),
            number,
            changes: self.changes(),
        })
    }

    pub(super) fn post(self: &Arc<Self>, command: Command, foreign: bool) -> Pending {
        let (reply, ended) = oneshot::channel();
        let id = command.id.clone();
        self.lock().waiting.push_back(Posted {
            command,
            foreign,
            reply,
        });
        self.changed();
        Pending {
            mailbox: Arc::clone(self),
            id,
            ended,
        }
    }

    pub(super) fn report(&self, command: &str, lines: Vec<String>, ended: Option<Reported>) {
        let mut state = self.lock();
        if !state.handed.contains_key(command) && !state.away.contains_key(command) {
            return;
        }
        let said = state.said.entry(command.to_owned()).or_default();
        let room = PROGRESS_LINES_MAX.saturating_sub(said.len());
        let lines = lines.into_iter().take(room);
        said.extend(lines.map(|line| text::cut(&line, PROGRESS_LINE_BYTES_MAX).to_owned()));
        if let Some(ended) = ended {
            state.end(command, ended);
        }
    }

    pub(super) fn strand(&self) -> Vec<Command> {
        let mut state = self.lock();
        if state.open_polls > 0 {
            return Vec::new();
        }
        let (ours, foreign) = std::mem::take(&mut state.waiting)
            .into_iter()
            .partition::<Vec<_>, _>(|posted| !posted.foreign);
        state.waiting.extend(foreign);
        let mut stranded = Vec::new();
        for posted in ours {
            stranded.push(posted.command.clone());
            state.away.insert(posted.command.id.clone(), posted);
        }
        drop(state);
        if !stranded.is_empty() {
            self.changed();
        }
        stranded
    }

    pub(super) fn close(&self) {
        let mut state = self.lock();
        let message = "the node was removed";
        for posted in std::mem::take(&mut state.waiting) {
            let failure = Failure::new(
                FailureCode::Unreachable,
                format!("{message}; nothing was sent"),
            );
            let _ = posted.reply.send(Reported::NotSent(failure));
        }
        let handed: Vec<String> = state
            .handed
            .keys()
            .chain(state.away.keys())
            .cloned()
            .collect();
        for id in handed {
            state.end(
                &id,
                Reported::Lost(Failure::new(FailureCode::Unreachable, message)),
            );
        }
        // Nothing reaches the polls that are open any more.
        state.polls += 1;
        drop(state);
        self.changed();
    }
}

impl State {
    fn end(&mut self, command: &str, ended: Reported) {
        let posted = self
            .handed
            .remove(command)
            .or_else(|| self.away.remove(command));
        if let Some(posted) = posted {
            // Whoever stopped waiting does not mind.
            let _ = posted.reply.send(ended);
        }
    }
}

/// One open poll.
pub struct Poll {
    mailbox: Arc<Mailbox>,
    number: u64,
    changes: watch::Receiver<u64>,
}

impl Poll {
    /// What there is for the node now. While everything is frozen what would start something is given back.
    pub fn take(&mut self, frozen: bool) -> Vec<Command> {
        let mut state = self.mailbox.lock();
        let mut taken = Vec::new();
        if state.polls != self.number {
            return taken;
        }
        while taken.len() < COMMANDS_PER_POLL_MAX
            && let Some(posted) = state.waiting.pop_front()
        {
            if frozen && posted.command.is_run {
                let failure = Failure::new(
                    FailureCode::Frozen,
                    "frozen before it was sent; nothing ran",
                );
                let _ = posted.reply.send(Reported::NotSent(failure));
                continue;
            }
            taken.push(posted.command.clone());
            state.handed.insert(posted.command.id.clone(), posted);
        }
        drop(state);
        if !taken.is_empty() {
            self.mailbox.changed();
        }
        taken
    }

    /// Whether a newer poll has taken this one's place.
    pub fn is_over(&self) -> bool {
        self.mailbox.lock().polls != self.number
    }

    /// Something may have changed since the last look.
    pub async fn changed(&mut self) {
        // The mailbox lives as long as we do.
        let _ = self.changes.changed().await;
    }
}

impl Drop for Poll {
    fn drop(&mut self) {
        let mut state = self.mailbox.lock();
        state.open_polls = state.open_polls.saturating_sub(1);
        state.seen = Some(Instant::now());
    }
}

/// A command on the mailbox or in the node's hands; taken off when nobody waits for it any more.
pub(super) struct Pending {
    mailbox: Arc<Mailbox>,
    id: String,
    ended: oneshot::Receiver<Reported>,
}

impl Pending {
    fn waits(&self) -> bool {
        let state = self.mailbox.lock();
        state
            .waiting
            .iter()
            .any(|posted| posted.command.id == self.id)
    }

    pub(super) async fn leaves(&mut self) {
        let mut changes = self.mailbox.changes();
        while self.waits() && changes.changed().await.is_ok() {}
    }

    /// Whether it was still there.
    pub(super) fn take_back(&self) -> bool {
        let mut state = self.mailbox.lock();
        let before = state.waiting.len();
        state.waiting.retain(|posted| posted.command.id != self.id);
        state.waiting.len() < before
    }

    pub(super) async fn ends(&mut self) -> Reported {
        match (&mut self.ended).await {
            Ok(reported) => reported,
            Err(_dropped) => {
                let message = "nobody waits for it any more";
                Reported::Lost(Failure::new(FailureCode::ConnectionLost, message))
            }
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.take_back();
        let mut state = self.mailbox.lock();
        state.handed.remove(&self.id);
        state.away.remove(&self.id);
        state.said.remove(&self.id);
    }
}

#[cfg(test)]
mod tests;
