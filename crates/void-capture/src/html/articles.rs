//! Which part of a page is its text: what it marks as its article, or else where its paragraphs are densest,
//! or else all of it but the margins.
//!
//! A part is only taken for the whole where it has a good share of the page's words. A capture that keeps a
//! menu is a nuisance; one that loses a paragraph is worth nothing.

use super::elements::Element;
use super::trees::{Node, NodeKind, ROOT, Tree};

/// The share of the page's words that a part needs to be taken for it.
const SHARE_PERCENT_MIN: usize = 50;
/// With fewer characters than this there is nothing to choose from.
const CHARS_MIN: usize = 200;
/// A piece of prose counts from this length on.
const PROSE_CHARS_MIN: usize = 25;
/// Cells with more than this hold the page's layout, not data.
const CELL_CHARS_MAX: usize = 400;

/// What is written of a tree.
#[derive(Debug)]
pub(super) struct Shown {
    /// The part that is the text.
    pub root: usize,
    /// For each node whether it is left out, because of itself or of what it is in.
    pub left_out: Vec<bool>,
    /// For each node whether it is a table that holds the page's layout.
    pub layout: Vec<bool>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Measure {
    chars: usize,
    linked_chars: usize,
    score: f32,
}

pub(super) fn choose(tree: &Tree) -> Shown {
    let without_margins = left_out(tree, true);
    let measures = measure(tree, &without_margins);
    let chars = chars_of(&measures, ROOT);
    let (left_out, measures) = if chars >= CHARS_MIN {
        (without_margins, measures)
    } else {
        // All that it says may stand in its margins.
        let with_margins = left_out(tree, false);
        let measures = measure(tree, &with_margins);
        (with_margins, measures)
    };
    let layout = layout_tables(tree, &measures);
    let root = root(tree, &measures);
    Shown {
        root,
        left_out,
        layout,
    }
}

fn left_out(tree: &Tree, margins: bool) -> Vec<bool> {
    let mut left_out: Vec<bool> = Vec::with_capacity(tree.nodes.len());
    let mut in_article: Vec<bool> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        let is_of_article = in_article.get(node.parent).copied().unwrap_or(false);
        let (itself, is_article) = match &node.kind {
            NodeKind::Text(_) => (false, is_of_article),
            NodeKind::Element {
                element, hidden, ..
            } => {
                // The head of an article is its title; that of a page is its menu.
                let is_margin = *element == Element::Margin && margins && !is_of_article;
                let is_article = is_of_article || *element == Element::Article;
                (
                    *hidden || *element == Element::Dropped || is_margin,
                    is_article,
                )
            }
        };
        let inherited = left_out.get(node.parent).copied().unwrap_or(false);
        left_out.push(itself || inherited);
        in_article.push(is_article);
    }
    left_out
}

/// Sums from the leaves up: children stand behind their parents.
fn measure(tree: &Tree, left_out: &[bool]) -> Vec<Measure> {
    let mut measures = vec![Measure::default(); tree.nodes.len()];
    let pairs = tree.nodes.iter().zip(left_out).enumerate().rev();
    for (at, (node, left_out)) in pairs {
        if *left_out || at == ROOT {
            continue;
        }
        let own = own_measure(tree, node, measures.get(at).copied().unwrap_or_default());
        if let Some(slot) = measures.get_mut(at) {
            *slot = own;
        }
        let points = prose_points(node, own);
        let grandparent = tree.nodes.get(node.parent).map_or(ROOT, |it| it.parent);
        if let Some(parent) = measures.get_mut(node.parent) {
            parent.chars += own.chars;
            parent.linked_chars += own.linked_chars;
            parent.score += points;
        }
        if let Some(grandparent) = measures.get_mut(grandparent) {
            grandparent.score += points / 2.0;
        }
    }
    measures
}

