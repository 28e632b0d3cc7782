//! MCP: how soon `void mcp` answers and how often, beside minimal servers made with the official SDKs that
//! hand out the same bytes. Void's answers come from another process, with a caller looked up for each.

mod pipes;
mod posts;
mod typescript;

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};
use void_testkit::free_port;

use self::pipes::Pipe;
use self::posts::Posts;
use self::typescript::Typescript;
use super::process::ACTIONS;
use crate::Outcome;
use crate::http::{self, Connection};
use crate::plan::Plan;
use crate::servers::{Server, folder_in, own_program, quoted};
use crate::statistics::{median, median_ratio, rounded};

/// How many calls are under way at a time on a pipe.
const DEPTHS: [usize; 2] = [1, 16];
const CLIENTS: [usize; 3] = [1, 16, 64];
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_actions","arguments":{}}}"#;

/// A name and the shell line of a server on a pipe.
type Program = (&'static str, String);

pub(crate) async fn measure(plan: &Plan, place: &Path, program: &Path) -> Outcome<Value> {
    let folder = folder_in(place)?;
    let server = Server::product(program, folder.path(), ACTIONS).await?;
    let token = token(&server).await?;
    let void = Posts::to(server.address, Some(&token));
    let payload = folder.path().join("payload.json");
    fs::write(&payload, void.payload().await?.to_string())?;
    let typescript = Typescript::install(folder.path())?;
    let bridge = format!(
        "env -i VOID_API_URL=http://{} VOID_AGENT_TOKEN={token} '{}' mcp",
        server.address,
        program.display()
    );
    let (own, file) = (own_program()?, payload.display());
    let bare = format!("'{}' serve-rmcp --payload '{file}'", own.display());
    let mut programs = vec![("void", bridge), ("rmcp", bare)];
    let checked = checked(&payload, folder.path(), &token).await?;
    let mut minimal = None;
    if let Some(typescript) = &typescript {
        programs.push(("typescript", typescript.command(&payload)));
        minimal = Some(typescript.serve(&payload, folder.path()).await?);
    }
    let mut over_http = vec![
        ("void", void),
        ("rmcp", Posts::to(checked.address, Some(&token))),
    ];
    if let Some(minimal) = &minimal {
        over_http.push(("typescript", Posts::to(minimal.address, None)));
    }
    Ok(json!({
        "first_answer_ms": first_answers(plan, &programs)?,
        "stdio": on_pipes(plan, &programs)?,
        "http": by_posts(plan, &over_http).await?,
    }))
}

/// The Rust SDK's own server over HTTP, which checks the same token.
async fn checked(payload: &Path, folder: &Path, token: &str) -> Outcome<Server> {
    let port = free_port();
    let command = format!(
        "{} serve-rmcp --payload {} --port {port} --token {token}",
        quoted(&own_program()?),
        quoted(payload)
    );
    let server = Server::start(&command, folder, port, "/readyz").await?;
    let mut connection = Connection::open(server.address).await?;
    let stranger = Posts::to(server.address, Some("nobody"));
    if connection.call(stranger.request()).await?.status != 401 {
        return Err("the Rust SDK's server does not check its token".into());
    }
    Ok(server)
}

/// From before a process is made to its first answer.
fn first_answers(plan: &Plan, programs: &[Program]) -> Outcome<Value> {
    let mut found = Map::new();
    for (name, command) in programs {
        let times = (0..plan.starts).map(|_| Pipe::start(command).map(|(_, time)| time));
        let times = times.collect::<Outcome<Vec<f64>>>()?;
        found.insert((*name).to_owned(), middle(times));
    }
    Ok(found.into())
}

fn on_pipes(plan: &Plan, programs: &[Program]) -> Outcome<Vec<Value>> {
    let mut cells = Vec::new();
    for depth in DEPTHS {
        let mut rates = vec![Vec::new(); programs.len()];
        for _ in 0..plan.rounds {
            for ((_, command), rates) in programs.iter().zip(&mut rates) {
                let (mut pipe, _) = Pipe::start(command)?;
                rates.push(pipe.rate(depth, plan.round)?);
            }
        }
        let names = programs.iter().map(|(name, _)| *name);
        cells.push(cell("depth", depth, names.zip(rates)));
    }
    Ok(cells)
}

async fn by_posts(plan: &Plan, servers: &[(&'static str, Posts)]) -> Outcome<Vec<Value>> {
    let mut cells = Vec::new();
    for clients in CLIENTS {
        let mut rates = vec![Vec::new(); servers.len()];
        for _ in 0..plan.rounds {
            for ((_, posts), rates) in servers.iter().zip(&mut rates) {
                rates.push(posts.rate(clients, plan.round).await?);
            }
        }
        let names = servers.iter().map(|(name, _)| *name);
        cells.push(cell("clients", clients, names.zip(rates)));
    }
    Ok(cells)
}

/// Calls per second by name, and what Void's are of each other's, round by round.
fn cell<'a>(what: &str, number: usize, rates: impl Iterator<Item = (&'a str, Vec<f64>)>) -> Value {
    let rates: Vec<_> = rates.collect();
    let void: Vec<f64> = rates
        .iter()
        .filter(|(name, _)| *name == "void")
        .flat_map(|(_, rates)| rates.clone())
        .collect();
    let mut cell = Map::from_iter([(what.to_owned(), number.into())]);
    let mut ratios = Map::new();
    for (name, rates) in rates {
        if name != "void" {
            let pairs = void.iter().copied().zip(rates.iter().copied());
            ratios.insert(name.to_owned(), rounded(median_ratio(pairs)).into());
        }
        cell.insert(name.to_owned(), middle(rates));
    }
    cell.insert("ratios".to_owned(), ratios.into());
    cell.into()
}

fn middle(numbers: Vec<f64>) -> Value {
    rounded(median(numbers.into_iter())).into()
}

async fn token(server: &Server) -> Outcome<String> {
    let body = r#"{"kind":"agent","name":"bench","capabilities":["read","act"]}"#;
    let request = http::request("POST", "/api/tokens", body);
    let mut connection = Connection::open(server.address).await?;
    let answer: Value = serde_json::from_slice(connection.call(&request).await?.body)?;
    let token = answer.get("token").and_then(Value::as_str);
    Ok(token.ok_or("no token was made")?.to_owned())
}
