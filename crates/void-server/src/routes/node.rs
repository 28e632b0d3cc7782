//! `/api/node/*`: what a node itself calls. Names that a newer node sends and this server does not know are passed
//! over, so that versions next to each other work together.

use std::time::Duration;

use axum::extract::State;
use axum::routing::post;
use axum::{Extension, Json};
use void_api::node::{
    CommandMember, JoinNodeRequest, LINES_PER_REPORT_MAX, PollNodeRequest, PollNodeResponse,
    ReportNodeRequest, ReportedResponse,
};
use void_api::nodes::JoinedResponse;
use void_control::nodes::{
    self, Command, Connection, JoinError, JoinRequest, PollError, PollRequest, Report,
};
use void_domain::failures::FailureCode;
use void_domain::ids::RequestId;

use crate::app::App;
use crate::connections::Peer;
use crate::errors::ApiError;
use crate::rate_limits::{TRIES_MAX, network};
use crate::requests::{Body, Caller};
use crate::routes::nodes::joined_response;
use crate::routes::nodes::read_fingerprint;
use crate::table::{Access, Route, json, schema};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "POST",
        path: "/api/node/join",
        access: Access::Public,
        operation: "joinNode",
        summary: "Ask to join with a join token; the owner compares the fingerprint",
        query: &[],
        request: Some(schema::<JoinNodeRequest>),
        response: json::<JoinedResponse>(),
        handler: || post(join),
    },
    Route {
        method: "POST",
        path: "/api/node/poll",
        access: Access::Node,
        operation: "pollNode",
        summary: "Wait for work, and say what is under way",
        query: &[],
        request: Some(schema::<PollNodeRequest>),
        response: json::<PollNodeResponse>(),
        handler: || post(poll),
    },
    Route {
        method: "POST",
        path: "/api/node/report",
        access: Access::Node,
        operation: "reportNode",
        summary: "Say what a command prints and how it ended; saying it again changes nothing",
        query: &[],
        request: Some(schema::<ReportNodeRequest>),
        response: json::<ReportedResponse>(),
        handler: || post(report),
    },
];

/// Anybody may ask to join, so it is not read as far as other bodies are.
const JOIN_BODY_BYTES_MAX: usize = 4 * 1024;

pub(crate) async fn join(
    State(app): State<App>,
    Extension(request_id): Extension<RequestId>,
    Extension(peer): Extension<Peer>,
    Body(request): Body<JoinNodeRequest, JOIN_BODY_BYTES_MAX>,
) -> Result<Json<JoinedResponse>, ApiError> {
    let fingerprint = read_fingerprint(&request.fingerprint)?;
    let now = app.control().clock().now();
    let known = JoinRequest {
        invite: request.token,
        fingerprint,
        version: request.version,
        from: peer.remote.ip().to_string(),
    };
    let limiter = &app.shared().rate_limits.joins;
    match nodes::join(app.control(), request_id, known).await {
        Ok(node) => Ok(Json(joined_response(&node))),
        // Only guesses count: a machine that waits for the owner asks again and again.
        Err(_) if !limiter.try_once(network(peer.remote.ip()), now) => Err(ApiError::rate_limited(
            format!("more than {TRIES_MAX} wrong join tokens in a minute; wait a little"),
        )),
        Err(error @ JoinError::NotInvited) => Err(ApiError::forbidden(error.to_string())
            .hint("void node invite NAME makes a join token, good for an hour")),
        Err(error @ JoinError::Taken) => Err(ApiError::new(
            FailureCode::AlreadyDecided,
            error.to_string(),
        )),
        Err(JoinError::Store(error)) => Err(error.into()),
    }
}

fn command_member(command: Command) -> CommandMember {
    CommandMember {
        id: command.id,
        command: command.command,
        limit_ms: u64::try_from(command.limit.as_millis()).unwrap_or(u64::MAX),
    }
}

pub(crate) async fn poll(
    State(app): State<App>,
    Caller(ctx): Caller,
    Body(request): Body<PollNodeRequest>,
) -> Result<Json<PollNodeResponse>, ApiError> {
    let request = PollRequest {
        session: Connection {
            generation: request.session.generation,
            nonce: request.session.nonce,
        },
        version: request.version,
        list: request.list,
        holding: request.holding,
        wait: Duration::from_secs(request.wait_s),
    };
    match nodes::poll(app.control(), &ctx, request).await {
        Ok(answer) => Ok(Json(PollNodeResponse {
            now_ms: answer.now.as_ms(),
            version: env!("CARGO_PKG_VERSION").into(),
            errands: answer.commands.into_iter().map(command_member).collect(),
        })),
        Err(error @ PollError::NotANode) => Err(ApiError::forbidden(error.to_string())),
        Err(PollError::Invalid(problem)) => Err(ApiError::invalid_field("body", problem)),
        Err(error @ PollError::Superseded) => {
            Err(ApiError::new(FailureCode::Superseded, error.to_string()))
        }
        Err(PollError::Removed) => Err(ApiError::unauthenticated()),
        Err(error @ PollError::Stopping) => {
            Err(ApiError::new(FailureCode::Unavailable, error.to_string()))
        }
        Err(PollError::TooManyRows(error)) => Err(ApiError::too_many_rows(&error)),
        Err(PollError::Store(error)) => Err(error.into()),
    }
}

pub(crate) async fn report(
    State(app): State<App>,
    Caller(ctx): Caller,
    Body(request): Body<ReportNodeRequest>,
) -> Result<Json<ReportedResponse>, ApiError> {
    if request.lines.len() > LINES_PER_REPORT_MAX {
        return Err(ApiError::invalid_field("lines", "are at most 200"));
    }
    let report = Report {
        command: request.errand,
        lines: request.lines,
        answer: request.ended.then_some(request.answer),
    };
    nodes::report(app.control(), &ctx, report);
    Ok(Json(ReportedResponse { acknowledged: true }))
}
