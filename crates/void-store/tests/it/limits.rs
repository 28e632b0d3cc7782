//! Every call to PostgreSQL ends: whoever holds the lock, whoever is paused, and whatever is lost on the
//! way. What is answered is true.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::{oneshot, watch};
use tokio_postgres::{Config, NoTls};
use void_store::{PostgresConfig, StoreError};

use crate::durability::{head, note};
use crate::engines;

/// Others build and test on the same machine.
const SLACK: Duration = Duration::from_secs(3);

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_that_stops_in_the_middle_of_a_batch_holds_up_the_others_for_a_moment_only() {
    let Some(paused) = engines::postgres().await else {
        return;
    };
    let other = engines::open_postgres(paused.url.as_deref().unwrap()).await;
    let (inside, is_inside) = oneshot::channel();
    let store = paused.store.clone();
    let stuck = tokio::spawn(async move {
        let begun = Instant::now();
        let outcome: Result<(), StoreError> = store
            .write(|_tx| {
                Box::pin(async move {
                    inside.send(()).unwrap();
                    // Holds the lock and says nothing to the server any more.
                    std::future::pending().await
                })
            })
            .await;
        (outcome, begun.elapsed())
    });
    is_inside.await.unwrap();
    let begun = Instant::now();
    assert_eq!(note(&other).await, Ok(1));
    assert!(begun.elapsed() < PostgresConfig::HELD_UP_MAX + SLACK);
    // The one that was stuck is told that nothing of it was written, and goes on.
    let (outcome, took) = stuck.await.unwrap();
    assert!(
        matches!(outcome, Err(StoreError::Unavailable(_))),
        "{outcome:?}"
    );
    assert!(took < PostgresConfig::ANSWERED_WITHIN, "{took:?}");
    assert_eq!(note(&paused.store).await, Ok(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_that_is_never_given_back_is_an_error_in_time_and_not_a_wait_for_good() {
    let Some(engine) = engines::postgres().await else {
        return;
    };
    let config: Config = engine.url.as_deref().unwrap().parse().unwrap();
    let (client, connection) = config.connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    client
        .batch_execute("BEGIN; SELECT * FROM heads FOR UPDATE")
        .await
        .unwrap();
    for _ in 0..2 {
        let begun = Instant::now();
        let refused = note(&engine.store).await;
        assert!(
            matches!(refused, Err(StoreError::Unavailable(_))),
            "{refused:?}"
        );
        assert!(begun.elapsed() < PostgresConfig::HELD_UP_MAX + SLACK);
        assert_eq!(head(&engine.store).await, 0, "reading goes on");
    }
    client.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(note(&engine.store).await, Ok(1));
}

const PASS: u8 = 0;
/// The commit arrives, its answer does not.
const LOSE_ANSWER: u8 = 1;
/// The commit does not arrive.
const LOSE_COMMIT: u8 = 2;
/// As the first, and nobody gets through any more.
const LOSE_ANSWER_AND_CUT: u8 = 3;
const CUT: u8 = 4;

/// Stands between Void and the server and loses what it is told to.
struct Between {
    folder: TempDir,
    mode: Arc<AtomicU8>,
}

impl Between {
    fn start(server: &Path) -> Self {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
        let mode = Arc::new(AtomicU8::new(PASS));
        let (seen, server) = (Arc::clone(&mode), server.join(".s.PGSQL.5432"));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if seen.load(Ordering::SeqCst) != CUT {
                    tokio::spawn(carry(client, server.clone(), Arc::clone(&seen)));
                }
            }
        });
        Self { folder, mode }
    }

    fn url(&self, database: &str) -> String {
        let socket = self.folder.path().display().to_string().replace('/', "%2F");
        format!("postgres://postgres@{socket}/{database}")
    }
}

