//! `void token`

use serde_json::json;
use void_api::tokens::{
    NewTokenResponse, TokenClearRequest, TokenRequest, TokenResponse, TokensResponse,
};

use super::Session;
use super::run::segment;
use crate::cli::{TokenCommand, TokenKind};
use crate::client::{Client, read};
use crate::exit::{CommandError, Exit};

/// Shorter beginnings of an id fit by chance.
const PREFIX_CHARS_MIN: usize = 4;

pub(super) async fn run(
    session: &Session<'_>,
    command: TokenCommand,
) -> Result<Exit, CommandError> {
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
                    return Err(CommandError::usage(message)
                        .next("leave --cap out, or make a token with --kind agent"));
                }
                TokenKind::Node => {
                    let message = "a machine makes its own secret and asks to join";
                    return Err(
                        CommandError::usage(message).next(format!("void node invite {name}"))
                    );
                }
            };
            if kind == "agent" && capabilities.is_empty() {
                output.note(
                    "warning: without --cap it may do nothing at all; add --cap read, or --cap read --cap act",
                );
            }
            let body = TokenRequest {
                kind: kind.to_owned(),
                name,
                capabilities: json!(capabilities),
                restore,
            };
            let made = client.post("/api/tokens", &body).await?;
            if output.json {
                output.value(made);
            } else {
                let made: NewTokenResponse = read(made)?;
                output.line(&made.token);
                let revoke = output.typed(&format!("void token revoke {}", made.id));
                output.note(format!("This is shown once. Withdraw it with: {revoke}"));
            }
        }
        TokenCommand::Ls => {
            let tokens = client.get("/api/tokens").await?;
            if output.json {
                output.value(tokens);
                return Ok(Exit::Done);
            }
            let TokensResponse { tokens } = read(tokens)?;
            if tokens.is_empty() {
                output.line("There are no tokens beside yours.");
                return Ok(Exit::Done);
            }
            let row = |token: &TokenResponse| {
                let state = if token.revoked_at.is_some() {
                    "revoked"
                } else if token.quarantined {
                    "quarantined"
                } else if !token.taint.is_empty() {
                    "marked"
                } else {
                    "live"
                };
                vec![
                    token.id.clone(),
                    token.kind.clone().into_owned(),
                    token.name.clone(),
                    match (token.kind.as_ref(), token.capabilities.is_empty()) {
                        // What its agent may do now is nothing that it opens.
                        _ if token.revoked_at.is_some() => "-".to_owned(),
                        ("viewer", _) => "reads".to_owned(),
                        ("agent", true) => "nothing".to_owned(),
                        _ => token.capabilities.join(" "),
                    },
                    state.to_owned(),
                    output.times.short(&token.created_at),
                ]
            };
            let rows: Vec<Vec<String>> = tokens.iter().map(row).collect();
            output.table(&["ID", "KIND", "NAME", "MAY", "STATE", "MADE"], &rows);
            if tokens.iter().any(|token| token.quarantined) {
                output.note("What is quarantined came back with an older copy and opens nothing.");
                output.note(output.typed("  next: void quarantine ls"));
            }
            for token in tokens.iter().filter(|token| is_marked(token)) {
                let read = token.taint.join(", ");
                output.note(format!("{} has read what a stranger could have written, so its safe actions wait: {read}", token.name));
                output.note(output.typed(&format!("  next: void token clear {}", token.id)));
            }
        }
        TokenCommand::Clear { id } => return clear(session, &client, &id).await,
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

/// A withdrawn one does nothing that could wait.
fn is_marked(token: &TokenResponse) -> bool {
    !token.taint.is_empty() && token.revoked_at.is_none()
}

/// Clears what is shown here and nothing that the token reads meanwhile.
async fn clear(session: &Session<'_>, client: &Client, given: &str) -> Result<Exit, CommandError> {
    let output = session.output;
    let id = resolve(client, given).await?;
    let TokensResponse { tokens } = client.get_as("/api/tokens").await?;
    let marked = tokens.into_iter().find(|token| token.id == id);
    let taint = marked.map(|token| token.taint).unwrap_or_default();
    let body = TokenClearRequest {
        taint: Some(taint.clone()),
    };
    let path = format!("/api/tokens/{}/clear", segment(&id));
    let cleared = client.post(&path, &body).await?;
    if output.json {
        output.value(cleared);
        return Ok(Exit::Done);
    }
    for source in &taint {
        output.line(format!("It had read {source}."));
    }
    output.line("Cleared. Its safe actions run again.");
    Ok(Exit::Done)
}

/// Which live token is meant: its id, its name, or how its id begins. What fits none is left to the server,
/// which says that there is none.
async fn resolve(client: &Client, given: &str) -> Result<String, CommandError> {
    let TokensResponse { tokens } = client.get_as("/api/tokens").await?;
    let is_live = |token: &&TokenResponse| token.revoked_at.is_none();
    let live: Vec<&TokenResponse> = tokens.iter().filter(is_live).collect();
    if live.iter().any(|token| token.id == given) {
        return Ok(given.to_owned());
    }
    let named = live.iter().filter(|token| token.name == given);
    let mut fitting: Vec<&TokenResponse> = named.copied().collect();
    if fitting.is_empty() && given.len() >= PREFIX_CHARS_MIN {
        let begins = live.iter().filter(|token| token.id.starts_with(given));
        fitting = begins.copied().collect();
    }
    match fitting.as_slice() {
        [] => Ok(given.to_owned()),
        [one] => Ok(one.id.clone()),
        several => {
            let all: Vec<String> = several
                .iter()
                .map(|token| format!("{} ({} {})", token.id, token.kind, token.name))
                .collect();
            let message = format!("several tokens fit: {}", all.join(", "));
            Err(CommandError::usage(message).next("void token revoke ID, with the whole id"))
        }
    }
}
