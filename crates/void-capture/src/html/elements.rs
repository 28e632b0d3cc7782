//! What an element means for its text.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    /// `html`, and the root above it.
    Document,
    Head,
    Body,
    Title,
    Heading(u8),
    Paragraph,
    /// Begins and ends a line of its own and means nothing else.
    Division,
    Article,
    /// `header`, `footer`, `aside`, `form`: shown, and seldom what the page is about.
    Margin,
    List {
        ordered: bool,
    },
    Item,
    Term,
    Description,
    Quote,
    Preformatted,
    Code,
    Table,
    Row,
    Cell {
        heads: bool,
    },
    Link,
    Break,
    Rule,
    Image,
    /// `title`, `meta`, `base`, `link` and the like: no text.
    Metadata,
    /// Its content is none for a reader: scripts, menus, forms' fields, pictures, frames.
    Dropped,
    Inline,
}

impl Element {
    pub(super) fn of(name: &[u8]) -> Self {
        match name {
            b"html" => Self::Document,
            b"head" => Self::Head,
            b"body" => Self::Body,
            b"title" => Self::Title,
            b"h1" => Self::Heading(1),
            b"h2" => Self::Heading(2),
            b"h3" => Self::Heading(3),
            b"h4" => Self::Heading(4),
            b"h5" => Self::Heading(5),
            b"h6" => Self::Heading(6),
            b"p" => Self::Paragraph,
            b"article" | b"main" => Self::Article,
            b"header" | b"footer" | b"aside" | b"form" => Self::Margin,
            b"ul" | b"menu" | b"dir" => Self::List { ordered: false },
            b"ol" => Self::List { ordered: true },
            b"li" => Self::Item,
            b"dt" => Self::Term,
            b"dd" => Self::Description,
            b"blockquote" => Self::Quote,
            b"pre" | b"listing" | b"xmp" | b"plaintext" => Self::Preformatted,
            b"code" | b"kbd" | b"samp" | b"tt" => Self::Code,
            b"table" => Self::Table,
            b"tr" => Self::Row,
            b"td" => Self::Cell { heads: false },
            b"th" => Self::Cell { heads: true },
            b"a" => Self::Link,
            b"br" => Self::Break,
            b"hr" => Self::Rule,
            b"img" => Self::Image,
            b"meta" | b"base" | b"link" | b"basefont" | b"bgsound" | b"wbr" | b"col" | b"param"
            | b"source" | b"track" | b"area" => Self::Metadata,
            b"script" | b"style" | b"noscript" | b"template" | b"nav" | b"svg" | b"math"
            | b"iframe" | b"object" | b"embed" | b"applet" | b"canvas" | b"audio" | b"video"
            | b"map" | b"button" | b"input" | b"select" | b"textarea" | b"datalist"
            | b"optgroup" | b"option" | b"dialog" | b"frameset" | b"frame" | b"noframes"
            | b"noembed" | b"slot" | b"progress" | b"meter" | b"rp" | b"rt" => Self::Dropped,
            b"div" | b"section" | b"address" | b"center" | b"details" | b"summary" | b"dl"
            | b"fieldset" | b"legend" | b"figure" | b"figcaption" | b"hgroup" | b"search"
            | b"caption" | b"thead" | b"tbody" | b"tfoot" => Self::Division,
            _ => Self::Inline,
        }
    }

    /// Whether it never has content, so that no end is waited for.
    pub(super) fn is_void(self, name: &[u8]) -> bool {
        match self {
            Self::Break | Self::Rule | Self::Image | Self::Metadata => true,
            _ => matches!(name, b"input" | b"embed" | b"frame"),
        }
    }

    /// Whether it begins a block: a paragraph that is still open ends before it.
    pub(super) fn is_block(self) -> bool {
        match self {
            Self::Heading(_)
            | Self::Paragraph
            | Self::Division
            | Self::Article
            | Self::Margin
            | Self::List { .. }
            | Self::Item
            | Self::Term
            | Self::Description
            | Self::Quote
            | Self::Preformatted
            | Self::Table
            | Self::Row
            | Self::Cell { .. }
            | Self::Rule => true,
            Self::Document
            | Self::Head
            | Self::Body
            | Self::Title
            | Self::Code
            | Self::Link
            | Self::Break
            | Self::Image
            | Self::Metadata
            | Self::Dropped
            | Self::Inline => false,
        }
    }

    /// An end tag inside does not reach past it.
    pub(super) fn is_boundary(self) -> bool {
        matches!(self, Self::Document | Self::Table | Self::Cell { .. })
    }
}
