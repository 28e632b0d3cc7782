//! `/api/bridge`: the file bridge, looked at. Nothing here changes it.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use serde::Deserialize;
use void_api::bridge::{BridgeResponse, InvalidResponse, MoveResponse, MovesResponse};
use void_bridge::{MoveSeen, Report};

use crate::app::App;
use crate::errors::ApiError;
use crate::parameters::WAIT_SECONDS_MAX;
use crate::requests::Query;
use crate::table::{Access, Parameter, Route, WAIT, json};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/bridge",
        access: Access::Owner,
        operation: "getBridge",
        summary: "The file bridge: its folder, what is in it, and what was set aside",
        query: &[],
        request: None,
        response: json::<BridgeResponse>(),
        handler: || get(show),
    },
    Route {
        method: "GET",
        path: "/api/bridge/moves",
        access: Access::Owner,
        operation: "listBridgeMoves",
        summary: "What moved in the bridge's folder; waits for the next move",
        query: &[
            Parameter {
                name: "after",
                kind: "integer",
                meaning: "`last` of the answer before; from now on if left out",
            },
            WAIT,
        ],
        request: None,
        response: json::<MovesResponse>(),
        handler: || get(moves),
    },
];

const WAIT_SECONDS_DEFAULT: u64 = 30;

fn bridge_response(report: Report) -> BridgeResponse {
    BridgeResponse {
        enabled: true,
        folder: Some(report.folder.display().to_string()),
        decisions: report.decisions,
        problem: report.problem,
        last_scan_at: report.last_scan_at.map(|at| at.to_string()),
        counts: report
            .counts
            .iter()
            .map(|counted| (counted.place.to_string(), counted.files))
            .collect(),
        foreign: report.foreign,
        invalid: report
            .invalid
            .into_iter()
            .map(|invalid| InvalidResponse {
                file: invalid.file,
                reason: invalid.reason,
            })
            .collect(),
    }
}

pub(crate) async fn show(State(app): State<App>) -> Json<BridgeResponse> {
    let Some(bridge) = app.bridge() else {
        return Json(BridgeResponse::default());
    };
    Json(bridge_response(bridge.report().await))
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MovesQuery {
    after: Option<u64>,
    wait: Option<u64>,
}

fn move_response(seen: MoveSeen) -> MoveResponse {
    MoveResponse {
        seq: seen.seq,
        at: seen.at.to_string(),
        file: seen.file,
        from: seen.from,
        to: seen.to,
        note: seen.note,
    }
}

pub(crate) async fn moves(
    State(app): State<App>,
    Query(query): Query<MovesQuery>,
) -> Result<Json<MovesResponse>, ApiError> {
    let wait = query.wait.unwrap_or(WAIT_SECONDS_DEFAULT);
    if wait > WAIT_SECONDS_MAX {
        let message = format!("is 0 to {WAIT_SECONDS_MAX} seconds");
        return Err(ApiError::invalid_field("wait", message));
    }
    let bridge = app.bridge();
    let (moves, last) = match bridge {
        Some(bridge) => bridge.moves(query.after, Duration::from_secs(wait)).await,
        None => (Vec::new(), 0),
    };
    let enabled = bridge.is_some();
    Ok(Json(MovesResponse {
        enabled,
        moves: moves.into_iter().map(move_response).collect(),
        last,
    }))
}
