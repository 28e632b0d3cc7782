//! What a row of the table of routes holds, and the words that rows share. Every row stands beside its
//! handler in `routes/`; `routes.rs` puts them together.

use axum::routing::MethodRouter;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::app::App;

/// The rule of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anybody: health, the description of the API, logging in.
    Public,
    /// Programs on this machine, and whoever may read.
    Local,
    /// The owner, viewers, and agents with `read`, `act` or `suggest`; each sees what it may.
    Read,
    /// The owner, and agents with `read` or `suggest`: what the owner wrote down is for nobody else.
    Knowledge,
    /// The owner and agents with `act`.
    Act,
    /// The owner and agents with `suggest`.
    Suggest,
    /// The owner and agents with `act` or `suggest`; each takes back what it may.
    Withdraw,
    /// The owner and agents with `audit.read`; each sees what it may.
    Audit,
    Owner,
    /// The owner, by a token or by a session whose owner has just proved to be one: for what outlives a
    /// session, so that a stolen one gains nothing that stays.
    OwnerRecent,
    /// Agents with `read`, `act` or `suggest`, and programs that work in one of their turns.
    Tools,
    /// Programs that work in a turn.
    Turn,
    /// Nodes that have joined.
    Node,
    /// The owner, and an agent's process about itself.
    Process,
    /// Agents, by any of their tokens, and their processes; each for itself.
    Wake,
    /// An agent's process about itself, and nobody else.
    OwnProcess,
}

#[derive(Clone, Copy)]
pub struct Route {
    pub method: &'static str,
    pub path: &'static str,
    pub access: Access,
    /// The name of the operation in the OpenAPI document and in the record.
    pub operation: &'static str,
    pub summary: &'static str,
    pub query: &'static [Parameter],
    pub request: Option<SchemaOf>,
    pub response: Content,
    pub(crate) handler: fn() -> MethodRouter<App>,
}

pub struct Parameter {
    pub name: &'static str,
    pub kind: &'static str,
    pub meaning: &'static str,
}

pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

#[derive(Clone, Copy)]
pub enum Content {
    Json(SchemaOf),
    Text(&'static str),
    /// A file as it was stored; what it is called says the answer.
    File,
}

/// The rule of everything that is not part of the API.
pub(crate) static AS_A_PAGE: Route = PAGE;

const PAGE: Route = Route {
    method: "GET",
    path: "/",
    access: Access::Public,
    operation: "openPage",
    summary: "",
    query: &[],
    request: None,
    response: Content::Text("text/html"),
    handler: MethodRouter::new,
};

pub(crate) const LIMIT: Parameter = Parameter {
    name: "limit",
    kind: "integer",
    meaning: "rows of a page, 1 to 500; 100 if left out",
};
pub(crate) const CURSOR: Parameter = Parameter {
    name: "cursor",
    kind: "string",
    meaning: "`next` of the page before",
};
pub(crate) const WAIT: Parameter = Parameter {
    name: "wait",
    kind: "integer",
    meaning: "seconds to wait for an end, 0 to 300; 30 if left out",
};

pub(crate) fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

pub(crate) const fn json<T: JsonSchema>() -> Content {
    Content::Json(schema::<T>)
}

pub(crate) const fn count(tables: &[&[Route]]) -> usize {
    let mut rows = 0;
    let mut rest = tables;
    while let Some((table, others)) = rest.split_first() {
        rows += table.len();
        rest = others;
    }
    rows
}

/// The rows of all tables, in their order. `ROWS` is what `count` says of them.
pub(crate) const fn concat<const ROWS: usize>(tables: &[&[Route]]) -> [Route; ROWS] {
    let mut all = [PAGE; ROWS];
    let mut free: &mut [Route] = &mut all;
    let mut rest = tables;
    while let Some((table, others)) = rest.split_first() {
        let mut rows = *table;
        while let Some((row, later)) = rows.split_first() {
            let [place, behind @ ..] = free else {
                break;
            };
            *place = *row;
            free = behind;
            rows = later;
        }
        rest = others;
    }
    all
}
