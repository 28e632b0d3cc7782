//! The targets, and whether the numbers meet them.

use serde_json::{Value, json};

use crate::statistics::rounded;

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * 1024.0;
/// The numbers of clients at which Void is compared with the floor.
const JUDGED_CLIENTS: [u64; 2] = [64, 256];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Goal {
    AtLeast(f64),
    AtMost(f64),
    Below(f64),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Verdict {
    pub name: String,
    unit: &'static str,
    goal: Goal,
    measured: f64,
}

impl Verdict {
    pub(crate) fn is_met(&self) -> bool {
        match self.goal {
            Goal::AtLeast(limit) => self.measured >= limit,
            Goal::AtMost(limit) => self.measured <= limit,
            Goal::Below(limit) => self.measured < limit,
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
        })
    }
}

/// One verdict per target that was measured.
pub(crate) fn judge(results: &Value) -> Vec<Verdict> {
    let mut verdicts = beside_the_floor(results);
    let single = [
        (
            "/rows/restart_to_ready_ms",
            "ready again after SIGKILL",
            "ms",
            Goal::Below(500.0),
            1.0,
        ),
        (
            "/streams/bytes_per_listener",
            "memory per idle listener",
            "KiB",
            Goal::AtMost(4.0),
            KIB,
        ),
        (
            "/nodes/idle_core_percent",
            "500 idle nodes",
            "% of one core",
            Goal::Below(2.0),
            1.0,
        ),
        (
            "/nodes/idle_bytes",
            "500 idle nodes: memory",
            "MiB",
            Goal::Below(20.0),
            MIB,
        ),
        (
            "/nodes/start_p50_ms",
            "from a yes to the start on a node, p50",
            "ms",
            Goal::Below(20.0),
            1.0,
        ),
        (
            "/talk/piece_added_p50_ms",
            "added to a piece of an answer, p50",
            "ms",
            Goal::AtMost(0.3),
            1.0,
        ),
        (
            "/talk/tool_round_p50_ms",
            "a round of tools, p50",
            "ms",
            Goal::AtMost(1.5),
            1.0,
        ),
        (
            "/talk/many_longest_ms",
            "longest wait of a piece in 200 streams",
            "ms",
            Goal::Below(250.0),
            1.0,
        ),
        (
            "/audit/verify_per_s",
            "audit verify",
            "million entries/s",
            Goal::AtLeast(1.0),
            1e6,
        ),
        (
            "/process/first_start_to_ready_ms",
            "first start to ready",
            "ms",
            Goal::Below(50.0),
            1.0,
        ),
        (
            "/process/start_to_ready_ms",
            "start to ready",
            "ms",
            Goal::Below(50.0),
            1.0,
        ),
        (
            "/process/idle_resident_bytes",
            "idle memory",
            "MiB",
            Goal::Below(15.0),
            MIB,
        ),
        (
            "/process/binary_bytes",
            "binary",
            "MB",
            Goal::Below(25.0),
            1e6,
        ),
    ];
    for (pointer, name, unit, goal, scale) in single {
        if let Some(number) = results.pointer(pointer).and_then(Value::as_f64) {
            verdicts.push(Verdict {
                name: name.to_owned(),
                unit,
                goal,
                measured: number / scale,
            });
        }
    }
    verdicts.extend(over_old_rows(results));
    verdicts.extend(beside_the_sdks(results));
    verdicts
}

fn beside_the_floor(results: &Value) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for cell in items(results, "/throughput") {
        let (operation, clients) = (text(cell, "operation"), cell["clients"].as_u64());
        let least = match operation {
            "approve" => 0.5,
            "run" => 0.4,
            _ => continue,
        };
        let (Some(ratio), Some(tail)) = (cell["ratio"].as_f64(), cell["p99_ratio"].as_f64()) else {
            continue;
        };
        let Some(clients) = clients.filter(|clients| JUDGED_CLIENTS.contains(clients)) else {
            continue;
        };
        let verdict = |what: &str, goal, measured| Verdict {
            name: format!("{operation}, {clients} clients: {what}"),
            unit: "× floor",
            goal,
            measured,
        };
        verdicts.push(verdict("per second", Goal::AtLeast(least), ratio));
        verdicts.push(verdict("p99", Goal::Below(3.0), tail));
    }
    verdicts
}

/// MCP beside minimal servers of the official SDKs.
fn beside_the_sdks(results: &Value) -> Vec<Verdict> {
    let ratio = |list: &str, what: &str, number: u64, other: &str| -> Option<f64> {
        let cells = items(results, &format!("/mcp/{list}")).iter();
        let mut cells = cells.filter(|cell| cell[what].as_u64() == Some(number));
        let cell = cells.next()?;
        Some(cell["void"].as_f64()? / cell[other].as_f64()?)
    };
    let first = results.pointer("/mcp/first_answer_ms/void");
    let mut verdicts: Vec<Verdict> = first
        .and_then(Value::as_f64)
        .map(|measured| Verdict {
            name: "void mcp: first answer".to_owned(),
            unit: "ms",
            goal: Goal::AtMost(20.0),
            measured,
        })
        .into_iter()
        .collect();
    for (list, what, number, other, unit, least) in [
        ("stdio", "depth", 1, "typescript", "× TypeScript", 1.0),
        ("stdio", "depth", 16, "rmcp", "× rmcp", 1.0),
        ("http", "clients", 1, "typescript", "× TypeScript", 3.0),
        ("http", "clients", 16, "typescript", "× TypeScript", 3.0),
        ("http", "clients", 64, "typescript", "× TypeScript", 3.0),
    ] {
        verdicts.extend(ratio(list, what, number, other).map(|measured| Verdict {
            name: format!("MCP over {list}, {what} {number}: calls per second"),
            unit,
            goal: Goal::AtLeast(least),
            measured,
        }));
    }
    verdicts
}

fn over_old_rows(results: &Value) -> Vec<Verdict> {
    let lists = items(results, "/rows/lists").iter().filter_map(|list| {
        Some(Verdict {
            name: format!("{} over old rows", text(list, "path")),
            unit: "× without",
            goal: Goal::AtMost(1.3),
            measured: list["ratio"].as_f64()?,
        })
    });
    lists.collect()
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

    #[test]
    fn what_is_missed_says_by_how_much_and_what_is_not_measured_says_nothing() {
        let results = json!({
            "throughput": [
                {"operation": "approve", "clients": 64, "ratio": 0.25, "p99_ratio": 2.0},
                {"operation": "approve", "clients": 16, "ratio": 0.1, "p99_ratio": 9.0},
                {"operation": "queue", "clients": 64, "ratio": 0.1, "p99_ratio": 9.0},
                {"operation": "run", "clients": 64},
            ],
            "process": {"binary_bytes": 30_000_000},
        });
        let words: Vec<_> = judge(&results)
            .iter()
            .map(|verdict| (verdict.name.clone(), verdict.word()))
            .collect();
        let expected = [
            ("approve, 64 clients: per second", "missed by 50 %"),
            ("approve, 64 clients: p99", "met"),
            ("binary", "missed by 20 %"),
        ];
        let expected = expected.map(|(name, word)| (name.to_owned(), word.to_owned()));
        assert_eq!(words, expected);
    }
}
