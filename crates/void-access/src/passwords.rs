//! The owner's password: argon2id, made and checked on blocking threads, few at a time. The memory that it takes is
//! kept and used again: given back, the allocator would keep it for each thread that ever worked.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use argon2::password_hash::PasswordHasher as _;
use argon2::password_hash::phc::Output;
use argon2::{Algorithm, Argon2, Block, Params, PasswordHash, Version};
use serde_json::json;
use void_control::{Ctx, facts, random, sessions};
use void_domain::passwords::{BYTES_MAX, Password};
use void_domain::secrets::Secret;
use void_store::sessions::Session;
use void_store::{StoreError, passwords};

use crate::credentials::{self, CredentialError};
pub use crate::hashing::Busy;
use crate::hashing::Hashing;
use crate::owners::OwnerAccess;

/// Whoever waits longer for their turn is sent away.
const TURN_WAIT_MAX: Duration = Duration::from_secs(5);

/// Who waits for a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    Stranger,
    /// Somebody who is signed in.
    Known,
}

/// Sets the owner's password and ends all other sessions: whoever knew the old one may sit in them. `names` are those by which this lab is known.
pub async fn set(
    access: &OwnerAccess,
    ctx: &Ctx,
    session: Option<&Session>,
    text: &Secret,
    names: &[String],
) -> Result<(), CredentialError> {
    let Some(session) = session else {
        return Err(CredentialError::SessionNeeded);
    };
    let password = Password::parse(text.expose(), names)?;
    credentials::judge_change(access, ctx, Some(session)).await?;
    let salt: [u8; 16] = random::bytes()?;
    let hash = in_turn(&access.shared().hashing, Lane::Known, move |_| {
        let made = Argon2::default().hash_password_with_salt(password.expose().as_bytes(), &salt);
        made.map(|hash| Secret::new(hash.to_string()))
    })
    .await?
    .map_err(|error| StoreError::Internal(format!("the password cannot be hashed: {error}")))?;
    let (context, at, own) = (
        access.control().context(ctx),
        access.control().clock().now(),
        session.id,
    );
    let written = access.control().store().write(move |tx| {
        Box::pin(async move {
            credentials::end_printed_links(tx).await?;
            passwords::set(tx, &hash, at).await?;
            facts::audit(tx, &context, at, "password.set", None, json!({})).await?;
            sessions::end_others(tx, &context, at, Some(own), "password.set").await?;
            Ok::<_, StoreError>(())
        })
    });
    Ok(written.await?)
}

