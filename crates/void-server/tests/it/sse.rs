//! A listener of the event stream.

use std::time::Duration;

use reqwest::Method;
use serde_json::Value;
use void_domain::events::EventId;

use crate::callers::Caller;

const PATIENCE: Duration = Duration::from_secs(30);

pub struct Listener {
    caller: Caller,
    response: reqwest::Response,
    unread: String,
    /// Comment lines so far: the heartbeat.
    pub heartbeats: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    pub seq: u64,
    pub event: String,
    pub data: Value,
}

impl Listener {
    /// Listens from now on.
    pub async fn open(caller: &Caller) -> Self {
        Self::at(caller, "/api/events", None).await
    }

    pub async fn after(caller: &Caller, seq: u64) -> Self {
        Self::at(caller, &format!("/api/events?after={seq}"), None).await
    }

    /// As a browser comes back.
    pub async fn resume(caller: &Caller, seq: u64) -> Self {
        Self::at(caller, "/api/events", Some(seq)).await
    }

    async fn at(caller: &Caller, path: &str, last_event_id: Option<u64>) -> Self {
        let mut request = caller.request(Method::GET, path);
        if let Some(seq) = last_event_id {
            request = request.header("last-event-id", seq);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["cache-control"], "no-store");
        let mut listener = Self {
            caller: caller.clone(),
            response,
            unread: String::new(),
            heartbeats: 0,
        };
        // The first thing sent: from here on nothing is missed.
        assert_eq!(listener.block().await.as_deref(), Some("retry: 2000"));
        listener
    }

    /// The next event; `None` once the server has ended the stream.
    pub async fn next(&mut self) -> Option<Heard> {
        let listening = async {
            loop {
                let block = self.block().await?;
                if block.starts_with(':') {
                    self.heartbeats += 1;
                    continue;
                }
                return Some(self.parse(&block));
            }
        };
        let heard = tokio::time::timeout(PATIENCE, listening).await;
        heard.expect("something to hear")
    }

    /// Everything up to and including the event with this number.
    pub async fn until(&mut self, seq: u64) -> Vec<Heard> {
        let mut heard = Vec::new();
        while heard.last().is_none_or(|last: &Heard| last.seq < seq) {
            heard.push(self.next().await.expect("the stream goes on"));
        }
        heard
    }

    /// The first event of this kind; what came before it is dropped.
    pub async fn wait_for(&mut self, event: &str) -> Heard {
        loop {
            let heard = self.next().await.expect("the stream goes on");
            if heard.event == event {
                return heard;
            }
        }
    }

    /// The next heartbeat, or the end.
    pub async fn heartbeat_or_end(&mut self) -> Option<()> {
        let before = self.heartbeats;
        while self.heartbeats == before {
            if self.block().await?.starts_with(':') {
                self.heartbeats += 1;
            }
        }
        Some(())
    }

    async fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.unread.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.unread = rest;
                assert_eq!(self.caller.secrets.found_in(&block), None, "in an event");
                return Some(block);
            }
            let chunk = self.response.chunk().await.ok().flatten()?;
            self.unread.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    fn parse(&self, block: &str) -> Heard {
        let mut lines = block.lines();
        let mut field = |name: &str| {
            let line = lines.next().unwrap_or_default();
            let value = line
                .strip_prefix(name)
                .and_then(|rest| rest.strip_prefix(": "));
            value
                .unwrap_or_else(|| panic!("{name} expected: {block}"))
                .to_owned()
        };
        let heard = Heard {
            // Below the number from which on there is one numbering, it says which.
            seq: field("id").parse::<EventId>().unwrap().seq,
            event: field("event"),
            data: serde_json::from_str(&field("data")).unwrap(),
        };
        assert_eq!(lines.next(), None, "{block}");
        crate::openapi::assert_event(&heard.event, &heard.data);
        heard
    }
}

pub fn numbers(heard: &[Heard]) -> Vec<u64> {
    heard.iter().map(|heard| heard.seq).collect()
}
