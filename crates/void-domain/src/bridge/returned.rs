//! A file of ours that others had in their hands: is it still about the same request, and what does it
//! report? Lenient about what tools add, strict about what would run.

use serde_json::{Value, json};

use super::{DroppedDetails, FILE_BYTES_MAX, FileSubject, InstanceId};
use crate::digests::Digest;
use crate::failures::FailureCode;
use crate::proposals::{Failure, Proposal};
use crate::text;

const MESSAGE_BYTES_MAX: usize = 1024;

#[derive(Debug, Clone, PartialEq)]
pub enum Returned {
    /// About the same request.
    Same {
        /// The digest that the file carries, if it still does.
        digest: Option<Digest>,
        /// The revision whose words the file shows; the first one if it does not say.
        revision: u64,
        reported: Reported,
    },
    /// Somebody edited what would run, or it is not a file of ours any more; with the reason.
    Changed(String),
}

/// What an executor wrote into the file. Untrusted words.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reported {
    pub result: Option<Value>,
    pub error: Option<String>,
}

impl Reported {
    pub fn into_failure(self) -> Failure {
        let message = match &self.error {
            Some(error) => text::escaped(text::cut(error, MESSAGE_BYTES_MAX)),
            None => "the executor that took the file reported a failure".to_owned(),
        };
        Failure {
            result: self.result,
            ..Failure::new(FailureCode::ExecutorFailed, message)
        }
    }
}

impl Returned {
    /// `dropped` are the words of the file that the proposal came from, if it came from one.
    pub fn read(
        bytes: &[u8],
        instance: &InstanceId,
        proposal: &Proposal,
        dropped: Option<&DroppedDetails>,
    ) -> Self {
        if bytes.len() > FILE_BYTES_MAX {
            return Self::Changed(format!("it is larger than {FILE_BYTES_MAX} bytes"));
        }
        let Ok(Value::Object(file)) = serde_json::from_slice(bytes) else {
            return Self::Changed("it is not a JSON object".to_owned());
        };
        let text = |name: &str| file.get(name).and_then(Value::as_str).unwrap_or_default();
        let subject = FileSubject::of_proposal(proposal);
        let words = [
            ("action_id", instance.as_str()),
            ("type", &subject.kind),
            ("node", &subject.node),
            ("service", &subject.service),
        ];
        for (name, expected) in words {
            if text(name) != expected {
                return Self::Changed(format!("its {name} was changed"));
            }
        }
        let mut params = params_of(file.get("details"), proposal.subject.params());
        leave_out_word(&mut params, proposal, dropped);
        if params != *proposal.subject.params() {
            return Self::Changed("its details.image or details.params were changed".to_owned());
        }
        let digest = file.get("void").and_then(|void| void.get("digest"));
        let digest = digest.and_then(Value::as_str).map(str::parse::<Digest>);
        match digest.transpose() {
            Ok(digest) if digest.is_none_or(|digest| digest == proposal.subject.digest) => {
                let revision = file.get("void").and_then(|void| void.get("revision"));
                Self::Same {
                    digest,
                    revision: revision.and_then(Value::as_u64).unwrap_or(0),
                    reported: Reported {
                        result: file.get("result").cloned(),
                        error: file.get("error").and_then(Value::as_str).map(str::to_owned),
                    },
                }
            }
            _ => Self::Changed("its void.digest was changed".to_owned()),
        }
    }
}

/// An image that was only said with a dropped file is no parameter, as long as it is the one that was said.
fn leave_out_word(params: &mut Value, proposal: &Proposal, dropped: Option<&DroppedDetails>) {
    let said = dropped.and_then(|dropped| dropped.only_said_image(proposal));
    if let (Value::Object(params), Some(said)) = (params, said)
        && params.get("image").and_then(Value::as_str) == Some(said)
    {
        params.remove("image");
    }
}

/// No image and an empty one look alike in a file; which of them it is, is known from what was asked for.
fn params_of(details: Option<&Value>, asked: &Value) -> Value {
    let mut params = match details.and_then(|details| details.get("params")) {
        Some(Value::Object(params)) => params.clone(),
        _ => serde_json::Map::new(),
    };
    let image = details.and_then(|details| details.get("image")?.as_str());
    let is_given = |image: &&str| !image.is_empty() || asked.get("image") == Some(&json!(""));
    if let Some(image) = image.filter(is_given) {
        params.insert("image".to_owned(), Value::from(image));
    }
    Value::Object(params)
}
