//! What stands between the parentheses of `[words](…)`: an address, and maybe a title that nobody needs here.

use crate::limits::LINK_BYTES_MAX;

/// Parentheses in a bare address, one in another; as many as CommonMark asks for.
pub(super) const NESTED_MAX: usize = 32;

/// The address and how many bytes it takes up to and with the closing parenthesis.
pub(super) fn read(text: &str) -> Option<(String, usize)> {
    let start = text.trim_start_matches([' ', '\t']);
    let (address, rest) = match start.strip_prefix('<') {
        Some(inside) => in_angles(inside)?,
        None => bare(start)?,
    };
    let rest = behind_title(rest)?;
    let rest = rest.trim_start_matches([' ', '\t']).strip_prefix(')')?;
    let length = text.len() - rest.len();
    (length <= LINK_BYTES_MAX).then_some((address, length))
}

fn in_angles(inside: &str) -> Option<(String, &str)> {
    let mut address = String::new();
    let mut characters = inside.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '>' => return Some((address, inside.get(at + 1..)?)),
            '<' | '\n' => return None,
            '\\' => push_escaped(&mut address, characters.next()?.1),
            other => address.push(other),
        }
        if at > LINK_BYTES_MAX {
            return None;
        }
    }
    None
}

fn bare(text: &str) -> Option<(String, &str)> {
    let mut address = String::new();
    let mut depth = 0_usize;
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            ')' if depth == 0 => return Some((address, text.get(at..)?)),
            ' ' | '\t' if depth == 0 => return Some((address, text.get(at..)?)),
            ' ' | '\t' => return None,
            ')' => depth -= 1,
            '(' if depth == NESTED_MAX => return None,
            '(' => depth += 1,
            control if control.is_control() => return None,
            '\\' => {
                push_escaped(&mut address, characters.next()?.1);
                continue;
            }
            _ => {}
        }
        address.push(character);
        if at > LINK_BYTES_MAX {
            return None;
        }
    }
    None
}

/// A backslash stands for itself before anything but a mark.
fn push_escaped(address: &mut String, character: char) {
    if !character.is_ascii_punctuation() {
        address.push('\\');
    }
    address.push(character);
}

/// What follows a title in quotes or parentheses, or the same text when none is there.
fn behind_title(text: &str) -> Option<&str> {
    let title = text.trim_start_matches([' ', '\t']);
    let is_apart = title.len() < text.len();
    let close = match title.chars().next() {
        Some('"') if is_apart => '"',
        Some('\'') if is_apart => '\'',
        Some('(') if is_apart => ')',
        _ => return Some(text),
    };
    let inside = title.get(1..)?;
    let mut characters = inside.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            end if end == close => return inside.get(at + 1..),
            '(' if close == ')' => return None,
            '\n' => return None,
            '\\' => {
                characters.next();
            }
            _ => {}
        }
        if at > LINK_BYTES_MAX {
            return None;
        }
    }
    None
}

/// The address, if it is a path in a vault: neither empty, nor with a scheme or a host.
pub(super) fn in_vault(address: &str) -> Option<&str> {
    let scheme = address.split(['/', '#', '?']).next().unwrap_or("");
    let has_scheme = scheme.contains(':');
    let has_host = address.starts_with("//") || address.starts_with("\\\\");
    (!address.is_empty() && !has_scheme && !has_host).then_some(address)
}

/// The text with `%20` and the like as the characters they are; nothing if those are none, or a NUL.
pub(super) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut ahead = rest.clone();
        let mut digit = || {
            ahead
                .next()
                .and_then(|digit| char::from(digit).to_digit(16))
        };
        match (byte, digit(), digit()) {
            (b'%', Some(high), Some(low)) => {
                bytes.push(u8::try_from(high * 16 + low).ok()?);
                rest = ahead;
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8(bytes)
        .ok()
        .filter(|text| !text.contains('\0'))
}
