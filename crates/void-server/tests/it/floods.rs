//! One hostile token does its worst, and the owner is served as before (I36): refused requests, slow readers
//! of long lists, streams from now on and from the beginning, lists and searches, MCP in all its forms, and
//! requests that never end, all at once, against a server in a process of its own.
//!
//! The attackers and neighbouring tests take processor time from everybody on the machine, which no server can
//! help. So a second server that nobody attacks is asked the same at the same time, and what counts as quiet
//! is the slower of that one and of the attacked one before the attack.

use std::fs;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinHandle;

use crate::callers::client;
use crate::strangers::{OWNER, Server, crowd, raise_file_limit};

mod knowledge;

const MIB: u64 = 1024 * 1024;
/// What the database may grow by while all kinds have done their worst.
const DISK_GROWTH_MAX: u64 = 32 * MIB;
const MEMORY_GROWTH_MAX: u64 = 256 * MIB;
/// One for each window that began while the agent attacked.
const REFUSALS_STORED_MAX: usize = 2;
/// Below this nobody notices. Beside other tests, on two processors that the attackers share, the ratio alone says little.
const FLOOR: Duration = Duration::from_millis(if cfg!(feature = "deep") { 150 } else { 1_000 });
const TIMES_QUIET_MAX: u32 = 5;

const SEEDED: usize = 150;
const SAMPLES: usize = 9;
const FLOODS: usize = 8;
const SLOW_READERS: usize = 100;
const STREAMS: usize = 300;
const SEARCHES: usize = 64;
const UPLOADS: usize = 300;
const CATCHING_UP: usize = 64;

struct Owner {
    http: reqwest::Client,
    address: SocketAddr,
}

impl Owner {
    async fn call(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let method = method.parse().unwrap();
        let url = format!("http://{}{path}", self.address);
        let mut request = self.http.request(method, url).bearer_auth(OWNER);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (status, answer.json().await.unwrap_or_default())
    }

    async fn metrics(&self) -> String {
        let url = format!("http://{}/metrics", self.address);
        let request = self.http.get(url).bearer_auth(OWNER);
        request.send().await.unwrap().text().await.unwrap()
    }

    async fn queue(&self) -> Value {
        let body = json!({"reason": "r".repeat(4_000), "diff": "d".repeat(16_000)});
        let (status, queued) = self
            .call("POST", "/api/actions/stop-a/run", Some(body))
            .await;
        assert_eq!(status, 200, "{queued}");
        let id = queued["action_row_id"].as_str().unwrap();
        self.call("GET", &format!("/api/proposals/{id}"), None)
            .await
            .1
    }

    async fn decide(&self, row: &Value, decision: &str) {
        let path = format!(
            "/api/proposals/{}/decide?wait=60",
            row["id"].as_str().unwrap()
        );
        let body = json!({"decision": decision, "digest": row["digest"]});
        let (status, answer) = self.call("POST", &path, Some(body)).await;
        assert_eq!(status, 200, "{answer}");
    }

    /// Medians of freeze, Inbox and approve.
    async fn measure(&self) -> [Duration; 3] {
        let mut took: [Vec<Duration>; 3] = Default::default();
        for _ in 0..SAMPLES {
            let start = Instant::now();
            let (status, _) = self.call("POST", "/api/freeze", Some(json!({}))).await;
            took[0].push(start.elapsed());
            assert_eq!(status, 200);
            self.call("DELETE", "/api/freeze", None).await;
            let start = Instant::now();
            let (status, _) = self.call("GET", "/api/inbox", None).await;
            took[1].push(start.elapsed());
            assert_eq!(status, 200);
            let row = self.queue().await;
            let start = Instant::now();
            self.decide(&row, "approve").await;
            took[2].push(start.elapsed());
        }
        took.map(|mut took| {
            took.sort_unstable();
            took[SAMPLES / 2]
        })
    }
}

