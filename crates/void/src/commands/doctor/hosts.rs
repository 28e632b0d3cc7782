//! The machines of the catalogue, as the server reaches them: key, list, stop file.

use futures_util::{StreamExt as _, stream};
use serde_json::json;
use void_api::hosts::{CheckResponse, HostResponse, HostsResponse};
use void_domain::catalogue::Catalogue;
use void_domain::failures::FailureCode;

use super::findings::Findings;
use crate::client::{Client, read};
use crate::commands::hosts::{is_mended_by_provisioning, provision};
use crate::commands::run::segment;
use crate::exit::CommandError;

/// One that is down takes its time to be given up.
const AT_ONCE: usize = 8;

pub(super) async fn check(client: &Client, findings: &mut Findings) {
    let HostsResponse { hosts } = match client.get_as("/api/hosts").await {
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
    let used = hosts.iter().filter(|host| host.actions > 0);
    let mut asked = stream::iter(used)
        .map(|host| async move { (host, ask(client, host).await) })
        .buffered(AT_ONCE);
    while let Some((host, answer)) = asked.next().await {
        match answer {
            Ok(checked) => describe(host, &checked, findings),
            Err(problem) => {
                let message = format!("{}: {}", host.name, problem.message);
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

async fn ask(client: &Client, host: &HostResponse) -> Result<CheckResponse, CommandError> {
    let path = format!("/api/hosts/{}/check", segment(&host.name));
    read(client.post(&path, &json!({})).await?)
}

fn describe(host: &HostResponse, checked: &CheckResponse, findings: &mut Findings) {
    let name = &host.name;
    if let Some(error) = &checked.error {
        let message = format!("{name}: {}", error.message);
        let code = FailureCode::parse(&error.code);
        if code == Some(FailureCode::OtherInstance) {
            findings.fine("host", message);
            return;
        }
        let (check, next) = next_after(name, host.pinned, code);
        findings.wrong(check, message, next);
    } else if let Some(drift) = &checked.drift {
        let next = format!("void {}", provision(name));
        findings.wrong("host", format!("{name}: {drift}"), next);
    } else if let Some((id, why)) = checked.cannot.first_key_value() {
        // sudo refuses it, or its program is missing.
        let next = format!("void {}", provision(name));
        findings.wrong("host", format!("{name}: {id} cannot run: {why}"), next);
    } else if checked.stopped == Some(true) {
        let next = format!("remove the stop file on {name} when it may run again");
        findings.warn("host", format!("{name}: its stop file is set"), next);
    } else {
        let message = format!("{name}: reachable, its list is as the catalogue says and could run");
        findings.fine("host", message);
    }
}

/// Which check it is of, and what to do; a key that is `pinned` stands in the catalogue.
pub(super) fn next_after(
    name: &str,
    pinned: bool,
    code: Option<FailureCode>,
) -> (&'static str, String) {
    let trust = if pinned {
        format!("write its new key as host_key of {name} into the catalogue")
    } else {
        format!("void hosts trust {name} --fingerprint SHA256:…")
    };
    let look = "on the machine: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub";
    let Some(code) = code else {
        return ("host", format!("void hosts check {name}"));
    };
    match code {
        FailureCode::HostKeyUnknown => ("host key", format!("{look}; if it is the same: {trust}")),
        FailureCode::HostKeyChanged => (
            "host key",
            format!(
                "find out why. If the machine was set up anew, {look}; if it is the same: {trust}"
            ),
        ),
        FailureCode::HostKeyRevoked => (
            "host key",
            format!("give {name} another host key, compare it, then {trust}"),
        ),
        code if is_mended_by_provisioning(code) => ("host", format!("void {}", provision(name))),
        FailureCode::Unreachable => (
            "host",
            format!("is {name} up, and its address right? then void hosts check {name}"),
        ),
        FailureCode::InstanceAway => ("host", "start that instance again".to_owned()),
        FailureCode::AmbiguousHost => (
            "host",
            format!("write \"instance\" at {name} under hosts of the catalogue"),
        ),
        _ => ("host", format!("void hosts check {name}")),
    }
}
