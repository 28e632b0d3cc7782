//! The owner's password: argon2id, made and checked on blocking threads, few at a time.

use std::sync::Arc;
use std::time::Duration;

use argon2::Argon2;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use serde_json::json;
use tokio::sync::Semaphore;
use void_domain::passwords::{BYTES_MAX, Password};
use void_domain::secrets::Secret;
use void_store::sessions::Session;
use void_store::{StoreError, passwords};

use crate::context::Ctx;
use crate::control::Control;
use crate::credentials::{self, CredentialError};
use crate::{random, records};

/// Each takes 19 MiB while it runs, and a core.
pub(crate) const HASHES_AT_ONCE_MAX: usize = 2;
/// Whoever waits longer for their turn is sent away.
const TURN_WAIT_MAX: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many passwords are being checked; wait a little")]
pub struct Busy;

/// Sets the owner's password. `names` are those by which this lab is known.
pub async fn set(
    control: &Control,
    ctx: &Ctx,
    session: Option<&Session>,
    text: &Secret,
    names: &[String],
) -> Result<(), CredentialError> {
    let Some(session) = session else {
        return Err(CredentialError::SessionNeeded);
    };
    let password = Password::parse(text.expose(), names)?;
    credentials::judge_change(control, ctx, Some(session)).await?;
    let salt: [u8; 16] = random::bytes()?;
    let hash = in_turn(&control.hashing, move || {
        let made = Argon2::default().hash_password_with_salt(password.expose().as_bytes(), &salt);
        made.map(|hash| Secret::new(hash.to_string()))
    })
    .await?
    .map_err(|error| StoreError::Internal(format!("the password cannot be hashed: {error}")))?;
    let (scribe, at) = (control.scribe(ctx), control.clock.now());
    let written = control.store.write(move |tx| {
        Box::pin(async move {
            credentials::end_printed_links(tx).await?;
            passwords::set(tx, &hash, at).await?;
            records::audit(tx, &scribe, at, "password.set", None, json!({})).await
        })
    });
    Ok(written.await?)
}

/// Removes it; sessions that it opened stay.
pub async fn remove(
    control: &Control,
    ctx: &Ctx,
    session: Option<&Session>,
) -> Result<(), CredentialError> {
    credentials::judge_change(control, ctx, session).await?;
    let (scribe, at) = (control.scribe(ctx), control.clock.now());
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                if !passwords::remove(tx).await? {
                    return Err(CredentialError::NotFound);
                }
                records::audit(tx, &scribe, at, "password.removed", None, json!({})).await?;
                Ok(())
            })
        })
        .await
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckError {
    #[error(transparent)]
    Busy(#[from] Busy),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Whether this is the owner's password. Without one, nothing is.
pub(crate) async fn is_right(control: &Control, shown: &Secret) -> Result<bool, CheckError> {
    if shown.expose().len() > BYTES_MAX {
        return Ok(false);
    }
    let stored = control
        .store
        .read(|tx| Box::pin(passwords::find(tx)))
        .await?;
    let Some(stored) = stored else {
        return Ok(false);
    };
    let shown = shown.clone();
    let right = in_turn(&control.hashing, move || {
        Argon2::default()
            .verify_password(shown.expose().as_bytes(), stored.expose())
            .is_ok()
    });
    Ok(right.await?)
}

/// Work that takes memory and a core, where it holds nobody up.
async fn in_turn<T: Send + 'static>(
    turns: &Arc<Semaphore>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Busy> {
    let turn = tokio::time::timeout(TURN_WAIT_MAX, Arc::clone(turns).acquire_owned());
    let Ok(Ok(turn)) = turn.await else {
        return Err(Busy);
    };
    // The turn goes along: a caller who hangs up does not make room for another one.
    let working = tokio::task::spawn_blocking(move || {
        let done = work();
        drop(turn);
        done
    });
    working.await.map_err(|_| Busy)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Hashing takes memory: however many ask at once, few are let in at a time.
    #[tokio::test(flavor = "multi_thread")]
    async fn hashes_are_made_two_at_a_time() {
        let turns = Arc::new(Semaphore::new(HASHES_AT_ONCE_MAX));
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..12 {
            let (turns, now, most) = (Arc::clone(&turns), Arc::clone(&now), Arc::clone(&most));
            tasks.spawn(async move {
                in_turn(&turns, move || {
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(20));
                    now.fetch_sub(1, Ordering::SeqCst);
                })
                .await
            });
        }
        assert!(tasks.join_all().await.iter().all(Result::is_ok));
        assert_eq!(most.load(Ordering::SeqCst), HASHES_AT_ONCE_MAX);
    }

    #[tokio::test]
    async fn whoever_would_wait_long_is_sent_away() {
        let turns = Arc::new(Semaphore::new(1));
        let taken = Arc::clone(&turns).acquire_owned().await.unwrap();
        let begun = std::time::Instant::now();
        assert_eq!(in_turn(&turns, || 1).await, Err(Busy));
        assert!(begun.elapsed() >= TURN_WAIT_MAX);
        drop(taken);
        assert_eq!(in_turn(&turns, || 1).await, Ok(1));
    }
}
