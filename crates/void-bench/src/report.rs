//! The numbers as people read them.

use std::fmt::Write as _;

use serde_json::Value;

use crate::verdicts::{Verdict, items, text};

const MIB: f64 = 1024.0 * 1024.0;

pub(crate) fn table(results: &Value, verdicts: &[Verdict]) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = sections(&mut out, results);
    let _ = targets(&mut out, verdicts);
    out
}

fn sections(out: &mut String, results: &Value) -> std::fmt::Result {
    let number = |pointer: &str| results.pointer(pointer).and_then(Value::as_f64);
    if let Some(rate) = number("/disk/per_s") {
        let tail = number("/disk/p99_ms").unwrap_or(0.0);
        writeln!(out, "disk: {rate:.0} flushes/s, p99 {tail:.2} ms\n")?;
    }
    throughput(out, items(results, "/throughput"))?;
    if let Some(bytes) = number("/streams/bytes_per_listener") {
        let listeners = number("/streams/listeners").unwrap_or(0.0);
        writeln!(
            out,
            "idle listeners: {listeners:.0}, {:.2} KiB each",
            bytes / 1024.0
        )?;
    }
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
    if let (Some(first), Some(again)) = (
        number("/process/first_start_to_ready_ms"),
        number("/process/start_to_ready_ms"),
    ) {
        let idle = number("/process/idle_resident_bytes").unwrap_or(0.0) / MIB;
        let own = number("/process/idle_own_bytes").unwrap_or(0.0) / MIB;
        let size = number("/process/binary_bytes").unwrap_or(0.0) / 1e6;
        writeln!(
            out,
            "void serve: ready after {again:.1} ms ({first:.1} ms the first time), {idle:.1} MiB idle ({own:.1} without mapped files), {size:.1} MB binary"
        )?;
    }
    mcp(out, &results["mcp"])?;
    rows(out, results)
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

fn throughput(out: &mut String, cells: &[Value]) -> std::fmt::Result {
    let cells: Vec<&Value> = cells
        .iter()
        .filter(|cell| cell["void"].is_object())
        .collect();
    if cells.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "{:<9} {:<8} {:>7} | {:>8} {:>8} {:>8} {:>7} | {:>8} {:>8} {:>8} {:>7} | {:>6} {:>6}",
        "engine",
        "",
        "clients",
        "void/s",
        "p50 ms",
        "p99 ms",
        "cpu µs",
        "floor/s",
        "p50 ms",
        "p99 ms",
        "cpu µs",
        "ratio",
        "p99 ×"
    )?;
    for cell in cells {
        let of = |pointer: &str| cell.pointer(pointer).and_then(Value::as_f64).unwrap_or(0.0);
        write!(
            out,
            "{:<9} {:<8} {:>7} | {:>8.0} {:>8.2} {:>8.2} {:>7.0} |",
            text(cell, "engine"),
            text(cell, "operation"),
            cell["clients"].as_u64().unwrap_or(0),
            of("/void/per_s"),
            of("/void/p50_ms"),
            of("/void/p99_ms"),
            of("/void/cpu_us"),
        )?;
        match (cell["ratio"].as_f64(), cell["p99_ratio"].as_f64()) {
            (Some(ratio), Some(tail)) => writeln!(
                out,
                " {:>8.0} {:>8.2} {:>8.2} {:>7.0} | {ratio:>6.2} {tail:>6.2}",
                of("/floor/per_s"),
                of("/floor/p50_ms"),
                of("/floor/p99_ms"),
                of("/floor/cpu_us"),
            )?,
            _ => writeln!(out)?,
        }
    }
    writeln!(out)
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

fn targets(out: &mut String, verdicts: &[Verdict]) -> std::fmt::Result {
    writeln!(out, "\ntargets")?;
    for verdict in verdicts {
        writeln!(
            out,
            "  {:<44} {:<26} {:<24} {}",
            verdict.name,
            verdict.goal_text(),
            verdict.measured_text(),
            verdict.word()
        )?;
    }
    Ok(())
}
