//! One HTTP request: its limits, its faults, its login, its route, its answer.
//!
//! As libpve-http-server 5.2 does it: a request that fails ends its connection, a refused login waits
//! before it is answered, a connection serves a hundred requests, chunked requests and bodies where
//! none belong are refused with 501. Left out: compression, the redirect from plain HTTP, the web
//! interface, every format but `json`.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::ext::ReasonPhrase;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode};
use tokio::time::sleep;

use crate::clock;
use crate::proxmox::answers::{ApiResponse, JSON, Refusal, Reply};
use crate::proxmox::bodies::Sent;
use crate::proxmox::cluster::{Received, Simulation};
use crate::proxmox::config::Release;
use crate::proxmox::faults::Fault;
use crate::proxmox::logins;
use crate::proxmox::params::{Params, unescaped};
use crate::proxmox::routes;

/// As large as Proxmox takes a form.
pub const BODY_BYTES_MAX: usize = 512 * 1024;
const BODY_TIME_MAX: Duration = Duration::from_secs(30);
const BASE: &str = "/api2";
const METHODS: [&str; 4] = ["GET", "POST", "PUT", "DELETE"];

/// The connection ends without an answer.
#[derive(Debug)]
pub(crate) struct Dropped;

impl std::fmt::Display for Dropped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("dropped by a fault")
    }
}

impl std::error::Error for Dropped {}

pub(crate) async fn answer(
    simulation: Arc<Simulation>,
    request: Request<Incoming>,
    is_last: bool,
) -> Result<Response<Sent>, Dropped> {
    let (parts, body) = request.into_parts();
    let body = read(parts.method.as_str(), &parts.headers, body).await;
    // A task of its own: what has arrived is processed to its end, also when the client goes away.
    let answered = tokio::spawn(answer_read(simulation, parts, body)).await;
    let mut response = answered.unwrap_or(Err(Dropped))?;
    let keeps = !is_last && response.status().as_u16() < 400;
    let connection = if keeps { "Keep-Alive" } else { "close" };
    let connection = HeaderValue::from_static(connection);
    response
        .headers_mut()
        .insert(header::CONNECTION, connection);
    Ok(response)
}

async fn answer_read(
    simulation: Arc<Simulation>,
    parts: Parts,
    body: Result<Bytes, Refusal>,
) -> Result<Response<Sent>, Dropped> {
    let path = unescaped(parts.uri.path());
    let target = Target::parse(&path);
    let shown = match &target {
        Target::Api(path) => path,
        Target::Other(_) => &path,
    };
    simulation.record_request(Received {
        at: clock::now(),
        method: parts.method.to_string(),
        path: shown.clone(),
        token: logins::claimed(authorization(&parts.headers)),
    });
    let faults = simulation.faults.strike(shown);
    if let Some(reply) = before(&faults, simulation.release).await? {
        return Ok(response(reply, &faults));
    }
    let result = process(&simulation, &parts, body, target, &faults);
    if result.as_ref().is_err_and(Refusal::is_unauthorized) {
        sleep(simulation.unauthorized_delay).await;
    }
    let reply = Reply::new(result, simulation.release);
    if faults.contains(&Fault::DropAfter) {
        return Err(Dropped);
    }
    if faults.contains(&Fault::ProxyLost) {
        let lost = Refusal::proxy(596, "Connection timed out");
        return Ok(response(Reply::new(Err(lost), simulation.release), &[]));
    }
    if faults.contains(&Fault::Garbage) {
        return Ok(response(garbage(), &[]));
    }
    Ok(response(reply, &faults))
}

enum Target {
    /// A path of the API, `/` at least.
    Api(String),
    Other(Refusal),
}

impl Target {
    fn parse(path: &str) -> Self {
        let Some(rest) = path.strip_prefix(BASE) else {
            return Self::Other(Refusal::server(500, &format!("no such file '{path}'")));
        };
        let rest = rest
            .strip_prefix('/')
            .map(|rest| rest.trim_start_matches('/'));
        let rest = rest.unwrap_or_default();
        match rest.split_once('/').unwrap_or((rest, "")) {
            ("", _) => Self::Other(Refusal::server(501, "no such uri")),
            ("json", rest) => Self::Api(format!("/{rest}")),
            (format, rest) => Self::Other(Refusal::server(
                501,
                &format!("no formatter for uri /{rest}, {format}"),
            )),
        }
    }
}

/// Faults that strike before the request is processed.
async fn before(faults: &[Fault], release: Release) -> Result<Option<Reply>, Dropped> {
    for fault in faults {
        let refusal = match fault {
            Fault::Slow(time) => {
                sleep(*time).await;
                continue;
            }
            Fault::DropBefore => return Err(Dropped),
            Fault::ServerError(message) => Refusal::died(message),
            Fault::Unreachable => Refusal::proxy(595, "No route to host"),
            Fault::DropAfter
            | Fault::ProxyLost
            | Fault::Garbage
            | Fault::HalfAnswer
            | Fault::EndlessBody
            | Fault::TaskFails(_)
            | Fault::TaskHangs => continue,
        };
        return Ok(Some(Reply::new(Err(refusal), release)));
    }
    Ok(None)
}

