//! Servers that take what is posted to them: an ntfy server with its phone, and receivers of webhooks.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use crate::http::{HttpServer, Reply, Request};

/// Takes everything, unless told otherwise, and remembers it.
pub struct Receiver {
    server: HttpServer,
    shared: Arc<Taken>,
}

#[derive(Default)]
struct Taken {
    requests: Mutex<Vec<Request>>,
    replies: Mutex<VecDeque<Reply>>,
}

impl Receiver {
    pub fn start() -> Self {
        let shared = Arc::new(Taken::default());
        let served = Arc::clone(&shared);
        let server = HttpServer::start(
            0,
            Arc::new(move |request| {
                let taken = Arc::clone(&served);
                Box::pin(async move { take(&taken, request) })
            }),
        );
        Self { server, shared }
    }

    pub fn url(&self) -> String {
        self.server.url()
    }

    pub fn set_down(&self, down: bool) {
        self.server.set_down(down);
    }

    /// What it says next, in order; after that it is content with everything again.
    pub fn reply(&self, replies: impl IntoIterator<Item = Reply>) {
        let mut queue = self
            .shared
            .replies
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        queue.extend(replies);
    }

    pub fn requests(&self) -> Vec<Request> {
        let requests = self
            .shared
            .requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        requests.clone()
    }

    /// The JSON bodies alone.
    pub fn bodies(&self) -> Vec<Value> {
        self.requests().iter().map(Request::json).collect()
    }

    /// The body that an ntfy action of this label posts, and where; from the newest message that has it.
    pub fn action(&self, label: &str) -> Option<Value> {
        let bodies = self.bodies();
        let mut actions = bodies
            .iter()
            .rev()
            .flat_map(|body| body["actions"].as_array().into_iter().flatten());
        actions.find(|action| action["label"] == label).cloned()
    }
}

fn take(taken: &Taken, request: Request) -> Reply {
    let mut requests = taken
        .requests
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    requests.push(request);
    let id = format!("m{}", requests.len());
    let mut replies = taken.replies.lock().unwrap_or_else(PoisonError::into_inner);
    replies
        .pop_front()
        .unwrap_or_else(|| Reply::Json(200, json!({"id": id, "event": "message"})))
}
