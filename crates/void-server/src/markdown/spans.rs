//! The inlines of one paragraph, heading or cell on their way to a tree: spans open and close, words come
//! in pieces, and addresses among the words become links.

use super::bounds::{Budget, SPAN_DEPTH_MAX};
use super::links::{self, Piece};
use super::sources;
use super::tree::{self, Inline};

#[derive(Debug, Default)]
pub(super) struct Spans {
    /// What is open, outermost first.
    open: Vec<Open>,
    /// Of the open ones those that are shown, with what is in them.
    shown: Vec<(Kind, Vec<Inline>)>,
    /// Finished ones outside of anything that is shown.
    done: Vec<Inline>,
    /// Words that no inline holds yet.
    words: String,
}

#[derive(Debug, Clone, Copy)]
enum Open {
    Shown,
    /// Its words belong to what is around it, followed by these.
    Words(&'static str),
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Strong,
    Emphasis,
    Strikethrough,
    Link(String),
    Image,
}

impl Spans {
    /// Words as the parser read them.
    pub(super) fn say(&mut self, text: &str) {
        self.words.push_str(&sources::shown(text));
    }

    pub(super) fn add(&mut self, inline: Inline, budget: &mut Budget) {
        self.settle_words(budget);
        self.put(inline, budget);
    }

    pub(super) fn open(&mut self, kind: Kind, budget: &mut Budget) {
        let is_nested_link = matches!(kind, Kind::Link(_)) && self.is_linking();
        // The marks of what is too deep are dropped; its words stay.
        if self.shown.len() >= SPAN_DEPTH_MAX || is_nested_link {
            return self.open_words("");
        }
        self.settle_words(budget);
        self.open.push(Open::Shown);
        self.shown.push((kind, Vec::new()));
    }

    /// Opens what is not shown as a span; its words stay, followed by others.
    pub(super) fn open_words(&mut self, after: &'static str) {
        self.open.push(Open::Words(after));
    }

    pub(super) fn close(&mut self, budget: &mut Budget) {
        match self.open.pop() {
            None => {}
            Some(Open::Words(after)) => self.words.push_str(after),
            Some(Open::Shown) => {
                self.settle_words(budget);
                let Some((kind, inlines)) = self.shown.pop() else {
                    return;
                };
                let inline = match kind {
                    Kind::Strong => Inline::Strong { inlines },
                    Kind::Emphasis => Inline::Emphasis { inlines },
                    Kind::Strikethrough => Inline::Strikethrough { inlines },
                    Kind::Link(to) => Inline::Link { to, inlines },
                    Kind::Image => Inline::Image {
                        alt: tree::words(&inlines),
                    },
                };
                self.put(inline, budget);
            }
        }
    }

    /// Everything, with what is still open closed.
    pub(super) fn take(&mut self, budget: &mut Budget) -> Vec<Inline> {
        while !self.open.is_empty() {
            self.close(budget);
        }
        self.settle_words(budget);
        std::mem::take(&mut self.done)
    }

    /// Whether addresses are only words here.
    fn is_linking(&self) -> bool {
        let mut kinds = self.shown.iter().map(|(kind, _)| kind);
        kinds.any(|kind| matches!(kind, Kind::Link(_) | Kind::Image))
    }

    fn settle_words(&mut self, budget: &mut Budget) {
        let words = std::mem::take(&mut self.words);
        if self.is_linking() {
            return self.put(text(&words), budget);
        }
        for piece in links::pieces(&words) {
            let inline = match piece {
                Piece::Address(address) if !budget.is_spent() => {
                    budget.spend_inline();
                    Inline::Link {
                        to: address.to_owned(),
                        inlines: vec![text(address)],
                    }
                }
                Piece::Address(words) | Piece::Words(words) => text(words),
            };
            self.put(inline, budget);
        }
    }

    /// Adds to what is innermost; words next to words become one.
    fn put(&mut self, inline: Inline, budget: &mut Budget) {
        let inlines = match self.shown.last_mut() {
            Some((_, inlines)) => inlines,
            None => &mut self.done,
        };
        match (inlines.last_mut(), &inline) {
            (_, Inline::Text { text }) if text.is_empty() => {}
            (Some(Inline::Text { text }), Inline::Text { text: more }) => text.push_str(more),
            _ => {
                budget.spend_inline();
                inlines.push(inline);
            }
        }
    }
}

fn text(words: &str) -> Inline {
    Inline::Text {
        text: words.to_owned(),
    }
}
