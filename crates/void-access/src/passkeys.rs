//! The owner's passkeys. What an authenticator is asked to sign is kept on the server's side only, is
//! answered once and within five minutes, and is good for one purpose: a login, or a proof or a new
//! passkey of one session.

mod answers;

use std::time::Duration;

use serde_json::{Value, json};
use void_control::{Ctx, facts, random, sessions};
use void_domain::ids::{ChallengeId, PasskeyId};
use void_domain::text;
use void_domain::time::Timestamp;
use void_store::StoreError;
use void_store::challenges::{self, Purpose};
use void_store::passkeys;
use void_store::sessions::Session;
use webauthn_rs::prelude::{Url, Uuid, Webauthn, WebauthnBuilder};

use self::answers::Registering;
use crate::credentials::{self, CredentialError, PASSKEYS_MAX};
use crate::owners::OwnerAccess;

pub use self::answers::Assertion;
pub(crate) use self::answers::{Used, check};
pub use void_store::passkeys::Passkey;

const CHALLENGE_LASTS: Duration = Duration::from_secs(5 * 60);
/// Of each purpose; the newest ones stay.
const CHALLENGES_MAX: u32 = 256;
const NAME_CHARS_MAX: usize = 64;

/// What passkeys belong to: the name by which the owner's browser knows this lab, and the origin of
/// the page that asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    pub relying_party: String,
    pub origin: String,
}

impl Site {
    fn webauthn(&self) -> Result<Webauthn, CredentialError> {
        let origin = Url::parse(&self.origin).map_err(|_| CredentialError::NoSite)?;
        let builder = WebauthnBuilder::new(&self.relying_party, &origin);
        let made = builder.and_then(|builder| builder.rp_name("Void").build());
        made.map_err(|_| CredentialError::NoSite)
    }
}

/// What a page hands to the browser.
pub struct Challenge {
    pub id: ChallengeId,
    /// The options of `navigator.credentials`, with bytes as base64url.
    pub options: Value,
}

/// Asks for a signature by one of the passkeys that belong to this site.
pub async fn ask(
    access: &OwnerAccess,
    site: Option<&Site>,
    session: Option<&Session>,
) -> Result<Challenge, CredentialError> {
    let site = site.ok_or(CredentialError::NoSite)?;
    let mut known = Vec::new();
    for passkey in list(access).await? {
        if passkey.relying_party == site.relying_party {
            known.push(answers::credential(&passkey)?);
        }
    }
    if known.is_empty() {
        return Err(CredentialError::NoPasskey);
    }
    let (options, state) = site
        .webauthn()?
        .start_passkey_authentication(&known)
        .map_err(|error| internal(&error))?;
    let purpose = match session {
        Some(session) => Purpose::Confirm(session.id),
        None => Purpose::Login,
    };
    let options = to_value(&options.public_key)?;
    keep(access, purpose, options, to_value(&state)?).await
}

/// Asks an authenticator for a new passkey.
pub async fn ask_for_new(
    access: &OwnerAccess,
    ctx: &Ctx,
    session: Option<&Session>,
    site: Option<&Site>,
) -> Result<Challenge, CredentialError> {
    let session = session.ok_or(CredentialError::SessionNeeded)?;
    let site = site.ok_or(CredentialError::NoSite)?;
    credentials::judge_change(access, ctx, Some(session)).await?;
    let passkeys = list(access).await?;
    if passkeys.len() >= PASSKEYS_MAX as usize {
        return Err(CredentialError::TooMany);
    }
    // The same in all authenticators, so that one of them keeps one passkey for this lab.
    let user_handle = match passkeys.first() {
        Some(passkey) => passkey.user_handle.parse().map_err(|error| {
            StoreError::Internal(format!("a user handle that is none: {error}"))
        })?,
        None => Uuid::from_bytes(random::bytes()?),
    };
    let known = passkeys.iter().map(answers::credential);
    let known = known.collect::<Result<Vec<_>, _>>()?;
    let exclude = known.iter().map(|known| known.cred_id().clone()).collect();
    let (options, state) = site
        .webauthn()?
        .start_passkey_registration(user_handle, "owner", "Owner", Some(exclude))
        .map_err(|error| internal(&error))?;
    let mut options = to_value(&options.public_key)?;
    if let Some(wanted) = options.pointer_mut("/authenticatorSelection/residentKey") {
        *wanted = json!("preferred");
    }
    let state = to_value(&Registering { user_handle, state })?;
    keep(access, Purpose::Register(session.id), options, state).await
}

