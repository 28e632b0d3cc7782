//! The cases, from one seed: every run sends the same bytes.

use std::sync::OnceLock;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::lab::{def, proposal};

const SEED: u64 = 0x0198_c0de_5eed_0001;
/// When good tickets end: within the hour that a host takes, and the same in the two processes that build
/// the cases.
static EXPIRES_MS: OnceLock<u64> = OnceLock::new();

#[derive(Clone, Copy)]
pub(super) enum Expect {
    Refused,
    Runs,
    /// Judged by what reached `execve`.
    Either,
}

pub(super) struct Case {
    pub(super) sent: Vec<u8>,
    pub(super) expect: Expect,
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[3]
    }
}

const FRAGMENTS: [&str; 68] = [
    ";",
    "|",
    "||",
    "&",
    "&&",
    "`id`",
    "$(id)",
    "${IFS}",
    "$IFS$9",
    ">",
    ">>",
    "<",
    "<<<",
    "*",
    "?",
    "[a]",
    "{a,b}",
    "(",
    ")",
    "!",
    "!!",
    "#",
    "%",
    "%00",
    "%0a",
    "%2e%2e%2f",
    "=",
    "+",
    ",",
    ":",
    "@",
    "\\",
    "\\n",
    "'",
    "\"",
    "^",
    "~",
    "..",
    "/",
    "../",
    "/etc/passwd",
    "./",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\u{b}",
    "\u{c}",
    "\u{1b}",
    "\u{1b}[2J",
    "\u{7}",
    "\u{8}",
    "\u{7f}",
    " ",
    "  ",
    "\u{a0}",
    "\u{200b}",
    "\u{202e}",
    "\u{2028}",
    "\u{feff}",
    "\u{430}",
    "\u{ff41}",
    "\u{2011}",
    "\u{301}",
    "\u{e9}",
    "() { :;}; id",
    " -oProxyCommand=id",
    "\nok",
];

pub(super) fn cases(expires_ms: u64) -> Vec<Case> {
    EXPIRES_MS.get_or_init(|| expires_ms);
    let mut random = Random(SEED);
    let mut cases = Vec::new();
    let mut add = |sent: Vec<u8>, expect: Expect| {
        if !sent.contains(&0) {
            cases.push(Case { sent, expect });
        }
    };
    injected(&mut add);
    random_bytes(&mut random, &mut add);
    options_and_paths(&mut add);
    flipped(&mut random, &mut add);
    forged(&mut add);
    parameters(&mut add);
    good(&mut add);
    cases
}

type Add<'a> = &'a mut dyn FnMut(Vec<u8>, Expect);

/// Every fragment before, inside and after ids that exist, and between id and ticket.
fn injected(add: Add<'_>) {
    let word = encode(&content(1));
    for fragment in FRAGMENTS {
        for id in ["ok", "effect", "void-list"] {
            let (head, tail) = id.split_at(2);
            for text in [
                format!("{fragment}{id}"),
                format!("{head}{fragment}{tail}x"),
                format!("{id}{fragment}"),
                format!("{id}{fragment}id"),
            ] {
                add(text.into_bytes(), Expect::Refused);
            }
        }
        for text in [
            format!("effect{fragment}{word}"),
            format!("effect {fragment}{word}"),
            format!("effect {word}{fragment}"),
        ] {
            // One space is the only thing that may stand there.
            let expect = if fragment == " " && text == format!("effect {word}") {
                Expect::Either
            } else {
                Expect::Refused
            };
            add(text.into_bytes(), expect);
        }
    }
}

fn random_bytes(random: &mut Random, add: Add<'_>) {
    for _ in 0..250 {
        let length = 1 + random.below(200);
        add(
            (0..length).map(|_| random.byte()).collect(),
            Expect::Refused,
        );
    }
    let plain = b"abcdefghijklmnopqrstuvwxyz0123456789-";
    for _ in 0..100 {
        let length = 3 + random.below(80);
        add(
            (0..length)
                .map(|_| plain[random.below(plain.len())])
                .collect(),
            Expect::Refused,
        );
    }
    for length in [65, 66, 100, 1000, 4096, 4097, 65_536, 130_000] {
        add(vec![b'a'; length], Expect::Refused);
        add(
            [b"effect v1.".to_vec(), vec![b'A'; length]].concat(),
            Expect::Refused,
        );
    }
}

