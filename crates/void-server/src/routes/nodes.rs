//! `/api/nodes`: the owner's view of the machines that run the pull executor.

use axum::Json;
use axum::extract::State;
use axum::routing::{delete, get, post};
use void_api::nodes::{
    ApproveRequest, InviteRequest, InvitedResponse, JoinedResponse, NodeResponse, NodesResponse,
    RemovedResponse,
};
use void_control::nodes::{self, ApproveError, InviteError, NodeView, RemoveError};
use void_domain::digests::Digest;
use void_domain::failures::FailureCode;
use void_domain::nodes::{Membership, Node};

use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Segment};
use crate::table::{Access, Route, json, schema};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/nodes",
        access: Access::Owner,
        operation: "listNodes",
        summary: "The machines that run the pull executor: here or away, version, whether the list fits",
        query: &[],
        request: None,
        response: json::<NodesResponse>(),
        handler: || get(list),
    },
    Route {
        method: "POST",
        path: "/api/nodes",
        access: Access::OwnerRecent,
        operation: "inviteNode",
        summary: "Make a join token for a machine; it is shown this once and good for an hour",
        query: &[],
        request: Some(schema::<InviteRequest>),
        response: json::<InvitedResponse>(),
        handler: || post(invite),
    },
    Route {
        method: "POST",
        path: "/api/nodes/{name}/approve",
        access: Access::OwnerRecent,
        operation: "approveNode",
        summary: "Let a machine in, if it shows this fingerprint",
        query: &[],
        request: Some(schema::<ApproveRequest>),
        response: json::<JoinedResponse>(),
        handler: || post(approve),
    },
    Route {
        method: "DELETE",
        path: "/api/nodes/{name}",
        access: Access::OwnerRecent,
        operation: "removeNode",
        summary: "Withdraw an invitation, turn a machine away, or end its membership",
        query: &[],
        request: None,
        response: json::<RemovedResponse>(),
        handler: || delete(remove),
    },
];

fn node_response(view: NodeView) -> NodeResponse {
    let node = view.node;
    let expires_at = match node.membership {
        Membership::Invited { expires_at, .. } => Some(expires_at.to_string()),
        Membership::Waiting { .. } | Membership::Joined { .. } => None,
    };
    NodeResponse {
        name: node.name.to_string(),
        state: node.membership.as_str().into(),
        fingerprint: node.membership.fingerprint().map(Digest::to_fingerprint),
        here: view.here,
        seen_at: view.seen_at.map(|at| at.to_string()),
        version: node.presence.version,
        skew: view.skew.map(|skew| skew.as_str().into()),
        drift: view.drift,
        twin_at: node.presence.twin_at.map(|at| at.to_string()),
        actions: view.actions,
        invite_expires_at: expires_at,
    }
}

pub(crate) async fn list(State(app): State<App>) -> Result<Json<NodesResponse>, ApiError> {
    let nodes = nodes::list(app.control()).await?;
    Ok(Json(NodesResponse {
        nodes: nodes.into_iter().map(node_response).collect(),
    }))
}

pub(crate) async fn invite(
    State(app): State<App>,
    Caller(ctx): Caller,
    Body(request): Body<InviteRequest>,
) -> Result<Json<InvitedResponse>, ApiError> {
    match nodes::invite(app.control(), &ctx, &request.name).await {
        Ok(invited) => Ok(Json(InvitedResponse {
            name: invited.name.to_string(),
            token: invited.text.expose().to_owned(),
            expires_at: invited.expires_at.to_string(),
        })),
        Err(InviteError::OwnerOnly) => Err(ApiError::owner_only()),
        Err(InviteError::InvalidName) => Err(ApiError::invalid_field(
            "name",
            "must be 1 to 63 of a-z, 0-9 and -, beginning with a letter or digit",
        )),
        Err(error @ InviteError::Reserved) => {
            Err(ApiError::new(FailureCode::NameTaken, error.to_string())
                .hint("choose another name"))
        }
        Err(error @ InviteError::Joined) => {
            Err(ApiError::new(FailureCode::NameTaken, error.to_string())
                .hint("void node revoke NAME ends that one first"))
        }
        Err(InviteError::Store(error)) => Err(error.into()),
    }
}

pub(crate) fn joined_response(node: &Node) -> JoinedResponse {
    JoinedResponse {
        name: node.name.to_string(),
        state: node.membership.as_str().into(),
        fingerprint: node.membership.fingerprint().map(Digest::to_fingerprint),
    }
}

pub(crate) async fn approve(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(name): Segment,
    Body(request): Body<ApproveRequest>,
) -> Result<Json<JoinedResponse>, ApiError> {
    let fingerprint = read_fingerprint(&request.fingerprint)?;
    match nodes::approve(app.control(), &ctx, &name, fingerprint).await {
        Ok(node) => Ok(Json(joined_response(&node))),
        Err(ApproveError::OwnerOnly) => Err(ApiError::owner_only()),
        Err(error @ ApproveError::NotFound) => {
            Err(ApiError::not_found(error.to_string()).hint("void node ls"))
        }
        Err(error @ ApproveError::NotWaiting(_)) => {
            Err(ApiError::new(FailureCode::AlreadyDecided, error.to_string()).hint("void node ls"))
        }
        Err(error @ ApproveError::OtherFingerprint(_)) => {
            Err(ApiError::new(FailureCode::Changed, error.to_string()))
        }
        Err(error @ ApproveError::NameTaken) => {
            Err(ApiError::new(FailureCode::NameTaken, error.to_string()))
        }
        Err(ApproveError::Store(error)) => Err(error.into()),
    }
}

pub(crate) fn read_fingerprint(text: &str) -> Result<Digest, ApiError> {
    Digest::parse_fingerprint(text).ok_or_else(|| {
        let problem = "must be 64 hexadecimal digits, as the node shows them";
        ApiError::invalid_field("fingerprint", problem)
    })
}

pub(crate) async fn remove(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(name): Segment,
) -> Result<Json<RemovedResponse>, ApiError> {
    match nodes::remove(app.control(), &ctx, &name).await {
        Ok(was) => Ok(Json(RemovedResponse {
            removed: true,
            was: was.into(),
        })),
        Err(RemoveError::OwnerOnly) => Err(ApiError::owner_only()),
        Err(error @ RemoveError::NotFound) => {
            Err(ApiError::not_found(error.to_string()).hint("void node ls"))
        }
        Err(RemoveError::Store(error)) => Err(error.into()),
    }
}
