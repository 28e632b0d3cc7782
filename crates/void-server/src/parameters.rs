//! What the parameters of paths and queries look like: one place for the document and for the check, so
//! that neither says what the other does not.

use serde_json::{Value, json};
use void_agent::tools::REGISTRIES;
use void_api::bounds::{HOST, NUMBER_MAX, PLAIN, SLUG, UUID};
use void_domain::limits::PAGE_ROWS_MAX;
use void_domain::proposals::Status;

/// How long a caller may ask to wait.
pub(crate) const WAIT_SECONDS_MAX: u64 = 300;
const TEXT_CHARS_MAX: usize = 200;

pub(crate) enum Shape {
    Whole {
        min: u64,
        max: u64,
    },
    OneOf(Vec<&'static str>),
    Text,
    /// Judged where it is used; what does not fit names nothing.
    Like(&'static str),
}

/// The shape of a query parameter; `None` if nothing is known of one of that name.
pub(crate) fn in_query(operation: &str, name: &str) -> Option<Shape> {
    Some(match (name, operation) {
        ("limit", _) => Shape::Whole {
            min: 1,
            max: u64::from(PAGE_ROWS_MAX),
        },
        ("wait", _) => Shape::Whole {
            min: 0,
            max: WAIT_SECONDS_MAX,
        },
        ("after", "streamEvents") => Shape::Like("^[0-9]{1,15}(-[0-9]{1,15})?$"),
        ("after", _) => Shape::Whole {
            min: 0,
            max: NUMBER_MAX,
        },
        ("cursor", "listAudit" | "listMessages") => Shape::Like("^[0-9]{1,15}$"),
        ("cursor" | "messageId", _) => Shape::Like(UUID),
        ("status", "listProposals") => Shape::OneOf(Status::ALL.map(Status::as_str).to_vec()),
        ("blocks", _) => Shape::OneOf(vec!["true", "false"]),
        ("registry", _) => Shape::OneOf(REGISTRIES.iter().map(|one| one.name).collect()),
        ("subject" | "actor" | "verb" | "beta", _) => Shape::Text,
        _ => return None,
    })
}

pub(crate) fn in_path(path: &str, name: &str) -> Shape {
    match name {
        "seq" => Shape::Whole {
            min: 1,
            max: NUMBER_MAX,
        },
        "slug" => Shape::Like(SLUG),
        "name" if path.starts_with("/api/nodes/") => Shape::Like(HOST),
        "id" if path.starts_with("/api/actions/") || path.starts_with("/api/services/") => {
            Shape::Like(SLUG)
        }
        // A proposal is also found by its code.
        "id" if !path.starts_with("/api/proposals/") || path.ends_with("/cancel") => {
            Shape::Like(UUID)
        }
        _ => Shape::Text,
    }
}

impl Shape {
    pub(crate) fn schema(&self) -> Value {
        match self {
            Self::Whole { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
            Self::OneOf(words) => json!({"type": "string", "enum": words}),
            Self::Text => {
                json!({"type": "string", "maxLength": TEXT_CHARS_MAX, "pattern": PLAIN})
            }
            Self::Like(pattern) => json!({"type": "string", "pattern": pattern}),
        }
    }

    /// What is wrong with a value, if anything is.
    pub(crate) fn complaint(&self, value: &str) -> Option<String> {
        match self {
            Self::Whole { min, max } => {
                let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
                let number = value.parse::<u64>().ok().filter(|_| digits);
                let fits = number.is_some_and(|number| (min..=max).contains(&&number));
                (!fits).then(|| format!("must be {min} to {max}"))
            }
            Self::OneOf(words) => {
                (!words.contains(&value)).then(|| format!("must be one of {}", words.join(", ")))
            }
            Self::Text => (value.chars().count() > TEXT_CHARS_MAX)
                .then(|| format!("must be at most {TEXT_CHARS_MAX} characters")),
            Self::Like(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::ROUTES;

    #[test]
    fn every_parameter_of_a_route_has_a_shape() {
        for route in ROUTES {
            for parameter in route.query {
                let shape = in_query(route.operation, parameter.name);
                let kind = shape.map(|shape| shape.schema()["type"].clone());
                assert_eq!(kind, Some(json!(parameter.kind)), "{}", route.operation);
            }
        }
    }

    #[test]
    fn a_limit_is_1_to_500_however_it_is_written() {
        let limit = in_query("listAudit", "limit").unwrap();
        for good in ["1", "500", "007"] {
            assert_eq!(limit.complaint(good), None, "{good}");
        }
        let bad = [
            "0",
            "501",
            "-1",
            "+5",
            "1.5",
            "1e2",
            "",
            " 1",
            "abc",
            "99999999999999999999",
            "٣",
        ];
        for bad in bad {
            let words = limit.complaint(bad);
            assert_eq!(words.as_deref(), Some("must be 1 to 500"), "{bad}");
        }
    }
}