fn options_and_paths(add: Add<'_>) {
    for text in [
        "-",
        "--",
        "-c",
        "-c id",
        "--check",
        "--list /tmp/x",
        "--list=/tmp/x",
        "--trust-own-list",
        "--state",
        "--help",
        "--version",
        "-h",
        "-V",
        "-i",
        "-l",
        "-s",
        "-1",
        "-20",
        "-oProxyCommand=id",
        "-tt",
        "/bin/sh",
        "/bin/sh -c id",
        "sh -c id",
        "bash",
        "sh",
        "scp -t /",
        "rsync --server",
        "internal-sftp",
        "/usr/lib/openssh/sftp-server",
        "git-upload-pack 'x'",
        "cd /; id",
        "../../bin/sh",
        "..",
        ".",
        "~",
        "~root",
        "/etc/void-act/list.json",
        "list.json",
        "env",
        "env id",
        "exec id",
        "eval id",
        "true",
        "OK",
        "Ok",
        "oK",
        "EFFECT",
        "ok\nok",
        "ok ok",
        "ok --list /tmp/x",
        "void-list x",
        "void-",
        "void-run",
        "void-exec",
        "VOID-LIST",
        "void_list",
        "v1.AAAA",
        "effect v1.",
        "effect v2.AAAA",
        "effect V1.AAAA",
        "effect v1.AAAA=",
        "effect v1.AA/A",
        "effect v1.AA+A",
        "effect v1 AAAA",
        "effect\u{a0}v1.AAAA",
        "effect v1.AAAA\n",
        "param v1.e30",
        "effect v1.bnVsbA",
        "",
    ] {
        add(text.as_bytes().to_vec(), Expect::Refused);
    }
}

/// Single bits of a good ticket, in its base64 and in its JSON.
fn flipped(random: &mut Random, add: Add<'_>) {
    let good = format!("effect {}", encode(&content(2)));
    for _ in 0..350 {
        let mut sent = good.clone().into_bytes();
        let at = random.below(sent.len());
        sent[at] ^= 1 << random.below(8);
        add(sent, Expect::Either);
    }
    let json = content(3).to_string();
    for _ in 0..350 {
        let mut json = json.clone().into_bytes();
        let at = random.below(json.len());
        json[at] ^= 1 << random.below(8);
        add(
            format!("effect v1.{}", URL_SAFE_NO_PAD.encode(json)).into_bytes(),
            Expect::Either,
        );
    }
    for cut in 0..120 {
        let length = good.len() * cut / 120;
        add(good.as_bytes()[..length].to_vec(), Expect::Refused);
    }
}

