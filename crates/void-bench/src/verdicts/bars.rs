//! Every bar, in the order of the report.

use serde_json::Value;

use super::{Goal, Verdict, items, text};

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * 1024.0;

/// Clients, what must be, what would be beyond.
type Cell = (u64, f64, Option<f64>);

/// Calls per second of those that the documents' stack makes in the same run: database, operation, cells.
const BESIDE_REFERENCE: [(&str, &str, &[Cell]); 5] = [
    (
        "sqlite",
        "approve",
        &[
            (1, 1.2, Some(2.0)),
            (16, 4.0, Some(8.0)),
            (64, 6.0, Some(10.0)),
            (256, 7.0, Some(12.0)),
        ],
    ),
    (
        "sqlite",
        "run",
        &[
            (1, 2.5, Some(4.0)),
            (16, 5.0, Some(10.0)),
            (64, 8.0, Some(14.0)),
            (256, 8.0, Some(16.0)),
        ],
    ),
    (
        "sqlite",
        "queue",
        &[
            (1, 3.0, None),
            (16, 6.0, Some(12.0)),
            (64, 8.0, Some(20.0)),
            (256, 8.0, Some(25.0)),
        ],
    ),
    (
        "postgres",
        "approve",
        &[(64, 1.2, Some(3.0)), (256, 1.2, Some(3.0))],
    ),
    (
        "postgres",
        "run",
        &[(64, 1.2, Some(3.0)), (256, 1.2, Some(3.0))],
    ),
];

/// A number at a place of its own: pointer, name, unit, goal, beyond, and what the unit is of what is measured.
type Single = (
    &'static str,
    &'static str,
    &'static str,
    Goal,
    Option<f64>,
    f64,
);

const SINGLE: [Single; 27] = [
    (
        "/tree/check_ns",
        "whether one agent is above another",
        "ns",
        Goal::AtMost(70.0),
        None,
        1.0,
    ),
    (
        "/tree/index_ms",
        "the index of the tree, made anew",
        "ms",
        Goal::AtMost(50.0),
        None,
        1.0,
    ),
    (
        "/tree/reconcile_ms",
        "bringing the tree in line, with its commit",
        "ms",
        Goal::AtMost(1_000.0),
        None,
        1.0,
    ),
    (
        "/knowledge/search/ratio",
        "search by words: p50",
        "× FTS5",
        Goal::AtMost(1.3),
        None,
        1.0,
    ),
    (
        "/knowledge/index_per_s",
        "pages written and found",
        "pages/s",
        Goal::AtLeast(5_000.0),
        None,
        1.0,
    ),
    (
        "/knowledge/save/ratio",
        "a save: p50",
        "× durable commit",
        Goal::AtMost(1.5),
        None,
        1.0,
    ),
    (
        "/knowledge/list/ratio",
        "list of a full space: p50",
        "× empty space",
        Goal::AtMost(1.3),
        None,
        1.0,
    ),
    (
        "/reads/inbox/p50_ms",
        "inbox of 100 items",
        "ms",
        Goal::AtMost(1.0),
        None,
        1.0,
    ),
    (
        "/reads/inbox/after_commit_p50_ms",
        "inbox of 100 items, after a commit",
        "ms",
        Goal::AtMost(1.0),
        None,
        1.0,
    ),
    (
        "/copies/verify/database_rate_ratio",
        "void audit verify, the server's own",
        "× read + SHA-256",
        Goal::AtLeast(0.4),
        None,
        1.0,
    ),
    (
        "/copies/verify/export_rate_ratio",
        "void audit verify, an export",
        "× read + SHA-256",
        Goal::AtLeast(0.7),
        None,
        1.0,
    ),
    (
        "/copies/backup/time_ratio",
        "void backup create: time",
        "× copy + sync",
        Goal::AtMost(2.5),
        None,
        1.0,
    ),
    (
        "/copies/backup/p99_ratio",
        "queue during a copy: p99",
        "× quiet",
        Goal::AtMost(3.0),
        None,
        1.0,
    ),
    (
        "/rows/restart_to_ready_ms",
        "ready again after SIGKILL",
        "ms",
        Goal::Below(500.0),
        None,
        1.0,
    ),
    (
        "/streams/bytes_per_listener",
        "memory per idle listener",
        "KiB",
        Goal::AtMost(3.0),
        None,
        KIB,
    ),
    (
        "/nodes/idle_core_percent",
        "500 idle nodes",
        "% of one core",
        Goal::Below(2.0),
        None,
        1.0,
    ),
    (
        "/nodes/idle_bytes",
        "500 idle nodes: memory",
        "MiB",
        Goal::Below(20.0),
        None,
        MIB,
    ),
    (
        "/nodes/start_p50_ms",
        "from a yes to the start on a node, p50",
        "ms",
        Goal::Below(20.0),
        None,
        1.0,
    ),
    (
        "/talk/piece_added_p50_ms",
        "added to a piece of an answer, p50",
        "ms",
        Goal::AtMost(0.3),
        None,
        1.0,
    ),
    (
        "/talk/tool_round_p50_ms",
        "a round of tools, p50",
        "ms",
        Goal::AtMost(1.5),
        None,
        1.0,
    ),
    (
        "/talk/many_longest_ms",
        "longest wait of a piece in 200 streams",
        "ms",
        Goal::Below(250.0),
        None,
        1.0,
    ),
    (
        "/audit/verify_per_s",
        "audit verify",
        "million entries/s",
        Goal::AtLeast(1.0),
        None,
        1e6,
    ),
    (
        "/process/first_start_to_ready_ms",
        "first start to ready",
        "ms",
        Goal::Below(50.0),
        None,
        1.0,
    ),
    (
        "/process/start_to_ready_ms",
        "start to ready",
        "ms",
        Goal::Below(50.0),
        None,
        1.0,
    ),
    (
        "/process/idle_resident_bytes",
        "idle memory",
        "MiB",
        Goal::AtMost(15.0),
        None,
        MIB,
    ),
    (
        "/process/binary_bytes",
        "binary",
        "MB",
        Goal::AtMost(26.0),
        None,
        1e6,
    ),
    (
        "/mcp/first_answer_ms/void",
        "void mcp: first answer",
        "ms",
        Goal::AtMost(20.0),
        None,
        1.0,
    ),
];

