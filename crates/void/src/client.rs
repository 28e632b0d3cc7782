//! Talking to the server: the command line is a caller like any other, with the owner's token or an
//! agent's. Nobody there, somebody else there, and a token that is not known are three different problems.

mod events;
pub(crate) mod plain_http;

use std::net::SocketAddr;
use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use void_api::errors::ErrorResponse;
use void_domain::failures::{AnyCode, FailureCode};
use void_domain::secrets::Secret;

pub(crate) use self::events::{Event, Events};
use crate::exit::{CommandError, Exit};
use crate::running;
use crate::settings::{Environment, Settings};

/// Longer than the longest wait that can be asked for.
const TIMEOUT: Duration = Duration::from_secs(330);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const RENAME: &str = "point --url (VOID_API_URL) at the server that runs, or leave it out for the one of the data folder";
/// What every answer of Void's has, see void-server/src/fence.rs.
const MARK: &str = "x-void";

pub(crate) struct Client {
    http: reqwest::Client,
    base: String,
    token: Option<Secret>,
    /// Where the token comes from, in words.
    token_source: String,
    /// Whether its address was named, and not found by the data folder: a server that is started listens elsewhere.
    is_named: bool,
}

impl Client {
    pub(crate) fn new(
        url: Option<&str>,
        settings: &Settings,
        environment: &Environment,
    ) -> Result<Self, CommandError> {
        let named = url.map(str::to_owned).or_else(|| {
            environment
                .get("VOID_API_URL")
                .filter(|url| !url.is_empty())
                .map(str::to_owned)
        });
        let is_named = named.is_some();
        let base = match named {
            Some(named) => {
                let base = server_url(&named)?;
                plain_http::judge(&base, environment)?;
                base
            }
            // Where the server on this data folder listens, whatever it was started with; or where it would.
            None => {
                let running = running::find(&settings.data.value).and_then(|note| note.listen);
                let url = running.map_or_else(|| local_url(settings), url_on_this_machine);
                server_url(&url)?
            }
        };
        let (token, token_source) = match settings.stored_owner_token(environment)? {
            Some(token) => (Some(token), settings.owner_token_source()),
            None => {
                let token = environment.get("VOID_AGENT_TOKEN");
                let token = token.filter(|token| !token.is_empty()).map(Secret::new);
                (token, "VOID_AGENT_TOKEN".to_owned())
            }
        };
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| {
                CommandError::failed(
                    FailureCode::Internal,
                    format!("the HTTP client cannot start: {error}"),
                )
            })?;
        Ok(Self {
            http,
            base,
            token,
            token_source,
            is_named,
        })
    }

    /// The same server for another caller.
    pub(crate) fn with_token(&self, token: &str) -> Self {
        Self {
            http: self.http.clone(),
            base: self.base.clone(),
            token: Some(Secret::new(token)),
            token_source: "this token".to_owned(),
            is_named: self.is_named,
        }
    }

    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// The answer as it came: what `--json` prints. `read` makes of it what people are shown.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, CommandError> {
        self.call(self.request(Method::GET, path)).await
    }

    pub(crate) async fn get_as<T: DeserializeOwned>(&self, path: &str) -> Result<T, CommandError> {
        read(self.get(path).await?)
    }

    pub(crate) async fn post(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<Value, CommandError> {
        self.call(self.request(Method::POST, path).json(body)).await
    }

    /// A file as it is.
    pub(crate) async fn post_file(
        &self,
        path: &str,
        bytes: Vec<u8>,
    ) -> Result<Value, CommandError> {
        let request = self.request(Method::POST, path);
        let request = request.header("content-type", "application/octet-stream");
        self.call(request.body(bytes)).await
    }

    pub(crate) async fn put(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<Value, CommandError> {
        self.call(self.request(Method::PUT, path).json(body)).await
    }

    pub(crate) async fn patch(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<Value, CommandError> {
        self.call(self.request(Method::PATCH, path).json(body))
            .await
    }

    pub(crate) async fn delete(&self, path: &str) -> Result<Value, CommandError> {
        self.call(self.request(Method::DELETE, path)).await
    }

    async fn call(&self, request: reqwest::RequestBuilder) -> Result<Value, CommandError> {
        let response = request
            .timeout(TIMEOUT)
            .send()
            .await
            .map_err(|error| self.unreachable(&error))?;
        let (status, is_marked) = (response.status(), is_marked(&response));
        let text = response
            .text()
            .await
            .map_err(|error| self.unreachable(&error))?;
        match serde_json::from_str(&text) {
            Ok(value) if is_marked && status.is_success() => Ok(value),
            Ok(value) => Err(self.problem(status, &value, is_marked)),
            Err(_) => Err(self.not_void(&format!("it answered {status}"))),
        }
    }

    /// Events as they come, after the last one that was heard.
    pub(crate) async fn events(
        &self,
        path: &str,
        last: Option<&str>,
    ) -> Result<Events, CommandError> {
        let mut request = self.request(Method::GET, path);
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        self.open(request).await.map(Events::new)
    }

    /// A body that is read as it comes.
    pub(crate) async fn stream(&self, path: &str) -> Result<reqwest::Response, CommandError> {
        self.open(self.request(Method::GET, path)).await
    }

    async fn open(
        &self,
        request: reqwest::RequestBuilder,
    ) -> Result<reqwest::Response, CommandError> {
        let response = request
            .send()
            .await
            .map_err(|error| self.unreachable(&error))?;
        let (status, is_marked) = (response.status(), is_marked(&response));
        if status.is_success() && is_marked {
            return Ok(response);
        }
        let value: Value = response.json().await.unwrap_or_default();
        Err(self.problem(status, &value, is_marked))
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

    fn unreachable(&self, error: &reqwest::Error) -> CommandError {
        if speaks_something_else(error) {
            return self.not_void("it does not speak HTTP as Void does");
        }
        let base = &self.base;
        let message = if error.is_timeout() {
            format!("no answer in time from {base}")
        } else if error.is_connect() {
            format!("no server answers at {base}")
        } else {
            format!("no answer from {base}: the connection broke off")
        };
        CommandError::new(FailureCode::Unreachable, message).next(if self.is_named {
            RENAME
        } else {
            "void serve, or point --url at the server that runs"
        })
    }

    /// Something listens there, and it is not Void.
    fn not_void(&self, why: &str) -> CommandError {
        let message = format!("another server answers at {}: {why}", self.base);
        CommandError::new(FailureCode::NotVoid, message).next(if self.is_named {
            RENAME
        } else {
            "void config show says where Void listens (listen); then VOID_LISTEN=127.0.0.1:PORT void serve, or --url"
        })
    }

    /// The server's error; without a code of Void's it is another server's.
    fn problem(&self, status: StatusCode, body: &Value, is_marked: bool) -> CommandError {
        let told = ErrorResponse::deserialize(body).ok();
        if !is_marked && told.is_none() {
            return self.not_void(&format!("it answered {status}"));
        }
        if status == StatusCode::UNAUTHORIZED {
            return self.unknown_token();
        }
        problem(status, told)
    }

    fn unknown_token(&self) -> CommandError {
        let (message, next) = match &self.token {
            Some(_) => (
                format!(
                    "Void at {} does not know the token of {}",
                    self.base, self.token_source
                ),
                "on Void's machine, as its account: unset OWNER_TOKEN, then void status reads owner.token in its data folder",
            ),
            None => (
                format!("Void at {} wants a token, and there is none", self.base),
                "set OWNER_TOKEN, or run this as Void's account with --data of its data folder",
            ),
        };
        CommandError::new(FailureCode::Unauthenticated, message).next(next)
    }
}

/// What was sent, as the type that it has. A server of another version may say more, not less.
pub(crate) fn read<T: DeserializeOwned>(sent: Value) -> Result<T, CommandError> {
    serde_json::from_value(sent).map_err(|error| not_understood(&error))
}

fn not_understood(error: &serde_json::Error) -> CommandError {
    let message = format!("the server's answer is not one that this void understands: {error}");
    CommandError::failed(FailureCode::NotUnderstood, message)
        .next("use the void of the server's version; --json shows what it says")
}

/// How a list ends of which the rows are passed on as they were sent: with the cursor of the next page, or with none.
#[derive(Deserialize)]
struct ListEnd {
    #[serde(default)]
    next: Option<String>,
}

pub(crate) fn next_page(sent: &Value) -> Result<Option<String>, CommandError> {
    let ListEnd { next } = ListEnd::deserialize(sent).map_err(|error| not_understood(&error))?;
    Ok(next)
}

fn is_marked(response: &reqwest::Response) -> bool {
    response.headers().contains_key(MARK)
}

/// An answer came, but none that can be read: another protocol.
fn speaks_something_else(error: &reqwest::Error) -> bool {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        let words = error.to_string();
        if words.contains("invalid HTTP") || words.contains("corrupt message") {
            return true;
        }
        cause = error.source();
    }
    false
}

/// An address of a server, as far as that can be seen.
pub(crate) fn server_url(base: &str) -> Result<String, CommandError> {
    let base = base.trim_end_matches('/');
    let http = base.starts_with("http://") || base.starts_with("https://");
    if http && base.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(base.to_owned());
    }
    Err(CommandError::usage(format!(
        "\"{base}\" is not an address of a server; it begins with http:// or https://"
    )))
}

/// The server of these settings, on this machine.
pub(crate) fn local_url(settings: &Settings) -> String {
    url_on_this_machine(settings.listen.value)
}

/// Where a program on this machine finds whoever listens there.
pub(crate) fn url_on_this_machine(mut address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    }
    format!("http://{address}")
}

