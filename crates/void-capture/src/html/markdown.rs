//! Writes the shown part of a tree as text that looks like Markdown: headings, lists, quotes, code, tables.
//! Everything else that could mean something to a reader of Markdown is made inert (`inert`).
//!
//! A line is put together before it is written, so that its beginning can be judged as a whole. The text ends
//! at its bound, at the end of a line.

mod lines;

use url::Url;

use self::lines::Lines;
use super::articles::Shown;
use super::elements::Element;
use super::trees::{NodeKind, Tree};
use crate::inert;
use crate::limits::{LINK_BYTES_MAX, LINKS_MAX};
use crate::plain_text::one_line;

/// What an image says for those who do not see it, if it is no essay.
const ALT_CHARS_MAX: usize = 200;

pub(super) struct Written {
    pub text: String,
    pub first_heading: Option<String>,
    pub cut: bool,
}

pub(super) fn write(tree: &Tree, shown: &Shown, base: Option<&Url>) -> Written {
    let mut writer = Writer {
        tree,
        shown,
        base,
        lines: Lines::default(),
        open: Vec::new(),
        links: 0,
        first_heading: None,
    };
    writer.run();
    let (text, cut) = writer.lines.finish();
    Written {
        text,
        first_heading: writer.first_heading,
        cut,
    }
}

struct Writer<'a> {
    tree: &'a Tree,
    shown: &'a Shown,
    base: Option<&'a Url>,
    lines: Lines,
    /// Nodes that were entered and not left: the way from the root to here.
    open: Vec<Entered<'a>>,
    links: usize,
    first_heading: Option<String>,
}

struct Entered<'a> {
    node: usize,
    element: Element,
    detail: Option<&'a str>,
    /// What was written when it was entered.
    mark: usize,
    /// Of an ordered list: the number of its next item. Of a row: how many cells it has.
    count: usize,
    /// Of a table: whether the line below its head was written.
    has_rule: bool,
}

impl<'a> Writer<'a> {
    /// The nodes of the part stand one after another behind its root; who is left is known by whose child comes.
    fn run(&mut self) {
        let nodes = self.tree.nodes.iter().enumerate().skip(self.shown.root);
        for (at, node) in nodes {
            let is_root = at == self.shown.root;
            if !is_root {
                while self
                    .open
                    .last()
                    .is_some_and(|open| open.node != node.parent)
                {
                    self.leave();
                }
                if self.open.is_empty() {
                    break;
                }
            }
            if self.lines.is_full() {
                break;
            }
            let left_out = self.shown.left_out.get(at).copied().unwrap_or(true);
            match &node.kind {
                NodeKind::Text(range) if !left_out => {
                    let text = self.tree.text.get(range.clone()).unwrap_or_default();
                    self.text(text);
                }
                NodeKind::Element {
                    element, detail, ..
                } => {
                    let element = if left_out { Element::Dropped } else { *element };
                    self.enter(at, element, detail.as_deref());
                }
                NodeKind::Text(_) => {}
            }
        }
        while !self.open.is_empty() {
            self.leave();
        }
    }

    fn text(&mut self, text: &str) {
        let Some(open) = self.open.last() else { return };
        // Between rows and between items there are only line ends of the source.
        let is_between = matches!(
            open.element,
            Element::Table | Element::Row | Element::List { .. }
        );
        if is_between && text.trim().is_empty() {
            return;
        }
        self.lines.text(text);
    }

    fn enter(&mut self, node: usize, element: Element, detail: Option<&'a str>) {
        let element = self.as_laid_out(node, element);
        match element {
            Element::Heading(level) => {
                self.lines.block();
                self.lines
                    .start_with(&format!("{} ", "#".repeat(level.into())));
            }
            Element::Paragraph | Element::Article | Element::Margin => self.lines.block(),
            Element::Division => self.lines.line(),
            Element::List { .. } => self.begin_list(),
            Element::Item => self.begin_item(),
            Element::Term => self.lines.block(),
            Element::Description => {
                self.lines.line();
                self.lines.indent("  ", "  ");
            }
            Element::Quote => {
                self.lines.block();
                self.lines.indent("> ", "> ");
            }
            Element::Preformatted => {
                self.lines.block();
                self.lines.begin_code();
            }
            Element::Code => self.lines.begin_code_span(),
            Element::Table => self.lines.block(),
            Element::Row => self.lines.line(),
            Element::Cell { .. } => self.begin_cell(),
            Element::Break => self.lines.line(),
            Element::Rule => self.lines.rule(),
            Element::Image => self.image(detail.unwrap_or_default()),
            Element::Document
            | Element::Head
            | Element::Body
            | Element::Title
            | Element::Link
            | Element::Metadata
            | Element::Dropped
            | Element::Inline => {}
        }
        self.open.push(Entered {
            node,
            element,
            detail,
            mark: self.lines.mark(),
            count: 0,
            has_rule: false,
        });
    }

