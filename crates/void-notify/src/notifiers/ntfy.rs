//! The HTTP interface of an ntfy server.
//!
//! Messages are published as JSON, so that nothing in them is parsed as an action or a header.

use std::time::Duration;

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde_json::{Value, json};
use void_domain::actors::Surface;
use void_domain::secrets::Secret;

use super::http::{Http, parse_url};
use super::{InvalidNotifier, SendError, is_plain_token};

pub(crate) const PATIENCE: Duration = Duration::from_secs(15);

#[derive(Clone)]
pub struct NtfyConfig {
    /// `https://ntfy.sh/my-topic`
    pub url: String,
    pub token: Option<Secret>,
    pub may_approve: bool,
}

pub(crate) struct Ntfy {
    pub(crate) server: Url,
    pub(crate) topic: String,
    pub(crate) headers: HeaderMap,
    pub(crate) may_approve: bool,
    pub(crate) http: Http,
}

impl Ntfy {
    pub(crate) fn new(config: NtfyConfig) -> Result<Self, InvalidNotifier> {
        let mut server = parse_url(&config.url, "the ntfy address")?;
        if server.query().is_some() {
            return Err(InvalidNotifier::Address("the ntfy address"));
        }
        let path = server.path().trim_matches('/').to_owned();
        let (before, topic) = path.rsplit_once('/').unwrap_or(("", &path));
        let is_topic = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if topic.is_empty() || topic.len() > 64 || !topic.bytes().all(is_topic) {
            return Err(InvalidNotifier::Topic);
        }
        if config.may_approve && config.token.is_none() {
            return Err(InvalidNotifier::OpenTopic);
        }
        let mut headers = HeaderMap::new();
        if let Some(token) = &config.token {
            let problem = InvalidNotifier::Token("ntfy.token");
            if !is_plain_token(token) {
                return Err(problem);
            }
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose()))
                .map_err(|_| problem)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let topic = topic.to_owned();
        server.set_path(before);
        Ok(Self {
            server,
            topic,
            headers,
            may_approve: config.may_approve,
            http: Http::new(None)?,
        })
    }

    pub(crate) const fn surface(&self) -> Surface {
        Surface::Ntfy {
            may_approve: self.may_approve,
        }
    }

    pub(crate) fn address(&self) -> String {
        let server = self.server.as_str().trim_end_matches('/');
        format!("{server}/{}", self.topic)
    }

    pub(crate) async fn publish(&self, mut message: Value) -> Result<Option<String>, SendError> {
        if let Value::Object(members) = &mut message {
            members.insert("topic".to_owned(), json!(self.topic));
        }
        let sent = self.http.post(
            self.server.clone(),
            self.headers.clone(),
            message.to_string(),
            PATIENCE,
        );
        let answer = sent.await.map_err(|error| SendError::Later(error.0))?;
        let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        match answer.status {
            200 => Ok(body.get("id").and_then(Value::as_str).map(str::to_owned)),
            429 => Err(SendError::Pause(Duration::from_secs(30))),
            401 | 403 => Err(SendError::Never("ntfy refused the token".to_owned())),
            status => Err(SendError::Later(format!("ntfy answered {status}"))),
        }
    }
}
