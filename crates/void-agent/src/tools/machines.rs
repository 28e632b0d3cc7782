//! A machine or a guest that the owner looks at: which watched services are on it, and which actions work on it. All of it is the
//! owner's own catalogue and services file, so nothing here marks a turn, and no machine is asked.

use schemars::JsonSchema;
use serde::Serialize;
use void_control::health::{self, ServiceView};
use void_domain::catalogue::Action;
use void_domain::conversations::MachineName;
use void_domain::executions::GuestPower;
use void_domain::services::Location;

use super::Call;

/// Of each; what is beyond is counted.
const NAMED_MAX: usize = 50;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MachineResult {
    /// Watched services that are on it, what is down first.
    services: Vec<ServiceOnMachine>,
    /// Ids of actions that work on it.
    actions: Vec<String>,
    /// There are so many more services and actions.
    #[serde(skip_serializing_if = "is_none_left")]
    left_out: usize,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands it like this"
)]
const fn is_none_left(left_out: &usize) -> bool {
    *left_out == 0
}

#[derive(Debug, Serialize, JsonSchema)]
struct ServiceOnMachine {
    id: String,
    /// up, down or unknown
    status: &'static str,
}

/// A host or a node, by its name, with all of its guests.
pub(super) fn machine(call: &Call, name: &MachineName) -> Option<MachineResult> {
    let name = name.as_str();
    let is_there = call
        .control
        .catalogue()
        .hosts()
        .any(|host| host.name.as_str() == name);
    let told = on(
        call,
        |service| match &service.service.place {
            Some(Location::Host(host)) => host == name,
            Some(Location::Guest { node, .. }) => node == name,
            None => false,
        },
        |action| action.execution.kind.machine() == name,
    );
    (is_there || !told.is_empty()).then_some(told)
}

pub(super) fn guest(call: &Call, node: &MachineName, vmid: u32) -> Option<MachineResult> {
    let is_it = |power: &GuestPower| power.node == node.as_str() && power.vmid == vmid;
    let told = on(
        call,
        |service| {
            let place = Location::Guest {
                node: node.as_str().to_owned(),
                vmid,
            };
            service.service.place == Some(place)
        },
        |action| action.execution.kind.power().is_some_and(is_it),
    );
    (!told.is_empty()).then_some(told)
}

fn on(
    call: &Call,
    has_service: impl Fn(&ServiceView) -> bool,
    has_action: impl Fn(&Action) -> bool,
) -> MachineResult {
    let mut services: Vec<ServiceView> = health::list(&call.control);
    services.retain(has_service);
    services.sort_by_key(|service| !service.is_worry());
    let actions = call.control.catalogue().actions();
    let actions: Vec<String> = actions
        .filter(|action| has_action(action))
        .map(|action| action.id.to_string())
        .collect();
    let left_out = [services.len(), actions.len()]
        .map(|all| all.saturating_sub(NAMED_MAX))
        .iter()
        .sum();
    MachineResult {
        services: (services.into_iter().take(NAMED_MAX))
            .map(|service| ServiceOnMachine {
                id: service.service.id.to_string(),
                status: service.standing.health.as_str(),
            })
            .collect(),
        actions: actions.into_iter().take(NAMED_MAX).collect(),
        left_out,
    }
}

impl MachineResult {
    const fn is_empty(&self) -> bool {
        self.services.is_empty() && self.actions.is_empty()
    }
}
