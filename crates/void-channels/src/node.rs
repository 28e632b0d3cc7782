//! Nodes: machines that dial out. Reaching one means to put a command on its mailbox and to wait until its long poll
//! takes it and its report comes back; the conversation is `void-act`'s, as with any other host.
//!
//! A command is handed out at most once. A poll of the same program that does not hold what it was handed proves
//! that the hand-over was lost; a poll of a later program proves that the earlier one is gone. Either way the
//! node's journal is asked, and nothing is sent again.

mod mailboxes;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout};
use void_act::Answer;
use void_domain::failures::FailureCode;
use void_domain::proposals::Failure;

pub use self::mailboxes::{Arrival, Command, Connection, Poll, Reported, Superseded};
use self::mailboxes::{Mailbox, Pending};
use crate::act::{Carrier, HostList, LIST, NoAnswer};

/// How long a command waits for the node's next poll.
const HAND_OVER_WITHIN: Duration = Duration::from_secs(10);
/// How long a node that is between two polls, or that just lost us, is waited for.
const ARRIVE_WITHIN: Duration = Duration::from_secs(5);
/// A poll lasts at most half a minute; who has not been here for longer is away.
const PRESENT_FOR: Duration = Duration::from_secs(45);

/// The mailboxes of all nodes, shared by what sends and by what serves the polls.
#[derive(Default)]
pub struct Nodes {
    mailboxes: Mutex<HashMap<String, Arc<Mailbox>>>,
    asked: AtomicU64,
    /// Whether another instance may serve a node's poll.
    shared: std::sync::atomic::AtomicBool,
}

impl Nodes {
    fn mailbox(&self, node: &str) -> Arc<Mailbox> {
        let mut mailboxes = self
            .mailboxes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Arc::clone(mailboxes.entry(node.to_owned()).or_default())
    }

    fn all(&self) -> Vec<(String, Arc<Mailbox>)> {
        let mailboxes = self
            .mailboxes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        mailboxes
            .iter()
            .map(|(name, mailbox)| (name.clone(), Arc::clone(mailbox)))
            .collect()
    }

    /// Several instances serve polls: a node that is not here may be elsewhere.
    pub fn share(&self) {
        self.shared.store(true, Ordering::SeqCst);
    }

    /// What was known of a node before this process began, or what another instance learnt.
    pub fn remember(&self, node: &str, list: Option<serde_json::Value>) {
        self.mailbox(node).remember(list);
    }

    /// Forgets a node; whoever waits for it hears that nothing more will come.
    pub fn forget(&self, node: &str) {
        let mut mailboxes = self
            .mailboxes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(mailbox) = mailboxes.remove(node) {
            mailbox.close();
        }
    }

    /// A poll begins.
    pub fn arrive(&self, node: &str, arrival: Arrival) -> Result<Poll, Superseded> {
        self.mailbox(node).arrive(arrival)
    }

    /// What a node says about a command that it was handed. Anything else is forgotten: the journal has it.
    pub fn report(&self, node: &str, command: &str, lines: Vec<String>, ended: Option<Reported>) {
        self.mailbox(node).report(command, lines, ended);
    }

    /// When a node last polled here, and whether it does now.
    pub fn seen(&self, node: &str) -> (Option<Duration>, bool) {
        self.mailbox(node).seen()
    }

    pub(crate) fn list(&self, node: &str) -> Option<HostList> {
        let answer = self.mailbox(node).list_if(|_| true)?;
        Some(HostList {
            digest: answer.list?,
            entries: answer.defs?,
            stopped: answer.stopped?,
            version: String::new(),
            cannot: BTreeMap::new(),
            names_list: answer.names_list == Some(true),
        })
    }

    /// What a run has said so far.
    pub fn progress(&self, node: &str, command: &str) -> Vec<String> {
        self.mailbox(node).progress(command)
    }

    /// Takes what waits for nodes that do not poll here, to be handed over by another instance.
    pub fn strand(&self) -> Vec<(String, Command)> {
        let all = self.all().into_iter();
        all.flat_map(|(name, mailbox)| {
            let commands = mailbox.strand().into_iter();
            commands
                .map(|command| (name.clone(), command))
                .collect::<Vec<_>>()
        })
        .collect()
    }

