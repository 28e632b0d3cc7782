//! The record that shows tampering: an append-only chain in which every entry's hash covers the
//! entry before it. Entries are written in the same transaction as what they record. An entry is also the step of the
//! proposal that it is about, and the event that its audience hears: one fact, one row.
//!
//! `hash` = SHA-256(32 bytes of `prev` ‖ RFC 8785 of the entry without `prev` and `hash`). The crate
//! `void-verify` checks an export without any of this code.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::canonical::{self, NotCanonical};
use crate::digests::Digest;
use crate::events::Audience;
use crate::ids::RequestId;
use crate::time::Timestamp;

/// Members of details that hold what Void made. No digest of what is withheld is among them: one covers the parameters, and
/// short ones are found by trying.
const TYPED: [&str; 19] = [
    "action_id",
    "agent_id",
    "approved_by",
    "capabilities",
    "code",
    "count",
    "expires_at",
    "kind",
    "lapsed",
    "name",
    "quarantined",
    "requested_by",
    "resident",
    "risk",
    "sessions_ended",
    "status",
    "target",
    "tier",
    "verification",
];
const TYPED_BYTES_MAX: usize = 128;
const TYPED_ITEMS_MAX: usize = 32;

/// One word without blanks, a number, a truth value, or a list of such.
fn is_typed(value: &Value) -> bool {
    let is_word = |text: &str| {
        let mut bytes = text.bytes();
        text.len() <= TYPED_BYTES_MAX
            && bytes.all(|b| b.is_ascii_alphanumeric() || b"-._:/+".contains(&b))
    };
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => is_word(text),
        Value::Array(items) => {
            items.len() <= TYPED_ITEMS_MAX
                && items.iter().all(|item| item.as_str().is_some_and(is_word))
        }
        Value::Object(_) => false,
    }
}

/// An entry before it has a place in the chain.
#[derive(Debug, Clone, PartialEq)]
pub struct NewFact {
    pub request_id: Option<RequestId>,
    pub actor: String,
    pub verb: &'static str,
    pub subject: Option<String>,
    pub detail: Value,
    /// The catalogue that was in force.
    pub catalogue: Option<Digest>,
    /// Who hears of it; `None`: nobody.
    pub audience: Option<Audience>,
}

/// An entry in its place. `detail` is kept as the canonical text that was hashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    pub seq: u64,
    pub at: Timestamp,
    pub request_id: Option<String>,
    pub actor: String,
    pub verb: String,
    pub subject: Option<String>,
    pub detail: String,
    pub catalogue: Option<String>,
    pub prev: Digest,
    pub hash: Digest,
    /// Who hears of it; `None`: nobody, or whom another version knows. It is neither hashed nor exported: it says who
    /// is told, not what happened.
    pub audience: Option<Audience>,
}

impl Fact {
    /// Gives the draft its place after the entry `prev`.
    pub fn seal(
        draft: NewFact,
        seq: u64,
        at: Timestamp,
        prev: Digest,
    ) -> Result<Self, NotCanonical> {
        let mut entry = Self {
            seq,
            at,
            request_id: draft.request_id.map(|id| id.to_string()),
            actor: draft.actor,
            verb: draft.verb.to_owned(),
            subject: draft.subject,
            detail: canonical::to_canonical(&draft.detail)?,
            catalogue: draft.catalogue.map(|digest| digest.to_string()),
            prev,
            hash: Digest::ZERO,
            audience: draft.audience,
        };
        entry.hash = entry.computed_hash();
        Ok(entry)
    }

    /// Of what the entry tells, what Void itself made: ids, states, counts and stable words. Reasons, diffs,
    /// output and names that people chose freely are what somebody or a machine wrote, and are left out; so is
    /// every member that is not listed.
    pub fn typed_detail(&self) -> Value {
        let detail: Value = serde_json::from_str(&self.detail).unwrap_or_default();
        let Value::Object(members) = detail else {
            return json!({});
        };
        let failure = members
            .get("failure")
            .and_then(|it| it.get("code"))
            .cloned();
        let listed = members
            .into_iter()
            .filter(|(name, value)| TYPED.contains(&name.as_str()) && is_typed(value));
        let mut typed: Map<String, Value> = listed.collect();
        if let Some(code) = failure.filter(is_typed) {
            typed.insert("failure".to_owned(), json!({"code": code}));
        }
        Value::Object(typed)
    }

    pub fn computed_hash(&self) -> Digest {
        self.view().computed_hash(&mut String::with_capacity(ROOM))
    }

    /// One line of an export, itself in canonical form.
    pub fn export_line(&self) -> String {
        let mut line = String::with_capacity(ROOM);
        self.view().write_line(&mut line);
        line
    }

    fn view(&self) -> FactView<'_> {
        FactView {
            seq: self.seq,
            at: self.at,
            request_id: self.request_id.as_deref(),
            actor: &self.actor,
            verb: &self.verb,
            subject: self.subject.as_deref(),
            detail: &self.detail,
            catalogue: self.catalogue.as_deref(),
            prev: self.prev,
            hash: self.hash,
        }
    }
}

/// An ordinary entry fits.
const ROOM: usize = 1_024;

