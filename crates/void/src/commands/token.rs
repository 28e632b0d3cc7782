//! `void token`

use serde_json::{Value, json};

use super::Session;
use super::rows::word;
use super::run::segment;
use crate::cli::{TokenCommand, TokenKind};
use crate::client::Client;
use crate::exit::{Exit, Problem};

/// Shorter beginnings of an id fit by chance.
const PREFIX_CHARS_MIN: usize = 4;

pub(super) async fn run(session: &Session<'_>, command: TokenCommand) -> Result<Exit, Problem> {
    let client = session.client()?;
    let output = session.output;
    match command {
        TokenCommand::New {
            kind,
            name,
            capabilities,
            restore,
        } => {
            let kind = match kind {
                TokenKind::Agent => "agent",
                TokenKind::Viewer if capabilities.is_empty() => "viewer",
                TokenKind::Viewer => {
                    let message = "a viewer reads and does nothing else; it takes no --cap";
                    return Err(Problem::usage(message)
                        .next("leave --cap out, or make a token with --kind agent"));
                }
                TokenKind::Node => {
                    let message = "a machine makes its own secret and asks to join";
                    return Err(Problem::usage(message).next(format!("void node invite {name}")));
                }
            };
            if kind == "agent" && capabilities.is_empty() {
                output.note(
                    "warning: without --cap it may do nothing at all; add --cap read, or --cap read --cap act",
                );
            }
            let mut request = json!({"kind": kind, "name": name, "capabilities": capabilities});
            if let (true, Some(members)) = (restore, request.as_object_mut()) {
                members.insert("restore".to_owned(), true.into());
            }
            let made = client.post("/api/tokens", request).await?;
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
                } else if token.get("quarantined") == Some(&Value::Bool(true)) {
                    "quarantined"
                } else {
                    "live"
                };
                vec![
                    word(token, "id").to_owned(),
                    word(token, "kind").to_owned(),
                    word(token, "name").to_owned(),
                    match (word(token, "kind"), capabilities.is_empty()) {
                        ("viewer", _) => "reads".to_owned(),
                        ("agent", true) => "nothing".to_owned(),
                        _ => capabilities.join(" "),
                    },
                    state.to_owned(),
                    output.times.short(word(token, "created_at")),
                ]
            };
            let rows: Vec<Vec<String>> = tokens.iter().map(row).collect();
            output.table(&["ID", "KIND", "NAME", "MAY", "STATE", "MADE"], &rows);
            let held = Some(&Value::Bool(true));
            if tokens.iter().any(|token| token.get("quarantined") == held) {
                output.note("What is quarantined came back with an older copy and opens nothing.");
                output.note("  next: void quarantine ls");
            }
        }
        TokenCommand::Revoke { id } => {
            let id = resolve(&client, &id).await?;
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

/// Which live token is meant: its id, its name, or how its id begins. What fits none is left to the server,
/// which says that there is none.
async fn resolve(client: &Client, given: &str) -> Result<String, Problem> {
    let answer = client.get("/api/tokens").await?;
    let tokens = answer.get("tokens").and_then(Value::as_array);
    let is_live = |token: &&Value| !token.get("revoked_at").is_some_and(Value::is_string);
    let live: Vec<&Value> = tokens.into_iter().flatten().filter(is_live).collect();
    if live.iter().any(|token| word(token, "id") == given) {
        return Ok(given.to_owned());
    }
    let named = live.iter().filter(|token| word(token, "name") == given);
    let mut fitting: Vec<&Value> = named.copied().collect();
    if fitting.is_empty() && given.len() >= PREFIX_CHARS_MIN {
        let begins = live
            .iter()
            .filter(|token| word(token, "id").starts_with(given));
        fitting = begins.copied().collect();
    }
    match fitting.as_slice() {
        [] => Ok(given.to_owned()),
        [one] => Ok(word(one, "id").to_owned()),
        several => {
            let all: Vec<String> = several
                .iter()
                .map(|token| {
                    let (kind, name) = (word(token, "kind"), word(token, "name"));
                    format!("{} ({kind} {name})", word(token, "id"))
                })
                .collect();
            let message = format!("several tokens fit: {}", all.join(", "));
            Err(Problem::usage(message).next("void token revoke ID, with the whole id"))
        }
    }
}
