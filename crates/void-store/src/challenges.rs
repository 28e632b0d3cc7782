//! The table `challenges`: what authenticators were asked to sign. Each is taken once, whatever the
//! answer to it is worth.

use void_domain::ids::{ChallengeId, SessionId};
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::values;

/// What an answer is good for, and for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Opening a session.
    Login,
    /// Proving again who is behind this session.
    Confirm(SessionId),
    /// Making a passkey in this session.
    Register(SessionId),
}

impl Purpose {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Login => "login",
            Self::Confirm(_) => "confirm",
            Self::Register(_) => "register",
        }
    }

    fn session(self) -> Option<String> {
        match self {
            Self::Login => None,
            Self::Confirm(id) | Self::Register(id) => Some(id.to_string()),
        }
    }
}

/// Of each kind only the newest `keep` stay; what is over goes.
pub async fn insert(
    tx: &mut Tx,
    id: ChallengeId,
    purpose: Purpose,
    state: &str,
    now: Timestamp,
    expires_at: Timestamp,
    keep: u32,
) -> Result<(), StoreError> {
    tx.execute(
        "DELETE FROM challenges WHERE expires_at <= $1",
        values![now],
    )
    .await?;
    let sql = "DELETE FROM challenges WHERE purpose = $1 AND id NOT IN \
        (SELECT id FROM challenges WHERE purpose = $1 ORDER BY id DESC LIMIT $2)";
    let others = i64::from(keep.saturating_sub(1));
    tx.execute(sql, values![purpose.as_str(), others]).await?;
    let sql = "INSERT INTO challenges (id, purpose, session_id, state, expires_at) VALUES ($1, $2, $3, $4, $5)";
    let row = values![
        id.to_string(),
        purpose.as_str(),
        purpose.session(),
        state,
        expires_at
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

/// Takes the state of a challenge away. `None`: there is none for this purpose, or its time is over.
/// Even one that was made for something else is gone then.
pub async fn take(
    tx: &mut Tx,
    id: ChallengeId,
    purpose: Purpose,
    now: Timestamp,
) -> Result<Option<String>, StoreError> {
    let sql = "SELECT id, purpose, session_id, state, expires_at FROM challenges WHERE id = $1";
    let found = tx.one("challenges", sql, values![id.to_string()]).await?;
    let Some(row) = found else {
        return Ok(None);
    };
    tx.execute(
        "DELETE FROM challenges WHERE id = $1",
        values![id.to_string()],
    )
    .await?;
    let fits = row.text("purpose")? == purpose.as_str()
        && row.opt_text("session_id")? == purpose.session().as_deref()
        && row.time("expires_at")? > now;
    Ok(if fits {
        Some(row.string("state")?)
    } else {
        None
    })
}
