//! A model's Markdown, drawn as it comes: bold, code, headings and lists. What is not closed within its line stays
//! as it was written, so nothing that was said is lost. Only marks are read here; that no words pass for ours, and
//! that a terminal obeys none of them, is kept by [`super::quotes`], through which everything goes.

/// How words look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Bold,
    Italic,
    Code,
    /// A line of a block of code.
    Block,
    Heading,
}

/// Words that look alike.
pub(super) type Run = (Style, String);

/// A mark that is not closed within this much is none.
const HELD_CHARS_MAX: usize = 400;
/// Deeper than this, an indented line is not looked at for marks.
const INDENT_MAX: usize = 12;
const FENCE: &str = "```";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    /// What the line is, is not known yet.
    Start,
    Text(Style),
    /// A line of a block of code.
    Code,
    /// The line of a fence, which is not shown.
    Fence,
}

/// Text that comes piece by piece.
#[derive(Debug)]
pub(super) struct Drawing {
    line: LineKind,
    is_in_block: bool,
    /// What cannot be told yet: the beginning of a line, or a mark that may be closed.
    held: Vec<char>,
    /// The character before what is held.
    before: char,
    runs: Vec<Run>,
}

impl Drawing {
    pub(super) const fn new() -> Self {
        Self {
            line: LineKind::Start,
            is_in_block: false,
            held: Vec::new(),
            before: '\n',
            runs: Vec::new(),
        }
    }

    /// The next piece, as far as it can be drawn.
    pub(super) fn push(&mut self, piece: &str) -> Vec<Run> {
        for symbol in piece.chars() {
            self.feed(symbol);
        }
        std::mem::take(&mut self.runs)
    }

    /// What was held back, because no more comes before something else is shown.
    pub(super) fn end(&mut self) -> Vec<Run> {
        if self.line == LineKind::Start && !self.held.is_empty() {
            self.begin_line(&Lead::Plain);
        }
        while !self.held.is_empty() {
            self.give_up_mark();
        }
        std::mem::take(&mut self.runs)
    }

    fn feed(&mut self, symbol: char) {
        if symbol == '\n' {
            self.end_line();
            return;
        }
        match self.line {
            LineKind::Fence => {}
            LineKind::Code => self.emit(Style::Block, symbol),
            LineKind::Start => {
                self.held.push(symbol);
                let line: String = self.held.iter().collect();
                match lead(&line, self.is_in_block) {
                    Lead::Undecided => {}
                    lead => self.begin_line(&lead),
                }
            }
            LineKind::Text(style) => self.feed_text(style, symbol),
        }
    }

    fn end_line(&mut self) {
        if self.line == LineKind::Start {
            let line: String = self.held.iter().collect();
            let is_fence = line.trim() == FENCE;
            self.begin_line(if is_fence { &Lead::Fence } else { &Lead::Plain });
        }
        while !self.held.is_empty() {
            self.give_up_mark();
        }
        if self.line != LineKind::Fence {
            self.emit(Style::Plain, '\n');
        }
        self.line = LineKind::Start;
        self.before = '\n';
    }

    /// The beginning of the line is understood: its mark is drawn, the rest is read as text.
    fn begin_line(&mut self, lead: &Lead) {
        let held: Vec<char> = std::mem::take(&mut self.held);
        let (line, skipped, drawn) = match lead {
            Lead::Fence => {
                self.is_in_block = !self.is_in_block;
                (LineKind::Fence, held.len(), String::new())
            }
            Lead::Heading(marks) => (LineKind::Text(Style::Heading), *marks, String::new()),
            Lead::Bullet(indent) => (
                LineKind::Text(Style::Plain),
                indent + 2,
                format!("{}• ", " ".repeat(*indent)),
            ),
            Lead::Undecided | Lead::Plain if self.is_in_block => {
                (LineKind::Code, 0, "  ".to_owned())
            }
            Lead::Undecided | Lead::Plain => (LineKind::Text(Style::Plain), 0, String::new()),
        };
        self.line = line;
        for symbol in drawn.chars() {
            self.emit(Style::Plain, symbol);
        }
        for symbol in held.into_iter().skip(skipped) {
            self.feed(symbol);
        }
    }

