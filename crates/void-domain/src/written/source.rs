//! JSON that remembers its lines.
//!
//! These files are written by hand, so every complaint names a line. `serde_json` knows lines only
//! where it stops; this reader keeps one for every value and name, and refuses what two readers
//! could understand differently: duplicate names, fractions, numbers beyond 2^53, anything after
//! the end.

use std::collections::HashSet;

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::canonical::INTEGER_MAX;
use crate::text;

const DEPTH_MAX: usize = 32;

/// How many names one object may have.
pub(crate) const MEMBERS_MAX: usize = 2_048;

/// How much of a token an error repeats.
const TOKEN_SHOWN_BYTES: usize = 80;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SourceNode {
    pub line: u32,
    pub content: SourceContent,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SourceContent {
    Null,
    Bool(bool),
    Integer(i64),
    Text(String),
    List(Vec<SourceNode>),
    Object(Vec<Member>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Member {
    pub line: u32,
    pub name: String,
    pub value: SourceNode,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub line: u32,
    pub message: String,
    /// It is JSON, and says something that is not taken here.
    is_json: bool,
}

impl SyntaxError {
    /// For whoever wrote it: what is no JSON is called so, and nothing else is.
    pub(crate) fn words(&self) -> String {
        if self.is_json {
            self.message.clone()
        } else {
            format!("not valid JSON: {}", self.message)
        }
    }
}

impl SourceNode {
    pub(crate) fn to_value(&self) -> Value {
        match &self.content {
            SourceContent::Null => Value::Null,
            SourceContent::Bool(flag) => Value::Bool(*flag),
            SourceContent::Integer(number) => Value::from(*number),
            SourceContent::Text(text) => Value::String(text.clone()),
            SourceContent::List(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            SourceContent::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|member| (member.name.clone(), member.value.to_value()))
                    .collect::<Map<String, Value>>(),
            ),
        }
    }

    /// What a person would call this kind of value.
    pub(crate) fn kind(&self) -> &'static str {
        match self.content {
            SourceContent::Null => "null",
            SourceContent::Bool(_) => "true or false",
            SourceContent::Integer(_) => "a number",
            SourceContent::Text(_) => "a string",
            SourceContent::List(_) => "a list",
            SourceContent::Object(_) => "an object",
        }
    }
}

pub(crate) fn read(text: &str) -> Result<SourceNode, SyntaxError> {
    let mut reader = Reader {
        rest: text,
        line: 1,
    };
    let node = reader.value(0)?;
    reader.skip_space();
    if reader.rest.is_empty() {
        Ok(node)
    } else {
        Err(reader.error("something stands after the end"))
    }
}

struct Reader<'a> {
    rest: &'a str,
    line: u32,
}

