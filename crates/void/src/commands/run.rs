//! `void run`

use serde_json::{Map, Value, json};
use void_domain::text;

use super::rows::{self, word};
use super::{Session, freeze, patiently};
use crate::cli::RunArgs;
use crate::exit::{Exit, Problem};
use crate::output::Tone;

pub(super) async fn run(session: &Session<'_>, args: RunArgs) -> Result<Exit, Problem> {
    let client = session.client()?;
    let body = json!({"params": params(&args.params)?, "reason": args.reason});
    let path = format!(
        "/api/actions/{}/run?wait={}",
        segment(&args.action_id),
        args.wait
    );
    let answer = patiently(session, "running", client.post(&path, body)).await?;
    let id = word(&answer, "action_row_id").to_owned();
    let row = client.get(&format!("/api/proposals/{id}")).await?;
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
            members.insert("row".to_owned(), row);
            if let Some(frozen) = frozen {
                members.insert("freeze".to_owned(), frozen);
            }
        }
        output.value(answer);
        return Ok(exit);
    }
    if exit == Exit::Queued {
        let line = format!(
            "{}  {}  {}   {}, waits for a yes",
            output.tone(Tone::Waiting, "Queued"),
            word(&row, "code"),
            text::escaped(word(&row, "label")),
            rows::tier(&row)
        );
        output.line(line);
        if let Some(frozen) = frozen {
            let told = freeze::told(&session.output.times, &frozen, "");
            let frozen = output.tone(Tone::Bad, "everything is frozen");
            output.line(format!(
                "  {frozen}, {told}; a yes is refused until: void thaw"
            ));
        }
        output.line(format!(
            "  approve:  void inbox approve {}",
            word(&row, "code")
        ));
        output.line(format!(
            "  watch:    void inbox watch {}",
            word(&row, "code")
        ));
    } else {
        rows::show(output, &row);
        rows::show_next(output, &row);
    }
    Ok(exit)
}

/// A value that reads as a number is one; everything else is text.
fn params(given: &[String]) -> Result<Value, Problem> {
    let mut params = Map::new();
    for pair in given {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(Problem::usage(format!(
                "--param {} is not NAME=VALUE",
                text::escaped(pair)
            )));
        };
        let value = value
            .parse::<i64>()
            .map_or_else(|_| json!(value), |number| json!(number));
        if params.insert(name.to_owned(), value).is_some() {
            return Err(Problem::usage(format!(
                "--param {} is given twice",
                text::escaped(name)
            )));
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
