//! JSON that says each thing once: objects with a repeated key are refused, at any depth.
//!
//! Two readers of `{"a":1,"a":2}` may disagree on what it means, so neither tickets nor lists may be written so.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeOwned, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Reads one JSON object that repeats no key.
pub(crate) fn object<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, serde_json::Error> {
    // serde's derived structs also take arrays; the wire formats here are objects only.
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return Err(serde_json::Error::custom("not a JSON object"));
    }
    serde_json::from_slice::<EachKeyOnce>(bytes)?;
    serde_json::from_slice(bytes)
}

struct EachKeyOnce;

impl<'de> serde::Deserialize<'de> for EachKeyOnce {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Walk)
    }
}

struct Walk;

impl<'de> Visitor<'de> for Walk {
    type Value = EachKeyOnce;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<EachKeyOnce, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            map.next_value::<EachKeyOnce>()?;
            if !keys.insert(key) {
                return Err(Error::custom("a key is repeated"));
            }
        }
        Ok(EachKeyOnce)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<EachKeyOnce, A::Error> {
        while seq.next_element::<EachKeyOnce>()?.is_some() {}
        Ok(EachKeyOnce)
    }

    fn visit_bool<E>(self, _: bool) -> Result<EachKeyOnce, E> {
        Ok(EachKeyOnce)
    }

    fn visit_i64<E>(self, _: i64) -> Result<EachKeyOnce, E> {
        Ok(EachKeyOnce)
    }

    fn visit_u64<E>(self, _: u64) -> Result<EachKeyOnce, E> {
        Ok(EachKeyOnce)
    }

    fn visit_f64<E>(self, _: f64) -> Result<EachKeyOnce, E> {
        Ok(EachKeyOnce)
    }

    fn visit_str<E>(self, _: &str) -> Result<EachKeyOnce, E> {
        Ok(EachKeyOnce)
    }

    fn visit_unit<E>(self) -> Result<EachKeyOnce, E> {
        Ok(EachKeyOnce)
    }
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
            let read = object::<serde_json::Value>(&text).is_ok();
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
    fn a_key_may_stand_only_once_per_object() {
        for (text, good) in [
            (r#"{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]}"#, true),
            (r#" {"a":null} "#, true),
            (r#"{"a":1,"a":1}"#, false),
            (r#"{"a":1,"\u0061":1}"#, false),
            (r#"{"b":[{"a":1,"a":1}]}"#, false),
            (r#"[{"a":1}]"#, false),
            (r#"{"a":1} x"#, false),
            ("", false),
        ] {
            assert_eq!(
                object::<serde_json::Value>(text.as_bytes()).is_ok(),
                good,
                "{text}"
            );
        }
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(object::<serde_json::Value>(deep.as_bytes()).is_err());
    }
}