    fn leave(&mut self) {
        let Some(left) = self.open.pop() else { return };
        match left.element {
            Element::Heading(_) => {
                if self.first_heading.is_none() {
                    let heading = self.lines.current().trim_start_matches(['#', ' ']);
                    self.first_heading = Some(one_line(heading)).filter(|it| !it.is_empty());
                }
                self.lines.block();
            }
            Element::Paragraph | Element::Article | Element::Margin | Element::Table => {
                self.lines.block();
            }
            Element::Division | Element::Term => self.lines.line(),
            Element::List { .. } => {
                if self.is_in_list() {
                    self.lines.line();
                } else {
                    self.lines.block();
                }
            }
            Element::Item | Element::Description => {
                self.lines.line();
                self.lines.outdent();
            }
            Element::Quote => {
                self.lines.block();
                self.lines.outdent();
                self.lines.block();
            }
            Element::Preformatted => self.lines.end_code(left.detail),
            Element::Code => self.lines.end_code_span(),
            Element::Row => self.end_row(&left),
            Element::Cell { .. } => self.lines.end_cell(),
            Element::Link => self.link_target(&left),
            Element::Document
            | Element::Head
            | Element::Body
            | Element::Title
            | Element::Break
            | Element::Rule
            | Element::Image
            | Element::Metadata
            | Element::Dropped
            | Element::Inline => {}
        }
    }

    /// Tables that hold the page's layout, and what has no table around it, are no tables.
    fn as_laid_out(&self, node: usize, element: Element) -> Element {
        let is_layout = |at: usize| self.shown.layout.get(at).copied().unwrap_or(false);
        match element {
            Element::Table if is_layout(node) => Element::Division,
            Element::Row | Element::Cell { .. } => {
                let mut around = self.open.iter().rev().map(|open| open.element);
                let needed = |it: &Element| match element {
                    Element::Row => *it != Element::Division && *it != Element::Inline,
                    _ => *it != Element::Inline,
                };
                let fits = match (element, around.find(needed)) {
                    (Element::Row, Some(Element::Table)) => self.table_is_nearest(),
                    (Element::Cell { .. }, Some(Element::Row)) => true,
                    _ => false,
                };
                if fits { element } else { Element::Division }
            }
            other => other,
        }
    }

    /// Not a layout table, which is written as a division, between here and the table.
    fn table_is_nearest(&self) -> bool {
        let is_layout = |at: usize| self.shown.layout.get(at).copied().unwrap_or(false);
        let mut around = self.open.iter().rev();
        let nearest = around.find(|open| open.element == Element::Table || is_layout(open.node));
        nearest.is_some_and(|open| open.element == Element::Table)
    }

    fn is_in_list(&self) -> bool {
        let mut around = self.open.iter();
        around.any(|open| matches!(open.element, Element::List { .. }))
    }

    fn begin_list(&mut self) {
        if self.is_in_list() {
            self.lines.line();
        } else {
            self.lines.block();
        }
    }

    fn begin_item(&mut self) {
        self.lines.line();
        let mut around = self.open.iter_mut().rev();
        let list = around.find(|open| matches!(open.element, Element::List { .. }));
        let number = match list {
            Some(list) if list.element == (Element::List { ordered: true }) => {
                list.count += 1;
                Some(list.count)
            }
            _ => None,
        };
        match number {
            Some(number) => self.lines.indent(&format!("{number}. "), "   "),
            None => self.lines.indent("- ", "  "),
        }
    }

    fn begin_cell(&mut self) {
        let mut around = self.open.iter_mut().rev();
        if let Some(row) = around.find(|open| open.element == Element::Row) {
            row.count += 1;
        }
        self.lines.begin_cell();
    }

    fn end_row(&mut self, row: &Entered<'_>) {
        if row.count == 0 {
            return;
        }
        self.lines.end_row();
        let mut around = self.open.iter_mut().rev();
        let table = around.find(|open| open.element == Element::Table);
        if let Some(table) = table
            && !table.has_rule
        {
            table.has_rule = true;
            self.lines.table_rule(row.count);
        }
    }

    fn image(&mut self, alt: &str) {
        let alt = one_line(alt);
        if !alt.is_empty() && alt.chars().count() < ALT_CHARS_MAX {
            self.lines.text(&alt);
        }
    }

    /// Behind the words of a link, in brackets, where it leads: words too.
    fn link_target(&mut self, link: &Entered<'_>) {
        let words = self.lines.since(link.mark).trim();
        let says_something = words.chars().any(char::is_alphanumeric);
        let Some(href) = link.detail.filter(|_| says_something) else {
            return;
        };
        let Some(target) = self.resolve(href) else {
            return;
        };
        if words == target || self.links >= LINKS_MAX {
            return;
        }
        self.links += 1;
        self.lines.raw(&format!(" ({target})"));
    }

    fn resolve(&self, href: &str) -> Option<String> {
        let href = href.trim();
        // On the same page, or of a program.
        if href.starts_with('#') {
            return None;
        }
        let url = match self.base {
            Some(base) => base.join(href).ok()?,
            None => Url::parse(href).ok()?,
        };
        let leads_out = matches!(url.scheme(), "http" | "https" | "mailto");
        let target = inert::target(url.as_str());
        (leads_out && target.len() <= LINK_BYTES_MAX).then_some(target)
    }
}
