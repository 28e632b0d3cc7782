//! The record that shows tampering: an append-only chain in which every entry's hash covers the
//! entry before it. Entries are written in the same transaction as what they record.
//!
//! `hash` = SHA-256(32 bytes of `prev` ‖ RFC 8785 of the entry without `prev` and `hash`). The crate
//! `void-verify` checks an export without any of this code.

use std::fmt::Write as _;

use serde_json::Value;

use crate::canonical::{self, NotCanonical};
use crate::digests::Digest;
use crate::ids::RequestId;
use crate::time::Timestamp;

/// An entry before it has a place in the chain.
#[derive(Debug, Clone, PartialEq)]
pub struct NewAuditEntry {
    pub request_id: Option<RequestId>,
    pub actor: String,
    pub verb: &'static str,
    pub subject: Option<String>,
    pub detail: Value,
    /// The catalogue that was in force.
    pub catalogue: Option<Digest>,
}

/// An entry in its place. `detail` is kept as the canonical text that was hashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
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
}

impl AuditEntry {
    /// Gives the draft its place after the entry `prev`.
    pub fn seal(
        draft: NewAuditEntry,
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
        };
        entry.hash = entry.computed_hash();
        Ok(entry)
    }

    pub fn computed_hash(&self) -> Digest {
        Digest::of_parts(&[self.prev.as_bytes(), self.canonical(None).as_bytes()])
    }

    /// One line of an export, itself in canonical form.
    pub fn export_line(&self) -> String {
        self.canonical(Some((&self.prev, &self.hash)))
    }

    /// The members in RFC 8785 order, with or without the two that are not hashed.
    fn canonical(&self, links: Option<(&Digest, &Digest)>) -> String {
        let mut out = String::with_capacity(512);
        out.push_str("{\"actor\":");
        canonical::write_string(&mut out, &self.actor);
        let _ = write!(out, ",\"at\":\"{}\",\"catalogue\":", self.at);
        write_optional(&mut out, self.catalogue.as_deref());
        out.push_str(",\"detail\":");
        out.push_str(&self.detail);
        if let Some((prev, hash)) = links {
            let _ = write!(out, ",\"hash\":\"{hash}\",\"prev\":\"{prev}\"");
        }
        out.push_str(",\"request_id\":");
        write_optional(&mut out, self.request_id.as_deref());
        let _ = write!(out, ",\"seq\":{},\"subject\":", self.seq);
        write_optional(&mut out, self.subject.as_deref());
        out.push_str(",\"verb\":");
        canonical::write_string(&mut out, &self.verb);
        out.push('}');
        out
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

    fn sealed() -> AuditEntry {
        let draft = NewAuditEntry {
            request_id: None,
            actor: "owner-cli".into(),
            verb: "proposal.created",
            subject: Some("0191".into()),
            detail: json!({"z": 1, "a": "é\n"}),
            catalogue: Some(Digest::of(b"catalogue")),
        };
        AuditEntry::seal(draft, 1, Timestamp::from_ms(0), Digest::ZERO).unwrap()
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
        let edits: [fn(&mut AuditEntry); 9] = [
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
}
