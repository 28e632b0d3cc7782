//! A model's words in a terminal, set off so that none of them can pass for a line of ours.
//!
//! Every line of theirs begins with a bar, also where the terminal would break a long one; lines of the
//! server and of this program never do. What the words look like then does not matter: `Void:` with
//! spaces before it, in other letters or after a screenful of blanks still has the bar in front.

use void_domain::text;

use super::markdown::Style;

/// What every line of a model begins with.
pub(super) const BAR: &str = "│ ";
const BAR_COLUMNS: usize = 2;
/// Narrower than this nothing can be read anyway; the terminal breaks lines as it likes.
const COLUMNS_MIN: usize = 10;

/// Words that come piece by piece. On a terminal a word is held until it is whole, so that lines break between
/// words.
#[derive(Debug, Default)]
pub(super) struct Quote {
    /// How wide the terminal is, if it is one.
    columns: Option<usize>,
    /// How far the line has come; 0 before its bar.
    column: usize,
    /// The word that is not whole yet.
    held: Vec<(char, Style)>,
    /// Whether a line of theirs stands above; empty ones before the first say nothing.
    is_begun: bool,
    /// Whether words may look otherwise than plain.
    is_styled: bool,
}

impl Quote {
    pub(super) fn new(columns: Option<usize>, is_styled: bool) -> Self {
        Self {
            columns: columns.map(|columns| columns.max(COLUMNS_MIN)),
            is_styled,
            ..Self::default()
        }
    }

    /// The next words, as they are to be printed. Their looks never reach the bar.
    pub(super) fn push(&mut self, piece: &str, style: Style) -> String {
        let piece = match style {
            // Without looks it would be words like any others.
            Style::Code if !self.is_styled => format!("`{piece}`"),
            Style::Italic if !self.is_styled => format!("“{piece}”"),
            _ => piece.to_owned(),
        };
        let mut shown = ShownLines::new(self.is_styled);
        for symbol in text::escaped_lines(&piece).chars() {
            match symbol {
                '\n' => {
                    self.release(&mut shown);
                    self.break_line(&mut shown);
                }
                ' ' => {
                    self.release(&mut shown);
                    // At the end of a full line it needs no room.
                    if self.fits(1) {
                        self.put(&mut shown, symbol, style);
                    }
                }
                _ => {
                    self.held.push((symbol, style));
                    if self.columns.is_none_or(|most| self.held.len() >= most) {
                        self.release(&mut shown);
                    }
                }
            }
        }
        shown.end()
    }

    /// The rest, if no more words come for now.
    pub(super) fn end(&mut self) -> String {
        let mut shown = ShownLines::new(self.is_styled);
        self.release(&mut shown);
        shown.end()
    }

    /// The held word, in a new line if this one has no room for it. One that no line has room for is broken.
    fn release(&mut self, shown: &mut ShownLines) {
        let word = std::mem::take(&mut self.held);
        let wide = word.iter().map(|(symbol, _)| columns_of(*symbol)).sum();
        let is_one_line = self.columns.is_none_or(|most| BAR_COLUMNS + wide <= most);
        if !word.is_empty() && !self.fits(wide) && is_one_line {
            self.break_line(shown);
        }
        for (symbol, style) in word {
            if !self.fits(columns_of(symbol)) {
                self.break_line(shown);
            }
            self.put(shown, symbol, style);
        }
    }

    fn fits(&self, wide: usize) -> bool {
        let column = self.column.max(BAR_COLUMNS);
        self.columns.is_none_or(|most| column + wide <= most)
    }

    fn put(&mut self, shown: &mut ShownLines, symbol: char, style: Style) {
        if self.column == 0 {
            shown.plain(BAR);
            self.column = BAR_COLUMNS;
        }
        shown.styled(symbol, style);
        self.column += columns_of(symbol);
        self.is_begun = true;
    }

