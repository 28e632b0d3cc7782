//! `void token`

use serde_json::{Value, json};

use super::Session;
use super::rows::word;
use super::run::segment;
use crate::cli::{TokenCommand, TokenKind};
use crate::exit::{Exit, Problem};

pub(super) async fn run(session: &Session<'_>, command: TokenCommand) -> Result<Exit, Problem> {
    let client = session.client()?;
    let output = session.output;
    match command {
        TokenCommand::New {
            kind,
            name,
            capabilities,
        } => {
            let kind = match kind {
                TokenKind::Agent => "agent",
                TokenKind::Viewer => "viewer",
                TokenKind::Node => "node",
            };
            let made = client
                .post(
                    "/api/tokens",
                    json!({"kind": kind, "name": name, "capabilities": capabilities}),
                )
                .await?;
            if output.json {
                output.value(made);
            } else {
                output.line(word(&made, "token"));
                output.note(format!(
                    "This is shown once. Withdraw it with: void token revoke {}",
                    word(&made, "id")
                ));
            }
        }
        TokenCommand::Ls => {
            let tokens = client.get("/api/tokens").await?;
            if output.json {
                output.value(tokens);
                return Ok(Exit::Done);
            }
            let tokens = tokens
                .get("tokens")
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default();
            if tokens.is_empty() {
                output.line("There are no tokens beside yours.");
                return Ok(Exit::Done);
            }
            let row = |token: &Value| {
                let capabilities: Vec<&str> = token
                    .get("capabilities")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .collect();
                let state = if token.get("revoked_at").is_some_and(Value::is_string) {
                    "revoked"
                } else {
                    "live"
                };
                vec![
                    word(token, "id").to_owned(),
                    word(token, "kind").to_owned(),
                    word(token, "name").to_owned(),
                    capabilities.join(" "),
                    state.to_owned(),
                    word(token, "created_at").to_owned(),
                ]
            };
            let rows: Vec<Vec<String>> = tokens.iter().map(row).collect();
            output.table(&["ID", "KIND", "NAME", "MAY", "STATE", "MADE"], &rows);
        }
        TokenCommand::Revoke { id } => {
            let revoked = client
                .delete(&format!("/api/tokens/{}", segment(&id)))
                .await?;
            if output.json {
                output.value(revoked);
            } else {
                output.line("Revoked. It and its open streams are cut off now.");
            }
        }
    }
    Ok(Exit::Done)
}
