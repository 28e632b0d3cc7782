//! Standard output: answers and nothing else, each in a line. What was asked and not yet answered is
//! known, so that nobody waits for an answer that cannot come any more.

use std::io::{self, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::{Value, json};

/// What may wait for an answer; a client with more has lost count itself.
const OPEN_MAX: usize = 4_096;

/// JSON-RPC's codes: the server's own trouble, and a message that is none.
const SERVER_ERROR: i32 = -32000;
const INVALID_REQUEST: i32 = -32600;

pub(super) struct Answers {
    base: String,
    open: Mutex<Vec<Value>>,
}

/// What of a message has to be known here.
#[derive(Deserialize)]
struct Head<'a> {
    id: Option<Value>,
    #[serde(borrow)]
    method: Option<std::borrow::Cow<'a, str>>,
}

impl Answers {
    pub(super) const fn new(base: String) -> Self {
        Self {
            base,
            open: Mutex::new(Vec::new()),
        }
    }

    fn open(&self) -> MutexGuard<'_, Vec<Value>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what these lines ask.
    pub(super) fn expect(&self, lines: &[u8]) {
        let mut open = self.open();
        for id in asked(lines) {
            if open.len() < OPEN_MAX {
                open.push(id);
            }
        }
        // Whoever gives up a call waits for no answer to it.
        for id in cancelled(lines) {
            forget(&mut open, &id);
        }
    }

    /// Hands whole lines of answers on.
    pub(super) fn give(&self, lines: &[u8]) {
        let mut open = self.open();
        for line in lines.split(|byte| *byte == b'\n') {
            if let Some(id) = id_of(line) {
                forget(&mut open, &id);
            }
        }
        drop(open);
        print(lines);
    }

    /// Everything that is open, for whoever answers it. What `close` says is true from then on: nothing
    /// falls between.
    pub(super) fn take(&self, close: impl FnOnce()) -> Vec<Value> {
        let mut open = self.open();
        close();
        std::mem::take(&mut *open)
    }

    /// Answers what these lines ask as far as it is open.
    pub(super) fn give_up(&self, lines: &[u8], reason: &str) {
        for id in asked(lines) {
            let was_open = forget(&mut self.open(), &id);
            if was_open {
                self.fail(&id, reason);
            }
        }
    }

    /// Answers what these lines ask, which was never sent.
    pub(super) fn refuse(&self, lines: &[u8], reason: &str) {
        for id in asked(lines) {
            self.fail(&id, reason);
        }
    }

    pub(super) fn fail(&self, id: &Value, reason: &str) {
        self.print_error(id, SERVER_ERROR, reason);
    }

    pub(super) fn too_long(&self) {
        let reason = format!(
            "a message is at most {} bytes",
            void_domain::limits::REQUEST_BODY_BYTES_MAX
        );
        self.print_error(&Value::Null, INVALID_REQUEST, &reason);
    }

    fn print_error(&self, id: &Value, code: i32, reason: &str) {
        let error = json!({"code": code, "message": reason, "data": {"server": self.base}});
        let answer = json!({"jsonrpc": "2.0", "id": id, "error": error});
        print(format!("{answer}\n").as_bytes());
    }
}

fn forget(open: &mut Vec<Value>, id: &Value) -> bool {
    let found = open.iter().position(|known| known == id);
    if let Some(index) = found {
        open.swap_remove(index);
    }
    found.is_some()
}

/// The id of an answer. Where it stands at the beginning, the rest need not be read.
pub(super) fn id_of(line: &[u8]) -> Option<Value> {
    match line.strip_prefix(b"{\"jsonrpc\":\"2.0\",\"id\":") {
        Some(rest) => serde_json::Deserializer::from_slice(rest)
            .into_iter::<Value>()
            .next()?
            .ok(),
        None => serde_json::from_slice::<Head<'_>>(line).ok()?.id,
    }
}

/// The ids of the requests that these lines give up.
pub(super) fn cancelled(lines: &[u8]) -> impl Iterator<Item = Value> {
    #[derive(Deserialize)]
    struct Notice<'a> {
        #[serde(borrow)]
        method: std::borrow::Cow<'a, str>,
        params: Given,
    }
    #[derive(Deserialize)]
    struct Given {
        #[serde(rename = "requestId")]
        request_id: Value,
    }
    let lines = lines.split(|byte| *byte == b'\n');
    lines.filter_map(|line| {
        let notice = serde_json::from_slice::<Notice<'_>>(line).ok()?;
        (notice.method == "notifications/cancelled").then_some(notice.params.request_id)
    })
}

/// The ids of the requests among these lines.
pub(super) fn asked(lines: &[u8]) -> impl Iterator<Item = Value> {
    let lines = lines.split(|byte| *byte == b'\n');
    lines.filter_map(|line| {
        let head = serde_json::from_slice::<Head<'_>>(line).ok()?;
        head.method.and(head.id)
    })
}

/// A client that no longer listens is about to end us; what it misses is its own.
fn print(lines: &[u8]) {
    let mut output = io::stdout().lock();
    let _ = output.write_all(lines).and_then(|()| output.flush());
}