/// Removes it, and ends all other sessions.
pub async fn remove(
    access: &OwnerAccess,
    ctx: &Ctx,
    session: Option<&Session>,
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
                if !passwords::remove(tx).await? {
                    return Err(CredentialError::NotFound);
                }
                facts::audit(tx, &context, at, "password.removed", None, json!({})).await?;
                sessions::end_others(tx, &context, at, own, "password.removed").await?;
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
pub(crate) async fn is_right(
    access: &OwnerAccess,
    shown: &Secret,
    lane: Lane,
) -> Result<bool, CheckError> {
    if shown.expose().len() > BYTES_MAX {
        return Ok(false);
    }
    let stored = access
        .control()
        .store()
        .read(|tx| Box::pin(passwords::find(tx)))
        .await?;
    let Some(stored) = stored else {
        return Ok(false);
    };
    let shown = shown.clone();
    let right = in_turn(&access.shared().hashing, lane, move |memory| {
        is_hash_of(shown.expose().as_bytes(), stored.expose(), memory).unwrap_or(false)
    });
    Ok(right.await?)
}

/// `None`: what is stored is no hash that this can make.
fn is_hash_of(shown: &[u8], stored: &str, memory: &mut Vec<Block>) -> Option<bool> {
    let stored = PasswordHash::new(stored).ok()?;
    let params = Params::try_from(&stored).ok()?;
    let algorithm = Algorithm::try_from(stored.algorithm.as_str()).ok()?;
    let version = stored
        .version
        .map_or(Ok(Version::default()), Version::try_from);
    let (salt, wanted) = (stored.salt?, stored.hash?);
    memory.resize(params.block_count(), Block::default());
    let mut made = [0; Output::MAX_LENGTH];
    let made = made.get_mut(..wanted.len())?;
    let argon2 = Argon2::new(algorithm, version.ok()?, params);
    let hashed = argon2.hash_password_into_with_memory(shown, &salt, made, &mut memory[..]);
    // Nothing of it stays behind.
    memory.fill(Block::default());
    // Outputs are compared in constant time.
    Some(hashed.is_ok() && Output::new(made).is_ok_and(|made| made == wanted))
}

/// Work that takes memory and a core, where it holds nobody up.
async fn in_turn<T: Send + 'static>(
    hashing: &Hashing,
    lane: Lane,
    work: impl FnOnce(&mut Vec<Block>) -> T + Send + 'static,
) -> Result<T, Busy> {
    let turns = match lane {
        Lane::Stranger => &hashing.strangers,
        Lane::Known => &hashing.known,
    };
    let turn = tokio::time::timeout(TURN_WAIT_MAX, Arc::clone(turns).acquire_owned());
    let Ok(Ok(turn)) = turn.await else {
        return Err(Busy);
    };
    // The turn goes along: a caller who hangs up does not make room for another one.
    let spare = Arc::clone(&hashing.spare);
    let working = tokio::task::spawn_blocking(move || {
        let of_before = spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut memory = of_before.unwrap_or_default();
        let done = work(&mut memory);
        // As many as there are turns, at most.
        spare
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(memory);
        drop(turn);
        done
    });
    working.await.map_err(|_| Busy)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::hashing::STRANGERS_AT_ONCE_MAX;

    /// Hashing takes memory: however many ask at once, few are let in at a time.
    #[tokio::test(flavor = "multi_thread")]
    async fn hashes_are_made_two_at_a_time() {
        let hashing = Hashing::default();
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..12 {
            let (hashing, now, most) = (hashing.clone(), Arc::clone(&now), Arc::clone(&most));
            tasks.spawn(async move {
                in_turn(&hashing, Lane::Stranger, move |_| {
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(20));
                    now.fetch_sub(1, Ordering::SeqCst);
                })
                .await
            });
        }
        assert!(tasks.join_all().await.iter().all(Result::is_ok));
        assert_eq!(most.load(Ordering::SeqCst), STRANGERS_AT_ONCE_MAX);
        let spare = hashing.spare.lock().unwrap().len();
        assert!(spare <= STRANGERS_AT_ONCE_MAX, "{spare}");
    }

    #[tokio::test]
    async fn whoever_would_wait_long_is_sent_away() {
        let hashing = Hashing::default();
        let all = u32::try_from(STRANGERS_AT_ONCE_MAX).unwrap();
        let taken = Arc::clone(&hashing.strangers).acquire_many_owned(all);
        let taken = taken.await.unwrap();
        let begun = std::time::Instant::now();
        let known = in_turn(&hashing, Lane::Known, |_| 1).await;
        assert_eq!(known, Ok(1), "who is known does not wait behind strangers");
        assert_eq!(in_turn(&hashing, Lane::Stranger, |_| 1).await, Err(Busy));
        assert!(begun.elapsed() >= TURN_WAIT_MAX);
        drop(taken);
        assert_eq!(in_turn(&hashing, Lane::Stranger, |_| 1).await, Ok(1));
    }

    /// What the other way of checking takes, this one takes, and nothing else; in memory that is used again.
    #[test]
    fn a_hash_is_recognised_in_memory_that_was_used_before() {
        let made = Argon2::default()
            .hash_password_with_salt(b"correct horse battery", &[7; 16])
            .unwrap()
            .to_string();
        let mut memory = Vec::new();
        for _ in 0..2 {
            let is = |shown: &[u8], memory: &mut Vec<Block>| is_hash_of(shown, &made, memory);
            assert_eq!(is(b"correct horse battery", &mut memory), Some(true));
            for wrong in [
                &b""[..],
                b"correct horse batterz",
                b"correct horse battery ",
            ] {
                assert_eq!(is(wrong, &mut memory), Some(false));
            }
        }
        let first = memory.first().map(AsRef::as_ref).unwrap();
        assert_eq!(first, Block::default().as_ref(), "nothing stays in it");
        for broken in [
            "",
            "x",
            "$argon2id$v=19$m=19456,t=2,p=1",
            "$scrypt$ln=1$YWFhYWFhYWE$YWFh",
        ] {
            assert_ne!(is_hash_of(b"x", broken, &mut memory), Some(true));
        }
    }
}
