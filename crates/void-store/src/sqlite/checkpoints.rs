//! Brings the write-ahead log into the database file, beside the writer.
//!
//! SQLite would do it inside a commit, every 4 MB, while everybody waits. Here a thread with a connection of its own copies what
//! is in the log, and the writer copies the rest between two batches: only then can the log begin anew under load. Nothing
//! about durability changes: a commit is on disk when it is in the log.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::thread::JoinHandle;

use rusqlite::Connection;
use rusqlite::hooks::Wal;

use super::{Access, connect};
use crate::errors::StoreError;

/// Pages in the log from which on it is copied: 16 MB.
const LOG_PAGES: u32 = 4_096;
const CHECKPOINT: &str = "PRAGMA wal_checkpoint(PASSIVE)";

pub(super) struct Checkpoints {
    /// How long the log is, as of the last commit.
    log_pages: Arc<AtomicU32>,
    /// Both until the end: without the first the thread ends.
    asked: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    /// The thread has copied what it found; what came meanwhile is the writer's.
    copied: Arc<AtomicBool>,
}

impl Checkpoints {
    /// Starts the thread; it ends with the writer, before another process may have the database.
    pub(super) fn start(path: &Path, writer: &mut Connection) -> Result<Self, StoreError> {
        let log_pages = Arc::new(AtomicU32::new(0));
        let seen = Arc::clone(&log_pages);
        writer.wal_hook(Some(move |_: &mut Wal, pages: i32| {
            seen.store(u32::try_from(pages).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        }))?;
        let connection = connect(path, Access::ReadWrite)?;
        let (asked, asks) = mpsc::sync_channel(1);
        let copied = Arc::new(AtomicBool::new(false));
        let done = Arc::clone(&copied);
        let work = move || {
            while asks.recv().is_ok() {
                copy(&connection);
                done.store(true, Ordering::Release);
            }
        };
        let thread = std::thread::Builder::new()
            .name("void-checkpoint".to_owned())
            .spawn(work)
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Self {
            log_pages,
            asked: Some(asked),
            thread: Some(thread),
            copied,
        })
    }

    /// After a commit, outside any transaction.
    pub(super) fn after_commit(&self, writer: &Connection) {
        if self.copied.swap(false, Ordering::AcqRel) {
            copy(writer);
        } else if self.log_pages.load(Ordering::Relaxed) >= LOG_PAGES
            && let Some(asked) = &self.asked
        {
            // Full: it is at work, or will be.
            let _ = asked.try_send(());
        }
    }
}

impl Drop for Checkpoints {
    /// A connection that closes may write to the file: not after the writer has given back its lock.
    fn drop(&mut self) {
        drop(self.asked.take());
        if let Some(thread) = self.thread.take() {
            // It ends by itself; one that panicked has nothing to say.
            let _ = thread.join();
        }
    }
}

/// What cannot be copied now stays in the log, where it is safe.
fn copy(connection: &Connection) {
    if let Err(error) = connection.query_row(CHECKPOINT, [], |_| Ok(())) {
        tracing::warn!(%error, "the log of the database could not be copied; it is tried again");
    }
}
