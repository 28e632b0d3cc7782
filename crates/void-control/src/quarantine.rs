//! What an older copy of the database brings back opens nothing by itself.
//!
//! A copy does not know what was revoked since it was made: a token that was withdrawn looks live in it.
//! So whoever puts one in place, by command or by hand, ends all sessions, voids everything that is good
//! once, puts every credential into quarantine and freezes. The owner's token, which is in the settings and
//! not in the database, is the way back in; with it the owner confirms each credential, or removes it.

use serde_json::json;
use void_domain::actors::Actor;
use void_domain::events::Audience;
use void_domain::freezes::{Freeze, Frozen};
use void_domain::ids::PasskeyId;
use void_domain::notifications::Target;
use void_domain::time::Timestamp;
use void_store::notifications::pairs;
use void_store::{StoreError, Tx, events, passkeys, passwords, quarantine, tokens};

use crate::context::Ctx;
use crate::control::Control;
use crate::facts::{self, AuditContext};
use crate::proposals::void_open;
use crate::{agents, freezes, mutes, questions, random, sessions};

pub use void_store::quarantine::{Kind, Quarantined};

/// Why, if it is known.
pub(crate) const RESTORED: &str = "an older copy of the database was put in place";
const NEXT: &str = "void quarantine ls shows what to confirm";

#[derive(Debug, thiserror::Error)]
pub enum QuarantineError {
    #[error("only the owner confirms what came back")]
    OwnerOnly,
    #[error("there is no such credential in quarantine")]
    NotFound,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What became of the copy's contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShutDown {
    /// Open proposals that are void now.
    pub voided: u64,
    pub sessions_ended: u64,
    pub quarantined: u64,
}

/// In the transaction that raised the epoch and records that an older copy is in place, or may be: `why` says
/// which.
pub(crate) async fn shut_down(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    why: &str,
    lost_seq: u64,
) -> Result<ShutDown, StoreError> {
    let random = u32::from_le_bytes(random::bytes()?);
    events::renumber(tx, lost_seq, random)?;
    let voided = void_open(tx, context, at).await?;
    let sessions_ended = sessions::end_others(tx, context, at, None, "restored").await?;
    quarantine::void_one_time(tx).await?;
    mutes::lift_all(tx, context, at).await?;
    questions::end_older_copy(tx, context, at).await?;
    let quarantined = quarantine::set_all(tx, at).await?;
    let detail = json!({"quarantined": quarantined, "sessions_ended": sessions_ended});
    // Streams look again at who is listening.
    let fact = ("quarantine.set", None, detail);
    facts::tell_of(tx, context, at, Audience::OwnerOnly, fact).await?;
    let current = void_store::freezes::load(tx).await?;
    let holds_for_good = matches!(&current, Freeze::Frozen(frozen) if frozen.until.is_none());
    if !holds_for_good {
        let freeze = Freeze::Frozen(Frozen {
            by: Actor::System.to_string(),
            at,
            reason: Some(format!("{why}; {NEXT}")),
            until: None,
        });
        freezes::save(tx, context, at, "freeze.set", &freeze).await?;
    }
    Ok(ShutDown {
        voided,
        sessions_ended,
        quarantined,
    })
}

pub async fn list(control: &Control) -> Result<Vec<Quarantined>, StoreError> {
    control
        .store
        .read(|tx| Box::pin(quarantine::list(tx)))
        .await
}

/// What the owner says of a credential that came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// The owner knows it: it opens again what it opened.
    Confirm,
    /// The owner does not know it, or had revoked it: it is gone for good.
    Remove,
}

pub async fn decide(
    control: &Control,
    ctx: &Ctx,
    kind: Kind,
    id: String,
    said: Said,
) -> Result<(), QuarantineError> {
    if !ctx.actor.is_owner() {
        return Err(QuarantineError::OwnerOnly);
    }
    let (context, at) = (control.context(ctx), control.clock.now());
    // Also where the disk is nearly full: it is a matter of rows that are there already.
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                if !quarantine::lift(tx, kind, &id).await? {
                    return Err(QuarantineError::NotFound);
                }
                let verb = match said {
                    Said::Confirm => "quarantine.confirmed",
                    Said::Remove => {
                        withdraw(tx, kind, &id, at).await?;
                        "quarantine.removed"
                    }
                };
                let detail = json!({"kind": kind.as_str()});
                facts::audit(tx, &context, at, verb, Some(id.clone()), detail).await?;
                if let (Kind::Token, Said::Remove, Ok(token)) = (kind, said, id.parse()) {
                    agents::withdraw_without_tokens(tx, &context, at, token).await?;
                }
                Ok(())
            })
        })
        .await
}

async fn withdraw(tx: &mut Tx, kind: Kind, id: &str, at: Timestamp) -> Result<(), StoreError> {
    let corrupt = || StoreError::Internal(format!("no credential can have the id {id}"));
    match kind {
        Kind::Token => tokens::revoke(tx, id.parse().map_err(|_| corrupt())?, at).await?,
        Kind::Passkey => {
            let id: PasskeyId = id.parse().map_err(|_| corrupt())?;
            passkeys::remove(tx, id).await?
        }
        Kind::Password => passwords::remove(tx).await?,
        Kind::Pair => pairs::end(tx, &Target::parse(id).ok_or_else(corrupt)?, at).await?,
    };
    Ok(())
}
