//! The tables of `docs/api.md` are made from the OpenAPI document. This compares what is checked in with what
//! would be made now; `VOID_WRITE_DOCS=1` writes it instead.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use serde_json::Value;
use void_server::routes::ROUTES;

const MARK: &str =
    "<!-- made from the OpenAPI document; nothing below this line is written by hand -->\n";
const COMMAND: &str = "VOID_WRITE_DOCS=1 cargo test -p void-server --test it api_page";

#[test]
fn the_api_page_lists_every_operation_as_it_is() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/api.md");
    let text = fs::read_to_string(&path).unwrap();
    let (by_hand, _) = text.split_once(MARK).expect("docs/api.md has its mark");
    let page = format!("{by_hand}{MARK}{}", tables(&void_server::document()));
    for route in ROUTES {
        let row = format!("| `{} {}` |", route.method, route.path);
        assert_eq!(page.matches(&row).count(), 1, "{row}");
    }
    if env::var_os("VOID_WRITE_DOCS").is_some() {
        fs::write(&path, page).unwrap();
    } else {
        assert_eq!(text, page, "docs/api.md is not up to date; run: {COMMAND}");
    }
}

/// One table for each noun, which is the first word of a path behind `/api`.
fn tables(document: &Value) -> String {
    let mut nouns: BTreeMap<&str, String> = BTreeMap::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let noun = path.strip_prefix("/api/").unwrap_or(&path[1..]);
        let noun = noun.split('/').next().unwrap();
        let rows = nouns.entry(noun).or_default();
        for (method, operation) in methods.as_object().unwrap() {
            rows.push_str(&row(path, method, operation));
        }
    }
    let mut page = format!(
        "\n## Every operation\n\nBy the first word of the path. *Takes* and *answers* are names in `components.schemas` of the document,\n\
         `?name` is a parameter of the query. To make this part anew: `{COMMAND}`.\n"
    );
    for (noun, rows) in nouns {
        let _ = write!(
            page,
            "\n### {noun}\n\n| operation | does | who | takes | answers |\n|---|---|---|---|---|\n{rows}"
        );
    }
    page
}

fn row(path: &str, method: &str, operation: &Value) -> String {
    let text = |name: &str| operation[name].as_str().unwrap();
    let mut takes: Vec<String> = Vec::new();
    let body = &operation["requestBody"]["content"];
    takes.extend(body.is_object().then(|| content(body)));
    let parameters = operation["parameters"].as_array().unwrap().iter();
    let query = parameters.filter(|parameter| parameter["in"] == "query");
    takes.extend(query.map(|one| format!("`?{}`", one["name"].as_str().unwrap())));
    let responses = operation["responses"].as_object().unwrap();
    let (_, done) = responses
        .iter()
        .find(|(status, _)| status.starts_with('2'))
        .unwrap();
    format!(
        "| `{} {path}` | {} | {} | {} | {} |\n",
        method.to_uppercase(),
        text("summary").replace('|', "\\|"),
        text("description").trim_end_matches('.'),
        takes.join(" "),
        content(&done["content"]),
    )
}

/// The name of the schema, or the kind of text.
fn content(content: &Value) -> String {
    let (media, content) = content.as_object().unwrap().iter().next().unwrap();
    let schema = content["schema"]["$ref"].as_str();
    let name = schema.and_then(|pointer| pointer.rsplit('/').next());
    format!("`{}`", name.unwrap_or(media))
}
