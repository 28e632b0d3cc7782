//! Which statuses an operation answers with. A test holds every answer that any test gets to this.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::takes_file;
use crate::table::{Access, Route};

pub(super) fn responses(route: &Route, content: &Value) -> Value {
    let mut responses: Map<String, Value> = Map::new();
    responses.insert(
        "200".to_owned(),
        json!({"description": "done", "content": content}),
    );
    for (status, meaning) in refusals(route) {
        let error = json!({
            "description": meaning,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        });
        responses.insert(status.to_string(), error);
    }
    let mut own = |status: &str, meaning: &str, content: Option<&Value>| {
        let mut response = json!({"description": meaning});
        if let (Value::Object(members), Some(content)) = (&mut response, content) {
            members.insert("content".to_owned(), content.clone());
        }
        responses.insert(status.to_owned(), response);
    };
    match route.operation {
        "isReady" | "getHealth" => own("503", "not ready", Some(content)),
        "callTools" => {
            own("202", "a notification, which has no answer", None);
            own(
                "400",
                "no message, or not one of this revision",
                Some(content),
            );
            own("404", "there is no such method", Some(content));
        }
        "openTools" => own("101", "from here on one message a line, both ways", None),
        _ => {}
    }
    let any = json!({
        "description": "an error with a stable code",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    });
    responses.insert("default".to_owned(), any);
    Value::Object(responses)
}

fn refusals(route: &Route) -> BTreeMap<u16, &'static str> {
    let mut refusals = BTreeMap::from([
        (401, "no valid credential"),
        (403, "not for this caller, or from a foreign page"),
        (421, "Void is not known by this name"),
        (429, "too many; later again"),
        (500, "something is wrong inside Void; nothing was changed"),
        (503, "the database or the disk cannot be used right now"),
    ]);
    if route.path.contains('{') || route.access == Access::Turn || route.method != "GET" {
        refusals.insert(404, "there is no such thing here");
    }
    if !route.query.is_empty() || route.request.is_some() {
        refusals.insert(422, "what was sent is not as described; fields names what");
    }
    if route.request.is_some() || takes_file(route) {
        refusals.insert(408, "the body did not arrive in time");
        refusals.insert(413, "the body is too long");
    }
    if route.method != "GET" {
        refusals.insert(415, "a body that does not say that it is JSON");
        refusals.insert(
            409,
            "not now: decided, changed, frozen or busy; row shows how it stands",
        );
    }
    match route.operation {
        "openTools" => {
            refusals.insert(
                400,
                "only the first request of a connection can ask for this",
            );
            refusals.insert(405, "nobody asked for the connection itself");
        }
        "forwardMessage" | "forwardTokenCount" => {
            refusals.insert(400, "the turn has nothing left");
            refusals.insert(502, "the model could not be asked");
        }
        "createRef" | "keepFile" | "importKarakeep" => {
            refusals.insert(502, "the page could not be had");
        }
        "search" => {
            refusals.insert(404, "there is no such space");
        }
        "streamEvents" | "streamTurn" => {
            refusals.insert(422, "Last-Event-ID is none of this stream");
        }
        _ => {}
    }
    refusals
}
