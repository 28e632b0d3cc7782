//! Canonical JSON (RFC 8785) for everything that is hashed.
//!
//! Hashes must not depend on a map order, a formatter or a feature flag of a dependency, so the
//! writer is ours. Numbers are integers that every JSON reader holds exactly; a fraction has no
//! place in a definition and is refused rather than rounded.

use std::cmp::Ordering;
use std::fmt::Write as _;

use serde_json::Value;

use crate::digests::Digest;

/// 2^53 - 1: beyond it two JSON readers may disagree about a number.
pub const INTEGER_MAX: u64 = 9_007_199_254_740_991;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} has no canonical form: only integers up to 2^53 - 1 do")]
pub struct NotCanonical(String);

pub fn to_canonical(value: &Value) -> Result<String, NotCanonical> {
    let mut out = String::with_capacity(256);
    write_value(&mut out, value)?;
    Ok(out)
}

pub fn digest_of(value: &Value) -> Result<Digest, NotCanonical> {
    to_canonical(value).map(|text| Digest::of(text.as_bytes()))
}

fn write_value(out: &mut String, value: &Value) -> Result<(), NotCanonical> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(out, number)?,
        Value::String(text) => write_string(out, text),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(out, item)?;
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
            sorted.sort_by(|(left, _), (right, _)| compare_utf16(left, right));
            out.push('{');
            for (index, (name, member)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_string(out, name);
                out.push(':');
                write_value(out, member)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

fn write_number(out: &mut String, number: &serde_json::Number) -> Result<(), NotCanonical> {
    let exact = match (number.as_u64(), number.as_i64()) {
        (Some(positive), _) => positive <= INTEGER_MAX,
        (None, Some(negative)) => negative.unsigned_abs() <= INTEGER_MAX,
        (None, None) => false,
    };
    if !exact {
        return Err(NotCanonical(number.to_string()));
    }
    // Writing to a String cannot fail.
    let _ = write!(out, "{number}");
    Ok(())
}

/// RFC 8785 orders names by UTF-16 code units, which differs from byte order above U+FFFF.
fn compare_utf16(left: &str, right: &str) -> Ordering {
    if left.is_ascii() && right.is_ascii() {
        return left.cmp(right);
    }
    left.encode_utf16().cmp(right.encode_utf16())
}

pub fn write_string(out: &mut String, text: &str) {
    out.push('"');
    let mut plain = text;
    while let Some(at) = plain.bytes().position(is_escaped) {
        let (before, rest) = plain.split_at(at);
        out.push_str(before);
        let mut rest = rest.chars();
        if let Some(character) = rest.next() {
            write_escaped(out, character);
        }
        plain = rest.as_str();
    }
    out.push_str(plain);
    out.push('"');
}

/// What stands for itself nowhere: such bytes are characters of their own in UTF-8.
const fn is_escaped(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

fn write_escaped(out: &mut String, character: char) {
    match character {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\u{8}' => out.push_str("\\b"),
        '\t' => out.push_str("\\t"),
        '\n' => out.push_str("\\n"),
        '\u{c}' => out.push_str("\\f"),
        '\r' => out.push_str("\\r"),
        control => {
            let _ = write!(out, "\\u{:04x}", u32::from(control));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn orders_names_by_utf16_and_escapes_as_the_rfc_says() {
        let value = json!({
            "\u{20ac}": "Euro", "\r": "CR", "\u{fb33}": "Hebrew", "1": "One",
            "\u{1f600}": "Smiley", "\u{80}": "Control", "\u{f6}": "Latin"
        });
        // The order of RFC 8785, section 3.2.3.
        assert_eq!(
            to_canonical(&value).unwrap(),
            "{\"\\r\":\"CR\",\"1\":\"One\",\"\u{80}\":\"Control\",\"\u{f6}\":\"Latin\",\"\u{20ac}\":\"Euro\",\"\u{1f600}\":\"Smiley\",\"\u{fb33}\":\"Hebrew\"}"
        );
        assert_eq!(
            to_canonical(&json!("\u{8}\t\n\u{c}\r\"\\/\u{1}\u{7f}")).unwrap(),
            "\"\\b\\t\\n\\f\\r\\\"\\\\/\\u0001\u{7f}\""
        );
    }

    #[test]
    fn white_space_and_member_order_do_not_change_the_digest() {
        let left: Value =
            serde_json::from_str(r#"{"b":[1,2,{"y":null,"x":true}],"a":-7}"#).unwrap();
        let right: Value =
            serde_json::from_str("{ \"a\" : -7,\n\t\"b\":[1, 2,{\"x\":true,\"y\":null}] }")
                .unwrap();
        assert_eq!(digest_of(&left), digest_of(&right));
        let other: Value =
            serde_json::from_str(r#"{"a":-7,"b":[2,1,{"x":true,"y":null}]}"#).unwrap();
        assert_ne!(digest_of(&left), digest_of(&other));
    }

    #[test]
    fn refuses_numbers_that_two_readers_could_read_differently() {
        assert_eq!(
            to_canonical(&json!(9_007_199_254_740_991_u64)).unwrap(),
            "9007199254740991"
        );
        for bad in [
            "1.5",
            "1e2",
            "9007199254740992",
            "-9007199254740992",
            "18446744073709551615",
        ] {
            let value: Value = serde_json::from_str(bad).unwrap();
            assert!(to_canonical(&value).is_err(), "{bad}");
        }
    }
}