    fn break_line(&mut self, shown: &mut ShownLines) {
        if self.column == 0 {
            if !self.is_begun {
                return;
            }
            shown.plain(BAR.trim_end());
        }
        shown.plain("\n");
        self.column = 0;
    }

    /// Whether a line has begun that has no end yet.
    pub(super) const fn is_in_line(&self) -> bool {
        self.column > 0
    }

    /// Somebody else broke the line, and says something.
    pub(super) const fn end_line(&mut self) {
        self.column = 0;
        self.is_begun = false;
    }
}

/// What is printed, with looks that begin and end around the words alone.
struct ShownLines {
    text: String,
    is_styled: bool,
    look: Option<Style>,
}

impl ShownLines {
    const fn new(is_styled: bool) -> Self {
        Self {
            text: String::new(),
            is_styled,
            look: None,
        }
    }

    fn plain(&mut self, text: &str) {
        self.set(None);
        self.text.push_str(text);
    }

    fn styled(&mut self, symbol: char, style: Style) {
        self.set(self.is_styled.then_some(style));
        self.text.push(symbol);
    }

    fn set(&mut self, look: Option<Style>) {
        if self.look != look {
            self.text.push_str(self.look.map_or("", |old| looks(old).1));
            self.text.push_str(look.map_or("", |new| looks(new).0));
            self.look = look;
        }
    }

    fn end(mut self) -> String {
        self.set(None);
        self.text
    }
}

/// At most as wide as this; too early a break does no harm.
const fn columns_of(symbol: char) -> usize {
    if symbol.is_ascii() { 1 } else { 2 }
}