fn own_measure(tree: &Tree, node: &Node, summed: Measure) -> Measure {
    match &node.kind {
        NodeKind::Text(range) => {
            let text = tree.text.get(range.clone()).unwrap_or_default();
            let chars = text.split_whitespace().map(|word| word.chars().count() + 1);
            Measure {
                chars: chars.sum(),
                ..Measure::default()
            }
        }
        NodeKind::Element { element, .. } if *element == Element::Link => Measure {
            linked_chars: summed.chars,
            ..summed
        },
        NodeKind::Element { .. } => summed,
    }
}

/// What a paragraph says for its parent: more the longer it is, and little if it is all links.
fn prose_points(node: &Node, measure: Measure) -> f32 {
    let is_prose = match &node.kind {
        NodeKind::Element { element, .. } => matches!(
            element,
            Element::Paragraph | Element::Preformatted | Element::Quote | Element::Item
        ),
        NodeKind::Text(_) => false,
    };
    let plain = measure.chars.saturating_sub(measure.linked_chars);
    if !is_prose || plain < PROSE_CHARS_MIN {
        return 0.0;
    }
    let hundreds = u16::try_from(plain / 100).unwrap_or(u16::MAX);
    1.0 + f32::from(hundreds.min(3))
}

fn root(tree: &Tree, measures: &[Measure]) -> usize {
    let whole = chars_of(measures, ROOT);
    if whole < CHARS_MIN {
        return ROOT;
    }
    let is_enough = |at: &usize| chars_of(measures, *at) * 100 >= whole * SHARE_PERCENT_MIN;
    let marked = tree
        .nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| is_article(node));
    let mut marked = marked.map(|(at, _)| at).filter(is_enough);
    // Of a `main` with one `article` in it the inner one, which is the later.
    if let Some(marked) = marked.next_back() {
        return marked;
    }
    let scores = tree.nodes.iter().zip(measures).enumerate();
    let scored = scores.map(|(at, (node, measure))| (at, final_score(node, *measure)));
    let scored = scored.filter(|(_, score)| *score > 0.0);
    let best = scored.max_by(|(_, one), (_, other)| one.total_cmp(other));
    best.map(|(at, _)| at).filter(is_enough).unwrap_or(ROOT)
}

fn is_article(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Element {
            element, weight, ..
        } => *element == Element::Article || *weight >= 2,
        NodeKind::Text(_) => false,
    }
}

fn final_score(node: &Node, measure: Measure) -> f32 {
    let NodeKind::Element { weight, .. } = &node.kind else {
        return 0.0;
    };
    let percent = (measure.linked_chars * 100).checked_div(measure.chars);
    let percent = percent.and_then(|percent| u8::try_from(percent.min(100)).ok());
    let unlinked = 1.0 - f32::from(percent.unwrap_or(0)) / 100.0;
    let named = 1.0 + 0.25 * f32::from((*weight).clamp(-2, 2));
    measure.score * unlinked * named
}

fn chars_of(measures: &[Measure], at: usize) -> usize {
    measures.get(at).map_or(0, |measure| measure.chars)
}

/// A table with a long cell, or with another table in it, arranges the page.
fn layout_tables(tree: &Tree, measures: &[Measure]) -> Vec<bool> {
    let mut table_of: Vec<Option<usize>> = Vec::with_capacity(tree.nodes.len());
    let mut layout = vec![false; tree.nodes.len()];
    for (at, node) in tree.nodes.iter().enumerate() {
        let around = table_of.get(node.parent).copied().flatten();
        let element = match &node.kind {
            NodeKind::Element { element, .. } => *element,
            NodeKind::Text(_) => Element::Inline,
        };
        let is_long = chars_of(measures, at) > CELL_CHARS_MAX;
        let arranges = match element {
            Element::Cell { .. } => is_long,
            Element::Table | Element::Preformatted | Element::Heading(_) => true,
            _ => false,
        };
        if let Some(table) = around
            && arranges
            && let Some(slot) = layout.get_mut(table)
        {
            *slot = true;
        }
        let is_table = element == Element::Table;
        table_of.push(if is_table { Some(at) } else { around });
    }
    layout
}
