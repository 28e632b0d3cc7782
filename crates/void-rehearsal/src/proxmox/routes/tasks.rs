//! A node's tasks: the list with its filters, one task's status, one task's log.
//!
//! Without `Sys.Audit` on the node a token sees its own tasks only. The list is of ended tasks unless
//! `source` says otherwise; `total` counts before `start` and `limit`. A log asked for with a task id
//! that nobody has is no error but one line, and that an object instead of a list, as Proxmox says it.

use serde_json::{Value, json};

use crate::proxmox::answers::{ApiResponse, Refusal};
use crate::proxmox::cluster::Cluster;
use crate::proxmox::routes::Call;
use crate::proxmox::tasks::{Task, TaskState, Upid};

const LIMIT_DEFAULT: usize = 50;

pub(super) fn list(call: &Call<'_>) -> Result<ApiResponse, Refusal> {
    let node = call.node();
    let source = call.params.text("source").unwrap_or("archive");
    let start = call.params.number("start").unwrap_or(0_usize);
    let limit = call.params.number("limit").unwrap_or(LIMIT_DEFAULT);
    let (rows, total) = call.simulation.with(|cluster| {
        let auditor = cluster
            .access
            .allows(call.who, &format!("/nodes/{node}"), "Sys.Audit");
        let running = cluster.tasks.running().filter(|_| source != "archive");
        let ended = cluster.tasks.ended().filter(|_| source != "active");
        let matching: Vec<&Task> = running
            .chain(ended)
            .filter(|task| task.upid.node == node)
            .filter(|task| auditor || is_own(call, task))
            .filter(|task| is_wanted(call, task))
            .collect();
        let rows = matching
            .iter()
            .skip(start)
            .take(limit)
            .map(|task| task.row());
        (rows.collect::<Vec<_>>(), matching.len())
    });
    Ok(ApiResponse {
        data: rows.into(),
        total,
    })
}

pub(super) fn status(call: &Call<'_>) -> Result<ApiResponse, Refusal> {
    let (text, upid) = wanted_task(call)?;
    let node = call.node();
    let found = call
        .simulation
        .with(|cluster| find(cluster, &node, text).map(Task::status));
    let status = found.ok_or_else(|| Refusal::parameter("upid", "no such task"))?;
    refuse_strangers(call, &upid, &node)?;
    Ok(ApiResponse::new(status))
}

pub(super) fn log(call: &Call<'_>) -> Result<ApiResponse, Refusal> {
    let (text, upid) = wanted_task(call)?;
    let node = call.node();
    refuse_strangers(call, &upid, &node)?;
    let lines = call
        .simulation
        .with(|cluster| find(cluster, &node, text).map(Task::log));
    let Some(mut lines) = lines else {
        let only = json!({"n": 1, "t": "unable to open file - No such file or directory"});
        return Ok(ApiResponse {
            data: only,
            total: 1,
        });
    };
    if lines.is_empty() {
        lines.push("no content".to_owned());
    }
    let start = call.params.number("start").unwrap_or(0_usize);
    let limit = match call.params.number("limit").unwrap_or(LIMIT_DEFAULT) {
        0 => usize::MAX,
        limit => limit,
    };
    let numbered = (1..).zip(&lines).skip(start).take(limit);
    let data: Vec<Value> = numbered
        .map(|(n, t): (u32, _)| json!({"n": n, "t": t}))
        .collect();
    Ok(ApiResponse {
        data: data.into(),
        total: lines.len(),
    })
}

fn wanted_task<'a>(call: &'a Call<'_>) -> Result<(&'a str, Upid), Refusal> {
    let text = call.params.text("upid").unwrap_or_default();
    let upid = Upid::parse(text)
        .ok_or_else(|| Refusal::parameter("upid", "unable to parse worker upid"))?;
    Ok((text, upid))
}

/// Its file is on the node that ran it.
fn find<'a>(cluster: &'a Cluster, node: &str, upid: &str) -> Option<&'a Task> {
    cluster
        .tasks
        .find(upid)
        .filter(|task| task.upid.node == node)
}

fn refuse_strangers(call: &Call<'_>, upid: &Upid, node: &str) -> Result<(), Refusal> {
    let path = format!("/nodes/{node}");
    if upid.user == call.who.full() || call.may(&path, "Sys.Audit") {
        return Ok(());
    }
    Err(Refusal::permission(&format!("{path}, Sys.Audit")))
}

fn is_own(call: &Call<'_>, task: &Task) -> bool {
    task.upid.user == call.who.full()
}

fn is_wanted(call: &Call<'_>, task: &Task) -> bool {
    let (params, upid) = (&call.params, &task.upid);
    // A running task is listed with user and token in one, and filtered so.
    let user = if task.is_running() {
        &upid.user
    } else {
        upid.owner().0
    };
    let is_absent_or = |name: &str, fits: &dyn Fn(&str) -> bool| params.text(name).is_none_or(fits);
    let began = i64::try_from(upid.starttime).unwrap_or(i64::MAX);
    is_absent_or("userfilter", &|part| {
        user.to_lowercase().contains(&part.to_lowercase())
    }) && is_absent_or("typefilter", &|kind| kind.is_empty() || kind == upid.kind)
        && is_absent_or("vmid", &|vmid| vmid == upid.id)
        && params.number("since").is_none_or(|since| began >= since)
        && params.number("until").is_none_or(|until| began <= until)
        && has_wanted_status(call, task)
}

fn has_wanted_status(call: &Call<'_>, task: &Task) -> bool {
    let status = match &task.state {
        TaskState::Running => "unknown",
        TaskState::Ended { exit, .. } if exit == "OK" => "ok",
        TaskState::Ended { .. } => "error",
    };
    if call.params.is_set("errors") {
        return status != "ok";
    }
    let Some(wanted) = call.params.text("statusfilter") else {
        return true;
    };
    let mut words = wanted.split([',', ';', ' ']);
    words.any(|word| word.eq_ignore_ascii_case(status))
}
