//! From the file's text to a [`Catalogue`], or to everything that is wrong with it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::machines::Machines;
use super::{
    Action, Catalogue, Lockout, ParamSpec, ParamSpecs, Problem, Risk, Tier, approved_digest,
    exec_digest, params,
};
use crate::canonical;
use crate::digests::Digest;
use crate::executions::{
    ActionKind, Execution, Guest, GuestPower, GuestVia, NodeOp, NodeVia, PowerOp, TIMEOUTS_S,
    VMIDS, is_node_name, is_service_name, replicas_of,
};
use crate::hosts::{self, Host, HostName, Reach, SshAddress};
use crate::ids::ActionId;
use crate::instances::InstanceName;
use crate::limits;
use crate::text;
use crate::written::{self, ObjectFields, Problems, SourceContent, SourceNode};

/// Keys of an action that will mean something one day.
const RESERVED: [&str; 4] = ["examples", "windows", "depends_on", "cuts"];

type Hosts = BTreeMap<HostName, Host>;

pub(super) fn catalogue(text: &str, lockout: &Lockout) -> Result<Catalogue, Vec<Problem>> {
    let mut problems = Problems::default();
    if text.len() > limits::CATALOGUE_BYTES_MAX {
        let message = format!(
            "the file is larger than {} bytes",
            limits::CATALOGUE_BYTES_MAX
        );
        problems.error(1, "", message);
        return Err(problems.finish().err().unwrap_or_default());
    }
    let root = match written::read(text) {
        Ok(root) => root,
        Err(error) => {
            problems.error(error.line, "", error.words());
            return Err(problems.finish().err().unwrap_or_default());
        }
    };
    let (hosts, actions) = read_root(&root, lockout, &mut problems);
    let warnings = problems.finish()?;
    Ok(Catalogue {
        actions,
        hosts,
        digest: file_digest(&root),
        warnings,
    })
}

/// `$schema` tells editors where to look and means nothing to Void.
fn file_digest(root: &SourceNode) -> Digest {
    let mut value = root.to_value();
    if let Value::Object(members) = &mut value {
        members.remove("$schema");
    }
    // The reader lets no number through that has no canonical form.
    canonical::digest_of(&value).unwrap_or(Digest::ZERO)
}

fn read_root(
    root: &SourceNode,
    lockout: &Lockout,
    problems: &mut Problems,
) -> (Hosts, BTreeMap<ActionId, Arc<Action>>) {
    let mut actions = BTreeMap::new();
    let Some(mut fields) = ObjectFields::of(root, "", problems) else {
        return (Hosts::new(), actions);
    };
    fields.text("$schema", problems);
    let mut hosts = fields
        .node("hosts")
        .map(|node| read_hosts(node, problems))
        .unwrap_or_default();
    add_local(&mut hosts);
    let guard = Guard {
        lockout,
        machines: Machines::of(hosts.values()),
    };
    match fields
        .node("actions")
        .map(|node| (node.line, &node.content))
    {
        Some((line, SourceContent::List(items))) if items.len() > limits::CATALOGUE_ACTIONS_MAX => {
            let message = format!("more than {} actions", limits::CATALOGUE_ACTIONS_MAX);
            problems.error(line, "actions", message);
        }
        Some((_, SourceContent::List(items))) => {
            for (index, item) in items.iter().enumerate() {
                let path = format!("actions[{index}]");
                let Some(action) = read_action(item, &path, &hosts, &guard, problems) else {
                    continue;
                };
                if actions.contains_key(&action.id) {
                    problems.error(
                        item.line,
                        &path,
                        format!("the id {} is used twice", action.id),
                    );
                } else {
                    actions.insert(action.id.clone(), Arc::new(action));
                }
            }
            check_inverses(items, &actions, problems);
            check_lockout(&guard, &actions, problems);
        }
        Some((line, _)) => problems.error(line, "actions", "expected a list"),
        None => problems.error(fields.line, "actions", "is missing"),
    }
    fields.finish(problems);
    (hosts, actions)
}

/// What must stay up, and which machine each name means.
struct Guard<'a> {
    lockout: &'a Lockout,
    machines: Machines,
}

