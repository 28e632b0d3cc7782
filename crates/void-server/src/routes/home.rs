//! `/api/home`: what the page needs to begin, in one answer.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use void_api::home::{EmptyFileResponse, HomeResponse, SetupResponse};
use void_api::inbox::ItemResponse;
use void_api::proposals::RowResponse;
use void_control::proposals::ProposalKey;
use void_control::{home, hosts, status as summary};
use void_domain::proposals::Sight;

use super::cards::{self};
use super::{actions, freeze, inbox, mutes, services, session, status};
use crate::access::Admitted;
use crate::app::App;
use crate::errors::ApiError;
use crate::first_steps::{self, FirstSteps};
use crate::requests::{Caller, Query};
use crate::table::{Access, Route, json};
use crate::wire::listed_response;

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

const CARDS_SHOWN: usize = 3;

fn empty_files(first: &FirstSteps, actions: bool, services: bool) -> Vec<EmptyFileResponse> {
    let file = |what, path: &String, example: &String| EmptyFileResponse {
        what,
        path: path.clone(),
        example: example.clone(),
    };
    let actions = (!actions).then(|| {
        file(
            "actions".into(),
            &first.actions_file,
            &first.actions_example,
        )
    });
    let services = (!services).then(|| {
        file(
            "services".into(),
            &first.services_file,
            &first.services_example,
        )
    });
    actions.into_iter().chain(services).collect()
}

pub(crate) async fn show(
    State(app): State<App>,
    admitted: Admitted,
) -> Result<Json<HomeResponse>, ApiError> {
    let ctx = admitted.ctx.clone();
    let control = app.control();
    let event = control.hub().last_id().to_string();
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
    let known = summary::rows(control).await?;
    let mutes = mutes::of_rows(&known, control.clock().now());
    let rows = home::rows(control).await?;
    let sight = Sight::of(&admitted.ctx.actor);
    let recent = rows.ended.iter().map(|row| listed_response(row, sight));
    let recent: Vec<RowResponse> = recent.collect();
    let first = &app.shared().first_steps;
    let is_watching = !services.services.is_empty();
    let empty_files = empty_files(first, status.actions > 0, is_watching);
    let is_local_missing = hosts::is_local_missing(control).await;
    Ok(Json(HomeResponse {
        event,
        cards,
        setup: SetupResponse {
            lab_connected: first_steps::can_run(control, is_local_missing).await?,
            phone_paired: status.channels > 0,
            actions_loaded: status.actions > 0,
            decided_once: rows.is_any_decided,
            commands: match empty_files.as_slice() {
                [] => Vec::new(),
                _ => first.commands.clone(),
            },
            empty_files,
            called: first.called.clone(),
            program: first.program.clone(),
            owner_token_file: first.owner_token_file.clone(),
            provision: is_local_missing.then(|| format!("{} provision local", first.called)),
        },
        who: session::who(admitted).await.0,
        status,
        inbox,
        services,
        freeze,
        mutes,
        recent,
    }))
}
