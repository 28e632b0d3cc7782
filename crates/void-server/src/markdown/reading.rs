//! From the parser's events to the tree. Only what is named here is shown; what nests too deep is shown
//! without its marks, and what is beyond the bounds as words of one last paragraph.

mod frames;

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd};
use void_domain::text::cut;

use self::frames::{Frame, Frames};
use super::bounds::{Budget, LANGUAGE_BYTES_MAX};
use super::links::is_harmless;
use super::sources;
use super::spans::{Kind, Spans};
use super::tree::{Block, Inline};

/// A block that is in no other.
#[derive(Debug)]
pub(super) struct TopBlock {
    pub block: Block,
    /// Where the line begins with which it begins.
    pub from: usize,
    /// What is left after it.
    pub budget: Budget,
}

#[derive(Debug)]
pub(super) struct Reading {
    pub blocks: Vec<TopBlock>,
    /// So many of them are as they would be without bounds.
    pub within: usize,
}

/// Reads a source that is guarded already.
pub(super) fn read(source: &str, budget: Budget) -> Reading {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut reader = Reader {
        source,
        budget,
        from: 0,
        done: Vec::new(),
        frames: Frames::default(),
        spans: Spans::default(),
        beyond: None,
    };
    for (event, range) in Parser::new_ext(source, options).into_offset_iter() {
        reader.hear(event, &range);
    }
    reader.finish()
}

struct Reader<'a> {
    source: &'a str,
    budget: Budget,
    /// Where the block begins that is being read.
    from: usize,
    done: Vec<TopBlock>,
    frames: Frames,
    spans: Spans,
    beyond: Option<Beyond>,
}

/// What is beyond the bounds.
struct Beyond {
    /// How many blocks were whole before.
    within: usize,
    words: String,
}

