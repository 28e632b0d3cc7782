//! The fast reading and the general one agree, with each other and with an independent reader.

use serde_json::{Value, json};
use void_verify::{
    DEPTH_MAX, INTEGER_MAX, LINE_BYTES_MAX, ProblemKind, Report, entry_hash, write_hash,
};

use crate::logs::{Random, canonical, check, log, seal, seal_from, value};

/// A leading space is never canonical, so this line takes the general way.
fn check_general(line: &[u8]) -> Report {
    check(&[b" ", line].concat(), None)
}

fn spelled_freely(random: &mut Random, value: &Value) -> String {
    let space = |random: &mut Random| *random.pick(&["", "", "", " ", "\t", "\r", "  "]);
    let around =
        |random: &mut Random, text: String| space(random).to_owned() + &text + space(random);
    let text = match value {
        Value::String(string) => string_freely(random, string),
        Value::Array(items) => {
            let items: Vec<_> = items
                .iter()
                .map(|item| spelled_freely(random, item))
                .collect();
            format!("[{}{}]", space(random), items.join(","))
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            for i in (1..members.len()).rev() {
                members.swap(i, random.below(i + 1));
            }
            let mut texts = Vec::new();
            for (key, value) in members {
                let key = string_freely(random, key);
                texts.push(around(random, key) + ":" + &spelled_freely(random, value));
            }
            format!("{{{}{}}}", space(random), texts.join(","))
        }
        _ => value.to_string(),
    };
    around(random, text)
}

