//! What a route says: data, or a refusal in Proxmox' shape.
//!
//! A refusal's message goes into the HTTP reason phrase (its first line); the body is `{"data":null}`
//! with `errors` where parameters were wrong, and from 8.4 on with `message`, whose newline is
//! Proxmox' own. What the proxy itself says (401, 595) has no body at all.

use hyper::body::Bytes;
use serde_json::{Map, Value};

use crate::proxmox::config::Release;
use crate::proxmox::rows::Row;

pub(crate) const JSON: &str = "application/json;charset=UTF-8";

pub(crate) struct ApiResponse {
    pub data: Value,
    /// How many there were before `start` and `limit`; shown unless zero.
    pub total: usize,
}

impl ApiResponse {
    pub(crate) fn new(data: Value) -> Self {
        Self { data, total: 0 }
    }
}

#[derive(Debug)]
pub(crate) struct Refusal {
    status: u16,
    message: String,
    errors: Option<Map<String, Value>>,
    body: RefusalBody,
}

#[derive(Debug, Clone, Copy)]
enum RefusalBody {
    /// From the API: JSON.
    Json,
    /// From the HTTP server, before any route: the message as text.
    Text,
    /// From the proxy or the login: nothing.
    Empty,
}

impl Refusal {
    /// A Perl `die`.
    pub(crate) fn died(message: &str) -> Self {
        Self::json(500, format!("{message}\n"))
    }

    pub(crate) fn permission(what: &str) -> Self {
        Self::json(403, format!("Permission check failed ({what})\n"))
    }

    pub(crate) fn parameter(name: &str, problem: &str) -> Self {
        Self::parameters(Map::from_iter([(name.to_owned(), problem.into())]))
    }

    pub(crate) fn parameters(errors: Map<String, Value>) -> Self {
        Self {
            errors: Some(errors),
            ..Self::json(400, "Parameter verification failed.\n".to_owned())
        }
    }

    pub(crate) fn not_implemented(method: &str, path: &str) -> Self {
        Self::json(501, format!("Method '{method} {path}' not implemented"))
    }

    pub(crate) fn login_failed() -> Self {
        Self::json(401, "authentication failure\n".to_owned())
    }

    pub(crate) fn unauthorized(message: String) -> Self {
        Self::new(401, message, RefusalBody::Empty)
    }

    /// What AnyEvent::HTTP calls a broken connection to another node: 595 while connecting, 596 later.
    pub(crate) fn proxy(status: u16, message: &str) -> Self {
        Self::new(status, message.to_owned(), RefusalBody::Empty)
    }

    pub(crate) fn server(status: u16, message: &str) -> Self {
        Self::new(status, message.to_owned(), RefusalBody::Text)
    }

    pub(crate) fn is_unauthorized(&self) -> bool {
        self.status == 401
    }

    fn json(status: u16, message: String) -> Self {
        Self::new(status, message, RefusalBody::Json)
    }

    fn new(status: u16, message: String, body: RefusalBody) -> Self {
        let errors = None;
        Self {
            status,
            message,
            errors,
            body,
        }
    }
}

/// An answer ready to be sent.
#[derive(Debug)]
pub(crate) struct Reply {
    pub status: u16,
    pub reason: Option<String>,
    pub content_type: Option<&'static str>,
    pub body: Bytes,
}

impl Reply {
    pub(crate) fn new(result: Result<ApiResponse, Refusal>, release: Release) -> Self {
        match result {
            Ok(answer) => Self::of_answer(answer),
            Err(refusal) => Self::of_refusal(refusal, release),
        }
    }

    fn of_answer(answer: ApiResponse) -> Self {
        let mut body = Row::default();
        body.set("data", answer.data);
        if answer.total > 0 {
            body.set("total", answer.total);
        }
        Self {
            status: 200,
            reason: None,
            content_type: Some(JSON),
            body: Value::from(body).to_string().into(),
        }
    }

    fn of_refusal(refusal: Refusal, release: Release) -> Self {
        let reason = refusal.message.lines().next().map(str::to_owned);
        let (content_type, body) = match refusal.body {
            RefusalBody::Empty => (None, Bytes::new()),
            RefusalBody::Text => (None, refusal.message.into()),
            RefusalBody::Json => {
                let mut body = Row::default();
                body.set("data", Value::Null);
                if let Some(errors) = refusal.errors {
                    body.set("errors", errors);
                }
                match release {
                    Release::V8_1 => {}
                    Release::V8_4 | Release::V8_4_17 => body.set("message", refusal.message),
                }
                (Some(JSON), Value::from(body).to_string().into())
            }
        };
        Self {
            status: refusal.status,
            reason,
            content_type,
            body,
        }
    }
}
