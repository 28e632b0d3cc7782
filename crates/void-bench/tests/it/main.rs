//! Every measurement once, at a tiny size: the program runs to its end, the numbers are all there, and
//! what was answered is what is on the record.

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests stop at the first surprise"
)]

use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn command(file: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_void-bench"));
    command.args(["--tiny", "--json"]).arg(file).args(args);
    command
}

/// The numbers, and what was said meanwhile. `programs` is where others are looked for instead of everywhere.
fn bench(file: &Path, args: &[&str], programs: Option<&Path>) -> (Value, String) {
    let mut command = command(file, args);
    if let Some(programs) = programs {
        command.env("PATH", programs);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let results = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    (results, said)
}

fn number(results: &Value, pointer: &str) -> f64 {
    let found = results.pointer(pointer).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("{pointer} is missing in {results}"))
}

/// What a full run measures on any machine that has PostgreSQL.
const NUMBERS: [&str; 45] = [
    "/machine/cores",
    "/disk/per_s",
    "/disk/p99_ms",
    "/streams/listeners",
    "/streams/bytes_per_listener",
    "/nodes/idle_core_percent",
    "/nodes/idle_bytes",
    "/nodes/start_p50_ms",
    "/talk/piece_added_p50_ms",
    "/talk/tool_round_p50_ms",
    "/talk/many_longest_ms",
    "/knowledge/index_per_s",
    "/knowledge/search/ratio",
    "/knowledge/save/ratio",
    "/knowledge/list/ratio",
    "/knowledge/vectors/0/recall",
    "/tree/check_ns",
    "/tree/index_ms",
    "/tree/reconcile_ms",
    "/audit/append_per_s",
    "/audit/verify_per_s",
    "/process/first_start_to_ready_ms",
    "/process/start_to_ready_ms",
    "/process/idle_resident_bytes",
    "/process/binary_bytes",
    "/instances/cells/0/ratio",
    "/instances/cells/2/one/per_s",
    "/local/cells/0/void/p50_ms",
    "/local/cells/1/ratio",
    "/local/cells/1/full_time_ratio",
    "/reads/catalogue/p50_ms",
    "/reads/inbox/p50_ms",
    "/reads/inbox/after_commit_p50_ms",
    "/reads/home/p50_ms",
    "/reads/home/after_commit_p50_ms",
    "/copies/verify/database_rate_ratio",
    "/copies/verify/export_rate_ratio",
    "/copies/backup/time_ratio",
    "/copies/backup/p99_ratio",
    "/mcp/http/0/ratios/rmcp",
    "/rows/old_rows",
    "/rows/lists/0/ratio",
    "/rows/approve/with/per_s",
    "/rows/approve/without/per_s",
    "/rows/restart_to_ready_ms",
];

/// What it measures beside what npm brings.
const NUMBERS_BY_NPM: [&str; 4] = [
    "/talk/loops/0/ratio",
    "/talk/loops/1/sdk_round_ms",
    "/reads/catalogue/time_ratio",
    "/mcp/http/0/ratios/typescript",
];

/// Some minutes: in the deep run, and before a measurement.
#[test]
#[cfg_attr(not(feature = "deep"), ignore = "deep run")]
fn every_measurement_has_its_numbers_and_the_rows_match_the_answers() {
    let folder = tempfile::tempdir().unwrap();
    let (results, _) = bench(&folder.path().join("bench.json"), &["--deep"], None);
    let by_npm = results["beside"]["npm"].as_bool().unwrap();
    for pointer in NUMBERS {
        number(&results, pointer);
    }
    for pointer in NUMBERS_BY_NPM {
        let found = results.pointer(pointer).is_some_and(Value::is_number);
        assert_eq!(found, by_npm, "{pointer}");
    }
    for name in ["disk/per_s", "audit/append_per_s", "audit/verify_per_s"] {
        assert!(number(&results, &format!("/{name}")) > 0.0, "{name}");
    }
    assert_eq!(
        (
            number(&results, "/nodes/nodes"),
            number(&results, "/nodes/starts")
        ),
        (5.0, 3.0)
    );
    assert!(number(&results, "/nodes/start_p50_ms") > 0.0);
    assert_eq!(number(&results, "/reads/catalogue/actions"), 512.0);
    assert_eq!(number(&results, "/reads/inbox/items"), 100.0);
    assert_eq!(number(&results, "/local/old_tickets"), 100.0);
    throughput(&results, by_npm);
    targets(&results, by_npm);
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .flatten()
        .collect();
    assert_eq!(left.len(), 1, "folders are left behind: {left:?}");
}

