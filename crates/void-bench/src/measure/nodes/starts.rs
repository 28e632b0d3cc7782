//! From a yes to the program that a node starts for it, by a clock that both sides share. The node is the product's
//! own, and the program is this one, which writes the time down and ends.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use void_testkit::Tethered;
use void_testkit::processes::Signal;

use super::{ask, token, wait_for};
use crate::Outcome;
use crate::measure::lists::write_list;
use crate::plan::Plan;
use crate::servers::{Server, folder_in, own_program};
use crate::statistics::{median, rounded};

const NODE: &str = "n1";
const ACTION: &str = "scale-web";
/// The owner reads before they tap; by then the node waits again.
const PAUSE: Duration = Duration::from_millis(100);

pub(super) async fn measure(plan: &Plan, place: &Path, program: &Path) -> Outcome<Value> {
    let folder = folder_in(place)?;
    let catalogue = json!({"hosts": {}, "actions": [
        {"id": ACTION, "kind": "scale", "node": NODE, "service": "web", "tier": "risky"},
    ]})
    .to_string();
    let server = Server::with_catalogue(program, folder.path(), &catalogue).await?;
    let token = token(&server, NODE).await?;
    let starts = folder.path().join("starts");
    // What the node's list allows: to write down that it happened.
    let argv = json!([own_program()?, "note-time", "--file", starts]);
    write_list(folder.path(), NODE, &catalogue, &argv)?;
    let _node = node(&server, program, folder.path(), &token)?;
    wait_for(&server, 1).await?;
    let mut times = Vec::new();
    for _ in 0..plan.node_starts {
        times.push(start(&server, &starts).await?);
    }
    times.sort_unstable_by(f64::total_cmp);
    let tail = times.get(times.len() * 9 / 10).copied().unwrap_or_default();
    Ok(json!({
        "starts": times.len(),
        "start_p50_ms": rounded(median(times.into_iter())),
        "start_p90_ms": rounded(tail),
    }))
}

/// The product's own node, let in by hand.
fn node(server: &Server, program: &Path, folder: &Path, token: &str) -> Outcome<Tethered> {
    let state = folder.join("node");
    fs::DirBuilder::new().mode(0o700).create(&state)?;
    fs::write(state.join("secret"), token)?;
    let known = json!({"url": format!("http://{}", server.address)});
    fs::write(state.join("server.json"), known.to_string())?;
    let command = format!(
        "exec env -i '{}' node run --trust-own-list --state '{}' --list '{}'",
        program.display(),
        state.display(),
        folder.join("list.json").display()
    );
    Ok(Tethered::start(&command, Signal::TERM, "true"))
}

/// Milliseconds from before the yes to the program's first line.
async fn start(server: &Server, starts: &Path) -> Outcome<f64> {
    let asked = ask(
        server,
        "POST",
        &format!("/api/actions/{ACTION}/run?wait=0"),
        "{}",
    )
    .await?;
    let id = asked.get("action_row_id").and_then(Value::as_str);
    let id = id.ok_or_else(|| format!("nothing was queued: {asked}"))?;
    tokio::time::sleep(PAUSE).await;
    let before = now_ms();
    let path = format!("/api/actions/pending/{id}/approve?wait=30");
    let row = ask(server, "POST", &path, "{}").await?;
    if row.get("status") != Some(&json!("executed")) {
        return Err(format!("it did not run: {row}").into());
    }
    let noted = fs::read_to_string(starts)?;
    let last = noted.lines().last().ok_or("no start was noted")?;
    Ok(last.parse::<f64>()? - before)
}

/// What this program does when a node starts it.
pub(crate) fn note_time(file: &Path) -> Outcome<()> {
    let now = now_ms();
    let mut file = OpenOptions::new().create(true).append(true).open(file)?;
    file.write_all(format!("{now}\n").as_bytes())?;
    Ok(())
}

/// Since boot, for every process of this machine alike.
fn now_ms() -> f64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}
