//! The Bot API of Telegram.
//!
//! The bot's token is part of every address. Addresses are made here, for one call each, and no error
//! or log line ever holds one.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use reqwest::Url;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use void_domain::actors::Surface;
use void_domain::notifications::Target;
use void_domain::secrets::Secret;
use void_domain::text;

use super::http::{Http, parse_url};
use super::{InvalidNotifier, SendError};

pub const API_URL: &str = "https://api.telegram.org";

pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Nobody is waited for longer, whatever they ask.
pub(crate) const PAUSE_MAX: Duration = Duration::from_secs(60 * 60);

pub(crate) const WORDS_BYTES_MAX: usize = 200;

#[derive(Clone)]
pub struct TelegramConfig {
    pub token: Secret,
    /// Where the Bot API is; `API_URL` unless the owner runs their own.
    pub api_url: String,
    pub proxy: Option<String>,
    /// Exactly these accounts, or whoever is paired if it is empty.
    pub allowed_users: Vec<i64>,
    /// Whether a tap may approve; if not, the chat tells and rejects.
    pub may_approve: bool,
    pub approvals_per_day: u32,
    /// How long one question for updates stays open.
    pub poll_for: Duration,
}

pub(crate) struct Bot {
    pub(crate) token: Secret,
    pub(crate) api: Url,
    pub(crate) http: Http,
    pub(crate) allowed_users: Vec<i64>,
    pub(crate) may_approve: bool,
    pub(crate) approvals_per_day: u32,
    pub(crate) poll_for: Duration,
    pub(crate) name: Mutex<Option<String>>,
}

/// What the Bot API said instead of a result.
#[derive(Debug)]
pub(crate) enum CallError {
    NoAnswer(String),
    Refused {
        code: i64,
        words: String,
        retry_after: Option<Duration>,
    },
}

impl Bot {
    pub(crate) fn new(config: TelegramConfig) -> Result<Self, InvalidNotifier> {
        let token = config.token.expose();
        let is_token = token.split_once(':').is_some_and(|(id, secret)| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
            !id.is_empty()
                && id.bytes().all(|byte| byte.is_ascii_digit())
                && !secret.is_empty()
                && secret.bytes().all(plain)
        });
        if !is_token {
            return Err(InvalidNotifier::BotToken);
        }
        let api = parse_url(&config.api_url, "telegram.api_url")?;
        Ok(Self {
            api,
            http: Http::new(config.proxy.as_deref())?,
            allowed_users: config.allowed_users,
            may_approve: config.may_approve,
            approvals_per_day: config.approvals_per_day,
            poll_for: config.poll_for,
            token: config.token,
            name: Mutex::default(),
        })
    }

    pub(crate) const fn surface(&self, user: i64) -> Surface {
        Surface::Telegram {
            user,
            may_approve: self.may_approve,
        }
    }

    pub(crate) const fn approvals_per_day(&self) -> u32 {
        self.approvals_per_day
    }

    pub(crate) fn allowed_users(&self) -> &[i64] {
        &self.allowed_users
    }

    pub(crate) fn allowed_targets(&self) -> Vec<Target> {
        let target = |user: &i64| Target::Telegram { user: *user };
        self.allowed_users.iter().map(target).collect()
    }

    /// Who may act, in words.
    pub(crate) fn policy_words(&self) -> String {
        if self.allowed_users.is_empty() {
            return "those who are paired".to_owned();
        }
        let users: Vec<String> = self.allowed_users.iter().map(ToString::to_string).collect();
        format!("only {}", users.join(", "))
    }

    /// The bot's own name, asked for once.
    pub(crate) async fn name(&self) -> Result<String, String> {
        let known = self
            .name
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some(known) = known {
            return Ok(known);
        }
        let me = self.call("getMe", json!({}), PATIENCE).await;
        let me = me.map_err(|error| error.words())?;
        let name = me
            .get("username")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if name.is_empty() || !name.bytes().all(is_name) {
            return Err("the bot has no name".to_owned());
        }
        *self.name.lock().unwrap_or_else(PoisonError::into_inner) = Some(name.to_owned());
        Ok(name.to_owned())
    }

    pub(crate) async fn call(
        &self,
        method: &str,
        params: Value,
        patience: Duration,
    ) -> Result<Value, CallError> {
        let base = self.api.as_str().trim_end_matches('/');
        let address = format!("{base}/bot{}/{method}", self.token.expose());
        let url = Url::parse(&address)
            .map_err(|_| CallError::NoAnswer("its address is not usable".to_owned()))?;
        let sent = self
            .http
            .post(url, HeaderMap::new(), params.to_string(), patience);
        let answer = sent.await.map_err(|error| CallError::NoAnswer(error.0))?;
        let mut body: Value = serde_json::from_slice(&answer.body).map_err(|_| {
            CallError::NoAnswer(format!("it answered {} and no JSON", answer.status))
        })?;
        if body.get("ok") == Some(&Value::Bool(true)) {
            return Ok(body.get_mut("result").map(Value::take).unwrap_or_default());
        }
        Err(CallError::refused(&body, answer.status, &self.token))
    }
}

impl CallError {
    pub(crate) fn refused(body: &Value, status: u16, token: &Secret) -> Self {
        let words = body
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let words = text::escaped(text::cut(words, WORDS_BYTES_MAX));
        let seconds = body
            .pointer("/parameters/retry_after")
            .and_then(Value::as_u64);
        Self::Refused {
            code: body
                .get("error_code")
                .and_then(Value::as_i64)
                .unwrap_or_else(|| i64::from(status)),
            // Whoever answers for the Bot API has seen the token; it is not repeated.
            words: words.replace(token.expose(), "[token]"),
            retry_after: seconds.map(|s| Duration::from_secs(s).min(PAUSE_MAX)),
        }
    }

    pub(crate) fn words(&self) -> String {
        match self {
            Self::NoAnswer(words) => words.clone(),
            Self::Refused { code, words, .. } => format!("{code}: {words}"),
        }
    }

    /// There is nothing left to do about this message.
    pub(crate) fn is_moot(&self) -> bool {
        let moot = [
            "message is not modified",
            "message to edit not found",
            "message can't be edited",
        ];
        matches!(self, Self::Refused { code: 400, words, .. } if moot.iter().any(|end| words.contains(end)))
    }
}

impl From<CallError> for SendError {
    fn from(error: CallError) -> Self {
        let words = error.words();
        match error {
            CallError::NoAnswer(_) => Self::Later(words),
            CallError::Refused {
                code: 429,
                retry_after,
                ..
            } => Self::Pause(retry_after.unwrap_or(Duration::from_secs(1))),
            // The bot was blocked, or nobody ever spoke to it there.
            CallError::Refused {
                code: 400 | 403, ..
            } => Self::Never(words),
            CallError::Refused {
                code: 401 | 404, ..
            } => Self::Later("telegram refused the bot's token".to_owned()),
            CallError::Refused { .. } => Self::Later(words),
        }
    }
}
