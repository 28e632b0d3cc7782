//! Actions of the catalogue with their entries in the host's list, and proposals of them.

use std::sync::Arc;

use serde_json::{Value, json};
use void_domain::catalogue::{Action, Catalogue, Lockout};
use void_domain::freezes::FreezeSwitch;
use void_domain::permits::Permit;
use void_domain::proposals::{Proposal, ProposedAction, Subject, SubjectKind};
use void_testkit::proposals::{pending, run_at};
use void_testkit::sshd::Sshd;

use super::{HOST, now};

/// One action of the catalogue and its entry in the host's list.
#[derive(Clone)]
pub(crate) struct Listed {
    pub(crate) id: String,
    pub(crate) tier: &'static str,
    /// Elements that begin with `@/` are paths in the host's folder.
    pub(crate) argv: Value,
    pub(crate) params: Option<Value>,
    pub(crate) timeout_s: Option<u32>,
    pub(crate) host: &'static str,
    /// The operation on guest 107 of the host as a node, by way of the host.
    pub(crate) power: Option<&'static str>,
}

impl Listed {
    pub(crate) fn safe(id: &str, argv: Value) -> Self {
        Self {
            id: id.to_owned(),
            tier: "safe",
            argv,
            params: None,
            timeout_s: None,
            host: HOST,
            power: None,
        }
    }

    pub(crate) fn risky(id: &str, argv: Value) -> Self {
        Self {
            tier: "risky",
            ..Self::safe(id, argv)
        }
    }

    pub(crate) fn params(self, params: Value) -> Self {
        let params = Some(params);
        Self { params, ..self }
    }

    pub(crate) fn power(self, op: &'static str) -> Self {
        let power = Some(op);
        Self { power, ..self }
    }

    pub(crate) fn timeout_s(self, seconds: u32) -> Self {
        let timeout_s = Some(seconds);
        Self { timeout_s, ..self }
    }

    pub(crate) fn on(self, host: &'static str) -> Self {
        Self { host, ..self }
    }

    pub(super) fn action(&self) -> Value {
        let mut action = match (&self.params, self.power) {
            (None, Some(op)) => {
                json!({"kind": "guest_power", "node": self.host, "vmid": 107, "op": op, "via": "host"})
            }
            (None, None) => {
                json!({"kind": "service_restart", "host": self.host, "service": self.id})
            }
            (Some(params), _) => {
                json!({"kind": "scale", "node": self.host, "service": self.id, "via": "host", "params": params})
            }
        };
        action["id"] = json!(self.id);
        action["label"] = json!(self.id);
        action["tier"] = json!(self.tier);
        if let Some(seconds) = self.timeout_s {
            action["timeout_s"] = json!(seconds);
        }
        action
    }
}

/// `effect` as a risky and a safe action, which most tests need.
pub(crate) fn usual() -> Vec<Listed> {
    vec![
        Listed::risky("stop-it", json!(["@/effect", "stop"])),
        Listed::safe("start-it", json!(["@/effect", "start"])),
    ]
}

pub(crate) fn running(action: &Action, params: &Value, number: u32) -> Proposal {
    let checked = action.params.check(params).unwrap();
    let mut proposal = pending(number).proposal;
    proposal.subject = Subject {
        label: action.label.clone(),
        tier: action.tier,
        risk: action.risk,
        target: action.execution.kind.target(),
        digest: action.digest_with(&checked).unwrap(),
        kind: SubjectKind::Action(ProposedAction {
            action_id: action.id.clone(),
            definition: action.definition().clone(),
            execution: Some(action.execution.clone()),
            params: checked.to_value(),
            exec_digest: action.exec_digest(),
        }),
    };
    let approved = proposal.approve("owner-cli", now()).unwrap().proposal;
    approved.start(run_at(now())).unwrap().proposal
}

pub(crate) fn permit(
    action: &Arc<Action>,
    running: &Proposal,
    freeze_switch: FreezeSwitch,
) -> Permit {
    let params = action.params.check(running.subject.params()).unwrap();
    Permit::issue(running, Arc::clone(action), &params, freeze_switch).unwrap()
}

pub(crate) fn address(sshd: &Sshd, host_key: Option<&str>) -> Value {
    let mut address = json!({"address": "127.0.0.1", "port": sshd.port, "user": sshd.account()});
    if let Some(key) = host_key {
        address["host_key"] = json!(key);
    }
    address
}

pub(crate) fn catalogue(listed: &[Listed], hosts: &Value) -> Catalogue {
    let actions: Vec<Value> = listed.iter().map(Listed::action).collect();
    let text = json!({"hosts": hosts, "actions": actions}).to_string();
    Catalogue::parse(&text, &Lockout::default()).unwrap()
}
