//! What was read is used again while nobody has committed anything.
//!
//! Every answer is kept beside the [`Version`] of the database that was taken *before* it was read, and is given
//! out only if the version that is asked for now is equal to that one. So whoever revokes, withdraws, ends,
//! freezes or edits a row, in this process or in another, is believed by the very next question. Where the
//! database cannot say its version nothing is remembered at all.

use std::any::Any;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use void_domain::actors::ActorKind;
use void_domain::digests::Digest;
use void_domain::freezes::Freeze;
use void_domain::ids::{ActionId, ProposalId};
use void_domain::knowledge::{Entity, RunbookName};
use void_domain::time::Timestamp;
use void_store::sessions::Session;
use void_store::tokens::Token;
use void_store::{Store, StoreError, Version};

/// Answers of each kind.
const KEPT_MAX: usize = 1_024;
/// Pages of the inbox, of which each may take megabytes.
const INBOXES_KEPT_MAX: usize = 4;
/// However quiet the database is, it is asked again after this.
const LASTS: Duration = Duration::from_secs(60);
/// The same for what changes with the time too.
const LASTS_SHORT: Duration = Duration::from_secs(1);

pub(crate) struct Remembered {
    /// Live tokens, by the hash of what was shown.
    pub(crate) tokens: Memory<Digest, Token>,
    /// Sessions that have not ended, by the hash of the cookie. Whether one is over by time is judged at every use.
    pub(crate) sessions: Memory<Digest, Session>,
    pub(crate) freeze: Memory<(), Freeze>,
    pub(crate) cooling: Memory<ActorKind, Vec<(ActionId, Timestamp)>>,
    /// Pages of the inbox, by where they begin and how long they are; what a page is, its use case knows.
    pub(crate) inboxes: Memory<(Option<ProposalId>, u32), Arc<dyn Any + Send + Sync>>,
    /// What the owner's pages say about actions; its use case bounds how many pages are read for it.
    pub(crate) action_runbooks: Memory<(), Arc<Vec<(RunbookName, Entity)>>>,
}

impl Default for Remembered {
    fn default() -> Self {
        Self {
            tokens: Memory::lasting(LASTS, KEPT_MAX),
            sessions: Memory::lasting(LASTS, KEPT_MAX),
            freeze: Memory::lasting(LASTS, KEPT_MAX),
            cooling: Memory::lasting(LASTS_SHORT, KEPT_MAX),
            inboxes: Memory::lasting(LASTS, INBOXES_KEPT_MAX),
            action_runbooks: Memory::lasting(LASTS, 1),
        }
    }
}

/// Answers that were read at one version of the database.
pub(crate) struct Memory<K, V> {
    lasts: Duration,
    kept_max: usize,
    kept: Mutex<Kept<K, V>>,
}

struct Kept<K, V> {
    version: Option<Version>,
    answers: HashMap<K, (Instant, V)>,
}

impl<K: Copy + Eq + Hash, V: Clone> Memory<K, V> {
    fn lasting(lasts: Duration, kept_max: usize) -> Self {
        let kept = Kept {
            version: None,
            answers: HashMap::new(),
        };
        Self {
            lasts,
            kept_max,
            kept: Mutex::new(kept),
        }
    }

    /// The answer, remembered or read. That there is none is not remembered: a stranger fills no memory.
    pub(crate) async fn find(
        &self,
        store: &Store,
        key: K,
        read: impl Future<Output = Result<Option<V>, StoreError>>,
    ) -> Result<Option<V>, StoreError> {
        // Before it is read, so that whatever is committed meanwhile makes another version of it.
        let version = store.version();
        if let Some(answer) = version.and_then(|version| self.get(version, key)) {
            return Ok(Some(answer));
        }
        let found = read.await?;
        if let (Some(version), Some(answer)) = (version, &found) {
            self.keep(version, key, answer.clone());
        }
        Ok(found)
    }

    fn get(&self, version: Version, key: K) -> Option<V> {
        let kept = self.lock();
        if kept.version != Some(version) {
            return None;
        }
        let (since, answer) = kept.answers.get(&key)?;
        (since.elapsed() < self.lasts).then(|| answer.clone())
    }

    fn keep(&self, version: Version, key: K, answer: V) {
        let mut kept = self.lock();
        let is_full = kept.answers.len() >= self.kept_max && !kept.answers.contains_key(&key);
        if kept.version != Some(version) || is_full {
            kept.answers.clear();
            kept.version = Some(version);
        }
        kept.answers.insert(key, (Instant::now(), answer));
    }

    fn lock(&self) -> MutexGuard<'_, Kept<K, V>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use void_store::SqliteConfig;

    use super::*;

    /// Counts how often somebody had to read.
    struct Reads(AtomicU32);

    impl Reads {
        async fn of(&self, found: Option<u32>) -> Result<Option<u32>, StoreError> {
            self.0.fetch_add(1, Ordering::SeqCst);
            Ok(found)
        }

        fn so_far(&self) -> u32 {
            self.0.load(Ordering::SeqCst)
        }
    }

    #[tokio::test]
    async fn an_answer_is_read_again_after_any_commit_and_in_time_and_none_is_kept_of_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("void.db");
        let store = Store::open_sqlite(SqliteConfig::new(&path)).await.unwrap();
        let (memory, reads) = (Memory::lasting(LASTS, 8), Reads(AtomicU32::new(0)));
        for _ in 0..5 {
            let found = memory.find(&store, 1, reads.of(Some(7))).await;
            assert_eq!((found, reads.so_far()), (Ok(Some(7)), 1));
        }
        let foreign = rusqlite::Connection::open(&path).unwrap();
        for round in 2..6 {
            let edit = format!("PRAGMA user_version = {round}");
            foreign.execute_batch(&edit).unwrap();
            let found = memory.find(&store, 1, reads.of(Some(8))).await;
            assert_eq!((found, reads.so_far()), (Ok(Some(8)), round));
        }
        for round in 6..9 {
            let found = memory.find(&store, 2, reads.of(None)).await;
            assert_eq!((found, reads.so_far()), (Ok(None), round));
        }
        let brief = Memory::lasting(Duration::ZERO, 8);
        for round in 9..12 {
            let found = brief.find(&store, 1, reads.of(Some(7))).await;
            assert_eq!((found, reads.so_far()), (Ok(Some(7)), round));
        }
    }

    #[tokio::test]
    async fn what_is_remembered_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("void.db");
        let store = Store::open_sqlite(SqliteConfig::new(&path)).await.unwrap();
        let memory = Memory::lasting(LASTS, KEPT_MAX);
        for key in 0..3 * KEPT_MAX {
            let found = memory.find(&store, key, async { Ok(Some(key)) }).await;
            assert_eq!(found, Ok(Some(key)));
            assert!(memory.lock().answers.len() <= KEPT_MAX);
        }
    }
}