/// An entry that protects nothing is a typing error, or is about something that is gone.
fn check_lockout(
    guard: &Guard<'_>,
    actions: &BTreeMap<ActionId, Arc<Action>>,
    problems: &mut Problems,
) {
    let actions: Vec<&Action> = actions.values().map(AsRef::as_ref).collect();
    for (setting, entry) in guard.lockout.idle(&actions, &guard.machines) {
        let entry = text::escaped(text::cut(entry, 80));
        let message =
            format!("\"{entry}\" is no host here and no action touches it: it guards nothing");
        let hint = "write it as the catalogue's hosts and actions do, or take it out of void.toml";
        problems.warn(1, &format!("[self] {setting}"), message, hint);
    }
}

/// The machine Void lives on is always a host, so that an action can say `"host": "local"`.
fn add_local(hosts: &mut Hosts) {
    if let Some(name) = HostName::parse(HostName::LOCAL) {
        hosts.entry(name.clone()).or_insert(Host {
            name,
            reach: Reach::Local,
            instance: None,
        });
    }
}

fn read_hosts(node: &SourceNode, problems: &mut Problems) -> Hosts {
    let mut hosts = Hosts::new();
    let SourceContent::Object(members) = &node.content else {
        problems.error(
            node.line,
            "hosts",
            format!("expected an object, found {}", node.kind()),
        );
        return hosts;
    };
    for member in members {
        let path = format!("hosts.{}", text::escaped(text::cut(&member.name, 64)));
        let Some(name) = HostName::parse(&member.name) else {
            problems.error(
                member.line,
                &path,
                "a host's name is 1 to 64 of a-z, 0-9 and -, and begins with a letter or digit",
            );
            continue;
        };
        if let Some((reach, instance)) = read_reach(&member.value, &path, problems) {
            if name.as_str() == HostName::LOCAL && reach != Reach::Local {
                problems.error(
                    member.line,
                    &path,
                    "the name local stands for the machine Void lives on",
                );
            }
            let host = Host {
                name: name.clone(),
                reach,
                instance,
            };
            hosts.insert(name, host);
        }
    }
    hosts
}

fn read_reach(
    node: &SourceNode,
    path: &str,
    problems: &mut Problems,
) -> Option<(Reach, Option<InstanceName>)> {
    if let SourceContent::Text(address) = &node.content {
        let reach = reach(
            node.line,
            path,
            address,
            SshAddress::PORT,
            SshAddress::USER,
            None,
            problems,
        )?;
        return Some((reach, None));
    }
    let mut fields = ObjectFields::of(node, path, problems)?;
    let address = fields.required_text("address", problems);
    let instance = fields.text("instance", problems);
    let port = fields
        .integer("port", 1..=65535, problems)
        .and_then(|port| u16::try_from(port).ok());
    let user = fields.text("user", problems);
    if let Some((line, user)) = user
        && !hosts::is_user(user)
    {
        problems.error(line, &fields.path_of("user"), "not an account name");
    }
    let host_key = fields.text("host_key", problems);
    if let Some((line, key)) = host_key
        && !hosts::is_host_key(key)
    {
        let hint = "write it as ssh-keyscan prints it, without host and comment: ssh-ed25519 AAAA…";
        problems.error_with_hint(
            line,
            &fields.path_of("host_key"),
            "not a public host key",
            hint,
        );
    }
    let (line, address) = address?;
    let reach = reach(
        line,
        path,
        address,
        port.unwrap_or(SshAddress::PORT),
        user.map_or(SshAddress::USER, |(_, user)| user),
        host_key.map(|(_, key)| key.to_owned()),
        problems,
    );
    let instance = read_instance(instance, reach.as_ref(), &fields, problems);
    fields.finish(problems);
    Some((reach?, instance))
}

/// Whose machine a host is that is reached as `local`.
fn read_instance(
    written: Option<(u32, &str)>,
    reach: Option<&Reach>,
    fields: &ObjectFields<'_>,
    problems: &mut Problems,
) -> Option<InstanceName> {
    let (line, text) = written?;
    let path = fields.path_of("instance");
    if matches!(reach, Some(Reach::Ssh(_))) {
        let message = "only a host whose address is local is the machine of an instance";
        problems.error(line, &path, message);
        return None;
    }
    let name = InstanceName::parse(text);
    if name.is_none() {
        let message =
            "an instance's name is 1 to 64 of a-z, 0-9 and -, and begins with a letter or digit";
        problems.error(line, &path, message);
    }
    name
}

