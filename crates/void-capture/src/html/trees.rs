//! The tree of a page as an array: parents stand before their children, text lies in one string.
//!
//! It is built as browsers do it in what matters for text: what ends by itself ends (paragraphs, items, rows),
//! what nobody ended ends with its parent, and an end without a begin is nothing. Depth, number and names are
//! bounded; what lies beyond a bound is left out, and `cut` says so.

use std::collections::HashMap;
use std::convert::Infallible;
use std::ops::Range;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

use super::elements::Element;
use crate::limits::{
    HTML_DEPTH_MAX, HTML_NAMES_MAX, HTML_NODES_MAX, LINK_BYTES_MAX, URL_BYTES_MAX,
};

/// Of an attribute so much is looked at.
const ATTRIBUTE_BYTES_MAX: usize = 4096;

#[derive(Debug)]
pub(super) struct Tree {
    pub nodes: Vec<Node>,
    /// Of all text nodes, as it stands in the page.
    pub text: String,
    pub title: Option<String>,
    /// What the page calls itself where it is shared.
    pub social_title: Option<String>,
    pub language: Option<String>,
    pub base: Option<String>,
    pub cut: bool,
}

#[derive(Debug)]
pub(super) struct Node {
    /// Of the root: itself.
    pub parent: usize,
    pub kind: NodeKind,
}

#[derive(Debug)]
pub(super) enum NodeKind {
    Text(Range<usize>),
    Element {
        element: Element,
        /// Where a link leads, what an image says, which language code is in.
        detail: Option<Box<str>>,
        hidden: bool,
        /// What its names say about it: above zero the text of the page, below it something beside.
        weight: i8,
    },
}

pub(super) const ROOT: usize = 0;

pub(super) fn parse(page: &str) -> Tree {
    let mut builder = Builder::new(page.len());
    let mut emitter = CallbackEmitter::<_, Infallible, ()>::new(
        |event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
            builder.take(&event);
            None
        },
    );
    emitter.naively_switch_states(true);
    let Ok(()) = Tokenizer::new_with_emitter(page, emitter).finish();
    builder.tree
}

/// A begin tag whose attributes are still being read.
#[derive(Default)]
struct Begun {
    name: Vec<u8>,
    attribute: Vec<u8>,
    hidden: bool,
    weight: i8,
    href: Option<String>,
    alt: Option<String>,
    language_of_code: Option<String>,
    lang: Option<String>,
    meta_name: Option<String>,
    meta_content: Option<String>,
}

struct Open {
    node: usize,
    name: usize,
    element: Element,
}

struct Builder {
    tree: Tree,
    open: Vec<Open>,
    /// Open elements that are too deep to be kept.
    too_deep: usize,
    names: HashMap<Vec<u8>, usize>,
    /// How many elements of each name are open: an end without a begin is found out at once.
    open_of_name: Vec<usize>,
    /// The same for what ends by itself.
    open_self_ending: [usize; SELF_ENDING],
    dropped_open: usize,
    begun: Option<Begun>,
}

/// Kinds of elements that the next one of its kind ends.
const SELF_ENDING: usize = 7;

fn self_ending(element: Element) -> Option<usize> {
    match element {
        Element::Paragraph => Some(0),
        Element::Item => Some(1),
        Element::Term | Element::Description => Some(2),
        Element::Heading(_) => Some(3),
        Element::Link => Some(4),
        Element::Row => Some(5),
        Element::Cell { .. } => Some(6),
        _ => None,
    }
}

impl Builder {
    fn new(bytes: usize) -> Self {
        let root = NodeKind::Element {
            element: Element::Document,
            detail: None,
            hidden: false,
            weight: 0,
        };
        let nodes = vec![Node {
            parent: ROOT,
            kind: root,
        }];
        Self {
            tree: Tree {
                nodes,
                text: String::with_capacity(bytes),
                title: None,
                social_title: None,
                language: None,
                base: None,
                cut: false,
            },
            open: Vec::new(),
            too_deep: 0,
            names: HashMap::new(),
            open_of_name: vec![0],
            open_self_ending: [0; SELF_ENDING],
            dropped_open: 0,
            begun: None,
        }
    }

