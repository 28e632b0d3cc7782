//! What of a run's outcome a reader may see.
//!
//! What a machine printed can hold instructions, and who reads it may act on them. A turn inside Void
//! is marked when it reads such text; a token that calls from outside has no such mark yet. So there is
//! one rule for every surface that answers a token: agents and nodes get what Void itself knows (state,
//! codes, exit code, the check), people get everything. Once tokens carry marks, the rule changes here.

use serde_json::{Map, Value};

use super::{Failure, State};
use crate::actors::Actor;

/// Members of a result that Void itself wrote, as words.
const OWN_WORDS: [&str; 3] = ["host", "settled_by", "reported_by"];
/// Members of a result that are a number, a truth value or nothing, never words.
const OWN_FACTS: [&str; 3] = ["exit", "replayed", "changed"];
/// What the check saw, typed by Void.
const CHECK: &str = "check";
/// Says that there is more, and that this reader does not get it.
const WITHHELD: &str = "withheld";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// Everything that was stored.
    Whole,
    /// Nothing that a machine could have written.
    WithoutOutput,
}

impl Sight {
    pub const fn of(actor: &Actor) -> Self {
        match actor {
            Actor::Owner { .. } | Actor::Viewer { .. } | Actor::System => Self::Whole,
            Actor::Agent { .. } | Actor::Node { .. } => Self::WithoutOutput,
        }
    }

    pub const fn is_whole(self) -> bool {
        matches!(self, Self::Whole)
    }

    /// A result as this reader gets it.
    pub fn result(self, result: &Value) -> Value {
        match (self, result) {
            (Self::Whole, _) => result.clone(),
            (Self::WithoutOutput, Value::Object(members)) => Value::Object(own(members)),
            (Self::WithoutOutput, _) => Value::Object(own(&Map::new())),
        }
    }

    /// Why it ended badly, in a sentence for this reader.
    pub fn message(self, state: &State, failure: &Failure) -> String {
        match (self, state) {
            // A refusal is Void's own, word for word.
            (Self::Whole, _) | (_, State::Refused { .. }) => failure.message.clone(),
            (_, State::Unknown { .. }) => {
                "what became of it is not known; the owner sees what was said about it".to_owned()
            }
            _ => "it failed; the owner sees what was said about it".to_owned(),
        }
    }
}

fn own(members: &Map<String, Value>) -> Map<String, Value> {
    let is_own = |name: &str, value: &Value| {
        name == CHECK
            || (OWN_WORDS.contains(&name) && value.is_string())
            || (OWN_FACTS.contains(&name)
                && (value.is_number() || value.is_boolean() || value.is_null()))
    };
    let mut kept: Map<String, Value> = members
        .iter()
        .filter(|(name, value)| is_own(name, value))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if kept.len() < members.len() {
        kept.insert(WITHHELD.to_owned(), Value::Bool(true));
    }
    kept
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::failures::FailureCode;
    use crate::proposals::{Approval, Run};
    use crate::time::Timestamp;

    #[test]
    fn only_typed_members_of_a_result_are_for_everybody() {
        let said = json!({
            "host": "ct100", "exit": 3, "replayed": false, "stdout": "CANARY", "stderr": "CANARY",
            "list": "CANARY", "progress": ["CANARY"], "check": {"wanted": "up"},
        });
        assert_eq!(Sight::Whole.result(&said), said);
        assert_eq!(
            Sight::WithoutOutput.result(&said),
            json!({"host": "ct100", "exit": 3, "replayed": false, "check": {"wanted": "up"}, "withheld": true})
        );
        // Words where a number is expected are words of a stranger.
        for odd in [
            json!({"exit": "CANARY", "changed": ["CANARY"], "host": {"CANARY": 1}}),
            json!({"upid": "CANARY", "exitstatus": "CANARY", "note": "CANARY", "status": "CANARY"}),
            json!({"reported_by": "the file bridge", "result": {"CANARY": "CANARY"}}),
            json!({"CANARY": 1}),
            json!("CANARY"),
            json!(["CANARY"]),
        ] {
            let seen = Sight::WithoutOutput.result(&odd).to_string();
            assert!(!seen.contains("CANARY"), "{seen}");
        }
    }

    #[test]
    fn a_failure_is_told_by_its_code_and_a_refusal_in_full() {
        let at = Timestamp::from_ms(1);
        let run = Run {
            started_at: at,
            ticket_expires_at: at,
            lease_until: at,
        };
        let approval = Approval {
            by: "owner".to_owned(),
            at,
        };
        let failure = Failure::new(FailureCode::RefusedByHost, "ct100 refused: CANARY");
        let failed = State::Failed {
            approval: approval.clone(),
            run,
            at,
            failure: failure.clone(),
            settled_by: "system".to_owned(),
        };
        let unknown = State::Unknown {
            approval,
            run,
            at,
            failure: failure.clone(),
        };
        let refused = State::Refused {
            at,
            failure: failure.clone(),
        };
        for state in [&failed, &unknown] {
            assert!(
                !Sight::WithoutOutput
                    .message(state, &failure)
                    .contains("CANARY")
            );
            assert!(Sight::Whole.message(state, &failure).contains("CANARY"));
        }
        let said = Sight::WithoutOutput.message(&refused, &failure);
        assert_eq!(said, failure.message);
    }
}
