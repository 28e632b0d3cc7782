//! What may be asked. Fields that are not listed do not go on, above all those that would let the
//! provider reach out by itself: servers, containers, tools of its own.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};

use super::{GatewayError, GatewayQuestion};
use crate::brains::TOOL_PREFIX;

/// A request as it came in.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// `anthropic-beta`, as it was sent.
    pub beta: Option<String>,
    pub body: Map<String, Value>,
}

const MESSAGE_FIELDS: [&str; 14] = [
    "context_management",
    "max_tokens",
    "messages",
    "model",
    "output_config",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
];
const COUNT_FIELDS: [&str; 6] = [
    "messages",
    "model",
    "system",
    "thinking",
    "tool_choice",
    "tools",
];
/// Features that change how an answer is written, not what it can reach. Each name goes on with a date.
const BETAS: [&str; 8] = [
    "claude-code-",
    "context-management-",
    "effort-",
    "fine-grained-tool-streaming-",
    "interleaved-thinking-",
    "prompt-caching-",
    "thinking-token-count-",
    "token-efficient-tools-",
];
const BETAS_MAX: usize = 16;
/// Where the content of a block may come from: out of the request itself. Anything else (`url`, `file`,
/// and what comes up later) would make the provider fetch it, to an address that somebody else chose.
const SOURCES: [&str; 3] = ["base64", "content", "text"];
/// Blocks that name what is stored at the provider.
const STORED_BLOCKS: [&str; 1] = ["container_upload"];
/// Blocks hold blocks (the result of a tool, a document made of parts), but not deeper than this.
const BLOCKS_DEPTH_MAX: usize = 8;

impl Asked {
    pub(super) fn headers(&self) -> HeaderMap {
        let betas = self
            .beta
            .as_deref()
            .unwrap_or_default()
            .split(',')
            .map(str::trim);
        let known = betas.filter(|beta| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
            beta.bytes().all(plain) && BETAS.iter().any(|known| beta.starts_with(known))
        });
        let known: Vec<&str> = known.take(BETAS_MAX).collect();
        let mut headers = HeaderMap::new();
        if let Ok(value) = HeaderValue::from_str(&known.join(","))
            && !known.is_empty()
        {
            headers.insert(HeaderName::from_static("anthropic-beta"), value);
        }
        headers
    }
}

pub(super) fn body(
    question: GatewayQuestion,
    mut asked: Map<String, Value>,
    model: &str,
    left: u32,
) -> Result<Value, GatewayError> {
    let fields: &[&str] = match question {
        GatewayQuestion::Message => &MESSAGE_FIELDS,
        GatewayQuestion::CountTokens => &COUNT_FIELDS,
    };
    asked.retain(|name, _| fields.contains(&name.as_str()));
    let messages = asked.get("messages").and_then(Value::as_array);
    if messages.is_none_or(Vec::is_empty) {
        return Err(GatewayError::Invalid("has no messages"));
    }
    let messages = messages.into_iter().flatten();
    let contents = messages.filter_map(|message| message.get("content"));
    for content in contents.chain(asked.get("system")) {
        check_blocks(content, BLOCKS_DEPTH_MAX)?;
    }
    check_tools(asked.get("tools"))?;
    asked.insert("model".to_owned(), json!(model));
    if question == GatewayQuestion::Message {
        clamp(&mut asked, left);
    }
    Ok(Value::Object(asked))
}