    fn take(&mut self, event: &CallbackEvent<'_>) {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.begun = Some(Begun {
                    name: name.to_vec(),
                    ..Begun::default()
                });
            }
            CallbackEvent::AttributeName { name } => {
                if let Some(begun) = &mut self.begun {
                    begun.attribute = name.get(..64).unwrap_or(name).to_vec();
                    begun.set(b"");
                }
            }
            CallbackEvent::AttributeValue { value } => {
                if let Some(begun) = &mut self.begun {
                    begun.set(value.get(..ATTRIBUTE_BYTES_MAX).unwrap_or(value));
                }
            }
            CallbackEvent::CloseStartTag { self_closing } => {
                if let Some(begun) = self.begun.take() {
                    self.begin(begun, *self_closing);
                }
            }
            CallbackEvent::EndTag { name } => {
                self.begun = None;
                self.end(name);
            }
            CallbackEvent::String { value } => self.text(value),
            CallbackEvent::Comment { .. }
            | CallbackEvent::Doctype { .. }
            | CallbackEvent::Error(_) => {}
        }
    }

    fn name(&mut self, name: &[u8]) -> usize {
        if let Some(known) = self.names.get(name) {
            return *known;
        }
        if self.names.len() >= HTML_NAMES_MAX {
            return 0;
        }
        let next = self.open_of_name.len();
        self.open_of_name.push(0);
        self.names.insert(name.to_vec(), next);
        next
    }

    fn begin(&mut self, mut begun: Begun, self_closing: bool) {
        let element = Element::of(&begun.name);
        self.note(element, &begun);
        if matches!(element, Element::Document | Element::Body | Element::Head) {
            // There is one of each; their hidden twin would hide the page from its own text.
            return;
        }
        self.end_what_ends_by_itself(element);
        let is_void = element.is_void(&begun.name);
        if self.open.len() >= HTML_DEPTH_MAX {
            self.too_deep += usize::from(!is_void);
            return;
        }
        let name = self.name(&begun.name);
        let hidden = begun.hidden;
        let kind = NodeKind::Element {
            element,
            hidden,
            weight: begun.weight,
            detail: begun.take_detail(element).map(String::into_boxed_str),
        };
        let Some(node) = self.push(kind) else {
            self.too_deep += usize::from(!is_void);
            return;
        };
        // In a drawing a stroke ends where a page would wait for its end.
        let is_drawing = self.dropped_open > 0 || matches!(begun.name.as_slice(), b"svg" | b"math");
        if is_void || (self_closing && is_drawing) {
            return;
        }
        self.dropped_open += usize::from(element == Element::Dropped);
        let kind = self_ending(element).and_then(|kind| self.open_self_ending.get_mut(kind));
        if let Some(count) = kind {
            *count += 1;
        }
        if let Some(count) = self.open_of_name.get_mut(name) {
            *count += 1;
        }
        self.open.push(Open {
            node,
            name,
            element,
        });
    }

    /// What the page says of itself.
    fn note(&mut self, element: Element, begun: &Begun) {
        let tree = &mut self.tree;
        if self.dropped_open > 0 {
            return;
        }
        if element == Element::Document && tree.language.is_none() {
            tree.language.clone_from(&begun.lang);
        }
        if begun.name == b"base" && tree.base.is_none() {
            tree.base.clone_from(&begun.href);
        }
        let is_title = |name: &str| matches!(name, "og:title" | "twitter:title" | "dc.title");
        if begun.name == b"meta" && begun.meta_name.as_deref().is_some_and(is_title) {
            tree.social_title = tree.social_title.take().or(begun.meta_content.clone());
        }
    }

    fn end_what_ends_by_itself(&mut self, next: Element) {
        if next.is_block() {
            self.end_nearest(Element::Paragraph, Element::is_boundary);
        }
        match next {
            Element::Item => self.end_nearest(next, |it| matches!(it, Element::List { .. })),
            Element::Row => self.end_nearest(next, |it| it == Element::Table),
            Element::Cell { .. } => {
                self.end_nearest(next, |it| matches!(it, Element::Table | Element::Row));
            }
            Element::Term | Element::Description | Element::Heading(_) | Element::Link => {
                self.end_nearest(next, Element::is_boundary);
            }
            _ => {}
        }
    }

    /// Ends the nearest open element of the kind, with everything in it, unless a fence stands before it.
    fn end_nearest(&mut self, kind: Element, fence: impl Fn(Element) -> bool) {
        let kind = self_ending(kind);
        let count = kind.and_then(|kind| self.open_self_ending.get(kind));
        if count.is_none_or(|count| *count == 0) {
            return;
        }
        let mut from_top = self.open.iter().enumerate().rev();
        let found =
            from_top.find(|(_, open)| self_ending(open.element) == kind || fence(open.element));
        if let Some((at, open)) = found
            && self_ending(open.element) == kind
        {
            self.end_from(at);
        }
    }

    fn end(&mut self, tag: &[u8]) {
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        let element = Element::of(tag);
        let Some(name) = self.names.get(tag).copied() else {
            return;
        };
        if self.open_of_name.get(name).is_none_or(|count| *count == 0) {
            return;
        }
        // What formats words does not end the paragraph that it stands in; a made-up element may hold anything.
        let formats = matches!(element, Element::Inline | Element::Code | Element::Link)
            && !tag.contains(&b'-');
        let reaches_far = matches!(
            element,
            Element::Table | Element::Row | Element::Cell { .. }
        );
        let fence = |open: Element| match element {
            Element::Table => false,
            _ if reaches_far => open == Element::Table,
            _ => open.is_boundary() || (formats && open.is_block()),
        };
        let mut from_top = self.open.iter().enumerate().rev();
        let found = from_top.find(|(_, open)| open.name == name || fence(open.element));
        if let Some((at, open)) = found
            && open.name == name
        {
            self.end_from(at);
        }
    }

    fn end_from(&mut self, at: usize) {
        for open in self.open.drain(at..) {
            self.dropped_open -= usize::from(open.element == Element::Dropped);
            let kind = self_ending(open.element);
            if let Some(count) = kind.and_then(|kind| self.open_self_ending.get_mut(kind)) {
                *count = count.saturating_sub(1);
            }
            if let Some(count) = self.open_of_name.get_mut(open.name) {
                *count = count.saturating_sub(1);
            }
        }
    }

    fn text(&mut self, value: &[u8]) {
        // Whatever was begun without an end of its tag is no tag.
        self.begun = None;
        if self.dropped_open > 0 {
            return;
        }
        if self.too_deep > 0 {
            self.tree.cut |= !value.trim_ascii().is_empty();
            return;
        }
        let text = String::from_utf8_lossy(value);
        if let Some(open) = self.open.last()
            && open.element == Element::Title
        {
            let title = self.tree.title.get_or_insert_default();
            if title.is_empty() {
                title.push_str(&text);
            }
            return;
        }
        let begin = self.tree.text.len();
        if self
            .push(NodeKind::Text(begin..begin + text.len()))
            .is_some()
        {
            self.tree.text.push_str(&text);
        }
    }

    fn push(&mut self, kind: NodeKind) -> Option<usize> {
        let tree = &mut self.tree;
        if tree.nodes.len() >= HTML_NODES_MAX {
            tree.cut = true;
            return None;
        }
        let parent = self.open.last().map_or(ROOT, |open| open.node);
        tree.nodes.push(Node { parent, kind });
        Some(tree.nodes.len() - 1)
    }
}

