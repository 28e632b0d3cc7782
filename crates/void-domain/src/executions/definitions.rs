//! Reading an [`Execution`] from a definition: the action as the catalogue wrote it, and the host that it resolved to.
//! Nothing else reads from a stored definition what is done to which machine.
//!
//! The same grammar as the catalogue's reader, which made the definition. Doubt is `None`: a member that does not fit,
//! or a host that is not the one that the action names.

use std::ops::RangeInclusive;
use std::time::Duration;

use serde_json::{Map, Value};

use super::{
    ActionKind, Execution, Guest, GuestPower, GuestVia, NodeOp, NodeVia, PowerOp, is_node_name,
    is_service_name, replicas_of,
};
use crate::hosts::{Host, HostName, Reach, SshAddress, is_address, is_host_key, is_user};
use crate::ids::is_slug;
use crate::instances::InstanceName;
use crate::limits;

/// Proxmox' own range.
pub(crate) const VMIDS: RangeInclusive<i64> = 100..=999_999_999;
pub(crate) const TIMEOUTS_S: RangeInclusive<i64> = 1..=3_600;

impl Execution {
    /// `None` for a definition that the catalogue did not make: the row was edited, or is damaged.
    pub fn from_definition(definition: &Value) -> Option<Self> {
        let action = Members(definition.get("action")?.as_object()?);
        let kind = kind(&action, definition.get("host")?)?;
        Some(Self {
            timeout: match action.number("timeout_s", TIMEOUTS_S)? {
                None => limits::ACTION_TIMEOUT,
                Some(seconds) => Duration::from_secs(u64::try_from(seconds).ok()?),
            },
            verify: verify(&action)?,
            replicas_param: match kind.is_scale() {
                true => replicas(&action)?,
                false => None,
            },
            kind,
        })
    }
}

/// The members of a JSON object. What may be missing is an option within an option: the outer `None` is a member that
/// does not fit.
struct Members<'a>(&'a Map<String, Value>);

impl<'a> Members<'a> {
    fn text(&self, name: &str) -> Option<Option<&'a str>> {
        match self.0.get(name) {
            None => Some(None),
            Some(value) => value.as_str().map(Some),
        }
    }

    fn required(&self, name: &str) -> Option<&'a str> {
        self.text(name)?
    }

    fn number(&self, name: &str, range: RangeInclusive<i64>) -> Option<Option<i64>> {
        match self.0.get(name) {
            None => Some(None),
            Some(value) => Some(Some(
                value.as_i64().filter(|number| range.contains(number))?,
            )),
        }
    }

    fn node(&self) -> Option<String> {
        let node = self.required("node").filter(|node| is_node_name(node))?;
        Some(node.to_owned())
    }

    fn service(&self) -> Option<String> {
        let service = self.required("service");
        Some(service.filter(|name| is_service_name(name))?.to_owned())
    }
}

fn kind(action: &Members<'_>, host: &Value) -> Option<ActionKind> {
    let (word, via) = (action.required("kind")?, action.text("via")?);
    match word {
        "service_restart" => {
            let name = action.required("host")?;
            let host = named_host(host, name).filter(|_| matches!(via, None | Some("host")))?;
            Some(ActionKind::ServiceRestart {
                host,
                service: action.service()?,
            })
        }
        "guest_power" => {
            let power = power(action)?;
            let via = match via {
                None => no_host(host).map(|()| GuestVia::Proxmox)?,
                Some("host") => GuestVia::Host(named_host(host, &power.node)?),
                Some(_) => return None,
            };
            Some(ActionKind::GuestPower { power, via })
        }
        word => {
            let (op, node) = (NodeOp::parse(word)?, action.node()?);
            let via = match via {
                None => no_host(host).map(|()| NodeVia::Node)?,
                Some("host") => NodeVia::Host(named_host(host, &node)?),
                Some("file") => no_host(host).map(|()| NodeVia::File)?,
                Some(_) => return None,
            };
            Some(ActionKind::OnNode {
                op,
                node,
                service: action.service()?,
                via,
            })
        }
    }
}

fn power(action: &Members<'_>) -> Option<GuestPower> {
    let guest = match (action.text("guest")?, action.text("kindPath")?) {
        (None, None) => Guest::Lxc,
        (Some(word), None) | (None, Some(word)) => Guest::parse(word)?,
        (Some(word), Some(same)) => Guest::parse(word).filter(|_| word == same)?,
    };
    Some(GuestPower {
        node: action.node()?,
        vmid: u32::try_from(action.number("vmid", VMIDS)??).ok()?,
        guest,
        op: PowerOp::parse(action.required("op")?)?,
    })
}

fn verify(action: &Members<'_>) -> Option<Option<String>> {
    let Some(verify) = action.0.get("verify") else {
        return Some(None);
    };
    let service = Members(verify.as_object()?).required("service");
    Some(Some(service.filter(|service| is_slug(service))?.to_owned()))
}

fn replicas(action: &Members<'_>) -> Option<Option<String>> {
    let Some(params) = action.0.get("params") else {
        return Some(None);
    };
    let mut numbers = Vec::new();
    for (name, spec) in params.as_object()? {
        match spec.get("type")?.as_str()? {
            "integer" => numbers.push(name.as_str()),
            "enum" | "pattern" => {}
            _ => return None,
        }
    }
    Some(replicas_of(&numbers).map(str::to_owned))
}

fn no_host(value: &Value) -> Option<()> {
    value.is_null().then_some(())
}

/// The host of a definition, if it is the one that the action names.
fn named_host(value: &Value, name: &str) -> Option<Host> {
    host(value).filter(|host| host.name.as_str() == name)
}

/// Reads [`Host::to_definition`] back, with the same checks as the catalogue's.
pub(super) fn host(value: &Value) -> Option<Host> {
    let members = Members(value.as_object()?);
    let name = HostName::parse(members.required("name")?)?;
    let address = members.required("address")?;
    if address == HostName::LOCAL {
        return Some(Host {
            name,
            reach: Reach::Local,
            instance: match members.text("instance")? {
                None => None,
                Some(named) => Some(InstanceName::parse(named)?),
            },
        });
    }
    let port = members.number("port", 1..=i64::from(u16::MAX))??;
    let user = members.required("user").filter(|user| is_user(user))?;
    let ssh = SshAddress {
        address: Some(address)
            .filter(|address| is_address(address))?
            .to_owned(),
        port: u16::try_from(port).ok()?,
        user: user.to_owned(),
        host_key: match value.get("host_key")? {
            Value::Null => None,
            key => Some(key.as_str().filter(|key| is_host_key(key))?.to_owned()),
        },
    };
    Some(Host {
        name,
        reach: Reach::Ssh(ssh),
        instance: None,
    })
}
