//! The catalogue and the services of the lab of `void demo`: the examples in `config/`, which so run somewhere.
//! Every label says that it is a rehearsal, and every check asks the little process that stands for its service.

use serde_json::{Value, json};
use void_domain::failures::FailureCode;
use void_rehearsal::services::ServiceKind;

use crate::exit::CommandError;

const ACTIONS: &str = include_str!("../../../../config/actions.json");
const SERVICES: &str = include_str!("../../../../config/services.json");
const MARK: &str = " (rehearsal)";
/// Nobody wants to wait half a minute for a rehearsal to notice something.
const CHECK_SECONDS: u64 = 2;

/// A service of the examples, as far as the lab has to play it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub service: String,
    pub kind: ServiceKind,
    pub vmid: u32,
}

pub(super) fn actions() -> Result<Value, CommandError> {
    marked(ACTIONS, "actions")
}

/// The services in the order of their file.
pub(super) fn parts() -> Result<Vec<Part>, CommandError> {
    let file = marked(SERVICES, "services")?;
    let part = |service: &Value| {
        let kind = match service.pointer("/check/kind")?.as_str()? {
            "http" => ServiceKind::Http,
            "tcp" => ServiceKind::Tcp,
            _ => return None,
        };
        Some(Part {
            service: service.get("id")?.as_str()?.to_owned(),
            kind,
            vmid: u32::try_from(service.get("vmid")?.as_u64()?).ok()?,
        })
    };
    let services = file.get("services").and_then(Value::as_array);
    let parts: Option<Vec<Part>> = services.into_iter().flatten().map(part).collect();
    parts.ok_or_else(broken)
}

/// The services file with the ports of the lab, in the order of [`parts`].
pub(super) fn watched(ports: &[u16]) -> Result<Value, CommandError> {
    let mut file = marked(SERVICES, "services")?;
    let services = file.get_mut("services").and_then(Value::as_array_mut);
    for (service, port) in services.into_iter().flatten().zip(ports) {
        let check = service.pointer_mut("/check").ok_or_else(broken)?;
        *check = match check.get("kind").and_then(Value::as_str) {
            Some("http") => json!({"kind": "http", "url": format!("http://127.0.0.1:{port}/")}),
            _ => json!({"kind": "tcp", "address": format!("127.0.0.1:{port}")}),
        };
        let members = service.as_object_mut().ok_or_else(broken)?;
        for name in ["interval_s", "timeout_s"] {
            members.insert(name.to_owned(), CHECK_SECONDS.into());
        }
    }
    Ok(file)
}

/// A file of the examples without the word for editors, and with the mark behind every label of its list.
fn marked(text: &str, list: &str) -> Result<Value, CommandError> {
    let mut file: Value = serde_json::from_str(text).map_err(|_| broken())?;
    file.as_object_mut().ok_or_else(broken)?.remove("$schema");
    let entries = file.get_mut(list).and_then(Value::as_array_mut);
    for entry in entries.ok_or_else(broken)? {
        match entry.get_mut("label") {
            Some(Value::String(label)) => label.push_str(MARK),
            _ => return Err(broken()),
        }
    }
    Ok(file)
}

fn broken() -> CommandError {
    CommandError::failed(
        FailureCode::Internal,
        "the examples of this build cannot be read",
    )
}
