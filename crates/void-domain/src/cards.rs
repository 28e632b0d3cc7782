//! What the owner reads before deciding, on every surface: rendered by one pure function from the
//! stored proposal. The requester's own words are a field of their own and never part of a sentence
//! of ours (SECURITY R-A10). Every value that the digest binds is in [`Card::bound`], whole (I35): a surface
//! that cannot show all of it offers no approval.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use crate::catalogue::{Risk, Tier};
use crate::changes::{self, Change, ChangeEffect, ChangeTarget};
use crate::digests::Digest;
use crate::executions::{ActionKind, Execution, ExpectedState, NodeOp, PowerOp, Sign};
use crate::proposals::{Proposal, Subject, Words};
use crate::text;
use crate::time::Timestamp;

/// How words of the requester are marked, wherever they are shown.
pub const WORDS_OF: &str = "words of {name}, not checked";

/// The tier of a change, in words: of what is allowed, and of what the owner keeps.
const CHANGE_TIER: &str = "Risky, changes what is allowed";
const KNOWLEDGE_TIER: &str = "Risky, changes what you keep";
const CHANGE_CHECKED: &str = "Void looks afterwards whether the file says exactly this.";
const KNOWLEDGE_CHECKED: &str =
    "It is stored with your yes, or not at all; the revision before it is kept.";

pub fn words_of(name: &str) -> String {
    WORDS_OF.replace("{name}", &text::escaped(name))
}

/// One value that a yes binds, as one line of plain text: whole, with nothing that deceives, and in quotes where
/// anything of it could be missed or taken for more than this one value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Bound {
    pub name: String,
    pub value: String,
    /// The requester chose it; the rest is the catalogue's.
    pub is_param: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Card {
    pub code: String,
    /// `Safe`, `Risky`, `Risky, may cut you off`, `Risky, changes what is allowed` or `Risky, changes what you keep`.
    pub tier: &'static str,
    pub title: String,
    /// What will happen on yes.
    pub consequence: String,
    /// The same once it is over, to follow *has*, *would have* or *may have*.
    pub past: String,
    /// What is looked at afterwards, as a sentence; also that nothing is.
    pub checked_by: String,
    /// `None`: it is a change, and [`Card::change`] says which.
    pub action_id: Option<String>,
    pub target: String,
    pub params: Value,
    /// What changes, as Void itself found out; bound by the digest like everything in [`Card::bound`].
    pub change: Option<CardChange>,
    pub digest: Digest,
    /// Everything that the digest binds, by name; what the requester chose comes first.
    pub bound: Vec<Bound>,
    pub asked_by: String,
    pub asked_at: Timestamp,
    pub expires_at: Timestamp,
    /// The requester's words, marked as such wherever they are shown.
    pub words: Option<String>,
    /// What would change, in the requester's words too.
    pub diff: Option<String>,
    /// What it said when it asked for the same again, and how often it said more than is kept.
    pub joined: Vec<Words>,
    pub left_out: u64,
    pub revision: u64,
    /// Foreign content that the requester had read.
    pub read_before: Vec<String>,
}

/// What there is to look with after a run. A definition may name a service that nobody watches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Eyes {
    /// The services that are watched, by id.
    pub services: BTreeSet<String>,
    pub has_proxmox: bool,
}

/// What a change would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CardChange {
    /// What it means, one sentence a line, what widens first.
    pub summary: Vec<String>,
    /// The unified diff, whole.
    pub diff: String,
}

impl CardChange {
    fn of(change: &Change) -> Self {
        Self {
            summary: change
                .summary
                .iter()
                .map(|line| text::escaped(line))
                .collect(),
            diff: match change.target {
                ChangeTarget::Knowledge => told_apart_lines(&change.patch),
                ChangeTarget::AgentConfig
                | ChangeTarget::MetaInputs
                | ChangeTarget::Topology
                | ChangeTarget::Catalogue => told_apart_lines(&plainly_indented(&change.patch)),
            },
        }
    }
}

/// How a tab is shown.
const TAB: &str = "    ";

/// A diff in which nothing that changes can be missed or taken for something else.
fn told_apart_lines(patch: &str) -> String {
    let lines: Vec<String> = patch.split('\n').map(text::told_apart).collect();
    lines.join("\n")
}

/// What is indented by tabs reads like any other: in the files that are changed here, that says nothing.
fn plainly_indented(patch: &str) -> String {
    let lines: Vec<String> = patch
        .split('\n')
        .map(|line| {
            let at = line.len().min(1);
            let (sign, rest) = line.split_at_checked(at).unwrap_or(("", line));
            let text = rest.trim_start_matches('\t');
            format!("{sign}{}{text}", TAB.repeat(rest.len() - text.len()))
        })
        .collect();
    lines.join("\n")
}

fn is_knowledge(subject: &Subject) -> bool {
    subject
        .change()
        .is_some_and(|change| change.target == ChangeTarget::Knowledge)
}

impl Card {
    /// The card where it is known what will be looked at: it promises no check that does not come.
    pub fn seen_with(proposal: &Proposal, eyes: &Eyes) -> Self {
        let mut card = Self::of(proposal);
        if !proposal.subject.is_change() {
            card.checked_by = checked_with(proposal.subject.execution(), eyes);
        }
        card
    }

