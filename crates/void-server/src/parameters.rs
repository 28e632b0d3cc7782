//! What the parameters of paths and queries look like: one place for the document and for the check, so
//! that neither says what the other does not.

use serde_json::{Value, json};
use void_agent::tools::REGISTRIES;
use void_api::bounds::{HOST, NUMBER_MAX, PLAIN, SLUG, UUID};
use void_api::conversations::ABOUT_KINDS;
use void_domain::knowledge::{SearchKind, TaskState};
use void_domain::limits::{PAGE_ROWS_MAX, REF_URL_BYTES_MAX, SEARCH_RESULTS_MAX};
use void_domain::proposals::Status;

/// How long a caller may ask to wait.
pub(crate) const WAIT_SECONDS_MAX: u64 = 300;
/// One to eight words of up to 200 characters in all.
const WORDS: &str = r"^(?=[^\u0000]{1,200}$)\s*\S+(\s+\S+){0,7}\s*$";
const TEXT_CHARS_MAX: usize = 200;
const LONG_TEXT_CHARS_MAX: usize = REF_URL_BYTES_MAX;

pub(crate) enum Shape {
    Whole {
        min: u64,
        max: u64,
    },
    OneOf(Vec<&'static str>),
    Text,
    /// A path or an address; the type that it becomes has its own bound.
    LongText,
    /// Judged where it is used; what does not fit names nothing.
    Like(&'static str),
}

/// The shape of a query parameter; `None` if nothing is known of one of that name.
pub(crate) fn in_query(operation: &str, name: &str) -> Option<Shape> {
    Some(match (name, operation) {
        ("limit", "search") => Shape::Whole {
            min: 1,
            max: u64::from(SEARCH_RESULTS_MAX),
        },
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
        ("cursor", "listAudit" | "listMessages" | "listAgentMessages") => {
            Shape::Like("^[0-9]{1,15}$")
        }
        ("cursor", "search") => Shape::Text,
        // The last name of the page before.
        ("cursor", "getRights") => Shape::Like(SLUG),
        // As long as the search itself says.
        ("q", "search") => Shape::Like(PLAIN),
        ("kind", "search") => Shape::OneOf(SearchKind::ALL.map(SearchKind::as_str).to_vec()),
        ("cursor", _) if operation.ends_with("Revisions") => Shape::Like("^[0-9]{1,15}$"),
        ("cursor", "listSpaces" | "listProjects" | "listPages" | "listTasks" | "listRefs") => {
            Shape::Text
        }
        ("base_revision" | "from" | "to", _) => Shape::Whole {
            min: 1,
            max: NUMBER_MAX,
        },
        ("state", "listAgentMessages") => Shape::OneOf(vec!["all", "open", "acknowledged", "dead"]),
        ("state", _) => Shape::OneOf(TaskState::ALL.map(TaskState::as_str).to_vec()),
        ("order", _) => Shape::OneOf(vec!["changed", "due"]),
        ("open", _) => Shape::OneOf(vec!["true", "false"]),
        ("deleted", _) => Shape::OneOf(vec!["true", "false"]),
        ("project" | "space", _) => Shape::Like(UUID),
        ("kind", "listAttachedConversations") => Shape::OneOf(ABOUT_KINDS.to_vec()),
        ("id" | "agent", _) => Shape::Like(SLUG),
        ("cursor" | "messageId", _) => Shape::Like(UUID),
        ("status", "listProposals") => Shape::OneOf(Status::ALL.map(Status::as_str).to_vec()),
        ("q", "listAttachedConversations" | "listConversations") => Shape::Like(WORDS),
        ("scope", "getDoctor") => Shape::OneOf(vec!["everything", "process"]),
        ("blocks" | "untrusted" | "inline" | "dry_run", _) => Shape::OneOf(vec!["true", "false"]),
        ("registry", _) => Shape::OneOf(REGISTRIES.iter().map(|one| one.name).collect()),
        ("name" | "path" | "title" | "url", _) => Shape::LongText,
        ("subject" | "actor" | "verb" | "beta", _) => Shape::Text,
        _ => return None,
    })
}

pub(crate) fn in_path(path: &str, name: &str) -> Shape {
    match name {
        "seq" | "number" => Shape::Whole {
            min: 1,
            max: NUMBER_MAX,
        },
        "slug" => Shape::Like(SLUG),
        "name" if path.starts_with("/api/nodes/") => Shape::Like(HOST),
        "name" if path.starts_with("/api/agents/") => Shape::Like(SLUG),
        "id" if path.starts_with("/api/actions/") || path.starts_with("/api/services/") => {
            Shape::Like(SLUG)
        }
        // A question is also found by its code, and so is a proposal.
        "id" if path.starts_with("/api/questions/") => Shape::Text,
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
            Self::Text => text_schema(TEXT_CHARS_MAX),
            Self::LongText => text_schema(LONG_TEXT_CHARS_MAX),
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
            Self::Text => text_complaint(value, TEXT_CHARS_MAX),
            Self::LongText => text_complaint(value, LONG_TEXT_CHARS_MAX),
            Self::Like(_) => None,
        }
    }
}

fn text_schema(chars_max: usize) -> Value {
    json!({"type": "string", "maxLength": chars_max, "pattern": PLAIN})
}

fn text_complaint(value: &str, chars_max: usize) -> Option<String> {
    let is_longer = value.chars().count() > chars_max;
    is_longer.then(|| format!("must be at most {chars_max} characters"))
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
