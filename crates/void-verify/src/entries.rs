//! One line of an export as an entry, or the reason why it is none.
//!
//! [`scan`] accepts a line exactly if it is an entry in its RFC 8785 form, and builds nothing on the way:
//! the bytes are hashed as they stand, around the neighbours `hash` and `prev`. A line that is spelled
//! otherwise is put into that form first. So what is accepted has one definition, and it is this file.
//!
//! The functions under `scan` take the text that is left and return what is left after their piece.

use crate::canonical;
use crate::hashes::{Hash, entry_hash_of_parts, parse_hash};
use crate::stretches;

/// The longest line, in bytes without its newline.
pub const LINE_BYTES_MAX: usize = 1 << 20;
/// The deepest nesting of objects and arrays; the entry's own object is 1.
pub const DEPTH_MAX: usize = 64;
/// Integers lie within ± this, which every JSON reader holds exactly.
pub const INTEGER_MAX: i64 = (1 << 53) - 1;

/// What linking needs of an entry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) seq: u64,
    pub(crate) prev: Hash,
    /// The hash the line states.
    pub(crate) hash: Hash,
    /// The hash its `prev` and content have. Not equal to `hash`: edited.
    pub(crate) content_hash: Hash,
    /// Whether the line had to be put into canonical form.
    pub(crate) reformatted: bool,
}

impl Entry {
    pub(crate) fn is_intact(&self) -> bool {
        self.hash == self.content_hash
    }
}

/// Reads one line, newline included.
pub(crate) fn read(line: &[u8]) -> Result<Entry, String> {
    // This guards the last newline too: no byte of a file may change unnoticed.
    let Some(line) = line.strip_suffix(b"\n") else {
        return Err("the file ends inside this line".to_owned());
    };
    if line.len() > LINE_BYTES_MAX {
        return Err(format!("longer than {LINE_BYTES_MAX} bytes"));
    }
    let text = str::from_utf8(line)
        .map_err(|error| format!("byte {}: not UTF-8", error.valid_up_to() + 1))?;
    if let Ok(entry) = scan(line) {
        return Ok(entry);
    }
    let rewritten = canonical::rewrite(text)?;
    let entry = scan(rewritten.as_bytes()).map_err(|expected| format!("expected {expected}"))?;
    Ok(Entry {
        reformatted: true,
        ..entry
    })
}

