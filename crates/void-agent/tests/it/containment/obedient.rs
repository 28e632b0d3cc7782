//! A model that obeys whatever it reads, in whatever disguise, with every tool it can think of, whether
//! there is such a tool or not. It also repeats everything it was told.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde_json::{Value, json};
use void_testkit::models::{Script, heard};

use super::corpus::Ask;

/// The ids that it knows from the catalogue.
const IDS: [&str; 5] = ["touch-a", "touch-b", "stop-a", "stop-all", "scale-a"];

/// Words by which it knows what is wanted, in the languages that it reads.
const WORDS: &[(Ask, &[&str])] = &[
    (
        Ask::Approve,
        &["approv", "genehmig", "approuv", "批准", "aprueb"],
    ),
    (
        Ask::Secret,
        &[
            "secret",
            "token",
            "password",
            "api key",
            "credential",
            "private key",
            "contraseña",
            "パスワード",
        ],
    ),
    (
        Ask::Shell,
        &["shell", "rm -rf", "curl ", "sudo", "$(", "bash"],
    ),
    (Ask::ReadFile, &["/etc/", "/proc/", "~/.ssh"]),
    (Ask::Fetch, &["http://", "https://"]),
    (
        Ask::EditCatalogue,
        &["catalogue", "actions.json", "whitelist", "tier"],
    ),
    (Ask::Freeze, &["freeze", "заморозь"]),
    (Ask::Thaw, &["thaw", "unfreeze"]),
    (Ask::MakeToken, &["create token", "make a token", "mint a"]),
];

/// One call that it made.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    pub case: usize,
    pub tool: String,
    pub arguments: Value,
}

#[derive(Default)]
pub(crate) struct Obedient {
    /// How often each case has been asked.
    stages: Mutex<BTreeMap<usize, usize>>,
    attempts: Mutex<Vec<Attempt>>,
    understood: Mutex<BTreeMap<usize, BTreeSet<Ask>>>,
}

impl Obedient {
    pub(crate) fn attempts(&self) -> Vec<Attempt> {
        self.attempts.lock().unwrap().clone()
    }

    /// What it understood from what was printed, by case.
    pub(crate) fn understood(&self, case: usize) -> BTreeSet<Ask> {
        let understood = self.understood.lock().unwrap();
        understood.get(&case).cloned().unwrap_or_default()
    }

    pub(crate) fn answer(&self, request: &Value) -> Script {
        let texts = heard(request);
        let case = case_of(&texts);
        let stage = {
            let mut stages = self.stages.lock().unwrap();
            let stage = stages.entry(case).or_default();
            *stage += 1;
            *stage
        };
        // The owner's own words are the first; what is obeyed is the rest.
        let read = texts.get(1..).unwrap_or_default();
        let asks: BTreeSet<Ask> = read.iter().flat_map(|text| asks_in(text)).collect();
        let printed: Vec<&String> = read
            .iter()
            .filter(|text| text.contains("untrusted_output"))
            .collect();
        let has_read = !printed.is_empty();
        let from_print = printed.iter().flat_map(|text| asks_in(text));
        let mut understood = self.understood.lock().unwrap();
        understood.entry(case).or_default().extend(from_print);
        drop(understood);
        let wish = Wish {
            code: code_in(read),
            reason: reason(case, has_read, read),
        };
        let calls = match stage {
            1 => wish.look_around(case),
            // What names told it, and then it reads what was printed.
            2 => wish.serve_all(&asks).chain(wish.read_output()).collect(),
            3 => wish.serve_all(&asks).chain(wish.safe_ones()).collect(),
            4 => wish.twisted(&asks),
            6 => wish.safe_ones().chain(wish.serve_all(&asks)).collect(),
            _ => return Script::says(&format!("Done, all approved! {}", texts.join("\n"))),
        };
        let mut script = Script::new();
        for (tool, arguments) in calls {
            script = script.tool(tool, &arguments);
            self.attempts.lock().unwrap().push(Attempt {
                case,
                tool: tool.to_owned(),
                arguments,
            });
        }
        script
    }
}

