//! What passwords, passkeys and set-up links have in common: who may change how the owner signs in.
//!
//! Whoever changes that has just proved to be the owner: what a stolen session could add to itself
//! would outlive it. Only who followed a set-up link may take an hour, and only until something is
//! set up.

use std::time::Duration;

use void_control::Ctx;
use void_domain::passwords::InvalidPassword;
use void_domain::policy;
use void_domain::sessions::Method;
use void_store::sessions::Session;
use void_store::{StoreError, Tx, passkeys, passwords, setup_links};

use crate::hashing::Busy;
use crate::owners::OwnerAccess;

/// How long who followed a set-up link may think about a password.
const LEISURE: Duration = Duration::from_secs(60 * 60);
/// More than anybody carries.
pub const PASSKEYS_MAX: u32 = 32;

#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    #[error("only the owner decides how the owner signs in")]
    OwnerOnly,
    #[error("this is done in a browser session, not with a token")]
    SessionNeeded,
    #[error("this needs a fresh login")]
    FreshLoginNeeded,
    #[error("the password {0}")]
    InvalidPassword(#[from] InvalidPassword),
    #[error("a passkey's name is 1 to 64 characters that print as themselves")]
    InvalidName,
    #[error("passkeys belong to a name, and this page was reached by something else")]
    NoSite,
    #[error("there is no passkey for the name by which this page was reached")]
    NoPasskey,
    #[error("the authenticator's answer does not fit what it was asked")]
    Refused,
    #[error("there are {PASSKEYS_MAX} passkeys already")]
    TooMany,
    #[error("there is no such credential")]
    NotFound,
    #[error(transparent)]
    Busy(#[from] Busy),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// By what the owner can sign in, beside their token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetUp {
    pub password: bool,
    /// The sites that passkeys were made for.
    pub relying_parties: Vec<String>,
}

impl SetUp {
    pub fn is_done(&self) -> bool {
        self.password || !self.relying_parties.is_empty()
    }
}

pub async fn set_up(access: &OwnerAccess) -> Result<SetUp, StoreError> {
    access
        .control()
        .store()
        .read(|tx| {
            Box::pin(async move {
                let passkeys = passkeys::list(tx, PASSKEYS_MAX).await?;
                Ok(SetUp {
                    password: passwords::find(tx).await?.is_some(),
                    relying_parties: passkeys
                        .into_iter()
                        .map(|passkey| passkey.relying_party)
                        .collect(),
                })
            })
        })
        .await
}

/// With the first credential the way in that was printed before ends, whoever may have read it.
pub(crate) async fn end_printed_links(tx: &mut Tx) -> Result<(), StoreError> {
    let is_first = passwords::find(tx).await?.is_none() && passkeys::list(tx, 1).await?.is_empty();
    if is_first {
        setup_links::void_unused(tx).await?;
    }
    Ok(())
}

/// Whether this caller may change how the owner signs in. The owner's token may: it is the proof. Who came by a
/// set-up link and has nothing else to prove it with has more time for the first credential, and for that alone.
pub async fn judge_change(
    access: &OwnerAccess,
    ctx: &Ctx,
    session: Option<&Session>,
) -> Result<(), CredentialError> {
    if !ctx.actor.is_owner() {
        return Err(CredentialError::OwnerOnly);
    }
    let Some(session) = session else {
        return Ok(());
    };
    let lately = ctx.authenticated_ago.is_some_and(|ago| ago <= LEISURE);
    if session.method == Method::Setup && lately && !set_up(access).await?.is_done() {
        return Ok(());
    }
    judge_fresh(ctx, Some(session))
}

/// Whether this caller has just proved to be the owner. A token is a proof each time.
pub fn judge_fresh(ctx: &Ctx, session: Option<&Session>) -> Result<(), CredentialError> {
    if !ctx.actor.is_owner() {
        return Err(CredentialError::OwnerOnly);
    }
    if session.is_none() || policy::is_fresh(ctx.authenticated_ago) {
        Ok(())
    } else {
        Err(CredentialError::FreshLoginNeeded)
    }
}