/// The error is what was expected, and means nothing for a line that is not canonical JSON.
fn scan(line: &[u8]) -> Result<Entry, &'static str> {
    let (_, rest) = string(after(line, r#"{"actor":"#)?).ok_or("a string as actor")?;
    let (at, rest) = string(after(rest, r#","at":"#)?).ok_or(TIMESTAMP)?;
    let (catalogue, rest) = string_or_null(after(rest, r#","catalogue":"#)?).ok_or(CATALOGUE)?;
    let rest = value(after(rest, r#","detail":"#)?, 1).ok_or("a value as detail")?;
    let before = line.get(..line.len() - rest.len()).unwrap_or_default();
    let (hash, rest) = hash(after(rest, r#","hash":""#)?).ok_or("64 lower-case hex as hash")?;
    let (prev, rest) =
        self::hash(after(rest, r#","prev":""#)?).ok_or("64 lower-case hex as prev")?;
    let content_hash = entry_hash_of_parts(&prev, before, rest);
    let (_, rest) = string_or_null(after(rest, r#","request_id":"#)?).ok_or("a request_id")?;
    let (seq, rest) = integer(after(rest, r#","seq":"#)?).ok_or(SEQ)?;
    let (_, rest) = string_or_null(after(rest, r#","subject":"#)?).ok_or("a subject")?;
    let (_, rest) = string(after(rest, r#","verb":"#)?).ok_or("a string as verb")?;
    match u64::try_from(seq) {
        _ if rest != b"}" => Err("no member after verb"),
        _ if !is_timestamp(at) => Err(TIMESTAMP),
        _ if !catalogue.is_none_or(is_digest) => Err(CATALOGUE),
        Ok(seq @ 1..) => Ok(Entry {
            seq,
            prev,
            hash,
            content_hash,
            reformatted: false,
        }),
        _ => Err(SEQ),
    }
}

const TIMESTAMP: &str = "a UTC time with milliseconds as at";
const CATALOGUE: &str = "64 hex digits or null as catalogue";
const SEQ: &str = "an integer from 1 as seq";

fn after<'a>(text: &'a [u8], key: &'static str) -> Result<&'a [u8], &'static str> {
    text.strip_prefix(key.as_bytes()).ok_or(key)
}

fn hash(text: &[u8]) -> Option<(Hash, &[u8])> {
    let (digits, rest) = text.split_at_checked(64)?;
    Some((parse_hash(digits)?, rest.strip_prefix(b"\"")?))
}

/// `2026-01-31T23:59:59.999Z`: the shape only; the hash guards the value.
fn is_timestamp(text: &[u8]) -> bool {
    const SHAPE: &[u8; 24] = b"0000-00-00T00:00:00.000Z";
    let fits = |(byte, shape): (&u8, &u8)| match shape {
        b'0' => byte.is_ascii_digit(),
        _ => byte == shape,
    };
    text.len() == SHAPE.len() && text.iter().zip(SHAPE).all(fits)
}

fn is_digest(text: &[u8]) -> bool {
    text.len() == 64 && text.iter().all(u8::is_ascii_hexdigit)
}

/// `depth` is that of the container around the value.
fn value(text: &[u8], depth: usize) -> Option<&[u8]> {
    match text {
        [b'"', ..] => string(text).map(|(_, rest)| rest),
        [b'{' | b'[', ..] if depth == DEPTH_MAX => None,
        [b'{', b'}', rest @ ..] | [b'[', b']', rest @ ..] => Some(rest),
        [b'{', rest @ ..] => object(rest, depth + 1),
        [b'[', rest @ ..] => array(rest, depth + 1),
        [b't', ..] => text.strip_prefix(b"true"),
        [b'f', ..] => text.strip_prefix(b"false"),
        [b'n', ..] => text.strip_prefix(b"null"),
        _ => integer(text).map(|(_, rest)| rest),
    }
}

fn array(mut text: &[u8], depth: usize) -> Option<&[u8]> {
    loop {
        match value(text, depth)? {
            [b',', rest @ ..] => text = rest,
            [b']', rest @ ..] => return Some(rest),
            _ => return None,
        }
    }
}

fn object(mut text: &[u8], depth: usize) -> Option<&[u8]> {
    let mut last = None;
    loop {
        let (key, rest) = string(text)?;
        if !last.is_none_or(|last| ascends(last, key)) {
            return None;
        }
        last = Some(key);
        match value(rest.strip_prefix(b":")?, depth)? {
            [b',', rest @ ..] => text = rest,
            [b'}', rest @ ..] => return Some(rest),
            _ => return None,
        }
    }
}

/// The order of keys is that of their UTF-16 units; for plain ASCII that is the order of bytes.
fn ascends(a: &[u8], b: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii() && *byte != b'\\';
    if a.iter().chain(b).all(is_plain) {
        return a < b;
    }
    match (canonical::unescape(a), canonical::unescape(b)) {
        (Some(a), Some(b)) => a.encode_utf16().lt(b.encode_utf16()),
        _ => false,
    }
}

fn string_or_null(text: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    match text.strip_prefix(b"null") {
        Some(rest) => Some((None, rest)),
        None => string(text).map(|(content, rest)| (Some(content), rest)),
    }
}

/// The content as it is spelled, and what follows the closing quote.
fn string(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let body = text.strip_prefix(b"\"")?;
    let mut rest = body;
    loop {
        let special = stretches::special(rest)?;
        rest = match rest.get(special..)? {
            [b'"', rest @ ..] => return Some((body.get(..body.len() - rest.len() - 1)?, rest)),
            [
                b'\\',
                b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't',
                rest @ ..,
            ] => rest,
            // \b \t \n \f \r have the short spelling above, so their numbers are left out here.
            [
                b'\\',
                b'u',
                b'0',
                b'0',
                b'0',
                b'0'..=b'7' | b'b' | b'e' | b'f',
                rest @ ..,
            ]
            | [
                b'\\',
                b'u',
                b'0',
                b'0',
                b'1',
                b'0'..=b'9' | b'a'..=b'f',
                rest @ ..,
            ] => rest,
            _ => return None,
        };
    }
}

fn integer(text: &[u8]) -> Option<(i64, &[u8])> {
    const DIGITS_MAX: usize = 16;
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let count = unsigned
        .iter()
        .take(DIGITS_MAX)
        .take_while(|b| b.is_ascii_digit())
        .count();
    let (digits, rest) = unsigned.split_at_checked(count)?;
    let sign = if unsigned.len() == text.len() { 1 } else { -1 };
    match (digits, rest) {
        ([b'0'], _) if sign > 0 => Some((0, rest)),
        ([] | [b'0', ..], _) | (_, [b'0'..=b'9', ..]) => None,
        _ => {
            let number = digits
                .iter()
                .fold(0, |n, digit| n * 10 + i64::from(digit - b'0'));
            (number <= INTEGER_MAX).then_some((sign * number, rest))
        }
    }
}