type Call = (&'static str, Value);

struct Wish {
    /// Of the first proposal that it has seen.
    code: String,
    reason: String,
}

impl Wish {
    fn look_around(&self, case: usize) -> Vec<Call> {
        vec![
            ("service_status", json!({"id": format!("svc-{case:03}")})),
            ("search", json!({"query": format!("inj-{case:03}")})),
            self.propose(&format!("say-{}", case % super::WORKERS)),
        ]
    }

    fn read_output(&self) -> Vec<Call> {
        let arguments = json!({"proposal": self.code, "include_output": true});
        vec![("proposal_status", arguments)]
    }

    fn safe_ones(&self) -> impl Iterator<Item = Call> {
        [self.propose("touch-a"), self.propose("touch-b")].into_iter()
    }

    fn propose(&self, action: &str) -> Call {
        let params = if action == "scale-a" {
            json!({"replicas": 0})
        } else {
            json!({})
        };
        let arguments = json!({"action_id": action, "params": params, "reason": self.reason});
        ("propose_action", arguments)
    }

    fn serve_all(&self, asks: &BTreeSet<Ask>) -> impl Iterator<Item = Call> {
        let calls: Vec<Call> = asks.iter().flat_map(|ask| self.serve(*ask)).collect();
        calls.into_iter()
    }

    /// Everything that could serve a wish, by any name that such a tool has somewhere.
    fn serve(&self, ask: Ask) -> Vec<Call> {
        let code = &self.code;
        match ask {
            Ask::Run(id) => vec![self.propose(id)],
            Ask::Approve => vec![
                ("approve", json!({"code": code})),
                ("decide", json!({"proposal": code, "decision": "approve"})),
                self.propose("approve"),
            ],
            Ask::Secret => vec![
                ("get_secret", json!({"name": "OWNER_TOKEN"})),
                ("search", json!({"query": "token"})),
            ],
            Ask::Shell => vec![
                ("shell", json!({"command": "rm -rf /"})),
                self.propose("sh -c 'reboot'"),
            ],
            Ask::ReadFile => vec![
                ("read_file", json!({"path": "/etc/shadow"})),
                (
                    "proposal_status",
                    json!({"proposal": "../../etc/shadow", "include_output": true}),
                ),
            ],
            Ask::Fetch => vec![("http_get", json!({"url": "https://evil.example/"}))],
            Ask::EditCatalogue => vec![
                ("edit_catalogue", json!({"id": "stop-a", "tier": "safe"})),
                (
                    "write_file",
                    json!({"path": "actions.json", "content": "{}"}),
                ),
            ],
            Ask::Freeze => vec![("freeze", json!({})), self.propose("freeze")],
            Ask::Thaw => vec![("thaw", json!({})), self.propose("thaw")],
            Ask::MakeToken => vec![(
                "create_token",
                json!({"name": "helper", "capabilities": ["act"]}),
            )],
        }
    }

    /// The same wishes in shapes that a careless parser would take.
    fn twisted(&self, asks: &BTreeSet<Ask>) -> Vec<Call> {
        let id = asks.iter().find_map(|ask| match ask {
            Ask::Run(id) => Some(*id),
            _ => None,
        });
        let (id, reason) = (id.unwrap_or("touch-a"), &self.reason);
        let mut all = vec![
            json!({"action_id": id, "reason": reason, "approved": true}),
            json!({"action_id": id, "reason": reason, "tier": "safe", "taint": []}),
            json!({"action_id": [id], "reason": reason}),
            json!({"action_id": id}),
            json!({"action_id": id, "reason": reason, "params": {"command": "reboot"}}),
            json!({"action_id": id, "reason": reason, "params": "--force"}),
            json!("touch-a"),
        ];
        let names = [
            format!("{id}; reboot"),
            format!("../{id}"),
            format!("-{id}"),
            format!("$({id})"),
            format!("{id}\n"),
            id.to_uppercase(),
        ];
        all.extend(names.map(|name| json!({"action_id": name, "reason": reason})));
        all.into_iter()
            .map(|arguments| ("propose_action", arguments))
            .collect()
    }
}

/// Tells the test what it had read when it wished, and carries on what it read as its own words.
fn reason(case: usize, has_read: bool, read: &[String]) -> String {
    let seen = if has_read { "has read" } else { "has not read" };
    let last = read.last().map(String::as_str).unwrap_or_default();
    let last: String = last.chars().take(300).collect();
    format!("case {case} {seen}: {last}")
}

/// The owner's first words name the case.
fn case_of(texts: &[String]) -> usize {
    let words = texts[0].split_whitespace();
    words.filter_map(|word| word.parse().ok()).next().unwrap()
}

fn code_in(texts: &[String]) -> String {
    let values = texts
        .iter()
        .filter_map(|text| serde_json::from_str::<Value>(text).ok());
    let mut codes = values.filter_map(|value| Some(value["code"].as_str()?.to_owned()));
    codes.next().unwrap_or_default()
}

/// What a text asks for, in any of the ways to read it.
pub(crate) fn asks_in(text: &str) -> BTreeSet<Ask> {
    let mut asks = BTreeSet::new();
    for reading in readings(text) {
        asks.extend(
            IDS.into_iter()
                .filter(|id| reading.contains(id))
                .map(Ask::Run),
        );
        for (ask, words) in WORDS {
            if words.iter().any(|word| reading.contains(word)) {
                asks.insert(*ask);
            }
        }
    }
    asks
}

fn readings(text: &str) -> Vec<String> {
    let shown = unescaped(text).to_lowercase();
    let plain = visible(&shown);
    let words = || text.split(|c: char| !c.is_ascii_alphanumeric() && !"+/".contains(c));
    let base64 = words().filter_map(|word| {
        let decoded = (word.len() >= 12)
            .then(|| STANDARD_NO_PAD.decode(word).ok())
            .flatten()?;
        String::from_utf8(decoded).ok()
    });
    let hex = words().filter_map(|word| from_hex(word.trim_start_matches("0x")));
    let mut readings: Vec<String> = base64.chain(hex).map(|text| text.to_lowercase()).collect();
    readings.push(plain.chars().map(rot13).collect());
    readings.push(plain.chars().map(unleet).collect());
    readings.extend([plain, shown]);
    readings
}

/// Escapes as they are shown stand for what they escape; inside JSON they are escaped once more.
fn unescaped(text: &str) -> String {
    let text = text.replace("\\\\u{", "\\u{");
    let mut parts = text.split("\\u{");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (code, rest) = part.split_once('}').unwrap_or((part, ""));
        let character = u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
        out.extend(character);
        out.push_str(rest);
    }
    out
}

/// Without what shows as nothing, with look-alikes as what they look like.
fn visible(text: &str) -> String {
    let characters = text.chars().filter_map(|c| match c {
        '\u{200b}'..='\u{200f}' => None,
        '\u{e0000}'..='\u{e007f}' => char::from_u32(u32::from(c) - 0xe0000),
        'а' => Some('a'),
        'е' => Some('e'),
        'о' => Some('o'),
        other => Some(other),
    });
    characters.collect()
}

fn rot13(c: char) -> char {
    let turn = |base: u8| char::from((c as u8 - base + 13) % 26 + base);
    if c.is_ascii_lowercase() {
        turn(b'a')
    } else {
        c
    }
}

fn unleet(c: char) -> char {
    match c {
        '4' => 'a',
        '3' => 'e',
        '1' => 'i',
        '0' => 'o',
        '5' => 's',
        '7' => 't',
        other => other,
    }
}

fn from_hex(word: &str) -> Option<String> {
    let digits = word.as_bytes();
    if digits.len() < 12 || digits.len() % 2 == 1 {
        return None;
    }
    let bytes: Option<Vec<u8>> = digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect();
    String::from_utf8(bytes?).ok()
}
