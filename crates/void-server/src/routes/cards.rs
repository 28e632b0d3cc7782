//! `/api/proposals/{id}/card`: everything that the owner reads before deciding.

mod differences;
pub(super) mod moved;

use std::time::Duration;

use axum::Json;
use axum::extract;
use axum::routing::get;
use void_api::cards::{AllowedBy, BoundResponse, CardResponse, InverseResponse, PastRunResponse};
use void_api::services::ServiceResponse;
use void_control::proposals::{self, Listed, ProposalKey};
use void_control::{Control, Ctx, health, token_taints};
use void_domain::cards::{Bound, Card, words_of};
use void_domain::catalogue::Risk;
use void_domain::executions::Execution;
use void_domain::knowledge::RunbookName;
use void_domain::limits::CRITICAL_AUTH_MAX_AGE;
use void_domain::proposals::{Proposal, Sight, State, Status, Transition};

use super::proposals::row_now;
use super::runbooks;
use super::services::service_response;
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Caller, Segment};
use crate::table::{Access, Route, json};
use crate::wire::row_response;

pub(super) const ROUTES: &[Route] = &[Route {
    method: "GET",
    path: "/api/proposals/{id}/card",
    access: Access::Read,
    operation: "getCard",
    summary: "Everything that the owner reads before deciding, by id or code",
    query: &[],
    request: None,
    response: json::<CardResponse>(),
    handler: || get(show),
}];

/// How many earlier runs a card tells of.
const RUNS_SHOWN: u32 = 10;
/// How many services it shows; a guest may have more.
const EVIDENCE_SHOWN: usize = 8;

pub(crate) async fn show(
    extract::State(app): extract::State<App>,
    Caller(ctx): Caller,
    Segment(key): Segment,
) -> Result<Json<CardResponse>, ApiError> {
    let missing = ApiError::no_proposal;
    let key = ProposalKey::parse(&key).ok_or_else(missing)?;
    card(app.control(), &ctx, key)
        .await?
        .map(Json)
        .ok_or_else(missing)
}

/// The card of a proposal, as far as the caller may see it.
pub(crate) async fn card(
    control: &Control,
    ctx: &Ctx,
    key: ProposalKey,
) -> Result<Option<CardResponse>, ApiError> {
    let Some(found) = proposals::find(control, ctx, key).await? else {
        return Ok(None);
    };
    let proposal = &found.proposal;
    // A card tells what the words of a change name.
    token_taints::mark(control, ctx, &proposal.taint).await?;
    let card = Card::seen_with(proposal, &health::eyes(control));
    let catalogue = control.catalogue();
    let action = (proposal.subject.action_id()).and_then(|id| catalogue.get(id));
    let inverse = action
        .and_then(|action| action.inverse.as_ref())
        .and_then(|id| catalogue.get(id))
        .map(|inverse| InverseResponse {
            id: inverse.id.to_string(),
            label: inverse.label.clone(),
            tier: inverse.tier.as_str().into(),
        });
    let is_pending = proposal.status() == Status::Pending;
    let was_not_run = matches!(
        proposal.status(),
        Status::Pending | Status::Rejected | Status::Expired
    );
    let is_stale = ctx
        .authenticated_ago
        .is_some_and(|ago| ago > CRITICAL_AUTH_MAX_AGE);
    let runs = proposals::runs_before(control, proposal, RUNS_SHOWN).await?;
    Ok(Some(CardResponse {
        tier_words: card.tier.into(),
        evidence: evidence(control, proposal.subject.execution()),
        consequence: card.consequence,
        target: card.target,
        bound: card.bound.into_iter().map(bound_response).collect(),
        words_of: words_of(&card.asked_by),
        past: card.past,
        checked_by: card.checked_by,
        verify: (proposal.subject.execution()).and_then(|execution| execution.verify.clone()),
        inverse,
        allowed_by: AllowedBy {
            id: card.action_id,
            digest: card.digest.to_string(),
            commit: control.catalogue_commit().map(str::to_owned),
        },
        changed: was_not_run && !proposals::is_current(control, proposal),
        read_before: card.read_before,
        needs_login: is_pending && proposal.subject.risk == Risk::Critical && is_stale,
        runs: runs.iter().map(run_response).collect(),
        difference: differences::of(proposal).await?,
        moved: moved::of(control, ctx, proposal).await?,
        runbooks: runbooks::about(control, ctx, &named(control, proposal)).await?,
        row: row_now(control, &found, Sight::of(&ctx.actor)),
    }))
}

/// What a runbook may be about that has to do with it: its action, and the services that it is about.
fn named(control: &Control, proposal: &Proposal) -> Vec<RunbookName> {
    let action = proposal.subject.action_id().cloned();
    let execution = proposal.subject.execution();
    let about = execution.map(|execution| health::about(control, execution));
    let services = about.into_iter().flatten().take(EVIDENCE_SHOWN);
    let services = services.map(|view| RunbookName::Service(view.service.id));
    action
        .map(RunbookName::Action)
        .into_iter()
        .chain(services)
        .collect()
}

fn evidence(control: &Control, execution: Option<&Execution>) -> Vec<ServiceResponse> {
    let about = execution.map(|execution| health::about(control, execution));
    let about = about.into_iter().flatten().take(EVIDENCE_SHOWN);
    about.map(service_response).collect()
}

fn bound_response(bound: Bound) -> BoundResponse {
    BoundResponse {
        name: bound.name,
        value: bound.value,
        is_param: bound.is_param,
    }
}

fn run_response(run: &Listed) -> PastRunResponse {
    // Nothing of the outcome itself is shown of it.
    let row = row_response(run, Sight::WithoutForeign);
    let at = |is_it: fn(&Transition) -> bool| {
        let step = run.history.iter().find(|step| is_it(step));
        step.map(|step| step.at)
    };
    let started = at(|step| step.to == Status::Running);
    let ended = at(|step| step.from == Some(Status::Running));
    let took = started.zip(ended).map(|(start, end)| end.since(start));
    // What no machine ran took no time.
    let took = took.filter(|_| has_run(&run.proposal.state));
    PastRunResponse {
        id: row.id,
        code: row.code,
        status: row.status,
        display_state: row.display_state,
        verification: row.verification,
        started_at: started.map(|at| at.to_string()),
        took_ms: took.map(millis),
    }
}

/// Whether a machine ran it: it said how that ended.
const fn has_run(state: &State) -> bool {
    match state {
        State::Executed { .. } => true,
        State::Failed { failure, .. } | State::Unknown { failure, .. } => failure.result.is_some(),
        _ => false,
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
