//! One call to the API: connect, send, read, all bounded. Says whether a call that failed can have
//! arrived. Redirects are answers like any other: nothing is ever sent anywhere else.

use std::convert::Infallible;

use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::ext::ReasonPhrase;
use hyper::header::{AUTHORIZATION, DATE, HOST};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use void_domain::failures::FailureCode;
use void_domain::proposals::Failure;
use void_domain::text;
use void_domain::time::Timestamp;

use super::config::ProxmoxConfig;
use super::connections;
use super::refusals::ProxmoxRefusal;

const BODY_BYTES_MAX: usize = 8 * 1024 * 1024;
const WORDS_BYTES_MAX: usize = 300;

pub(super) struct Client {
    pub config: ProxmoxConfig,
}

/// What was wrong with a call.
#[derive(Debug, Clone)]
pub(super) enum CallError {
    /// It certainly did not leave.
    NotSent(Failure),
    /// It may have arrived, and may still do its work.
    Lost(Failure),
    /// Proxmox answered, and it was not yes.
    Refused(ProxmoxRefusal),
}

/// An answer with the moment at which Proxmox gave it, by its own clock.
pub(super) struct ApiResponse {
    pub data: Value,
    pub their_time: Option<Timestamp>,
}

struct Read {
    status: u16,
    words: String,
    their_time: Option<Timestamp>,
    body: Bytes,
}

impl Client {
    pub(super) fn now(&self) -> Timestamp {
        (self.config.now)()
    }

    /// How far their clock is ahead of ours, to a second.
    pub(super) fn ahead_ms(&self, answer: &ApiResponse) -> Result<i64, Failure> {
        let theirs = answer.their_time.ok_or_else(|| {
            let message = format!("{} does not say what time it is", self.config.address);
            Failure::new(FailureCode::BadAnswer, message)
        })?;
        Ok(theirs.as_ms().saturating_sub(self.now().as_ms()))
    }

    pub(super) async fn get(&self, path: &str) -> Result<Value, CallError> {
        let answer = self.call(Method::GET, path, || Ok(())).await?;
        Ok(answer.data)
    }

    pub(super) async fn get_with_time(&self, path: &str) -> Result<ApiResponse, CallError> {
        self.call(Method::GET, path, || Ok(())).await
    }

    /// `gate` is asked when the connection stands, right before the first byte of the request.
    pub(super) async fn post(
        &self,
        path: &str,
        gate: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<Value, CallError> {
        let answer = self.call(Method::POST, path, gate).await?;
        Ok(answer.data)
    }

    async fn call(
        &self,
        method: Method,
        path: &str,
        gate: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<ApiResponse, CallError> {
        let config = &self.config;
        let request = self.request(method, path).map_err(CallError::NotSent)?;
        let opened = connections::open(&config.address, &config.tls, config.patience.connect).await;
        let stream = opened.map_err(|why| CallError::NotSent(why.into_failure(&config.address)))?;
        let shaken = http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) =
            shaken.map_err(|error| CallError::NotSent(self.broken(&error.to_string())))?;
        gate().map_err(CallError::NotSent)?;
        let exchange = async {
            let sent = sender.send_request(request).await;
            let response = sent.map_err(|error| self.broken(&error.to_string()))?;
            self.read(response).await
        };
        // Not a task of its own: with this future the connection ends too, whoever drops it.
        let driven = async {
            let _ = connection.await;
            std::future::pending::<Infallible>().await
        };
        let both = async {
            tokio::select! {
                answered = exchange => answered,
                never = driven => match never {},
            }
        };
        match tokio::time::timeout(config.patience.call, both).await {
            Err(_) => Err(CallError::Lost(self.late())),
            Ok(Err(failure)) => Err(CallError::Lost(failure)),
            Ok(Ok(read)) => self.judge(read),
        }
    }

    fn request(&self, method: Method, path: &str) -> Result<Request<Empty<Bytes>>, Failure> {
        Request::builder()
            .method(method)
            .uri(format!("/api2/json{path}"))
            .header(HOST, self.config.address.to_string())
            .header(AUTHORIZATION, self.config.token.authorization.clone())
            .body(Empty::new())
            .map_err(|error| {
                let message = format!("no request can be made of {}: {error}", escape(path));
                Failure::new(FailureCode::BadRequest, message)
            })
    }

    async fn read(&self, response: Response<Incoming>) -> Result<Read, Failure> {
        let status = response.status();
        let phrase = response.extensions().get::<ReasonPhrase>();
        let words = match phrase {
            Some(phrase) => String::from_utf8_lossy(phrase.as_bytes()).into_owned(),
            None => status.canonical_reason().unwrap_or_default().to_owned(),
        };
        let date = response.headers().get(DATE);
        let their_time = date.and_then(|date| Timestamp::parse_http_date(date.to_str().ok()?));
        let body = Limited::new(response.into_body(), BODY_BYTES_MAX);
        let body = body.collect().await;
        let body = body.map_err(|error| self.broken(&error.to_string()))?;
        Ok(Read {
            status: status.as_u16(),
            words,
            their_time,
            body: body.to_bytes(),
        })
    }

    fn judge(&self, read: Read) -> Result<ApiResponse, CallError> {
        let Read {
            status,
            words,
            their_time,
            body,
        } = read;
        let token = &self.config.token;
        if token.is_repeated_in(words.as_bytes()) || token.is_repeated_in(&body) {
            let message = format!("{} repeats the token in its answer", self.config.address);
            return Err(CallError::Lost(Failure::new(
                FailureCode::BadAnswer,
                message,
            )));
        }
        let parsed: Option<Value> = serde_json::from_slice(&body).ok();
        match status {
            200..=299 => {
                let data = parsed.and_then(|mut value| value.get_mut("data").map(Value::take));
                let data = data.ok_or_else(|| {
                    let message =
                        format!("{} does not answer as Proxmox does", self.config.address);
                    CallError::Lost(Failure::new(FailureCode::BadAnswer, message))
                })?;
                Ok(ApiResponse { data, their_time })
            }
            // It reached the node, or a proxy in between gave up: who knows how far the call came.
            502..=504 | 596..=599 => {
                let message = format!(
                    "Proxmox lost the connection to the node: {status} {}",
                    escape(&words)
                );
                Err(CallError::Lost(Failure::new(
                    FailureCode::NodeLost,
                    message,
                )))
            }
            _ => Err(CallError::Refused(ProxmoxRefusal::new(
                status,
                &words,
                parsed.as_ref(),
            ))),
        }
    }

    fn late(&self) -> Failure {
        let (address, limit) = (&self.config.address, self.config.patience.call);
        let message = format!("Proxmox at {address} did not answer within {limit:?}");
        Failure::new(FailureCode::Timeout, message)
    }

    fn broken(&self, why: &str) -> Failure {
        let message = format!(
            "the connection to Proxmox at {} broke: {}",
            self.config.address,
            escape(why)
        );
        Failure::new(FailureCode::ConnectionLost, message)
    }
}

impl CallError {
    /// For calls that change nothing, it does not matter how far they came.
    pub(super) fn into_failure(self, about: &str) -> Failure {
        match self {
            Self::NotSent(failure) | Self::Lost(failure) => failure,
            Self::Refused(refused) => refused.to_failure(about),
        }
    }
}

pub(super) fn escape(words: &str) -> String {
    text::escaped(text::cut(words.trim(), WORDS_BYTES_MAX))
}
