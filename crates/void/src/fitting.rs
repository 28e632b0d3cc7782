//! Lines that fit a terminal. Text is broken between words where that goes, never inside an escape: neither one
//! that a terminal obeys (`ESC [ 31 m`, which takes no room) nor one that shows a character (`\u{202e}`).

/// Narrower than this nothing can be read; then the terminal breaks lines as it likes.
const COLUMNS_MIN: usize = 8;
const ESCAPE: char = '\u{1b}';

/// How many columns a character takes.
const fn columns_of(symbol: char) -> usize {
    match symbol {
        '\u{300}'..='\u{36f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

/// How many columns a text takes; what a terminal obeys takes none.
pub(crate) fn columns(text: &str) -> usize {
    units(text).map(width).sum()
}

fn width(unit: &str) -> usize {
    if unit.starts_with(ESCAPE) {
        return 0;
    }
    unit.chars().map(columns_of).sum()
}

/// The parts of a text that stay whole: escapes, and single characters.
fn units(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let length = match first {
            ESCAPE => rest.find('m').map(|end| end + 1),
            '\\' => shown_character(rest),
            _ => None,
        };
        let (unit, after) = rest.split_at_checked(length.unwrap_or(first.len_utf8()))?;
        rest = after;
        Some(unit)
    })
}

/// How long the escape is that shows a character, at the beginning of `text`. What somebody else wrote in its shape
/// and does not end as soon is broken like every word.
fn shown_character(text: &str) -> Option<usize> {
    const DIGITS_MAX: usize = 6;
    let digits = text.strip_prefix("\\u{")?;
    let end = digits.find(|letter: char| !letter.is_ascii_hexdigit())?;
    let is_whole = (1..=DIGITS_MAX).contains(&end) && digits.get(end..)?.starts_with('}');
    is_whole.then_some("\\u{}".len() + end)
}

/// In front of every piece of a text of somebody else's but its first: nothing in it makes such a piece, so none
/// looks like a line of Void's own.
const BAR: &str = "| ";

/// A text with words of somebody else's behind `lead`, broken between words; a bar stands before all that goes on.
pub(crate) fn continued(lead: &str, text: &str, columns_max: Option<usize>) -> Vec<String> {
    let indent = columns(lead);
    let pieces = match columns_max {
        Some(max) => wrapped(text, max.saturating_sub(indent + BAR.len())),
        None => text.split('\n').map(str::to_owned).collect(),
    };
    let next = format!("{}{BAR}", " ".repeat(indent));
    let leads = std::iter::once(lead).chain(std::iter::repeat(next.as_str()));
    let lines = leads.zip(pieces);
    lines
        .map(|(lead, piece)| format!("{lead}{piece}"))
        .collect()
}

/// The text in lines of at most `max` columns. Its own line breaks stay.
pub(crate) fn wrapped(text: &str, max: usize) -> Vec<String> {
    let max = max.max(COLUMNS_MIN);
    text.split('\n')
        .flat_map(|line| wrapped_line(line, max))
        .collect()
}

/// A line of somebody else's behind `lead`, as it was written: a bar stands before every piece of it, so that none
/// looks like a line of Void's own.
pub(crate) fn barred(lead: &str, text: &str, columns_max: Option<usize>) -> Vec<String> {
    let indent = columns(lead);
    let room = columns_max.map(|max| max.saturating_sub(indent + BAR.len()).max(COLUMNS_MIN));
    let mut pieces = vec![String::new()];
    let mut taken = 0;
    for unit in units(text) {
        let wide = width(unit);
        if room.is_some_and(|room| taken + wide > room) {
            pieces.push(String::new());
            taken = 0;
        }
        if let Some(piece) = pieces.last_mut() {
            piece.push_str(unit);
        }
        taken += wide;
    }
    let first = format!("{lead}{BAR}");
    let next = format!("{}{BAR}", " ".repeat(indent));
    let leads = std::iter::once(first).chain(std::iter::repeat(next));
    let lines = leads.zip(pieces);
    lines.map(|(lead, piece)| lead + &piece).collect()
}

fn wrapped_line(text: &str, max: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut room = max;
    for word in text.split_inclusive(' ') {
        // A space at the end of a line needs no room.
        let needed = columns(word.trim_end_matches(' '));
        let is_begun = room < max;
        if needed > room && is_begun && needed <= max {
            lines.push(String::new());
            room = max;
        }
        for unit in units(word) {
            let wide = width(unit);
            if wide > room && unit != " " {
                lines.push(String::new());
                room = max;
            }
            if let Some(line) = lines.last_mut() {
                line.push_str(unit);
            }
            room = room.saturating_sub(wide);
        }
    }
    for line in &mut lines {
        line.truncate(line.trim_end_matches(' ').len());
    }
    lines
}

/// How many columns the longest word takes: in fewer it is broken.
pub(crate) fn widest_word(text: &str) -> usize {
    text.split([' ', '\n']).map(columns).max().unwrap_or(0)
}

/// What each column of a table gets, so that all of it fits: the widest give way first, down to what can still be
/// read, and the first, by which a row is called, last. No word is broken (`words` has the longest of each column) as
/// long as another column can give way.
pub(crate) fn column_widths(
    natural: &[usize],
    words: &[usize],
    gap: usize,
    max: usize,
) -> Vec<usize> {
    let mut widths = natural.to_vec();
    let gaps = gap * natural.len().saturating_sub(1);
    let room = max.saturating_sub(gaps);
    let whole: Vec<usize> = words.iter().map(|word| (*word).max(COLUMNS_MIN)).collect();
    let broken = vec![COLUMNS_MIN; natural.len()];
    while widths.iter().sum::<usize>() > room {
        let gives_way = giving_way(&widths, &whole).or_else(|| giving_way(&widths, &broken));
        let Some(width) = gives_way.and_then(|column| widths.get_mut(column)) else {
            break;
        };
        *width -= 1;
    }
    widths
}

