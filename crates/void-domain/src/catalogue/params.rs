//! Typed parameters: a range, an enumeration or an anchored pattern with a length limit. There is
//! no other type, so there is none that a check could forget (SECURITY R-C1).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::canonical::INTEGER_MAX;
use crate::text;
use crate::written::{ObjectFields, Problems, SourceContent, SourceNode};

const PARAMS_MAX: usize = 16;
const PATTERN_LEN_MAX: i64 = 1_024;
const ENUM_VALUES_MAX: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParamSpec {
    Integer { min: i64, max: i64 },
    Enum { values: Vec<String> },
    Pattern { pattern: String, max_len: usize },
}

/// The declared parameters of an action. All are required; no other passes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParamSpecs(BTreeMap<String, ParamSpec>);

/// Parameters that fit their declaration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Params(BTreeMap<String, ParamValue>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParamValue {
    Integer(i64),
    Text(String),
}

/// One complaint per parameter name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidParams(pub BTreeMap<String, String>);

impl Params {
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ParamValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    pub fn to_value(&self) -> Value {
        let member = |(name, value): (&String, &ParamValue)| {
            let value = match value {
                ParamValue::Integer(number) => Value::from(*number),
                ParamValue::Text(text) => Value::from(text.as_str()),
            };
            (name.clone(), value)
        };
        Value::Object(self.0.iter().map(member).collect::<Map<_, _>>())
    }
}

impl ParamSpecs {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &ParamSpec)> {
        self.0.iter().map(|(name, spec)| (name.as_str(), spec))
    }

    /// The declaration in the catalogue's own form.
    pub fn to_value(&self) -> Value {
        Value::Object(self.to_members())
    }

    /// The same by name.
    pub fn to_members(&self) -> Map<String, Value> {
        let member = |(name, spec): (&String, &ParamSpec)| (name.clone(), spec.to_value());
        self.0.iter().map(member).collect()
    }

    /// Checks what a caller sent. Nothing sent means no parameters.
    pub fn check(&self, sent: &Value) -> Result<Params, InvalidParams> {
        let empty = Map::new();
        let sent = match sent {
            Value::Null => &empty,
            Value::Object(members) => members,
            _ => {
                let complaint =
                    BTreeMap::from([("params".to_owned(), "must be an object".to_owned())]);
                return Err(InvalidParams(complaint));
            }
        };
        let mut checked = BTreeMap::new();
        let mut complaints = BTreeMap::new();
        for (name, spec) in &self.0 {
            match sent.get(name).map(|value| spec.check(value)) {
                Some(Ok(value)) => _ = checked.insert(name.clone(), value),
                Some(Err(complaint)) => _ = complaints.insert(name.clone(), complaint),
                None => _ = complaints.insert(name.clone(), "is required".to_owned()),
            }
        }
        for name in sent
            .keys()
            .filter(|name| !self.0.contains_key(*name))
            .take(PARAMS_MAX)
        {
            let shown = text::escaped(text::cut(name, 64));
            complaints.insert(shown, "is not a parameter of this action".to_owned());
        }
        if complaints.is_empty() {
            Ok(Params(checked))
        } else {
            Err(InvalidParams(complaints))
        }
    }
}

impl ParamSpec {
    fn check(&self, value: &Value) -> Result<ParamValue, String> {
        match self {
            Self::Integer { min, max } => value
                .as_i64()
                .filter(|number| (min..=max).contains(&number))
                .map(ParamValue::Integer)
                .ok_or_else(|| format!("must be a whole number from {min} to {max}")),
            Self::Enum { values } => value
                .as_str()
                .filter(|text| values.iter().any(|known| known == text))
                .map(|text| ParamValue::Text(text.to_owned()))
                .ok_or_else(|| format!("must be one of {}", values.join(", "))),
            Self::Pattern { pattern, max_len } => {
                let text = value.as_str().ok_or("must be a string")?;
                if text.len() > *max_len {
                    return Err(format!("must be at most {max_len} bytes"));
                }
                if text.starts_with('-') || !is_plain(text) {
                    return Err("must not begin with a dash or hold control characters".to_owned());
                }
                let matches = anchored(pattern).is_some_and(|regex| regex.is_match(text));
                if matches {
                    Ok(ParamValue::Text(text.to_owned()))
                } else {
                    Err(format!("must match {pattern}"))
                }
            }
        }
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Integer { min, max } => {
                serde_json::json!({"type": "integer", "min": min, "max": max})
            }
            Self::Enum { values } => serde_json::json!({"type": "enum", "values": values}),
            Self::Pattern { pattern, max_len } => {
                serde_json::json!({"type": "pattern", "pattern": pattern, "max_len": max_len})
            }
        }
    }
}

/// Text that is one argument and reads as what it is.
fn is_plain(text: &str) -> bool {
    !text
        .chars()
        .any(|c| c.is_control() || text::is_deceptive(c))
}

