//! Requests that make no sense: never an error of ours, and from strangers never a change (I22).

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Map, Value, json};
use void_server::routes::{ROUTES, Route};

use crate::apps::{App, Engine, Setup};
use crate::raw::{self, Connection};

/// Words that have broken parsers, as a path's word and as a query's value.
const ODD: [&str; 26] = [
    "",
    "0",
    "-1",
    "1e9",
    "9999999999999999999999",
    "null",
    "true",
    "..",
    "%2e%2e%2f",
    "%00",
    "%ff%fe",
    "%f0%9f%98%80",
    "%E2%80%AE",
    "a%0d%0ab",
    "%27%20OR%201%3D1--",
    "%22",
    "%5C",
    "%24%7Bx%7D",
    "%7B%7D",
    "*",
    "019a0000-0000-7000-8000-000000000000",
    "ABCD",
    "a;b",
    "a+b",
    "%25%30%30",
    "x=y",
];

fn odd_values() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1e308),
        json!(""),
        json!("x"),
        json!("x".repeat(5_000)),
        json!("\u{202e}\u{0}\n"),
        json!("'; DROP TABLE proposals; --"),
        json!("\u{1f600}"),
        json!([]),
        json!([[[]]]),
        json!([null, "act"]),
        json!({}),
        json!({"a": {"b": []}}),
        json!({"act": true}),
        json!({"$ref": "#/x"}),
    ]
}

/// Bad requests of every kind for one route.
fn bad_requests(route: &Route, document: &Value) -> Vec<(String, Option<Vec<u8>>)> {
    let mut requests = Vec::new();
    let filled = |word: &str| {
        let words = route.path.split('/');
        words
            .map(|part| if part.starts_with('{') { word } else { part })
            .collect::<Vec<_>>()
            .join("/")
    };
    let (path, has_words) = (filled("stop-a"), route.path.contains('{'));
    for odd in ODD {
        if has_words && !odd.is_empty() {
            requests.push((filled(odd), None));
        }
        let names = route
            .query
            .iter()
            .map(|parameter| parameter.name)
            .chain(["unknown"]);
        requests.extend(names.map(|name| (format!("{path}?{name}={odd}"), None)));
    }
    if route.method == "GET" || route.method == "DELETE" {
        return requests;
    }
    let fields: Vec<String> = match route.request {
        None => vec!["unknown".to_owned()],
        Some(_) => {
            let operation = &document["paths"][route.path][route.method.to_ascii_lowercase()];
            let reference =
                &operation["requestBody"]["content"]["application/json"]["schema"]["$ref"];
            let pointer = reference.as_str().unwrap().trim_start_matches('#');
            let properties = &document.pointer(pointer).unwrap()["properties"];
            let properties = properties.as_object().into_iter();
            properties
                .flat_map(Map::keys)
                .cloned()
                .chain(["unknown".to_owned()])
                .collect()
        }
    };
    for value in odd_values() {
        for field in &fields {
            let body = json!({field: value}).to_string();
            requests.push((path.clone(), Some(body.into_bytes())));
        }
        requests.push((path.clone(), Some(value.to_string().into_bytes())));
    }
    for body in ["{", "[", "\"", "{\"a\":1,\"a\":1}", "nul", "\u{0}", "{}{}"] {
        requests.push((path.clone(), Some(body.as_bytes().to_vec())));
    }
    requests
}

/// What these would really do is tested elsewhere; here they would only take time.
const DOES_SOMETHING: [&str; 3] = ["createBackup", "streamEvents", "exportAudit"];

