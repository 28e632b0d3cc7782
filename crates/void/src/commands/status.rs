//! `void status`

use serde_json::Value;

use super::doctor::clocks;
use super::freeze;
use super::rows::word;
use super::{Session, storage};
use crate::exit::{Exit, Problem};
use crate::output::{Output, Tone};

/// Whether somebody hears of what is down: said if nobody does.
fn told(output: &Output, status: &Value) -> Option<String> {
    let number = |name: &str| status.get(name).and_then(Value::as_u64).unwrap_or(0);
    let untold = number("services_untold");
    if number("channels") == 0 {
        let down = match untold {
            0 => String::new(),
            1 => ", not even that a service is down".to_owned(),
            n => format!(", not even that {n} services are down"),
        };
        return Some(format!(
            "Told      nobody is told anything{down}: set TELEGRAM_BOT_TOKEN or NTFY_URL   docs/notifications.md"
        ));
    }
    let text = match untold {
        0 => return None,
        1 => "nobody could be told that a service is down".to_owned(),
        n => format!("nobody could be told that {n} services are down"),
    };
    let text = output.tone(Tone::Bad, &text);
    Some(format!("Told      {text}   void notify ls"))
}

pub(super) async fn status(session: &Session<'_>) -> Result<Exit, Problem> {
    let client = session.client()?;
    let status = client.get("/api/status").await?;
    if session.output.json {
        session.output.value(status);
        return Ok(Exit::Done);
    }
    let output = session.output;
    let number = |name: &str| status.get(name).and_then(Value::as_u64).unwrap_or(0);
    output.line(format!(
        "Void      {} at {}",
        word(&status, "version"),
        client.base()
    ));
    if status.get("rehearsal") == Some(&Value::Bool(true)) {
        let text = output.tone(Tone::Waiting, "REHEARSAL");
        output.line(format!("Lab       {text}: simulated, on this machine only"));
    }
    let digest = word(&status, "catalogue_digest").get(..12).unwrap_or("-");
    let commit = status.get("catalogue_commit").and_then(Value::as_str);
    let commit = commit
        .map(|commit| format!(", commit {}", commit.get(..12).unwrap_or(commit)))
        .unwrap_or_default();
    output.line(format!(
        "Catalogue {} actions, {digest}{commit}",
        number("actions")
    ));
    let waiting = match number("waiting") {
        0 => "nothing".to_owned(),
        1 => output.tone(Tone::Waiting, "1 approval") + "   void inbox ls",
        n => output.tone(Tone::Waiting, &format!("{n} approvals")) + "   void inbox ls",
    };
    let waiting = match (number("waiting"), number("joins")) {
        (_, 0) => waiting,
        (waits, joins) => {
            let machines = match joins {
                1 => "1 machine that asks to join".to_owned(),
                n => format!("{n} machines that ask to join"),
            };
            let machines = output.tone(Tone::Waiting, &machines) + "   void node ls";
            match waits {
                0 => machines,
                _ => format!("{waiting}\n          {machines}"),
            }
        }
    };
    output.line(format!("Waiting   {waiting}"));
    if number("untold") > 0 {
        let text = format!("nobody could be told about {}", number("untold"));
        output.line(format!(
            "Untold    {}   void notify ls",
            output.tone(Tone::Bad, &text)
        ));
    }
    if let Some(line) = told(output, &status) {
        output.line(line);
    }
    output.line(format!("Running   {}", number("running")));
    let (up, down, unclear) = (
        number("services_up"),
        number("services_down"),
        number("services_unknown"),
    );
    let stopped = number("services_stopped");
    if up + down + unclear + stopped > 0 {
        let mut words = vec![format!("{up} up")];
        if down > 0 {
            words.push(output.tone(Tone::Bad, &format!("{down} down")));
        }
        if unclear > 0 {
            words.push(format!("{unclear} unknown"));
        }
        if stopped > 0 {
            words.push(output.tone(Tone::Dim, &format!("{stopped} stopped by you")));
        }
        output.line(format!("Services  {}   void services", words.join(", ")));
    }
    if number("mutes") > 0 {
        let text = format!("{}, not told while it lasts", number("mutes"));
        output.line(format!("Muted     {text}   void notify ls"));
    }
    if number("nodes") > 0 {
        let (here, away) = (number("nodes_here"), number("nodes") - number("nodes_here"));
        let away = match away {
            0 => String::new(),
            away => format!(", {}", output.tone(Tone::Bad, &format!("{away} away"))),
        };
        output.line(format!("Nodes     {here} here{away}   void node ls"));
    }
    if number("unknown") > 0 {
        let text = format!("{} with unknown outcome", number("unknown"));
        output.line(format!(
            "Worry     {}   void inbox ls",
            output.tone(Tone::Bad, &text)
        ));
    }
    if number("quarantined") > 0 {
        let text = format!("{} credentials of an older copy", number("quarantined"));
        output.line(format!(
            "Confirm   {}   void quarantine ls",
            output.tone(Tone::Bad, &text)
        ));
    }
    if let Some(ahead_s) = status.get("clock_ahead_s").and_then(Value::as_i64) {
        let text = format!(
            "{}; {} is in force",
            clocks::apart(ahead_s),
            output.times.exact(word(&status, "at"))
        );
        output.line(format!(
            "Clock     {}   void clock accept",
            output.tone(Tone::Bad, &text)
        ));
    }
    if status.get("frozen") == Some(&Value::Bool(true)) {
        output.line(format!(
            "Frozen    {}, {}   void thaw",
            output.tone(Tone::Bad, "nothing new starts"),
            freeze::told(&output.times, &status, "frozen_")
        ));
    }
    let instances: Vec<&str> = status
        .get("instances")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let others = match instances.len() {
        0 | 1 => String::new(),
        _ => format!(", of {}", instances.join(", ")),
    };
    output.line(format!("Instance  {}{others}", word(&status, "instance")));
    let head = word(&status, "audit_head").get(..12).unwrap_or("-");
    output.line(format!(
        "Audit     {} entries, head {head}",
        number("audit_seq")
    ));
    if let Some(storage) = status.get("storage") {
        let (bytes, rows) = (storage::bytes(storage), storage::rows(storage));
        output.line(format!("Storage   {bytes}; rows: {rows}"));
        output.line(format!("Kept      {}", storage::kept(storage)));
    }
    Ok(Exit::Done)
}
