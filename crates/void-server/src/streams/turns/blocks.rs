//! The text of a turn as blocks, for whoever draws it. They are told at a pace that neither reading them
//! nor sending them takes much, however long the block is that is being written.

use std::time::Duration;

use tokio::time::Instant;

use crate::markdown::{Change, GrowingText};

/// As often as an eye notices.
const EVERY: Duration = Duration::from_millis(50);
/// A block that is long is told less often.
const BYTES_PER_SECOND: u32 = 256 * 1024;

#[derive(Default)]
pub(super) struct BlockTeller {
    text: GrowingText,
    /// Nothing is told before.
    rest_until: Option<Instant>,
}

impl BlockTeller {
    pub(super) fn hear(&mut self, text: &str) {
        self.text.push(text);
    }

    /// When there is something to tell.
    pub(super) fn due_at(&self) -> Option<Instant> {
        let rest_until = self.rest_until.unwrap_or_else(Instant::now);
        self.text.is_new().then_some(rest_until)
    }

    /// What changed, as the data of an event.
    pub(super) fn next(&mut self) -> Option<String> {
        let change = self.text.change();
        self.tell(change)
    }

    /// The same, when no more text comes.
    pub(super) fn last(&mut self) -> Option<String> {
        let change = self.text.end();
        self.tell(change)
    }

    fn tell(&mut self, change: Option<Change>) -> Option<String> {
        let data = change.and_then(|change| serde_json::to_string(&change).ok());
        let bytes = data.as_ref().map_or(0, String::len);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let rest = Duration::from_secs(1) * bytes / BYTES_PER_SECOND;
        self.rest_until = Some(Instant::now() + rest.max(EVERY));
        data
    }
}
