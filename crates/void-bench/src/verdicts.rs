//! The targets: what each number must be, what would be beyond that, and whether it is so. What was not measured has
//! no verdict.

mod bars;

use serde_json::{Value, json};

pub(crate) use self::bars::judge;
use crate::statistics::rounded;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Goal {
    AtLeast(f64),
    AtMost(f64),
    Below(f64),
}

impl Goal {
    /// The same kind of goal with another limit.
    const fn at(self, limit: f64) -> Self {
        match self {
            Self::AtLeast(_) => Self::AtLeast(limit),
            Self::AtMost(_) => Self::AtMost(limit),
            Self::Below(_) => Self::Below(limit),
        }
    }

    fn is_met_by(self, measured: f64) -> bool {
        match self {
            Self::AtLeast(limit) => measured >= limit,
            Self::AtMost(limit) => measured <= limit,
            Self::Below(limit) => measured < limit,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Verdict {
    pub name: String,
    unit: &'static str,
    /// What must be.
    goal: Goal,
    /// In the direction of the goal; not every target has one.
    beyond: Option<f64>,
    measured: f64,
}

impl Verdict {
    pub(crate) fn is_met(&self) -> bool {
        self.goal.is_met_by(self.measured)
    }

    /// `None`: nothing is said of what would be beyond.
    pub(crate) fn is_beyond(&self) -> Option<bool> {
        let beyond = self.beyond?;
        Some(self.is_met() && self.goal.at(beyond).is_met_by(self.measured))
    }

    /// `beyond 8: yes`, or nothing.
    pub(crate) fn beyond_text(&self) -> String {
        match (self.beyond, self.is_beyond()) {
            (Some(limit), Some(true)) => format!("beyond {limit}: yes"),
            (Some(limit), _) => format!("beyond {limit}: no"),
            (None, _) => String::new(),
        }
    }

    /// `met`, or by how much not.
    pub(crate) fn word(&self) -> String {
        if self.is_met() {
            return "met".to_owned();
        }
        match self.goal {
            Goal::AtLeast(limit) => {
                format!("missed by {:.0} %", (1.0 - self.measured / limit) * 100.0)
            }
            Goal::AtMost(limit) | Goal::Below(limit) => {
                format!("missed by {:.0} %", (self.measured / limit - 1.0) * 100.0)
            }
        }
    }

    pub(crate) fn goal_text(&self) -> String {
        let (word, limit) = match self.goal {
            Goal::AtLeast(limit) => ("at least", limit),
            Goal::AtMost(limit) => ("at most", limit),
            Goal::Below(limit) => ("below", limit),
        };
        format!("{word} {limit} {}", self.unit)
    }

    pub(crate) fn measured_text(&self) -> String {
        format!("{} {}", rounded(self.measured), self.unit)
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "goal": self.goal_text(),
            "measured": rounded(self.measured),
            "verdict": self.word(),
            "beyond": self.beyond,
            "is_beyond": self.is_beyond(),
        })
    }
}

pub(crate) fn items<'a>(results: &'a Value, pointer: &str) -> &'a [Value] {
    results
        .pointer(pointer)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(results: &Value) -> Vec<(String, String, String)> {
        let verdicts = judge(results);
        let words = verdicts
            .iter()
            .map(|verdict| (verdict.name.clone(), verdict.word(), verdict.beyond_text()));
        words.collect()
    }

    #[test]
    fn what_is_missed_says_by_how_much_and_what_is_not_measured_says_nothing() {
        let cell = |engine: &str, operation: &str, clients: u32, ratio: f64| json!({"engine": engine, "operation": operation, "clients": clients, "reference_ratio": ratio});
        let results = json!({
            "throughput": [
                cell("sqlite", "approve", 64, 3.0),
                cell("sqlite", "approve", 16, 8.0),
                cell("sqlite", "queue", 1, 3.0),
                cell("postgres", "run", 256, 1.2),
                // Nothing is asked of these.
                cell("postgres", "run", 1, 0.1),
                cell("postgres", "queue", 64, 0.1),
                cell("sqlite", "run", 4, 0.1),
                {"engine": "sqlite", "operation": "run", "clients": 64, "ratio": 0.1},
            ],
            "process": {"binary_bytes": 31_200_000},
            "local": {"cells": [{"clients": 1, "void": {"p50_ms": 2.9}, "ratio": 0.1, "full_time_ratio": 1.05}]},
        });
        let expected = [
            ("approve, SQLite, 16 clients", "met", "beyond 8: yes"),
            (
                "approve, SQLite, 64 clients",
                "missed by 50 %",
                "beyond 10: no",
            ),
            ("queue, SQLite, 1 clients", "met", ""),
            ("run, PostgreSQL, 256 clients", "met", "beyond 3: no"),
            ("local action, 1 clients: p50", "met", "beyond 3: yes"),
            (
                "local action, 1 clients, full journal: time",
                "met",
                "beyond 1: no",
            ),
            ("binary", "missed by 20 %", ""),
        ];
        let expected = expected
            .map(|(name, word, beyond)| (name.to_owned(), word.to_owned(), beyond.to_owned()));
        assert_eq!(words(&results), expected);
        let verdicts = judge(&results);
        let missed = ["approve, SQLite, 64 clients", "binary"];
        assert_eq!(crate::report::missed(&verdicts), missed);
    }

    #[test]
    fn what_is_missed_is_never_beyond() {
        let results = json!({"mcp": {"http": [
            {"clients": 1, "ratios": {"rmcp": 0.7}}, {"clients": 16, "ratios": {"rmcp": 0.8}}, {"clients": 64, "ratios": {"rmcp": 1.0}},
        ]}});
        let beyond: Vec<_> = judge(&results).iter().map(Verdict::is_beyond).collect();
        assert_eq!(beyond, [Some(false), Some(false), Some(true)]);
    }
}
