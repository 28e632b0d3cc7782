//! Closed-loop load: every client asks, waits for its answer, asks again. What a client asks for can
//! always be done at once, because its actions and their targets are its own.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::Outcome;
use crate::http::{self, Connection};
use crate::statistics::Round;

/// How many wishes a client has before it would repeat those of the next crowd's.
const WISHES_MAX: u64 = 10_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Operation {
    /// A risky wish is stored and waits.
    Queue,
    /// It is approved, runs on the stub channel, and the answer says that it was executed.
    Approve,
    /// A safe wish runs on the stub channel.
    Run,
}

impl Operation {
    pub(crate) const ALL: [Self; 3] = [Self::Queue, Self::Approve, Self::Run];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Approve => "approve",
            Self::Run => "run",
        }
    }

    /// What an answer must contain to count.
    const fn proof(self) -> &'static [u8] {
        match self {
            Self::Queue => b"\"queued\":true",
            Self::Approve => b"\"status\":\"executed\"",
            Self::Run => b"\"executed\":true",
        }
    }
}

struct Client {
    index: usize,
    connection: Connection,
    /// Makes each risky wish a new one: equal wishes would join.
    wishes: u64,
    /// What this client queued and has not approved.
    waiting: VecDeque<String>,
}

impl Client {
    fn request(&mut self, operation: Operation) -> Option<Vec<u8>> {
        let index = self.index;
        Some(match operation {
            Operation::Queue => {
                self.wishes += 1;
                let body = format!(
                    r#"{{"params":{{"n":{}}},"reason":"it does not answer since the upgrade"}}"#,
                    self.wishes
                );
                http::request("POST", &format!("/api/actions/risky-{index}/run"), &body)
            }
            Operation::Approve => {
                let id = self.waiting.pop_front()?;
                let path = format!("/api/actions/pending/{id}/approve");
                http::request("POST", &path, "{}")
            }
            Operation::Run => {
                http::request("POST", &format!("/api/actions/safe-{index}/run"), "{}")
            }
        })
    }

    async fn ask(&mut self, operation: Operation, request: &[u8]) -> Outcome<()> {
        let answer = self.connection.call(request).await?;
        if answer.status != 200 || !http::contains(answer.body, operation.proof()) {
            let body = String::from_utf8_lossy(answer.body);
            return Err(format!("{}: {} {body}", operation.as_str(), answer.status).into());
        }
        if operation == Operation::Queue {
            let id = row_id(answer.body).ok_or("an answer without a row")?;
            self.waiting.push_back(id);
        }
        Ok(())
    }

    async fn work(
        &mut self,
        operation: Operation,
        until: Instant,
        over: &AtomicBool,
    ) -> Outcome<Vec<u32>> {
        let mut micros = Vec::new();
        while Instant::now() < until && !over.load(Ordering::Relaxed) {
            let Some(request) = self.request(operation) else {
                // Whoever has nothing left would make the others' rate look like that of fewer clients.
                over.store(true, Ordering::Relaxed);
                break;
            };
            let asked = Instant::now();
            self.ask(operation, &request).await?;
            micros.push(u32::try_from(asked.elapsed().as_micros()).unwrap_or(u32::MAX));
        }
        Ok(micros)
    }
}

fn row_id(body: &[u8]) -> Option<String> {
    let text = str::from_utf8(body).ok()?;
    let (_, rest) = text.split_once("\"action_row_id\":\"")?;
    rest.split('"').next().map(str::to_owned)
}

/// All clients of one server.
pub(crate) struct Crowd {
    clients: Vec<Client>,
    /// All that was ever answered, by operation.
    pub answers: Answers,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answers {
    pub queue: usize,
    pub approve: usize,
    pub run: usize,
}

impl Answers {
    fn add(&mut self, operation: Operation, count: usize) {
        match operation {
            Operation::Queue => self.queue += count,
            Operation::Approve => self.approve += count,
            Operation::Run => self.run += count,
        }
    }
}

impl Crowd {
    pub(crate) async fn open(address: SocketAddr, clients: usize) -> Outcome<Self> {
        Self::open_from(address, 0, clients).await
    }

    /// The actions of these clients begin with that of `first`: two crowds at once share no target.
    pub(crate) async fn open_from(
        address: SocketAddr,
        first: usize,
        clients: usize,
    ) -> Outcome<Self> {
        static CROWDS: AtomicU64 = AtomicU64::new(0);
        let mut connections = Vec::with_capacity(clients);
        for _ in 0..clients {
            connections.push(Connection::open(address).await?);
        }
        // Counted once it stands: whoever waits for a server tries many times.
        let first_wish = CROWDS.fetch_add(1, Ordering::Relaxed) * WISHES_MAX;
        let clients = connections.into_iter().enumerate();
        let client = |(index, connection)| Client {
            index: first + index,
            connection,
            wishes: first_wish,
            waiting: VecDeque::new(),
        };
        Ok(Self {
            clients: clients.map(client).collect(),
            answers: Answers::default(),
        })
    }

    pub(crate) const fn len(&self) -> usize {
        self.clients.len()
    }

    /// For so long, or until a client has nothing left to approve.
    pub(crate) async fn round(
        &mut self,
        operation: Operation,
        duration: Duration,
    ) -> Outcome<Round> {
        self.round_until(operation, duration, Arc::default()).await
    }

    /// The same, or until somebody says that it is over.
    pub(crate) async fn round_until(
        &mut self,
        operation: Operation,
        duration: Duration,
        over: Arc<AtomicBool>,
    ) -> Outcome<Round> {
        let begun = Instant::now();
        let mut tasks = JoinSet::new();
        for mut client in self.clients.drain(..) {
            let over = Arc::clone(&over);
            tasks.spawn(async move {
                let worked = client.work(operation, begun + duration, &over).await;
                (client, worked)
            });
        }
        let mut micros = Vec::new();
        for (client, worked) in tasks.join_all().await {
            micros.extend(worked?);
            self.clients.push(client);
        }
        self.answers.add(operation, micros.len());
        Ok(Round::new(micros, begun.elapsed()))
    }
}