    /// The nodes that poll here now.
    pub fn here(&self) -> Vec<String> {
        let all = self.all().into_iter();
        all.filter(|(_, mailbox)| mailbox.seen().1)
            .map(|(name, _)| name)
            .collect()
    }

    /// Hands a command over and waits for what becomes of it. `foreign` ones came from another instance.
    pub async fn carry(&self, node: &str, command: Command, foreign: bool) -> Reported {
        let limit = command.limit;
        let mut pending: Pending = self.mailbox(node).post(command, foreign);
        if timeout(HAND_OVER_WITHIN, pending.leaves()).await.is_err() && pending.take_back() {
            let message = format!("{node} did not come for it; nothing was sent");
            return Reported::NotSent(Failure::new(FailureCode::Unreachable, message));
        }
        match timeout(limit, pending.ends()).await {
            Ok(reported) => reported,
            Err(_late) => {
                let message = format!("{node} did not report in time");
                Reported::Lost(Failure::new(FailureCode::Timeout, message))
            }
        }
    }

    async fn wait_for(&self, node: &str) -> Result<Answer, Failure> {
        let (mailbox, give_up) = (self.mailbox(node), Instant::now() + ARRIVE_WITHIN);
        let mut changes = mailbox.changes();
        loop {
            let shared = self.shared.load(Ordering::SeqCst);
            if let Some(list) = mailbox.list_if(|seen| shared || seen.is_some_and(is_present)) {
                return Ok(list);
            }
            if !matches!(
                tokio::time::timeout_at(give_up, changes.changed()).await,
                Ok(Ok(()))
            ) {
                let message = match mailbox.seen().0 {
                    None => format!("node {node} has not come; nothing was sent"),
                    Some(ago) => {
                        let ago = ago.as_secs();
                        format!("node {node} was last here {ago} s ago; nothing was sent")
                    }
                };
                return Err(Failure::new(FailureCode::Unreachable, message));
            }
        }
    }
}

fn is_present(seen: Duration) -> bool {
    seen <= PRESENT_FOR
}

/// The name of the command that starts a run. A proposal runs once, so there is one.
pub fn command_of_run(proposal: &str) -> String {
    format!("run:{proposal}")
}

/// One node as a host.
pub(crate) struct NodeHost<'a> {
    pub nodes: &'a Nodes,
    pub name: &'a str,
    /// The proposal that all of this is about.
    pub proposal: String,
}

impl NodeHost<'_> {
    fn command(&self, command: &[&str], limit: Duration) -> Command {
        let word = command.first().copied().unwrap_or_default();
        let is_run = !word.starts_with(void_act::RESERVED_PREFIX);
        let id = if is_run {
            command_of_run(&self.proposal)
        } else {
            let number = self.nodes.asked.fetch_add(1, Ordering::Relaxed);
            format!("{word}:{}:{number}", self.proposal)
        };
        Command {
            id,
            command: command.join(" "),
            limit,
            is_run,
        }
    }
}

impl Carrier for NodeHost<'_> {
    /// The node's list as it last told it.
    type Line = Answer;

    fn host(&self) -> &str {
        self.name
    }

    fn provision(&self) -> String {
        format!("void provision node {}", self.name)
    }

    async fn open(&self) -> Result<Answer, Failure> {
        self.nodes.wait_for(self.name).await
    }

    /// Its list comes with every poll, so that asking costs nothing.
    fn is_fresh(&self, _: &Answer) -> bool {
        false
    }

    /// The command that starts a run has one name, and is handed out once.
    fn may_send_again(&self) -> bool {
        false
    }

    async fn ask(
        &self,
        list: &Answer,
        command: &[&str],
        limit: Duration,
    ) -> Result<Answer, NoAnswer> {
        // Every poll brings the list; the node looks at it again before it runs anything.
        if command == [LIST] {
            return Ok(list.clone());
        }
        let command = self.command(command, limit);
        match self.nodes.carry(self.name, command, false).await {
            Reported::Answer(answer) => Ok(*answer),
            Reported::NotSent(failure) => Err(NoAnswer::NotSent(failure)),
            Reported::Lost(failure) => Err(NoAnswer::Lost(failure)),
        }
    }
}
