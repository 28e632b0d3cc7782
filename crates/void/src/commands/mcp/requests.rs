//! A request for every message: over TLS, and where something on the way does not give connections away.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use serde_json::Value;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use void_domain::failures::FailureCode;

use super::answers::{Answers, asked, cancelled, id_of};
use super::lines::ANSWER_BYTES_MAX;
use super::servers::Server;
use crate::exit::CommandError;

/// Requests under way at a time; more wait to be sent.
const OPEN_MAX: usize = 64;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Longer than the server works for one call.
const TIMEOUT: Duration = Duration::from_secs(90);

pub(super) struct Requests {
    runtime: Runtime,
    sender: Arc<Sending>,
    places: Arc<Semaphore>,
    problems: Receiver<CommandError>,
    /// What is under way, by the id of its request.
    open: HashMap<String, AbortHandle>,
}

struct Sending {
    http: reqwest::Client,
    server: Arc<Server>,
    answers: Arc<Answers>,
    problems: Sender<CommandError>,
}

impl Requests {
    pub(super) fn start(server: Arc<Server>, answers: Arc<Answers>) -> Result<Self, CommandError> {
        let internal = |error: &dyn std::error::Error| {
            CommandError::failed(
                FailureCode::Internal,
                format!("the HTTP client cannot start: {error}"),
            )
        };
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| internal(&error))?;
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT)
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build();
        let (problems, told) = channel();
        Ok(Self {
            runtime,
            sender: Arc::new(Sending {
                http: http.map_err(|error| internal(&error))?,
                server,
                answers,
                problems,
            }),
            places: Arc::new(Semaphore::new(OPEN_MAX)),
            problems: told,
            open: HashMap::new(),
        })
    }

    pub(super) fn send(&mut self, lines: &[u8]) -> Result<(), CommandError> {
        for line in lines.split(|byte| *byte == b'\n') {
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let place = Arc::clone(&self.places).acquire_owned();
            let place = self.runtime.block_on(place);
            // Whoever gives up a call waits for no answer to it.
            for id in cancelled(line) {
                if let Some(call) = self.open.remove(&id.to_string()) {
                    call.abort();
                }
            }
            let id = asked(line).next();
            let (sender, line) = (Arc::clone(&self.sender), line.to_vec());
            let call = self.runtime.spawn(async move {
                sender.pass_on(line).await;
                drop(place);
            });
            self.open.retain(|_, call| !call.is_finished());
            if let Some(id) = id {
                self.open.insert(id.to_string(), call.abort_handle());
            }
        }
        self.problem()
    }

    /// Lets open calls be answered; each has its time.
    pub(super) fn finish(&mut self) -> Result<(), CommandError> {
        let all = u32::try_from(OPEN_MAX).unwrap_or(u32::MAX);
        let _ = self.runtime.block_on(self.places.acquire_many(all));
        self.problem()
    }

    fn problem(&self) -> Result<(), CommandError> {
        self.problems.try_recv().map_or(Ok(()), Err)
    }
}

impl Sending {
    async fn pass_on(&self, line: Vec<u8>) {
        match self.post(line.clone()).await {
            Ok(Ok(answer)) if answer.is_empty() => {}
            Ok(Ok(mut answer)) => {
                answer.push(b'\n');
                self.answers.give(&answer);
            }
            Ok(Err(reason)) => self.answers.refuse(&line, &reason),
            Err(problem) => {
                self.answers.refuse(&line, &problem.message);
                let _ = self.problems.send(problem);
            }
        }
    }

    async fn post(&self, line: Vec<u8>) -> Result<Result<Vec<u8>, String>, CommandError> {
        let mut request = self
            .http
            .post(format!("{}/mcp", self.server.base))
            .bearer_auth(self.server.token.expose())
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("x-void-bridge", "stdio");
        if let Some(registry) = &self.server.registry {
            request = request.header("x-void-registry", registry);
        }
        let response = match request.body(line).send().await {
            Ok(response) => response,
            Err(error) => return Ok(Err(self.lost(&error))),
        };
        let status = response.status();
        if status.is_success() && is_events(&response) {
            return Ok(self.events(response).await);
        }
        let body = match response.bytes().await {
            Ok(body) => body,
            Err(error) => return Ok(Err(self.lost(&error))),
        };
        if status.is_success() {
            // One line, whatever a proxy made of it.
            let line: Vec<u8> = body.iter().copied().filter(|byte| *byte != b'\n').collect();
            return Ok(Ok(line));
        }
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        self.server.refused(status.as_u16(), &body).map(Err)
    }

    /// A call that takes its time: word of it is handed on as it comes, and the answer is the last event.
    async fn events(&self, mut response: reqwest::Response) -> Result<Vec<u8>, String> {
        let mut unread = Vec::new();
        loop {
            let piece = match response.chunk().await {
                Ok(Some(piece)) => piece,
                Ok(None) => return Err(self.cut_off()),
                Err(error) => return Err(self.lost(&error)),
            };
            unread.extend_from_slice(&piece);
            while let Some(end) = unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = unread.drain(..=end).collect();
                let Some(message) = line.strip_prefix(b"data:") else {
                    continue;
                };
                let message = message.trim_ascii();
                if id_of(message).is_some() {
                    return Ok(message.to_vec());
                }
                self.answers.give(&[message, b"\n"].concat());
            }
            if unread.len() > ANSWER_BYTES_MAX {
                return Err(self.cut_off());
            }
        }
    }

    fn lost(&self, error: &reqwest::Error) -> String {
        if error.is_connect() {
            return self.server.unreachable("no connection");
        }
        self.cut_off()
    }

    fn cut_off(&self) -> String {
        format!(
            "{} did not answer to the end; whether it was done is not known here. search and \
             proposal_status tell",
            self.server.base
        )
    }
}

fn is_events(response: &reqwest::Response) -> bool {
    let kind = response.headers().get("content-type");
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}
