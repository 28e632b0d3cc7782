//! One message of a client that has no HTTP of its own, and its answer: what a line on a stream or a
//! bridged request says, without headers that could say something else.
//!
//! Nothing is kept between messages. A revision with a handshake behaves the same after it as before it,
//! and the newest one says in every message what it needs.

use std::sync::OnceLock;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ErrorData, GetExtensions as _, GetMeta as _, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::{Peer, RequestContext, Service as _, serve_directly};
use rmcp::transport::OneshotTransport;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use void_domain::text;

use super::Toolbox;
use super::calls::Call;
use crate::json;

/// The answer to one message, if it has one.
pub(crate) async fn answer(toolbox: &Toolbox, message: &[u8]) -> Option<Vec<u8>> {
    let mut members = match strict(message) {
        Ok(members) => members,
        Err(error) => return Some(refused(None, &error)),
    };
    if let Some(call) = Call::of(&mut members) {
        return Some(call.answer(toolbox).await);
    }
    let request = match read(members) {
        Ok(ClientJsonRpcMessage::Request(request)) => request,
        // Nothing is asked of clients, so nothing that they answer or tell changes anything.
        Ok(_) => return None,
        Err((id, error)) => return Some(refused(id.as_ref(), &error)),
    };
    let (id, mut request) = (request.id, request.request);
    let mut context = RequestContext::new(id.clone(), peer(toolbox)?);
    std::mem::swap(&mut context.meta, request.get_meta_mut());
    std::mem::swap(&mut context.extensions, request.extensions_mut());
    let answer = match toolbox.handle_request(request, context).await {
        Ok(result) => ServerJsonRpcMessage::response(result, id),
        Err(error) => ServerJsonRpcMessage::error(error, Some(id)),
    };
    Some(written(&answer))
}

/// A message that every reader understands the same way.
pub(crate) fn strict(message: &[u8]) -> Result<Map<String, Value>, ErrorData> {
    if message.trim_ascii_start().starts_with(b"[") {
        let message = "one message at a time: batches are not spoken here";
        return Err(ErrorData::invalid_request(message, None));
    }
    json::object(message).map_err(|error| {
        let words = text::escaped(&error.to_string());
        if serde_json::from_slice::<IgnoredAny>(message).is_ok() {
            ErrorData::invalid_request(words, None)
        } else {
            ErrorData::parse_error(words, None)
        }
    })
}

fn read(
    members: Map<String, Value>,
) -> Result<ClientJsonRpcMessage, (Option<RequestId>, ErrorData)> {
    let id = members.get("id").cloned();
    serde_json::from_value(Value::Object(members)).map_err(|error| {
        let id = id.and_then(|id| serde_json::from_value(id).ok());
        let words = text::escaped(&error.to_string());
        (id, ErrorData::invalid_request(words, None))
    })
}

/// The answer to what is no request. An id that cannot be read is `null`, as JSON-RPC has it; the SDK would
/// leave it out.
pub(crate) fn refused(id: Option<&RequestId>, error: &ErrorData) -> Vec<u8> {
    let answer = serde_json::json!({"jsonrpc": "2.0", "id": id, "error": error});
    answer.to_string().into_bytes()
}

pub(crate) fn written(message: &ServerJsonRpcMessage) -> Vec<u8> {
    // Text keys and plain numbers: there is nothing in it that JSON could not say.
    serde_json::to_vec(message).unwrap_or_default()
}

/// The SDK hands its handlers a way to ask the client something. Ours never do, so one that leads
/// nowhere serves all.
fn peer(toolbox: &Toolbox) -> Option<Peer<RoleServer>> {
    static PEER: OnceLock<Option<Peer<RoleServer>>> = OnceLock::new();
    let made = PEER.get_or_init(|| {
        let nothing = serde_json::from_value(serde_json::json!({
            "jsonrpc": "2.0", "method": "notifications/initialized",
        }));
        let (transport, _) = OneshotTransport::<RoleServer>::new(nothing.ok()?);
        Some(
            serve_directly(toolbox.clone(), transport, None)
                .peer()
                .clone(),
        )
    });
    made.clone()
}
