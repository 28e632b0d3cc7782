//! What those can do whom nobody knows: not stop the owner, and not fill the memory (I22, I23, R-C7).

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::apps::{App, Engine, Setup};
use crate::raw::{self, Connection};

const MIB: usize = 1024 * 1024;

pub fn raise_file_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, raised).unwrap();
    limit.maximum.unwrap_or(1 << 20)
}

/// Opens that many connections, each with these first bytes.
pub async fn crowd(address: SocketAddr, count: usize, first: &[u8]) -> Vec<Connection> {
    let mut crowd = Vec::with_capacity(count);
    for batch in 0..count.div_ceil(100) {
        let size = 100.min(count - batch * 100);
        let opening = (0..size).map(|_| async {
            let mut connection = Connection::open(address).await;
            connection.write(first).await;
            connection
        });
        crowd.extend(join_all(opening).await);
    }
    crowd
}

#[tokio::test(flavor = "multi_thread")]
async fn two_thousand_who_say_nothing_do_not_stop_the_owner() {
    // Both ends of every connection are here.
    let count = usize::try_from((raise_file_limit() - 500) / 2)
        .unwrap()
        .min(2_000);
    let app = App::start().await;
    let owner = app.owner();
    let silent = crowd(app.address, count / 2, b"").await;
    let unfinished = crowd(app.address, count / 2, b"GET / HTTP/1.1\r\nhost: ").await;
    let start = Instant::now();
    for _ in 0..20 {
        let row = app.queue("stop-a").await;
        assert_eq!(
            owner.decide(&row, "approve").await.ok()["status"],
            "executed"
        );
        owner.get("/api/inbox").await.ok();
    }
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "{:?}",
        start.elapsed()
    );
    assert_eq!(silent.len() + unfinished.len(), count / 2 * 2);
}

/// Not a test of its own: the server whose memory [`strangers_cannot_fill_the_memory`] watches, in a
/// process of its own, until its standard input ends.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "started by strangers_cannot_fill_the_memory"]
async fn a_server_of_its_own() {
    match std::env::var(FILES_MAX) {
        Err(_) => drop(raise_file_limit()),
        Ok(files) => {
            let files = Some(files.parse().unwrap());
            let limit = Rlimit {
                current: files,
                maximum: files,
            };
            setrlimit(Resource::Nofile, limit).unwrap();
        }
    }
    let engine = match std::env::var(DATABASE) {
        Err(_) => Engine::Sqlite,
        Ok(url) => Engine::Postgres(url),
    };
    let setup = Setup {
        engine,
        owner_token: OWNER.to_owned(),
        ..Setup::default()
    };
    let app = setup.start().await;
    println!("\nlistening on {}", app.address);
    tokio::task::spawn_blocking(|| std::io::stdin().lines().count())
        .await
        .unwrap();
}

pub const OWNER: &str = "owner-of-the-server-of-its-own-which-nobody-guesses";

/// How many files [`a_server_of_its_own`] may open, if not as many as it can.
const FILES_MAX: &str = "VOID_TEST_FILES_MAX";

/// The PostgreSQL database of [`a_server_of_its_own`], if it is not a file.
const DATABASE: &str = "VOID_TEST_DATABASE";

pub struct Server {
    pub child: Child,
    pub address: SocketAddr,
}

impl Server {
    pub fn start() -> Self {
        Self::start_with(None)
    }

    pub fn start_with(files_max: Option<u64>) -> Self {
        Self::start_in(files_max.map(|files| (FILES_MAX, files.to_string())))
    }

    #[cfg(feature = "deep")]
    pub fn start_on(database: &str) -> Self {
        Self::start_in(Some((DATABASE, database.to_owned())))
    }

