//! How much of a text becomes a tree. What is beyond these bounds is shown as words.

/// Quotes, and lists with their items, within each other; a list counts twice. It is three levels of JSON
/// and a quote is two, so that with the spans a tree stays below the 128 levels that JSON readers take.
pub(super) const DEPTH_MAX: usize = 32;
/// Bold within italic within a link.
pub(super) const SPAN_DEPTH_MAX: usize = 16;
/// Blocks, items and cells of one text.
pub(super) const BLOCKS_MAX: usize = 8 * 1024;
pub(super) const INLINES_MAX: usize = 16 * 1024;
pub(super) const COLUMNS_MAX: usize = 32;
pub(super) const LANGUAGE_BYTES_MAX: usize = 64;
pub(super) const LINK_BYTES_MAX: usize = 2048;

/// What is left of the blocks and inlines of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Budget {
    blocks: usize,
    inlines: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            blocks: BLOCKS_MAX,
            inlines: INLINES_MAX,
        }
    }
}

impl Budget {
    pub(super) const fn is_spent(self) -> bool {
        self.blocks == 0 || self.inlines == 0
    }

    pub(super) const fn spend_block(&mut self) {
        self.blocks = self.blocks.saturating_sub(1);
    }

    pub(super) const fn spend_inline(&mut self) {
        self.inlines = self.inlines.saturating_sub(1);
    }
}
