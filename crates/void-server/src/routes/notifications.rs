//! `/api/notifications`: where the owner is told, and what a notification sends back.

use axum::Json;
use axum::extract::State;
use axum::routing::{delete, get, post};
use void_api::notifications::{
    ActRequest, ActedResponse, FailedResponse, InvitationResponse, NotificationsResponse,
    PairRequest, PlaceResponse, RetriedResponse, TestRequest, TestResponse, TestResult,
    UnpairedResponse,
};
use void_control::proposals::{DecideError, Decision};
use void_domain::failures::FailureCode;
use void_domain::ids::NotificationId;
use void_domain::notifications::{Channel, Content, Delivery, Target};
use void_notify::{ActError, NotificationPlace, PairError};

use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Segment};
use crate::table::{Access, Route, json, schema};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/notifications",
        access: Access::Owner,
        operation: "listNotifications",
        summary: "Where the owner is told, how that stands, and what could not be delivered",
        query: &[],
        request: None,
        response: json::<NotificationsResponse>(),
        handler: || get(list),
    },
    Route {
        method: "POST",
        path: "/api/notifications/pair",
        access: Access::OwnerRecent,
        operation: "pairChannel",
        summary: "Make a one-time link by which a phone becomes the owner's",
        query: &[],
        request: Some(schema::<PairRequest>),
        response: json::<InvitationResponse>(),
        handler: || post(pair),
    },
    Route {
        method: "DELETE",
        path: "/api/notifications/pairs/{target}",
        access: Access::OwnerRecent,
        operation: "unpairChannel",
        summary: "Stop telling an account, and stop listening to it",
        query: &[],
        request: None,
        response: json::<UnpairedResponse>(),
        handler: || delete(unpair),
    },
    Route {
        method: "POST",
        path: "/api/notifications/test",
        access: Access::Owner,
        operation: "testNotifications",
        summary: "Send a test message to every place, or to one",
        query: &[],
        request: Some(schema::<TestRequest>),
        response: json::<TestResponse>(),
        handler: || post(test),
    },
    Route {
        method: "POST",
        path: "/api/notifications/failed/{id}/retry",
        access: Access::Owner,
        operation: "retryNotification",
        summary: "Try again what could not be delivered",
        query: &[],
        request: None,
        response: json::<RetriedResponse>(),
        handler: || post(retry),
    },
    Route {
        method: "POST",
        path: "/api/notifications/act",
        access: Access::Public,
        operation: "actOnNotification",
        summary: "Decide with the single-use token that a notification carried",
        query: &[],
        request: Some(schema::<ActRequest>),
        response: json::<ActedResponse>(),
        handler: || post(act),
    },
];

/// Anybody may post here, so it is not read as far as other bodies are.
const ACT_BODY_BYTES_MAX: usize = 1024;

fn place_response(place: NotificationPlace) -> PlaceResponse {
    PlaceResponse {
        channel: place.channel.as_str().into(),
        target: place.target.map(|target| target.to_string()),
        name: place.name,
        paired_at: place.paired_at.map(|at| at.to_string()),
        waiting: place.waiting,
        failed: place.failed,
        last_sent_at: place.last_sent_at.map(|at| at.to_string()),
        problem_since: place.problem.as_ref().map(|it| it.since.to_string()),
        problem: place.problem.map(|it| it.why),
    }
}

fn failed_response(delivery: Delivery) -> FailedResponse {
    FailedResponse {
        id: delivery.id.to_string(),
        target: delivery.target.to_string(),
        proposal_id: match delivery.content {
            Content::Message(id) | Content::Event(id, _) => Some(id.to_string()),
            Content::Digest | Content::Alert(_) | Content::Question(_) => None,
        },
        tries: delivery.tries,
        error: delivery.last_error,
        created_at: delivery.created_at.to_string(),
    }
}

pub(crate) async fn list(State(app): State<App>) -> Result<Json<NotificationsResponse>, ApiError> {
    let listing = void_notify::list(app.notifications()).await?;
    Ok(Json(NotificationsResponse {
        places: listing.places.into_iter().map(place_response).collect(),
        failed: listing.failed.into_iter().map(failed_response).collect(),
        untold: listing.untold,
        services_untold: listing.untold_services,
    }))
}

