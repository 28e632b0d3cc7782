//! Strict JSON in any spelling into its RFC 8785 form.
//!
//! Key order, white space and escapes are free. Refused is whatever two readers could understand
//! differently: duplicate keys, numbers that are not plain integers, lone surrogates.

use crate::entries::{DEPTH_MAX, INTEGER_MAX};

/// The canonical form of a text that is exactly one value.
pub(crate) fn rewrite(text: &str) -> Result<String, String> {
    let mut parser = Parser { text, at: 0 };
    let value = parser.value(0)?;
    parser.skip_space();
    match parser.rest() {
        "" => Ok(value),
        _ => Err(parser.error("more after the object")),
    }
}

/// What a spelled string, given without its quotes, says.
pub(crate) fn unescape(spelled: &[u8]) -> Option<String> {
    let text = format!("\"{}\"", str::from_utf8(spelled).ok()?);
    Parser { text: &text, at: 0 }.string().ok()
}

/// A string in its canonical spelling, with quotes.
pub(crate) fn escape(string: &str) -> String {
    let mut out = String::with_capacity(string.len() + 2);
    out.push('"');
    for c in string.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\x08' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\x0c' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\0'..' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

struct Parser<'a> {
    text: &'a str,
    /// Byte offset, always between two characters.
    at: usize,
}