fn reach(
    line: u32,
    path: &str,
    address: &str,
    port: u16,
    user: &str,
    host_key: Option<String>,
    problems: &mut Problems,
) -> Option<Reach> {
    if address == HostName::LOCAL {
        return Some(Reach::Local);
    }
    if !hosts::is_address(address) {
        let shown = text::escaped(text::cut(address, 80));
        problems.error(
            line,
            path,
            format!("\"{shown}\" is not a host name or address"),
        );
        return None;
    }
    Some(Reach::Ssh(SshAddress {
        address: address.to_owned(),
        port,
        user: user.to_owned(),
        host_key,
    }))
}

#[derive(Clone, Copy)]
enum KindWord {
    ServiceRestart,
    GuestPower,
    OnNode(NodeOp),
}

const KINDS: [(&str, KindWord); 6] = [
    ("service_restart", KindWord::ServiceRestart),
    ("guest_power", KindWord::GuestPower),
    ("deploy_service", KindWord::OnNode(NodeOp::DeployService)),
    ("restart_service", KindWord::OnNode(NodeOp::RestartService)),
    ("rollback", KindWord::OnNode(NodeOp::Rollback)),
    ("scale", KindWord::OnNode(NodeOp::Scale)),
];

fn read_action(
    node: &SourceNode,
    path: &str,
    hosts: &Hosts,
    guard: &Guard<'_>,
    problems: &mut Problems,
) -> Option<Action> {
    let mut fields = ObjectFields::of(node, path, problems)?;
    let id = read_id(&mut fields, problems);
    let label = read_label(&mut fields, id.as_ref(), problems);
    if fields.node("kind").is_none() {
        problems.error(fields.line, &fields.path_of("kind"), "is missing");
    }
    let word = fields.word("kind", &KINDS, problems);
    let kind = read_kind(word, &mut fields, hosts, problems);
    let params = read_params(word, &mut fields, problems);
    let grade = read_grade(word, &mut fields, problems);
    let verify = read_verify(&mut fields, problems);
    let inverse = fields
        .text("inverse", problems)
        .and_then(|(_, text)| ActionId::parse(text).ok());
    let cooldown = seconds(&mut fields, "cooldown_s", 0..=604_800, problems);
    let max_per_hour = fields.integer("max_per_hour", 1..=3_600, problems);
    let timeout = seconds(&mut fields, "timeout_s", TIMEOUTS_S, problems);
    let expires_after = seconds(&mut fields, "expires_s", 60..=2_592_000, problems);
    let agents = read_agents(&mut fields, problems);
    if word.is_some() {
        fields.finish_but(&RESERVED, problems);
    }
    let (id, kind, (tier, risk)) = (id?, kind?, grade?);
    let raised = guard.lockout.reason(&kind, &guard.machines);
    let raised = raised.filter(|_| risk != Risk::Critical);
    let (tier, risk) = if raised.is_some() {
        (Tier::Risky, Risk::Critical)
    } else {
        (tier, risk)
    };
    let execution = Execution {
        timeout: timeout.unwrap_or(limits::ACTION_TIMEOUT),
        verify,
        replicas_param: replicas(&kind, &params),
        kind,
    };
    let definition = definition(node, &execution, tier, risk);
    if Execution::from_definition(&definition).as_ref() != Some(&execution) {
        // A run of it could not be settled from its row.
        problems.error(node.line, path, "is not read back as it was written");
        return None;
    }
    Some(Action {
        // No number without a canonical form passes the reader, so neither digest can fail.
        digest: approved_digest(&definition, &Value::Object(Map::new())).ok()?,
        exec_digest: exec_digest(&id, &execution.kind, &params, tier, risk).ok()?,
        id,
        label,
        target: guard.machines.target(&execution.kind),
        execution,
        tier,
        risk,
        raised,
        params,
        inverse,
        cooldown,
        max_per_hour: max_per_hour.and_then(|n| u32::try_from(n).ok()),
        expires_after: expires_after.unwrap_or(limits::PROPOSAL_EXPIRES_AFTER),
        agents,
        definition,
    })
}

/// [`Execution::from_definition`] reads it back.
fn definition(node: &SourceNode, execution: &Execution, tier: Tier, risk: Risk) -> Value {
    let host = execution.host().map(Host::to_definition);
    json!({"action": node.to_value(), "host": host, "tier": tier, "risk": risk})
}

fn replicas(kind: &ActionKind, params: &ParamSpecs) -> Option<String> {
    let all = params.iter();
    let numbers: Vec<&str> = all
        .filter(|(_, spec)| matches!(spec, ParamSpec::Integer { .. }))
        .map(|(name, _)| name)
        .collect();
    let replicas = replicas_of(&numbers).filter(|_| kind.is_scale());
    replicas.map(str::to_owned)
}