/// The server's error as an exit: its code says which.
fn problem(status: StatusCode, told: Option<ErrorResponse>) -> CommandError {
    let (code, message, hint) = match told {
        Some(ErrorResponse { error }) => (AnyCode::read(&error.code), error.message, error.hint),
        None => (
            FailureCode::Unknown.into(),
            format!("the server answered {status}"),
            None,
        ),
    };
    let exit = match code.known().filter(|code| code.http().is_some()) {
        Some(code) => code.exit(),
        None => exit_of(status),
    };
    let problem = CommandError::exiting(exit, code, message);
    match (hint, exit) {
        (Some(hint), _) => problem.next(hint),
        (None, Exit::NotAllowed) => {
            problem.next("set OWNER_TOKEN, or run this where the server's data folder is")
        }
        (None, _) => problem,
    }
}

/// The exit of an answer whose code says nothing here: it is of another version.
const fn exit_of(status: StatusCode) -> Exit {
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Exit::NotAllowed,
        StatusCode::NOT_FOUND => Exit::NotFound,
        StatusCode::CONFLICT | StatusCode::TOO_MANY_REQUESTS => Exit::Refused,
        StatusCode::UNPROCESSABLE_ENTITY => Exit::Usage,
        StatusCode::SERVICE_UNAVAILABLE => Exit::Unreachable,
        _ => Exit::Failed,
    }
}
