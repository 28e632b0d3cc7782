//! What of a row a reader sees who did not ask for more.
//!
//! What a machine printed can hold instructions, and so can what an agent said after it had read a stranger's text. Who reads
//! it may act on it, and is marked: a turn as the turn, a token in the store. Looking how a run went marks nobody, so there is
//! one rule for every surface that answers a token: unasked, agents and nodes get what Void itself knows (state, codes, exit
//! code, the check), people get everything. An agent that asks for the rest gets it with the mark.

use serde_json::{Map, Value};

use super::{Failure, State};
use crate::actors::Actor;
use crate::taint::Taint;

/// Members of a result that Void itself wrote, as words.
const OWN_WORDS: [&str; 3] = ["host", "settled_by", "reported_by"];
/// Members of a result that are a number, a truth value or nothing, never words.
const OWN_FACTS: [&str; 4] = ["exit", "replayed", "changed", "edited"];
/// What the check saw, typed by Void.
const CHECK: &str = "check";
/// Says that there is more, and that this reader does not get it.
const WITHHELD: &str = "withheld";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// Everything that was stored.
    Whole,
    /// Nothing that a machine could have written, nor who had read a stranger's text.
    WithoutForeign,
}

impl Sight {
    pub const fn of(actor: &Actor) -> Self {
        match actor {
            Actor::Owner { .. } | Actor::Viewer { .. } | Actor::System => Self::Whole,
            Actor::Agent { .. } | Actor::Node { .. } => Self::WithoutForeign,
        }
    }

    pub const fn is_whole(self) -> bool {
        matches!(self, Self::Whole)
    }

    /// Whether this reader gets the words of a request whose requester had read this.
    pub fn has_words(self, taint: &Taint) -> bool {
        self.is_whole() || taint.is_clean()
    }

    /// A result as this reader gets it.
    pub fn result(self, result: &Value) -> Value {
        match (self, result) {
            (Self::Whole, _) => result.clone(),
            (Self::WithoutForeign, Value::Object(members)) => Value::Object(own(members)),
            (Self::WithoutForeign, _) => Value::Object(own(&Map::new())),
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
            Sight::WithoutForeign.result(&said),
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
            let seen = Sight::WithoutForeign.result(&odd).to_string();
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
                !Sight::WithoutForeign
                    .message(state, &failure)
                    .contains("CANARY")
            );
            assert!(Sight::Whole.message(state, &failure).contains("CANARY"));
        }
        let said = Sight::WithoutForeign.message(&refused, &failure);
        assert_eq!(said, failure.message);
    }
}