impl Reader<'_> {
    fn hear(&mut self, event: Event<'_>, range: &Range<usize>) {
        if self.beyond.is_none() && self.budget.is_spent() {
            self.beyond = Some(Beyond {
                within: self.done.len(),
                words: String::new(),
            });
        }
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag),
            event => match &mut self.beyond {
                None => self.add(event, range),
                Some(beyond) => beyond.add(&event),
            },
        }
    }

    fn add(&mut self, event: Event<'_>, range: &Range<usize>) {
        match event {
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                match self.frames.code() {
                    Some(code) => code.push_str(&sources::shown(&text)),
                    None => self.spans.say(&text),
                }
            }
            Event::Code(text) => {
                let text = sources::shown(&text);
                self.spans.add(Inline::Code { text }, &mut self.budget);
            }
            Event::SoftBreak => self.spans.say("\n"),
            Event::HardBreak => self.spans.add(Inline::Break, &mut self.budget),
            Event::Rule => {
                self.begin(range);
                self.put(Block::Rule);
            }
            // Nothing else is switched on; what a later version adds is not shown.
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        if let Some(beyond) = &mut self.beyond {
            if is_span(&tag.to_end()) {
                return self.spans.open_words("");
            }
            beyond.new_line();
            return self.frames.open(Frame::Hidden);
        }
        match tag {
            Tag::Emphasis => self.spans.open(Kind::Emphasis, &mut self.budget),
            Tag::Strong => self.spans.open(Kind::Strong, &mut self.budget),
            Tag::Strikethrough => self.start_strikethrough(range),
            Tag::Image { .. } => self.spans.open(Kind::Image, &mut self.budget),
            Tag::Link {
                link_type,
                dest_url,
                ..
            } => self.start_link(link_type, &dest_url),
            Tag::TableHead | Tag::TableRow => self.frames.open(Frame::Row),
            Tag::TableCell => {
                self.budget.spend_block();
                self.frames.open(Frame::Cell);
            }
            Tag::Item => {
                self.budget.spend_block();
                self.begin(range);
                self.frames.open(Frame::Item(Vec::new()));
            }
            tag => {
                self.begin(range);
                self.frames.open(frame(tag));
            }
        }
    }

    /// Only two tildes strike words out; one is often meant as itself.
    fn start_strikethrough(&mut self, range: &Range<usize>) {
        let source = self.source.get(range.clone()).unwrap_or_default();
        if source.starts_with("~~") {
            self.spans.open(Kind::Strikethrough, &mut self.budget);
        } else {
            self.spans.say("~");
            self.spans.open_words("~");
        }
    }

    /// The words of a link that leads nowhere stay.
    fn start_link(&mut self, link_type: LinkType, target: &str) {
        let target = sources::unguarded(target);
        let target = match link_type {
            LinkType::Email => format!("mailto:{target}"),
            _ => target,
        };
        if is_harmless(&target) {
            self.spans.open(Kind::Link(target), &mut self.budget);
        } else {
            self.spans.open_words("");
        }
    }

    fn end(&mut self, tag: TagEnd) {
        if is_span(&tag) {
            return self.spans.close(&mut self.budget);
        }
        if self.frames.is_container() {
            self.put_loose_words();
        }
        let spans = &mut self.spans;
        let budget = &mut self.budget;
        if let Some(block) = self.frames.close(|| spans.take(budget)) {
            self.put(block);
        }
    }

    /// A block begins.
    fn begin(&mut self, range: &Range<usize>) {
        self.put_loose_words();
        if self.frames.is_empty() {
            let before = self.source.get(..range.start).unwrap_or_default();
            self.from = before.rfind('\n').map_or(0, |at| at + 1);
        }
    }

    /// Words of an item without a gap after it are in no paragraph of the parser's.
    fn put_loose_words(&mut self) {
        let inlines = self.spans.take(&mut self.budget);
        if !inlines.is_empty() {
            self.put(Block::Paragraph { inlines });
        }
    }

    fn put(&mut self, block: Block) {
        self.budget.spend_block();
        if let Some(block) = self.frames.put(block) {
            self.done.push(TopBlock {
                block,
                from: self.from,
                budget: self.budget,
            });
        }
    }

    fn finish(mut self) -> Reading {
        self.put_loose_words();
        let mut within = self.done.len();
        if let Some(beyond) = self.beyond.take() {
            within = beyond.within;
            let text = beyond.words.trim_end().to_owned();
            if !text.is_empty() {
                let inlines = vec![Inline::Text { text }];
                self.put(Block::Paragraph { inlines });
            }
        }
        Reading {
            blocks: self.done,
            within,
        }
    }
}

impl Beyond {
    fn add(&mut self, event: &Event<'_>) {
        match event {
            Event::Text(text) | Event::Code(text) => self.words.push_str(&sources::shown(text)),
            Event::SoftBreak | Event::HardBreak => self.words.push('\n'),
            _ => {}
        }
    }

    fn new_line(&mut self) {
        if !self.words.is_empty() && !self.words.ends_with('\n') {
            self.words.push('\n');
        }
    }
}

const fn is_span(tag: &TagEnd) -> bool {
    matches!(
        tag,
        TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Link
            | TagEnd::Image
            | TagEnd::Superscript
            | TagEnd::Subscript
    )
}

fn frame(tag: Tag<'_>) -> Frame {
    match tag {
        Tag::BlockQuote(_) => Frame::Quote(Vec::new()),
        Tag::List(start) => Frame::list(start),
        Tag::Heading { level, .. } => Frame::Heading(level as u8),
        Tag::CodeBlock(kind) => Frame::Code {
            language: language(&kind),
            text: String::new(),
        },
        Tag::Table(_) => Frame::table(),
        // HTML is guarded against and nothing else is switched on; whatever comes is shown as words.
        _ => Frame::Paragraph,
    }
}

fn language(kind: &CodeBlockKind<'_>) -> String {
    let CodeBlockKind::Fenced(info) = kind else {
        return String::new();
    };
    let word = info.split_whitespace().next().unwrap_or_default();
    cut(&sources::shown(word), LANGUAGE_BYTES_MAX).to_owned()
}
