//! `void setup-link`

use serde_json::json;

use super::Session;
use super::rows::word;
use crate::exit::{Exit, Problem};

pub(super) async fn run(session: &Session<'_>) -> Result<Exit, Problem> {
    let made = session
        .client()?
        .post("/api/setup-links", json!({}))
        .await?;
    let output = session.output;
    if output.json {
        output.value(made);
    } else {
        output.line(word(&made, "url"));
        output.note(format!(
            "It signs one browser in, once, until {}.",
            output.times.clock(word(&made, "expires_at"))
        ));
    }
    Ok(Exit::Done)
}