async fn carry(client: UnixStream, server: PathBuf, mode: Arc<AtomicU8>) {
    let server = UnixStream::connect(server).await.unwrap();
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let back = tokio::spawn(async move {
        let _ = tokio::io::copy(&mut from_server, &mut to_client).await;
    });
    let mut buffer = vec![0; 65_536];
    while let Ok(read @ 1..) = from_client.read(&mut buffer).await {
        let sent = &buffer[..read];
        let is_commit = sent
            .windows(26)
            .any(|part| part == b"NOTIFY void_events; COMMIT");
        let now = mode.load(Ordering::SeqCst);
        if is_commit && now != PASS {
            let next = if now == LOSE_ANSWER_AND_CUT {
                CUT
            } else {
                PASS
            };
            mode.store(next, Ordering::SeqCst);
            back.abort();
            if now != LOSE_COMMIT {
                to_server.write_all(sent).await.unwrap();
                // It is the server's own time; the connection must not be closed before it is read.
                tokio::time::sleep(Duration::from_millis(300)).await;
            }
            return;
        }
        if to_server.write_all(sent).await.is_err() {
            return;
        }
    }
    back.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_whose_answer_is_lost_is_asked_after_and_never_called_undone() {
    let Some(direct) = engines::postgres().await else {
        return;
    };
    let url = direct.url.clone().unwrap();
    let (folder, database) = url
        .strip_prefix("postgres://postgres@")
        .and_then(|rest| rest.split_once('/'))
        .unwrap();
    let between = Between::start(Path::new(&folder.replace("%2F", "/")));
    let store = engines::open_postgres(&between.url(database)).await;
    assert_eq!(note(&store).await, Ok(1));

    between.mode.store(LOSE_ANSWER, Ordering::SeqCst);
    assert_eq!(note(&store).await, Ok(2), "it happened, and that is said");
    assert_eq!(head(&direct.store).await, 2);

    between.mode.store(LOSE_COMMIT, Ordering::SeqCst);
    let refused = note(&store).await;
    assert!(
        matches!(refused, Err(StoreError::Unavailable(_))),
        "{refused:?}"
    );
    assert_eq!(head(&direct.store).await, 2, "it did not happen");

    between.mode.store(LOSE_ANSWER_AND_CUT, Ordering::SeqCst);
    assert_eq!(note(&store).await, Err(StoreError::Unconfirmed));
    assert_eq!(head(&direct.store).await, 3, "it did, and nobody denied it");

    between.mode.store(PASS, Ordering::SeqCst);
    assert_eq!(note(&store).await, Ok(4));
}

/// A path over TCP, as to a server on another machine. While it swallows, nothing gets through in either direction, nothing is
/// refused and nothing ends: a firewall that has forgotten a connection, or a cable that was pulled.
struct Swallowing {
    address: SocketAddr,
    swallows: watch::Sender<bool>,
}

impl Swallowing {
    async fn start(server: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (swallows, seen) = watch::channel(false);
        let server = server.join(".s.PGSQL.5432");
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(swallow(client, server.clone(), seen.clone()));
            }
        });
        Self { address, swallows }
    }
}

/// What was under way when it began to swallow never goes on: the far end has forgotten it.
async fn swallow(mut client: TcpStream, server: PathBuf, mut swallows: watch::Receiver<bool>) {
    let mut server = UnixStream::connect(server).await.unwrap();
    let carrying = tokio::io::copy_bidirectional(&mut client, &mut server);
    let is_swallowing = async { swallows.wait_for(|swallows| *swallows).await.is_ok() };
    tokio::select! {
        _ = carrying => {}
        _ = is_swallowing => std::future::pending().await,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_that_swallows_everything_costs_a_deadline_and_no_more() {
    let Some(direct) = engines::postgres().await else {
        return;
    };
    let url = direct.url.clone().unwrap();
    let (folder, database) = url
        .strip_prefix("postgres://postgres@")
        .and_then(|rest| rest.split_once('/'))
        .unwrap();
    let path = Swallowing::start(Path::new(&folder.replace("%2F", "/"))).await;
    let url = format!("postgres://postgres@{}/{database}", path.address);
    let store = engines::open_postgres(&url).await;
    assert_eq!(note(&store).await, Ok(1));

    path.swallows.send_replace(true);
    let begun = Instant::now();
    let refused = note(&store).await;
    let told = matches!(
        refused,
        Err(StoreError::Unavailable(_) | StoreError::Unconfirmed)
    );
    assert!(told, "{refused:?}");
    let most = PostgresConfig::ANSWERED_WITHIN + SLACK;
    assert!(begun.elapsed() < most, "{:?}", begun.elapsed());
    assert_eq!(head(&direct.store).await, 1, "nothing of it arrived");
    // Others are not held up by what this one held.
    assert_eq!(note(&direct.store).await, Ok(2));

    path.swallows.send_replace(false);
    let begun = Instant::now();
    while note(&store).await != Ok(head(&direct.store).await) {
        assert!(begun.elapsed() < most, "it comes back by itself");
    }
}