/// The widest column but the first that is wider than it has to be, or else the first.
fn giving_way(widths: &[usize], least: &[usize]) -> Option<usize> {
    let wider = |column: &usize| widths.get(*column) > least.get(*column);
    let others = (1..widths.len()).filter(wider);
    let widest = others.max_by_key(|column| widths.get(*column));
    widest.or_else(|| Some(0).filter(wider))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_of_a_strangers_line_has_a_bar() {
        let line = format!("+{}approved by you: yes", " ".repeat(70));
        let shown = barred("  diff   ", &line, Some(80));
        assert!(
            shown.len() > 1 && shown[0].starts_with("  diff   | +"),
            "{shown:?}"
        );
        for piece in &shown {
            assert!(
                piece.get(9..11) == Some("| ") && columns(piece) <= 80,
                "{shown:?}"
            );
        }
        let whole: String = shown.iter().filter_map(|piece| piece.get(11..)).collect();
        assert_eq!(whole, line, "no blank is lost");
        assert_eq!(barred("  ", "a  b ", None), ["  | a  b "]);
    }

    #[test]
    fn what_goes_on_has_a_bar_that_no_word_escapes() {
        let text = format!(
            "image: \"a{}risk: nominal | {}\"",
            " ".repeat(60),
            "x".repeat(90)
        );
        let shown = continued("  binds  ", &text, Some(80));
        assert!(
            shown.len() > 2 && shown[0].starts_with("  binds  image"),
            "{shown:?}"
        );
        for piece in &shown[1..] {
            assert!(piece.starts_with("         | "), "{shown:?}");
        }
        assert!(shown.iter().all(|piece| columns(piece) <= 80), "{shown:?}");
        // A shape that looks like an escape of ours is no place to hide a line in.
        for open in ["\\u{", "\\u{20", "\\u{fffffff}"] {
            let text = format!("{open}{}risk: nominal}}", " -".repeat(60));
            for shown in [
                continued("  ", &text, Some(40)),
                barred("  ", &text, Some(40)),
            ] {
                assert!(shown.iter().all(|piece| columns(piece) <= 40), "{shown:?}");
            }
        }
        assert_eq!(continued("  ", "a  b", None), ["  a  b"]);
    }

    #[test]
    fn lines_break_between_words_and_hold_everything() {
        let text = "its list has no entry restart-caddy; run it again";
        for max in [8, 13, 20, 79] {
            let lines = wrapped(text, max);
            assert!(lines.iter().all(|line| columns(line) <= max), "{lines:?}");
            let whole: String = lines.concat();
            assert_eq!(whole.replace(' ', ""), text.replace(' ', ""), "{max}");
        }
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("a\n\nb", 8), ["a", "", "b"]);
        assert_eq!(wrapped("", 8), [""]);
    }

    #[test]
    fn a_word_that_is_too_long_is_broken_but_no_escape_is() {
        assert_eq!(wrapped("0123456789abcdef", 8), ["01234567", "89abcdef"]);
        let shown = "ab\\u{202e}cdefgh\\u{1b}x";
        for max in 8..20 {
            for line in wrapped(shown, max) {
                let (opened, closed) = (line.matches("\\u{").count(), line.matches('}').count());
                assert_eq!(opened, closed, "{line}");
            }
        }
        let coloured = "\u{1b}[31mthis is all red and long\u{1b}[0m";
        assert_eq!(columns(coloured), 24);
        for max in 8..24 {
            for line in wrapped(coloured, max) {
                let (begun, ended) = (line.matches(ESCAPE).count(), line.matches('m').count());
                assert_eq!(begun, ended, "{line:?}");
            }
        }
    }

    #[test]
    fn wide_characters_count_twice_and_marks_not_at_all() {
        assert_eq!(columns("東京"), 4);
        assert_eq!(columns("e\u{301}"), 1);
        assert_eq!(columns("Grüße"), 5);
        for line in wrapped(&"東".repeat(20), 9) {
            assert!(columns(&line) <= 9);
        }
    }

    #[test]
    fn the_widest_columns_give_way_first() {
        assert_eq!(column_widths(&[4, 40, 10], &[4, 4, 4], 2, 40), [4, 22, 10]);
        assert_eq!(column_widths(&[4, 40, 40], &[4, 4, 4], 2, 48), [4, 20, 20]);
        assert_eq!(column_widths(&[4, 10], &[4, 4], 2, 80), [4, 10]);
        assert_eq!(
            column_widths(&[30, 20, 20], &[4, 4, 4], 2, 60),
            [30, 13, 13]
        );
        assert_eq!(column_widths(&[], &[], 2, 10), [0; 0]);
        // A word is broken only where nothing else gives way: a day stays a day.
        assert_eq!(
            column_widths(&[43, 5, 10, 9], &[8, 5, 10, 3], 2, 60),
            [31, 5, 10, 8]
        );
        assert_eq!(column_widths(&[20, 36], &[20, 36], 2, 40), [20, 18]);
        // Too narrow for anything: it ends, and stays readable.
        assert_eq!(column_widths(&[20, 20, 20], &[4, 4, 4], 2, 10), [8, 8, 8]);
    }
}