    pub fn of(proposal: &Proposal) -> Self {
        let subject = &proposal.subject;
        Self {
            code: proposal.code.to_string(),
            tier: match (subject.is_change(), is_knowledge(subject)) {
                (true, true) => KNOWLEDGE_TIER,
                (true, false) => CHANGE_TIER,
                (false, _) => tier_words(subject.tier, subject.risk),
            },
            title: subject.label.clone(),
            consequence: consequence(subject),
            past: past(&consequence(subject)),
            checked_by: match (subject.is_change(), is_knowledge(subject)) {
                (true, true) => KNOWLEDGE_CHECKED.to_owned(),
                (true, false) => CHANGE_CHECKED.to_owned(),
                (false, _) => checked_by(subject.execution()),
            },
            action_id: subject.action_id().map(ToString::to_string),
            target: subject.target.clone(),
            params: subject.params().clone(),
            change: subject.change().map(CardChange::of),
            digest: subject.digest,
            bound: bound(subject),
            asked_by: proposal.requested_by.name.clone(),
            asked_at: proposal.created_at,
            expires_at: proposal.expires_at,
            words: proposal.reason.clone(),
            diff: proposal.diff.clone(),
            joined: proposal.joined.words.clone(),
            left_out: proposal.joined.left_out,
            revision: proposal.revision,
            read_before: proposal.taint.sources().to_vec(),
        }
    }
}

pub const fn tier_words(tier: Tier, risk: Risk) -> &'static str {
    match (tier, risk) {
        (_, Risk::Critical) => "Risky, may cut you off",
        (Tier::Risky, _) | (Tier::Safe, Risk::Guarded) => "Risky",
        (Tier::Safe, Risk::Nominal) => "Safe",
    }
}

/// Everything that the digest binds. The definition is walked through to its last value, so that nothing that
/// is ever added to it can be missing here.
fn bound(subject: &Subject) -> Vec<Bound> {
    let mut all: Vec<Bound> = params(subject)
        .map(|(name, value)| Bound {
            name,
            value,
            is_param: true,
        })
        .collect();
    let mut add = |name: &str, value: String| {
        let is_said = |known: &Bound| !known.is_param && known.name == name;
        let name = match all.iter().find(|known| is_said(known)) {
            Some(known) if known.value == value => return,
            // Raised, by the lock-out guard or by a dropped file.
            Some(_) => format!("{name} in the catalogue"),
            None => name.to_owned(),
        };
        if !all.iter().any(|known| is_said_as(known, &name, &value)) {
            all.push(Bound {
                name,
                value,
                is_param: false,
            });
        }
    };
    if let Some(id) = subject.action_id() {
        add("action", written(id.as_str()));
    }
    add("target", written(&subject.target));
    add("tier", subject.tier.as_str().to_owned());
    add("risk", subject.risk.as_str().to_owned());
    let mut leaves = Vec::new();
    walk("", subject.definition(), &mut leaves);
    for (path, value) in leaves {
        let name = path.strip_prefix("action.").unwrap_or(&path);
        match name {
            // In lines of their own: [`CardChange`].
            "change.summary" | "change.patch" if subject.change().is_some() => {}
            "id" => add("action", written(&value)),
            "label" if value == subject.label => {}
            _ => add(name, written(&value)),
        }
    }
    add("digest", subject.digest.to_string());
    all
}

fn is_said_as(known: &Bound, name: &str, value: &str) -> bool {
    !known.is_param && known.name == name && known.value == value
}

/// The values of a definition with their places, in its order and as they are. What is null says nothing.
pub(crate) fn walk(path: &str, value: &Value, leaves: &mut Vec<(String, String)>) {
    match value {
        Value::Null => {}
        Value::Object(members) => {
            for (name, value) in members {
                let name = text::escaped(name);
                let path = if path.is_empty() {
                    name
                } else {
                    format!("{path}.{name}")
                };
                walk(&path, value, leaves);
            }
        }
        _ => leaves.push((path.to_owned(), as_text(value))),
    }
}

/// What the requester chose, each as one element.
fn params(subject: &Subject) -> impl Iterator<Item = (String, String)> {
    let params = subject.params().as_object().into_iter().flatten();
    params.map(|(name, value)| (text::escaped(name), quoted(as_text(value))))
}

/// A text as it is, anything else as JSON.
fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A value of the catalogue: as it is written there, unless something of it would not be seen.
fn written(value: &str) -> String {
    match text::is_told_plainly(value) {
        true => value.to_owned(),
        false => text::value_in_quotes(value),
    }
}

/// What could be read as more words of the sentence, or as a line of ours, is put into quotes: everything but a plain
/// word. Spaces have many shapes, and letters of other alphabets look like ours.
pub(crate) fn quoted(value: String) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@+%=~".contains(c);
    let is_one_word = !value.is_empty() && value.chars().all(is_plain);
    if is_one_word {
        value
    } else {
        text::value_in_quotes(&value)
    }
}

