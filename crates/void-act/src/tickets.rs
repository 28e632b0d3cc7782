//! Tickets: what a host receives of a permit.
//!
//! `v1.` and base64url of `{"p","d","e","a","x","s"}`, perhaps with `"l"`. The server encodes and the host decodes
//! with this one type, so both mean the same bytes. [`Ticket::fingerprint`] covers everything but the action id,
//! because a question about a ticket does not name its action (the journal compares the id beside it), and but the
//! list `l`, which says when to run it and not what: whoever asks later need not know it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::answers::{Reason, Refusal};
use crate::commands::TICKET_CHARS_MAX;
use crate::files::sha256_hex;
use crate::json;
use crate::params::Params;

const PREFIX: &str = "v1.";
const UUID_GROUPS: [usize; 5] = [8, 4, 4, 4, 12];
const DIGEST_CHARS: usize = 64;

/// A ticket of valid form. Whether it may run is judged elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket(Wire);

// The order of the fields and the sorted map give one content one serialisation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    p: String,
    d: String,
    e: String,
    a: Params,
    x: u64,
    /// The owner's signature, later. It is never left out: a ticket without one says `null`.
    #[serde(deserialize_with = "Option::deserialize")]
    s: Option<serde_json::Value>,
    /// SHA-256 of the host's list that this is for. A host from before this refuses it as a bad ticket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    l: Option<String>,
}

impl Ticket {
    /// # Errors
    /// `bad_ticket` when a part is malformed or the whole is too long to send.
    pub fn new(
        proposal: &str,
        digest: &str,
        exec_digest: &str,
        params: Params,
        expires_ms: u64,
    ) -> Result<Self, Refusal> {
        let ticket = Self::checked(Wire {
            p: proposal.to_owned(),
            d: digest.to_owned(),
            e: exec_digest.to_owned(),
            a: params,
            x: expires_ms,
            s: None,
            l: None,
        })?;
        ticket.fits()
    }

    /// The same, for a host whose list has this digest and for no other.
    ///
    /// # Errors
    /// `bad_ticket` when that is no digest, or the whole is too long to send.
    pub fn for_list(mut self, digest: &str) -> Result<Self, Refusal> {
        self.0.l = Some(digest.to_owned());
        Self::checked(self.0)?.fits()
    }

    fn fits(self) -> Result<Self, Refusal> {
        if self.encode().len() > PREFIX.len() + TICKET_CHARS_MAX {
            return Err(bad("the ticket is too long"));
        }
        Ok(self)
    }

    /// The word that follows the action id.
    pub fn encode(&self) -> String {
        format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(canonical(&self.0)))
    }

    /// # Errors
    /// `bad_ticket`, or `signature_unsupported` when it carries a signature, which nothing here can check yet.
    pub fn decode(word: &str) -> Result<Self, Refusal> {
        let body = word
            .strip_prefix(PREFIX)
            .ok_or_else(|| bad("the ticket has no v1. prefix"))?;
        if body.len() > TICKET_CHARS_MAX {
            return Err(bad("the ticket is too long"));
        }
        let json = URL_SAFE_NO_PAD
            .decode(body)
            .map_err(|_| bad("the ticket is not base64url without padding"))?;
        Self::checked(json::object(&json).map_err(|_| {
            bad("the ticket is not a JSON object of p, d, e, a, x, s and l with their types, each once")
        })?)
    }

    pub fn proposal(&self) -> &str {
        &self.0.p
    }

    pub fn digest(&self) -> &str {
        &self.0.d
    }

    pub fn exec_digest(&self) -> &str {
        &self.0.e
    }

    /// The digest of the only list that it may run by.
    pub fn list(&self) -> Option<&str> {
        self.0.l.as_deref()
    }

    pub fn params(&self) -> &Params {
        &self.0.a
    }

    pub fn expires_ms(&self) -> u64 {
        self.0.x
    }

    /// SHA-256 over the canonical content; two spellings of one ticket have the same.
    pub(crate) fn fingerprint(&self) -> String {
        let mut content = self.0.clone();
        content.l = None;
        sha256_hex(&canonical(&content))
    }

    fn checked(wire: Wire) -> Result<Self, Refusal> {
        if wire.s.is_some() {
            return Err(Refusal::new(
                Reason::SignatureUnsupported,
                "signatures are not yet checked here",
            ));
        }
        if !is_uuid(&wire.p) {
            return Err(bad("p is not a lower-case hyphenated UUID"));
        }
        if !is_digest(&wire.d) || !is_digest(&wire.e) {
            return Err(bad("d and e are 64 lower-case hexadecimal digits"));
        }
        if !wire.l.as_deref().is_none_or(is_digest) {
            return Err(bad("l is not 64 lower-case hexadecimal digits"));
        }
        Ok(Self(wire))
    }
}

fn canonical(wire: &Wire) -> Vec<u8> {
    // Strings and integers under string keys always serialise.
    serde_json::to_vec(wire).unwrap_or_default()
}

pub(crate) fn is_digest(text: &str) -> bool {
    text.len() == DIGEST_CHARS && is_hex(text)
}

pub(crate) fn is_uuid(text: &str) -> bool {
    text.split('-').map(str::len).eq(UUID_GROUPS) && text.split('-').all(is_hex)
}

fn is_hex(text: &str) -> bool {
    text.bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn bad(text: &str) -> Refusal {
    Refusal::new(Reason::BadTicket, text)
}

#[cfg(test)]
mod tests;