/// The database and its log, found by what the process has open.
fn disk_bytes(pid: u32) -> u64 {
    let links = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let mut files: Vec<_> = links
        .filter_map(|link| fs::read_link(link.path()).ok())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            matches!(&*name, "void.db" | "void.db-wal")
        })
        .collect();
    files.sort();
    files.dedup();
    assert!(!files.is_empty(), "the database is open");
    files
        .iter()
        .map(|path| fs::metadata(path).map_or(0, |meta| meta.len()))
        .sum()
}

fn request(address: SocketAddr, token: &str, line: &str, body: &str) -> Vec<u8> {
    format!(
        "{line} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Sends this again and again, on as few connections as the server lets it.
async fn hammer(address: SocketAddr, request: Vec<u8>) {
    let mut heard = vec![0_u8; 64 * 1024];
    loop {
        let Ok(mut stream) = TcpStream::connect(address).await else {
            tokio::task::yield_now().await;
            continue;
        };
        while stream.write_all(&request).await.is_ok() {
            if !matches!(stream.read(&mut heard).await, Ok(1..)) {
                break;
            }
        }
    }
}

/// Asks once and takes nothing, or listens; comes back when it is thrown out.
async fn hang(address: SocketAddr, request: Vec<u8>, takes: bool) {
    let mut heard = [0_u8; 1024];
    loop {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4 * 1024).unwrap();
        let Ok(mut stream) = socket.connect(address).await else {
            tokio::task::yield_now().await;
            continue;
        };
        if stream.write_all(&request).await.is_err() {
            continue;
        }
        if !takes {
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
        while matches!(stream.read(&mut heard).await, Ok(1..)) {
            if !takes {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
    }
}

/// Sends all of a request but its last byte, and waits for what becomes of it.
async fn withhold(address: SocketAddr, mut request: Vec<u8>) {
    let mut heard = [0_u8; 1024];
    request.pop();
    loop {
        let Ok(mut stream) = TcpStream::connect(address).await else {
            tokio::task::yield_now().await;
            continue;
        };
        let _ = stream.write_all(&request).await;
        while matches!(stream.read(&mut heard).await, Ok(1..)) {}
    }
}

/// The same over and over in one stream of MCP calls, without taking an answer's word for anything.
async fn call_tools(address: SocketAddr, opening: Vec<u8>, calls: Vec<u8>) {
    loop {
        let Ok(mut stream) = TcpStream::connect(address).await else {
            tokio::task::yield_now().await;
            continue;
        };
        let _ = stream.write_all(&opening).await;
        let (mut answers, mut requests) = stream.split();
        let mut heard = vec![0_u8; 64 * 1024];
        let sending = async { while requests.write_all(&calls).await.is_ok() {} };
        let hearing = async { while matches!(answers.read(&mut heard).await, Ok(1..)) {} };
        tokio::select! {
            () = sending => {}
            () = hearing => {}
        }
    }
}

/// One call of a tool, as a message.
fn tool_call(id: usize, name: &str, arguments: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": name, "arguments": arguments}})
    .to_string()
}

/// What an agent can do by MCP: refused requests and searches, as requests and in streams.
fn attack_by_mcp(address: SocketAddr, token: &str) -> Vec<JoinHandle<()>> {
    let subject =
        json!({"action_id": "only-blue", "reason": "r".repeat(4_000), "diff": "d".repeat(16_000)});
    let (subject, search) = (
        tool_call(1, "propose_action", &subject),
        tool_call(2, "search", &json!({"query": "r"})),
    );
    let mut tasks = Vec::new();
    for _ in 0..FLOODS {
        let request = request(address, token, "POST /mcp", &subject);
        tasks.push(tokio::spawn(hammer(address, request)));
    }
    for _ in 0..SEARCHES {
        let request = request(address, token, "POST /mcp", &search);
        tasks.push(tokio::spawn(hammer(address, request)));
    }
    let opening = format!(
        "GET /mcp HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
         connection: upgrade\r\nupgrade: void-mcp\r\n\r\n"
    );
    let calls = format!("{subject}\n{search}\n").repeat(32);
    for _ in 0..FLOODS {
        let (opening, calls) = (opening.clone().into_bytes(), calls.clone().into_bytes());
        tasks.push(tokio::spawn(call_tools(address, opening, calls)));
    }
    tasks
}

fn attack(address: SocketAddr, token: &str) -> Vec<JoinHandle<()>> {
    let body = json!({"reason": "r".repeat(4_000), "diff": "d".repeat(16_000)}).to_string();
    let refused = request(address, token, "POST /api/actions/only-blue/run", &body);
    let list = request(address, token, "GET /api/proposals?limit=500", "");
    let stream = request(address, token, "GET /api/events", "");
    // From the beginning: what is not theirs to hear is read and passed over.
    let catch_up = request(address, token, "GET /api/events?after=0", "");
    let padded = json!({"reason": " ".repeat(1024 * 1024 - 32)}).to_string();
    let upload = request(address, token, "POST /api/actions/only-blue/run", &padded);
    let mut tasks = attack_by_mcp(address, token);
    for _ in 0..UPLOADS {
        tasks.push(tokio::spawn(withhold(address, upload.clone())));
    }
    for _ in 0..CATCHING_UP {
        tasks.push(tokio::spawn(hang(address, catch_up.clone(), true)));
    }
    for _ in 0..FLOODS {
        tasks.push(tokio::spawn(hammer(address, refused.clone())));
    }
    for _ in 0..SEARCHES {
        tasks.push(tokio::spawn(hammer(address, list.clone())));
    }
    for _ in 0..SLOW_READERS {
        tasks.push(tokio::spawn(hang(address, list.clone(), false)));
    }
    for _ in 0..STREAMS {
        tasks.push(tokio::spawn(hang(address, stream.clone(), true)));
    }
    tasks
}

/// Few places, which both ends of this test can fill.
const FILES: u64 = 1_000;
const IDLE: usize = 3_000;
const OF_TOKEN: usize = 600;

/// A connection of its own for each, as a program makes that starts now.
async fn owner_gets_through(owner: &Owner) {
    for _ in 0..5 {
        let fresh = Owner {
            http: client(),
            address: owner.address,
        };
        let freezing = fresh.call("POST", "/api/freeze", Some(json!({})));
        let (status, answer) = tokio::time::timeout(Duration::from_secs(30), freezing)
            .await
            .expect("the owner gets through");
        assert_eq!(status, 200, "{answer}");
        assert_eq!(fresh.call("DELETE", "/api/freeze", None).await.0, 200);
        assert_eq!(fresh.call("GET", "/api/inbox", None).await.0, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_number_of_connections_locks_the_owner_out() {
    raise_file_limit();
    let server = tokio::task::spawn_blocking(|| Server::start_with(Some(FILES)))
        .await
        .unwrap();
    let address = server.address;
    let owner = Owner {
        http: client(),
        address,
    };
    let mut tokens = Vec::new();
    for kind in ["agent", "viewer", "node"] {
        let capabilities = if kind == "agent" {
            json!(["read"])
        } else {
            json!([])
        };
        let body =
            json!({"kind": kind, "name": format!("crowd-{kind}"), "capabilities": capabilities});
        let (_, made) = owner.call("POST", "/api/tokens", Some(body)).await;
        tokens.push(made["token"].as_str().unwrap().to_owned());
    }
    // An open stream of the owner outlives all of it.
    let listen = request(address, OWNER, "GET /api/events", "");
    let mut listening = crowd(address, 1, &listen).await;
    listening[0].heard("retry: 2000").await;

    // Whoever shows nothing: silent, or with half a head.
    let silent = crowd(address, IDLE / 2, b"").await;
    let unfinished = crowd(address, IDLE / 2, b"GET / HTTP/1.1\r\nhost: ").await;
    owner_gets_through(&owner).await;
    // Tokens: more of each than it may have, all of them kept open.
    let mut held = Vec::new();
    for token in &tokens {
        let looks = request(address, token, "GET /api/freeze", "");
        held.extend(crowd(address, OF_TOKEN, &looks).await);
    }
    owner_gets_through(&owner).await;
    // Streams on top, and both again.
    for token in &tokens {
        let listens = request(address, token, "GET /api/events", "");
        held.extend(crowd(address, 64, &listens).await);
    }
    held.extend(crowd(address, IDLE / 2, b"").await);
    owner_gets_through(&owner).await;
    let last = json!({"reason": "the owner's stream goes on"});
    owner.call("POST", "/api/freeze", Some(last)).await;
    listening[0].heard("the owner's stream goes on").await;
    drop((silent, unfinished, held, listening));
    assert!(server.end());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_hostile_token_cannot_take_the_house() {
    the_house_holds(Server::start, |server| disk_bytes(server.child.id())).await;
}

/// The same on the other engine, whose readers and writer are connections that an attacker could hold.
#[cfg(feature = "deep")]
#[tokio::test(flavor = "multi_thread")]
async fn one_hostile_token_cannot_take_the_house_on_postgres() {
    let url = tokio::task::spawn_blocking(void_testkit::postgres_database)
        .await
        .unwrap();
    let (attacked, counted) = (url.clone(), url);
    the_house_holds(
        move || Server::start_on(&attacked),
        move |_| {
            let sql = "SELECT pg_database_size(current_database())";
            let size = void_testkit::postgres_run(&counted, sql);
            size.trim().parse().unwrap()
        },
    )
    .await;
}

/// The server that nobody attacks has a file of its own on either engine.
async fn the_house_holds(
    start: impl FnOnce() -> Server + Send + 'static,
    disk_bytes: impl Fn(&Server) -> u64,
) {
    raise_file_limit();
    let server = tokio::task::spawn_blocking(start).await.unwrap();
    let owner = Owner {
        http: client(),
        address: server.address,
    };
    for _ in 0..SEEDED {
        let row = owner.queue().await;
        owner.decide(&row, "reject").await;
    }
    let untouched = tokio::task::spawn_blocking(Server::start).await.unwrap();
    let control = Owner {
        http: client(),
        address: untouched.address,
    };
    let quiet = owner.measure().await;
    let (disk, memory) = (disk_bytes(&server), server.resident_bytes() as u64);
    for (kind, capabilities) in [
        ("agent", json!(["read", "act"])),
        ("viewer", json!([])),
        ("node", json!([])),
    ] {
        let body =
            json!({"kind": kind, "name": format!("mallory-{kind}"), "capabilities": capabilities});
        let (_, made) = owner.call("POST", "/api/tokens", Some(body)).await;
        let token = made["token"].as_str().unwrap().to_owned();
        let tasks = attack(server.address, &token);
        let (busy, beside) = tokio::join!(owner.measure(), control.measure());
        for (n, what) in ["freeze", "Inbox", "approve"].into_iter().enumerate() {
            let (quiet, busy, beside) = (quiet[n], busy[n], beside[n]);
            let told =
                format!("{kind} {what}: {quiet:?} quiet, {beside:?} beside, {busy:?} under attack");
            println!("{told}");
            let bound = (quiet.max(beside) * TIMES_QUIET_MAX).max(FLOOR);
            assert!(busy <= bound, "{told}");
        }
        let grown = disk_bytes(&server).saturating_sub(disk);
        assert!(grown <= DISK_GROWTH_MAX, "{kind}: {grown} bytes of disk");
        let grown = (server.resident_bytes() as u64).saturating_sub(memory);
        println!("{kind}: {grown} bytes of memory");
        assert!(
            grown <= MEMORY_GROWTH_MAX,
            "{kind}: {grown} bytes of memory"
        );
        tasks.iter().for_each(JoinHandle::abort);
        join_all(tasks).await;
    }
    let metrics = owner.metrics().await;
    assert!(
        metrics.contains("void_held_back_total{what=\"refusals\"}"),
        "{metrics}"
    );
    let (_, record) = owner
        .call("GET", "/api/audit?verb=proposal.refused&limit=500", None)
        .await;
    // The first one is a row; the thousands behind it are counted.
    let refused = record["entries"].as_array().map(Vec::len);
    assert!(
        refused.is_some_and(|count| (1..=REFUSALS_STORED_MAX).contains(&count)),
        "{record}"
    );
    assert!(server.end() && untouched.end());
}

/// Three ways to send a catalogue that took long to refuse: unknown inverses, unknown names, long ids.
fn slow_catalogues() -> [String; 3] {
    let action = |id: &str, inverse: &str| {
        json!({"id": id, "kind": "service_restart", "host": "local", "service": "s",
            "tier": "safe", "inverse": inverse})
    };
    let inverses = (0..3_000).map(|n| action(&format!("action-{n}"), &format!("nothing-{n}")));
    let names = (0..40_000).map(|n| (format!("key-{n}"), json!(1)));
    let ids = (0..800).map(|n| action(&format!("{n:0>50}"), &format!("z{}", "y".repeat(600))));
    [
        json!({"actions": inverses.collect::<Vec<Value>>()}),
        json!({"actions": [names.collect::<serde_json::Map<String, Value>>()]}),
        json!({"actions": ids.collect::<Vec<Value>>()}),
    ]
    .map(|catalogue| catalogue.to_string())
}

/// As much of it as a change may be, so that it is read.
fn within_a_change(catalogue: &str) -> String {
    catalogue[..catalogue.len().min(60_000)].to_owned()
}

const DRAFT_ANSWER_BYTES_MAX: usize = 128 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn drafts_that_are_slow_to_read_do_not_slow_the_owner() {
    let server = tokio::task::spawn_blocking(Server::start).await.unwrap();
    let untouched = tokio::task::spawn_blocking(Server::start).await.unwrap();
    let [owner, control] = [server.address, untouched.address].map(|address| Owner {
        http: client(),
        address,
    });
    let quiet = owner.measure().await;
    let memory = server.resident_bytes() as u64;
    for (n, catalogue) in slow_catalogues().into_iter().enumerate() {
        let body =
            json!({"kind": "agent", "name": format!("drafts-{n}"), "capabilities": ["suggest"]});
        let (_, made) = owner.call("POST", "/api/tokens", Some(body)).await;
        let token = made["token"].as_str().unwrap().to_owned();
        let url = format!("http://{}/api/actions/patch", server.address);
        let file = json!({ "file": catalogue });
        let answer = owner.http.post(&url).bearer_auth(&token).json(&file);
        let answer = answer.send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 422, "{n}");
        let told = answer.bytes().await.unwrap().len();
        assert!(told <= DRAFT_ANSWER_BYTES_MAX, "{n}: {told} bytes");
        let mut tasks = Vec::new();
        for file in [catalogue.clone(), within_a_change(&catalogue)] {
            let body = json!({ "file": file }).to_string();
            let draft = request(server.address, &token, "POST /api/actions/patch", &body);
            for _ in 0..FLOODS {
                tasks.push(tokio::spawn(hammer(server.address, draft.clone())));
            }
        }
        let (busy, beside) = tokio::join!(owner.measure(), control.measure());
        for (what, (busy, quiet)) in busy.into_iter().zip(quiet).enumerate() {
            let bound = (quiet.max(beside[what]) * TIMES_QUIET_MAX).max(FLOOR);
            assert!(
                busy <= bound,
                "catalogue {n}, {what}: {busy:?}, {quiet:?} quiet, {:?} beside",
                beside[what]
            );
        }
        let grown = (server.resident_bytes() as u64).saturating_sub(memory);
        assert!(grown <= MEMORY_GROWTH_MAX, "{n}: {grown} bytes of memory");
        tasks.iter().for_each(JoinHandle::abort);
        join_all(tasks).await;
    }
    assert!(server.end() && untouched.end());
}
