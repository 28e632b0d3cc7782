//! A file that somebody put into `pending/`: strictly the source documents' schema, or refused with
//! every problem named.

use serde_json::{Map, Value, json};

use super::{FILE_BYTES_MAX, FileSubject, InstanceId};
use crate::catalogue::{Action, Risk};
use crate::executions::NodeOp;
use crate::limits;
use crate::proposals::Proposal;
use crate::text;
use crate::written::{self, ObjectFields, Problem, Problems, SourceContent, SourceNode};

/// What a dropped file asks for, before the catalogue was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Dropped {
    pub instance: InstanceId,
    pub subject: FileSubject,
    /// Can only raise what the catalogue says.
    pub risk: Risk,
    pub details: DroppedDetails,
}

/// The words that come with a file. They are kept with the proposal and written back as they were.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DroppedDetails {
    pub image: Option<String>,
    pub reason: Option<String>,
    pub diff: Option<String>,
    pub params: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoAction {
    #[error("no action of the catalogue has this type, node and service")]
    Unknown,
    #[error("the catalogue has more than one action of this type, node and service: {0} and {1}")]
    Ambiguous(String, String),
}

/// Seconds since 1970, up to the year 9999.
const SECONDS: std::ops::RangeInclusive<i64> = 0..=253_402_300_799;
const HISTORY_MAX: usize = 1_000;
const IMAGE_BYTES_MAX: usize = 1_024;

impl Dropped {
    /// `name` is what the file is called, without its suffix.
    pub fn parse(bytes: &[u8], name: &InstanceId) -> Result<Self, Vec<Problem>> {
        let mut problems = Problems::default();
        let dropped = read(bytes, name, &mut problems);
        problems.finish()?;
        dropped.ok_or_else(Vec::new)
    }

    /// The parameters as they would stand in a request. The image of a restart whose action has no such
    /// parameter is only a word: it is kept with the file, and nothing runs by it.
    pub fn params(&self, action: &Action) -> Value {
        let mut params = match &self.details.params {
            Some(Value::Object(params)) => params.clone(),
            _ => Map::new(),
        };
        let restarts = self.subject.kind == NodeOp::RestartService.as_str();
        let only_said = restarts && !action.params.iter().any(|(name, _)| name == "image");
        if let Some(image) = self.details.image.as_ref().filter(|_| !only_said) {
            params.insert("image".to_owned(), json!(image));
        }
        Value::Object(params)
    }
}

fn read(bytes: &[u8], name: &InstanceId, problems: &mut Problems) -> Option<Dropped> {
    if bytes.len() > FILE_BYTES_MAX {
        let message = format!("the file is larger than {FILE_BYTES_MAX} bytes");
        problems.error(1, "", message);
        return None;
    }
    let Ok(content) = std::str::from_utf8(bytes) else {
        problems.error(1, "", "the file is not UTF-8 text");
        return None;
    };
    let root = match written::read(content) {
        Ok(root) => root,
        Err(error) => {
            problems.error(error.line, "", error.words());
            return None;
        }
    };
    let mut fields = ObjectFields::of(&root, "", problems)?;
    read_name(&mut fields, name, problems);
    let subject = read_subject(&mut fields, problems);
    let risk = fields.word("risk", &Risk::ALL.map(|r| (r.as_str(), r)), problems);
    must_be_there(&mut fields, &["risk", "status", "created_at"], problems);
    fields.word("status", &[("pending", ())], problems);
    fields.integer("created_at", SECONDS, problems);
    fields.integer("updated_at", SECONDS, problems);
    let details = match fields.node("details") {
        Some(node) => read_details(node, problems),
        None => Some(DroppedDetails::default()),
    };
    if let Some(node) = fields.node("transition_history") {
        check_history(node, problems);
    }
    fields.finish(problems);
    Some(Dropped {
        instance: name.clone(),
        subject: subject?,
        risk: risk?,
        details: details?,
    })
}

fn must_be_there(fields: &mut ObjectFields<'_>, names: &[&'static str], problems: &mut Problems) {
    for name in names {
        if fields.node(name).is_none() {
            problems.error(fields.line, name, "is missing");
        }
    }
}

