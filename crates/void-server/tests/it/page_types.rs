//! The page's types, `ui/types/api.d.ts`: made here from the OpenAPI document, checked in, and compared.
//! What the page may not do is taken care of here too: a type `any` without a reason.

mod anys;
mod printer;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

const COMMAND: &str = "UPDATE_PAGE_TYPES=1 cargo test -p void-server --test it page_types";

fn ui() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("ui")
}

#[test]
fn the_pages_types_are_those_of_the_document() {
    let file = ui().join("types/api.d.ts");
    let made = declarations(&void_server::document());
    if std::env::var_os("UPDATE_PAGE_TYPES").is_some() {
        fs::write(&file, &made).unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    let differing = kept.lines().zip(made.lines()).find(|(one, two)| one != two);
    assert!(
        kept == made,
        "{} is not what the API says ({differing:?}); to make it anew:\n{COMMAND}",
        file.display()
    );
}

/// The whole file: every schema, every call, and the events of both kinds of stream.
fn declarations(document: &Value) -> String {
    let mut text = format!(
        "// What the server takes and answers, made from its OpenAPI document. Not to be edited; to make it anew:\n// {COMMAND}\n"
    );
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        text += &printer::declaration(name, schema);
    }
    text += "\n/** Every call: what is sent, and what is answered. */\nexport interface Routes {\n";
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            text += &printer::call(&method.to_uppercase(), path, operation);
        }
    }
    text += "}\n";
    for (name, path, meaning) in [
        ("Events", "/api/events", "every stored event"),
        (
            "TurnEvents",
            "/api/conversations/{id}/stream",
            "a turn's events",
        ),
    ] {
        let content = &document["paths"][path]["get"]["responses"]["200"]["content"];
        let events = content["text/event-stream"]["x-events"].as_object();
        text += &printer::events(name, meaning, events.unwrap());
    }
    text
}

#[test]
fn every_any_of_the_page_has_its_reason() {
    let mut found = Vec::new();
    anys::look(&ui(), &mut found);
    assert!(
        found.is_empty(),
        "say why, as `any, because …`, on the line or the one before: {found:#?}"
    );
}
