//! What stands for itself, and the lists over old rows.

use std::fmt::Write as _;

use serde_json::Value;

use super::comparisons;
use crate::verdicts::{items, text};

const MIB: f64 = 1024.0 * 1024.0;

pub(super) fn write(out: &mut String, results: &Value) -> std::fmt::Result {
    let number = |pointer: &str| results.pointer(pointer).and_then(Value::as_f64);
    if let Some(rate) = number("/disk/per_s") {
        let tail = number("/disk/p99_ms").unwrap_or(0.0);
        writeln!(out, "disk: {rate:.0} flushes/s, p99 {tail:.2} ms\n")?;
    }
    comparisons::throughput(out, items(results, "/throughput"))?;
    comparisons::instances(out, items(results, "/instances/cells"))?;
    comparisons::local(out, &results["local"])?;
    comparisons::reads(out, &results["reads"])?;
    comparisons::loops(out, items(results, "/talk/loops"))?;
    comparisons::copies(out, &results["copies"])?;
    if let Some(bytes) = number("/streams/bytes_per_listener") {
        let listeners = number("/streams/listeners").unwrap_or(0.0);
        writeln!(
            out,
            "idle listeners: {listeners:.0}, {:.2} KiB each",
            bytes / 1024.0
        )?;
    }
    comparisons::knowledge(out, &results["knowledge"])?;
    comparisons::tree(out, &results["tree"])?;
    if let Some(nodes) = number("/nodes/nodes") {
        let of = |name: &str| number(&format!("/nodes/{name}")).unwrap_or(0.0);
        writeln!(
            out,
            "idle nodes: {nodes:.0}, {:.2} % of one core more than the {:.2} % without, {:.1} MiB; a yes starts after p50 {:.1} ms, p90 {:.1} ms",
            of("idle_core_percent"),
            of("idle_core_percent_without"),
            of("idle_bytes") / MIB,
            of("start_p50_ms"),
            of("start_p90_ms"),
        )?;
    }
    if let (Some(direct), Some(through)) = (
        number("/talk/piece_direct_p50_ms"),
        number("/talk/piece_p50_ms"),
    ) {
        let of = |name: &str| number(&format!("/talk/{name}")).unwrap_or(0.0);
        writeln!(
            out,
            "turns: a piece takes {through:.3} ms ({direct:.3} ms from the model itself), a round of tools {:.2} ms; {:.0} at once: p50 {:.2} ms ({:.2} from the model itself), p99 {:.1}, longest {:.1}",
            of("tool_round_p50_ms"),
            of("streams"),
            of("many_p50_ms"),
            of("many_direct_p50_ms"),
            of("many_p99_ms"),
            of("many_longest_ms"),
        )?;
    }
    if let (Some(append), Some(verify)) =
        (number("/audit/append_per_s"), number("/audit/verify_per_s"))
    {
        writeln!(
            out,
            "audit: {append:.0} durable appends/s, {verify:.0} entries/s verified"
        )?;
    }
    process(out, &results["process"])?;
    mcp(out, &results["mcp"])?;
    rows(out, results)
}

fn process(out: &mut String, process: &Value) -> std::fmt::Result {
    if !process.is_object() {
        return Ok(());
    }
    let of = |name: &str| process[name].as_f64().unwrap_or(0.0);
    writeln!(
        out,
        "void serve: ready after {:.1} ms ({:.1} ms the first time), {:.1} MiB idle ({:.1} without mapped files), {:.1} MB binary",
        of("start_to_ready_ms"),
        of("first_start_to_ready_ms"),
        of("idle_resident_bytes") / MIB,
        of("idle_own_bytes") / MIB,
        of("binary_bytes") / 1e6
    )
}

/// Calls per second beside the SDKs' own servers.
fn mcp(out: &mut String, found: &Value) -> std::fmt::Result {
    for (list, what) in [("stdio", "depth"), ("http", "clients")] {
        for cell in items(found, &format!("/{list}")) {
            write!(out, "MCP over {list}, {what} {}:", cell[what])?;
            for name in ["void", "rmcp", "typescript"] {
                if let Some(rate) = cell[name].as_f64() {
                    write!(out, " {name} {rate:.0}/s")?;
                }
            }
            writeln!(out)?;
        }
    }
    if found.is_object() {
        writeln!(
            out,
            "MCP, ms to the first answer: {}",
            found["first_answer_ms"]
        )?;
    }
    Ok(())
}

fn rows(out: &mut String, results: &Value) -> std::fmt::Result {
    let rows = &results["rows"];
    if !rows.is_object() {
        return Ok(());
    }
    let size = rows["file_bytes"].as_f64().unwrap_or(0.0) / MIB;
    writeln!(out, "\nwith {} old rows ({size:.0} MiB)", rows["old_rows"])?;
    for list in items(results, "/rows/lists") {
        writeln!(
            out,
            "  {:<32} {:>8.2} ms, {:>8.2} ms without, ratio {}",
            text(list, "path"),
            list["with_ms"].as_f64().unwrap_or(0.0),
            list["without_ms"].as_f64().unwrap_or(0.0),
            list["ratio"]
        )?;
    }
    let number = |pointer: &str| rows.pointer(pointer).and_then(Value::as_f64).unwrap_or(0.0);
    writeln!(
        out,
        "  approvals {:.0}/s, {:.0}/s without, ratio {:.2}",
        number("/approve/with/per_s"),
        number("/approve/without/per_s"),
        number("/approve/ratio")
    )?;
    writeln!(
        out,
        "  ready {} ms after SIGKILL",
        rows["restart_to_ready_ms"]
    )
}
