//! `/api/home`: what the page needs to begin, in one answer.

use axum::Json;
use axum::extract::State;
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
use crate::access::Admitted;
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Caller, Query};
use crate::wire::RowResponse;

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
}

pub(crate) async fn show(
    State(app): State<App>,
    admitted: Admitted,
) -> Result<Json<HomeResponse>, ApiError> {
    let ctx = admitted.ctx.clone();
    let control = app.control();
    let event = control.hub().last();
    let page = actions::PageQuery::default();
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
    Ok(Json(HomeResponse {
        event,
        cards,
        setup: SetupResponse {
            lab_connected: lab::is_connected(control) || !services.services.is_empty(),
            phone_paired: told.places.iter().any(|place| place.target.is_some()),
            actions_loaded: status.actions > 0,
            decided_once: proposals::is_any_decided(control).await?,
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