impl Begun {
    /// The value of the attribute that was named last; without one it is empty.
    fn set(&mut self, value: &[u8]) {
        let text = || String::from_utf8_lossy(value).into_owned();
        match self.attribute.as_slice() {
            b"hidden" => self.hidden = true,
            b"aria-hidden" => self.hidden |= value.eq_ignore_ascii_case(b"true"),
            b"style" => self.hidden |= is_hiding_style(&text()),
            b"class" | b"id" => self.take_names(&text()),
            b"role" => self.take_role(value),
            b"href" if value.len() <= LINK_BYTES_MAX.max(URL_BYTES_MAX) => self.href = Some(text()),
            b"alt" => self.alt = Some(text()),
            b"lang" | b"xml:lang" => self.lang = Some(text()),
            b"name" | b"property" => self.meta_name = Some(text().to_ascii_lowercase()),
            b"content" => self.meta_content = Some(text()),
            _ => {}
        }
    }

    fn take_names(&mut self, names: &str) {
        for name in names.split_ascii_whitespace() {
            let name = name.to_ascii_lowercase();
            self.hidden |= HIDING_NAMES.contains(&name.as_str());
            let is_in = |words: &[&str]| words.iter().any(|word| name.contains(word));
            if is_in(&BESIDE_NAMES) {
                self.weight = self.weight.saturating_sub(1);
            } else if is_in(&TEXT_NAMES) {
                self.weight = self.weight.saturating_add(1);
            }
            if let Some(language) = name
                .strip_prefix("language-")
                .or(name.strip_prefix("lang-"))
                && language.len() <= 20
                && language
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"+#-".contains(&b))
            {
                self.language_of_code = Some(language.to_owned());
            }
        }
    }

    fn take_role(&mut self, value: &[u8]) {
        match value {
            b"navigation" | b"menu" | b"menubar" | b"search" | b"dialog" | b"alertdialog" => {
                self.hidden = true;
            }
            b"complementary" | b"banner" | b"contentinfo" => {
                self.weight = self.weight.saturating_sub(1);
            }
            b"main" | b"article" => self.weight = self.weight.saturating_add(2),
            _ => {}
        }
    }

    fn take_detail(&mut self, element: Element) -> Option<String> {
        match element {
            Element::Link => self.href.take(),
            Element::Image => self.alt.take(),
            Element::Preformatted | Element::Code => self.language_of_code.take(),
            _ => None,
        }
    }
}

