//! What a page asks for: the catalogue of many actions, beside the documents' stack, an inbox that is full, and Home.

use std::path::Path;
use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::Outcome;
use crate::http::{self, Connection};
use crate::plan::Plan;
use crate::runs::Beside;
use crate::servers::{Server, folder_in};
use crate::statistics::{median, rounded};
use crate::subject::{CLIENTS_MAX, catalogue_text};

const INBOX_ITEMS: usize = 100;

pub(crate) async fn measure(
    plan: &Plan,
    place: &Path,
    program: &Path,
    beside: &Beside,
) -> Outcome<Value> {
    let folder = folder_in(place)?;
    let server = Server::product(program, folder.path(), CLIENTS_MAX).await?;
    let reference = match (&beside.cluster, &beside.reference) {
        (Some(cluster), Some(reference)) => {
            let catalogue = catalogue_text(CLIENTS_MAX);
            let database = cluster.database()?;
            let started = reference.actions(folder.path(), &catalogue, &database);
            Some(started.await?)
        }
        _ => None,
    };
    let mut catalogue = list_actions(plan, &server, reference.as_ref()).await?;
    catalogue.insert("actions".to_owned(), (2 * CLIENTS_MAX).into());
    let mut connection = Connection::open(server.address).await?;
    let inbox = inbox(plan, &mut connection).await?;
    let home = http::request("GET", "/api/home", "");
    let home = again_and_anew(plan, &mut connection, &home).await?;
    Ok(json!({"catalogue": catalogue, "inbox": inbox, "home": home}))
}

async fn list_actions(
    plan: &Plan,
    server: &Server,
    reference: Option<&Server>,
) -> Outcome<Map<String, Value>> {
    let request = http::request("GET", "/api/actions", "");
    let mut void = Connection::open(server.address).await?;
    let mut other = match reference {
        None => None,
        Some(reference) => Some(Connection::open(reference.address).await?),
    };
    let (mut here, mut there) = (Vec::new(), Vec::new());
    for _ in 0..plan.list_calls {
        here.push(timed(&mut void, &request).await?);
        if let Some(other) = &mut other {
            there.push(timed(other, &request).await?);
        }
    }
    let own = median(here.into_iter());
    let mut found = Map::from_iter([("p50_ms".to_owned(), rounded(own).into())]);
    if !there.is_empty() {
        let other = median(there.into_iter());
        found.insert("reference_p50_ms".to_owned(), rounded(other).into());
        found.insert(
            "time_ratio".to_owned(),
            rounded(own / other.max(1e-9)).into(),
        );
    }
    Ok(found)
}

async fn inbox(plan: &Plan, connection: &mut Connection) -> Outcome<Value> {
    for index in 0..INBOX_ITEMS {
        wish(connection, index).await?;
    }
    let request = http::request("GET", "/api/inbox?limit=100", "");
    let answer: Value = serde_json::from_slice(connection.call(&request).await?.body)?;
    let items = answer.get("items").and_then(Value::as_array);
    let items = items.map_or(0, Vec::len);
    if items != INBOX_ITEMS {
        return Err(format!("the inbox shows {items} of {INBOX_ITEMS}").into());
    }
    let mut found = again_and_anew(plan, connection, &request).await?;
    found.insert("items".to_owned(), items.into());
    Ok(found.into())
}

/// The same wish once more is counted where it waits: a commit, and as many items as before.
async fn wish(connection: &mut Connection, index: usize) -> Outcome<()> {
    let path = format!("/api/actions/risky-{index}/run?wait=0");
    let body = r#"{"params":{"n":7},"reason":"it does not answer since the upgrade"}"#;
    let answer = connection.call(&http::request("POST", &path, body)).await?;
    if answer.status != 200 {
        return Err(format!("a wish was answered with {}", answer.status).into());
    }
    Ok(())
}

/// What nobody has written since may be remembered; after a commit it is read.
async fn again_and_anew(
    plan: &Plan,
    connection: &mut Connection,
    request: &[u8],
) -> Outcome<Map<String, Value>> {
    let (mut again, mut anew) = (Vec::new(), Vec::new());
    for _ in 0..plan.list_calls {
        again.push(timed(connection, request).await?);
    }
    for _ in 0..plan.list_calls {
        wish(connection, 0).await?;
        anew.push(timed(connection, request).await?);
    }
    let middle = |times: Vec<f64>| Value::from(rounded(median(times.into_iter())));
    Ok(Map::from_iter([
        ("p50_ms".to_owned(), middle(again)),
        ("after_commit_p50_ms".to_owned(), middle(anew)),
    ]))
}

/// Milliseconds to an answer of 200.
pub(super) async fn timed(connection: &mut Connection, request: &[u8]) -> Outcome<f64> {
    let asked = Instant::now();
    let answer = connection.call(request).await?;
    if answer.status != 200 {
        return Err(format!("a list was answered with {}", answer.status).into());
    }
    Ok(asked.elapsed().as_secs_f64() * 1_000.0)
}
