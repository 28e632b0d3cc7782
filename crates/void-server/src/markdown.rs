//! Markdown from a model or a stranger, read into a tree of what may be shown: no HTML, no images, and
//! links to addresses of the web, of mailboxes and of this page only. What is not allowed is shown as the
//! text it is. This is the only reader of Markdown for pages; a page draws the tree and reads nothing.

mod bounds;
mod growing;
mod guesses;
mod links;
mod reading;
mod sources;
mod spans;
mod tree;

pub(crate) use self::growing::{Change, GrowingText};
pub(crate) use self::tree::Block;

use self::bounds::Budget;

/// A text that is over.
pub(crate) fn read(text: &str) -> Vec<Block> {
    let reading = reading::read(&sources::guarded(text), Budget::default());
    reading.blocks.into_iter().map(|top| top.block).collect()
}

#[cfg(test)]
mod tests;