pub(crate) async fn pair(
    State(app): State<App>,
    Caller(ctx): Caller,
    Body(request): Body<PairRequest>,
) -> Result<Json<InvitationResponse>, ApiError> {
    if Channel::parse(&request.channel) != Some(Channel::Telegram) {
        return Err(ApiError::invalid_field("channel", "must be telegram"));
    }
    let invitation = void_notify::invite(app.notifications(), &ctx)
        .await
        .map_err(pair_error)?;
    Ok(Json(InvitationResponse {
        link: invitation.link,
        bot: invitation.bot,
        expires_at: invitation.expires_at.to_string(),
    }))
}

pub(crate) async fn unpair(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(target): Segment,
) -> Result<Json<UnpairedResponse>, ApiError> {
    let Some(target) = Target::parse(&target) else {
        return Err(pair_error(PairError::NotFound));
    };
    void_notify::unpair(app.notifications(), &ctx, target)
        .await
        .map_err(pair_error)?;
    Ok(Json(UnpairedResponse { unpaired: true }))
}

fn pair_error(error: PairError) -> ApiError {
    let message = error.to_string();
    match error {
        PairError::OwnerOnly => ApiError::owner_only(),
        PairError::NotFound => {
            ApiError::not_found(message).hint("void notify ls shows who is paired")
        }
        PairError::NotSetUp => ApiError::new(FailureCode::NotSetUp, message)
            .hint("set TELEGRAM_BOT_TOKEN to the token that @BotFather gave you"),
        PairError::Unreachable(_) => ApiError::new(FailureCode::Unreachable, message)
            .hint("void notify ls names what is wrong"),
        PairError::Store(error) => error.into(),
    }
}

pub(crate) async fn test(
    State(app): State<App>,
    Caller(ctx): Caller,
    Body(request): Body<TestRequest>,
) -> Result<Json<TestResponse>, ApiError> {
    let only = match request.target {
        None => None,
        Some(text) => Some(Target::parse(&text).ok_or_else(|| {
            ApiError::invalid_field("target", "is no place; void notify ls shows them")
        })?),
    };
    let tried = void_notify::try_out(app.notifications(), &ctx, only).await?;
    let results = tried.into_iter().map(|tried| TestResult {
        target: tried.target.to_string(),
        sent: tried.problem.is_none(),
        problem: tried.problem,
    });
    Ok(Json(TestResponse {
        results: results.collect(),
    }))
}

pub(crate) async fn retry(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(id): Segment,
) -> Result<Json<RetriedResponse>, ApiError> {
    let missing = || {
        ApiError::not_found("there is nothing like that to try again")
            .hint("void notify ls shows what could not be delivered")
    };
    let id: NotificationId = id.parse().map_err(|_| missing())?;
    if void_notify::retry(app.notifications(), &ctx, id).await? {
        Ok(Json(RetriedResponse { retried: true }))
    } else {
        Err(missing())
    }
}

/// The token is the whole of the caller's right: whatever else it shows changes nothing. It is 256
/// random bits, so guessing is no way in.
pub(crate) async fn act(
    State(app): State<App>,
    Body(request): Body<ActRequest, ACT_BODY_BYTES_MAX>,
) -> Result<Json<ActedResponse>, ApiError> {
    match void_notify::act_by_token(app.notifications(), &request.token).await {
        Ok(acted) => Ok(Json(ActedResponse {
            decision: match acted.decision {
                Decision::Approve => "approve".into(),
                Decision::Reject => "reject".into(),
            },
            code: acted.proposal.code.to_string(),
            status: acted.proposal.status().as_str().into(),
        })),
        Err(ActError::NotGood) => Err(ApiError::unauthenticated()),
        Err(ActError::Refused(error)) => Err(refused(error)),
        Err(ActError::Store(error)) => Err(error.into()),
    }
}

/// The row is not shown: whoever holds a token may decide, not read.
fn refused(error: DecideError) -> ApiError {
    let message = error.to_string();
    match error {
        DecideError::Conflict { code, .. } => ApiError::new(code, message),
        DecideError::Store(error) => error.into(),
        DecideError::NotFound
        | DecideError::OwnerOnly
        | DecideError::DigestNeeded
        | DecideError::FreshLoginNeeded
        | DecideError::OtherSurfaceNeeded
        | DecideError::ReasonTooLong
        | DecideError::NotADraft
        | DecideError::InvalidEdit(_) => ApiError::forbidden(message),
    }
}
