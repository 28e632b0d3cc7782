//! The floor: a durable record of every step and nothing else. Its tables are its own: a row, an index, an audit row,
//! committed in groups. No fence, no caller, no catalogue, no policy, no hash, no read. Like Void it has the claim on
//! the disk before anything runs. What Void costs above this is its own.

mod rows;
#[cfg(test)]
mod tests;
mod writer;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use axum::Router;
use axum::extract::{Path as Segment, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio::net::TcpListener;

use self::rows::Step;
use self::writer::Writer;
use crate::Outcome;

const FILE: &str = "floor.db";

#[derive(Clone)]
struct Floor {
    writer: Writer,
    wishes: Arc<AtomicI64>,
}

/// Serves until the process is ended.
pub(crate) async fn serve(folder: &Path, port: u16) -> Outcome<()> {
    let floor = Floor {
        writer: Writer::start(&folder.join(FILE))?,
        wishes: Arc::default(),
    };
    let router = Router::new()
        .route("/readyz", get(async || "ready"))
        .route("/api/actions/{id}/run", post(run))
        .route("/api/actions/pending/{rowId}/approve", post(approve))
        .with_state(floor);
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], port))).await?;
    use axum::serve::ListenerExt as _;
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, router).await?;
    Ok(())
}

async fn run(
    State(floor): State<Floor>,
    Segment(action): Segment<String>,
    _body: String,
) -> Response {
    let number = floor.wishes.fetch_add(1, Ordering::Relaxed) + 1;
    let id = rows::id(number);
    let wish = rows::FloorRequest {
        id: id.clone(),
        number,
        action,
    };
    if !wish.action.starts_with("safe") {
        if !floor.writer.write(Step::Queue(wish)).await {
            return StatusCode::CONFLICT.into_response();
        }
        return json(format!(r#"{{"queued":true,"action_row_id":"{id}"}}"#));
    }
    let ran = floor.writer.write(Step::Start(wish)).await
        && floor.writer.write(Step::Finish(id.clone())).await;
    if !ran {
        return StatusCode::CONFLICT.into_response();
    }
    json(format!(
        r#"{{"executed":true,"result":{},"action_row_id":"{id}"}}"#,
        rows::RESULT
    ))
}

/// Two transactions, one after the other, as at Void: the claim is on disk before anything runs.
async fn approve(
    State(floor): State<Floor>,
    Segment(id): Segment<String>,
    _body: String,
) -> Response {
    let ran = floor.writer.write(Step::Claim(id.clone())).await
        && floor.writer.write(Step::Finish(id.clone())).await;
    if !ran {
        return StatusCode::CONFLICT.into_response();
    }
    json(format!(r#"{{"id":"{id}","status":"executed"}}"#))
}

fn json(body: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}