impl Reader<'_> {
    fn error(&self, message: impl Into<String>) -> SyntaxError {
        SyntaxError {
            line: self.line,
            message: message.into(),
            is_json: false,
        }
    }

    fn refusal(&self, message: impl Into<String>) -> SyntaxError {
        SyntaxError {
            is_json: true,
            ..self.error(message)
        }
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let character = characters.next()?;
        self.rest = characters.as_str();
        if character == '\n' {
            self.line += 1;
        }
        Some(character)
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\n' | '\r')) {
            self.take();
        }
    }

    fn expect(&mut self, wanted: char) -> Result<(), SyntaxError> {
        self.skip_space();
        if self.peek() == Some(wanted) {
            self.take();
            return Ok(());
        }
        Err(self.error(match self.peek() {
            Some(found) => format!("expected `{wanted}`, found `{}`", found.escape_default()),
            None => format!("expected `{wanted}`, but the file ends"),
        }))
    }

    fn value(&mut self, depth: usize) -> Result<SourceNode, SyntaxError> {
        if depth > DEPTH_MAX {
            return Err(self.refusal(format!("nested deeper than {DEPTH_MAX} levels")));
        }
        self.skip_space();
        let line = self.line;
        let content = match self.peek() {
            Some('{') => self.object(depth)?,
            Some('[') => self.list(depth)?,
            Some('"') => SourceContent::Text(self.string()?),
            Some('-' | '0'..='9') => self.integer()?,
            Some('t' | 'f' | 'n') => self.word()?,
            Some(other) => {
                return Err(self.error(format!("unexpected `{}`", other.escape_default())));
            }
            None => return Err(self.error("the file ends where a value should be")),
        };
        Ok(SourceNode { line, content })
    }

    fn object(&mut self, depth: usize) -> Result<SourceContent, SyntaxError> {
        self.take();
        let mut members: Vec<Member> = Vec::new();
        let mut names = HashSet::new();
        self.skip_space();
        if self.peek() == Some('}') {
            self.take();
            return Ok(SourceContent::Object(members));
        }
        loop {
            self.skip_space();
            let line = self.line;
            if self.peek() != Some('"') {
                return Err(self.error("expected a name in double quotes"));
            }
            let name = self.string()?;
            if !names.insert(name.clone()) {
                let name = shown(&name);
                return Err(self.refusal(format!("\"{name}\" is given twice in one object")));
            }
            if members.len() >= MEMBERS_MAX {
                return Err(self.refusal(format!("more than {MEMBERS_MAX} names in one object")));
            }
            self.expect(':')?;
            let value = self.value(depth + 1)?;
            members.push(Member { line, name, value });
            self.skip_space();
            if self.peek() == Some(',') {
                self.take();
                continue;
            }
            self.expect('}')?;
            return Ok(SourceContent::Object(members));
        }
    }

    fn list(&mut self, depth: usize) -> Result<SourceContent, SyntaxError> {
        self.take();
        let mut items = Vec::new();
        self.skip_space();
        if self.peek() == Some(']') {
            self.take();
            return Ok(SourceContent::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.skip_space();
            if self.peek() == Some(',') {
                self.take();
                continue;
            }
            self.expect(']')?;
            return Ok(SourceContent::List(items));
        }
    }

    /// The raw token goes to `serde_json`, which knows every escape and surrogate rule.
    fn string(&mut self) -> Result<String, SyntaxError> {
        let start = self.rest;
        self.take();
        let mut escaped = false;
        loop {
            match self.take() {
                None => return Err(self.error("a string has no closing quote")),
                Some('"') if !escaped => break,
                Some('\\') if !escaped => escaped = true,
                Some(character) if character.is_control() => {
                    let message = "a string holds a raw control character or line break";
                    // Above U+001F JSON itself would take them.
                    return Err(if character < ' ' {
                        self.error(message)
                    } else {
                        self.refusal(message)
                    });
                }
                Some(_) => escaped = false,
            }
        }
        let token = start
            .get(..start.len() - self.rest.len())
            .unwrap_or_default();
        serde_json::from_str(token).map_err(|_| self.error("a string holds an invalid escape"))
    }

    fn integer(&mut self) -> Result<SourceContent, SyntaxError> {
        let start = self.rest;
        while matches!(self.peek(), Some('-' | '+' | '.' | 'e' | 'E' | '0'..='9')) {
            self.take();
        }
        let token = start
            .get(..start.len() - self.rest.len())
            .unwrap_or_default();
        let digits = token.strip_prefix('-').unwrap_or(token);
        let follows = digits
            .strip_prefix('0')
            .and_then(|rest| rest.chars().next());
        if follows.is_some_and(|next| next.is_ascii_digit()) {
            return Err(self.error(format!("{} has a leading zero", shown(token))));
        }
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            let token_shown = shown(token);
            let message = format!("{token_shown} is not a whole number written with digits alone");
            return Err(if serde_json::from_str::<IgnoredAny>(token).is_ok() {
                self.refusal(message)
            } else {
                self.error(message)
            });
        }
        match token.parse::<i64>() {
            Ok(number) if number.unsigned_abs() <= INTEGER_MAX => {
                Ok(SourceContent::Integer(number))
            }
            _ => Err(self.refusal(format!("{} is too large", shown(token)))),
        }
    }

    fn word(&mut self) -> Result<SourceContent, SyntaxError> {
        for (word, content) in [
            ("true", SourceContent::Bool(true)),
            ("false", SourceContent::Bool(false)),
            ("null", SourceContent::Null),
        ] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(content);
            }
        }
        Err(self.error("expected true, false or null"))
    }
}

fn shown(token: &str) -> String {
    text::escaped(text::cut(token, TOKEN_SHOWN_BYTES))
}

