//! `void services`

use serde_json::Value;
use void_domain::text;

use super::actions::starter;
use super::rows::word;
use super::run::segment;
use super::{Session, quoted};
use crate::cli::ServicesArgs;
use crate::exit::{Exit, Problem};
use crate::output::{Output, Tone};

pub(super) async fn run(session: &Session<'_>, args: ServicesArgs) -> Result<Exit, Problem> {
    match (args.id, args.example) {
        (_, Some(example)) => print_example(session, &example),
        (Some(id), None) => show(session, &id).await,
        (None, None) => list(session).await,
    }
}

fn print_example(session: &Session<'_>, text: &str) -> Result<Exit, Problem> {
    let (name, port) = text
        .rsplit_once(':')
        .and_then(|(name, port)| Some((name, port.parse::<u16>().ok().filter(|port| *port > 0)?)))
        .ok_or_else(|| Problem::usage("name a service and its port, such as caddy:80"))?;
    let text = starter(name)?.services(port);
    session.output.line(text.trim_end());
    Ok(Exit::Done)
}

async fn list(session: &Session<'_>) -> Result<Exit, Problem> {
    let answer = session.client()?.get("/api/services").await?;
    if session.output.json {
        session.output.value(answer);
        return Ok(Exit::Done);
    }
    let services = answer.get("services").and_then(Value::as_array);
    let services = services.cloned().unwrap_or_default();
    if services.is_empty() {
        let file = quoted(&session.settings.services.value.display().to_string());
        let write = session.again(&format!("services --example NAME:PORT > {file}"));
        session.output.line("No service is watched.");
        session
            .output
            .line(format!("  next: {write}, then {}", session.again("reload")));
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = services
        .iter()
        .map(|service| {
            vec![
                standing(service).to_owned(),
                word(service, "id").to_owned(),
                word(service, "label").to_owned(),
                place(service),
                saw(service),
                session.output.times.short(word(service, "checked_at")),
            ]
        })
        .collect();
    let header = ["STATUS", "SERVICE", "LABEL", "WHERE", "SAW", "WHEN"];
    session.output.table(&header, &rows);
    Ok(Exit::Done)
}

async fn show(session: &Session<'_>, id: &str) -> Result<Exit, Problem> {
    let client = session.client()?;
    let service = client
        .get(&format!("/api/services/{}", segment(id)))
        .await?;
    if session.output.json {
        session.output.value(service);
        return Ok(Exit::Done);
    }
    let output = session.output;
    output.line(format!(
        "{}  {}",
        status(output, &service),
        text::escaped(word(&service, "label"))
    ));
    let field = |name: &str, value: String| output.field(name, 10, &value);
    field("id", word(&service, "id").to_owned());
    field("where", place(&service));
    field(
        "last look",
        format!(
            "{}, {}",
            saw(&service),
            output.times.short(word(&service, "checked_at"))
        ),
    );
    field("since", output.times.clock(word(&service, "since")));
    if let Some(at) = service.pointer("/stopped/at").and_then(Value::as_str) {
        field("stopped", format!("by you, {}", output.times.short(at)));
    }
    if service.get("flapping") == Some(&Value::Bool(true)) {
        field("flapping", "yes; changes are believed late".to_owned());
    }
    let history = service.get("history").and_then(Value::as_array);
    for change in history.into_iter().flatten() {
        let reason = change.get("reason").and_then(Value::as_str);
        output.line(format!(
            "  {}  {} → {}  {}",
            output.times.short(word(change, "at")),
            word(change, "from"),
            word(change, "to"),
            reason.map(text::escaped).unwrap_or_default()
        ));
    }
    Ok(Exit::Done)
}

/// What the owner stopped is no worry.
fn standing(service: &Value) -> &str {
    match service.get("stopped").is_some_and(Value::is_object) {
        true => "stopped",
        false => word(service, "status"),
    }
}

fn status(output: &Output, service: &Value) -> String {
    let standing = standing(service);
    let tone = match standing {
        "up" => Tone::Good,
        "down" => Tone::Bad,
        _ => Tone::Dim,
    };
    output.tone(tone, standing)
}

fn place(service: &Value) -> String {
    let vmid = service.get("vmid").and_then(Value::as_u64);
    match (service.get("host").and_then(Value::as_str), vmid) {
        (Some(host), _) => host.to_owned(),
        (None, Some(vmid)) => format!("{vmid} on {}", word(service, "node")),
        (None, None) => "-".to_owned(),
    }
}

/// What the last look saw, in words.
fn saw(service: &Value) -> String {
    let Some(detail) = service.get("detail").filter(|detail| detail.is_object()) else {
        return "not looked at yet".to_owned();
    };
    answer(detail)
}

pub(super) fn answer(detail: &Value) -> String {
    let code = detail.get("code").and_then(Value::as_u64);
    let code = code.map(|code| format!("HTTP {code}"));
    let latency = detail.get("latency_ms").and_then(Value::as_u64);
    match detail.get("reason").and_then(Value::as_str) {
        Some("wrong_status") => code.unwrap_or_else(|| "wrong status".to_owned()),
        Some(reason) => text::escaped(reason).replace('_', " "),
        None => {
            let latency = latency.map(|latency| format!("in {latency} ms"));
            let words: Vec<String> = [code.or_else(|| Some("answers".to_owned())), latency]
                .into_iter()
                .flatten()
                .collect();
            words.join(" ")
        }
    }
}
