//! What is measured beside something else.

use std::fmt::Write as _;

use serde_json::Value;

use crate::verdicts::{items, text};

const MIB: f64 = 1024.0 * 1024.0;

fn of(value: &Value, pointer: &str) -> f64 {
    value
        .pointer(pointer)
        .and_then(Value::as_f64)
        .unwrap_or(0.0)
}

/// Void's own numbers, then those of each other side and what Void's rate is of theirs.
pub(super) fn throughput(out: &mut String, cells: &[Value]) -> std::fmt::Result {
    let cells: Vec<&Value> = cells
        .iter()
        .filter(|cell| cell["void"].is_object())
        .collect();
    if cells.is_empty() {
        return Ok(());
    }
    let head = ["per s", "p50 ms", "p99 ms", "cpu µs"];
    let head = head.map(|word| format!("{word:>8}")).join(" ");
    writeln!(
        out,
        "{:<9} {:<8} {:>7} | void {head} | reference {head} {:>6} | floor {head} {:>6}",
        "database", "", "clients", "×", "×"
    )?;
    for cell in cells {
        write!(
            out,
            "{:<9} {:<8} {:>7} |      {} |",
            text(cell, "engine"),
            text(cell, "operation"),
            cell["clients"].as_u64().unwrap_or(0),
            round(&cell["void"])
        )?;
        for (name, ratio, indent) in [("reference", "reference_ratio", 10), ("floor", "ratio", 6)] {
            match cell[ratio].as_f64() {
                Some(ratio) => write!(out, "{:indent$} {} {ratio:>6.2} |", "", round(&cell[name]))?,
                None => write!(out, "{:1$} |", "", indent + 43)?,
            }
        }
        writeln!(out)?;
    }
    writeln!(out)
}

fn round(round: &Value) -> String {
    format!(
        "{:>8.0} {:>8.2} {:>8.2} {:>8.0}",
        of(round, "/per_s"),
        of(round, "/p50_ms"),
        of(round, "/p99_ms"),
        of(round, "/cpu_us")
    )
}

pub(super) fn instances(out: &mut String, cells: &[Value]) -> std::fmt::Result {
    for cell in cells {
        writeln!(
            out,
            "two instances on one PostgreSQL, {}: {:.0}/s together, {:.0}/s by one, × {:.2}",
            text(cell, "operation"),
            of(cell, "/two_per_s"),
            of(cell, "/one/per_s"),
            of(cell, "/ratio")
        )?;
    }
    Ok(())
}

pub(super) fn local(out: &mut String, local: &Value) -> std::fmt::Result {
    for cell in items(local, "/cells") {
        write!(
            out,
            "local action ({}), {} clients: {:.0}/s, p50 {:.2} ms, p99 {:.2} ms; fork + exec {:.0}/s, p50 {:.2} ms, × {:.2}",
            text(local, "command"),
            cell["clients"],
            of(cell, "/void/per_s"),
            of(cell, "/void/p50_ms"),
            of(cell, "/void/p99_ms"),
            of(cell, "/bare/per_s"),
            of(cell, "/bare/p50_ms"),
            of(cell, "/ratio")
        )?;
        if cell["full"].is_object() {
            write!(
                out,
                "; with {} old tickets {:.0}/s, p50 {:.2} ms, time × {:.2}",
                local["old_tickets"],
                of(cell, "/full/per_s"),
                of(cell, "/full/p50_ms"),
                of(cell, "/full_time_ratio")
            )?;
        }
        writeln!(out)?;
    }
    Ok(())
}

pub(super) fn reads(out: &mut String, reads: &Value) -> std::fmt::Result {
    if !reads.is_object() {
        return Ok(());
    }
    let catalogue = &reads["catalogue"];
    write!(
        out,
        "/api/actions with {} actions: p50 {:.3} ms",
        catalogue["actions"],
        of(catalogue, "/p50_ms")
    )?;
    if let Some(ratio) = catalogue["time_ratio"].as_f64() {
        let other = of(catalogue, "/reference_p50_ms");
        write!(out, " (the reference: {other:.3} ms, time × {ratio:.2})")?;
    }
    writeln!(
        out,
        "; inbox of {} items: p50 {:.3} ms, after a commit {:.3} ms; home: {:.3} ms, {:.3} ms",
        of(reads, "/inbox/items"),
        of(reads, "/inbox/p50_ms"),
        of(reads, "/inbox/after_commit_p50_ms"),
        of(reads, "/home/p50_ms"),
        of(reads, "/home/after_commit_p50_ms")
    )
}

