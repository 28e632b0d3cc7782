//! `void hosts`

use serde_json::{Value, json};
use void_domain::hosts::HostName;
use void_domain::text;

use super::rows::word;
use super::run::segment;
use super::{Session, doctor, patiently, quoted};
use crate::cli::HostsCommand;
use crate::exit::{Exit, Problem};
use crate::output::Tone;

pub(super) async fn run(session: &Session<'_>, command: HostsCommand) -> Result<Exit, Problem> {
    match command {
        HostsCommand::Ls => list(session).await,
        HostsCommand::Check { name } => check(session, &name).await,
        HostsCommand::Trust { name, fingerprint } => trust(session, &name, &fingerprint).await,
    }
}

async fn list(session: &Session<'_>) -> Result<Exit, Problem> {
    let answer = session.client()?.get("/api/hosts").await?;
    if session.output.json {
        session.output.value(answer);
        return Ok(Exit::Done);
    }
    let hosts = answer
        .get("hosts")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    if hosts.is_empty() {
        session.output.line("The catalogue names no machines.");
        return Ok(Exit::Done);
    }
    let row = |host: &Value| {
        let trusted: Vec<&str> = host
            .get("trusted")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let key = match (
            word(host, "address"),
            host.get("pinned") == Some(&Value::Bool(true)),
            trusted.as_slice(),
        ) {
            ("local", _, _) => "not needed".to_owned(),
            (_, true, keys) => format!("pinned {}", keys.join(" ")),
            (_, false, []) => "not trusted yet".to_owned(),
            (_, false, keys) => keys.join(" "),
        };
        let actions = host.get("actions").and_then(Value::as_u64).unwrap_or(0);
        vec![
            word(host, "name").to_owned(),
            word(host, "address").to_owned(),
            actions.to_string(),
            key,
        ]
    };
    let rows: Vec<Vec<String>> = hosts.iter().map(row).collect();
    session
        .output
        .table(&["HOST", "ADDRESS", "ACTIONS", "KEY"], &rows);
    Ok(Exit::Done)
}

async fn check(session: &Session<'_>, name: &str) -> Result<Exit, Problem> {
    let client = session.client()?;
    let path = format!("/api/hosts/{}/check", segment(name));
    let checked = patiently(session, "asking", client.post(&path, json!({}))).await?;
    let drift = checked.get("drift").and_then(Value::as_str);
    let error = checked.get("error").filter(|error| error.is_object());
    let cannot = checked.get("cannot").and_then(Value::as_object);
    let cannot = cannot.filter(|cannot| !cannot.is_empty());
    let stopped = checked.get("stopped") == Some(&Value::Bool(true));
    let exit = match (error, drift) {
        (Some(_), _) => Exit::Unreachable,
        (None, Some(_)) => Exit::Failed,
        (None, None) if cannot.is_some() => Exit::Failed,
        (None, None) => Exit::Done,
    };
    let output = session.output;
    if output.json {
        output.value(checked);
        return Ok(exit);
    }
    let next = session.again(&provision(name));
    let name = text::escaped(name);
    match (error, drift) {
        (Some(error), _) => {
            let line = format!("{name}: {}", text::escaped(word(error, "message")));
            output.line(output.tone(Tone::Bad, &line));
            let next = match word(error, "code") {
                // The doctor looks at the key and says what is missing.
                "not_configured" => "void doctor".to_owned(),
                code if is_mended_by_provisioning(code) => next.clone(),
                code => doctor::next_after_host(&json!({ "name": name }), code),
            };
            output.line(format!("  next: {next}"));
        }
        (None, Some(drift)) => {
            output.line(output.tone(Tone::Bad, &format!("{name}: {}", text::escaped(drift))));
            output.line(format!("  next: {next}"));
        }
        (None, None) if cannot.is_some() => {
            for (id, why) in cannot.into_iter().flatten() {
                let why = text::escaped(why.as_str().unwrap_or("-"));
                let line = format!("{name}: {} cannot run: {why}", text::escaped(id));
                output.line(output.tone(Tone::Bad, &line));
            }
            output.line(format!("  next: {next}"));
        }
        (None, None) => output.line(output.tone(
            Tone::Good,
            &format!("{name}: its list is as the catalogue says, and all of it could run"),
        )),
    }
    if stopped {
        output.line(format!(
            "{name}: its stop file is set; nothing runs there until it is removed"
        ));
    }
    Ok(exit)
}

/// What prints everything that a machine needs.
pub(super) fn provision(name: &str) -> String {
    if name == HostName::LOCAL {
        return "provision local".to_owned();
    }
    format!("provision ssh {}", quoted(name))
}

/// Whether a host that does not answer as it should has to be set up.
pub(super) fn is_mended_by_provisioning(code: &str) -> bool {
    matches!(
        code,
        "auth_refused" | "no_answer" | "not_configured" | "refused_by_host"
    )
}

async fn trust(session: &Session<'_>, name: &str, fingerprint: &str) -> Result<Exit, Problem> {
    let client = session.client()?;
    let path = format!("/api/hosts/{}/trust", segment(name));
    let trusted = patiently(
        session,
        "asking",
        client.post(&path, json!({"fingerprint": fingerprint})),
    )
    .await?;
    if session.output.json {
        session.output.value(trusted);
    } else {
        session.output.line(format!(
            "Trusted {} for {}.",
            word(&trusted, "fingerprint"),
            text::escaped(name)
        ));
        session
            .output
            .line(format!("  next: void hosts check {}", text::escaped(name)));
    }
    Ok(Exit::Done)
}
