//! What somebody shows to be taken for the owner, and whether it is worth anything. What can be used
//! only once is used up in the transaction that relies on it.

use void_control::callers::{CREDENTIAL_BYTES_MAX, is_owner_token};
use void_domain::digests::Digest;
use void_domain::secrets::Secret;
use void_domain::sessions::Method;
use void_domain::time::Timestamp;
use void_store::challenges::Purpose;
use void_store::{StoreError, Tx, setup_links};

use crate::owners::OwnerAccess;
use crate::passkeys::{self, Assertion, Used};
use crate::passwords::{self, CheckError};

#[derive(Debug)]
pub enum Proof {
    Passkey(Box<Assertion>),
    /// The owner's token.
    Token(Secret),
    Password(Secret),
    /// The code of a set-up link.
    Setup(Secret),
}

impl Proof {
    pub const fn method(&self) -> Method {
        match self {
            Self::Passkey(_) => Method::Passkey,
            Self::Token(_) => Method::Token,
            Self::Password(_) => Method::Password,
            Self::Setup(_) => Method::Setup,
        }
    }
}

/// A proof that holds, if what it uses up is still there.
#[derive(Debug, Clone)]
pub(super) enum Proven {
    Passkey(Used),
    Token,
    Password,
    Setup(Digest),
}

impl Proven {
    pub(super) const fn method(&self) -> Method {
        match self {
            Self::Passkey(_) => Method::Passkey,
            Self::Token => Method::Token,
            Self::Password => Method::Password,
            Self::Setup(_) => Method::Setup,
        }
    }

    /// Uses up what can be used once. `false`: somebody was quicker, or its time is over.
    pub(super) async fn redeem(&self, tx: &mut Tx, at: Timestamp) -> Result<bool, StoreError> {
        match self {
            Self::Token | Self::Password => Ok(true),
            Self::Passkey(used) => used.note(tx, at).await,
            Self::Setup(hash) => setup_links::redeem(tx, *hash, at).await,
        }
    }
}

/// Whoever confirms has a session already.
fn lane(purpose: Purpose) -> passwords::Lane {
    match purpose {
        Purpose::Login => passwords::Lane::Stranger,
        _ => passwords::Lane::Known,
    }
}

/// `None`: it proves nothing.
pub(super) async fn check(
    access: &OwnerAccess,
    proof: &Proof,
    purpose: Purpose,
) -> Result<Option<Proven>, CheckError> {
    Ok(match proof {
        Proof::Passkey(assertion) => passkeys::check(access, assertion, purpose)
            .await?
            .map(Proven::Passkey),
        Proof::Token(shown) => {
            is_owner_token(access.control(), shown.expose()).then_some(Proven::Token)
        }
        Proof::Password(shown) => passwords::is_right(access, shown, lane(purpose))
            .await?
            .then_some(Proven::Password),
        // A link opens a session; it does not vouch for one that is open.
        Proof::Setup(code) => {
            let code = code.expose();
            let usable = purpose == Purpose::Login && code.len() <= CREDENTIAL_BYTES_MAX;
            usable.then(|| Proven::Setup(Digest::of(code.as_bytes())))
        }
    })
}
