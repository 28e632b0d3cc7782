//! `void hosts`

use serde_json::json;
use void_api::hosts::{CheckResponse, HostResponse, HostsResponse, TrustRequest, TrustedResponse};
use void_domain::failures::FailureCode;
use void_domain::hosts::HostName;
use void_domain::text;

use super::run::segment;
use super::{Session, doctor, patiently, quoted};
use crate::cli::HostsCommand;
use crate::client::read;
use crate::exit::{CommandError, Exit};
use crate::output::Tone;

pub(super) async fn run(
    session: &Session<'_>,
    command: HostsCommand,
) -> Result<Exit, CommandError> {
    match command {
        HostsCommand::Ls => list(session).await,
        HostsCommand::Check { name } => check(session, &name).await,
        HostsCommand::Trust { name, fingerprint } => trust(session, &name, &fingerprint).await,
    }
}

async fn list(session: &Session<'_>) -> Result<Exit, CommandError> {
    let answer = session.client()?.get("/api/hosts").await?;
    if session.output.json {
        session.output.value(answer);
        return Ok(Exit::Done);
    }
    let HostsResponse { hosts } = read(answer)?;
    if hosts.is_empty() {
        session.output.line("The catalogue names no machines.");
        return Ok(Exit::Done);
    }
    let row = |host: &HostResponse| {
        let key = match (host.address.as_str(), host.pinned, host.trusted.as_slice()) {
            ("local", _, _) => "not needed".to_owned(),
            (_, true, keys) => format!("pinned {}", keys.join(" ")),
            (_, false, []) => "not trusted yet".to_owned(),
            (_, false, keys) => keys.join(" "),
        };
        vec![
            host.name.clone(),
            host.address.clone(),
            host.actions.to_string(),
            key,
        ]
    };
    let rows: Vec<Vec<String>> = hosts.iter().map(row).collect();
    session
        .output
        .table(&["HOST", "ADDRESS", "ACTIONS", "KEY"], &rows);
    Ok(Exit::Done)
}

async fn check(session: &Session<'_>, name: &str) -> Result<Exit, CommandError> {
    let client = session.client()?;
    let path = format!("/api/hosts/{}/check", segment(name));
    let sent = patiently(session, "asking", client.post(&path, &json!({}))).await?;
    let checked: CheckResponse = read(sent.clone())?;
    let (error, drift) = (checked.error.as_ref(), checked.drift.as_deref());
    let exit = match (error, drift) {
        (Some(_), _) => Exit::Unreachable,
        (None, Some(_)) => Exit::Failed,
        (None, None) if !checked.cannot.is_empty() => Exit::Failed,
        (None, None) => Exit::Done,
    };
    let output = session.output;
    if output.json {
        output.value(sent);
        return Ok(exit);
    }
    let next = session.again(&provision(name));
    let name = text::escaped(name);
    match (error, drift) {
        (Some(error), _) => {
            let line = format!("{name}: {}", text::escaped(&error.message));
            output.line(output.tone(Tone::Bad, &line));
            let next = match FailureCode::parse(&error.code) {
                // The doctor looks at the key and says what is missing.
                Some(FailureCode::NotConfigured) => "void doctor".to_owned(),
                Some(code) if is_mended_by_provisioning(code) => next.clone(),
                code => doctor::next_after_host(&name, code),
            };
            output.next(&next);
        }
        (None, Some(drift)) => {
            output.line(output.tone(Tone::Bad, &format!("{name}: {}", text::escaped(drift))));
            output.next(&next);
        }
        (None, None) if !checked.cannot.is_empty() => {
            for (id, why) in &checked.cannot {
                let why = text::escaped(why);
                let line = format!("{name}: {} cannot run: {why}", text::escaped(id));
                output.line(output.tone(Tone::Bad, &line));
            }
            output.next(&next);
        }
        (None, None) => output.line(output.tone(
            Tone::Good,
            &format!("{name}: its list is as the catalogue says, and all of it could run"),
        )),
    }
    if checked.stopped == Some(true) {
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
pub(super) const fn is_mended_by_provisioning(code: FailureCode) -> bool {
    matches!(
        code,
        FailureCode::AuthRefused
            | FailureCode::NoAnswer
            | FailureCode::NotConfigured
            | FailureCode::RefusedByHost
    )
}

async fn trust(session: &Session<'_>, name: &str, fingerprint: &str) -> Result<Exit, CommandError> {
    let client = session.client()?;
    let path = format!("/api/hosts/{}/trust", segment(name));
    let body = TrustRequest {
        fingerprint: fingerprint.to_owned(),
    };
    let trusted = patiently(session, "asking", client.post(&path, &body)).await?;
    if session.output.json {
        session.output.value(trusted);
    } else {
        let TrustedResponse { fingerprint, .. } = read(trusted)?;
        session.output.line(format!(
            "Trusted {fingerprint} for {}.",
            text::escaped(name)
        ));
        session
            .output
            .next(&format!("void hosts check {}", text::escaped(name)));
    }
    Ok(Exit::Done)
}
