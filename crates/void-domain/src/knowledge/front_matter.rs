//! The head of a page: what stands between two lines of `---` at its beginning. Only what Void uses is read (`tags:`,
//! `services:`, `actions:`), from a small part of YAML; whatever else is there, and whatever is broken, is left as text.

use super::tags::Tags;
use crate::ids::ActionId;
use crate::limits::{FRONT_MATTER_BYTES_MAX, RUNBOOK_NAMES_MAX};
use crate::services::ServiceId;
use crate::text;

pub(super) const FENCE: &str = "---";
pub(super) const BYTE_ORDER_MARK: char = '\u{feff}';

/// What a page is the runbook of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunbookName {
    Service(ServiceId),
    Action(ActionId),
}

impl RunbookName {
    /// `service` or `action`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Service(_) => "service",
            Self::Action(_) => "action",
        }
    }

    pub fn name(&self) -> &str {
        match self {
            Self::Service(id) => id.as_str(),
            Self::Action(id) => id.as_str(),
        }
    }

    pub fn parse(kind: &str, name: &str) -> Option<Self> {
        match kind {
            "service" => ServiceId::parse(name).map(Self::Service),
            "action" => ActionId::parse(name).ok().map(Self::Action),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FrontMatter {
    pub tags: Tags,
    /// Each once, services first.
    pub runbooks: Vec<RunbookName>,
    /// Where the text behind it begins, in bytes; 0 if there is none.
    pub end: usize,
}

impl FrontMatter {
    pub fn of(body: &str) -> Self {
        let Some((head, end)) = head(body) else {
            return Self::default();
        };
        let tags = values(head, "tags");
        let mut runbooks = Vec::new();
        for (member, kind) in [("services", "service"), ("actions", "action")] {
            for name in values(head, member) {
                let known = RunbookName::parse(kind, name).filter(|name| !runbooks.contains(name));
                runbooks.extend(known);
            }
        }
        runbooks.truncate(RUNBOOK_NAMES_MAX);
        Self {
            tags: Tags::of_what_fits(tags),
            runbooks,
            end,
        }
    }
}

/// The lines between the fences, and where the text goes on.
pub(super) fn head(body: &str) -> Option<(&str, usize)> {
    let marked = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
    let begin = body.len() - marked.len();
    let within = text::cut(marked, FRONT_MATTER_BYTES_MAX);
    let mut at = 0;
    let mut first = None;
    for line in within.split_inclusive('\n') {
        at += line.len();
        match first {
            None if line.trim_end() == FENCE => first = Some(at),
            None => return None,
            // A fence that the bound cut off could be the beginning of a longer line.
            Some(first)
                if line.trim_end() == FENCE && (line.ends_with('\n') || at == marked.len()) =>
            {
                return Some((within.get(first..at - line.len())?, begin + at));
            }
            Some(_) => {}
        }
    }
    None
}

/// What a member says: `name: a`, `name: [a, "b"]`, or lines of `- a` below it.
fn values<'a>(head: &'a str, member: &str) -> Vec<&'a str> {
    let mut lines = head.lines();
    let said = lines.by_ref().find_map(|line| {
        let (name, said) = line.split_once(':')?;
        (name.trim_end() == member).then(|| said.trim())
    });
    let Some(said) = said else {
        return Vec::new();
    };
    let listed = said
        .strip_prefix('[')
        .and_then(|said| said.strip_suffix(']'));
    match listed {
        Some(listed) => listed.split(',').map(unquoted).collect(),
        None if said.is_empty() => lines
            .map(str::trim)
            .map_while(|line| line.strip_prefix('-'))
            .map(unquoted)
            .collect(),
        None => said.split(',').map(unquoted).collect(),
    }
}

fn unquoted(value: &str) -> &str {
    let value = value.trim();
    ['"', '\'']
        .into_iter()
        .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(body: &str) -> Vec<String> {
        let runbooks = FrontMatter::of(body).runbooks;
        let names = runbooks.iter();
        names
            .map(|one| format!("{} {}", one.kind(), one.name()))
            .collect()
    }

    #[test]
    fn what_a_page_is_the_runbook_of_is_read_in_every_way_of_writing_it() {
        for (body, expected) in [
            ("---\nservices: caddy\n---\n", vec!["service caddy"]),
            (
                "\u{feff}---\r\nservices: [caddy, \"nas\"]\r\n---\r\nx",
                vec!["service caddy", "service nas"],
            ),
            (
                "---\nactions:\n  - restart-caddy\n- 'stop-nas'\nservices: a\n---",
                vec!["service a", "action restart-caddy", "action stop-nas"],
            ),
            ("---\nservices: a, a\n---\n", vec!["service a"]),
            (
                "---\nservices: [../etc, A b, void-x]\nactions: [void-x]\n---\n",
                vec!["service void-x"],
            ),
        ] {
            assert_eq!(names(body), expected, "{body:?}");
        }
    }

    #[test]
    fn what_is_no_head_says_nothing() {
        let long = format!(
            "---\nx: {}\nservices: a\n---\n",
            "y".repeat(FRONT_MATTER_BYTES_MAX)
        );
        for body in [
            "",
            "services: a\n",
            " ---\nservices: a\n---\n",
            "---\nservices: a\n",
            "---\nservices: a\n----\n",
            "text\n---\nservices: a\n---\n",
            "---\n---\nservices: a",
            &long,
        ] {
            assert!(names(body).is_empty(), "{body:?}");
        }
        assert_eq!(FrontMatter::of("---\na: b\n---\ntext").end, 13);
        assert_eq!(FrontMatter::of("text").end, 0);
    }

    #[test]
    fn a_head_names_so_many_and_no_more() {
        let many: Vec<String> = (0..=RUNBOOK_NAMES_MAX).map(|n| format!("s{n}")).collect();
        let body = format!(
            "---\nservices: [{}]\ntags: [One, '#two', a b]\n---\n",
            many.join(", ")
        );
        assert_eq!(names(&body).len(), RUNBOOK_NAMES_MAX);
        assert_eq!(FrontMatter::of(&body).tags.joined(), "one, two");
    }
}
