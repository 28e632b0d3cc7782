//! What every connection is told before its first use: how long anything may take, and that a commit
//! is on disk when it is answered. Both are set and then read back, never taken from the role, the
//! database or a pooler.
//!
//! Invariant: no call waits without an end, and a transaction that its client has left (a paused
//! instance, a lost network) is ended by the server within [`IDLE_IN_TRANSACTION_MAX`], so nobody
//! holds the row `heads` for longer than that.

use std::time::Duration;

use deadpool_postgres::{ClientWrapper, Hook, HookError};
use tokio_postgres::Client;

use crate::errors::StoreError;

/// A transaction whose client says nothing for so long is ended by the server, with its locks.
pub(super) const IDLE_IN_TRANSACTION_MAX: Duration = Duration::from_secs(4);
/// Longer than the one above: whoever waits behind a paused instance still gets its turn.
pub(super) const LOCK_WITHIN: Duration = Duration::from_secs(6);
pub(super) const STATEMENT_WITHIN: Duration = Duration::from_secs(8);
/// From the connection in hand to the last use case of a batch; the commit comes on top.
pub(super) const BATCH_WITHIN: Duration = Duration::from_secs(12);
pub(super) const COMMIT_WITHIN: Duration = Duration::from_secs(8);
/// How long a commit that was not answered is asked after.
pub(super) const SETTLE_WITHIN: Duration = Duration::from_secs(8);
pub(super) const READ_WITHIN: Duration = Duration::from_secs(15);
/// For one migration; others that start meanwhile wait for it.
const MIGRATION_WITHIN: Duration = Duration::from_secs(600);
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// Sent and not acknowledged by the other machine for so long: the connection is dead.
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(10);
const KEEPALIVES_IDLE: Duration = Duration::from_secs(10);
const KEEPALIVES_INTERVAL: Duration = Duration::from_secs(3);
const KEEPALIVES_RETRIES: u32 = 3;

/// `SET` and not a startup option: poolers drop those.
const fn session_limits() -> [(&'static str, Duration); 3] {
    [
        ("statement_timeout", STATEMENT_WITHIN),
        ("lock_timeout", LOCK_WITHIN),
        (
            "idle_in_transaction_session_timeout",
            IDLE_IN_TRANSACTION_MAX,
        ),
    ]
}

pub(super) fn of_sockets(settings: &mut tokio_postgres::Config) {
    settings
        .connect_timeout(CONNECT_WITHIN)
        .tcp_user_timeout(TCP_USER_TIMEOUT)
        .keepalives(true)
        .keepalives_idle(KEEPALIVES_IDLE)
        .keepalives_interval(KEEPALIVES_INTERVAL)
        .keepalives_retries(KEEPALIVES_RETRIES);
}

/// Runs on each new connection of a pool.
pub(super) fn on_connect() -> Hook {
    Hook::async_fn(|client: &mut ClientWrapper, _| {
        Box::pin(async move {
            prepare(client)
                .await
                .map_err(|error| HookError::message(error.to_string()))
        })
    })
}

/// Sets the limits and the durability of a session and reads them back.
pub(super) async fn prepare(client: &Client) -> Result<(), StoreError> {
    within(CONNECT_WITHIN, "preparing a connection", async {
        set_limits(client).await?;
        set_durable_commits(client).await
    })
    .await
}

async fn set_limits(client: &Client) -> Result<(), StoreError> {
    for (name, limit) in session_limits() {
        set_ms(client, name, limit).await?;
    }
    Ok(())
}

async fn set_ms(client: &Client, name: &str, limit: Duration) -> Result<(), StoreError> {
    let sql = format!("SET SESSION {name} = {}", limit.as_millis());
    Ok(client.batch_execute(&sql).await?)
}

/// Migrations may rewrite tables and wait for those of another instance.
pub(super) async fn allow_migrations(client: &Client) -> Result<(), StoreError> {
    for (name, _) in session_limits() {
        set_ms(client, name, MIGRATION_WITHIN).await?;
    }
    Ok(())
}

/// A commit is answered when it is on disk, whatever the role's or the database's default is.
/// `remote_apply` asks for more than that and stays.
async fn set_durable_commits(client: &Client) -> Result<(), StoreError> {
    const NAME: &str = "synchronous_commit";
    let asks_for_enough = |value: &str| matches!(value, "on" | "remote_apply");
    if asks_for_enough(&setting(client, NAME).await?) {
        return Ok(());
    }
    client
        .batch_execute("SET SESSION synchronous_commit = on")
        .await?;
    let value = setting(client, NAME).await?;
    if asks_for_enough(&value) {
        return Ok(());
    }
    Err(StoreError::Unavailable(format!(
        "PostgreSQL keeps {NAME} = {value}: a crash would lose what was answered; set it to on for this role and database"
    )))
}

/// What the whole cluster must have, or a crash of its machine takes back what was answered.
pub(super) async fn assert_durable(client: &Client) -> Result<(), StoreError> {
    for name in ["fsync", "full_page_writes"] {
        let value = setting(client, name).await?;
        if value != "on" {
            return Err(StoreError::NotDurable(format!(
                "PostgreSQL runs with {name} = {value}; set {name} = on in postgresql.conf and reload it"
            )));
        }
    }
    Ok(())
}

async fn setting(client: &Client, name: &str) -> Result<String, StoreError> {
    let row = client
        .query_one("SELECT current_setting($1)", &[&name])
        .await?;
    Ok(row.try_get(0)?)
}

/// Ends with an error that says what took too long.
pub(super) async fn within<T>(
    limit: Duration,
    what: &str,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    tokio::time::timeout(limit, work)
        .await
        .unwrap_or_else(|_late| Err(late(what, limit)))
}

pub(super) fn late(what: &str, limit: Duration) -> StoreError {
    StoreError::Unavailable(format!("{what} took longer than {} s", limit.as_secs()))
}