    fn start_in(variable: Option<(&str, String)>) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .envs(variable)
            .args([
                "--exact",
                "strangers::a_server_of_its_own",
                "--ignored",
                "--nocapture",
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address =
            lines.find_map(|line| line.unwrap().strip_prefix("listening on ")?.parse().ok());
        std::thread::spawn(move || lines.count());
        Self {
            child,
            address: address.unwrap(),
        }
    }

    pub fn resident_bytes(&self) -> usize {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib: usize = line
            .unwrap()
            .trim()
            .trim_end_matches(" kB")
            .parse()
            .unwrap();
        kib * 1024
    }

    pub fn end(mut self) -> bool {
        drop(self.child.stdin.take());
        self.child.wait().unwrap().success()
    }
}

/// Sends each on a connection of its own, a hundred at a time, and reads what comes.
async fn send_all(address: SocketAddr, requests: impl Iterator<Item = Vec<u8>>) {
    let requests: Vec<Vec<u8>> = requests.collect();
    for batch in requests.chunks(100) {
        let sending = batch.iter().map(|request| raw::exchange(address, request));
        for reply in join_all(sending).await.into_iter().flatten() {
            assert!(reply.status < 500, "{reply:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_cannot_fill_the_memory() {
    const GROWTH_MAX: usize = 64 * MIB;
    let count = usize::try_from(raise_file_limit() - 500)
        .unwrap()
        .min(2_000);
    let server = tokio::task::spawn_blocking(Server::start).await.unwrap();
    let address = server.address;
    let host = format!("host: {address}\r\n");
    let get = |path: &str, more: &str| {
        format!("GET {path} HTTP/1.1\r\n{host}{more}connection: close\r\n\r\n").into_bytes()
    };
    let post = |path: &str, more: &str, body: &str| {
        format!("POST {path} HTTP/1.1\r\n{host}content-type: application/json\r\n{more}\r\n{body}")
            .into_bytes()
    };
    // Everything once, so that what is made on first use is made.
    for path in [
        "/healthz",
        "/readyz",
        "/api/openapi.json",
        "/metrics",
        "/api/status",
        "/x",
    ] {
        raw::exchange(address, &get(path, "")).await;
    }
    let before = server.resident_bytes();
    let look = |what: &str| {
        let grown = server.resident_bytes().saturating_sub(before);
        assert!(grown <= GROWTH_MAX, "{what}: {} KiB", grown / 1024);
    };
    let unfinished = format!("GET / HTTP/1.1\r\n{host}x: {}", "x".repeat(15 * 1024));
    let stalled = post(
        "/api/session",
        "content-length: 4096\r\n",
        &"x".repeat(4_095),
    );
    let announced = post("/api/actions/x/run", "content-length: 67108864\r\n", "");
    for (what, count, first) in [
        ("silence", count, Vec::new()),
        ("unfinished headers", count / 2, unfinished.into_bytes()),
        ("stalled logins", count / 2, stalled),
        ("announced bodies", count / 2, announced),
    ] {
        let crowd = crowd(address, count, &first).await;
        look(what);
        drop(crowd);
    }
    let deep = "[".repeat(100_000);
    send_all(
        address,
        (0..50).map(|_| post("/api/session", "content-length: 100000\r\n", &deep)),
    )
    .await;
    look("deep JSON");
    let endless = format!("10000\r\n{}\r\n", "x".repeat(0x10000)).repeat(64);
    send_all(
        address,
        (0..50).map(|_| post("/api/session", "transfer-encoding: chunked\r\n", &endless)),
    )
    .await;
    send_all(
        address,
        (0..50).map(|_| {
            post(
                "/api/actions/x/run",
                "transfer-encoding: chunked\r\n",
                &endless,
            )
        }),
    )
    .await;
    look("endless bodies");
    let headers = (0..100_000)
        .map(|n| format!("x-{n}: 1\r\n"))
        .collect::<String>();
    send_all(address, (0..20).map(|_| get("/healthz", &headers))).await;
    look("headers without end");
    send_all(
        address,
        (0..20).map(|_| get(&format!("/{}", "x".repeat(MIB)), "")),
    )
    .await;
    look("long targets");
    let token = |n: usize| format!("authorization: Bearer void_agent_{n:043}\r\n");
    send_all(address, (0..2_000).map(|n| get("/api/status", &token(n)))).await;
    let cookie = |n: usize| format!("cookie: void_session={n:043}\r\n");
    send_all(address, (0..2_000).map(|n| get("/api/events", &cookie(n)))).await;
    look("made-up credentials");
    send_all(
        address,
        (0..2_000).map(|n| get(&format!("/made/up/{n}"), "")),
    )
    .await;
    send_all(
        address,
        (0..2_000).map(|n| get(&format!("/api/proposals/{n}"), "")),
    )
    .await;
    look("made-up paths");
    send_all(address, (0..500).map(|_| get("/api/openapi.json", ""))).await;
    send_all(address, (0..500).map(|_| get("/metrics", ""))).await;
    look("what is public");
    let start = Instant::now();
    let owner = get("/api/status", &format!("authorization: Bearer {OWNER}\r\n"));
    assert_eq!(raw::exchange(address, &owner).await.unwrap().status, 200);
    assert!(start.elapsed() < Duration::from_secs(1));
    assert!(tokio::task::spawn_blocking(|| server.end()).await.unwrap());
}
