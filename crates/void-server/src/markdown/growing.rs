//! A text that is being written, as a tree. A block is finished when nothing that may still come changes
//! it; it is read no more. What is read again is the tail: the block that is being written and, while its
//! first line is not whole, the one before it.

use serde::Serialize;

use super::bounds::Budget;
use super::guesses::completed;
use super::reading::{Reading, TopBlock, read};
use super::sources::guarded;
use super::tree::{Block, Inline};

#[derive(Debug, Default)]
pub(crate) struct GrowingText {
    /// The source of what is not finished.
    tail: String,
    /// How many blocks are finished, and what is left after them.
    finished: usize,
    budget: Budget,
    /// The blocks after those as they were told last.
    told: Vec<Block>,
    /// Whether there is something that was not told.
    is_new: bool,
}

/// What became of the blocks. Those before `from` stay; the others are now `blocks`; then `more` is added
/// to the last text of the last block.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Change {
    pub from: usize,
    pub blocks: Vec<Block>,
    pub more: String,
    /// So many blocks will not change any more.
    pub finished: usize,
}

impl GrowingText {
    pub(crate) fn push(&mut self, text: &str) {
        self.tail.push_str(text);
        self.is_new |= !text.is_empty();
    }

    /// Whether text came that was not told.
    pub(crate) const fn is_new(&self) -> bool {
        self.is_new
    }

    /// What changed since the last time.
    pub(crate) fn change(&mut self) -> Option<Change> {
        let before = self.finished;
        let (mut blocks, open) = self.finish_blocks();
        let guess = completed(&self.tail);
        if guess == self.tail || ends_in_code(&open) {
            blocks.extend(open);
        } else {
            blocks.extend(self.read(&guess));
        }
        self.tell(before, blocks)
    }

    /// What changed since the last time, of a text that is over.
    pub(crate) fn end(&mut self) -> Option<Change> {
        let blocks = self.read(&self.tail);
        let before = self.finished;
        self.finished += blocks.len();
        self.tail.clear();
        self.tell(before, blocks)
    }

    fn read(&self, source: &str) -> Vec<Block> {
        let reading = read(&guarded(source), self.budget);
        reading.blocks.into_iter().map(|top| top.block).collect()
    }

    /// Takes the finished blocks from the tail. Those, and the rest as it is without guesses.
    fn finish_blocks(&mut self) -> (Vec<Block>, Vec<Block>) {
        let source = guarded(&self.tail);
        let reading = read(&source, self.budget);
        let count = finished(&reading, &source);
        let mut blocks = reading.blocks;
        let open = blocks.split_off(count);
        if let (Some(last), Some(first)) = (blocks.last(), open.first()) {
            self.budget = last.budget;
            self.finished += count;
            // The guarded source has other letters, but the same lines.
            let before = source.get(..first.from).unwrap_or_default();
            self.drop_lines(before.matches('\n').count());
        }
        let bare = |blocks: Vec<TopBlock>| blocks.into_iter().map(|top| top.block).collect();
        (bare(blocks), bare(open))
    }

    fn drop_lines(&mut self, lines: usize) {
        let mut ends = self.tail.match_indices('\n').map(|(at, _)| at + 1);
        if let Some(end) = lines.checked_sub(1).and_then(|last| ends.nth(last)) {
            self.tail.drain(..end);
        }
    }

    /// Says how the blocks from a place on differ from what was told.
    fn tell(&mut self, before: usize, blocks: Vec<Block>) -> Option<Change> {
        self.is_new = false;
        let same = self.told.iter().zip(&blocks);
        let same = same.take_while(|(old, new)| old == new).count();
        let told = std::mem::take(&mut self.told);
        let more = match (told.get(same..), blocks.get(same..)) {
            (Some([old]), Some([new])) => grown_block(old, new),
            _ => None,
        };
        let is_same = same == told.len() && same == blocks.len();
        let kept = if more.is_some() { same + 1 } else { same };
        let change = Change {
            from: before + kept,
            blocks: blocks.get(kept..).unwrap_or_default().to_vec(),
            more: more.unwrap_or_default().to_owned(),
            finished: self.finished,
        };
        self.told = blocks;
        self.told
            .drain(..(self.finished - before).min(self.told.len()));
        (!is_same || self.finished > before).then_some(change)
    }
}

