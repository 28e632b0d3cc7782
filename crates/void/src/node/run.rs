//! The loop: say who we are and what we hold, wait for commands, start them, ask again.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use void_api::node::{PollNodeRequest, PollNodeResponse, SessionMember};
use void_channels::{Executor, LocalConfig};
use void_domain::fail_point;
use void_domain::failures::FailureCode;
use void_domain::secrets::Secret;
use void_domain::text;

use super::folder::Folder;
use super::link::{Link, NoAnswer};
use super::times::ServerTime;
use super::work::{Holding, WorkCommand, Worker};
use crate::exit::{CommandError, Exit};

const WAIT_S: u64 = 30;
/// Beyond the wait itself: an answer that takes longer is lost.
const POLL_MARGIN: Duration = Duration::from_secs(15);
const LIST_TIMEOUT: Duration = Duration::from_secs(15);
const RETRY_FIRST: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(4);
/// A machine that the owner has not let in yet asks this often.
const RETRY_WAITING: Duration = Duration::from_secs(2);
/// How long a stop waits for what runs; it goes on without us, and the journal keeps its end.
const STOP_PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Options {
    pub state: PathBuf,
    pub list: PathBuf,
    pub trust_own_list: bool,
}

pub(crate) async fn run(options: Options) -> Result<Exit, CommandError> {
    let folder = Folder::open(&options.state, false)?;
    let (server, secret) = (folder.server()?, folder.secret()?);
    let secret = secret.ok_or_else(|| {
        CommandError::config("this machine has no secret: it has not joined")
            .next("void node join URL --token …")
    })?;
    let _lock = folder.lock()?;
    let node = Node {
        session: SessionMember {
            generation: folder.next_generation()?,
            nonce: super::folder::nonce()?,
        },
        worker: Arc::new(Worker {
            executor: Executor::new(LocalConfig {
                program: own_program()?,
                args: vec!["act".into()],
                list: options.list,
                state: folder.journal()?,
                trust_own_list: options.trust_own_list,
            }),
            link: Link::new(&server)?,
            secret,
            time: ServerTime::default(),
            holding: Holding::default(),
        }),
    };
    tracing::info!(server = server.url, "asking for work");
    let stopped = async {
        let (Ok(mut terminate), Ok(mut interrupt)) = (
            signal(SignalKind::terminate()),
            signal(SignalKind::interrupt()),
        ) else {
            return std::future::pending().await;
        };
        tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
    };
    tokio::select! {
        ended = node.ask_for_work() => return Err(ended),
        () = stopped => {}
    }
    tracing::info!(
        "stopping; what runs goes on, and its end is reported at the next start if not now"
    );
    node.worker.finish(STOP_PATIENCE).await;
    Ok(Exit::Done)
}

struct Node {
    session: SessionMember,
    worker: Arc<Worker>,
}

impl Node {
    /// Ends only when this program must not go on.
    async fn ask_for_work(&self) -> CommandError {
        let mut pause = RETRY_FIRST;
        // The first question is answered at once: it tells the time before any ticket comes.
        let mut wait_s = 0;
        let mut connected = None;
        loop {
            let answer = self.poll(wait_s).await;
            let state = match answer {
                Ok(commands) => {
                    (pause, wait_s) = (RETRY_FIRST, WAIT_S);
                    for command in commands {
                        self.worker.start(command);
                    }
                    note(&mut connected, "connected", "");
                    continue;
                }
                Err(NoAnswer::Refused { code, message, .. })
                    if code == FailureCode::Superseded.as_str() =>
                {
                    return CommandError::new(FailureCode::Superseded, message)
                        .next("void node revoke NAME, and join each machine on its own");
                }
                Err(NoAnswer::Refused { status: 401, .. }) => {
                    pause = RETRY_WAITING;
                    (
                        "not let in",
                        "the owner has not approved this machine, or has removed it".to_owned(),
                    )
                }
                Err(NoAnswer::Refused { message, .. }) => ("refused", message),
                Err(NoAnswer::Unreachable(reason)) => ("unreachable", reason),
            };
            note(&mut connected, state.0, &state.1);
            tokio::time::sleep(jittered(pause)).await;
            pause = (pause * 2).min(RETRY_MAX);
        }
    }

    async fn poll(&self, wait_s: u64) -> Result<Vec<WorkCommand>, NoAnswer> {
        let list = self.worker.executor.list(LIST_TIMEOUT).await;
        let body = PollNodeRequest {
            session: self.session.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            list: list.and_then(|list| serde_json::to_value(list).ok()),
            holding: self.worker.holding.ids(),
            wait_s,
        };
        fail_point!("pull.poll.before");
        let limit = Duration::from_secs(wait_s) + POLL_MARGIN;
        let secret: &Secret = &self.worker.secret;
        let link = &self.worker.link;
        let sent = link
            .post("/api/node/poll", Some(secret), &body, limit)
            .await?;
        fail_point!("pull.poll.after");
        let answer: PollNodeResponse = serde_json::from_value(sent)
            .map_err(|error| NoAnswer::Unreachable(format!("no answer of Void: {error}")))?;
        self.worker.time.heard(answer.now_ms);
        Ok(answer.errands.into_iter().map(WorkCommand::new).collect())
    }
}

/// Says how it stands with the server, when that has changed.
fn note(last: &mut Option<&'static str>, now: &'static str, why: &str) {
    if *last != Some(now) {
        *last = Some(now);
        tracing::info!(reason = text::escaped(why), "{now}");
    }
}

/// Many nodes that lost one server do not come back all at once.
fn jittered(pause: Duration) -> Duration {
    let mut random = [0_u8; 1];
    let _ = getrandom::fill(&mut random);
    let [random] = random;
    pause / 2 + pause * u32::from(random) / 512
}

fn own_program() -> Result<PathBuf, CommandError> {
    std::env::current_exe().map_err(|error| {
        let message = format!("void cannot find its own program: {error}");
        CommandError::failed(FailureCode::Internal, message)
    })
}
