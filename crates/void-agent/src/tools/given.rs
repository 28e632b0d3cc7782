//! What a tool gives back, written as text once however often it is handed out.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

/// A value and its texts. Clones are the same value.
#[derive(Debug, Clone, Default)]
pub struct Given(Arc<Written>);

#[derive(Debug, Default)]
struct Written {
    value: Value,
    text: OnceLock<String>,
    quoted: OnceLock<String>,
}

impl Given {
    /// The value as JSON.
    pub fn text(&self) -> &str {
        self.0.text.get_or_init(|| self.0.value.to_string())
    }

    /// That text as a string of JSON.
    pub fn quoted(&self) -> &str {
        let quote = || Value::String(self.text().to_owned()).to_string();
        self.0.quoted.get_or_init(quote)
    }

    pub fn into_value(self) -> Value {
        match Arc::try_unwrap(self.0) {
            Ok(written) => written.value,
            Err(shared) => shared.value.clone(),
        }
    }
}

impl From<Value> for Given {
    fn from(value: Value) -> Self {
        Self(Arc::new(Written {
            value,
            ..Written::default()
        }))
    }
}

impl Deref for Given {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0.value
    }
}

impl PartialEq for Given {
    fn eq(&self, other: &Self) -> bool {
        self.0.value == other.0.value
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_texts_are_those_of_the_value() {
        let value = json!({"a": ["\"\\\n\u{1}ä", 1.5, null]});
        let given = Given::from(value.clone());
        let text: Value = serde_json::from_str(given.text()).unwrap();
        assert_eq!(text, value);
        let quoted: String = serde_json::from_str(given.quoted()).unwrap();
        assert_eq!(quoted, given.text());
        assert_eq!((*given).clone(), value);
        assert_eq!(given.clone().into_value(), value);
        assert_eq!(given.into_value(), value);
    }
}