/// List, what is counted, how many, whose, what must be, what would be beyond.
type Call = (
    &'static str,
    &'static str,
    u64,
    &'static str,
    f64,
    Option<f64>,
);

/// Over MCP, calls per second of those that a minimal server answers.
const OVER_MCP: [Call; 8] = [
    ("http", "clients", 1, "rmcp", 0.8, Some(1.0)),
    ("http", "clients", 16, "rmcp", 0.8, Some(1.0)),
    ("http", "clients", 64, "rmcp", 0.8, Some(1.0)),
    ("http", "clients", 1, "typescript", 3.0, None),
    ("http", "clients", 16, "typescript", 3.0, None),
    ("http", "clients", 64, "typescript", 3.0, None),
    ("stdio", "depth", 1, "typescript", 1.0, None),
    ("stdio", "depth", 16, "rmcp", 1.0, None),
];

/// One verdict per target that was measured.
pub(crate) fn judge(results: &Value) -> Vec<Verdict> {
    let mut verdicts = beside_the_reference(results);
    verdicts.extend(local_actions(results));
    verdicts.extend(over_mcp(results));
    verdicts.extend(tool_loops(results));
    verdicts.extend(instances(results));
    verdicts.extend(over_old_rows(results));
    verdicts.extend(by_vectors(results));
    let single = SINGLE.into_iter().filter_map(|single| {
        let (pointer, name, unit, goal, beyond, scale) = single;
        let number = results.pointer(pointer).and_then(Value::as_f64)?;
        Some(Verdict {
            name: name.to_owned(),
            unit,
            goal,
            beyond,
            measured: number / scale,
        })
    });
    verdicts.extend(single);
    verdicts
}

/// What one thread computes beside a scan of all vectors, and how much of the best ten it finds.
fn by_vectors(results: &Value) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for cell in items(results, "/knowledge/vectors") {
        let chunks = cell["chunks"].as_u64().unwrap_or(0);
        let most = match chunks {
            100_000 => Some(0.35),
            1_000_000 => Some(0.12),
            _ => None,
        };
        if let (Some(most), Some(measured)) = (most, cell["ratio"].as_f64()) {
            verdicts.push(Verdict {
                name: format!("search by vectors, {chunks} chunks"),
                unit: "× scan of all",
                goal: Goal::AtMost(most),
                beyond: None,
                measured,
            });
        }
        if let (Some(_), Some(measured)) = (most, cell["recall"].as_f64()) {
            verdicts.push(Verdict {
                name: format!("recall of the best ten, {chunks} chunks"),
                unit: "of 1",
                goal: Goal::AtLeast(0.95),
                beyond: None,
                measured,
            });
        }
    }
    verdicts
}

