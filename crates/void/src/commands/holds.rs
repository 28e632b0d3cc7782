//! `void inbox hold`, `veto`, `annotate` and `lift`: friction on a request that has not started.

use serde_json::json;
use void_api::holds::HoldRequest;
use void_api::proposals::RowResponse;
use void_domain::text;

use super::Session;
use super::rows::{self, field, foreign};
use super::run::segment;
use crate::client::read;
use crate::exit::{CommandError, Exit};
use crate::output::{Output, Tone};

/// `what` is the last part of the route.
pub(super) async fn add(
    session: &Session<'_>,
    what: &str,
    id: &str,
    reason: String,
) -> Result<Exit, CommandError> {
    let path = format!("/api/proposals/{}/{what}", segment(id));
    let client = session.client()?;
    shown(session, client.post(&path, &HoldRequest { reason }).await?)
}

pub(super) async fn lift(session: &Session<'_>, id: &str) -> Result<Exit, CommandError> {
    let path = format!("/api/proposals/{}/lift", segment(id));
    let client = session.client()?;
    shown(session, client.post(&path, &json!({})).await?)
}

fn shown(session: &Session<'_>, sent: serde_json::Value) -> Result<Exit, CommandError> {
    if session.output.json {
        session.output.value(sent);
        return Ok(Exit::Done);
    }
    let row: RowResponse = read(sent)?;
    rows::show(session.output, &row);
    Ok(Exit::Done)
}

/// Who put what on it from above, with their words marked as theirs.
pub(super) fn show_on(output: &Output, row: &RowResponse) {
    for hold in &row.holds {
        let (sentence, at) = (text::escaped(&hold.sentence), output.times.short(&hold.at));
        field(output, "from above", format!("{sentence}, {at}"));
        let sources: Vec<String> = hold.taint.iter().map(|one| text::escaped(one)).collect();
        if !sources.is_empty() {
            let read = format!("{}   content of others", sources.join(", "));
            foreign(output, "had read", output.tone(Tone::Waiting, &read));
        }
        if let Some(words) = &hold.words {
            foreign(output, "their words", text::words_in_quotes(words));
        }
    }
}