/// What a terminal is told before and after words of a style.
const fn looks(style: Style) -> (&'static str, &'static str) {
    match style {
        Style::Plain => ("", ""),
        Style::Bold | Style::Heading => ("\u{1b}[1m", "\u{1b}[0m"),
        Style::Italic => ("\u{1b}[3m", "\u{1b}[0m"),
        Style::Code | Style::Block => ("\u{1b}[36m", "\u{1b}[0m"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::markdown::Drawing;
    use super::*;

    /// Each would be taken for the server's at the beginning of a line.
    const LOOKALIKES: [&str; 10] = [
        "Void: ran 1 of 1",
        "  Void: ran",
        "\u{a0}Void: ran",
        "\u{200b}Void: ran",
        "\u{feff}Void: ran",
        "V\u{043e}id: ran",
        "Ｖｏｉｄ: ran",
        "\u{1b}[2K\u{1b}[GVoid: ran",
        "\rVoid: ran",
        "\u{2028}Void: ran\u{85}Void: ran\u{b}Void: ran\u{c}Void: ran",
    ];

    fn whole(columns: Option<usize>, pieces: &[&str]) -> String {
        drawn(columns, pieces, false)
    }

    /// The way of a model's words to the terminal.
    fn drawn(columns: Option<usize>, pieces: &[&str], is_styled: bool) -> String {
        let mut quote = Quote::new(columns, is_styled);
        let mut drawing = Drawing::new();
        let mut runs: Vec<_> = pieces
            .iter()
            .flat_map(|piece| drawing.push(piece))
            .collect();
        runs.extend(drawing.end());
        let mut shown: String = runs
            .iter()
            .map(|(style, text)| quote.push(text, *style))
            .collect();
        shown.push_str(&quote.end());
        shown
    }

    /// Takes away what we ourselves tell a terminal; whatever is left comes from the model.
    fn without_looks(shown: &str) -> String {
        let mut rest = shown.to_owned();
        for ours in ["\u{1b}[1m", "\u{1b}[3m", "\u{1b}[36m", "\u{1b}[0m"] {
            rest = rest.replace(ours, "");
        }
        rest
    }

    fn assert_quoted(shown: &str) {
        for line in shown.split('\n').filter(|line| !line.is_empty()) {
            assert!(line.starts_with(BAR) || line == BAR.trim_end(), "{shown:?}");
        }
        assert!(
            shown
                .chars()
                .all(|symbol| symbol == '\n' || !symbol.is_control()),
            "{shown:?}"
        );
    }

    #[test]
    fn no_words_of_a_model_begin_a_line_of_ours() {
        for words in LOOKALIKES {
            for text in [
                words.to_owned(),
                format!("Well.\n{words}"),
                format!("Well.\r\n{words}\n\n{words}\n"),
                format!("Well.\r{words}"),
            ] {
                assert_quoted(&whole(None, &[&text]));
                // However the stream cuts it.
                let letters: Vec<String> = text.chars().map(String::from).collect();
                let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
                assert_quoted(&whole(None, &letters));
                assert_quoted(&whole(Some(20), &letters));
                // However it is marked.
                for mark in ["**", "*", "`", "# ", "- ", "```\n"] {
                    let marked = format!("{mark}{text}{mark}");
                    assert_quoted(&whole(Some(20), &[&marked]));
                    let shown = drawn(Some(20), &[&marked], true);
                    assert_quoted(&without_looks(&shown));
                    // The bar itself is never drawn otherwise, and every look ends in its line.
                    for line in shown.split('\n').filter(|line| !line.is_empty()) {
                        assert!(line.starts_with(BAR.trim_end()), "{shown:?}");
                        let opened = line.matches("\u{1b}[").count();
                        assert_eq!(opened, 2 * line.matches("\u{1b}[0m").count(), "{shown:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_line_that_the_terminal_would_break_is_broken_with_a_bar() {
        for columns in [10, 40, 80] {
            for padding in [
                "x".repeat(columns),
                " ".repeat(columns),
                "東".repeat(columns),
            ] {
                let shown = whole(Some(columns), &[&padding, "Void: ran"]);
                assert_quoted(&shown);
                for line in shown.split('\n') {
                    let wide: usize = line.chars().skip(BAR_COLUMNS).map(columns_of).sum();
                    assert!(BAR_COLUMNS + wide <= columns, "{columns}: {line:?}");
                }
            }
        }
    }

    #[test]
    fn lines_break_between_words_however_they_come() {
        let text = "It waits for your yes: GMJZ. `void inbox approve GMJZ` says yes.";
        let letters: Vec<String> = text.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        let expected = "│ It waits for your yes:\n│ GMJZ. `void inbox\n│ approve GMJZ` says yes.";
        // A blank at the end of a line is not seen.
        let seen = |pieces: &[&str]| whole(Some(26), pieces).replace(" \n", "\n");
        assert_eq!(seen(&[text]), expected);
        assert_eq!(seen(&letters), expected);
        assert_eq!(whole(Some(10), &["0123456789ab c"]), "│ 01234567\n│ 89ab c");
        // Nothing was said yet that an empty line could be below of.
        assert_eq!(
            whole(Some(26), &["\n\nWell.\n\nGood."]),
            "│ Well.\n│\n│ Good."
        );
    }

    #[test]
    fn words_stay_as_they_are_between_the_bars() {
        let shown = whole(None, &["Hel", "lo\nwor", "ld\n", "\nend"]);
        assert_eq!(shown, "│ Hello\n│ world\n│\n│ end");
        let mut quote = Quote::new(None, false);
        assert!(!quote.is_in_line());
        quote.push("a", Style::Plain);
        assert!(quote.is_in_line());
        quote.end_line();
        assert_eq!(quote.push("b", Style::Plain), "│ b");
    }

    #[test]
    fn marks_are_drawn_and_asterisks_are_not() {
        let text = "# Now\n**caddy** is `up`\n- *one*";
        assert_eq!(whole(None, &[text]), "│ Now\n│ caddy is `up`\n│ • “one”");
        assert_eq!(
            drawn(None, &[text], true),
            "│ \u{1b}[1mNow\u{1b}[0m\n│ \u{1b}[1mcaddy\u{1b}[0m is \u{1b}[36mup\u{1b}[0m\n│ • \u{1b}[3mone\u{1b}[0m"
        );
    }
}
