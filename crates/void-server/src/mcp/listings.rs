//! How tools are shown to MCP clients. Made once: schemas do not change while the server runs.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use rmcp::model::{JsonObject, Tool as Listed, ToolAnnotations};
use serde_json::Value;
use void_agent::tools::{Effect, TOOLS, Tool};

/// What has to do with content that a machine wrote, in arguments, results and descriptions.
const OF_OUTPUT: [&str; 2] = ["include_output", "untrusted_output"];
const ABOUT_OUTPUT: &str = " With include_output";

/// The entry of a tool. Where foreign content is withheld it is not
/// offered either.
pub(super) fn of(tool: &Tool, withheld: bool) -> Option<Listed> {
    static LISTINGS: OnceLock<BTreeMap<(&'static str, bool), Listed>> = OnceLock::new();
    let listings = LISTINGS.get_or_init(|| {
        TOOLS
            .into_iter()
            .flat_map(|tool| [true, false].map(|how| ((tool.name, how), describe(tool, how))))
            .collect()
    });
    listings.get(&(tool.name, withheld)).cloned()
}

fn describe(tool: &Tool, withheld: bool) -> Listed {
    let reads = tool.effect == Effect::Reads;
    let annotations = ToolAnnotations::new()
        .read_only(reads)
        .destructive(tool.effect == Effect::Proposes)
        .idempotent(tool.effect != Effect::Proposes)
        .open_world(false);
    let (mut arguments, mut result) = ((tool.arguments)(), (tool.result)());
    let mut description = tool.description;
    if withheld {
        for schema in [&mut arguments, &mut result] {
            if let Some(Value::Object(properties)) = schema.get_mut("properties") {
                properties.retain(|name, _| !OF_OUTPUT.contains(&name.as_str()));
            }
        }
        description = description
            .split_once(ABOUT_OUTPUT)
            .map_or(description, |(before, _)| before);
    }
    Listed::new(tool.name, description, members(arguments))
        .with_title(tool.title)
        .with_raw_output_schema(members(result))
        .with_annotations(annotations)
}

fn members(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(members) => Arc::new(members),
        _ => Arc::default(),
    }
}
