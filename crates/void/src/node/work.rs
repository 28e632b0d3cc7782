//! One command from its arrival to the acknowledged report. It counts as held until the server has acknowledged, so
//! that no poll in between says that it got lost.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use void_api::node::{CommandMember, ReportNodeRequest};
use void_channels::Executor;
use void_domain::fail_point;
use void_domain::secrets::Secret;

use super::link::{Link, NoAnswer};
use super::times::ServerTime;

/// More at once is not a node's work; what is not taken is settled as never seen.
const HOLDING_MAX: usize = 64;
const LIMIT_MAX: Duration = Duration::from_secs(2 * 60 * 60);
const REPORT_TIMEOUT: Duration = Duration::from_secs(15);
const LINES_EVERY: Duration = Duration::from_millis(200);
const LINES_QUEUED_MAX: usize = 256;
const RETRY_FIRST: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(4);

#[derive(Debug, Clone)]
pub(super) struct WorkCommand {
    id: String,
    command: String,
    limit: Duration,
}

impl WorkCommand {
    pub(super) fn new(sent: CommandMember) -> Self {
        Self {
            id: sent.id,
            command: sent.command,
            limit: Duration::from_millis(sent.limit_ms).min(LIMIT_MAX),
        }
    }
}

pub(super) struct Holding(watch::Sender<BTreeSet<String>>);

impl Default for Holding {
    fn default() -> Self {
        Self(watch::Sender::new(BTreeSet::new()))
    }
}

impl Holding {
    pub(super) fn ids(&self) -> Vec<String> {
        self.0.borrow().iter().cloned().collect()
    }

    /// `false` if it is held already, or there is no room.
    fn take(&self, id: &str) -> bool {
        self.0
            .send_if_modified(|held| held.len() < HOLDING_MAX && held.insert(id.to_owned()))
    }

    fn drop(&self, id: &str) {
        self.0.send_modify(|held| _ = held.remove(id));
    }
}

pub(super) struct Worker {
    pub executor: Executor,
    pub link: Link,
    pub secret: Secret,
    pub time: ServerTime,
    pub holding: Holding,
}

impl Worker {
    pub(super) fn start(self: &Arc<Self>, command: WorkCommand) {
        fail_point!("pull.take.before");
        if !self.holding.take(&command.id) {
            return;
        }
        fail_point!("pull.take.after");
        let this = Arc::clone(self);
        tokio::spawn(async move {
            this.work(&command).await;
            this.holding.drop(&command.id);
        });
    }

    /// Waits until nothing is held, up to `patience`.
    pub(super) async fn finish(&self, patience: Duration) {
        let mut held = self.holding.0.subscribe();
        let _ = tokio::time::timeout(patience, held.wait_for(BTreeSet::is_empty)).await;
    }

    async fn work(&self, command: &WorkCommand) {
        let (lines, heard) = mpsc::channel(LINES_QUEUED_MAX);
        let tell = |line: String| _ = lines.try_send(line);
        fail_point!("pull.execute.before");
        let now = self.time.now_ms();
        let ended = self
            .executor
            .answer(&command.command, now, command.limit, tell);
        let answer = tokio::select! {
            answer = ended => answer,
            () = self.pass_on(&command.id, heard) => None,
        };
        fail_point!("pull.execute.after");
        let body = ReportNodeRequest {
            errand: command.id.clone(),
            lines: Vec::new(),
            ended: true,
            answer: answer.and_then(|answer| serde_json::to_value(answer).ok()),
        };
        let mut pause = RETRY_FIRST;
        while !self.report(&body).await {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(RETRY_MAX);
        }
    }

    /// Sends lines in handfuls. They are a courtesy: what cannot be sent is in the answer all the same.
    async fn pass_on(&self, id: &str, mut heard: mpsc::Receiver<String>) {
        loop {
            tokio::time::sleep(LINES_EVERY).await;
            let mut lines = Vec::new();
            while let Ok(line) = heard.try_recv() {
                lines.push(line);
            }
            if !lines.is_empty() {
                let body = ReportNodeRequest {
                    errand: id.to_owned(),
                    lines,
                    ended: false,
                    answer: None,
                };
                self.report(&body).await;
            }
        }
    }

    /// Whether it was acknowledged. A server that refuses to hear it has settled it another way.
    async fn report(&self, body: &ReportNodeRequest) -> bool {
        fail_point!("pull.report.before");
        let secret = Some(&self.secret);
        let sent = self
            .link
            .post("/api/node/report", secret, body, REPORT_TIMEOUT);
        let acknowledged = match sent.await {
            Ok(_) => true,
            Err(NoAnswer::Refused { status, .. }) => (400..500).contains(&status) && status != 401,
            Err(NoAnswer::Unreachable(_)) => false,
        };
        fail_point!("pull.report.after");
        acknowledged
    }
}
