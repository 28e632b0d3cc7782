//! `/api/nodes`: the owner's view of the machines that run the pull executor.

use axum::Json;
use axum::extract::State;
use axum::routing::{delete, get, post};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use void_control::nodes::{self, ApproveError, InviteError, NodeView, RemoveError};
use void_domain::digests::Digest;
use void_domain::nodes::{Membership, Node, Skew};

use crate::access::Access;
use crate::app::App;
use crate::errors::ApiError;
use crate::parameters::{FINGERPRINT, HOST};
use crate::requests::{Body, Caller, Segment};
use crate::table::{Route, json, schema};

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

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NodesResponse {
    pub nodes: Vec<NodeResponse>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NodeResponse {
    pub name: String,
    /// `invited`, `waiting` for the owner, or `joined`.
    pub state: &'static str,
    /// SHA-256 of the node's secret, as the node shows it too.
    pub fingerprint: Option<String>,
    /// Whether it polls now.
    pub here: bool,
    pub seen_at: Option<String>,
    pub version: Option<String>,
    /// `same`, `older`, `newer` or `unknown`, compared with the server.
    pub skew: Option<&'static str>,
    /// The first difference between its list and the catalogue.
    pub drift: Option<String>,
    /// When its secret was last shown by an older program: it is on two machines.
    pub twin_at: Option<String>,
    /// How many actions of the catalogue run there.
    pub actions: usize,
    pub invite_expires_at: Option<String>,
}

impl NodeResponse {
    fn new(view: NodeView) -> Self {
        let node = view.node;
        let expires_at = match node.membership {
            Membership::Invited { expires_at, .. } => Some(expires_at.to_string()),
            Membership::Waiting { .. } | Membership::Joined { .. } => None,
        };
        Self {
            name: node.name.to_string(),
            state: node.membership.as_str(),
            fingerprint: node.membership.fingerprint().map(Digest::to_fingerprint),
            here: view.here,
            seen_at: view.seen_at.map(|at| at.to_string()),
            version: node.presence.version,
            skew: view.skew.map(Skew::as_str),
            drift: view.drift,
            twin_at: node.presence.twin_at.map(|at| at.to_string()),
            actions: view.actions,
            invite_expires_at: expires_at,
        }
    }
}

pub(crate) async fn list(State(app): State<App>) -> Result<Json<NodesResponse>, ApiError> {
    let nodes = nodes::list(app.control()).await?;
    Ok(Json(NodesResponse {
        nodes: nodes.into_iter().map(NodeResponse::new).collect(),
    }))
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["name"]))]
pub(crate) struct InviteRequest {
    #[serde(default)]
    #[schemars(regex(pattern = HOST))]
    pub name: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InvitedResponse {
    pub name: String,
    /// The join token, shown this once.
    pub token: String,
    pub expires_at: String,
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
        Err(error @ InviteError::Joined) => {
            Err(ApiError::conflict("name_taken", error.to_string())
                .hint("void node revoke NAME ends that one first"))
        }
        Err(InviteError::Store(error)) => Err(error.into()),
    }
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["fingerprint"]))]
pub(crate) struct ApproveRequest {
    /// The fingerprint that the node shows.
    #[serde(default)]
    #[schemars(regex(pattern = FINGERPRINT))]
    pub fingerprint: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct JoinedResponse {
    pub name: String,
    pub state: &'static str,
    pub fingerprint: Option<String>,
}

impl JoinedResponse {
    pub(crate) fn new(node: &Node) -> Self {
        Self {
            name: node.name.to_string(),
            state: node.membership.as_str(),
            fingerprint: node.membership.fingerprint().map(Digest::to_fingerprint),
        }
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
        Ok(node) => Ok(Json(JoinedResponse::new(&node))),
        Err(ApproveError::OwnerOnly) => Err(ApiError::owner_only()),
        Err(error @ ApproveError::NotFound) => {
            Err(ApiError::not_found(error.to_string()).hint("void node ls"))
        }
        Err(error @ ApproveError::NotWaiting(_)) => {
            Err(ApiError::conflict("already_decided", error.to_string()).hint("void node ls"))
        }
        Err(error @ ApproveError::OtherFingerprint(_)) => {
            Err(ApiError::conflict("changed", error.to_string()))
        }
        Err(error @ ApproveError::NameTaken) => {
            Err(ApiError::conflict("name_taken", error.to_string()))
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

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RemovedResponse {
    pub removed: bool,
    /// What it was: `invited`, `waiting` or `joined`.
    pub was: &'static str,
}

pub(crate) async fn remove(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(name): Segment,
) -> Result<Json<RemovedResponse>, ApiError> {
    match nodes::remove(app.control(), &ctx, &name).await {
        Ok(was) => Ok(Json(RemovedResponse { removed: true, was })),
        Err(RemoveError::OwnerOnly) => Err(ApiError::owner_only()),
        Err(error @ RemoveError::NotFound) => {
            Err(ApiError::not_found(error.to_string()).hint("void node ls"))
        }
        Err(RemoveError::Store(error)) => Err(error.into()),
    }
}