/// Every bar has its verdict, and says of what lies beyond it whether that is so.
fn targets(results: &Value, by_npm: bool) {
    let targets = results["targets"].as_array().unwrap();
    assert!(targets.len() >= 20, "{targets:?}");
    assert!(targets.iter().all(|target| target["verdict"].is_string()));
    let of = |name: &str| targets.iter().find(|target| target["name"] == name);
    for (name, has_beyond) in [
        ("local action, 1 clients: p50", true),
        ("local action, 1 clients, full journal: time", true),
        ("MCP over http, clients 64: calls per second", true),
        ("run, two instances", false),
        ("inbox of 100 items", false),
        ("/api/inbox over old rows", false),
    ] {
        let target = of(name).unwrap_or_else(|| panic!("{name} is not judged: {targets:?}"));
        assert_eq!(target["is_beyond"].is_boolean(), has_beyond, "{target}");
    }
    for name in [
        "approve, SQLite, 1 clients",
        "run, SQLite, 1 clients",
        "queue, SQLite, 1 clients",
        "tool loop, 1 at once: time",
        "tool loop, 16 at once: time",
    ] {
        assert_eq!(of(name).is_some(), by_npm, "{name}");
    }
}

#[test]
fn a_strict_run_fails_exactly_if_a_target_is_missed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bench.json");
    let output = command(&file, &["--only", "audit", "--strict"])
        .output()
        .unwrap();
    let (out, said) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    let results: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let targets = results["targets"].as_array().unwrap();
    assert_eq!(targets.len(), 1, "{targets:?}");
    let is_missed = targets[0]["verdict"] != "met";
    assert_eq!(output.status.success(), !is_missed, "{said}");
    assert_eq!(
        out.contains("missed, 1 of 1: audit verify"),
        is_missed,
        "{out}"
    );
    assert_eq!(
        said.contains("1 of 1 targets are missed"),
        is_missed,
        "{said}"
    );
    // Without the flag the same numbers are an answer.
    bench(&file, &["--only", "audit"], None);
}

/// Where npm cannot be had, Void is measured all the same, and nothing is made up for what is missing.
#[test]
fn without_npm_its_rows_are_left_out_and_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let programs = folder.path().join("programs");
    std::fs::create_dir(&programs).unwrap();
    for name in ["cat", "chown", "env", "rm", "setpriv", "sh", "sleep"] {
        let found = ["/usr/bin", "/bin"].map(|place| Path::new(place).join(name));
        let found = found.iter().find(|path| path.exists()).unwrap();
        std::os::unix::fs::symlink(found, programs.join(name)).unwrap();
    }
    let file = folder.path().join("place/bench.json");
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    let (results, said) = bench(&file, &["--only", "sqlite"], Some(&programs));
    assert_eq!(results["beside"]["npm"], false);
    assert!(said.contains("npm cannot install reference here"), "{said}");
    let cells = results["throughput"].as_array().unwrap();
    let measured: Vec<&Value> = cells
        .iter()
        .filter(|cell| cell["void"].is_object())
        .collect();
    assert_eq!(measured.len(), 6, "{cells:?}");
    for cell in measured {
        assert!(cell["ratio"].is_number(), "{cell}");
        assert!(cell.get("reference").is_none(), "{cell}");
        assert!(cell.get("reference_ratio").is_none(), "{cell}");
    }
    assert_eq!(results["targets"], serde_json::json!([]));
}

fn throughput(results: &Value, by_npm: bool) {
    let cells = results["throughput"].as_array().unwrap();
    for engine in ["sqlite", "postgres"] {
        for clients in [1, 4] {
            let of = |operation: &str| {
                let mut found = cells.iter().filter(|cell| {
                    cell["engine"] == engine
                        && cell["clients"] == clients
                        && cell["operation"] == operation
                });
                found
                    .next()
                    .unwrap_or_else(|| panic!("{engine} {clients} {operation}"))
            };
            for operation in ["queue", "approve", "run"] {
                let cell = of(operation);
                for name in ["answers", "per_s", "p50_ms", "p99_ms"] {
                    assert!(number(cell, &format!("/void/{name}")) > 0.0, "{cell}");
                    if engine == "sqlite" {
                        assert!(number(cell, &format!("/floor/{name}")) > 0.0, "{cell}");
                    }
                }
                assert_eq!(cell["ratio"].is_number(), engine == "sqlite", "{cell}");
                // The documents' stack takes its turn beside both.
                assert_eq!(cell["reference_ratio"].is_number(), by_npm, "{cell}");
                for name in ["answers", "per_s", "p50_ms", "p99_ms"] {
                    let found = cell["reference"][name].as_f64();
                    assert_eq!(found.is_some_and(|number| number > 0.0), by_npm, "{cell}");
                }
            }
            let all = of("all");
            let answered = |operation: &str| all["answers"][operation].as_u64().unwrap();
            let ran = answered("approve") + answered("run");
            assert!(answered("approve") > 0 && ran > 0, "{all}");
            assert_eq!(all["executed_rows"], ran, "{all}");
            assert_eq!(all["effects"], ran, "{all}");
            assert_eq!(
                all["pending_rows"],
                answered("queue") - answered("approve"),
                "{all}"
            );
        }
    }
}
