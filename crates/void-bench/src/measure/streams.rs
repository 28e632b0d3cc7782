//! What an idle event listener costs the product in memory.

use std::path::Path;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};

use crate::Outcome;
use crate::http::{self, Connection};
use crate::measure::process::ACTIONS;
use crate::plan::Plan;
use crate::servers::{Server, folder_in};

/// Descriptors for everything beside what is counted.
pub(super) const DESCRIPTORS_BESIDE: u64 = 200;

pub(crate) async fn measure(plan: &Plan, place: &Path, program: &Path) -> Outcome<Value> {
    let listeners = plan.listeners;
    allow_descriptors(u64::try_from(listeners)? + DESCRIPTORS_BESIDE)?;
    let folder = folder_in(place)?;
    let server = Server::product(program, folder.path(), ACTIONS).await?;
    tokio::time::sleep(plan.settle).await;
    let before = server.resident_bytes()?;
    let mut open = Vec::with_capacity(listeners);
    for _ in 0..listeners {
        let mut connection = Connection::open(server.address).await?;
        connection
            .send(&http::request("GET", "/api/events", ""))
            .await?;
        connection.read_until(b"retry: ").await?;
        open.push(connection);
    }
    tokio::time::sleep(plan.settle).await;
    let after = server.resident_bytes()?;
    drop(open);
    let per_listener = after.all.saturating_sub(before.all) / u64::try_from(listeners.max(1))?;
    Ok(json!({
        "listeners": listeners,
        "resident_bytes_before": before.all,
        "resident_bytes_after": after.all,
        "bytes_per_listener": per_listener,
    }))
}

/// Here and, by inheritance, in the server.
pub(super) fn allow_descriptors(wanted: u64) -> Outcome<()> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= wanted) {
        return Ok(());
    }
    let raised = Rlimit {
        current: Some(limit.maximum.map_or(wanted, |maximum| maximum.min(wanted))),
        ..limit
    };
    setrlimit(Resource::Nofile, raised)?;
    Ok(())
}
