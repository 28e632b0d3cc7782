//! The owner's token, of which only the hash is kept, and whether any token of the settings can be guessed.

use std::sync::atomic::{AtomicBool, Ordering};

use void_domain::digests::Digest;
use void_domain::secrets::Secret;

/// Nobody guesses a token of this many characters; wrong bearer tokens are slowed down while a configured
/// one is shorter.
pub const OWNER_TOKEN_LONG: usize = 32;

pub(crate) struct OwnerToken {
    pub(crate) digest: Digest,
    pub(crate) is_short: bool,
    /// Whether any token of the settings is so short that guessing has to be slowed down.
    is_any_short: AtomicBool,
}

impl OwnerToken {
    pub(crate) fn new(token: &Secret) -> Self {
        let is_short = is_short(token);
        Self {
            digest: Digest::of(token.expose().as_bytes()),
            is_short,
            is_any_short: AtomicBool::new(is_short),
        }
    }

    pub(crate) fn is_any_short(&self) -> bool {
        self.is_any_short.load(Ordering::SeqCst)
    }

    /// There is another token in the settings.
    pub(crate) fn note_other(&self, token: &Secret) {
        if is_short(token) {
            self.is_any_short.store(true, Ordering::SeqCst);
        }
    }
}

fn is_short(token: &Secret) -> bool {
    token.expose().len() < OWNER_TOKEN_LONG
}