fn string_freely(random: &mut Random, string: &str) -> String {
    let mut out = String::from("\"");
    for c in string.chars() {
        let mut units = [0; 2];
        match (c, random.below(3)) {
            ('/', 0) => out.push_str("\\/"),
            ('"' | '\\', 0) => out.extend(['\\', c]),
            (' '.., 1..) if c != '"' && c != '\\' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out + "\""
}

#[test]
fn any_spelling_of_the_same_entry_is_accepted() {
    let mut random = Random(30);
    for trial in 0..2000 {
        let mut entry = log(&mut random, 1).remove(0);
        entry["detail"] = value(&mut random, 5);
        seal(&mut entry, &"0".repeat(64));
        let line = canonical(&entry) + "\n";
        let fast = check(line.as_bytes(), None);
        assert!(
            fast.is_intact() && fast.reformatted == 0,
            "trial {trial}: {fast}{line}"
        );
        let free = spelled_freely(&mut random, &entry) + "\n";
        for general in [check(free.as_bytes(), None), check_general(line.as_bytes())] {
            let reformatted = general.reformatted;
            assert_eq!(
                Report {
                    reformatted: 0,
                    ..general
                },
                fast,
                "trial {trial}: {free}"
            );
            assert!(reformatted == 1 || free == line);
        }
    }
}

/// Whatever is done to a line, both readings say the same; and what passes is, to an independent reader,
/// the entry that was sealed.
#[test]
fn both_readings_judge_damaged_lines_alike() {
    const TOKENS: [&str; 22] = [
        "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\n", "\\u001f", "\\ud800", "-", "0",
        "00", "1.0", "e1", "null", "true", " ", "\u{e000}", "\"k\":1,",
    ];
    let mut random = Random(31);
    let mut passed = 0;
    for trial in 0..20_000 {
        let entry = log(&mut random, 1).remove(0);
        let mut line = canonical(&entry).into_bytes();
        for _ in 0..1 + random.below(2) {
            let at = random.below(line.len());
            let end = (at + random.below(3)).min(line.len());
            let token = random.pick(&TOKENS).bytes().take(random.below(8));
            let token: Vec<u8> = token.collect();
            line.splice(at..end, token);
        }
        let own = check(&[&line, &b"\n"[..]].concat(), None);
        let general = check_general(&[&line, &b"\n"[..]].concat());
        let gist = |report: &Report| {
            let problems = report
                .problems
                .iter()
                .map(|p| (p.line, p.seq, p.kind.word()));
            (
                report.entries,
                report.head,
                report.last_seq,
                problems.collect::<Vec<_>>(),
            )
        };
        assert_eq!(
            gist(&own),
            gist(&general),
            "trial {trial}: {}",
            String::from_utf8_lossy(&line)
        );
        if own.is_intact() {
            passed += 1;
            assert_eq!(
                serde_json::from_slice::<Value>(&line).unwrap(),
                entry,
                "trial {trial}"
            );
        }
    }
    assert!(
        passed > 100,
        "untouched content is among the trials: {passed}"
    );
}

/// The danger of a fast reading: bytes that are hashed as they stand though they are not canonical.
#[test]
fn a_hash_over_an_uncanonical_spelling_is_not_accepted() {
    let sealed_as_spelled = |detail: &str| {
        let entry = log(&mut Random(34), 1).remove(0);
        let canonical = canonical(&entry);
        let (before, rest) = canonical.split_once(",\"detail\":").unwrap();
        let (_, after) = rest.rsplit_once(",\"request_id\":").unwrap();
        let (before, after) = (
            format!("{before},\"detail\":{detail}"),
            format!(",\"request_id\":{after}"),
        );
        let hash = write_hash(&entry_hash(&[0; 32], (before.clone() + &after).as_bytes()));
        let zeros = "0".repeat(64);
        let line = format!("{before},\"hash\":\"{hash}\",\"prev\":\"{zeros}\"{after}\n");
        check(line.as_bytes(), None).is_intact()
    };
    let mut random = Random(35);
    for trial in 0..5000 {
        let value = value(&mut random, 4);
        let free = spelled_freely(&mut random, &value);
        assert_eq!(
            sealed_as_spelled(&free),
            free == canonical(&value),
            "trial {trial}: {free}"
        );
    }
    for unit in 0..0x100_u32 {
        let c = char::from_u32(unit).unwrap();
        let right = canonical(&json!(c.to_string()));
        for spelling in [
            format!("\"{c}\""),
            format!("\"\\{c}\""),
            format!("\"\\u{unit:04x}\""),
            format!("\"\\u{unit:04X}\""),
        ] {
            // A backslash before t, say, is right too, for another character.
            let is_right = spelling == right
                || ["b", "f", "n", "r", "t"]
                    .iter()
                    .any(|l| spelling == format!("\"\\{l}\""));
            assert_eq!(sealed_as_spelled(&spelling), is_right, "{spelling:?}");
        }
    }
    for detail in [
        r#"{"b":1,"a":1}"#,
        r#"{"a":1,"a":1}"#,
        r#"{"\ue000":1,"😀":1}"#,
        "-0",
        "00",
        "1.0",
        "[1,]",
        "{}{}",
    ] {
        assert!(!sealed_as_spelled(detail), "{detail}");
    }
    assert!(
        sealed_as_spelled("{\"😀\":1,\"\u{e000}\":1}")
            && !sealed_as_spelled("{\"\u{e000}\":1,\"😀\":1}")
    );
}

/// The reason why a line is refused, by both readings alike.
fn refusal(line: &str) -> String {
    let reason = |report: Report| match &report.problems[..] {
        [problem] => match &problem.kind {
            ProblemKind::Malformed { reason, .. } => reason.clone(),
            kind => panic!("{kind:?} for {line:.80}"),
        },
        problems => panic!("{problems:?} for {line:.80}"),
    };
    reason(check_general(format!("{line}\n").as_bytes()));
    reason(check(format!("{line}\n").as_bytes(), None))
}

fn line_with(detail: Value) -> String {
    let mut entry = log(&mut Random(32), 1).remove(0);
    entry["detail"] = detail;
    seal(&mut entry, &"0".repeat(64));
    canonical(&entry)
}

#[test]
fn what_two_readers_could_read_differently_is_refused() {
    let line = line_with(json!({"k": [7, "s"]}));
    let cases = [
        ("[7,", "[7.0,", "plain integer"),
        ("[7,", "[7e0,", "plain integer"),
        ("[7,", "[-0,", "plain integer"),
        ("[7,", "[07,", "plain integer"),
        ("[7,", "[9007199254740992,", "plain integer"),
        ("[7,", "[-9007199254740992,", "plain integer"),
        ("[7,", "[99999999999999999999999,", "plain integer"),
        ("[7,", "[NaN,", "not a JSON value"),
        ("[7,", "['s',", "not a JSON value"),
        ("[7,", "[7,,", "not a JSON value"),
        ("[7,", "[7 7,", "expected ,"),
        ("\"s\"", "\"\t\"", "expected \\"),
        ("\"s\"", r#""\x""#, "expected u"),
        ("\"s\"", r#""\ud800""#, "lone surrogate"),
        ("\"s\"", r#""\udc00""#, "lone surrogate"),
        ("\"s\"", r#""\ud800\u0041""#, "lone surrogate"),
        ("\"s\"", r#""\u00E9""#, "lower-case hex"),
        ("\"s\"", r#""\u+0e9""#, "lower-case hex"),
        ("\"s\"", r#""\u00é""#, "lower-case hex"),
        (r#"{"k":"#, r#"{"k":1,"k":"#, "a key twice"),
        (r#"{"k":"#, r#"{"k":1,"\u006b":"#, "a key twice"),
        (r#","seq":1"#, r#","seq":1,"seq":1"#, "a key twice"),
        (r#","seq":1"#, "", r#"expected ,"seq":"#),
        (r#","seq":1"#, r#","seq":0"#, "an integer from 1 as seq"),
        (r#","seq":1"#, r#","seq":-1"#, "an integer from 1 as seq"),
        (r#","seq":1"#, r#","seq":"1""#, "an integer from 1 as seq"),
        (r#","seq":1"#, r#","seq":null"#, "an integer from 1 as seq"),
        (
            r#","seq":1"#,
            r#","seq":1,"sequel":1"#,
            r#"expected ,"subject":"#,
        ),
        (
            r#","verb":""#,
            r#","verb":"","vern":""#,
            "no member after verb",
        ),
        (
            "{\"actor\"",
            "{\"aaa\":1,\"actor\"",
            r#"expected {"actor":"#,
        ),
        ("Z\",", "+00:00\",", "UTC time"),
        ("T0", " 0", "UTC time"),
        ("\"hash\":\"", "\"hash\":\"A", "as hash"),
        ("\"prev\":\"0", "\"prev\":\"", "as prev"),
        ("\"prev\":\"0", "\"prev\":\"G", "as prev"),
    ];
    for (from, to, reason) in cases {
        let broken = line.replacen(from, to, 1);
        assert_ne!(broken, line, "{from} is not in {line}");
        assert!(
            refusal(&broken).contains(reason),
            "{to}: {}",
            refusal(&broken)
        );
    }
    for (broken, reason) in [
        (line.clone() + "}", "more after the object"),
        (line.clone() + &line, "more after the object"),
        (format!("[{line}]"), r#"expected {"actor":"#),
        (format!("\u{feff}{line}"), "not a JSON value"),
        (String::new(), "not a JSON value"),
        ("{}".to_owned(), r#"expected {"actor":"#),
    ] {
        assert!(refusal(&broken).contains(reason), "{}", refusal(&broken));
    }
}

#[test]
fn members_have_their_types() {
    let good = log(&mut Random(33), 1).remove(0);
    let wrong = [
        ("actor", json!(null), "as actor"),
        ("actor", json!(1), "as actor"),
        ("at", json!(null), "as at"),
        ("at", json!("2026-01-01T00:00:00Z"), "as at"),
        ("catalogue", json!("5a"), "as catalogue"),
        ("catalogue", json!("g".repeat(64)), "as catalogue"),
        ("catalogue", json!(true), "as catalogue"),
        ("request_id", json!(1), "a request_id"),
        ("subject", json!({}), "a subject"),
        ("verb", json!(null), "as verb"),
    ];
    for (key, value, reason) in wrong {
        let mut entry = good.clone();
        entry[key] = value;
        seal(&mut entry, &"0".repeat(64));
        assert!(
            refusal(&canonical(&entry)).contains(reason),
            "{}",
            refusal(&canonical(&entry))
        );
    }
}

#[test]
fn invalid_utf_8_is_refused() {
    for bytes in [
        &b"\xff"[..],
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xc3",
    ] {
        let line = line_with(json!("here"));
        let at = line.find("here").unwrap();
        let broken = [&line.as_bytes()[..at], bytes, &line.as_bytes()[at..], b"\n"].concat();
        let report = check(&broken, None);
        assert!(
            report
                .to_string()
                .contains(&format!("byte {}: not UTF-8", at + 1)),
            "{report}"
        );
    }
}

#[test]
fn limits_hold_at_the_limit_and_refuse_past_it() {
    let accepted = |line: &str| {
        assert!(check(format!("{line}\n").as_bytes(), None).is_intact());
        // The longest line has no room for a space.
        assert!(
            line.len() == LINE_BYTES_MAX
                || check_general(format!("{line}\n").as_bytes()).is_intact()
        );
    };
    let nested = |depth| (1..depth).fold(json!([]), |inner, _| json!([inner]));
    accepted(&line_with(nested(DEPTH_MAX - 1)));
    assert!(refusal(&line_with(nested(DEPTH_MAX))).contains("nested too deep"));
    accepted(&line_with(json!([INTEGER_MAX, -INTEGER_MAX])));
    assert!(refusal(&line_with(json!(INTEGER_MAX + 1))).contains("plain integer"));
    let room = LINE_BYTES_MAX - line_with(json!("")).len();
    accepted(&line_with(json!("x".repeat(room))));
    assert!(refusal(&line_with(json!("x".repeat(room + 1)))).contains("longer than 1048576 bytes"));
}

/// Worked out once with Python's hashlib, and so bound to neither our writer nor our reader.
#[test]
fn a_known_entry_has_its_known_hash() {
    let rest = r#"{"actor":"owner","at":"2026-01-02T03:04:05.006Z","catalogue":null,"detail":{"a":[1,true,null],"ü":"\n"},"request_id":null,"seq":1,"subject":"node:z","verb":"node.paired"}"#;
    let hash = "4b8a209c3ff7c356e6abcceb7f9791b0ac9d544f78b0ec841c80d8f694528471";
    assert_eq!(write_hash(&entry_hash(&[0; 32], rest.as_bytes())), hash);
    let mut entry: Value = serde_json::from_str(rest).unwrap();
    seal_from(std::slice::from_mut(&mut entry), 0);
    assert_eq!(entry["hash"], hash);
    assert!(check((canonical(&entry) + "\n").as_bytes(), None).is_intact());
}
