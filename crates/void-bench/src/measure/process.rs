//! The binary itself: how fast it is there, what it needs while nothing happens, how big it is.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::Outcome;
use crate::plan::Plan;
use crate::servers::{Resident, Server, folder_in};
use crate::statistics::{median, rounded};

/// A homelab's catalogue has about this many of each tier.
pub(crate) const ACTIONS: usize = 10;

pub(crate) async fn measure(plan: &Plan, place: &Path, program: &Path) -> Outcome<Value> {
    let (mut first, mut again) = (Vec::new(), Vec::new());
    let mut idle = Resident::default();
    for start in 0..plan.starts {
        let folder = folder_in(place)?;
        let server = Server::product(program, folder.path(), ACTIONS).await?;
        first.push(milliseconds(&server));
        if start == 0 {
            tokio::time::sleep(plan.settle).await;
            idle = server.resident_bytes()?;
        }
        drop(server);
        again.push(milliseconds(
            &Server::product(program, folder.path(), ACTIONS).await?,
        ));
    }
    Ok(json!({
        "first_start_to_ready_ms": rounded(median(first.into_iter())),
        "start_to_ready_ms": rounded(median(again.into_iter())),
        "idle_resident_bytes": idle.all,
        "idle_own_bytes": idle.own,
        "binary_bytes": fs::metadata(program)?.len(),
    }))
}

pub(super) fn milliseconds(server: &Server) -> f64 {
    server.ready_after.as_secs_f64() * 1_000.0
}
