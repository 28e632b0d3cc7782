//! The gateway: models for a program that works in a turn and must not have the key.
//!
//! The program shows the turn's pass and asks as if this were the provider. What goes on to the provider
//! is built here from what was asked: the agent's own model, never more output than the turn has left,
//! only Void's tools, only fields and headers that are listed. What comes back goes through as it comes,
//! is counted on the way, and ends with the turn. One call at a time, so that the budget holds.

mod requests;
mod streams;

use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde_json::{Value, json};
use tokio::sync::mpsc;

pub use self::requests::Asked;
pub use self::streams::Torn;
use crate::brains::{
    BrainConfig, BrainError, Endpoint, InvalidBrain, KeyHeader, Meter, NO_CALLS_LEFT,
    NO_TOKENS_LEFT, words_of,
};
use crate::turns::{ModelCall, NoModelCall, Pass};

/// A whole conversation with its tool results, as the program sends it with every call.
pub const GATEWAY_BODY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Pieces of an answer that wait for a slow reader.
const PIECES_MAX: usize = 16;
const API_VERSION: &str = "2023-06-01";

/// Where one agent's model is, and with which key.
#[derive(Debug)]
pub struct Gateway {
    messages: Endpoint,
    count_tokens: Endpoint,
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatewayQuestion {
    Message,
    CountTokens,
}

/// What the provider answers, as far as it is passed on.
#[derive(Debug)]
pub struct Forwarded {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: mpsc::Receiver<Result<Vec<u8>, Torn>>,
}

#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    #[error("{NO_TOKENS_LEFT}")]
    NoTokensLeft,
    #[error("{NO_CALLS_LEFT}")]
    NoCallsLeft,
    #[error("the turn is over")]
    Over,
    #[error("the request {0}")]
    Invalid(&'static str),
    #[error(transparent)]
    Unanswered(BrainError),
}

/// Headers of an answer that the program has a use for.
const ANSWER_HEADERS: [&str; 4] = [
    "content-type",
    "request-id",
    "retry-after",
    "x-should-retry",
];

impl Gateway {
    pub fn new(config: BrainConfig) -> Result<Self, InvalidBrain> {
        let endpoint = |path: &str| {
            let key_header = KeyHeader::Named("x-api-key");
            let endpoint = Endpoint::new("Anthropic", path, config.clone(), &key_header)?;
            Ok(endpoint.with_header("anthropic-version", API_VERSION))
        };
        Ok(Self {
            messages: endpoint("/v1/messages")?,
            count_tokens: endpoint("/v1/messages/count_tokens")?,
        })
    }

    /// Asks the provider in the name of a turn.
    pub async fn forward(
        &self,
        pass: &Pass,
        question: GatewayQuestion,
        asked: Asked,
    ) -> Result<Forwarded, GatewayError> {
        let call = pass.model_call().await?;
        let endpoint = match question {
            GatewayQuestion::Message => &self.messages,
            GatewayQuestion::CountTokens => &self.count_tokens,
        };
        let left = pass.output_tokens_left();
        if question == GatewayQuestion::Message && left == 0 {
            return Err(GatewayError::NoTokensLeft);
        }
        let headers = asked.headers();
        let body = requests::body(question, asked.body, &endpoint.model, left)?;
        let (is_streamed, body) = (
            body.get("stream") == Some(&Value::Bool(true)),
            body.to_string(),
        );
        let meter = match question {
            GatewayQuestion::CountTokens => Meter::free(),
            GatewayQuestion::Message if is_streamed => Meter::of_stream(body.len()),
            GatewayQuestion::Message => Meter::of_object(body.len()),
        };
        let answered = tokio::select! {
            () = pass.over() => return Err(GatewayError::Over),
            answered = endpoint.forward(headers, body.into_bytes()) => answered,
        };
        let response = answered.map_err(GatewayError::Unanswered)?;
        if response.status().is_success() {
            return Ok(pass_on(endpoint, response, call, meter));
        }
        drop(call);
        Ok(refuse(endpoint, response).await)
    }
}

fn pass_on(
    endpoint: &Endpoint,
    response: reqwest::Response,
    call: ModelCall,
    meter: Meter,
) -> Forwarded {
    let (pieces, body) = mpsc::channel(PIECES_MAX);
    let status = response.status().as_u16();
    let headers = passed_on(response.headers());
    let silence_max = endpoint.patience.read;
    tokio::spawn(streams::pump(response, call, meter, silence_max, pieces));
    Forwarded {
        status,
        headers,
        body,
    }
}

/// A refusal goes through, but nothing about the key does: some providers repeat parts of it.
async fn refuse(endpoint: &Endpoint, mut response: reqwest::Response) -> Forwarded {
    let status = response.status().as_u16();
    let said = words_of(&mut response).await;
    let is_about_key = status == 401 || status == 403;
    let is_secret = endpoint.key_is_in(&String::from_utf8_lossy(&said));
    // Redirects are not followed, by nobody.
    let is_strange = !(400..=599).contains(&status);
    let said = if is_about_key || is_secret || is_strange {
        let message = format!("the provider refuses Void's request ({status})");
        let error = json!({"type": "api_error", "message": message});
        json!({"type": "error", "error": error})
            .to_string()
            .into_bytes()
    } else {
        said
    };
    let (pieces, body) = mpsc::channel(1);
    // There is room for one.
    let _ = pieces.try_send(Ok(said));
    let mut headers = passed_on(response.headers());
    headers.retain(|(name, _)| *name != CONTENT_TYPE.as_str());
    headers.push(("content-type", "application/json".to_owned()));
    Forwarded {
        status: if is_strange { 502 } else { status },
        headers,
        body,
    }
}

fn passed_on(headers: &HeaderMap) -> Vec<(&'static str, String)> {
    let named = ANSWER_HEADERS.into_iter().filter_map(|name| {
        let value = headers.get(name)?.to_str().ok()?;
        Some((name, value.to_owned()))
    });
    named.collect()
}

impl From<NoModelCall> for GatewayError {
    fn from(none: NoModelCall) -> Self {
        match none {
            NoModelCall::Over => Self::Over,
            NoModelCall::NoneLeft => Self::NoCallsLeft,
        }
    }
}