fn beside_the_reference(results: &Value) -> Vec<Verdict> {
    let cells = items(results, "/throughput");
    let mut verdicts = Vec::new();
    for (engine, operation, bars) in BESIDE_REFERENCE {
        for (clients, must, beyond) in bars {
            let found = cells.iter().find(|cell| {
                text(cell, "engine") == engine
                    && text(cell, "operation") == operation
                    && cell["clients"].as_u64() == Some(*clients)
            });
            let Some(measured) = found.and_then(|cell| cell["reference_ratio"].as_f64()) else {
                continue;
            };
            let database = if engine == "sqlite" {
                "SQLite"
            } else {
                "PostgreSQL"
            };
            verdicts.push(Verdict {
                name: format!("{operation}, {database}, {clients} clients"),
                unit: "× reference",
                goal: Goal::AtLeast(*must),
                beyond: *beyond,
                measured,
            });
        }
    }
    verdicts
}

/// One at a time it is the time that counts, many at a time what the machine gets done.
fn local_actions(results: &Value) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for cell in items(results, "/local/cells") {
        let clients = cell["clients"].as_u64().unwrap_or(0);
        let name = |what: &str| format!("local action, {clients} clients{what}");
        let p50 = cell.pointer("/void/p50_ms").and_then(Value::as_f64);
        match (clients, p50, cell["ratio"].as_f64()) {
            (1, Some(measured), _) => verdicts.push(Verdict {
                name: name(": p50"),
                unit: "ms",
                goal: Goal::AtMost(5.0),
                beyond: Some(3.0),
                measured,
            }),
            (16 | 64, _, Some(measured)) => verdicts.push(Verdict {
                name: name(""),
                unit: "× fork + exec",
                goal: Goal::AtLeast(0.35),
                beyond: Some(0.6),
                measured,
            }),
            _ => {}
        }
        let judged = matches!(clients, 1 | 16 | 64);
        if let Some(measured) = cell["full_time_ratio"].as_f64().filter(|_| judged) {
            verdicts.push(Verdict {
                name: name(", full journal: time"),
                unit: "× empty journal",
                goal: Goal::AtMost(1.1),
                beyond: Some(1.0),
                measured,
            });
        }
    }
    verdicts
}

fn over_mcp(results: &Value) -> Vec<Verdict> {
    let judged = OVER_MCP.into_iter().filter_map(|bar| {
        let (list, what, number, other, must, beyond) = bar;
        let mut cells = items(results, &format!("/mcp/{list}")).iter();
        let cell = cells.find(|cell| cell[what].as_u64() == Some(number))?;
        Some(Verdict {
            name: format!("MCP over {list}, {what} {number}: calls per second"),
            unit: if other == "rmcp" {
                "× rmcp"
            } else {
                "× TypeScript"
            },
            goal: Goal::AtLeast(must),
            beyond,
            measured: cell.get("ratios")?.get(other)?.as_f64()?,
        })
    });
    judged.collect()
}

fn tool_loops(results: &Value) -> Vec<Verdict> {
    let cells = items(results, "/talk/loops").iter().filter_map(|cell| {
        Some(Verdict {
            name: format!("tool loop, {} at once: time", cell["at_once"]),
            unit: "× the vendor's SDK",
            goal: Goal::AtMost(0.2),
            beyond: Some(0.1),
            measured: cell["ratio"].as_f64()?,
        })
    });
    cells.collect()
}

fn instances(results: &Value) -> Vec<Verdict> {
    let cells = items(results, "/instances/cells").iter();
    let cells = cells.filter_map(|cell| {
        Some(Verdict {
            name: format!("{}, two instances", text(cell, "operation")),
            unit: "× one instance",
            goal: Goal::AtLeast(0.9),
            beyond: None,
            measured: cell["ratio"].as_f64()?,
        })
    });
    cells.collect()
}

fn over_old_rows(results: &Value) -> Vec<Verdict> {
    let lists = items(results, "/rows/lists").iter().filter_map(|list| {
        Some(Verdict {
            name: format!("{} over old rows", text(list, "path")),
            unit: "× without",
            goal: Goal::AtMost(1.15),
            beyond: None,
            measured: list["ratio"].as_f64()?,
        })
    });
    lists.collect()
}
