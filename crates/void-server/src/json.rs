//! JSON that every reader understands the same way: one object, each name once at any depth, and no
//! NUL in any text, which one database keeps and another refuses. A whole number is one however it is
//! written: `38.0` and `1e2` are what JSON Schema calls integers.

use std::fmt;

use serde::de::{DeserializeOwned, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Reads one object into `T`. The error is for the caller and quotes little of what was sent.
pub(crate) fn object<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, serde_json::Error> {
    // Derived structs would also read a list as their members in order.
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return Err(Error::custom("not a JSON object"));
    }
    let Plain(value) = serde_json::from_slice(bytes)?;
    serde_json::from_value(value)
}

/// A value whose objects say each thing once.
struct Plain(Value);

impl<'de> serde::Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueKeys).map(Self)
    }
}

struct UniqueKeys;

impl<'de> Visitor<'de> for UniqueKeys {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let Plain(value) = map.next_value()?;
            if members.insert(without_nul(name)?, value).is_some() {
                return Err(Error::custom("a name is given twice in one object"));
            }
        }
        Ok(Value::Object(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Plain(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::from(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::from(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(whole(number).map_or_else(|| Value::from(number), Value::from))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        without_nul(text).map(Value::String)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
}

/// Beyond this a float is not exactly what was written.
const WHOLE_MAX: f64 = 9_007_199_254_740_991.0;

fn whole(number: f64) -> Option<i64> {
    let is_whole = number.fract() == 0.0 && number.abs() <= WHOLE_MAX;
    is_whole.then(|| format!("{number:.0}").parse().ok())?
}

fn without_nul<E: Error>(text: String) -> Result<String, E> {
    if text.contains('\0') {
        return Err(E::custom("a text holds a NUL"));
    }
    Ok(text)
}

#[cfg(test)]
#[path = "../../void-testkit/src/json_vectors.rs"]
mod vectors;

#[cfg(test)]
mod tests {
    use super::vectors::{Class, objects};
    use super::*;

    #[test]
    fn what_is_json_is_read_and_what_is_not_is_refused() {
        let mut seen = 0;
        for (class, text) in objects() {
            let read = object::<Value>(&text).is_ok();
            let shown = String::from_utf8_lossy(text.get(..80).unwrap_or(&text)).into_owned();
            match class {
                Class::Valid => assert!(read, "{shown}"),
                Class::Invalid => assert!(!read, "{shown}"),
                Class::Open => {}
            }
            seen += 1;
        }
        assert!(seen > 150, "{seen}");
    }

    #[test]
    fn what_two_readers_could_read_differently_is_refused() {
        for (text, good) in [
            (
                r#" {"a":1,"b":{"a":-1.5},"c":[{"a":true},{"a":null}]} "#,
                true,
            ),
            (r#"{"a":1,"a":1}"#, false),
            (r#"{"a":1,"\u0061":2}"#, false),
            (r#"{"b":[{"a":1,"a":1}]}"#, false),
            (r#"{"a":"x\u0000y"}"#, false),
            (r#"{"a\u0000":1}"#, false),
            (r#"[{"a":1}]"#, false),
            (r#""a""#, false),
            ("null", false),
            (r#"{"a":1} {"#, false),
            (r#"{"a":"\ud800"}"#, false),
            ("", false),
        ] {
            let read = object::<Value>(text.as_bytes());
            assert_eq!(read.is_ok(), good, "{text}");
            if let Ok(value) = read {
                assert_eq!(value, serde_json::from_str::<Value>(text).unwrap());
            }
        }
        for (text, number) in [
            ("38.0", serde_json::json!(38)),
            ("1e2", serde_json::json!(100)),
            ("-0.0", serde_json::json!(0)),
            (
                "-9007199254740991.0",
                serde_json::json!(-9_007_199_254_740_991_i64),
            ),
            (
                "9007199254740992.0",
                serde_json::json!(9_007_199_254_740_992.0),
            ),
            ("1.5", serde_json::json!(1.5)),
        ] {
            let read: Value = object(format!("{{\"a\":{text}}}").as_bytes()).unwrap();
            assert_eq!(read["a"], number, "{text}");
        }
        let deep = format!("{{\"a\":{}", "[".repeat(100_000));
        assert!(object::<Value>(deep.as_bytes()).is_err());
    }
}