/// Whole tickets that say something else than one good ticket says.
fn forged(add: Add<'_>) {
    let good = content(4).to_string();
    let swap = |from: &str, to: &str| {
        assert!(good.contains(from), "{from} in {good}");
        good.replacen(from, to, 1)
    };
    let p = format!("\"p\":\"{}\"", proposal(4));
    let e = format!("\"e\":\"{}\"", def());
    let x = format!("\"x\":{}", EXPIRES_MS.get().unwrap());
    let deep = format!("\"a\":{}1{}", "{\"a\":".repeat(300), "}".repeat(300));
    let mut texts = vec![
        swap(&p, &format!("{p},{p}")),
        swap(&p, "\"p\":null"),
        swap(&p, "\"p\":\"../../../../etc/passwd\""),
        swap(
            &p,
            &p.to_uppercase().replace("\"P\"", "\"p\"").replace('8', "A"),
        ),
        swap(&p, "\"p\":[]"),
        swap(&p, &format!("\"\\u0070\":\"{}\",{p}", proposal(5))),
        swap(&e, &format!("\"e\":\"{}\"", "f".repeat(64))),
        swap(&e, &format!("\"e\":\"{}\"", "E".repeat(64))),
        swap(&e, "\"e\":\"\""),
        swap(&e, "\"f\":1"),
        swap(&x, "\"x\":0"),
        swap(&x, "\"x\":-1"),
        swap(&x, "\"x\":1e20"),
        swap(&x, "\"x\":4000000000000.0"),
        swap(&x, "\"x\":99999999999999999999999999"),
        swap(&x, "\"x\":\"4000000000000\""),
        swap(&x, "\"x\":null"),
        swap(&x, &format!("{x},\"x\":0")),
        swap(&x, &format!("{x},\"y\":0")),
        swap("\"a\":{}", "\"a\":{\"n\":1}"),
        swap("\"a\":{}", "\"a\":{\"\":\"\"}"),
        swap("\"a\":{}", "\"a\":[]"),
        swap("\"a\":{}", "\"a\":null"),
        swap("\"a\":{}", "\"a\":{\"n\":1,\"n\":1}"),
        swap("\"a\":{}", "\"a\":{\"argv\":[\"/bin/sh\"]}"),
        swap("\"a\":{}", &deep),
        swap("\"s\":null", "\"s\":\"\""),
        swap("\"s\":null", "\"s\":0"),
        swap("\"s\":null", "\"s\":{\"ok\":true}"),
        swap("\"s\":null", "\"s\":null,\"argv\":[\"/bin/sh\"]"),
        swap("\"s\":null", "\"s\":null,\"s\":null"),
        format!("[{good}]"),
        format!("{good}{good}"),
        format!("{good},"),
        format!("\u{feff}{good}"),
        "null".into(),
        "{}".into(),
        "[]".into(),
        "\"\"".into(),
        "1".into(),
        "[".repeat(3000),
        "{\"a\":".repeat(500),
    ];
    texts.push(good.replace('}', ""));
    for text in texts {
        for id in ["effect", "ok", "param", "void-ticket", "void-settle"] {
            // A known-good form of another entry may still be answered by the reserved questions.
            let expect = if id.starts_with("void-") {
                Expect::Either
            } else {
                Expect::Refused
            };
            add(
                format!("{id} v1.{}", URL_SAFE_NO_PAD.encode(&text)).into_bytes(),
                expect,
            );
        }
    }
}

/// Every fragment as a value of every parameter.
fn parameters(add: Add<'_>) {
    let mut n = 1000;
    let mut send = |params: Value, expect: Expect| {
        n += 1;
        let mut content = content(n);
        content["a"] = params;
        add(format!("param {}", encode(&content)).into_bytes(), expect);
    };
    for fragment in FRAGMENTS {
        let value = format!("app{fragment}x");
        send(json!({"image": value, "n": 1, "mode": "a"}), Expect::Either);
        send(
            json!({"image": "app", "n": fragment, "mode": "a"}),
            Expect::Refused,
        );
        send(
            json!({"image": "app", "n": 1, "mode": format!("a{fragment}")}),
            Expect::Refused,
        );
        send(
            json!({"image": "app", "n": 1, "mode": "a", fragment: 1}),
            Expect::Refused,
        );
    }
    for image in [
        "-v",
        "--help",
        "-",
        "",
        "\n",
        "a\n",
        "\na",
        "A",
        "a\u{0}b",
        &"a".repeat(65),
    ] {
        send(
            json!({"image": image, "n": 1, "mode": "a"}),
            Expect::Refused,
        );
    }
    for number in [
        json!(-1),
        json!(6),
        json!(1.5),
        json!(1e300),
        json!(i64::MAX),
        json!(u64::MAX),
        json!("1"),
        json!(true),
    ] {
        send(
            json!({"image": "app", "n": number, "mode": "a"}),
            Expect::Refused,
        );
    }
}

fn good(add: Add<'_>) {
    for n in 0..10 {
        add(
            format!("effect {}", encode(&content(2000 + n))).into_bytes(),
            Expect::Runs,
        );
        let mut content = content(3000 + n);
        content["a"] = json!({"image": "a".repeat(64), "n": n % 6, "mode": "b c"});
        add(
            format!("param {}", encode(&content)).into_bytes(),
            Expect::Runs,
        );
    }
    add(b"void-list".to_vec(), Expect::Runs);
}

fn content(n: u64) -> Value {
    json!({"p": proposal(n), "d": "d".repeat(64), "e": def(), "a": {}, "x": EXPIRES_MS.get().unwrap(), "s": null})
}

fn encode(content: &Value) -> String {
    format!("v1.{}", URL_SAFE_NO_PAD.encode(content.to_string()))
}