/// An entry where it lies, for whoever reads many and keeps none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FactView<'a> {
    pub seq: u64,
    pub at: Timestamp,
    pub request_id: Option<&'a str>,
    pub actor: &'a str,
    pub verb: &'a str,
    pub subject: Option<&'a str>,
    /// As it was hashed.
    pub detail: &'a str,
    pub catalogue: Option<&'a str>,
    pub prev: Digest,
    pub hash: Digest,
}

impl FactView<'_> {
    /// `room` is written over.
    pub fn computed_hash(&self, room: &mut String) -> Digest {
        room.clear();
        self.write_canonical(room, false);
        Digest::of_parts(&[self.prev.as_bytes(), room.as_bytes()])
    }

    /// Adds the line of an export, without its end.
    pub fn write_line(&self, out: &mut String) {
        self.write_canonical(out, true);
    }

    /// The members in RFC 8785 order, with or without the two that are not hashed.
    fn write_canonical(&self, out: &mut String, with_links: bool) {
        out.push_str("{\"actor\":");
        canonical::write_string(out, self.actor);
        let _ = write!(out, ",\"at\":\"{}\",\"catalogue\":", self.at);
        write_optional(out, self.catalogue);
        out.push_str(",\"detail\":");
        out.push_str(self.detail);
        if with_links {
            let (hash, prev) = (self.hash, self.prev);
            let _ = write!(out, ",\"hash\":\"{hash}\",\"prev\":\"{prev}\"");
        }
        out.push_str(",\"request_id\":");
        write_optional(out, self.request_id);
        let _ = write!(out, ",\"seq\":{},\"subject\":", self.seq);
        write_optional(out, self.subject);
        out.push_str(",\"verb\":");
        canonical::write_string(out, self.verb);
        out.push('}');
    }
}

fn write_optional(out: &mut String, text: Option<&str>) {
    match text {
        Some(text) => canonical::write_string(out, text),
        None => out.push_str("null"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sealed() -> Fact {
        let draft = NewFact {
            request_id: None,
            actor: "owner-cli".into(),
            verb: "proposal.created",
            subject: Some("0191".into()),
            detail: json!({"z": 1, "a": "é\n"}),
            catalogue: Some(Digest::of(b"catalogue")),
            audience: None,
        };
        Fact::seal(draft, 1, Timestamp::from_ms(0), Digest::ZERO).unwrap()
    }

    #[test]
    fn the_export_line_is_canonical_and_carries_its_own_proof() {
        let entry = sealed();
        let line = entry.export_line();
        let mut value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(canonical::to_canonical(&value).unwrap(), line);

        let members = value.as_object_mut().unwrap();
        members.remove("prev");
        members.remove("hash");
        let rest = canonical::to_canonical(&value).unwrap();
        assert_eq!(Digest::of_parts(&[&[0; 32], rest.as_bytes()]), entry.hash);
    }

    #[test]
    fn every_field_is_covered_by_the_hash() {
        let entry = sealed();
        let edits: [fn(&mut Fact); 9] = [
            |e| e.seq = 2,
            |e| e.at = Timestamp::from_ms(1),
            |e| e.request_id = Some("r".into()),
            |e| e.actor = "system".into(),
            |e| e.verb = "proposal.rejected".into(),
            |e| e.subject = None,
            |e| e.detail = "{}".into(),
            |e| e.catalogue = None,
            |e| e.prev = Digest::of(b"x"),
        ];
        for edit in edits {
            let mut edited = entry.clone();
            edit(&mut edited);
            assert_ne!(edited.computed_hash(), entry.hash);
        }
    }

    #[test]
    fn what_somebody_or_a_machine_wrote_is_not_typed() {
        let draft = NewFact {
            request_id: None,
            actor: "agent-bot".into(),
            verb: "proposal.failed",
            subject: None,
            detail: json!({
                "code": "AB12", "action_id": "restart-a", "count": 2, "capabilities": ["read", "act"],
                "reason": "do as I say", "diff": "x", "params": {"image": "x"}, "result": {"stdout": "x"},
                "what": "x", "name": "two words", "target": "a\nb", "risk": "é", "status": "x".repeat(129),
                "failure": {"code": "timeout", "message": "words"}, "kind": {"a": 1}, "tier": ["a b"],
                "digest": Digest::of(b"definition and params"), "joined_sha256": Digest::of(b"words"),
                "reason_cut": {"bytes": 300, "sha256": Digest::of(b"reason")},
            }),
            catalogue: None,
            audience: None,
        };
        let entry = Fact::seal(draft, 1, Timestamp::from_ms(0), Digest::ZERO).unwrap();
        let typed = json!({
            "code": "AB12", "action_id": "restart-a", "count": 2, "capabilities": ["read", "act"],
            "failure": {"code": "timeout"},
        });
        assert_eq!(entry.typed_detail(), typed);
        let again = Fact {
            detail: typed.to_string(),
            ..entry.clone()
        };
        assert_eq!(again.typed_detail(), typed);
        for detail in [
            "",
            "[]",
            "\"reason\"",
            "null",
            "{\"failure\": {\"code\": \"a b\"}}",
        ] {
            let odd = Fact {
                detail: detail.to_owned(),
                ..entry.clone()
            };
            assert_eq!(odd.typed_detail(), json!({}), "{detail}");
        }
    }
}
