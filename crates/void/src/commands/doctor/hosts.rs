//! The machines of the catalogue, as the server reaches them: key, list, stop file.

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use void_domain::catalogue::Catalogue;

use super::findings::Findings;
use crate::client::Client;
use crate::commands::hosts::{is_mended_by_provisioning, provision};
use crate::commands::rows::word;
use crate::commands::run::segment;
use crate::exit::Problem;

/// One that is down takes its time to be given up.
const AT_ONCE: usize = 8;

pub(super) async fn check(client: &Client, findings: &mut Findings) {
    let answer = match client.get("/api/hosts").await {
        Ok(answer) => answer,
        Err(problem) => {
            findings.warn(
                "host",
                problem.message,
                "set OWNER_TOKEN: only the owner may ask about machines",
            );
            return;
        }
    };
    let hosts = answer.get("hosts").and_then(Value::as_array);
    let used = hosts.into_iter().flatten().filter(|host| {
        let count = host.get("actions").and_then(Value::as_u64);
        count != Some(0)
    });
    let mut asked = stream::iter(used)
        .map(|host| async move { (host, ask(client, host).await) })
        .buffered(AT_ONCE);
    while let Some((host, answer)) = asked.next().await {
        match answer {
            Ok(checked) => describe(host, &checked, findings),
            Err(problem) => {
                let message = format!("{}: {}", word(host, "name"), problem.message);
                findings.wrong("host", message, "void hosts ls");
            }
        }
    }
}

/// Asking from here would open connections and lay files where only the server does.
pub(super) fn not_asked(catalogue: Option<&Catalogue>, findings: &mut Findings) {
    let used = catalogue.map_or(0, |catalogue| {
        let hosts = catalogue.hosts();
        hosts
            .filter(|host| catalogue.actions_on(&host.name).next().is_some())
            .count()
    });
    if used > 0 {
        let message = "not asked: the server does that";
        findings.warn("host", message, "void serve, then void doctor again");
    }
}

async fn ask(client: &Client, host: &Value) -> Result<Value, Problem> {
    let path = format!("/api/hosts/{}/check", segment(word(host, "name")));
    client.post(&path, json!({})).await
}

fn describe(host: &Value, checked: &Value, findings: &mut Findings) {
    let name = word(host, "name");
    if let Some(error) = checked.get("error").filter(|error| error.is_object()) {
        let message = format!("{name}: {}", word(error, "message"));
        if word(error, "code") == "other_instance" {
            findings.fine("host", message);
            return;
        }
        let (check, next) = next_after(host, word(error, "code"));
        findings.wrong(check, message, next);
    } else if let Some(drift) = checked.get("drift").and_then(Value::as_str) {
        let next = format!("void {}", provision(name));
        findings.wrong("host", format!("{name}: {drift}"), next);
    } else if let Some((id, why)) = first_that_cannot_run(checked) {
        let next = format!("void {}", provision(name));
        findings.wrong("host", format!("{name}: {id} cannot run: {why}"), next);
    } else if checked.get("stopped") == Some(&Value::Bool(true)) {
        let next = format!("remove the stop file on {name} when it may run again");
        findings.warn("host", format!("{name}: its stop file is set"), next);
    } else {
        let message = format!("{name}: reachable, its list is as the catalogue says and could run");
        findings.fine("host", message);
    }
}

/// sudo refuses it, or its program is missing.
fn first_that_cannot_run(checked: &Value) -> Option<(&str, &str)> {
    let cannot = checked.get("cannot")?.as_object()?;
    let (id, why) = cannot.iter().next()?;
    Some((id, why.as_str().unwrap_or("-")))
}

pub(super) fn next_after(host: &Value, code: &str) -> (&'static str, String) {
    let name = word(host, "name");
    let trust = if host.get("pinned") == Some(&Value::Bool(true)) {
        format!("write its new key as host_key of {name} into the catalogue")
    } else {
        format!("void hosts trust {name} --fingerprint SHA256:…")
    };
    let look = "on the machine: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub";
    match code {
        "host_key_unknown" => ("host key", format!("{look}; if it is the same: {trust}")),
        "host_key_changed" => (
            "host key",
            format!(
                "find out why. If the machine was set up anew, {look}; if it is the same: {trust}"
            ),
        ),
        "host_key_revoked" => (
            "host key",
            format!("give {name} another host key, compare it, then {trust}"),
        ),
        code if is_mended_by_provisioning(code) => ("host", format!("void {}", provision(name))),
        "unreachable" => (
            "host",
            format!("is {name} up, and its address right? then void hosts check {name}"),
        ),
        "instance_away" => ("host", "start that instance again".to_owned()),
        "ambiguous_host" => (
            "host",
            format!("write \"instance\" at {name} under hosts of the catalogue"),
        ),
        _ => ("host", format!("void hosts check {name}")),
    }
}