async fn keep(
    access: &OwnerAccess,
    purpose: Purpose,
    options: Value,
    state: Value,
) -> Result<Challenge, CredentialError> {
    let now = access.control().clock().now();
    let id = ChallengeId::new(now, random::bytes()?);
    let (state, until) = (state.to_string(), now.plus(CHALLENGE_LASTS));
    let kept = access.control().store().write(move |tx| {
        Box::pin(async move {
            challenges::insert(tx, id, purpose, &state, now, until, CHALLENGES_MAX).await
        })
    });
    kept.await?;
    Ok(Challenge { id, options })
}

/// What an authenticator made, and what to call it.
pub struct NewPasskey {
    pub challenge: ChallengeId,
    pub name: String,
    /// The JSON of a credential with an attestation.
    pub credential: Value,
    pub site: Option<Site>,
}

/// Keeps a passkey that was asked for in this session.
pub async fn register(
    access: &OwnerAccess,
    ctx: &Ctx,
    session: Option<&Session>,
    new: NewPasskey,
) -> Result<Passkey, CredentialError> {
    let session = session.ok_or(CredentialError::SessionNeeded)?;
    credentials::judge_change(access, ctx, Some(session)).await?;
    let name = new.name.trim();
    let fits = (1..=NAME_CHARS_MAX).contains(&name.chars().count());
    if !fits || text::escaped(name) != name {
        return Err(CredentialError::InvalidName);
    }
    let site = new.site.as_ref().ok_or(CredentialError::NoSite)?;
    let purpose = Purpose::Register(session.id);
    let state = answers::take(access, new.challenge, purpose).await?;
    let made = answers::made(&site.webauthn()?, state, new.credential);
    let made = made.ok_or(CredentialError::Refused)?;
    let at = access.control().clock().now();
    let passkey = Passkey {
        id: PasskeyId::new(at, random::bytes()?),
        name: name.to_owned(),
        relying_party: site.relying_party.clone(),
        user_handle: made.user_handle,
        credential_id: made.credential_id,
        credential: made.credential,
        counter: 0,
        created_at: at,
        last_used_at: None,
    };
    insert(access, ctx, at, passkey).await
}

async fn insert(
    access: &OwnerAccess,
    ctx: &Ctx,
    at: Timestamp,
    passkey: Passkey,
) -> Result<Passkey, CredentialError> {
    let context = access.control().context(ctx);
    access
        .control()
        .store()
        .write(move |tx| {
            Box::pin(async move {
                let known = passkeys::list(tx, PASSKEYS_MAX).await?;
                if known.len() >= PASSKEYS_MAX as usize {
                    return Err(CredentialError::TooMany);
                }
                let twin = |known: &Passkey| known.credential_id == passkey.credential_id;
                if known.iter().any(twin) {
                    return Err(CredentialError::Refused);
                }
                credentials::end_printed_links(tx).await?;
                passkeys::insert(tx, &passkey).await?;
                let detail = json!({"name": passkey.name, "site": passkey.relying_party});
                let subject = Some(passkey.id.to_string());
                facts::audit(tx, &context, at, "passkey.registered", subject, detail).await?;
                Ok(passkey)
            })
        })
        .await
}

/// Newest first.
pub async fn list(access: &OwnerAccess) -> Result<Vec<Passkey>, StoreError> {
    access
        .control()
        .store()
        .read(|tx| Box::pin(passkeys::list(tx, PASSKEYS_MAX)))
        .await
}

/// Removes one, and ends all other sessions: it may have opened them.
pub async fn remove(
    access: &OwnerAccess,
    ctx: &Ctx,
    session: Option<&Session>,
    id: PasskeyId,
) -> Result<(), CredentialError> {
    credentials::judge_change(access, ctx, session).await?;
    let (context, at) = (
        access.control().context(ctx),
        access.control().clock().now(),
    );
    let own = session.map(|session| session.id);
    access
        .control()
        .store()
        .write_closing(move |tx| {
            Box::pin(async move {
                if !passkeys::remove(tx, id).await? {
                    return Err(CredentialError::NotFound);
                }
                let subject = Some(id.to_string());
                facts::audit(tx, &context, at, "passkey.removed", subject, json!({})).await?;
                sessions::end_others(tx, &context, at, own, "passkey.removed").await?;
                Ok(())
            })
        })
        .await
}

fn to_value(value: &impl serde::Serialize) -> Result<Value, StoreError> {
    serde_json::to_value(value).map_err(|error| internal(&error))
}

fn internal(error: &impl std::fmt::Display) -> StoreError {
    StoreError::Internal(format!("a challenge cannot be made: {error}"))
}
