//! JSON objects that are filled in as things are known.

use serde_json::{Map, Value};

#[derive(Default)]
pub(crate) struct Row(Map<String, Value>);

impl Row {
    /// The fields of an object; anything else has none.
    pub(crate) fn of(object: Value) -> Self {
        match object {
            Value::Object(fields) => Self(fields),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Self::default(),
        }
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }
}

impl From<Row> for Value {
    fn from(row: Row) -> Self {
        Self::Object(row.0)
    }
}