/// A block's content is in the request, never elsewhere: a fetch would carry data out, and bring
/// strangers' words in.
fn check_blocks(content: &Value, depth_left: usize) -> Result<(), GatewayError> {
    let Some(blocks) = content.as_array() else {
        return Ok(());
    };
    let Some(depth_left) = depth_left.checked_sub(1) else {
        return Err(GatewayError::Invalid("has blocks in blocks too deeply"));
    };
    for block in blocks {
        let kind = block.get("type").and_then(Value::as_str);
        if kind.is_some_and(|kind| STORED_BLOCKS.contains(&kind)) {
            return Err(GatewayError::Invalid(FETCHES));
        }
        // The source of a search result is a label, a string.
        let source = block.get("source").filter(|source| !source.is_string());
        if let Some(source) = source {
            let from = source.get("type").and_then(Value::as_str);
            if !from.is_some_and(|from| SOURCES.contains(&from)) {
                return Err(GatewayError::Invalid(FETCHES));
            }
            if let Some(inner) = source.get("content") {
                check_blocks(inner, depth_left)?;
            }
        }
        if let Some(inner) = block.get("content") {
            check_blocks(inner, depth_left)?;
        }
    }
    Ok(())
}

const FETCHES: &str =
    "has content that the provider would have to fetch; send it as text or base64";

/// Tools that the provider runs itself have a type; those of the program are named otherwise.
fn check_tools(tools: Option<&Value>) -> Result<(), GatewayError> {
    let Some(tools) = tools else { return Ok(()) };
    let Some(tools) = tools.as_array() else {
        return Err(GatewayError::Invalid("has tools that are no list"));
    };
    let is_ours = |tool: &Value| {
        let name = tool.get("name").and_then(Value::as_str);
        let kind = tool.get("type").map_or(Some("custom"), Value::as_str);
        name.is_some_and(|name| name.starts_with(TOOL_PREFIX)) && kind == Some("custom")
    };
    if tools.iter().all(is_ours) {
        Ok(())
    } else {
        Err(GatewayError::Invalid("has tools that are not Void's"))
    }
}