    fn feed_text(&mut self, style: Style, symbol: char) {
        if self.held.is_empty() {
            let may_open = match symbol {
                '`' => true,
                // Between letters and digits it is a sign of its own: 2*3.
                '*' => !self.before.is_alphanumeric(),
                _ => false,
            };
            if may_open {
                self.held.push(symbol);
            } else {
                self.emit(style, symbol);
            }
            return;
        }
        self.held.push(symbol);
        match closing(&self.held) {
            Closing::Open if self.held.len() <= HELD_CHARS_MAX => {}
            Closing::Open | Closing::None => self.give_up_mark(),
            Closing::Closed(inner, marks) => {
                let held = std::mem::take(&mut self.held);
                let text = held.get(marks..held.len() - marks).unwrap_or_default();
                for symbol in text {
                    self.emit(inner, *symbol);
                }
            }
        }
    }

    /// It was no mark: its first character is itself, and the others are read again.
    fn give_up_mark(&mut self) {
        let style = match self.line {
            LineKind::Text(style) => style,
            LineKind::Start | LineKind::Code | LineKind::Fence => Style::Plain,
        };
        let mut held = std::mem::take(&mut self.held).into_iter();
        if let Some(first) = held.next() {
            self.emit(style, first);
        }
        for symbol in held {
            self.feed(symbol);
        }
    }

    fn emit(&mut self, style: Style, symbol: char) {
        self.before = symbol;
        match self.runs.last_mut() {
            Some((last, text)) if *last == style => text.push(symbol),
            _ => self.runs.push((style, symbol.to_string())),
        }
    }
}

enum Lead {
    Undecided,
    Plain,
    Fence,
    /// So many characters are its mark.
    Heading(usize),
    /// After so many spaces.
    Bullet(usize),
}

/// What the beginning of a line says about it.
fn lead(line: &str, is_in_block: bool) -> Lead {
    let marks = line.trim_start_matches(' ');
    let indent = line.len() - marks.len();
    if indent > INDENT_MAX {
        return Lead::Plain;
    }
    if marks.starts_with(FENCE) {
        return Lead::Fence;
    }
    if FENCE.starts_with(marks) {
        return Lead::Undecided;
    }
    if is_in_block {
        return Lead::Plain;
    }
    if matches!(marks, "-" | "*" | "+") {
        return Lead::Undecided;
    }
    if matches!(marks, "- " | "* " | "+ ") {
        return Lead::Bullet(indent);
    }
    let after = marks.trim_start_matches('#');
    match (marks.len() - after.len(), after) {
        (1..=6, "") => Lead::Undecided,
        (1..=6, " ") => Lead::Heading(line.len()),
        _ => Lead::Plain,
    }
}

enum Closing {
    /// It may still be closed.
    Open,
    /// It is no mark.
    None,
    /// It is closed by as many characters as opened it.
    Closed(Style, usize),
}

fn closing(held: &[char]) -> Closing {
    match held {
        ['`', '`'] => Closing::None,
        ['`', .., '`'] => Closing::Closed(Style::Code, 1),
        ['`', ..] => Closing::Open,
        ['*', '*'] => Closing::Open,
        ['*', '*', ' ' | '*', ..] => Closing::None,
        ['*', '*', .., last, '*', '*'] if *last != ' ' => Closing::Closed(Style::Bold, 2),
        ['*', '*', ..] => Closing::Open,
        ['*', ' ', ..] => Closing::None,
        ['*', .., ' ', '*'] => Closing::None,
        ['*', _, .., '*'] => Closing::Closed(Style::Italic, 1),
        _ => Closing::Open,
    }
}

#[cfg(test)]
mod tests;