pub(super) fn loops(out: &mut String, cells: &[Value]) -> std::fmt::Result {
    for cell in cells {
        writeln!(
            out,
            "tool loop, {} at once: {:.2} ms a round, {:.2} ms by the vendor's SDK, time × {:.2}",
            cell["at_once"],
            of(cell, "/round_ms"),
            of(cell, "/sdk_round_ms"),
            of(cell, "/ratio")
        )?;
    }
    Ok(())
}

pub(super) fn copies(out: &mut String, copies: &Value) -> std::fmt::Result {
    if !copies.is_object() {
        return Ok(());
    }
    writeln!(
        out,
        "a database of {:.0} MiB ({} old rows):",
        of(copies, "/file_bytes") / MIB,
        copies["old_rows"]
    )?;
    writeln!(
        out,
        "  audit verify {:.0} ms, reading and hashing the file {:.0} ms; of an export ({:.0} MiB) {:.0} ms, {:.0} ms",
        of(copies, "/verify/database_ms"),
        of(copies, "/verify/database_hash_ms"),
        of(copies, "/verify/export_bytes") / MIB,
        of(copies, "/verify/export_ms"),
        of(copies, "/verify/export_hash_ms")
    )?;
    writeln!(
        out,
        "  backup create {:.0} ms, copy and sync {:.0} ms; p99 of queueing meanwhile {:.2} ms, quiet {:.2} ms",
        of(copies, "/backup/ms"),
        of(copies, "/backup/plain_copy_ms"),
        of(copies, "/backup/queue_meanwhile/p99_ms"),
        of(copies, "/backup/queue_quiet/p99_ms")
    )
}

/// What the owner keeps, beside the least that does the same.
pub(super) fn knowledge(out: &mut String, knowledge: &Value) -> std::fmt::Result {
    let of = |pointer: &str| knowledge.pointer(pointer).and_then(Value::as_f64);
    let number = |pointer: &str| of(pointer).unwrap_or(0.0);
    if let Some(pages) = of("/pages") {
        writeln!(
            out,
            "{pages:.0} pages: {:.0}/s written; a search {:.2} ms, FTS5 {:.2} ms; a save {:.2} ms, a commit {:.2} ms; a list {:.2} ms",
            number("/index_per_s"),
            number("/search/p50_ms"),
            number("/search/floor_p50_ms"),
            number("/save/p50_ms"),
            number("/save/floor_p50_ms"),
            number("/list/p50_ms"),
        )?;
    }
    for cell in items(knowledge, "/vectors") {
        let of = |name: &str| cell[name].as_f64().unwrap_or(0.0);
        writeln!(
            out,
            "{:.0} chunks: by vectors {:.3} of a scan, recall {:.3}, {:.1} bytes each",
            of("chunks"),
            of("ratio"),
            of("recall"),
            of("bytes_per_chunk"),
        )?;
    }
    Ok(())
}

pub(super) fn tree(out: &mut String, tree: &Value) -> std::fmt::Result {
    let of = |pointer: &str| tree.pointer(pointer).and_then(Value::as_f64);
    let (Some(agents), Some(check)) = (of("/agents"), of("/check_ns")) else {
        return Ok(());
    };
    let or_zero = |pointer: &str| of(pointer).unwrap_or(0.0);
    writeln!(
        out,
        "the tree: of {agents:.0} agents one is above another in {check:.1} ns, its index takes {:.1} ms; {:.0} brought in line in {:.0} ms",
        or_zero("/index_ms"),
        or_zero("/reconciled"),
        or_zero("/reconcile_ms"),
    )
}
