//! What derived schemas leave unsaid, or say in a way that only their maker understands.

use serde_json::{Map, Value, json};
use void_api::bounds::PLAIN;

/// Formats that are no standard's go (clients complain about each); the bounds that they mean stay.
pub(super) fn schema(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let is_rusts =
                |format: &str| format.starts_with("uint") || matches!(format, "int8" | "int16");
            if members
                .get("format")
                .and_then(Value::as_str)
                .is_some_and(is_rusts)
            {
                members.remove("format");
            }
            without_defaults(members);
            members.values_mut().for_each(self::schema);
        }
        Value::Array(items) => items.iter_mut().for_each(self::schema),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What is required has no default, and leaving something out is as good as null without saying so.
fn without_defaults(object: &mut Map<String, Value>) {
    let required = object.get("required").and_then(Value::as_array).cloned();
    let required = required.unwrap_or_default();
    let Some(Value::Object(properties)) = object.get_mut("properties") else {
        return;
    };
    for (name, property) in properties {
        let Value::Object(property) = property else {
            continue;
        };
        let is_required = required.iter().any(|other| other == name);
        if is_required || property.get("default") == Some(&Value::Null) {
            property.remove("default");
        }
    }
}

/// A body is required where an empty object would not do; and texts in one hold no NUL.
pub(super) fn request_bodies(paths: &mut Map<String, Value>, schemas: &mut Map<String, Value>) {
    let operations = paths.values_mut().filter_map(Value::as_object_mut);
    for operation in operations.flat_map(Map::values_mut) {
        let Some(body) = operation
            .get_mut("requestBody")
            .and_then(Value::as_object_mut)
        else {
            continue;
        };
        let mut name = reference(body.get("content").unwrap_or(&Value::Null));
        let is_needed = name
            .as_deref()
            .and_then(|name| schemas.get(name))
            .is_some_and(needs_a_member);
        let is_file = body.get("required") == Some(&json!(true));
        body.insert("required".to_owned(), json!(is_needed || is_file));
        while let Some(one) = name.take() {
            if let Some(schema) = schemas.get_mut(&one) {
                plain_texts(schema);
                // No request has more than one object inside.
                name = schema.get("properties").and_then(reference);
            }
        }
    }
}

/// Whether an empty object does not fit: itself, in a part of it, or in each of its alternatives.
fn needs_a_member(schema: &Value) -> bool {
    let parts = |key: &str| schema.get(key).and_then(Value::as_array);
    let all_of = parts("allOf").is_some_and(|parts| parts.iter().any(needs_a_member));
    let one_of = ["oneOf", "anyOf"]
        .into_iter()
        .filter_map(parts)
        .any(|choices| choices.iter().all(needs_a_member));
    let required = parts("required").is_some_and(|names| !names.is_empty());
    required || schema.get("minProperties").is_some() || all_of || one_of
}

/// The component that a part of the document points to.
fn reference(part: &Value) -> Option<String> {
    match part {
        Value::Object(members) => match members.get("$ref").and_then(Value::as_str) {
            Some(pointer) => pointer
                .strip_prefix("#/components/schemas/")
                .map(str::to_owned),
            None => members.values().find_map(reference),
        },
        Value::Array(items) => items.iter().find_map(reference),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn plain_texts(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let is_text = members.get("type").is_some_and(|kind| {
                kind == "string"
                    || kind
                        .as_array()
                        .is_some_and(|kinds| kinds.contains(&json!("string")))
            });
            let is_free = !["pattern", "enum", "const"]
                .iter()
                .any(|key| members.contains_key(*key));
            if is_text && is_free {
                members.insert("pattern".to_owned(), json!(PLAIN));
            }
            members.values_mut().for_each(plain_texts);
        }
        Value::Array(items) => items.iter_mut().for_each(plain_texts),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
