//! `service_status`: how the watched services are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use void_control::health::{self, ServiceView};
use void_domain::capabilities::Capability;
use void_domain::failures::FailureCode;
use void_domain::services::{CheckResult, Health, Location};

use super::loads::MachineLoads;
use super::{Call, Effect, Outcome, RunningTool, Tool, ToolError, loads, schema, written_schema};

pub(super) static SERVICE_STATUS: Tool = Tool {
    name: "service_status",
    title: "Service status",
    description: "How the watched services are: up, down or unknown, since when, and why. \
        Without an id all of them. Call this before you say anything about the lab, and with `load` before you say how \
        busy or full a machine is.",
    needs: &[Capability::Read],
    effect: Effect::Reads,
    arguments: schema::<ServiceStatusArguments>,
    result: written_schema::<ServiceStatusResult>,
    run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ServiceStatusArguments {
    /// One service's id.
    #[serde(default)]
    id: Option<String>,
    /// Also how busy and how full nodes and running guests are: processor, memory, disk.
    #[serde(default)]
    load: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ServiceStatusResult {
    services: Vec<Service>,
    /// Only where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    machines: Option<MachineLoads>,
    at: String,
}

/// Typed fields only: nothing in here was written by a service.
#[derive(Debug, Serialize, JsonSchema)]
struct Service {
    id: String,
    label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs_on: Option<String>,
    /// up, down or unknown
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checked_at: Option<String>,
    /// The owner stopped what it is on at this time, and that is why it is down: no worry, and meant so.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped_by_owner_at: Option<String>,
    /// Why it is not up, as a stable word.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    http_status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_ms: Option<u64>,
    /// It changes too often to trust one reading.
    flapping: bool,
    /// Actions whose check is this service.
    actions: Vec<String>,
}

fn run(mut call: Call) -> RunningTool {
    Box::pin(async move {
        let arguments: ServiceStatusArguments = call.arguments()?;
        let views = match &arguments.id {
            None => health::list(&call.control),
            Some(id) => match health::find(&call.control, id) {
                Some(view) => vec![view],
                None => {
                    let message = format!(
                        "no service \"{}\" is watched; call service_status without an id for all",
                        void_domain::text::escaped(id)
                    );
                    return Err(ToolError::new(FailureCode::NotFound, message));
                }
            },
        };
        let mut views = views;
        // What is not well comes first: a long list may be cut at its end.
        views.sort_by_key(|view| match view.standing.health {
            Health::Down if !view.is_worry() => 2,
            Health::Down => 0,
            Health::Unknown => 1,
            Health::Up => 2,
        });
        let services = views
            .into_iter()
            .map(|view| describe(&call, view))
            .collect();
        let machines = match arguments.load {
            true => Some(loads::look(&call).await),
            false => None,
        };
        let at = call.control.clock().now().to_string();
        Ok(Outcome::of(json!(ServiceStatusResult {
            services,
            machines,
            at
        })))
    })
}

/// One service, as it is listed.
pub(super) fn described(call: &Call, view: ServiceView) -> Value {
    json!(describe(call, view))
}

fn describe(call: &Call, view: ServiceView) -> Service {
    let answer = view.last.map(|reading| reading.answer);
    let (http_status, latency_ms) = match answer {
        Some(CheckResult::Good { latency_ms, code }) => (code, Some(latency_ms)),
        Some(CheckResult::Bad { code, .. }) => (code, None),
        Some(CheckResult::None { .. }) | None => (None, None),
    };
    let id = view.service.id.to_string();
    let actions = call.control.catalogue().actions();
    let actions = actions
        .filter(|action| action.execution.verify.as_ref() == Some(&id))
        .map(|action| action.id.to_string())
        .collect();
    Service {
        label: view.service.label,
        runs_on: view.service.place.map(|place| match place {
            Location::Host(host) => host,
            Location::Guest { node, vmid } => format!("{vmid} on {node}"),
        }),
        status: view.standing.health.as_str(),
        since: view.last.map(|_| view.standing.since.to_string()),
        checked_at: view.last.map(|reading| reading.at.to_string()),
        stopped_by_owner_at: view.stopped_at.map(|at| at.to_string()),
        reason: answer.and_then(CheckResult::reason),
        http_status,
        latency_ms,
        flapping: view.flapping,
        actions,
        id,
    }
}
