//! `void run`

use serde_json::{Map, Value, json};
use void_api::actions::{RunRequest, RunResponse};
use void_api::proposals::RowResponse;
use void_domain::text;

use super::rows;
use super::{Session, freeze, patiently, quoted};
use crate::cli::RunArgs;
use crate::client::read;
use crate::exit::{CommandError, Exit};
use crate::output::Tone;

pub(super) async fn run(session: &Session<'_>, args: RunArgs) -> Result<Exit, CommandError> {
    let client = session.client()?;
    let body = RunRequest {
        params: params(&args.action_id, &args.params)?,
        reason: args.reason,
        diff: None,
    };
    let path = format!(
        "/api/actions/{}/run?wait={}",
        segment(&args.action_id),
        args.wait
    );
    let answer = patiently(session, "running", client.post(&path, &body)).await?;
    let answered: RunResponse = read(answer.clone())?;
    let sent = (client.get(&format!("/api/proposals/{}", answered.row_id()))).await?;
    let row: RowResponse = read(sent.clone())?;
    let exit = rows::exit(&row);
    let output = session.output;
    // Whoever is told to wait for a yes is also told that no yes counts now.
    let frozen = match exit {
        Exit::Queued => freeze::frozen(&client).await.ok().flatten(),
        _ => None,
    };
    if output.json {
        let mut answer = answer;
        if let Value::Object(members) = &mut answer {
            members.insert("row".to_owned(), sent);
            if let Some((sent, _)) = frozen {
                members.insert("freeze".to_owned(), sent);
            }
        }
        output.value(answer);
        return Ok(exit);
    }
    if exit == Exit::Queued {
        let line = format!(
            "{}  {}  {}   {}, waits for a yes",
            output.tone(Tone::Waiting, "Queued"),
            row.code,
            text::escaped(&row.label),
            rows::tier(&row.tier, &row.risk)
        );
        output.line(line);
        if let Some((_, frozen)) = frozen {
            let told = freeze::told(
                &output.times,
                frozen.by.as_deref(),
                frozen.reason.as_deref(),
                frozen.until.as_deref(),
            );
            let frozen = output.tone(Tone::Bad, "everything is frozen");
            let thaw = output.typed("void thaw");
            output.line(format!(
                "  {frozen}, {told}; a yes is refused until: {thaw}"
            ));
        }
        for (name, verb) in [("approve:", "approve"), ("watch:", "watch")] {
            let command = output.typed(&format!("void inbox {verb} {}", row.code));
            output.line(format!("  {name:9} {command}"));
        }
    } else {
        rows::show(output, &row);
        rows::show_next(output, &row);
    }
    Ok(exit)
}

/// Where the names of its parameters stand.
fn names(action: &str) -> String {
    format!("void actions show {}", quoted(action))
}

/// A value that reads as a number is one; everything else is text.
fn params(action: &str, given: &[String]) -> Result<Value, CommandError> {
    let mut params = Map::new();
    for pair in given {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(CommandError::usage(format!(
                "--param {} is not NAME=VALUE",
                text::escaped(pair)
            ))
            .next(names(action)));
        };
        let value = value
            .parse::<i64>()
            .map_or_else(|_| json!(value), |number| json!(number));
        if params.insert(name.to_owned(), value).is_some() {
            return Err(CommandError::usage(format!(
                "--param {} is given twice",
                text::escaped(name)
            ))
            .next(names(action)));
        }
    }
    Ok(Value::Object(params))
}

/// One segment of a path, whatever was typed.
pub(super) fn segment(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}
