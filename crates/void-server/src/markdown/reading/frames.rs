//! The blocks that are open while a text is read, outermost first, and where a finished one belongs.

use super::super::bounds::{COLUMNS_MAX, DEPTH_MAX};
use super::{Block, Inline};

#[derive(Debug)]
pub(super) enum Frame {
    Quote(Vec<Block>),
    List {
        start: Option<u64>,
        tight: bool,
        items: Vec<Vec<Block>>,
    },
    Item(Vec<Block>),
    Paragraph,
    Heading(u8),
    Code {
        language: String,
        text: String,
    },
    Table {
        /// The first is the head.
        rows: Vec<Vec<Vec<Inline>>>,
    },
    Row,
    Cell,
    /// Too deep: what is in it belongs to what is around it.
    Hidden,
}

impl Frame {
    pub(super) const fn list(start: Option<u64>) -> Self {
        Self::List {
            start,
            tight: true,
            items: Vec::new(),
        }
    }

    pub(super) const fn table() -> Self {
        Self::Table { rows: Vec::new() }
    }

    /// How much nearer it is to the deepest level: a list always has items.
    const fn depth(&self) -> usize {
        match self {
            Self::Quote(_) => 1,
            Self::List { .. } => 2,
            Self::Item(_)
            | Self::Paragraph
            | Self::Heading(_)
            | Self::Code { .. }
            | Self::Table { .. }
            | Self::Row
            | Self::Cell
            | Self::Hidden => 0,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Frames {
    open: Vec<Frame>,
    depth: usize,
}

impl Frames {
    pub(super) const fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Whether blocks stand in what is innermost.
    pub(super) fn is_container(&self) -> bool {
        let innermost = self.open.last();
        innermost
            .is_some_and(|frame| matches!(frame, Frame::Quote(_) | Frame::Item(_) | Frame::Hidden))
    }

    /// The text of the code that is being read.
    pub(super) fn code(&mut self) -> Option<&mut String> {
        match self.open.last_mut() {
            Some(Frame::Code { text, .. }) => Some(text),
            _ => None,
        }
    }

    pub(super) fn open(&mut self, frame: Frame) {
        let is_lost = matches!(frame, Frame::Item(_))
            && !matches!(self.open.last(), Some(Frame::List { .. }));
        let frame = if is_lost || self.depth + frame.depth() > DEPTH_MAX {
            Frame::Hidden
        } else {
            frame
        };
        if matches!(frame, Frame::Paragraph) {
            self.loosen();
        } else if matches!(frame, Frame::Row) {
            self.begin_row();
        }
        self.depth += frame.depth();
        self.open.push(frame);
    }

    /// A list whose items hold whole paragraphs has gaps between them.
    fn loosen(&mut self) {
        if let [.., Frame::List { tight, .. }, Frame::Item(_)] = self.open.as_mut_slice() {
            *tight = false;
        }
    }

    fn begin_row(&mut self) {
        if let Some(Frame::Table { rows }) = self.open.last_mut() {
            rows.push(Vec::new());
        }
    }

    /// Closes what is innermost. What it is, if it is a block; `inlines` are those that were said in it.
    pub(super) fn close(&mut self, inlines: impl FnOnce() -> Vec<Inline>) -> Option<Block> {
        let frame = self.open.pop()?;
        self.depth -= frame.depth();
        match frame {
            Frame::Quote(blocks) => Some(Block::Quote { blocks }),
            Frame::List {
                start,
                tight,
                items,
            } => Some(Block::List {
                start,
                tight,
                items,
            }),
            Frame::Item(blocks) => {
                if let Some(Frame::List { items, .. }) = self.open.last_mut() {
                    items.push(blocks);
                }
                None
            }
            Frame::Paragraph => Some(Block::Paragraph { inlines: inlines() }),
            Frame::Heading(level) => Some(Block::Heading {
                level,
                inlines: inlines(),
            }),
            Frame::Code { language, mut text } => {
                if text.ends_with('\n') {
                    text.pop();
                }
                Some(Block::Code { language, text })
            }
            Frame::Cell => {
                self.add_cell(inlines());
                None
            }
            Frame::Table { rows } => table(rows),
            Frame::Row | Frame::Hidden => None,
        }
    }

    fn add_cell(&mut self, inlines: Vec<Inline>) {
        if let [.., Frame::Table { rows }, Frame::Row] = self.open.as_mut_slice()
            && let Some(row) = rows.last_mut()
            && row.len() < COLUMNS_MAX
        {
            row.push(inlines);
        }
    }

    /// Puts a block where it belongs; gives it back if that is in no other.
    pub(super) fn put(&mut self, block: Block) -> Option<Block> {
        let around = self.open.iter_mut().rev().find_map(|frame| match frame {
            Frame::Quote(blocks) | Frame::Item(blocks) => Some(blocks),
            _ => None,
        });
        match around {
            None => Some(block),
            Some(blocks) => {
                blocks.push(block);
                None
            }
        }
    }
}

/// Every row as long as the head.
fn table(rows: Vec<Vec<Vec<Inline>>>) -> Option<Block> {
    let mut rows = rows.into_iter();
    let head = rows.next()?;
    let columns = head.len();
    let rows = rows.map(|mut row| {
        row.resize_with(columns, Vec::new);
        row
    });
    Some(Block::Table {
        head,
        rows: rows.collect(),
    })
}
