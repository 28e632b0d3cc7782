//! An independent, tiny writer of exports: it shares no code with the verifier but SHA-256 itself.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use void_verify::{Hash, Options, Report, verify};

/// splitmix64: the same trials on every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).unwrap()
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// RFC 8785.
pub(crate) fn canonical(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(key, _)| key.encode_utf16().collect::<Vec<_>>());
            let spell = |(key, value): (&String, &Value)| {
                format!("{}:{}", Value::from(key.as_str()), canonical(value))
            };
            let members: Vec<_> = members.into_iter().map(spell).collect();
            format!("{{{}}}", members.join(","))
        }
        _ => value.to_string(),
    }
}

/// Sets `prev` and `hash` of an entry, and returns the hash.
pub(crate) fn seal(entry: &mut Value, prev: &str) -> String {
    let members = entry.as_object_mut().unwrap();
    members.remove("prev");
    members.remove("hash");
    let mut bytes: Vec<u8> = (0..32).map(|i| unhex(&prev[2 * i..2 * i + 2])).collect();
    bytes.extend(canonical(entry).bytes());
    let hash = hex(&Sha256::digest(bytes));
    entry["prev"] = json!(prev);
    entry["hash"] = json!(hash);
    hash
}

fn unhex(pair: &str) -> u8 {
    u8::from_str_radix(pair, 16).unwrap()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// Seals from `from` on, each with the hash of the one before.
pub(crate) fn seal_from(entries: &mut [Value], from: usize) {
    for i in from..entries.len() {
        let prev = if i == 0 {
            "0".repeat(64)
        } else {
            text(&entries[i - 1]["hash"])
        };
        seal(&mut entries[i], &prev);
    }
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

pub(crate) fn log(random: &mut Random, count: usize) -> Vec<Value> {
    let mut entries: Vec<_> = (1..=count).map(|seq| entry(random, seq)).collect();
    seal_from(&mut entries, 0);
    entries
}

fn entry(random: &mut Random, seq: usize) -> Value {
    let verb = *random.pick(&["proposal.created", "proposal.decided", "agent.spawned"]);
    let subject = format!("proposal:{:08x}", random.next() & 0xffff_ffff);
    let catalogue = hex(&Sha256::digest(subject.as_bytes()));
    json!({
        "seq": seq,
        "at": format!("2026-03-{:02}T{:02}:{:02}:00.{:03}Z", 1 + seq % 28, seq % 24, seq % 60, seq % 1000),
        "request_id": if random.below(4) == 0 { Value::Null } else { json!(format!("req-{seq}")) },
        "actor": if random.below(2) == 0 { "owner" } else { "agent:münchen" },
        "verb": verb,
        "subject": if random.below(4) == 0 { Value::Null } else { json!(subject) },
        "detail": value(random, 3),
        "catalogue": if random.below(3) == 0 { Value::Null } else { json!(catalogue) },
    })
}

/// Any value of the format, with a liking for what is spelled in more than one way.
pub(crate) fn value(random: &mut Random, depth: usize) -> Value {
    const LIMIT: i64 = (1 << 53) - 1;
    match random.below(if depth == 0 { 6 } else { 9 }) {
        0 => Value::Null,
        1 => json!(random.below(2) == 0),
        2 => json!(*random.pick(&[0, 1, -1, 10, -10, LIMIT, -LIMIT, LIMIT - 9, 123_456_789])),
        3 => json!(i64::try_from(random.next() >> 40).unwrap() - (1 << 23)),
        4 | 5 => Value::String(string(random)),
        6 => (0..random.below(4))
            .map(|_| value(random, depth - 1))
            .collect(),
        _ => {
            let mut members = Map::new();
            for _ in 0..random.below(5) {
                members.insert(string(random), value(random, depth - 1));
            }
            Value::Object(members)
        }
    }
}

fn string(random: &mut Random) -> String {
    const PIECES: [&str; 24] = [
        "a",
        "b",
        "B",
        "hash",
        "prev",
        "0",
        "\"",
        "\\",
        "/",
        "\n",
        "\r",
        "\t",
        "\u{8}",
        "\u{c}",
        "\0",
        "\u{1f}",
        "\u{7f}",
        "é",
        "\u{2028}",
        "\u{d7ff}",
        "\u{e000}",
        "\u{ffff}",
        "\u{10000}",
        "😀",
    ];
    (0..random.below(5))
        .map(|_| *random.pick(&PIECES))
        .collect()
}

pub(crate) fn export(entries: &[Value]) -> Vec<u8> {
    entries
        .iter()
        .flat_map(|entry| (canonical(entry) + "\n").into_bytes())
        .collect()
}

pub(crate) fn head_of(entries: &[Value]) -> Hash {
    let head = text(&entries.last().unwrap()["hash"]);
    void_verify::parse_hash(head.as_bytes()).unwrap()
}

pub(crate) fn check(export: &[u8], head: Option<Hash>) -> Report {
    verify(export, &Options { head, threads: 1 }).unwrap()
}

/// The kinds of the problems, as words.
pub(crate) fn words(report: &Report) -> Vec<&'static str> {
    report
        .problems
        .iter()
        .map(|problem| problem.kind.word())
        .collect()
}
