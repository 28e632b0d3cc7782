//! The table `quarantine`: credentials that came back with an older copy of the database. Every look-up of a
//! credential that opens something leaves out what is listed here.

use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::{Row, values};

/// More than one Void has; a list shows no more.
const LISTED_MAX: i64 = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Of an agent, a viewer or a node.
    Token,
    Passkey,
    Password,
    /// An account that answers as the owner.
    Pair,
}

impl Kind {
    pub const ALL: [Self; 4] = [Self::Token, Self::Passkey, Self::Password, Self::Pair];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Passkey => "passkey",
            Self::Password => "password",
            Self::Pair => "pair",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantined {
    pub kind: Kind,
    pub id: String,
    /// What people call it: `agent blue`, a passkey's name, an account's name.
    pub name: String,
    pub made_at: Timestamp,
    pub since: Timestamp,
}

/// Puts every credential in it that is live now. How many are in it then.
pub async fn set_all(tx: &mut Tx, at: Timestamp) -> Result<u64, StoreError> {
    for sql in [
        "INSERT INTO quarantine (kind, id, since_at) SELECT 'token', id, $1 FROM tokens \
         WHERE revoked_at IS NULL ON CONFLICT (kind, id) DO NOTHING",
        "INSERT INTO quarantine (kind, id, since_at) SELECT 'passkey', id, $1 FROM passkeys \
         WHERE true ON CONFLICT (kind, id) DO NOTHING",
        "INSERT INTO quarantine (kind, id, since_at) SELECT 'password', 'owner', $1 FROM passwords \
         WHERE true ON CONFLICT (kind, id) DO NOTHING",
        "INSERT INTO quarantine (kind, id, since_at) SELECT 'pair', target, $1 FROM notification_pairs \
         WHERE ended_at IS NULL ON CONFLICT (kind, id) DO NOTHING",
    ] {
        tx.execute(sql, values![at]).await?;
    }
    count(tx).await
}

/// Voids what is good once and was not used: set-up links, pairing codes, keys of buttons, invitations of
/// nodes, what authenticators were asked.
pub async fn void_one_time(tx: &mut Tx) -> Result<(), StoreError> {
    for sql in [
        "DELETE FROM setup_links WHERE used_at IS NULL",
        "DELETE FROM notification_codes WHERE used_at IS NULL",
        "DELETE FROM notification_keys WHERE used_at IS NULL",
        "DELETE FROM nodes WHERE state = 'invited'",
        "DELETE FROM challenges",
    ] {
        tx.execute(sql, &[]).await?;
    }
    Ok(())
}

pub async fn count(tx: &mut Tx) -> Result<u64, StoreError> {
    tx.count(
        "quarantine",
        "SELECT COUNT(*) AS total FROM quarantine",
        &[],
    )
    .await
}

pub async fn holds(tx: &mut Tx, kind: Kind, id: &str) -> Result<bool, StoreError> {
    let sql = "SELECT id FROM quarantine WHERE kind = $1 AND id = $2";
    let row = tx
        .one("quarantine", sql, values![kind.as_str(), id])
        .await?;
    Ok(row.is_some())
}

/// `false`: it was not in it.
pub async fn lift(tx: &mut Tx, kind: Kind, id: &str) -> Result<bool, StoreError> {
    let sql = "DELETE FROM quarantine WHERE kind = $1 AND id = $2";
    Ok(tx.execute(sql, values![kind.as_str(), id]).await? == 1)
}

/// By kind, the newest first.
pub async fn list(tx: &mut Tx) -> Result<Vec<Quarantined>, StoreError> {
    let sql = "SELECT q.kind, q.id, q.since_at, t.kind AS token_kind, t.name AS token_name, t.created_at AS token_at, \
        p.name AS passkey_name, p.created_at AS passkey_at, w.set_at AS password_at, n.name AS pair_name, \
        n.paired_at AS pair_at FROM quarantine q \
        LEFT JOIN tokens t ON q.kind = 'token' AND t.id = q.id \
        LEFT JOIN passkeys p ON q.kind = 'passkey' AND p.id = q.id \
        LEFT JOIN passwords w ON q.kind = 'password' \
        LEFT JOIN notification_pairs n ON q.kind = 'pair' AND n.target = q.id \
        ORDER BY q.kind, q.id DESC LIMIT $1";
    tx.read("quarantine", sql, values![LISTED_MAX], quarantined)
        .await
}

fn quarantined(row: &Row) -> Result<Quarantined, StoreError> {
    let kind = row.parsed("kind", Kind::parse)?;
    let since = row.time("since_at")?;
    let text = |column| Ok::<_, StoreError>(row.opt_text(column)?.unwrap_or_default().to_owned());
    let (name, made_at) = match kind {
        Kind::Token => (
            format!("{} {}", text("token_kind")?, text("token_name")?),
            row.opt_time("token_at")?,
        ),
        Kind::Passkey => (text("passkey_name")?, row.opt_time("passkey_at")?),
        Kind::Password => (
            "the owner's password".to_owned(),
            row.opt_time("password_at")?,
        ),
        Kind::Pair => (text("pair_name")?, row.opt_time("pair_at")?),
    };
    Ok(Quarantined {
        kind,
        id: row.string("id")?,
        name,
        made_at: made_at.unwrap_or(since),
        since,
    })
}