/// Names by which sites hide what is for machines or for nobody.
const HIDING_NAMES: [&str; 9] = [
    "sr-only",
    "visually-hidden",
    "visuallyhidden",
    "screen-reader-text",
    "screen-reader-only",
    "hidden",
    "d-none",
    "display-none",
    "is-hidden",
];
const BESIDE_NAMES: [&str; 20] = [
    "comment",
    "footer",
    "sidebar",
    "menu",
    "navbar",
    "share",
    "social",
    "promo",
    "related",
    "advert",
    "banner",
    "cookie",
    "consent",
    "sponsor",
    "popup",
    "modal",
    "breadcrumb",
    "pagination",
    "newsletter",
    "toolbar",
];
const TEXT_NAMES: [&str; 9] = [
    "article", "body", "content", "entry", "main", "post", "text", "story", "markdown",
];

/// `display: none` and its relatives, however they are spaced.
fn is_hiding_style(style: &str) -> bool {
    let mut declarations = style.split(';');
    declarations.any(|declaration| {
        let plain: String = declaration.chars().filter(|c| !c.is_whitespace()).collect();
        let plain = plain.to_ascii_lowercase();
        let plain = plain.strip_suffix("!important").unwrap_or(&plain);
        let Some((property, value)) = plain.split_once(':') else {
            return false;
        };
        let number = value.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
        let is_zero = number.parse::<f32>().is_ok_and(|number| number == 0.0);
        match property {
            "display" => value == "none",
            "visibility" => matches!(value, "hidden" | "collapse"),
            "opacity" | "font-size" => is_zero,
            _ => false,
        }
    })
}
