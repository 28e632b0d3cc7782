//! A source made ready for the parser. Marks that nobody sees are dropped, and a letter of our own is put
//! where CommonMark would read HTML or the definition of a reference: HTML is text here, and what a later
//! line defines would change blocks that are finished. What is read loses that letter again.

use super::bounds::LINK_BYTES_MAX;
use super::links::begins;

/// Not a character of any text: Unicode keeps it for use inside of programs.
const GUARD: char = '\u{fdd0}';
/// Stands for a mark that an entity (`&#x202e;`) brings back.
const REPLACEMENT: &str = "\u{fffd}";
const JOINER: char = '\u{200d}';

pub(super) fn guarded(source: &str) -> String {
    let mut ready = String::with_capacity(source.len() + source.len() / 16);
    let mut before = None;
    for (at, letter) in source.char_indices() {
        let rest = source.get(at + letter.len_utf8()..).unwrap_or_default();
        let is_dropped = matches!(letter, '\r' | GUARD)
            || is_unseen(letter)
            || letter == JOINER
                && before.is_some_and(is_picture)
                && rest.chars().next().is_some_and(is_picture);
        if is_dropped {
            continue;
        }
        if letter == ':' && before == Some(']') {
            ready.push(GUARD);
        }
        ready.push(letter);
        if letter == '<' && !is_address(rest) {
            ready.push(GUARD);
        }
        before = Some(letter);
    }
    ready
}

/// What the parser read, as it is shown.
pub(super) fn shown(text: &str) -> String {
    unguarded(text).replace(is_unseen, REPLACEMENT)
}

pub(super) fn unguarded(text: &str) -> String {
    text.replace(GUARD, "")
}

/// Turns the reading order around, or only chooses how a sign is drawn.
const fn is_unseen(letter: char) -> bool {
    matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fe00}'..='\u{fe0f}')
}

/// The blocks of Unicode with signs that a joiner makes one of.
const fn is_picture(letter: char) -> bool {
    matches!(letter, '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{2600}'..='\u{27bf}'
        | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

/// Whether `<` before this begins an address in angle brackets, and thus no HTML.
fn is_address(rest: &str) -> bool {
    let end = rest.find(|one: char| one.is_whitespace() || matches!(one, '<' | '>'));
    let Some(inside) = end.and_then(|end| rest.get(..end)) else {
        return false;
    };
    let is_closed = rest
        .get(inside.len()..)
        .is_some_and(|rest| rest.starts_with('>'));
    let is_mailbox = || {
        let is_plain =
            |one: char| one.is_ascii_alphanumeric() || matches!(one, '.' | '+' | '-' | '_' | '@');
        inside.contains('@') && inside.chars().all(is_plain)
    };
    let is_one = ["http://", "https://", "mailto:"]
        .into_iter()
        .any(|scheme| begins(inside, scheme))
        || is_mailbox();
    is_closed && inside.len() <= LINK_BYTES_MAX && is_one
}
