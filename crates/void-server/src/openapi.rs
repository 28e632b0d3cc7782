//! The OpenAPI 3.1 document, made from the table of routes and the wire types. It says what the server
//! takes: a request that fits it is refused nowhere for its shape.

mod events;
mod statuses;
mod tidy;

use std::sync::OnceLock;

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::routes::ROUTES;
use crate::table::{Access, Content, Route};
use crate::{parameters, uploads};

/// Made once: anybody may ask for it.
pub(crate) fn shared() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(document)
}

/// What is sent may leave an optional member out; what is answered has it, as null.
struct Generators {
    requests: SchemaGenerator,
    responses: SchemaGenerator,
}

impl Generators {
    fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        Self {
            requests: SchemaGenerator::new(settings.clone()),
            responses: SchemaGenerator::new(settings.for_serialize()),
        }
    }
}

pub fn document() -> Value {
    let mut generators = Generators::new();
    let mut paths: Map<String, Value> = Map::new();
    for route in ROUTES {
        let operation = operation(route, &mut generators);
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Value::Object(methods) = path {
            methods.insert(route.method.to_ascii_lowercase(), operation);
        }
    }
    let mut schemas = generators.responses.take_definitions(true);
    for (name, schema) in generators.requests.take_definitions(true) {
        let is_new = schemas.get(&name).is_none_or(|other| *other == schema);
        debug_assert!(is_new, "{name} is not the same in requests and responses");
        schemas.insert(name, schema);
    }
    schemas.insert("Error".to_owned(), error_schema());
    for schema in schemas.values_mut() {
        tidy::schema(schema);
    }
    tidy::request_bodies(&mut paths, &mut schemas);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Void",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The control plane's API. Times are RFC 3339 in UTC; lists take cursor and limit and answer next. Lengths are in characters; x-max-bytes is the bound of the same text in UTF-8. Objects in requests hold each name once.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": "void_session"},
            },
        },
    })
}

fn operation(route: &Route, generators: &mut Generators) -> Value {
    let mut parameters: Vec<Value> = path_parameters(route.path);
    for parameter in route.query {
        let shape = parameters::in_query(route.operation, parameter.name);
        let schema = shape.map_or_else(|| json!({"type": parameter.kind}), |it| it.schema());
        parameters.push(json!({
            "name": parameter.name, "in": "query", "required": false,
            "description": parameter.meaning, "schema": schema,
        }));
    }
    let content = match route.response {
        Content::Json(schema) => {
            json!({"application/json": {"schema": value(schema(&mut generators.responses))}})
        }
        Content::Text(media) => {
            let content = match events::of(route.operation) {
                Some(events) => json!({"schema": events::one_of(&events), "x-events": events}),
                None => json!({"schema": {"type": "string"}}),
            };
            json!({ media: content })
        }
        Content::File => file(),
    };
    let mut operation = json!({
        "operationId": route.operation,
        "summary": route.summary,
        "description": who(route.access),
        "parameters": parameters,
        "responses": statuses::responses(route, &content),
    });
    if let Value::Object(members) = &mut operation {
        if let Some(schema) = route.request {
            let schema = value(schema(&mut generators.requests));
            let body = json!({"content": {"application/json": {"schema": schema}}});
            members.insert("requestBody".to_owned(), body);
        }
        if takes_file(route) {
            let body = json!({"content": file(), "required": true});
            members.insert("requestBody".to_owned(), body);
        }
        if route.access != Access::Public {
            members.insert("security".to_owned(), security(route));
        }
    }
    operation
}

fn file() -> Value {
    json!({ uploads::MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}} })
}

fn takes_file(route: &Route) -> bool {
    let method = route.method.parse();
    method.is_ok_and(|method| uploads::takes_files(&method, route.path))
}

fn security(route: &Route) -> Value {
    match (route.access, route.operation) {
        // What changes how the owner signs in is done in a browser.
        (_, "closeSession" | "confirmSession" | "challengePasskey" | "registerPasskey")
        | (_, "removePasskey" | "setPassword" | "removePassword") => json!([{"session": []}]),
        (Access::Tools | Access::Node | Access::Turn | Access::OwnProcess, _) => {
            json!([{"bearer": []}])
        }
        // From this machine without any.
        (Access::Local, _) => json!([{}, {"bearer": []}, {"session": []}]),
        _ => json!([{"bearer": []}, {"session": []}]),
    }
}

const fn who(access: Access) -> &'static str {
    match access {
        Access::Public => "Anybody.",
        Access::Local => "Programs on this machine, and whoever may read.",
        Access::Read => "The owner, viewers, and agents with read, act or suggest.",
        Access::Knowledge => "The owner, and agents with read or suggest.",
        Access::Act => "The owner and agents with act.",
        Access::Suggest => "The owner and agents with suggest.",
        Access::Withdraw => {
            "The owner and agents with act or suggest; each takes back its own, a request for an action with act alone."
        }
        Access::Audit => "The owner, and agents with audit.read, who see no words and no output.",
        Access::Owner => "The owner.",
        Access::OwnerRecent => "The owner; in a browser only shortly after a sign-in.",
        Access::Tools => {
            "Agents with read, act or suggest, and programs that work in one of their turns."
        }
        Access::Node => "Nodes that have joined.",
        Access::Turn => "Programs that work in a turn, with its pass.",
        Access::Process => "The owner, and the process of an agent about itself.",
        Access::Wake => "Agents by any of their tokens, and their processes; each for itself.",
        Access::OwnProcess => "The process of an agent about itself, and nobody else.",
    }
}

fn path_parameters(path: &str) -> Vec<Value> {
    path.split('/')
        .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| {
            let schema = parameters::in_path(path, name).schema();
            json!({"name": name, "in": "path", "required": true, "schema": schema})
        })
        .collect()
}

fn value(schema: Schema) -> Value {
    schema.to_value()
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "required": ["error"],
        "properties": {"error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "hint": {"type": "string"},
                "row": {"anyOf": [
                    {"$ref": "#/components/schemas/Row"},
                    {"$ref": "#/components/schemas/Space"},
                    {"$ref": "#/components/schemas/Project"},
                    {"$ref": "#/components/schemas/Page"},
                    {"$ref": "#/components/schemas/Task"},
                    {"$ref": "#/components/schemas/Ref"},
                ]},
                "fields": {"type": "object", "additionalProperties": {"type": "string"}},
                "moved": {"$ref": "#/components/schemas/MovedBase"},
                "conflicts": {"type": "array", "items": {"$ref": "#/components/schemas/MergeConflict"}},
                "conflicts_left_out": {"type": "integer", "minimum": 0},
            },
        }},
    })
}