#[cfg(test)]
#[path = "../../../void-testkit/src/json_vectors.rs"]
mod vectors;

#[cfg(test)]
mod tests {
    use super::vectors::{Class, objects};
    use super::*;

    /// What JSON says of them, this reader says too; what is JSON and not taken is refused for what it is.
    #[test]
    fn the_vectors_of_json_are_taken_or_called_what_they_are() {
        let mut seen = 0;
        for (class, bytes) in objects() {
            let Ok(text) = std::str::from_utf8(&bytes) else {
                assert_ne!(class, Class::Valid, "{bytes:?}");
                continue;
            };
            let shown = text.chars().take(80).collect::<String>();
            match (class, read(text)) {
                (Class::Valid, Ok(node)) => {
                    // To a reader of whole numbers minus zero is zero.
                    let text = text.replace(":-0}", ":0}");
                    let other: Value = serde_json::from_str(&text).unwrap();
                    assert_eq!(node.to_value(), other, "{shown}");
                }
                (Class::Valid, Err(error)) => {
                    assert!(
                        !error.words().contains("not valid JSON"),
                        "{shown}: {error:?}"
                    );
                }
                (Class::Invalid, read) => {
                    let words = read.map_err(|error| error.words()).unwrap_err();
                    // What is too deep is not read to its end.
                    let is_named = words.starts_with("not valid JSON: ")
                        || words.starts_with("nested deeper than");
                    assert!(is_named, "{shown}: {words}");
                }
                (Class::Open, _) => {}
            }
            seen += 1;
        }
        assert!(seen > 150, "{seen}");
    }

    #[test]
    fn agrees_with_serde_json_on_what_it_accepts() {
        let text =
            "{\"a\": [1, -2, null, true, false, \"x\\u00e9\\n\\\"\\\\\"],\n \"b\": {}, \"c\": []}";
        let ours = read(text).unwrap();
        assert_eq!(
            ours.to_value(),
            serde_json::from_str::<Value>(text).unwrap()
        );
    }

    #[test]
    fn refuses_with_the_line() {
        let deep = "[".repeat(40);
        let cases = [
            ("", 1),
            ("{\n\"a\":1,\n\"a\":2}", 3),
            ("{\"a\":1}\n\nx", 3),
            ("[1,\n2.5]", 2),
            ("[01]", 1),
            ("[9007199254740992]", 1),
            ("[1e3]", 1),
            ("[--1]", 1),
            ("{a:1}", 1),
            ("[1,]", 1),
            ("{\"a\":1,}", 1),
            ("\"abc", 1),
            ("\"a\nb\"", 2),
            ("\"\\x\"", 1),
            ("\"\\ud800\"", 1),
            ("nul", 1),
            ("// comment\n{}", 1),
            ("\u{feff}{}", 1),
            (deep.as_str(), 1),
        ];
        for (text, line) in cases {
            let error = read(text).unwrap_err();
            assert_eq!(error.line, line, "{text:?}: {error:?}");
        }
    }

    #[test]
    fn only_what_is_no_json_is_called_that() {
        let deep = format!("{}1{}", "[".repeat(40), "]".repeat(40));
        let big = ["[9007199254740992]", "[-9007199254740992]", "[1e400]"];
        let cases = ["[1e2]", "[1.0]", "[-0.5E-3]", "[0.1]", "{\"a\":1,\"a\":2}"];
        for text in cases
            .into_iter()
            .chain(big)
            .chain([deep.as_str(), "[\"\u{7f}\"]"])
        {
            let error = read(text).unwrap_err();
            assert!(
                !error.words().contains("not valid JSON"),
                "{text}: {error:?}"
            );
        }
        let words = read("{\"cooldown_s\": 1e2}").unwrap_err().words();
        assert!(words.starts_with("1e2 is not a whole number"), "{words}");
        for text in [
            "[1e]",
            "[01]",
            "[00.5]",
            "[--1]",
            "[1.]",
            "[.5]",
            "[1,]",
            "[\"\t\"]",
            "[+1]",
            "\u{feff}{}",
        ] {
            let error = read(text).unwrap_err();
            assert!(
                error.words().starts_with("not valid JSON: "),
                "{text}: {error:?}"
            );
        }
    }
}
