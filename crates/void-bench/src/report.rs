//! The numbers as people read them.

mod comparisons;
mod sections;

use std::fmt::Write as _;

use serde_json::Value;

use crate::verdicts::Verdict;

pub(crate) fn table(results: &Value, verdicts: &[Verdict]) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = sections::write(&mut out, results);
    let _ = targets(&mut out, verdicts);
    out
}

fn targets(out: &mut String, verdicts: &[Verdict]) -> std::fmt::Result {
    writeln!(out, "\ntargets")?;
    for verdict in verdicts {
        writeln!(
            out,
            "  {:<50} {:<32} {:<32} {:<18} {}",
            verdict.name,
            verdict.goal_text(),
            verdict.measured_text(),
            verdict.word(),
            verdict.beyond_text()
        )?;
    }
    let missed = missed(verdicts);
    match missed.is_empty() {
        true => writeln!(out, "\nno target that was measured is missed"),
        false => writeln!(
            out,
            "\nmissed, {} of {}: {}",
            missed.len(),
            verdicts.len(),
            missed.join("; ")
        ),
    }
}

/// The names of the targets that are not met.
pub(crate) fn missed(verdicts: &[Verdict]) -> Vec<&str> {
    let missed = verdicts.iter().filter(|verdict| !verdict.is_met());
    missed.map(|verdict| verdict.name.as_str()).collect()
}