fn clamp(asked: &mut Map<String, Value>, left: u32) {
    let wanted = asked.get("max_tokens").and_then(Value::as_u64);
    let granted = wanted.unwrap_or(u64::from(left)).min(u64::from(left));
    asked.insert("max_tokens".to_owned(), json!(granted));
    let thinking = asked
        .get("thinking")
        .and_then(|thinking| thinking.get("budget_tokens"));
    if thinking
        .and_then(Value::as_u64)
        .is_some_and(|budget| budget >= granted)
    {
        // A budget for thinking that does not fit is refused there, and so is what is about thinking.
        asked.remove("thinking");
        asked.remove("context_management");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(body: Value, left: u32) -> Result<Value, GatewayError> {
        let Value::Object(body) = body else {
            panic!("an object")
        };
        super::body(GatewayQuestion::Message, body, "own-model", left)
    }

    #[test]
    fn the_model_is_the_agents_and_the_output_what_is_left() {
        let asked = json!({
            "model": "dearest", "max_tokens": 32_000, "messages": [{}], "stream": true,
            "thinking": {"type": "enabled", "budget_tokens": 31_999},
            "context_management": {}, "metadata": {"user_id": "me"},
            "mcp_servers": [{"url": "https://evil.example"}], "container": "x", "service_tier": "auto",
        });
        let expected =
            json!({"model": "own-model", "max_tokens": 100, "messages": [{}], "stream": true});
        assert_eq!(judged(asked, 100).unwrap(), expected);
        let asked = json!({"max_tokens": 7, "messages": [{}], "thinking": {"type": "disabled"}});
        let expected = json!({
            "model": "own-model", "max_tokens": 7, "messages": [{}], "thinking": {"type": "disabled"},
        });
        assert_eq!(judged(asked, 100).unwrap(), expected);
        let without = judged(json!({"messages": [{}]}), 100).unwrap();
        assert_eq!(without["max_tokens"], 100);
    }

    #[test]
    fn only_voids_tools_go_through() {
        for (tools, good) in [
            (
                json!([{"name": "mcp__void__search", "input_schema": {}}]),
                true,
            ),
            (
                json!([{"name": "mcp__void__search", "type": "custom"}]),
                true,
            ),
            (json!([]), true),
            (json!([{"name": "Bash"}]), false),
            (json!([{"name": "mcp__other__x"}]), false),
            (
                json!([{"name": "mcp__void__x", "type": "web_search_20250305"}]),
                false,
            ),
            (json!([{"name": "mcp__void__x", "type": 7}]), false),
            (json!([{}]), false),
            (json!({"name": "mcp__void__x"}), false),
        ] {
            let judged = judged(json!({"messages": [{}], "tools": tools}), 100);
            assert_eq!(judged.is_ok(), good, "{tools}");
        }
        assert!(judged(json!({"messages": "x"}), 100).is_err());
        assert!(judged(json!({}), 100).is_err());
    }

    #[test]
    fn nothing_is_fetched_by_the_provider() {
        let image = |source: Value| json!({"type": "image", "source": source});
        let url = json!({"type": "url", "url": "https://evil.example/?q=secret"});
        let good = json!({"type": "base64", "media_type": "image/png", "data": ""});
        let within =
            |block: Value| json!({"type": "tool_result", "tool_use_id": "t", "content": [block]});
        let document = |content: Value| json!({"type": "document", "source": {"type": "content", "content": content}});
        for (block, is_good) in [
            (
                json!({"type": "text", "text": "see https://evil.example"}),
                true,
            ),
            (image(good.clone()), true),
            (within(image(good.clone())), true),
            (document(json!([{"type": "text", "text": "a"}])), true),
            (document(json!("text")), true),
            (
                json!({"type": "document", "source": {"type": "text", "data": "a"}}),
                true,
            ),
            (
                json!({"type": "search_result", "source": "https://a.example", "content": []}),
                true,
            ),
            // What a model passes to a tool is no block.
            (
                json!({"type": "tool_use", "input": {"source": {"type": "url"}}}),
                true,
            ),
            (image(url.clone()), false),
            (json!({"type": "document", "source": url.clone()}), false),
            (within(image(url.clone())), false),
            (
                within(json!({"type": "document", "source": url.clone()})),
                false,
            ),
            (document(json!([image(url.clone())])), false),
            (image(json!({"type": "file", "file_id": "file_1"})), false),
            (
                image(json!({"type": "URL", "url": "https://evil.example"})),
                false,
            ),
            (image(json!({"url": "https://evil.example"})), false),
            (image(json!({"type": ["url"]})), false),
            (image(json!(null)), false),
            (image(json!([url.clone()])), false),
            (
                json!({"type": "container_upload", "file_id": "file_1"}),
                false,
            ),
        ] {
            let message =
                json!({"role": "user", "content": [{"type": "text", "text": "a"}, block]});
            let asked = json!({"messages": [{"role": "user", "content": "hello"}, message]});
            assert_eq!(judged(asked, 100).is_ok(), is_good, "{block}");
            let system = json!({"messages": [{}], "system": [block]});
            assert_eq!(judged(system, 100).is_ok(), is_good, "{block}");
        }
        let nested = |deep: usize| {
            let inner = (1..deep).fold(json!({"type": "text"}), |inner, _| within(inner));
            judged(json!({"messages": [{"content": [inner]}]}), 100)
        };
        assert!(nested(BLOCKS_DEPTH_MAX).is_ok());
        assert!(nested(BLOCKS_DEPTH_MAX + 1).is_err());
    }

    #[test]
    fn only_listed_features_are_asked_for() {
        let asked = |beta: &str| Asked {
            beta: Some(beta.to_owned()),
            ..Asked::default()
        };
        let sent = asked(
            "claude-code-20250219, mcp-client-2025-04-04,effort-1\u{7f},oauth-2025-04-20,effort-2025-11-24",
        );
        let headers = sent.headers();
        assert_eq!(
            headers["anthropic-beta"],
            "claude-code-20250219,effort-2025-11-24"
        );
        assert!(asked("files-api-2025-04-14").headers().is_empty());
        assert!(Asked::default().headers().is_empty());
    }
}
