//! `/api/home`: what the page needs to begin, in one answer.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use schemars::JsonSchema;
use serde::Serialize;
use void_control::proposals::ProposalKey;
use void_control::{lab, notifications, proposals};
use void_domain::proposals::Sight;

use super::cards::{self, CardResponse};
use super::freeze::FreezeResponse;
use super::inbox::{InboxResponse, ItemResponse};
use super::mutes::MuteResponse;
use super::services::ServicesResponse;
use super::session::WhoResponse;
use super::status::StatusResponse;
use super::{actions, freeze, inbox, mutes, services, session, status};
use crate::access::{Access, Admitted};
use crate::app::App;
use crate::errors::ApiError;
use crate::first_steps::FirstSteps;
use crate::requests::{Caller, Query};
use crate::table::{Route, json};
use crate::wire::RowResponse;

pub(super) const ROUTES: &[Route] = &[Route {
    method: "GET",
    path: "/api/home",
    access: Access::Owner,
    operation: "getHome",
    summary: "What the page needs to begin: who, status, inbox, services, freeze, what ended",
    query: &[],
    request: None,
    response: json::<HomeResponse>(),
    handler: || get(show),
}];

/// What ended lately, as far as the first page shows it.
const RECENT_SHOWN: u32 = 12;
const CARDS_SHOWN: usize = 3;

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Home")]
pub(crate) struct HomeResponse {
    /// All events up to this one are in it; the stream goes on after it.
    pub event: u64,
    pub who: WhoResponse,
    pub status: StatusResponse,
    pub inbox: InboxResponse,
    /// The cards of what waits first.
    pub cards: Vec<CardResponse>,
    pub services: ServicesResponse,
    pub freeze: FreezeResponse,
    /// What is not told for a time.
    pub mutes: Vec<MuteResponse>,
    /// What ended, newest first.
    pub recent: Vec<RowResponse>,
    pub setup: SetupResponse,
}

/// How far the owner has come in setting things up.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Setup")]
pub(crate) struct SetupResponse {
    pub lab_connected: bool,
    pub phone_paired: bool,
    pub actions_loaded: bool,
    /// Something ended that somebody had decided.
    pub decided_once: bool,
    /// The files that say nothing yet.
    pub empty_files: Vec<EmptyFileResponse>,
    /// What checks a file that was written and takes it over, as the owner types it where Void runs.
    pub commands: Vec<String>,
}

/// A file that is read and has nothing in it, or is not there.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EmptyFile")]
pub(crate) struct EmptyFileResponse {
    /// `actions` or `services`.
    pub what: &'static str,
    pub path: String,
    /// Something valid to put into it.
    pub example: String,
}

fn empty_files(first: &FirstSteps, actions: bool, services: bool) -> Vec<EmptyFileResponse> {
    let file = |what, path: &String, example: &String| EmptyFileResponse {
        what,
        path: path.clone(),
        example: example.clone(),
    };
    let actions = (!actions).then(|| file("actions", &first.actions_file, &first.actions_example));
    let services =
        (!services).then(|| file("services", &first.services_file, &first.services_example));
    actions.into_iter().chain(services).collect()
}

pub(crate) async fn show(
    State(app): State<App>,
    admitted: Admitted,
) -> Result<Json<HomeResponse>, ApiError> {
    let ctx = admitted.ctx.clone();
    let control = app.control();
    let event = control.hub().last();
    let page = actions::RecentQuery::default();
    let Json(inbox) = inbox::look(State(app.clone()), Caller(ctx.clone()), Query(page)).await?;
    let mut cards = Vec::new();
    for item in inbox.items.iter().take(CARDS_SHOWN) {
        if let ItemResponse::Row(item) = item
            && let Some(key) = ProposalKey::parse(&item.row.id)
        {
            cards.extend(cards::card(control, &ctx, key).await?);
        }
    }
    let Json(status) = status::show(State(app.clone()), Caller(ctx.clone())).await?;
    let Json(services) = services::list(State(app.clone()), Caller(ctx.clone())).await;
    let Json(freeze) = freeze::show(State(app.clone()), Caller(ctx)).await?;
    let Json(mutes) = mutes::list(State(app.clone())).await?;
    let recent = proposals::list_ended(control, RECENT_SHOWN).await?;
    let sight = Sight::of(&admitted.ctx.actor);
    let recent = recent.iter().map(|row| RowResponse::new(row, sight));
    let recent: Vec<RowResponse> = recent.collect();
    let told = notifications::list(control).await?;
    let first = &app.shared().first_steps;
    let is_watching = !services.services.is_empty();
    let empty_files = empty_files(first, status.actions > 0, is_watching);
    Ok(Json(HomeResponse {
        event,
        cards,
        setup: SetupResponse {
            lab_connected: lab::is_connected(control) || is_watching,
            phone_paired: told.places.iter().any(|place| place.target.is_some()),
            actions_loaded: status.actions > 0,
            decided_once: proposals::is_any_decided(control).await?,
            commands: match empty_files.as_slice() {
                [] => Vec::new(),
                _ => first.commands.clone(),
            },
            empty_files,
        },
        who: session::who(admitted).await.0,
        status,
        inbox,
        services,
        freeze,
        mutes: mutes.mutes,
        recent,
    }))
}
