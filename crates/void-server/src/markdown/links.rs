//! Where a link in foreign text may lead, and addresses that stand in a text as they are.

use void_domain::text;

use super::bounds::LINK_BYTES_MAX;

/// `http://` and at least two letters.
const ADDRESS_BYTES_MIN: usize = 9;

/// A whole address of the web, of a mailbox or of this page, without anything that browsers strip or
/// rewrite and without anything that nobody sees.
pub(super) fn is_harmless(target: &str) -> bool {
    let is_plain = |letter: char| {
        !letter.is_control()
            && !letter.is_whitespace()
            && letter != '\\'
            && !text::is_deceptive(letter)
    };
    target.len() <= LINK_BYTES_MAX
        && ["http://", "https://", "mailto:", "#/"]
            .into_iter()
            .any(|scheme| begins(target, scheme))
        && target.chars().all(is_plain)
}

/// Whether a text begins with a scheme, in whatever case.
pub(super) fn begins(text: &str, scheme: &str) -> bool {
    text.get(..scheme.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

/// A piece of plain text: words, or an address of the web.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Words(&'a str),
    Address(&'a str),
}

/// The addresses of the web in a text, and the words around them. Every letter is looked at a bounded
/// number of times.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut words_from = 0;
    let mut at = 0;
    while let Some(start) = next_scheme(text, at) {
        let rest = text.get(start..).unwrap_or_default();
        let run = run(rest);
        let address = trimmed(run);
        // Too long for an address is too long for all that begins within it.
        if run.len() > LINK_BYTES_MAX {
            at = start + run.len();
        } else if address.len() < ADDRESS_BYTES_MIN || !is_harmless(address) {
            at = start + 1;
        } else {
            add_words(&mut pieces, text.get(words_from..start));
            pieces.push(Piece::Address(address));
            at = start + address.len();
            words_from = at;
        }
    }
    add_words(&mut pieces, text.get(words_from..));
    pieces
}

fn add_words<'a>(pieces: &mut Vec<Piece<'a>>, words: Option<&'a str>) {
    if let Some(words) = words.filter(|words| !words.is_empty()) {
        pieces.push(Piece::Words(words));
    }
}

/// Where the next `http://` or `https://` begins that is not within a word.
fn next_scheme(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let mut found = rest.match_indices(['h', 'H']).map(|(at, _)| from + at);
    found.find(|start| {
        let before = text.get(..*start).and_then(|before| before.chars().last());
        let is_in_word = before.is_some_and(|one| one.is_ascii_alphanumeric() || one == '_');
        let rest = text.get(*start..).unwrap_or_default();
        !is_in_word && (begins(rest, "http://") || begins(rest, "https://"))
    })
}

/// As far as an address could go.
fn run(text: &str) -> &str {
    let ends = |one: char| one.is_whitespace() || matches!(one, '<' | '>' | '`' | '\\' | '[' | ']');
    let end = text.find(ends).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// Signs at the end of a sentence are not part of an address, nor a bracket that was opened before it.
fn trimmed(address: &str) -> &str {
    let opened = address.matches('(').count();
    let mut closed = address.matches(')').count();
    let mut rest = address;
    while let Some(last) = rest.chars().last() {
        match last {
            ')' if closed > opened => closed -= 1,
            '.' | ',' | ':' | ';' | '!' | '?' | '\'' | '"' | '*' | '_' | '~' => {}
            _ => break,
        }
        rest = rest.get(..rest.len() - last.len_utf8()).unwrap_or_default();
    }
    rest
}