/// Every reading function returns the canonical form of what it read, `string` the meaning.
impl Parser<'_> {
    /// `depth` is that of the container around the value.
    fn value(&mut self, depth: usize) -> Result<String, String> {
        self.skip_space();
        match self.rest().bytes().next() {
            Some(b'{' | b'[') if depth == DEPTH_MAX => Err(self.error("nested too deep")),
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.array(depth + 1),
            Some(b'"') => self.string().map(|string| escape(&string)),
            Some(b'-' | b'0'..=b'9') => self.integer(),
            _ => match ["null", "true", "false"]
                .into_iter()
                .find(|word| self.accept(word))
            {
                Some(word) => Ok(word.to_owned()),
                None => Err(self.error("not a JSON value")),
            },
        }
    }

    fn array(&mut self, depth: usize) -> Result<String, String> {
        let mut items = Vec::new();
        self.expect("[")?;
        self.skip_space();
        if !self.accept("]") {
            loop {
                items.push(self.value(depth)?);
                if self.ends_with("]")? {
                    break;
                }
            }
        }
        Ok(format!("[{}]", items.join(",")))
    }

    fn object(&mut self, depth: usize) -> Result<String, String> {
        let mut members = Vec::new();
        self.expect("{")?;
        self.skip_space();
        if !self.accept("}") {
            loop {
                self.skip_space();
                let key = self.string()?;
                self.skip_space();
                self.expect(":")?;
                members.push((key, self.value(depth)?));
                if self.ends_with("}")? {
                    break;
                }
            }
        }
        // RFC 8785 sorts by UTF-16 units, which differs from the order of `str` above U+FFFF.
        members.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
        if members
            .windows(2)
            .any(|pair| matches!(pair, [(a, _), (b, _)] if a == b))
        {
            return Err(self.error("a key twice in the object that ends here"));
        }
        let members: Vec<_> = members
            .iter()
            .map(|(k, v)| format!("{}:{v}", escape(k)))
            .collect();
        Ok(format!("{{{}}}", members.join(",")))
    }

    /// After an item: the closing bracket, or a comma and so another item.
    fn ends_with(&mut self, bracket: &str) -> Result<bool, String> {
        self.skip_space();
        match self.accept(bracket) {
            true => Ok(true),
            false => self.expect(",").map(|()| false),
        }
    }

    fn integer(&mut self) -> Result<String, String> {
        let is_other = |c: char| !matches!(c, '-' | '+' | '.' | 'e' | 'E' | '0'..='9');
        let token = self.rest().split(is_other).next().unwrap_or_default();
        match token.parse::<i64>() {
            // Only the one spelling: 1.0, 1e0, 01 and -0 are refused, not rewritten.
            Ok(number) if number.to_string() == token && number.abs() <= INTEGER_MAX => {
                let canonical = token.to_owned();
                self.at += canonical.len();
                Ok(canonical)
            }
            _ => Err(self.error("a number that is not a plain integer within 2^53 - 1")),
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let mut string = String::new();
        self.expect("\"")?;
        loop {
            let is_special = |c: char| matches!(c, '\0'..' ' | '"' | '\\');
            let plain = self.rest().split(is_special).next().unwrap_or_default();
            string.push_str(plain);
            self.at += plain.len();
            if self.accept("\"") {
                return Ok(string);
            }
            self.expect("\\")?;
            string.push(self.escaped()?);
        }
    }

    fn escaped(&mut self) -> Result<char, String> {
        let letters = ["\"", "\\", "/", "b", "f", "n", "r", "t"];
        let meanings = ['"', '\\', '/', '\x08', '\x0c', '\n', '\r', '\t'];
        let mut short = letters.into_iter().zip(meanings);
        if let Some((_, meaning)) = short.find(|(letter, _)| self.accept(letter)) {
            return Ok(meaning);
        }
        self.expect("u")?;
        let mut units = vec![self.unit()?];
        if matches!(units.first(), Some(0xd800..0xdc00)) && self.accept("\\u") {
            units.push(self.unit()?);
        }
        match char::decode_utf16(units).next() {
            Some(Ok(c)) => Ok(c),
            _ => Err(self.error("a lone surrogate")),
        }
    }

    /// Four hex digits, lower case only: else the one bit between `\u001f` and `\u001F` could flip in a
    /// line of Void's without a change of content, and a changed byte must never pass.
    fn unit(&mut self) -> Result<u16, String> {
        let digits = self.rest().get(..4).unwrap_or_default();
        match u16::from_str_radix(digits, 16) {
            Ok(unit) if format!("{unit:04x}") == digits => {
                self.at += 4;
                Ok(unit)
            }
            _ => Err(self.error("expected four lower-case hex digits")),
        }
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_space(&mut self) {
        let rest = self.rest().trim_start_matches([' ', '\t', '\n', '\r']);
        self.at = self.text.len() - rest.len();
    }

    fn accept(&mut self, token: &str) -> bool {
        let accepted = self.rest().starts_with(token);
        self.at += if accepted { token.len() } else { 0 };
        accepted
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        match self.accept(token) {
            true => Ok(()),
            false => Err(self.error(&format!("expected {token}"))),
        }
    }

    fn error(&self, what: &str) -> String {
        format!("byte {}: {what}", self.at + 1)
    }
}

#[cfg(test)]
#[path = "../../void-testkit/src/json_vectors.rs"]
mod vectors;

#[cfg(test)]
mod tests {
    use super::vectors::{Class, objects};
    use super::*;
    use crate::entries;

    fn canonical(text: &[u8]) -> Option<String> {
        rewrite(str::from_utf8(text).ok()?).ok()
    }

    /// Valid JSON that this reader refuses on purpose: numbers in other spellings than the one, and upper-case hex.
    fn is_spelled_otherwise(text: &str) -> bool {
        let value = text.strip_prefix(r#"{"a":"#).unwrap_or_default();
        let number = value.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        let other_number = number && (value.contains(['.', 'e', 'E']) || value == "-0}");
        other_number || value.contains("\\uDBFF")
    }

    #[test]
    fn what_is_json_is_read_and_what_is_not_is_refused() {
        let (mut taken, mut refused) = (0, 0);
        for (class, text) in objects() {
            let read = canonical(&text);
            let shown = String::from_utf8_lossy(text.get(..80).unwrap_or(&text)).into_owned();
            let expected =
                class == Class::Valid && !is_spelled_otherwise(&String::from_utf8_lossy(&text));
            // What readers differ about is refused here, all of it.
            assert_eq!(read.is_some(), expected, "{shown}: {read:?}");
            match read {
                None => refused += 1,
                Some(read) => {
                    taken += 1;
                    assert_eq!(canonical(read.as_bytes()).as_ref(), Some(&read), "{shown}");
                    let meanings = [text.as_slice(), read.as_bytes()]
                        .map(|text| serde_json::from_slice::<serde_json::Value>(text).unwrap());
                    assert_eq!(meanings[0], meanings[1], "{shown}");
                }
            }
        }
        assert!(taken > 25 && refused > 120, "{taken} {refused}");
    }

    #[test]
    fn what_two_readers_could_read_differently_is_refused() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let (at_limit, over) = (nested(DEPTH_MAX), nested(DEPTH_MAX + 1));
        let largest = INTEGER_MAX.to_string();
        let too_large = (INTEGER_MAX + 1).to_string();
        for (text, good) in [
            (r#"{"a":1,"b":{"a":1}}"#, true),
            (r#"{"a":1,"a":1}"#, false),
            (r#"{"a":1,"\u0061":2}"#, false),
            (r#"[{"b":1,"c":2,"b":3}]"#, false),
            (r#""\ud800""#, false),
            (r#""\udc00\ud800""#, false),
            (r#""\ud83d\ude00""#, true),
            ("1e2", false),
            ("1E400", false),
            ("-0", false),
            ("0", true),
            (largest.as_str(), true),
            (too_large.as_str(), false),
            ("\u{feff}{}", false),
            (at_limit.as_str(), true),
            (over.as_str(), false),
            ("", false),
            (" ", false),
        ] {
            assert_eq!(
                rewrite(text).is_ok(),
                good,
                "{}",
                text.get(..40).unwrap_or(text)
            );
        }
    }

    /// Through the door: as the detail of an entry, with bytes that are no text among them.
    #[test]
    fn an_entry_takes_as_detail_what_the_reader_takes() {
        let zeros = "0".repeat(64);
        for (_, detail) in objects() {
            let line = [
                br#"{"actor":"system","at":"2026-01-31T23:59:59.999Z","catalogue":null,"detail":"#.as_slice(),
                &detail,
                format!(
                    r#","hash":"{zeros}","prev":"{zeros}","request_id":null,"seq":1,"subject":null,"verb":"a.b"}}"#
                )
                .as_bytes(),
                b"\n",
            ]
            .concat();
            let shown = String::from_utf8_lossy(detail.get(..80).unwrap_or(&detail)).into_owned();
            assert_eq!(
                entries::read(&line).is_ok(),
                canonical(&detail).is_some(),
                "{shown}"
            );
        }
    }
}
