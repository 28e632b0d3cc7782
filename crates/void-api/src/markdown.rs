//! The tree of a Markdown text: the blocks and inlines that may be shown, and nothing else. Whoever
//! draws it has no HTML to read, no image to fetch and no address to judge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    Paragraph {
        inlines: Vec<Inline>,
    },
    Heading {
        /// 1 to 6.
        level: u8,
        inlines: Vec<Inline>,
    },
    Code {
        /// What the fence calls it; empty if it does not.
        language: String,
        /// Without the line break at its end.
        text: String,
    },
    Quote {
        blocks: Vec<Self>,
    },
    List {
        /// The number of the first item; null for a list without numbers.
        start: Option<u64>,
        /// Whether its paragraphs stand without a gap between them.
        tight: bool,
        /// The blocks of each item.
        items: Vec<Vec<Self>>,
    },
    Table {
        head: Vec<Vec<Inline>>,
        /// Each as long as the head.
        rows: Vec<Vec<Vec<Inline>>>,
    },
    Rule,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Inline {
    /// A line break in it is one of the source and means a space.
    Text {
        text: String,
    },
    Code {
        text: String,
    },
    /// A line break that is meant.
    Break,
    /// An image is what it is called; where it lies is not told, so that nobody fetches it.
    Image {
        alt: String,
    },
    Link {
        /// An address of the web (`http://`, `https://`), of a mailbox (`mailto:`) or of this page (`#/`).
        to: String,
        inlines: Vec<Self>,
    },
    Strong {
        inlines: Vec<Self>,
    },
    Emphasis {
        inlines: Vec<Self>,
    },
    Strikethrough {
        inlines: Vec<Self>,
    },
}