fn read_id(fields: &mut ObjectFields<'_>, problems: &mut Problems) -> Option<ActionId> {
    let (line, text) = fields.required_text("id", problems)?;
    match ActionId::parse(text) {
        Ok(id) => Some(id),
        Err(error) => {
            let shown = text::escaped(text::cut(text, 80));
            problems.error(
                line,
                &fields.path_of("id"),
                format!("invalid action id \"{shown}\": {error}"),
            );
            None
        }
    }
}

fn read_label(
    fields: &mut ObjectFields<'_>,
    id: Option<&ActionId>,
    problems: &mut Problems,
) -> String {
    let Some((line, label)) = fields.text("label", problems) else {
        return id.map(ToString::to_string).unwrap_or_default();
    };
    let plain = !label.trim().is_empty()
        && label.chars().count() <= limits::LABEL_CHARS_MAX
        && !label
            .chars()
            .any(|c| c.is_control() || text::is_deceptive(c));
    if !plain {
        let message = format!(
            "a label is 1 to {} printable characters",
            limits::LABEL_CHARS_MAX
        );
        problems.error(line, &fields.path_of("label"), message);
    }
    label.to_owned()
}

/// What it does, and who carries it out.
fn read_kind(
    word: Option<KindWord>,
    fields: &mut ObjectFields<'_>,
    hosts: &Hosts,
    problems: &mut Problems,
) -> Option<ActionKind> {
    match word {
        None => {
            read_via(fields, problems);
            None
        }
        Some(KindWord::ServiceRestart) => {
            // A name that cannot be one is unknown too, and is said where the host is looked up.
            fields.required_text("host", problems);
            let service = read_service(fields, problems);
            let host = match read_via(fields, problems)? {
                None | Some(ViaWord::Host) => named_host("host", fields, hosts, problems),
                Some(ViaWord::File) => not_by_file(fields, problems),
            };
            Some(ActionKind::ServiceRestart {
                host: host?,
                service: service?,
            })
        }
        Some(KindWord::GuestPower) => {
            let power = read_power(fields, problems);
            let via = match read_via(fields, problems)? {
                None => Some(GuestVia::Proxmox),
                Some(ViaWord::Host) => {
                    named_host("node", fields, hosts, problems).map(GuestVia::Host)
                }
                Some(ViaWord::File) => not_by_file(fields, problems),
            };
            Some(ActionKind::GuestPower {
                power: power?,
                via: via?,
            })
        }
        Some(KindWord::OnNode(op)) => {
            let node = read_node(fields, problems);
            let service = read_service(fields, problems);
            let via = match read_via(fields, problems)? {
                None => Some(NodeVia::Node),
                Some(ViaWord::Host) => {
                    named_host("node", fields, hosts, problems).map(NodeVia::Host)
                }
                Some(ViaWord::File) => Some(NodeVia::File),
            };
            Some(ActionKind::OnNode {
                op,
                node: node?,
                service: service?,
                via: via?,
            })
        }
    }
}

fn read_power(fields: &mut ObjectFields<'_>, problems: &mut Problems) -> Option<GuestPower> {
    let node = read_node(fields, problems);
    let vmid = read_vmid(fields, problems);
    let guest = read_guest(fields, problems);
    if fields.node("op").is_none() {
        problems.error(
            fields.line,
            &fields.path_of("op"),
            "is missing: start, stop, shutdown or reboot",
        );
    }
    let ops = PowerOp::ALL.map(|op| (op.as_str(), op));
    let op = fields.word("op", &ops, problems);
    Some(GuestPower {
        node: node?,
        vmid: vmid?,
        guest: guest?,
        op: op?,
    })
}

fn read_service(fields: &mut ObjectFields<'_>, problems: &mut Problems) -> Option<String> {
    let (line, service) = fields.required_text("service", problems)?;
    if !is_service_name(service) {
        let message = "a service is 1 to 128 of letters, digits and @ . _ : -, beginning with a letter or digit";
        problems.error(line, &fields.path_of("service"), message);
        return None;
    }
    Some(service.to_owned())
}

fn read_node(fields: &mut ObjectFields<'_>, problems: &mut Problems) -> Option<String> {
    let (line, node) = fields.required_text("node", problems)?;
    if !is_node_name(node) {
        problems.error(
            line,
            &fields.path_of("node"),
            "a node's name is 1 to 63 of letters, digits and -",
        );
        return None;
    }
    Some(node.to_owned())
}