/// How many of the blocks cannot change any more, whatever is added to the source.
fn finished(reading: &Reading, source: &str) -> usize {
    let count = reading.blocks.len();
    let Some(last) = reading.blocks.last() else {
        return 0;
    };
    let rest = source.get(last.from..).unwrap_or_default();
    // Half a line may still turn out to belong to the block before it; a table is one by its second line.
    let lines = if matches!(last.block, Block::Table { .. }) {
        2
    } else {
        1
    };
    let is_whole = rest.matches('\n').count() >= lines;
    count
        .saturating_sub(if is_whole { 1 } else { 2 })
        .min(reading.within)
}

/// Whether the last line is code, in which no mark is open.
fn ends_in_code(blocks: &[Block]) -> bool {
    match blocks.last() {
        Some(Block::Code { .. }) => true,
        Some(Block::Quote { blocks }) => ends_in_code(blocks),
        Some(Block::List { items, .. }) => items.last().is_some_and(|item| ends_in_code(item)),
        _ => false,
    }
}

/// What was added to the last text of a block, if nothing else is different.
fn grown_block<'a>(old: &Block, new: &'a Block) -> Option<&'a str> {
    match (old, new) {
        (Block::Paragraph { inlines: old }, Block::Paragraph { inlines: new }) => {
            grown_inlines(old, new)
        }
        (
            Block::Heading {
                level,
                inlines: old,
            },
            Block::Heading {
                level: other,
                inlines: new,
            },
        ) if level == other => grown_inlines(old, new),
        (
            Block::Code {
                language,
                text: old,
            },
            Block::Code {
                language: other,
                text: new,
            },
        ) if language == other => grown_text(old, new),
        (Block::Quote { blocks: old }, Block::Quote { blocks: new }) => grown_blocks(old, new),
        (
            Block::List {
                start,
                tight,
                items: old,
            },
            Block::List {
                start: other_start,
                tight: other_tight,
                items: new,
            },
        ) if start == other_start && tight == other_tight => {
            let (old, new) = last_of(old, new)?;
            grown_blocks(old, new)
        }
        _ => None,
    }
}

fn grown_blocks<'a>(old: &[Block], new: &'a [Block]) -> Option<&'a str> {
    let (old, new) = last_of(old, new)?;
    grown_block(old, new)
}

fn grown_inlines<'a>(old: &[Inline], new: &'a [Inline]) -> Option<&'a str> {
    let (old, new) = last_of(old, new)?;
    match (old, new) {
        (Inline::Text { text: old }, Inline::Text { text: new })
        | (Inline::Code { text: old }, Inline::Code { text: new }) => grown_text(old, new),
        (Inline::Strong { inlines: old }, Inline::Strong { inlines: new })
        | (Inline::Emphasis { inlines: old }, Inline::Emphasis { inlines: new })
        | (Inline::Strikethrough { inlines: old }, Inline::Strikethrough { inlines: new }) => {
            grown_inlines(old, new)
        }
        // What is drawn after the words of a link says where it leads.
        _ => None,
    }
}

fn grown_text<'a>(old: &str, new: &'a str) -> Option<&'a str> {
    let more = new.strip_prefix(old)?;
    (!old.is_empty()).then_some(more)
}

/// The last of each, if all before them are the same.
fn last_of<'a, 'b, T: PartialEq>(old: &'a [T], new: &'b [T]) -> Option<(&'a T, &'b T)> {
    let ((old, old_before), (new, new_before)) = (old.split_last()?, new.split_last()?);
    (old_before == new_before).then_some((old, new))
}

#[cfg(test)]
mod tests;
