//! A stream of server-sent events, read one by one.

use reqwest::Response;
use serde_json::Value;
use void_domain::failures::FailureCode;

use crate::exit::CommandError;

/// No event of ours is longer; more without an end is not a stream of ours.
const EVENT_BYTES_MAX: usize = 4 * 1024 * 1024;

pub(crate) struct Events {
    response: Response,
    unread: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Event {
    /// Where to go on after it.
    pub id: Option<String>,
    pub name: String,
    pub data: Value,
}

impl Events {
    pub(super) const fn new(response: Response) -> Self {
        Self {
            response,
            unread: Vec::new(),
        }
    }

    /// The next event; `None` when the server has ended the stream.
    pub(crate) async fn next(&mut self) -> Result<Option<Event>, CommandError> {
        loop {
            while let Some(end) = self.unread.windows(2).position(|pair| pair == b"\n\n") {
                let rest = self.unread.split_off(end + 2);
                let block = std::mem::replace(&mut self.unread, rest);
                // Whole blocks are cut at line ends, so no letter is torn here.
                if let Some(event) = parse(&String::from_utf8_lossy(&block)) {
                    return Ok(Some(event));
                }
            }
            match self.response.chunk().await {
                Ok(Some(chunk)) => self.unread.extend_from_slice(&chunk),
                Ok(None) => return Ok(None),
                Err(_) => return Err(broken("the stream of events broke off")),
            }
            if self.unread.len() > EVENT_BYTES_MAX {
                return Err(broken("the server does not speak as Void does"));
            }
        }
    }
}

fn broken(message: &str) -> CommandError {
    CommandError::new(FailureCode::Unreachable, message)
}

fn parse(block: &str) -> Option<Event> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
    Some(Event {
        id: field("id: ").map(str::to_owned),
        name: field("event: ")?.to_owned(),
        data: serde_json::from_str(field("data: ")?).ok()?,
    })
}