/// `" with image web:2 and replicas 3"`, or nothing.
fn with_params(subject: &Subject) -> String {
    let all: Vec<String> = params(subject)
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    if all.is_empty() {
        return String::new();
    }
    format!(" with {}", all.join(" and "))
}

/// One sentence about the effect, from the execution and the parameters alone: what is chosen is said.
fn consequence(subject: &Subject) -> String {
    if subject.is_change() {
        return change_consequence(subject);
    }
    let with = with_params(subject);
    match subject.execution() {
        Some(execution) => effect(execution, &with),
        None => format!(
            "runs an action of an unknown kind on {}{with}",
            subject.target
        ),
    }
}

fn change_consequence(subject: &Subject) -> String {
    let Some(change) = subject.change() else {
        return format!("changes {} in a way that cannot be read", subject.target);
    };
    let what = match change.target {
        ChangeTarget::Catalogue => "the catalogue",
        ChangeTarget::Knowledge => "your knowledge",
        ChangeTarget::AgentConfig => "the configuration of an agent",
        ChangeTarget::MetaInputs => "what agents are told about themselves",
        ChangeTarget::Topology => "where agents stand",
    };
    match change.effect {
        ChangeEffect::Commit => format!(
            "changes {what} by a commit in its git work tree; it takes effect at the next start or reload"
        ),
        ChangeEffect::Beside => format!(
            "changes {what} by a new file beside it; it takes effect once you move it there and reload"
        ),
        ChangeEffect::Stored => changes::knowledge::consequence(change)
            .unwrap_or_else(|| format!("changes {what}; it takes effect at once")),
    }
}

/// What an execution does, in words.
pub(crate) fn does(execution: &Execution) -> String {
    effect(execution, "")
}

fn effect(execution: &Execution, with: &str) -> String {
    match &execution.kind {
        ActionKind::ServiceRestart { host, service } => {
            let host = &host.name;
            format!("restarts {service} on {host}{with}; it is away for a moment")
        }
        ActionKind::GuestPower { power, .. } => {
            let guest = format!("{} on {}{with}", power.guest_name(), power.node);
            match power.op {
                PowerOp::Start => format!("starts {guest}"),
                PowerOp::Stop => format!("pulls the plug of {guest}; unsaved work in it is lost"),
                PowerOp::Shutdown => {
                    format!("shuts down {guest}; it stays off until it is started")
                }
                PowerOp::Reboot => format!("reboots {guest}; it is away until it is up again"),
            }
        }
        ActionKind::OnNode {
            op, node, service, ..
        } => match op {
            NodeOp::DeployService => format!("deploys {service}{with} on {node}"),
            NodeOp::RestartService => {
                format!("restarts {service} on {node}{with}; it is away for a moment")
            }
            NodeOp::Rollback => {
                format!("rolls {service} on {node} back to what ran before the last deploy{with}")
            }
            NodeOp::Scale => format!("changes how many copies of {service} run on {node}{with}"),
        },
    }
}

/// A consequence as something that is over: its verb as a participle, and nothing about what is to come.
fn past(consequence: &str) -> String {
    let (now, _) = consequence.split_once("; ").unwrap_or((consequence, ""));
    let (verb, rest) = now.split_once(' ').unwrap_or((now, ""));
    let verb = match verb {
        "restarts" => "restarted",
        "starts" => "started",
        "pulls" => "pulled",
        "shuts" => "shut",
        "reboots" => "rebooted",
        "deploys" => "deployed",
        "rolls" => "rolled",
        "changes" => "changed",
        "runs" => "run",
        "makes" => "made",
        "throws" => "thrown",
        other => other,
    };
    format!("{verb} {rest}")
}

/// What shows afterwards that it worked, where that can be looked at.
pub fn checked_with(execution: Option<&Execution>, eyes: &Eyes) -> String {
    match execution.map_or(Sign::Nothing, Execution::sign) {
        Sign::Service { id, .. } if !eyes.services.contains(id) => format!(
            "Nothing looks afterwards: no service {} is watched. It will end as “not confirmed”.",
            text::escaped(id)
        ),
        Sign::Guest { .. } if !eyes.has_proxmox => checked_by(None),
        Sign::Service { .. } | Sign::Guest { .. } | Sign::Nothing => checked_by(execution),
    }
}

/// What shows afterwards that it worked, as the definition has it. Without any sign a run ends *not confirmed*, and whoever says yes knows it
/// before.
pub fn checked_by(execution: Option<&Execution>) -> String {
    match execution.map_or(Sign::Nothing, Execution::sign) {
        Sign::Service { id, wanted } => format!(
            "Void looks afterwards whether {} is {}.",
            text::escaped(id),
            match wanted {
                ExpectedState::Up => "up",
                ExpectedState::Down => "down",
            }
        ),
        Sign::Guest { power, wanted } => format!(
            "Proxmox is asked afterwards whether {} {}.",
            power.guest_name(),
            match wanted {
                ExpectedState::Up => "runs",
                ExpectedState::Down => "is stopped",
            }
        ),
        Sign::Nothing => "Nothing looks afterwards; it will end as “not confirmed”.".to_owned(),
    }
}