#[tokio::test(flavor = "multi_thread")]
async fn bad_input_is_never_an_error_of_ours_and_strangers_change_nothing() {
    let document = void_server::document();
    let bad: Vec<_> = (ROUTES.iter())
        .filter(|route| !DOES_SOMETHING.contains(&route.operation))
        .map(|route| (route, bad_requests(route, &document)))
        .collect();
    for engine in Engine::both().await {
        // Parsing is the same on both engines: on the second one a part is enough to see what the store says.
        let step = match engine {
            Engine::Postgres(_) if !cfg!(feature = "deep") => 5,
            _ => 1,
        };
        // Time stands still, so that logging in is tried more than ten times only by counting.
        let setup = Setup {
            engine,
            clock: void_control::Clock::manual(void_control::Clock::system().now()),
            ..Setup::default()
        };
        let app = setup.start().await;
        let waiting = app.queue("stop-b").await;
        let agent = app.agent("blue").await;
        let anonymous = app.anonymous();
        let before = (app.audit_head().await, app.proposal_count().await);
        let mut requests = 0;
        for who in [&anonymous, &agent, &app.owner()] {
            for (route, bad) in &bad {
                let chosen: Vec<_> = bad.iter().step_by(step).collect();
                for batch in chosen.chunks(16) {
                    let calls = batch.iter().map(|(path, body)| async move {
                        let method: Method = route.method.parse().unwrap();
                        let body = body.clone().map(|body| (body, "application/json"));
                        (path, who.send_bytes(method, path, body).await)
                    });
                    for (path, answer) in join_all(calls).await {
                        assert!(answer.status < 500, "{path}: {}", answer.text);
                        requests += 1;
                    }
                }
            }
            if std::ptr::eq(who, &anonymous) {
                // Of all the proofs that were tried, the first is on the record.
                let refused = app.audited("session.refused").await.len();
                let ((seq, _), proposals) = &before;
                let after = (app.audit_head().await.0, app.proposal_count().await);
                assert_eq!((after, refused), ((seq + 1, *proposals), 1));
            }
        }
        assert!(requests > 2_000, "{requests}");
        assert_eq!(app.row(waiting["id"].as_str().unwrap()).await, waiting);
        assert_eq!(app.lab.effect_count(), 0);
    }
}

/// A small generator of its own, so that a failure names the seed that repeats it.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }
}

/// Bytes that mean something to a parser.
const SIGNS: &[u8] = b"\0\r\n :{}[]\"%\xff";

/// Good requests with bytes changed, dropped, doubled and moved, as they are on the wire.
async fn mutated(app: &App, seeds: std::ops::Range<u64>) {
    let bearer = format!("Bearer {}", app.owner_token());
    let host = app.address.to_string();
    let row = app.queue("stop-a").await;
    let body =
        json!({"decision": "reject", "digest": "0".repeat(64), "reason": "é\u{1f600}"}).to_string();
    let lines = [
        ("host", host.as_str()),
        ("authorization", &bearer),
        ("content-type", "application/json"),
    ];
    let path = format!(
        "POST /api/proposals/{}/decide?wait=0",
        row["id"].as_str().unwrap()
    );
    let originals = [
        raw::request(&path, &lines, &body),
        raw::request(
            "POST /api/actions/scale-a/run",
            &lines,
            r#"{"params":{"replicas":1,"zone":"north"}}"#,
        ),
        raw::request("GET /api/proposals?status=pending&limit=5", &lines[..2], ""),
        raw::request(
            "POST /api/tokens",
            &lines,
            r#"{"kind":"agent","name":"-","capabilities":["act"]}"#,
        ),
    ];
    for seed in seeds {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut bytes = originals[dice.roll(originals.len())].clone();
        for _ in 0..=dice.roll(6) {
            let at = dice.roll(bytes.len());
            match dice.roll(4) {
                0 => bytes[at] = u8::try_from(dice.roll(256)).unwrap(),
                1 => _ = bytes.remove(at),
                2 => bytes.insert(at, SIGNS[dice.roll(SIGNS.len())]),
                _ => {
                    let piece = bytes[at..(at + dice.roll(20)).min(bytes.len())].to_vec();
                    let to = dice.roll(bytes.len());
                    bytes.splice(to..to, piece);
                }
            }
        }
        let mut connection = Connection::open(app.address).await;
        connection.write(&bytes).await;
        connection.finish().await;
        if let Some(reply) = connection.read().await {
            assert!(reply.status < 500, "seed {seed}: {reply:?}");
        }
    }
    assert_eq!(app.lab.effect_count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_requests_are_never_an_error_of_ours() {
    mutated(&App::start().await, 0..2_000).await;
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "deep"), ignore = "deep run")]
async fn many_damaged_requests_are_never_an_error_of_ours() {
    for engine in Engine::both().await {
        mutated(&App::on(engine).await, 0..100_000).await;
    }
}
