//! What authenticators answer, and whether it is what was asked for. A challenge is gone as soon as
//! somebody answers it, rightly or not.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use void_domain::ids::{ChallengeId, PasskeyId};
use void_domain::time::Timestamp;
use void_store::challenges::{self, Purpose};
use void_store::{StoreError, Tx, passkeys};
use webauthn_rs::prelude::{
    Passkey as Credential, PasskeyRegistration, PublicKeyCredential, Uuid, Webauthn,
};

use super::{Passkey, Site};
use crate::owners::OwnerAccess;

/// What a browser sends to prove that the owner's authenticator is there, and the owner with it.
#[derive(Debug, Clone)]
pub struct Assertion {
    /// `None`: what was sent is no id of ours.
    pub challenge: Option<ChallengeId>,
    /// The JSON of a credential with an assertion.
    pub credential: Value,
    pub site: Option<Site>,
}

/// What waits for a new passkey.
#[derive(Serialize, Deserialize)]
pub(super) struct Registering {
    pub user_handle: Uuid,
    pub state: PasskeyRegistration,
}

pub(super) struct AttestedPasskey {
    pub user_handle: String,
    pub credential_id: String,
    pub credential: String,
}

/// A passkey that has signed; what is known of it now is not stored yet.
#[derive(Debug, Clone)]
pub(crate) struct Used {
    id: PasskeyId,
    credential: String,
    counter: u64,
}

impl Used {
    /// `false`: it was removed meanwhile, or a copy of it has signed more often.
    pub(crate) async fn note(&self, tx: &mut Tx, at: Timestamp) -> Result<bool, StoreError> {
        passkeys::note_use(tx, self.id, &self.credential, self.counter, at).await
    }
}

/// The state of a challenge, which is gone then.
pub(super) async fn take(
    access: &OwnerAccess,
    id: ChallengeId,
    purpose: Purpose,
) -> Result<Option<String>, StoreError> {
    let now = access.control().clock().now();
    access
        .control()
        .store()
        .write(move |tx| Box::pin(challenges::take(tx, id, purpose, now)))
        .await
}

/// The passkey that signed what was asked for this purpose. `None`: none did.
pub(crate) async fn check(
    access: &OwnerAccess,
    assertion: &Assertion,
    purpose: Purpose,
) -> Result<Option<Used>, StoreError> {
    let (Some(id), Some(site)) = (assertion.challenge, &assertion.site) else {
        return Ok(None);
    };
    let state = take(access, id, purpose).await?;
    let Some(state) = state.and_then(|state| serde_json::from_str(&state).ok()) else {
        return Ok(None);
    };
    let shown = serde_json::from_value::<PublicKeyCredential>(assertion.credential.clone());
    let (Ok(shown), Ok(webauthn)) = (shown, site.webauthn()) else {
        return Ok(None);
    };
    let result = match webauthn.finish_passkey_authentication(&shown, &state) {
        Ok(result) if result.user_verified() => result,
        Ok(_) => return Ok(None),
        Err(error) => {
            tracing::info!(%error, "what an authenticator signed was refused");
            return Ok(None);
        }
    };
    let signed = encoded(result.cred_id());
    for passkey in super::list(access).await? {
        if passkey.credential_id != signed || passkey.relying_party != site.relying_party {
            continue;
        }
        let mut credential = credential(&passkey)?;
        credential.update_credential(&result);
        return Ok(Some(Used {
            id: passkey.id,
            credential: to_text(&credential)?,
            counter: u64::from(result.counter()),
        }));
    }
    Ok(None)
}

/// The passkey that an authenticator made when it was asked to. `None`: it was not asked for that.
pub(super) fn made(
    webauthn: &Webauthn,
    state: Option<String>,
    shown: Value,
) -> Option<AttestedPasskey> {
    let waiting: Registering = serde_json::from_str(&state?).ok()?;
    let shown = serde_json::from_value(shown).ok()?;
    match webauthn.finish_passkey_registration(&shown, &waiting.state) {
        Ok(credential) => Some(AttestedPasskey {
            user_handle: waiting.user_handle.to_string(),
            credential_id: encoded(credential.cred_id()),
            credential: to_text(&credential).ok()?,
        }),
        Err(error) => {
            tracing::info!(%error, "what an authenticator made was refused");
            None
        }
    }
}

/// As the library knows it.
pub(super) fn credential(passkey: &Passkey) -> Result<Credential, StoreError> {
    serde_json::from_str(&passkey.credential).map_err(|error| {
        StoreError::Internal(format!("passkey {} is unreadable: {error}", passkey.id))
    })
}

fn to_text(credential: &Credential) -> Result<String, StoreError> {
    serde_json::to_string(credential)
        .map_err(|error| StoreError::Internal(format!("a passkey cannot be written: {error}")))
}

fn encoded(id: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(id)
}
