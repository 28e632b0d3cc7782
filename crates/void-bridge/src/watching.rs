//! A hint that something happened in the folder. Hints may be missed or come in floods; what counts is
//! the look that follows, and the one that comes without any.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Weak};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use tokio::sync::Notify;

use crate::folder::Folder;

/// How long the watching thread may outlive its watcher.
const STOPS_WITHIN: Duration = Duration::from_millis(500);

/// Waits in a thread of its own, which ends soon after this is dropped.
pub(super) struct FolderWatch {
    hints: Arc<Notify>,
}

impl FolderWatch {
    pub(super) fn start(folder: &Folder) -> io::Result<Self> {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let flags = WatchFlags::CLOSE_WRITE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::ONLYDIR;
        for path in folder.watchable() {
            inotify::add_watch(&inotify, path, flags)?;
        }
        let hints = Arc::new(Notify::new());
        let heard = Arc::downgrade(&hints);
        std::thread::Builder::new()
            .name("bridge".to_owned())
            .spawn(move || listen(&inotify, &heard))?;
        Ok(Self { hints })
    }

    pub(super) async fn changed(&self) {
        self.hints.notified().await;
    }
}

fn listen(inotify: &OwnedFd, heard: &Weak<Notify>) {
    let patience = Timespec::try_from(STOPS_WITHIN).ok();
    let mut buffer = [0_u8; 4096];
    loop {
        let mut waiting = [PollFd::new(inotify, PollFlags::IN)];
        let ready = poll(&mut waiting, patience.as_ref());
        let Some(hints) = heard.upgrade() else {
            return;
        };
        match ready {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => {
                // What the events say does not matter; an overflow is a hint like any other.
                let _ = rustix::io::read(inotify, &mut buffer);
                hints.notify_one();
            }
            Err(_) => return,
        }
    }
}
