//! Markdown from a model, made into HTML that can do nothing: no raw HTML, no images, and links to
//! web and mail addresses only. What is not allowed is shown as the text it is.

use std::borrow::Cow;

use pulldown_cmark::{
    Alignment, CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, html,
};

/// Lists within lists; a page that nests deeper is shown without the deeper marks.
const DEPTH_MAX: usize = 32;

pub(crate) fn to_html(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    // They turn the reading order of what follows around, and nobody who answers here needs that.
    let markdown = &markdown.replace(is_direction_mark, "");
    let mut filter = Filter::default();
    let events = Parser::new_ext(markdown, options).filter_map(|event| filter.pass(event));
    let mut page = String::with_capacity(markdown.len() * 2);
    html::push_html(&mut page, events);
    page
}

const fn is_direction_mark(letter: char) -> bool {
    matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Lets through what cannot do harm.
#[derive(Default)]
struct Filter {
    /// For every link that is open, whether it is shown as one.
    links: Vec<bool>,
    depth: usize,
}

impl Filter {
    fn pass<'a>(&mut self, event: Event<'a>) -> Option<Event<'a>> {
        match event {
            Event::Start(Tag::Link {
                link_type,
                dest_url,
                ..
            }) => self.open_link(link_type, &dest_url),
            Event::End(TagEnd::Link) => self
                .links
                .pop()
                .unwrap_or_default()
                .then(|| Event::InlineHtml("</a>".into())),
            Event::Start(Tag::Image { .. }) => Some(Event::Text("[image: ".into())),
            Event::End(TagEnd::Image) => Some(Event::Text("]".into())),
            Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
            Event::Start(Tag::HtmlBlock) => Some(Event::Start(Tag::Paragraph)),
            Event::End(TagEnd::HtmlBlock) => Some(Event::End(TagEnd::Paragraph)),
            // The language of a block would become an attribute.
            Event::Start(Tag::CodeBlock(_)) => {
                Some(Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)))
            }
            Event::Start(Tag::Heading { level, .. }) => Some(Event::Start(Tag::Heading {
                level,
                id: None,
                classes: Vec::new(),
                attrs: Vec::new(),
            })),
            // A column's side would become a style.
            Event::Start(Tag::Table(columns)) => {
                let columns = vec![Alignment::None; columns.len()];
                Some(Event::Start(Tag::Table(columns)))
            }
            Event::Start(tag @ (Tag::List(_) | Tag::Item | Tag::BlockQuote(_))) => {
                self.depth += 1;
                (self.depth <= DEPTH_MAX).then_some(Event::Start(tag))
            }
            Event::End(tag @ (TagEnd::List(_) | TagEnd::Item | TagEnd::BlockQuote(_))) => {
                let shown = self.depth <= DEPTH_MAX;
                self.depth = self.depth.saturating_sub(1);
                shown.then_some(Event::End(tag))
            }
            Event::Start(
                Tag::Paragraph
                | Tag::Emphasis
                | Tag::Strong
                | Tag::Strikethrough
                | Tag::TableHead
                | Tag::TableRow
                | Tag::TableCell,
            )
            | Event::End(
                TagEnd::Paragraph
                | TagEnd::Heading(_)
                | TagEnd::CodeBlock
                | TagEnd::Emphasis
                | TagEnd::Strong
                | TagEnd::Strikethrough
                | TagEnd::Table
                | TagEnd::TableHead
                | TagEnd::TableRow
                | TagEnd::TableCell,
            )
            | Event::Text(_)
            | Event::Code(_)
            | Event::SoftBreak
            | Event::HardBreak
            | Event::Rule => Some(event),
            // Nothing else is switched on; what a later version adds is not shown.
            _ => None,
        }
    }

    fn open_link<'a>(&mut self, link_type: LinkType, target: &str) -> Option<Event<'a>> {
        let target = if link_type == LinkType::Email {
            Cow::Owned(format!("mailto:{target}"))
        } else {
            Cow::Borrowed(target)
        };
        let shown = is_harmless(&target);
        self.links.push(shown);
        shown.then(|| {
            let href = attribute(&target);
            let tag = format!("<a href=\"{href}\" rel=\"noopener noreferrer nofollow\">");
            Event::InlineHtml(CowStr::from(tag))
        })
    }
}

/// A whole address of the web or of a mailbox, without anything that browsers strip or rewrite.
fn is_harmless(target: &str) -> bool {
    let plain = target
        .chars()
        .all(|letter| !letter.is_control() && !letter.is_whitespace() && letter != '\\');
    let begins = |scheme: &str| {
        target
            .get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    plain && ["http://", "https://", "mailto:"].into_iter().any(begins)
}

fn attribute(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests;
