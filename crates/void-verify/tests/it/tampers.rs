//! I28: twelve kinds of tampering, sixty trials each, all found and named where they happened.

use serde_json::{Value, json};
use void_verify::{Options, ProblemKind, TailProof, verify};

use crate::logs::{Random, canonical, check, export, head_of, log, seal, seal_from, text, words};

const TRIALS: usize = 60;

/// What a trial hands to the verifier, and the problems it must name: line and word.
struct Trial {
    export: Vec<u8>,
    with_head: bool,
    expected: Vec<(usize, &'static str)>,
}

type Tamper = fn(&mut Random, Vec<Value>) -> Trial;

const TAMPERS: [(&str, Tamper); 12] = [
    ("edit a field", edit_field),
    ("flip a bit of a hash", flip_hash),
    ("remove one", remove_one),
    ("remove many", remove_many),
    ("remove the last", remove_last),
    ("duplicate", duplicate),
    ("swap", swap),
    ("insert a forged entry", insert),
    ("rewrite the tail", rewrite_tail),
    ("truncate inside a line", truncate),
    ("reformat a number", reformat_number),
    ("repeat a key", repeat_key),
];

#[test]
fn twelve_kinds_of_tampering_are_found_and_named() {
    let mut random = Random(28);
    let mut found = 0;
    for (name, tamper) in TAMPERS {
        for trial in 0..TRIALS {
            let count = 12 + random.below(30);
            let entries = log(&mut random, count);
            let head = head_of(&entries);
            assert!(check(&export(&entries), Some(head)).is_intact());
            let Trial {
                export,
                with_head,
                expected,
            } = tamper(&mut random, entries);
            let report = check(&export, with_head.then_some(head));
            let problems: Vec<_> = report
                .problems
                .iter()
                .map(|p| (p.line, p.kind.word()))
                .collect();
            let expected: Vec<_> = expected
                .iter()
                .map(|(line, word)| (*line as u64, *word))
                .collect();
            assert_eq!(problems, expected, "{name}, trial {trial}:\n{report}");
            for threads in 2..5 {
                let options = Options {
                    head: with_head.then_some(head),
                    threads,
                };
                assert_eq!(
                    verify(export.as_slice(), &options).unwrap(),
                    report,
                    "{name}"
                );
            }
            found += usize::from(!report.is_intact());
        }
    }
    assert_eq!(found, 720);
}

fn trial(entries: &[Value], expected: &[(usize, &'static str)]) -> Trial {
    Trial {
        export: export(entries),
        with_head: false,
        expected: expected.to_vec(),
    }
}

/// A well-formed other value for each member.
fn edits() -> [(&'static str, Value); 10] {
    let hex = "5a".repeat(32);
    [
        ("actor", json!("owner ")),
        ("at", json!("2025-01-01T00:00:00.000Z")),
        ("catalogue", json!(hex)),
        ("detail", json!({"edited": true})),
        ("hash", json!(hex)),
        ("prev", json!(hex)),
        ("request_id", json!("req-x")),
        ("seq", json!(999)),
        ("subject", json!("proposal:x")),
        ("verb", json!("proposal.read")),
    ]
}

fn edit_field(random: &mut Random, mut entries: Vec<Value>) -> Trial {
    let i = random.below(entries.len());
    let (key, value) = random.pick(&edits()).clone();
    entries[i][key] = value;
    trial(&entries, &[(i + 1, "edited")])
}

#[test]
fn each_field_of_each_entry_edited_is_one_problem() {
    let entries = log(&mut Random(9), 12);
    for (key, value) in edits() {
        for i in 0..entries.len() {
            let mut edited = entries.clone();
            edited[i][key] = value.clone();
            let report = check(&export(&edited), None);
            assert_eq!(words(&report), ["edited"], "{key} of {}: {report}", i + 1);
            assert_eq!(report.problems[0].line, i as u64 + 1);
        }
    }
}

fn flip_hash(random: &mut Random, mut entries: Vec<Value>) -> Trial {
    let i = random.below(entries.len());
    let key = *random.pick(&["hash", "prev"]);
    let mut digits = text(&entries[i][key]).into_bytes();
    let at = random.below(64);
    let value = char::from(digits[at]).to_digit(16).unwrap() ^ (1 << random.below(4));
    digits[at] = u8::try_from(char::from_digit(value, 16).unwrap()).unwrap();
    entries[i][key] = json!(String::from_utf8(digits).unwrap());
    trial(&entries, &[(i + 1, "edited")])
}

fn remove_one(random: &mut Random, mut entries: Vec<Value>) -> Trial {
    let i = 1 + random.below(entries.len() - 2);
    entries.remove(i);
    trial(&entries, &[(i + 1, "removed")])
}

fn remove_many(random: &mut Random, mut entries: Vec<Value>) -> Trial {
    let i = 1 + random.below(entries.len() - 4);
    let end = i + 2 + random.below(entries.len() - i - 3);
    entries.drain(i..end);
    trial(&entries, &[(i + 1, "removed")])
}

fn remove_last(random: &mut Random, mut entries: Vec<Value>) -> Trial {
    entries.truncate(entries.len() - 1 - random.below(3));
    let expected = [(entries.len(), "cut_tail")];
    assert!(
        check(&export(&entries), None).is_intact(),
        "only a head can tell"
    );
    Trial {
        with_head: true,
        ..trial(&entries, &expected)
    }
}

/// A copy right behind, or further down.
fn duplicate(random: &mut Random, mut entries: Vec<Value>) -> Trial {
    let i = random.below(entries.len());
    let to = i + 1 + random.below(entries.len() - i);
    entries.insert(to, entries[i].clone());
    let word = if to == i + 1 {
        "duplicate"
    } else {
        "reordered"
    };
    trial(&entries, &[(to + 1, word)])
}

/// Each place where the order breaks is named.
fn swap(random: &mut Random, mut entries: Vec<Value>) -> Trial {
    let i = 1 + random.below(entries.len() - 3);
    let j = i + 1 + random.below(entries.len() - i - 1);
    entries.swap(i, j);
    let breaks: Vec<usize> = match j - i {
        1 => vec![i + 1],
        // The entry between stands behind one and before the other.
        2 => vec![i + 1, i + 2, j + 1],
        _ => vec![i + 1, i + 2, j + 1],
    };
    let last = (j - i > 1 && j + 1 < entries.len()).then_some(j + 2);
    let breaks: Vec<_> = breaks
        .into_iter()
        .chain(last)
        .map(|line| (line, "reordered"))
        .collect();
    trial(&entries, &breaks)
}

/// Forged with the right seq, prev and hash; the entries behind it are left as they were.
fn insert(random: &mut Random, mut entries: Vec<Value>) -> Trial {
    let i = random.below(entries.len());
    let mut forged = entries[i].clone();
    forged["actor"] = json!("nobody");
    let prev = text(&forged["prev"]);
    seal(&mut forged, &prev);
    let after = random.below(2);
    entries.insert(i + after, forged);
    trial(&entries, &[(i + 2, "inserted")])
}

fn rewrite_tail(random: &mut Random, mut entries: Vec<Value>) -> Trial {
    let i = random.below(entries.len());
    entries[i]["actor"] = json!("nobody");
    seal_from(&mut entries, i);
    assert!(
        check(&export(&entries), None).is_intact(),
        "only a head can tell"
    );
    let expected = [(entries.len(), "cut_tail")];
    Trial {
        with_head: true,
        ..trial(&entries, &expected)
    }
}

fn truncate(random: &mut Random, mut entries: Vec<Value>) -> Trial {
    let keep = random.below(entries.len());
    let line = canonical(&entries[keep]);
    entries.truncate(keep);
    let mut bytes = export(&entries);
    bytes.extend_from_slice(&line.as_bytes()[..1 + random.below(line.len())]);
    Trial {
        export: bytes,
        with_head: false,
        expected: vec![(keep + 1, "malformed")],
    }
}

fn reformat_number(random: &mut Random, entries: Vec<Value>) -> Trial {
    let i = random.below(entries.len());
    let seq = entries[i]["seq"].to_string();
    let from = format!("\"seq\":{seq},");
    let other = random
        .pick(&[
            "S.0",
            "Se0",
            "SE0",
            "0S",
            "-S",
            "+S",
            "S.",
            "Se",
            "S0000000000000000",
            "\"S\"",
            "-0",
        ])
        .replace('S', &seq);
    let line = canonical(&entries[i]).replace(&from, &format!("\"seq\":{other},"));
    with_line(entries, i, &line)
}

fn repeat_key(random: &mut Random, mut entries: Vec<Value>) -> Trial {
    let i = random.below(entries.len());
    entries[i]["detail"] = json!({"k": 1});
    seal_from(&mut entries, i);
    let line = canonical(&entries[i]);
    let (from, to) = *random.pick(&[
        (r#"{"k":1}"#, r#"{"k":1,"k":1}"#),
        (r#"{"k":1}"#, r#"{"k":1,"\u006b":2}"#),
        (r#","seq":"#, r#","seq":7,"seq":"#),
        (r#"{"actor":"#, r#"{"hash":"","actor":"#),
    ]);
    with_line(entries, i, &line.replacen(from, to, 1))
}

fn with_line(entries: Vec<Value>, i: usize, line: &str) -> Trial {
    let mut lines: Vec<_> = entries.into_iter().map(|entry| canonical(&entry)).collect();
    assert_ne!(lines[i], line);
    lines[i] = line.to_owned();
    let export = (lines.join("\n") + "\n").into_bytes();
    Trial {
        export,
        with_head: false,
        expected: vec![(i + 1, "malformed")],
    }
}

#[test]
fn a_moved_entry_is_named_where_it_is_and_where_it_was() {
    let mut random = Random(1);
    let entries = log(&mut random, 12);
    let mut later = entries.clone();
    let moved = later.remove(3);
    later.insert(8, moved);
    let lines = |entries: &[Value]| -> Vec<_> {
        let report = check(&export(entries), None);
        assert!(
            words(&report).iter().all(|word| *word == "reordered"),
            "{report}"
        );
        report.problems.iter().map(|problem| problem.line).collect()
    };
    assert_eq!(lines(&later), [4, 9]);
    let mut earlier = entries.clone();
    let moved = earlier.remove(8);
    earlier.insert(3, moved);
    assert_eq!(lines(&earlier), [4, 10]);
}

#[test]
fn a_forged_entry_with_a_number_from_nowhere_is_one_problem() {
    let mut entries = log(&mut Random(2), 12);
    let mut forged = entries[5].clone();
    forged["seq"] = json!(9_007_199_254_740_991_i64);
    let prev = text(&forged["prev"]);
    seal(&mut forged, &prev);
    entries.insert(5, forged);
    let report = check(&export(&entries), None);
    assert_eq!(report.problems.len(), 1, "{report}");
    assert_eq!(report.problems[0].line, 6);
    assert_eq!(report.problems[0].kind, ProblemKind::Reordered { after: 5 });
}

#[test]
fn an_entry_rewritten_with_its_own_hash_breaks_the_link_behind_it() {
    let mut entries = log(&mut Random(3), 12);
    entries[5]["actor"] = json!("nobody");
    let prev = text(&entries[5]["prev"]);
    seal(&mut entries[5], &prev);
    let report = check(&export(&entries), None);
    assert_eq!(words(&report), ["unlinked"]);
    assert_eq!(
        (report.problems[0].line, report.problems[0].seq),
        (7, Some(7))
    );
}

#[test]
fn the_first_entry_starts_from_zeros_and_a_later_start_is_said() {
    let mut random = Random(4);
    let entries = log(&mut random, 12);
    for from in 1..12 {
        let report = check(&export(&entries[from..]), None);
        assert!(report.is_intact());
        assert_eq!(report.first_seq, Some(from as u64 + 1));
        let said = format!(
            "Proven from {} on; earlier entries are not in this file.",
            from + 1
        );
        assert!(report.to_string().contains(&said), "{report}");
    }
    let mut forged = entries.clone();
    seal(&mut forged[0], &"11".repeat(32));
    seal_from(&mut forged, 1);
    assert_eq!(words(&check(&export(&forged), None)), ["unlinked"]);
}

#[test]
fn a_head_proves_up_to_its_entry() {
    let entries = log(&mut Random(5), 12);
    let tail = |from: usize, head: usize| {
        check(&export(&entries[from..]), Some(head_of(&entries[..head]))).tail
    };
    assert_eq!(
        tail(0, 12),
        TailProof::Proven {
            seq: 12,
            following: 0
        }
    );
    assert_eq!(
        tail(0, 7),
        TailProof::Proven {
            seq: 7,
            following: 5
        }
    );
    assert_eq!(
        tail(7, 7),
        TailProof::Proven {
            seq: 7,
            following: 5
        },
        "an export from the head on"
    );
    assert_eq!(tail(8, 7), TailProof::Mismatched);
    assert_eq!(check(&export(&entries), None).tail, TailProof::NotProven);
}

#[test]
fn a_head_copied_into_a_forged_last_entry_proves_nothing() {
    let entries = log(&mut Random(6), 12);
    let mut cut = entries[..8].to_vec();
    cut[7]["hash"] = entries[11]["hash"].clone();
    let report = check(&export(&cut), Some(head_of(&entries)));
    assert_eq!(words(&report), ["edited", "cut_tail"]);
    assert_eq!(report.tail, TailProof::Mismatched);
}

#[test]
fn a_head_copied_into_a_forged_prev_proves_nothing() {
    let entries = log(&mut Random(10), 12);
    let mut cut = entries[..9].to_vec();
    seal(&mut cut[8], &text(&entries[11]["hash"]));
    let report = check(&export(&cut), Some(head_of(&entries)));
    assert_eq!(words(&report), ["unlinked", "cut_tail"]);
    // The first prev is believed only from an entry that is what it was.
    let mut edited = entries[7..].to_vec();
    edited[0]["actor"] = json!("nobody");
    let report = check(&export(&edited), Some(head_of(&entries[..7])));
    assert_eq!(words(&report), ["edited", "cut_tail"]);
}

#[test]
fn a_forged_entry_without_a_proper_hash_is_one_problem() {
    let mut entries = log(&mut Random(11), 12);
    let mut forged = entries[5].clone();
    forged["actor"] = json!("nobody");
    forged["hash"] = json!("5a".repeat(32));
    entries.insert(5, forged);
    let report = check(&export(&entries), None);
    assert_eq!(words(&report), ["edited"]);
    assert_eq!(report.problems[0].line, 6);
}

#[test]
fn an_export_that_begins_later_cannot_go_back_to_the_beginning() {
    let mut entries = log(&mut Random(12), 12);
    let third = entries.remove(2);
    entries.insert(0, third);
    let report = check(&export(&entries), None);
    assert_eq!(words(&report), ["reordered", "reordered"]);
    assert_eq!(report.problems[0].seq, Some(1));
    assert_eq!(report.problems[1].seq, Some(4));
}

#[test]
fn a_malformed_line_excuses_only_the_gap_right_behind_it() {
    let entries = log(&mut Random(13), 12);
    let mut lines: Vec<_> = entries.iter().map(canonical).collect();
    lines[3] = "rubbish".to_owned();
    lines.remove(8);
    let report = check((lines.join("\n") + "\n").as_bytes(), None);
    assert_eq!(words(&report), ["malformed", "removed"]);
    assert_eq!(report.problems[1].line, 9);
}

#[test]
fn several_deeds_are_each_named() {
    let entries = log(&mut Random(7), 40);
    let mut lines: Vec<_> = entries.iter().map(canonical).collect();
    lines[4] = lines[4].replace("\"actor\":\"", "\"actor\":\"x");
    lines[20] = "rubbish".to_owned();
    lines[21] = String::new();
    lines.remove(30);
    lines.insert(35, lines[34].clone());
    let report = check((lines.join("\n") + "\n").as_bytes(), None);
    let problems: Vec<_> = report
        .problems
        .iter()
        .map(|p| (p.line, p.kind.word()))
        .collect();
    assert_eq!(
        problems,
        [
            (5, "edited"),
            (21, "malformed"),
            (31, "removed"),
            (36, "duplicate")
        ]
    );
}

#[test]
fn problems_are_bounded_and_counted() {
    let mut entries = log(&mut Random(8), 250);
    for entry in &mut entries {
        entry["verb"] = json!("edited");
    }
    let report = check(&export(&entries), None);
    assert_eq!(
        (report.problems.len(), report.problems_total),
        (void_verify::PROBLEMS_MAX, 250)
    );
    assert!(report.to_string().ends_with("\nand 150 more\n"));
    let rubbish = check(&b"x\n".repeat(250), None);
    assert_eq!((rubbish.problems_total, rubbish.entries), (1, 0));
}

#[test]
fn an_empty_file_is_not_called_intact() {
    assert_eq!(words(&check(b"", None)), ["malformed"]);
}
