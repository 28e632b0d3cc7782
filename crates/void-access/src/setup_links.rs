//! Set-up links: a one-time code that opens a session for whoever follows it. What leads here is the
//! owner's token, or a machine whose output only the owner reads.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use void_control::{Ctx, facts, random};
use void_domain::digests::Digest;
use void_domain::secrets::Secret;
use void_domain::time::Timestamp;
use void_store::sessions::Session;
use void_store::{StoreError, setup_links};

use crate::credentials::{self, CredentialError};
use crate::owners::OwnerAccess;

const LINK_LASTS: Duration = Duration::from_secs(60 * 60);

pub struct SetupLink {
    code: Secret,
    pub expires_at: Timestamp,
}

impl SetupLink {
    /// The code is behind the `#`: browsers do not send it, so no log of a proxy or server has it.
    pub fn url(&self, base: &str) -> String {
        let base = base.trim_end_matches('/');
        format!("{base}/#/setup/{}", self.code.expose())
    }
}

/// A link for the owner. It opens a fresh session, so it takes a fresh one, or the owner's token.
pub async fn create(
    access: &OwnerAccess,
    ctx: &Ctx,
    session: Option<&Session>,
) -> Result<SetupLink, CredentialError> {
    credentials::judge_fresh(ctx, session)?;
    Ok(make(access, ctx, Earlier::Stays).await?)
}

/// A link for whoever started the server, as long as nothing is set up.
pub async fn for_first_start(access: &OwnerAccess) -> Result<Option<SetupLink>, StoreError> {
    if credentials::set_up(access).await?.is_done() {
        return Ok(None);
    }
    make(access, &access.control().system_ctx()?, Earlier::Ends)
        .await
        .map(Some)
}

/// What becomes of links that were made before and not followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Earlier {
    Stays,
    /// An earlier start printed it, into a log perhaps.
    Ends,
}

async fn make(access: &OwnerAccess, ctx: &Ctx, earlier: Earlier) -> Result<SetupLink, StoreError> {
    let random: [u8; 32] = random::bytes()?;
    let code = URL_SAFE_NO_PAD.encode(random);
    let hash = Digest::of(code.as_bytes());
    let (context, at) = (
        access.control().context(ctx),
        access.control().clock().now(),
    );
    let expires_at = at.plus(LINK_LASTS);
    access
        .control()
        .store()
        .write(move |tx| {
            Box::pin(async move {
                if earlier == Earlier::Ends {
                    setup_links::void_unused(tx).await?;
                }
                setup_links::insert(tx, hash, at, expires_at).await?;
                let detail = json!({"expires_at": expires_at});
                facts::audit(tx, &context, at, "setup_link.created", None, detail).await
            })
        })
        .await?;
    Ok(SetupLink {
        code: Secret::new(code),
        expires_at,
    })
}