/// The pattern as a whole-text match: `^a|b$` would otherwise be anchored on one side each.
fn anchored(pattern: &str) -> Option<regex_lite::Regex> {
    let inner = pattern.strip_prefix('^')?.strip_suffix('$')?;
    regex_lite::Regex::new(&format!("^(?:{inner})$")).ok()
}

pub(super) fn read(node: &SourceNode, path: &str, problems: &mut Problems) -> ParamSpecs {
    let SourceContent::Object(members) = &node.content else {
        problems.error(
            node.line,
            path,
            format!("expected an object, found {}", node.kind()),
        );
        return ParamSpecs::default();
    };
    if members.len() > PARAMS_MAX {
        problems.error(node.line, path, format!("at most {PARAMS_MAX} parameters"));
    }
    let mut specs = BTreeMap::new();
    for member in members {
        let path = format!("{path}.{}", text::escaped(text::cut(&member.name, 40)));
        if !is_param_name(&member.name) {
            problems.error(
                member.line,
                &path,
                "a parameter's name is 1 to 32 of a-z, 0-9 and _, beginning with a letter",
            );
        }
        if let Some(spec) = read_spec(&member.value, &path, problems) {
            specs.insert(member.name.clone(), spec);
        }
    }
    ParamSpecs(specs)
}

fn is_param_name(name: &str) -> bool {
    (1..=32).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .bytes()
            .all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_'))
}

#[derive(Clone, Copy)]
enum ParamType {
    Integer,
    Enum,
    Pattern,
}

fn read_spec(node: &SourceNode, path: &str, problems: &mut Problems) -> Option<ParamSpec> {
    let mut fields = ObjectFields::of(node, path, problems)?;
    let known = [
        ("integer", ParamType::Integer),
        ("enum", ParamType::Enum),
        ("pattern", ParamType::Pattern),
    ];
    if fields.node("type").is_none() {
        problems.error(
            fields.line,
            &fields.path_of("type"),
            "is missing: integer, enum or pattern",
        );
    }
    let spec = match fields.word("type", &known, problems) {
        None => return None,
        Some(ParamType::Integer) => read_integer(&mut fields, problems),
        Some(ParamType::Enum) => read_enum(&mut fields, problems),
        Some(ParamType::Pattern) => read_pattern(&mut fields, problems),
    };
    fields.finish(problems);
    spec
}

fn read_integer(fields: &mut ObjectFields<'_>, problems: &mut Problems) -> Option<ParamSpec> {
    let bound = i64::try_from(INTEGER_MAX).unwrap_or(i64::MAX);
    let min = fields.integer("min", -bound..=bound, problems);
    let max = fields.integer("max", -bound..=bound, problems);
    match (min, max) {
        (Some(min), Some(max)) if min <= max => Some(ParamSpec::Integer { min, max }),
        (Some(_), Some(_)) => {
            problems.error(fields.line, &fields.path, "min is greater than max");
            None
        }
        _ => {
            problems.error(fields.line, &fields.path, "an integer needs min and max");
            None
        }
    }
}

fn read_enum(fields: &mut ObjectFields<'_>, problems: &mut Problems) -> Option<ParamSpec> {
    let values = fields.texts("values", problems).unwrap_or_default();
    if values.is_empty() || values.len() > ENUM_VALUES_MAX {
        let message = format!("an enum needs 1 to {ENUM_VALUES_MAX} values");
        problems.error(fields.line, &fields.path, message);
        return None;
    }
    for (line, value) in &values {
        let plain =
            !value.is_empty() && value.len() <= 256 && !value.starts_with('-') && is_plain(value);
        if !plain {
            let message = "a value is 1 to 256 printable bytes and does not begin with a dash";
            problems.error(*line, &fields.path_of("values"), message);
        }
    }
    let values: Vec<String> = values
        .into_iter()
        .map(|(_, value)| value.to_owned())
        .collect();
    Some(ParamSpec::Enum { values })
}

fn read_pattern(fields: &mut ObjectFields<'_>, problems: &mut Problems) -> Option<ParamSpec> {
    let max_len = fields.integer("max_len", 1..=PATTERN_LEN_MAX, problems);
    let (line, pattern) = fields.required_text("pattern", problems)?;
    if pattern.len() > 512 || anchored(pattern).is_none() {
        let message =
            "must be a valid pattern of at most 512 bytes that begins with ^ and ends with $";
        problems.error(line, &fields.path_of("pattern"), message);
        return None;
    }
    let Some(max_len) = max_len else {
        let message = format!("a pattern needs max_len, 1 to {PATTERN_LEN_MAX}");
        problems.error(fields.line, &fields.path, message);
        return None;
    };
    let max_len = usize::try_from(max_len).unwrap_or(0);
    Some(ParamSpec::Pattern {
        pattern: pattern.to_owned(),
        max_len,
    })
}