fn read_vmid(fields: &mut ObjectFields<'_>, problems: &mut Problems) -> Option<u32> {
    if fields.node("vmid").is_none() {
        problems.error(fields.line, &fields.path_of("vmid"), "is missing");
        return None;
    }
    let vmid = fields.integer("vmid", VMIDS, problems)?;
    u32::try_from(vmid).ok()
}

/// `guest`, or the source documents' `kindPath`; a container if neither is given.
fn read_guest(fields: &mut ObjectFields<'_>, problems: &mut Problems) -> Option<Guest> {
    let known = Guest::ALL.map(|guest| (guest.as_str(), guest));
    let written = [
        fields.node("guest").is_some(),
        fields.node("kindPath").is_some(),
    ];
    let guest = fields.word("guest", &known, problems);
    let kind_path = fields.word("kindPath", &known, problems);
    match (written, guest, kind_path) {
        ([false, false], _, _) => Some(Guest::Lxc),
        ([true, false], guest, _) => guest,
        ([false, true], _, guest) => guest,
        ([true, true], Some(guest), Some(same)) if guest == same => Some(guest),
        ([true, true], _, _) => {
            problems.error(
                fields.line,
                &fields.path_of("kindPath"),
                "disagrees with guest; give one of them",
            );
            None
        }
    }
}

#[derive(Clone, Copy)]
enum ViaWord {
    Host,
    File,
}

/// What `via` says, if it is there; `None`, with a complaint, if it is no word that it can be.
fn read_via(fields: &mut ObjectFields<'_>, problems: &mut Problems) -> Option<Option<ViaWord>> {
    let is_written = fields.node("via").is_some();
    let known = [("host", ViaWord::Host), ("file", ViaWord::File)];
    let via = fields.word("via", &known, problems);
    (via.is_some() || !is_written).then_some(via)
}

fn not_by_file<T>(fields: &mut ObjectFields<'_>, problems: &mut Problems) -> Option<T> {
    let line = fields.node("via").map_or(fields.line, |node| node.line);
    let message = "only deploy_service, restart_service, rollback and scale can go by file";
    problems.error(line, &fields.path_of("via"), message);
    None
}

/// The host that this field names. What is wrong with the field itself was said where it was read.
fn named_host(
    key: &'static str,
    fields: &mut ObjectFields<'_>,
    hosts: &Hosts,
    problems: &mut Problems,
) -> Option<Host> {
    let SourceNode {
        line,
        content: SourceContent::Text(name),
    } = fields.node(key)?
    else {
        return None;
    };
    let found = HostName::parse(name)
        .and_then(|name| hosts.get(&name))
        .cloned();
    if found.is_none() {
        let known = hosts.keys().map(HostName::as_str);
        problems.unknown(*line, &fields.path_of(key), "host", name, known);
    }
    found
}

fn read_params(
    word: Option<KindWord>,
    fields: &mut ObjectFields<'_>,
    problems: &mut Problems,
) -> ParamSpecs {
    let Some(node) = fields.node("params") else {
        return ParamSpecs::default();
    };
    let specs = params::read(node, &fields.path_of("params"), problems);
    if !specs.is_empty() && matches!(word, Some(KindWord::ServiceRestart | KindWord::GuestPower)) {
        problems.error(
            node.line,
            &fields.path_of("params"),
            "this kind of action takes no parameters",
        );
    }
    specs
}

fn read_grade(
    word: Option<KindWord>,
    fields: &mut ObjectFields<'_>,
    problems: &mut Problems,
) -> Option<(Tier, Risk)> {
    if fields.node("tier").is_none() {
        problems.error(
            fields.line,
            &fields.path_of("tier"),
            "is missing: safe or risky",
        );
    }
    let tier = fields.word(
        "tier",
        &Tier::ALL.map(|tier| (tier.as_str(), tier)),
        problems,
    );
    let risk_line = fields.node("risk").map(|node| node.line);
    let risk = fields.word(
        "risk",
        &Risk::ALL.map(|risk| (risk.as_str(), risk)),
        problems,
    );
    let tier = tier?;
    let risk = match (risk_line, risk) {
        (Some(_), None) => return None,
        (_, Some(risk)) => risk,
        (None, None) if tier == Tier::Safe => Risk::Nominal,
        (None, None) => Risk::Guarded,
    };
    if (tier == Tier::Safe) != (risk == Risk::Nominal) {
        let message = format!("a {} action cannot be {}", tier.as_str(), risk.as_str());
        let hint = "safe goes with nominal, risky with guarded or critical";
        problems.error_with_hint(
            risk_line.unwrap_or(fields.line),
            &fields.path_of("risk"),
            message,
            hint,
        );
        return None;
    }
    if let Some((what, usual)) = convention(word, fields)
        && tier < usual
    {
        let message = format!("{what} is risky by convention, and this one runs without asking");
        let hint = "set \"tier\": \"risky\" unless you are sure";
        let line = fields.node("tier").map_or(fields.line, |node| node.line);
        problems.warn(line, &fields.path_of("tier"), message, hint);
    }
    Some((tier, risk))
}

