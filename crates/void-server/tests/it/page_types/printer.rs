//! JSON schemas as TypeScript declarations. Bounds and patterns are the server's to check; shapes are all
//! that is written down.

use serde_json::{Map, Value};

/// Longer lines are broken where that is easy.
const LINE_CHARS: usize = 118;

pub fn declaration(name: &str, schema: &Value) -> String {
    let is_object = schema["properties"].is_object();
    let head = if is_object {
        format!("export interface {name} ")
    } else {
        format!("export type {name} = ")
    };
    let end = if is_object { "" } else { ";" };
    format!("\n{}{head}{}{end}\n", comment(schema, ""), of(schema, ""))
}

/// A line of the table of calls.
pub fn call(method: &str, path: &str, operation: &Value) -> String {
    let json = |part: &Value| {
        let schema = &part["content"]["application/json"]["schema"];
        (!schema.is_null()).then(|| of(schema, "  "))
    };
    let request = json(&operation["requestBody"]);
    let request = request.map(|kind| format!("request: {kind}; "));
    let response = json(&operation["responses"]["200"]);
    let response = response.unwrap_or_else(|| "string".to_owned());
    format!(
        "  \"{method} {path}\": {{ {}response: {response} }};\n",
        request.unwrap_or_default()
    )
}

/// The data of each event by its name; what was written once is not written again.
pub fn events(name: &str, meaning: &str, events: &Map<String, Value>) -> String {
    let mut text =
        format!("\n/** The data of {meaning}, by its name. */\nexport interface {name} {{\n");
    for (event, schema) in events {
        let first = events.iter().find(|(_, other)| *other == schema);
        let kind = match first {
            Some((other, _)) if other != event => format!("{name}[\"{other}\"]"),
            _ => of(schema, "  "),
        };
        text += &format!("  \"{event}\": {kind};\n");
    }
    text + "}\n"
}

fn comment(schema: &Value, indent: &str) -> String {
    let Some(words) = schema["description"].as_str() else {
        return String::new();
    };
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.len() + indent.len() + "/**  */".len() <= LINE_CHARS {
        return format!("{indent}/** {words} */\n");
    }
    let mut text = format!("{indent}/**\n{indent} *");
    let mut column = 0;
    for word in words.split(' ') {
        if column + word.len() + indent.len() > LINE_CHARS {
            text += &format!("\n{indent} *");
            column = 0;
        }
        text += &format!(" {word}");
        column += word.len() + 1;
    }
    text + &format!("\n{indent} */\n")
}

/// The type of a schema, as it stands on a line that begins with `indent`.
fn of(schema: &Value, indent: &str) -> String {
    if let Some(pointer) = schema["$ref"].as_str() {
        return pointer.rsplit('/').next().unwrap().to_owned();
    }
    if !schema["const"].is_null() {
        return schema["const"].to_string();
    }
    if let Some(values) = schema["enum"].as_array() {
        return union(values.iter().map(Value::to_string), indent);
    }
    for choice in ["anyOf", "oneOf"] {
        if let Some(schemas) = schema[choice].as_array() {
            return union(schemas.iter().map(|one| of(one, indent)), indent);
        }
    }
    match &schema["type"] {
        Value::String(kind) => one_kind(kind, schema, indent),
        Value::Array(kinds) => {
            let kinds = kinds.iter().map(|kind| kind.as_str().unwrap());
            union(kinds.map(|kind| one_kind(kind, schema, indent)), indent)
        }
        _ => "unknown".to_owned(),
    }
}

fn one_kind(kind: &str, schema: &Value, indent: &str) -> String {
    match kind {
        "integer" => "number".to_owned(),
        "array" => match of(&schema["items"], indent) {
            items if items.contains([' ', '{']) => format!("Array<{items}>"),
            items => format!("{items}[]"),
        },
        "object" => match schema["properties"].as_object() {
            Some(members) => object(members, &schema["required"], indent),
            None => format!(
                "Record<string, {}>",
                of(&schema["additionalProperties"], indent)
            ),
        },
        "string" | "number" | "boolean" | "null" => kind.to_owned(),
        other => panic!("a kind of value that nobody knows: {other}"),
    }
}

fn object(members: &Map<String, Value>, required: &Value, indent: &str) -> String {
    let inner = format!("{indent}  ");
    let required = required.as_array().map_or(&[][..], Vec::as_slice);
    let mut text = "{\n".to_owned();
    for (name, schema) in members {
        let mark = if required.iter().any(|one| one == name) {
            ""
        } else {
            "?"
        };
        text += &comment(schema, &inner);
        text += &format!("{inner}{name}{mark}: {};\n", of(schema, &inner));
    }
    text + &format!("{indent}}}")
}

fn union(kinds: impl Iterator<Item = String>, indent: &str) -> String {
    let kinds: Vec<String> = kinds.collect();
    let line = kinds.join(" | ");
    if line.contains('\n') || line.len() + indent.len() < LINE_CHARS - 30 {
        return line;
    }
    let next = format!("\n{indent}  | ");
    format!("{next}{}", kinds.join(&next))
}
