//! `void services`

use void_api::mutes::{MuteResponse, MutesResponse};
use void_api::services::{
    ServiceDetail, ServiceResponse, ServiceWithHistoryResponse, ServicesResponse,
};
use void_domain::actors::person;
use void_domain::text;

use super::actions::starter;
use super::mutes;
use super::rows::{self, or_dash};
use super::run::segment;
use super::{Session, quoted};
use crate::cli::ServicesArgs;
use crate::client::{Client, read};
use crate::exit::{CommandError, Exit};
use crate::output::{Output, Tone};

pub(super) async fn run(session: &Session<'_>, args: ServicesArgs) -> Result<Exit, CommandError> {
    match (args.id, args.example) {
        (_, Some(example)) => print_example(session, &example),
        (Some(id), None) => show(session, &id).await,
        (None, None) => list(session).await,
    }
}

fn print_example(session: &Session<'_>, text: &str) -> Result<Exit, CommandError> {
    let (name, port) = text
        .rsplit_once(':')
        .and_then(|(name, port)| Some((name, port.parse::<u16>().ok().filter(|port| *port > 0)?)))
        .ok_or_else(|| CommandError::usage("name a service and its port, such as caddy:80"))?;
    let text = starter(name)?.services(port);
    session.output.line(text.trim_end());
    Ok(Exit::Done)
}

async fn list(session: &Session<'_>) -> Result<Exit, CommandError> {
    let client = session.client()?;
    let answer = client.get("/api/services").await?;
    if session.output.json {
        session.output.value(answer);
        return Ok(Exit::Done);
    }
    let ServicesResponse { services, .. } = read(answer)?;
    if services.is_empty() {
        let file = quoted(&session.settings.services.value.display().to_string());
        let write = session.again(&format!("services --example NAME:PORT > {file}"));
        session.output.line("No service is watched.");
        session
            .output
            .line(format!("  next: {write}, then {}", session.again("reload")));
        return Ok(Exit::Done);
    }
    let mutes = muted(&client).await;
    let told = |service: &ServiceResponse| match mutes::of_service(&mutes, service) {
        None => standing(service).to_owned(),
        Some(mute) => {
            let until = session.output.times.clock(&mute.until);
            format!("{}, muted until {until}", standing(service))
        }
    };
    let rows: Vec<Vec<String>> = services
        .iter()
        .map(|service| {
            vec![
                told(service),
                service.id.clone(),
                service.label.clone(),
                place(service),
                saw(service),
                session.output.times.short(or_dash(&service.checked_at)),
            ]
        })
        .collect();
    let header = ["STATUS", "SERVICE", "LABEL", "WHERE", "SAW", "WHEN"];
    session.output.table(&header, &rows);
    Ok(Exit::Done)
}

/// What is not told now; that is the owner's to know.
async fn muted(client: &Client) -> Vec<MuteResponse> {
    let listed = client.get_as::<MutesResponse>("/api/mutes").await;
    listed.map(|listed| listed.mutes).unwrap_or_default()
}

async fn show(session: &Session<'_>, id: &str) -> Result<Exit, CommandError> {
    let client = session.client()?;
    let service = client
        .get(&format!("/api/services/{}", segment(id)))
        .await?;
    if session.output.json {
        session.output.value(service);
        return Ok(Exit::Done);
    }
    let ServiceWithHistoryResponse {
        service,
        history,
        runbooks,
        ..
    } = read(service)?;
    let output = session.output;
    output.line(format!(
        "{}  {}",
        status(output, &service),
        text::escaped(&service.label)
    ));
    let field = |name: &str, value: String| output.field(name, 10, &value);
    field("id", service.id.clone());
    field("where", place(&service));
    let checked_at = output.times.short(or_dash(&service.checked_at));
    field("last look", format!("{}, {checked_at}", saw(&service)));
    field("since", output.times.clock(or_dash(&service.since)));
    if let Some(stopped) = &service.stopped {
        let at = output.times.short(&stopped.at);
        field("stopped", format!("by you, {at}"));
    }
    if service.flapping {
        field("flapping", "yes; changes are believed late".to_owned());
    }
    if let Some(mute) = mutes::of_service(&muted(&client).await, &service) {
        let until = output.times.clock(&mute.until);
        let (by, reason) = (person(&mute.by), text::escaped(&mute.reason));
        field("muted", format!("until {until}, by {by}: \"{reason}\""));
    }
    for runbook in &runbooks {
        output.foreign_field("runbook", 10, &rows::runbook(runbook));
    }
    for change in &history {
        output.line(format!(
            "  {}  {} → {}  {}",
            output.times.short(&change.at),
            change.from,
            change.to,
            change
                .reason
                .as_deref()
                .map(text::escaped)
                .unwrap_or_default()
        ));
    }
    Ok(Exit::Done)
}

/// What the owner stopped is no worry.
fn standing(service: &ServiceResponse) -> &str {
    match service.stopped {
        Some(_) => "stopped",
        None => &service.status,
    }
}

fn status(output: &Output, service: &ServiceResponse) -> String {
    let standing = standing(service);
    let tone = match standing {
        "up" => Tone::Good,
        "down" => Tone::Bad,
        _ => Tone::Dim,
    };
    output.tone(tone, standing)
}

fn place(service: &ServiceResponse) -> String {
    match (&service.host, service.vmid) {
        (Some(host), _) => host.clone(),
        (None, Some(vmid)) => format!("{vmid} on {}", or_dash(&service.node)),
        (None, None) => "-".to_owned(),
    }
}

/// What the last look saw, in words.
fn saw(service: &ServiceResponse) -> String {
    match &service.detail {
        Some(detail) => answer(detail),
        None => "not looked at yet".to_owned(),
    }
}

pub(super) fn answer(detail: &ServiceDetail) -> String {
    let code = detail.code.map(|code| format!("HTTP {code}"));
    match detail.reason.as_deref() {
        Some("wrong_status") => code.unwrap_or_else(|| "wrong status".to_owned()),
        Some(reason) => text::escaped(reason).replace('_', " "),
        None => {
            let latency = detail.latency_ms;
            let latency = latency.map(|latency| format!("in {latency} ms"));
            let words: Vec<String> = [code.or_else(|| Some("answers".to_owned())), latency]
                .into_iter()
                .flatten()
                .collect();
            words.join(" ")
        }
    }
}
