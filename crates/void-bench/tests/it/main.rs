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

fn bench(file: &Path, args: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_void-bench"))
        .args(["--tiny", "--json"])
        .arg(file)
        .args(args)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

fn number(results: &Value, pointer: &str) -> f64 {
    let found = results.pointer(pointer).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("{pointer} is missing in {results}"))
}

/// A minute and a half: in the deep run, and before a measurement.
#[test]
#[cfg_attr(not(feature = "deep"), ignore = "deep run")]
fn every_measurement_has_its_numbers_and_the_rows_match_the_answers() {
    let folder = tempfile::tempdir().unwrap();
    let results = bench(&folder.path().join("bench.json"), &["--deep"]);
    for pointer in [
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
        "/audit/append_per_s",
        "/audit/verify_per_s",
        "/process/first_start_to_ready_ms",
        "/process/start_to_ready_ms",
        "/process/idle_resident_bytes",
        "/process/binary_bytes",
        "/rows/old_rows",
        "/rows/lists/0/ratio",
        "/rows/approve/with/per_s",
        "/rows/approve/without/per_s",
        "/rows/restart_to_ready_ms",
    ] {
        number(&results, pointer);
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
    throughput(&results);
    let targets = results["targets"].as_array().unwrap();
    assert!(targets.len() >= 20, "{targets:?}");
    assert!(targets.iter().all(|target| target["verdict"].is_string()));
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .flatten()
        .collect();
    assert_eq!(left.len(), 1, "folders are left behind: {left:?}");
}

fn throughput(results: &Value) {
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