fn read_name(fields: &mut ObjectFields<'_>, name: &InstanceId, problems: &mut Problems) {
    if let Some((line, id)) = fields.required_text("action_id", problems)
        && id != name.as_str()
    {
        let shown = text::escaped(text::cut(id, 80));
        let message = format!("\"{shown}\" is not what the file is called");
        problems.error(line, "action_id", message);
    }
}

fn read_subject(fields: &mut ObjectFields<'_>, problems: &mut Problems) -> Option<FileSubject> {
    let ops = [
        NodeOp::DeployService,
        NodeOp::RestartService,
        NodeOp::Rollback,
        NodeOp::Scale,
    ];
    must_be_there(fields, &["type"], problems);
    let op = fields.word("type", &ops.map(|op| (op.as_str(), op)), problems);
    let node = fields.required_text("node", problems);
    let service = fields.required_text("service", problems);
    Some(FileSubject {
        kind: op?.as_str().to_owned(),
        node: node?.1.to_owned(),
        service: service?.1.to_owned(),
    })
}

fn read_details(node: &SourceNode, problems: &mut Problems) -> Option<DroppedDetails> {
    let mut fields = ObjectFields::of(node, "details", problems)?;
    // An empty text is how the source documents write "none".
    let mut words = |name: &'static str, problems: &mut Problems| {
        let given = fields.text(name, problems).map(|(_, text)| text.to_owned());
        given.filter(|text| !text.is_empty())
    };
    let image = words("image", problems);
    let reason = words("reason", problems);
    let diff = words("diff", problems);
    if image
        .as_ref()
        .is_some_and(|image| image.len() > IMAGE_BYTES_MAX)
    {
        let message = format!("is longer than {IMAGE_BYTES_MAX} bytes");
        problems.error(node.line, "details.image", message);
    }
    if reason
        .as_ref()
        .is_some_and(|reason| reason.len() > limits::REASON_BYTES_MAX)
    {
        let message = format!("is longer than {} bytes", limits::REASON_BYTES_MAX);
        problems.error(node.line, "details.reason", message);
    }
    if diff
        .as_ref()
        .is_some_and(|diff| diff.len() > limits::DIFF_BYTES_MAX)
    {
        let message = format!("is longer than {} bytes", limits::DIFF_BYTES_MAX);
        problems.error(node.line, "details.diff", message);
    }
    let params = fields.node("params");
    if let Some(params) = params
        && !matches!(params.content, SourceContent::Object(_))
    {
        problems.error(params.line, "details.params", "expected an object");
    }
    fields.finish(problems);
    Some(DroppedDetails {
        image,
        reason,
        diff,
        params: params.map(SourceNode::to_value),
    })
}

/// Only its shape: who did what is known from the record, never from a file.
fn check_history(node: &SourceNode, problems: &mut Problems) {
    match &node.content {
        SourceContent::List(steps) if steps.len() > HISTORY_MAX => {
            let message = format!("has more than {HISTORY_MAX} steps");
            problems.error(node.line, "transition_history", message);
        }
        SourceContent::List(steps) => {
            for step in steps {
                if !matches!(step.content, SourceContent::Object(_)) {
                    problems.error(step.line, "transition_history", "a step is an object");
                }
            }
        }
        _ => problems.error(node.line, "transition_history", "expected a list"),
    }
}

impl DroppedDetails {
    /// The image that came with the file and is no parameter of what would run.
    pub(super) fn only_said_image(&self, proposal: &Proposal) -> Option<&str> {
        let is_param = proposal.subject.params().get("image").is_some();
        self.image.as_deref().filter(|_| !is_param)
    }

    /// As it is stored beside the proposal.
    pub fn to_value(&self) -> Value {
        json!({"image": self.image, "reason": self.reason, "diff": self.diff, "params": self.params})
    }

    pub fn from_value(value: &Value) -> Self {
        let text = |name: &str| value.get(name)?.as_str().map(str::to_owned);
        Self {
            image: text("image"),
            reason: text("reason"),
            diff: text("diff"),
            params: value.get("params").filter(|v| v.is_object()).cloned(),
        }
    }
}
