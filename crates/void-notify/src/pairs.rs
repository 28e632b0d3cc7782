//! Pairing: the owner makes a one-time code, and the account that sends it back is the owner's.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use void_control::Ctx;
use void_control::outbox;
use void_control::{facts, random};
use void_domain::digests::Digest;
use void_domain::notifications::{Channel, Target};
use void_domain::text;
use void_domain::time::Timestamp;
use void_store::StoreError;
use void_store::notifications::pairs::{self, Pair};

use crate::notifications::Notifications;

const CODE_LASTS: Duration = Duration::from_secs(10 * 60);
const NAME_BYTES_MAX: usize = 64;

#[derive(Debug, thiserror::Error)]
pub enum PairError {
    #[error("only the owner pairs")]
    OwnerOnly,
    #[error("telegram is not set up: there is no bot token")]
    NotSetUp,
    #[error("telegram does not answer: {0}")]
    Unreachable(String),
    #[error("there is no such pair")]
    NotFound,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What the owner opens on the phone.
pub struct Invitation {
    /// `https://t.me/bot?start=code`
    pub link: String,
    pub bot: String,
    pub expires_at: Timestamp,
}

pub async fn invite(notify: &Notifications, ctx: &Ctx) -> Result<Invitation, PairError> {
    if !ctx.actor.is_owner() {
        return Err(PairError::OwnerOnly);
    }
    let bot = notify.notifiers.telegram().ok_or(PairError::NotSetUp)?;
    let name = bot.name().await.map_err(PairError::Unreachable)?;
    let random: [u8; 16] = random::bytes()?;
    let code = URL_SAFE_NO_PAD.encode(random);
    let hash = Digest::of(code.as_bytes());
    let (context, at) = (notify.control().context(ctx), notify.now());
    let expires_at = at.plus(CODE_LASTS);
    notify
        .store()
        .write(move |tx| {
            Box::pin(async move {
                pairs::insert_code(tx, hash, Channel::Telegram, at, expires_at).await?;
                let detail = json!({"channel": "telegram", "expires_at": expires_at});
                facts::audit(tx, &context, at, "pairing.offered", None, detail).await
            })
        })
        .await?;
    Ok(Invitation {
        link: format!("https://t.me/{name}?start={code}"),
        bot: name,
        expires_at,
    })
}

/// An account sends a code back. `false`: the code is not good.
pub(super) async fn accept(
    notify: &Notifications,
    target: &Target,
    name: &str,
    code: &str,
) -> Result<bool, StoreError> {
    let hash = Digest::of(code.as_bytes());
    let (context, at) = (
        notify.control().context(&notify.control().system_ctx()?),
        notify.now(),
    );
    let outbox = notify.control().outbox().clone();
    let pair = Pair {
        target: target.clone(),
        name: text::escaped(text::cut(name, NAME_BYTES_MAX)),
        paired_at: at,
    };
    notify
        .store()
        .write(move |tx| {
            Box::pin(async move {
                if !pairs::use_code(tx, hash, Channel::Telegram, at).await? {
                    return Ok(false);
                }
                pairs::save(tx, &pair).await?;
                let detail = json!({"target": pair.target.to_string(), "name": pair.name});
                facts::audit(tx, &context, at, "pairing.accepted", None, detail).await?;
                outbox::tell_waiting(tx, &outbox, &pair.target, at).await?;
                Ok(true)
            })
        })
        .await
}

/// Nothing more is sent there, and nothing that comes from there is heard.
pub async fn unpair(notify: &Notifications, ctx: &Ctx, target: Target) -> Result<(), PairError> {
    if !ctx.actor.is_owner() {
        return Err(PairError::OwnerOnly);
    }
    let (context, at) = (notify.control().context(ctx), notify.now());
    notify
        .store()
        .write_closing(move |tx| {
            Box::pin(async move {
                if !pairs::end(tx, &target, at).await? {
                    return Err(PairError::NotFound);
                }
                let detail = json!({"target": target.to_string()});
                facts::audit(tx, &context, at, "pairing.ended", None, detail).await?;
                Ok(())
            })
        })
        .await
}
