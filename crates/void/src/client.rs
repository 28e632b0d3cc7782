//! Talking to the server: the command line is a caller like any other, with the owner's token or an
//! agent's.

mod events;

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::Value;
use void_domain::secrets::Secret;

pub(crate) use self::events::{Event, Events};
use crate::exit::{Exit, Problem};
use crate::settings::{Environment, Settings};

/// Longer than the longest wait that can be asked for.
const TIMEOUT: Duration = Duration::from_secs(330);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct Client {
    http: reqwest::Client,
    base: String,
    token: Option<Secret>,
}

impl Client {
    pub(crate) fn new(
        url: Option<&str>,
        settings: &Settings,
        environment: &Environment,
    ) -> Result<Self, Problem> {
        let base = url
            .map(str::to_owned)
            .or_else(|| {
                environment
                    .get("VOID_API_URL")
                    .filter(|url| !url.is_empty())
                    .map(str::to_owned)
            })
            .unwrap_or_else(|| local_url(settings));
        let base = server_url(&base)?;
        let token = match settings.stored_owner_token(environment)? {
            Some(token) => Some(token),
            None => environment
                .get("VOID_AGENT_TOKEN")
                .filter(|token| !token.is_empty())
                .map(Secret::new),
        };
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| {
                Problem::failed("internal", format!("the HTTP client cannot start: {error}"))
            })?;
        Ok(Self { http, base, token })
    }

    /// The same server for another caller.
    pub(crate) fn with_token(&self, token: &str) -> Self {
        Self {
            http: self.http.clone(),
            base: self.base.clone(),
            token: Some(Secret::new(token)),
        }
    }

    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Value, Problem> {
        self.call(Method::GET, path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Result<Value, Problem> {
        self.call(Method::POST, path, Some(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Result<Value, Problem> {
        self.call(Method::DELETE, path, None).await
    }

    async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<Value, Problem> {
        let mut request = self.request(method, path).timeout(TIMEOUT);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request
            .send()
            .await
            .map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        let text = response
            .text()
            .await
            .map_err(|error| self.unreachable(&error))?;
        let value: Value = serde_json::from_str(&text).map_err(|_| {
            Problem::failed(
                "bad_answer",
                format!("{} did not answer as Void does ({status})", self.base),
            )
        })?;
        if status.is_success() {
            Ok(value)
        } else {
            Err(problem(status, &value))
        }
    }

    /// Events as they come, after the last one that was heard.
    pub(crate) async fn events(&self, path: &str, last: Option<&str>) -> Result<Events, Problem> {
        let mut request = self.request(Method::GET, path);
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        self.open(request).await.map(Events::new)
    }

    /// A body that is read as it comes.
    pub(crate) async fn stream(&self, path: &str) -> Result<reqwest::Response, Problem> {
        self.open(self.request(Method::GET, path)).await
    }

    async fn open(&self, request: reqwest::RequestBuilder) -> Result<reqwest::Response, Problem> {
        let response = request
            .send()
            .await
            .map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let value: Value = response.json().await.unwrap_or_default();
        Err(problem(status, &value))
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let mut request = self
            .http
            .request(method, format!("{}{path}", self.base))
            .header("x-void-surface", "cli");
        if let Some(token) = &self.token {
            request = request.bearer_auth(token.expose());
        }
        request
    }

    fn unreachable(&self, error: &reqwest::Error) -> Problem {
        let reason = if error.is_timeout() {
            "no answer in time"
        } else {
            "no answer"
        };
        Problem::new(
            Exit::Unreachable,
            "unreachable",
            format!("{reason} from {}", self.base),
        )
        .next("void serve, or point --url at the server that runs")
    }
}

/// An address of a server, as far as that can be seen.
pub(crate) fn server_url(base: &str) -> Result<String, Problem> {
    let base = base.trim_end_matches('/');
    let http = base.starts_with("http://") || base.starts_with("https://");
    if http && base.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(base.to_owned());
    }
    Err(Problem::usage(format!(
        "\"{base}\" is not an address of a server; it begins with http:// or https://"
    )))
}

/// The server of these settings, on this machine.
pub(crate) fn local_url(settings: &Settings) -> String {
    let mut address = settings.listen.value;
    if address.ip().is_unspecified() {
        address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    }
    format!("http://{address}")
}

/// The server's error as an exit: its code says which.
fn problem(status: StatusCode, body: &Value) -> Problem {
    let text = |name: &str| {
        body.pointer(&format!("/error/{name}"))
            .and_then(Value::as_str)
    };
    let code = text("code").unwrap_or("unknown").to_owned();
    let message =
        text("message").map_or_else(|| format!("the server answered {status}"), str::to_owned);
    let exit = match (status, code.as_str()) {
        (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _) => Exit::NotAllowed,
        (StatusCode::NOT_FOUND, "unknown_action") => Exit::Refused,
        (StatusCode::NOT_FOUND, _) => Exit::NotFound,
        (StatusCode::CONFLICT, "already_decided" | "expired") => Exit::Rejected,
        (StatusCode::CONFLICT | StatusCode::TOO_MANY_REQUESTS, _) => Exit::Refused,
        (StatusCode::UNPROCESSABLE_ENTITY, _) => Exit::Usage,
        (StatusCode::SERVICE_UNAVAILABLE, _) => Exit::Unreachable,
        _ => Exit::Failed,
    };
    let problem = Problem::new(exit, code, message);
    match (text("hint"), exit) {
        (Some(hint), _) => problem.next(hint),
        (None, Exit::NotAllowed) => {
            problem.next("set OWNER_TOKEN, or run this where the server's data folder is")
        }
        (None, _) => problem,
    }
}
