//! How tools are shown to MCP clients. Made once: schemas do not change while the server runs.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use rmcp::model::{JsonObject, Tool as Listed, ToolAnnotations};
use serde_json::Value;
use void_agent::tools::{Effect, TOOLS, Tool};

/// The entry of a tool.
pub(super) fn of(tool: &Tool) -> Option<Listed> {
    static LISTINGS: OnceLock<BTreeMap<&'static str, Listed>> = OnceLock::new();
    let listings = LISTINGS.get_or_init(|| {
        let listed = TOOLS.into_iter().map(|tool| (tool.name, describe(tool)));
        listed.collect()
    });
    listings.get(tool.name).cloned()
}

fn describe(tool: &Tool) -> Listed {
    let reads = tool.effect == Effect::Reads;
    let annotations = ToolAnnotations::new()
        .read_only(reads)
        .destructive(matches!(tool.effect, Effect::Proposes | Effect::Manages))
        .idempotent(!matches!(
            tool.effect,
            Effect::Proposes | Effect::Drafts | Effect::Messages | Effect::Tells
        ))
        .open_world(false);
    Listed::new(tool.name, tool.description, members((tool.arguments)()))
        .with_title(tool.title)
        .with_raw_output_schema(members((tool.result)()))
        .with_annotations(annotations)
}

fn members(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(members) => Arc::new(members),
        _ => Arc::default(),
    }
}