fn garbage() -> Reply {
    Reply {
        status: 200,
        reason: None,
        content_type: Some(JSON),
        body: Bytes::from_static(
            b"{\"data\":[{\"vmid\":107,\"status\":\"run<html>Bad Gateway</html>",
        ),
    }
}

fn process(
    simulation: &Arc<Simulation>,
    parts: &Parts,
    body: Result<Bytes, Refusal>,
    target: Target,
    faults: &[Fault],
) -> Result<ApiResponse, Refusal> {
    let method = parts.method.as_str();
    if !METHODS.contains(&method) {
        return Err(Refusal::server(
            501,
            &format!("method '{method}' not available"),
        ));
    }
    if parts.headers.contains_key(header::TRANSFER_ENCODING) {
        return Err(Refusal::server(
            501,
            "chunked transfer encoding not supported",
        ));
    }
    let path = match target {
        Target::Api(path) => path,
        Target::Other(refusal) => return Err(refusal),
    };
    let login = authorization(&parts.headers);
    let is_stranger = login.is_none() && routes::is_open(method, &path);
    let who = simulation
        .with(|cluster| logins::verify(&cluster.access, simulation.release, login, clock::now()));
    if let Err(why) = &who
        && !is_stranger
    {
        return Err(Refusal::unauthorized(why.clone()));
    }
    let mut params = body_params(&parts.headers, &body?)?;
    params.overlay(Params::urlencoded(parts.uri.query().unwrap_or_default()));
    match who {
        Err(_) => routes::handle_stranger(method, &path, &params),
        Ok(who) => routes::handle(simulation, &who, (method, &path), params, faults),
    }
}

async fn read(method: &str, headers: &HeaderMap, body: Incoming) -> Result<Bytes, Refusal> {
    let announced = headers.get(header::CONTENT_LENGTH);
    let length = announced.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let length = length.unwrap_or(0);
    if length > 0 && !matches!(method, "POST" | "PUT") {
        let message = format!("Unexpected content for method '{method}'");
        return Err(Refusal::server(501, &message));
    }
    if length > BODY_BYTES_MAX {
        return Err(Refusal::server(501, "for data too large"));
    }
    let read = Limited::new(body, BODY_BYTES_MAX).collect();
    let whole = tokio::time::timeout(BODY_TIME_MAX, read).await;
    let whole = whole.ok().and_then(Result::ok);
    let whole = whole.ok_or_else(|| Refusal::server(501, "for data too large"))?;
    Ok(whole.to_bytes())
}

fn body_params(headers: &HeaderMap, body: &Bytes) -> Result<Params, Refusal> {
    if body.is_empty() {
        return Ok(Params::default());
    }
    let content_type = headers.get(header::CONTENT_TYPE);
    let content_type = content_type.and_then(|text| text.to_str().ok());
    let kind = content_type.and_then(|text| text.split([';', ',']).next());
    match kind.map(str::trim) {
        None | Some("application/x-www-form-urlencoded") => {
            Ok(Params::urlencoded(&String::from_utf8_lossy(body)))
        }
        Some("application/json") => {
            let malformed =
                "malformed JSON string, neither tag, array, object, number, string or atom";
            Params::json(body).ok_or_else(|| Refusal::server(500, malformed))
        }
        Some(other) => {
            let message = format!("upload 'Content-Type '{other}' not implemented");
            Err(Refusal::server(506, &message))
        }
    }
}

fn authorization(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()
}

fn response(reply: Reply, faults: &[Fault]) -> Response<Sent> {
    let sent = if faults.contains(&Fault::EndlessBody) {
        Sent::drip()
    } else if faults.contains(&Fault::HalfAnswer) {
        Sent::cut(&reply.body)
    } else {
        Sent::whole(reply.body)
    };
    let mut response = Response::new(sent);
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *response.status_mut() = status;
    let phrase = reply
        .reason
        .map(|reason| ReasonPhrase::try_from(reason.into_bytes()));
    if let Some(Ok(phrase)) = phrase {
        response.extensions_mut().insert(phrase);
    }
    let fixed = [
        (header::CACHE_CONTROL, "max-age=0"),
        (header::PRAGMA, "no-cache"),
        (header::SERVER, "pve-api-daemon/3.0"),
    ];
    let content_type = reply.content_type.map(|text| (header::CONTENT_TYPE, text));
    for (name, value) in fixed.into_iter().chain(content_type) {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}
