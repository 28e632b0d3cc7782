//! "Is anything running out?": how busy and how full machines are, as the lab tells it, and what no tool sees.

use serde_json::{Value, json};

use super::results::{list, text, trouble};
use super::services::{is_fine, name, named, state_of};
use super::words::Sentence;
use super::{Knowledge, Next};

/// From here on something is nearly full.
const TIGHT_PERCENT: u64 = 85;
/// Of guests that are nearly full.
const NAMED_MAX: usize = 8;
const GIB: u64 = 1 << 30;

/// What is asked for that no tool tells.
const UNSEEN: &str = "backup backups sicherung sicherungen snapshot snapshots zfs raid temperature temperatures temps temperatur \
    temperaturen heiss hot warm stromverbrauch power watt energy verbrauch zertifikat zertifikate certificate certificates certs \
    bandwidth bandbreite traffic swap update updates upgrade upgrades aktualisierung aktualisierungen quota";
const UNSEEN_SAID: &str = "I cannot see temperatures, power, network traffic, certificates, backups or updates: I see whether services \
     answer, and how full machines are. `void backup ls` shows the copies of Void's own data.";

pub(super) fn running_out(turn: &Knowledge<'_>, sentence: &Sentence) -> Next {
    if sentence.has_any(UNSEEN) {
        return Next::say(UNSEEN_SAID);
    }
    let asked = turn.results("service_status");
    let asked = asked.filter(|(arguments, _)| arguments.get("load") == Some(&json!(true)));
    let Some((_, found)) = asked.last() else {
        return Next::look("service_status", json!({"load": true}));
    };
    if let Some(said) = trouble(found) {
        return Next::say(said);
    }
    let services = list(found, "services");
    let Some(machines) = found.get("machines").filter(|it| it["connected"] == true) else {
        return Next::say(with_worries(
            "No Proxmox is connected, so I cannot see disks, memory or load.".to_owned(),
            services,
        ));
    };
    if list(machines, "nodes").is_empty() {
        let why = text(machines, "problem");
        return Next::say(with_worries(
            format!(
                "The lab does not tell how full its machines are just now ({why}); the Lab page says more."
            ),
            services,
        ));
    }
    let said = match named(sentence, services).as_slice() {
        [service] => of_service(service, machines),
        _ => None,
    };
    Next::say(said.unwrap_or_else(|| with_worries(of_all(machines), services)))
}

fn of_all(machines: &Value) -> String {
    let nodes: Vec<String> = (list(machines, "nodes").iter())
        .map(|node| format!("{}: {}", text(node, "name"), shares(node)))
        .collect();
    let all = list(machines, "nodes")
        .iter()
        .chain(list(machines, "guests"));
    let tight: Vec<String> = all.flat_map(tight).take(NAMED_MAX).collect();
    let mut said = match tight.as_slice() {
        [] => format!(
            "Nothing is nearly full: no memory and no disk that I can see is above {TIGHT_PERCENT} %."
        ),
        tight => format!("Nearly full:\n- {}", tight.join("\n- ")),
    };
    said.push_str(&format!("\n\n- {}", nodes.join("\n- ")));
    if !text(machines, "problem").is_empty() {
        said.push_str("\n\nGuests are hidden from Void\u{2019}s token; the Lab page says why.");
    }
    said
}

/// What of a machine is nearly full.
fn tight(machine: &Value) -> Vec<String> {
    let called = match machine.get("vmid") {
        Some(vmid) => format!("guest {vmid} on {}", text(machine, "node")),
        None => text(machine, "name").to_owned(),
    };
    let parts = [("memory", "memory_percent"), ("disk", "disk_percent")];
    let parts = parts.into_iter().filter_map(|(part, field)| {
        let share = machine.get(field)?.as_u64()?;
        (share >= TIGHT_PERCENT).then(|| format!("the {part} of {called}: {share} %"))
    });
    parts.collect()
}

fn shares(machine: &Value) -> String {
    let number = |field: &str| machine.get(field).and_then(Value::as_u64);
    let of = |part: &str, percent: &str, max: &str| {
        let share = number(percent)?;
        let max = number(max).map(|bytes| format!(" of {} GiB", bytes.div_ceil(GIB)));
        Some(format!("{part} {share} %{}", max.unwrap_or_default()))
    };
    let processor = number("cpu_percent").map(|share| match number("cpus") {
        Some(cpus) => format!("processor {share} % of {cpus}"),
        None => format!("processor {share} %"),
    });
    let parts = [
        processor,
        of("memory", "memory_percent", "memory_bytes_max"),
        of("disk", "disk_percent", "disk_bytes_max"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.is_empty() {
        true => format!("{}, and nothing more is known", text(machine, "status")),
        false => parts.join(", "),
    }
}

/// The guest that it is on; `None` if Proxmox does not tell of it.
fn of_service(service: &Value, machines: &Value) -> Option<String> {
    let (vmid, node) = text(service, "runs_on").split_once(" on ")?;
    let is_it =
        |guest: &&Value| guest["vmid"].as_u64() == vmid.parse().ok() && text(guest, "node") == node;
    let guest = list(machines, "guests").iter().find(is_it)?;
    Some(format!(
        "{} is on guest {vmid} on {node}, which has: {}.",
        name(service),
        shares(guest)
    ))
}

/// Beside it what checks see.
fn with_worries(mut said: String, services: &[Value]) -> String {
    let bad: Vec<String> = (services.iter())
        .filter(|service| !is_fine(service))
        .map(|service| format!("{} {}", name(service), state_of(service)))
        .collect();
    if !bad.is_empty() {
        said.push_str(&format!("\n\nNot well just now:\n- {}", bad.join("\n- ")));
    }
    said
}