/// What it is called, and the tier that it has by convention: restart and start are safe, the rest is risky.
fn convention(
    word: Option<KindWord>,
    fields: &mut ObjectFields<'_>,
) -> Option<(&'static str, Tier)> {
    match word? {
        KindWord::ServiceRestart => Some(("service_restart", Tier::Safe)),
        KindWord::GuestPower => {
            let SourceContent::Text(op) = &fields.node("op")?.content else {
                return None;
            };
            let op = PowerOp::parse(op)?;
            let tier = match op {
                PowerOp::Start => Tier::Safe,
                PowerOp::Stop | PowerOp::Shutdown | PowerOp::Reboot => Tier::Risky,
            };
            Some((op.as_str(), tier))
        }
        KindWord::OnNode(op) => {
            let tier = match op {
                NodeOp::RestartService => Tier::Safe,
                NodeOp::DeployService | NodeOp::Rollback | NodeOp::Scale => Tier::Risky,
            };
            Some((op.as_str(), tier))
        }
    }
}

fn read_verify(fields: &mut ObjectFields<'_>, problems: &mut Problems) -> Option<String> {
    let node = fields.node("verify")?;
    let mut verify = ObjectFields::of(node, &fields.path_of("verify"), problems)?;
    let service = verify.required_text("service", problems);
    if let Some((line, service)) = service
        && !crate::ids::is_slug(service)
    {
        problems.error(line, &verify.path_of("service"), "not a service's id");
    }
    verify.finish(problems);
    service.map(|(_, service)| service.to_owned())
}

fn read_agents(fields: &mut ObjectFields<'_>, problems: &mut Problems) -> Option<Vec<String>> {
    let agents = fields.texts("agents", problems)?;
    if agents.is_empty() {
        let hint = "leave it out for all agents; for none, give no agent the capability";
        problems.error_with_hint(fields.line, &fields.path_of("agents"), "names nobody", hint);
    }
    for (line, agent) in &agents {
        if !crate::ids::is_slug(agent) {
            problems.error(*line, &fields.path_of("agents"), "not an agent's name");
        }
    }
    Some(
        agents
            .into_iter()
            .map(|(_, agent)| agent.to_owned())
            .collect(),
    )
}

fn seconds(
    fields: &mut ObjectFields<'_>,
    name: &'static str,
    range: std::ops::RangeInclusive<i64>,
    problems: &mut Problems,
) -> Option<Duration> {
    let seconds = fields.integer(name, range, problems)?;
    u64::try_from(seconds).ok().map(Duration::from_secs)
}

fn check_inverses(
    items: &[SourceNode],
    actions: &BTreeMap<ActionId, Arc<Action>>,
    problems: &mut Problems,
) {
    let is_known = |inverse: &str| {
        let id = ActionId::parse(inverse).ok();
        id.is_some_and(|id| actions.contains_key(&id))
    };
    for (index, item) in items.iter().enumerate() {
        let SourceContent::Object(members) = &item.content else {
            continue;
        };
        let text_of = |name: &str| {
            members
                .iter()
                .find(|m| m.name == name)
                .and_then(|m| match &m.value.content {
                    SourceContent::Text(text) => Some((m.value.line, text.as_str())),
                    _ => None,
                })
        };
        let Some((line, inverse)) = text_of("inverse") else {
            continue;
        };
        let path = format!("actions[{index}].inverse");
        if text_of("id").is_some_and(|(_, id)| id == inverse) {
            problems.error(line, &path, "an action cannot be its own inverse");
        } else if !is_known(inverse) {
            let known = actions.keys().map(ActionId::as_str);
            problems.unknown(line, &path, "action", inverse, known);
        }
    }
}
