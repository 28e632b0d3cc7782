//! `/api/events`: every event once and in order, whoever is slow, gone or no longer welcome (I23, I29,
//! R-C5).

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpSocket;
use void_domain::events::{Audience, EventId};
use void_domain::facts::NewFact;
use void_store::{StoreError, events, facts};
use void_testkit::eventually;

use crate::apps::{App, Engine, queue};
use crate::callers::Caller;
use crate::routes::health::metric;
use crate::sse::{Listener, numbers};

/// What the contract promises, to the letter.
const REVOKED_WITHIN: Duration = Duration::from_secs(1);

async fn last_event(app: &App) -> u64 {
    let read = app.store.read(|tx| Box::pin(events::standing(tx)));
    read.await.unwrap().audit_seq
}

/// Queues and rejects `count` requests, eight at a time.
async fn make_events(app: &App, count: u64) {
    use futures_util::StreamExt as _;
    let owner = app.owner();
    let stories = (0..count).map(|n| {
        let owner = owner.clone();
        async move {
            let body = json!({"params": {"replicas": n, "zone": "north", "image": "a"}});
            let queued = owner.post("/api/actions/scale-a/run", body).await.ok();
            let id = queued["action_row_id"].as_str().unwrap();
            owner
                .post_nothing(&format!("/api/actions/pending/{id}/reject"))
                .await
                .ok();
        }
    });
    futures_util::stream::iter(stories)
        .buffer_unordered(8)
        .collect::<Vec<()>>()
        .await;
}

async fn everything_is_heard_once_and_in_order(engine: Engine) {
    let app = App::on(engine).await;
    let owner = app.owner();
    // What a start records is told to nobody.
    let first = last_event(&app).await + 1;
    make_events(&app, 5).await;
    let start = last_event(&app).await;
    let mut steady = Listener::open(&owner).await;
    let writing = make_events(&app, 150);
    let returning = async {
        // Leaves after every few events and resumes, in turn as a browser and as a program does.
        let (mut seen, mut round) = (Vec::new(), 0);
        while seen.len() < 310 {
            let last = seen.last().copied().unwrap_or(0);
            let mut listener = match round % 2 {
                0 => Listener::resume(&owner, last).await,
                _ => Listener::after(&owner, last).await,
            };
            for _ in 0..(round % 23) + 1 {
                if seen.len() < 310 {
                    seen.push(listener.next().await.unwrap().seq);
                }
            }
            round += 1;
        }
        seen
    };
    let ((), seen) = tokio::join!(writing, returning);
    let last = last_event(&app).await;
    assert_eq!(last, start + 300);
    assert_eq!(seen, (first..first + 310).collect::<Vec<u64>>());
    assert_eq!(
        numbers(&steady.until(last).await),
        (start + 1..=last).collect::<Vec<u64>>()
    );
    let all = Listener::after(&owner, 0).await.until(last).await;
    assert_eq!(numbers(&all), (first..=last).collect::<Vec<u64>>());
    for heard in &all {
        assert!(
            heard.data["id"].is_string() && heard.data["tier"] == "risky",
            "{heard:?}"
        );
    }
    // From the newest on there is nothing to hear until something happens.
    let mut fresh = Listener::after(&owner, last).await;
    owner.post("/api/freeze", json!({})).await.ok();
    let heard = fresh.next().await.unwrap();
    assert_eq!(
        (heard.seq, heard.event.as_str()),
        (last + 1, "freeze.changed")
    );
    assert_eq!(
        heard.data,
        json!({"frozen": true, "by": "owner-api", "reason": null, "until": null})
    );
    let hub = app.control.hub();
    eventually("the hub to be done with it", || async {
        (hub.last() == last + 1).then_some(())
    })
    .await;
    a_number_of_the_future_is_lost(&app, last).await;
}

/// A browser that was open while an older backup was restored has seen what never happened.
async fn a_number_of_the_future_is_lost(app: &App, last: u64) {
    let owner = app.owner();
    let mut from_before = Listener::after(&owner, last + 500).await;
    let lost = from_before.next().await.unwrap();
    assert_eq!((lost.seq, lost.event.as_str()), (last + 1, "stream.lost"));
    assert_eq!(lost.data, json!({"after": last + 500, "next": last + 2}));
    owner.delete("/api/freeze").await.ok();
    let heard = from_before.next().await.unwrap();
    assert_eq!(
        (heard.seq, heard.event.as_str()),
        (last + 2, "freeze.changed")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_comes_back_hears_everything_once_and_in_order_on_sqlite() {
    everything_is_heard_once_and_in_order(Engine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_comes_back_hears_everything_once_and_in_order_on_postgres() {
    everything_is_heard_once_and_in_order(Engine::postgres().await).await;
}

/// A browser that was open while an older backup was restored has seen what never happened. It hears what
/// happens from its coming on, however long it takes until it is looked what there is.
#[tokio::test(flavor = "multi_thread")]
async fn a_listener_from_before_a_restore_misses_nothing_since_it_came() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        make_events(&app, 3).await;
        let last = last_event(&app).await;
        let mut heard = app.control.subscribe(Some(EventId::new(last + 500, 0)));
        app.owner().post("/api/freeze", json!({})).await.ok();
        assert_eq!(last_event(&app).await, last + 1);
        let event = tokio::time::timeout(Duration::from_secs(30), heard.next()).await;
        assert_eq!(event.unwrap().unwrap().unwrap().seq, last + 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_to_resume_is_a_number_or_an_error() {
    let app = App::start().await;
    let owner = app.owner();
    for after in [
        "-1",
        "x",
        "1.5",
        "1-",
        "1-x",
        "1-2-3",
        "",
        "99999999999999999999",
        "%00",
    ] {
        owner
            .get(&format!("/api/events?after={after}"))
            .await
            .error(422, "invalid");
        if !after.starts_with('%') {
            let request = owner
                .request(Method::GET, "/api/events")
                .header("last-event-id", after);
            assert_eq!(request.send().await.unwrap().status(), 422, "{after:?}");
        }
    }
    owner.get("/api/events?token=x").await.error(422, "invalid");
    // The header is what a browser adds when it comes back to an address with an old number in it.
    make_events(&app, 3).await;
    let request = owner
        .request(Method::GET, "/api/events?after=1")
        .header("last-event-id", 5);
    let mut response = request.send().await.unwrap();
    let mut text = String::new();
    while !text.contains("id: 7") {
        text.push_str(std::str::from_utf8(&response.chunk().await.unwrap().unwrap()).unwrap());
    }
    assert!(
        text.contains("id: 6\n") && !text.contains("id: 3\n"),
        "{text}"
    );
}

/// The life of one proposal as its listeners hear it.
#[tokio::test(flavor = "multi_thread")]
async fn a_proposal_is_told_step_by_step() {
    let app = App::start().await;
    let owner = app.owner();
    let mut listener = Listener::open(&owner).await;
    let row = app.queue("stop-a").await;
    owner.decide(&row, "approve").await.ok();
    owner.run("fail-a").await.ok();
    let last = last_event(&app).await;
    let heard = listener.until(last).await;
    let told: Vec<(&str, &str)> = heard
        .iter()
        .map(|heard| (heard.event.as_str(), heard.data["status"].as_str().unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            ("proposal.created", "pending"),
            ("proposal.approved", "approved"),
            ("proposal.started", "running"),
            ("proposal.executed", "executed"),
            ("proposal.created", "approved"),
            ("proposal.approved", "approved"),
            ("proposal.started", "running"),
            ("proposal.failed", "failed"),
        ]
    );
    let mut names: Vec<&str> = crate::masks::members(&heard[0].data);
    names.retain(|name| *name != "waited_ms");
    assert_eq!(
        names,
        [
            "action_id",
            "at",
            "code",
            "id",
            "label",
            "revision",
            "risk",
            "status",
            "subject",
            "tier",
            "verification"
        ]
    );
    assert_eq!(heard[0].data["subject"], "action");
    assert_eq!(heard[0].data["id"], row["id"]);
}

/// Five thousand events of this size are far more than sockets hold.
const HEAVY: usize = 4 * 1024;

async fn make_heavy_events(app: &App, count: usize) {
    for _ in 0..count / 250 {
        let write = app.store.write(|tx| {
            Box::pin(async move {
                for _ in 0..250 {
                    let fact = NewFact {
                        request_id: None,
                        actor: "system".to_owned(),
                        verb: "service.changed",
                        subject: Some("service:heavy".to_owned()),
                        detail: json!({
                            "from": "up", "status": "down", "detail": {}, "label": "x".repeat(HEAVY),
                        }),
                        catalogue: None,
                        audience: Some(Audience::Everyone),
                    };
                    facts::append(tx, void_testkit::proposals::NOW, fact).await?;
                }
                Ok::<_, StoreError>(())
            })
        });
        write.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_that_does_not_read_costs_the_others_nothing_and_catches_up() {
    const EVENTS: usize = 5_000;
    let app = App::start().await;
    let owner = app.owner();
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4 * 1024).unwrap();
    let mut slow = socket.connect(app.address).await.unwrap();
    let request = format!(
        "GET /api/events HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\r\n",
        app.address,
        app.owner_token()
    );
    slow.write_all(request.as_bytes()).await.unwrap();
    eventually("the slow one to listen", || async {
        (metric(&owner, "void_event_listeners").await == Some(1.0)).then_some(())
    })
    .await;
    let mut quick = Listener::open(&owner).await;
    let first = last_event(&app).await + 1;
    let last = first + EVENTS as u64 - 1;
    let start = Instant::now();
    let ((), heard) = tokio::join!(make_heavy_events(&app, EVENTS), quick.until(last));
    assert_eq!(numbers(&heard), (first..=last).collect::<Vec<u64>>());
    let row = app.queue("stop-a").await;
    assert_eq!(
        owner.decide(&row, "approve").await.ok()["status"],
        "executed"
    );
    assert!(
        start.elapsed() < Duration::from_secs(30),
        "{:?}",
        start.elapsed()
    );
    // Only now does the other one begin to read.
    let (mut seen, mut text, mut buffer) = (Vec::new(), Vec::new(), vec![0; 256 * 1024]);
    while seen.last() != Some(&last) {
        let count = slow.read(&mut buffer).await.unwrap();
        assert!(count > 0, "the stream goes on after {:?}", seen.last());
        text.extend_from_slice(&buffer[..count]);
        let whole = text
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        for line in text
            .drain(..whole)
            .collect::<Vec<u8>>()
            .split(|byte| *byte == b'\n')
        {
            let line = String::from_utf8_lossy(line);
            seen.extend(
                line.strip_prefix("id: ")
                    .and_then(|seq| seq.parse::<u64>().ok()),
            );
        }
    }
    seen.retain(|seq| *seq <= last);
    assert_eq!(seen, (first..=last).collect::<Vec<u64>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn listeners_that_vanish_are_let_go() {
    let app = App::start().await;
    let owner = app.owner();
    let mut listeners = Vec::new();
    for _ in 0..50 {
        listeners.push(Listener::open(&owner).await);
    }
    assert_eq!(metric(&owner, "void_event_listeners").await, Some(50.0));
    // HEAD opens nothing.
    owner.send(Method::HEAD, "/api/events", None).await;
    listeners.truncate(20);
    eventually("thirty to be gone", || async {
        (metric(&owner, "void_event_listeners").await == Some(20.0)).then_some(())
    })
    .await;
    drop(listeners);
    eventually("all to be gone", || async {
        (metric(&owner, "void_event_listeners").await == Some(0.0)).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_that_is_withdrawn_ends_its_streams_and_no_others() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        let mut witness = Listener::open(&app.agent("witness").await).await;
        for n in 0..10 {
            let holder = match n % 2 {
                0 => app.holder("agent", &format!("a{n}"), &["read"]).await,
                _ => app.holder("viewer", &format!("v{n}"), &[]).await,
            };
            let mut streams = [
                Listener::open(&holder.caller).await,
                Listener::open(&holder.caller).await,
            ];
            let start = Instant::now();
            owner
                .delete(&format!("/api/tokens/{}", holder.id))
                .await
                .ok();
            for stream in &mut streams {
                assert_eq!(stream.next().await, None);
            }
            assert!(start.elapsed() <= REVOKED_WITHIN, "{:?}", start.elapsed());
        }
        for _ in 0..3 {
            let (session, other) = (app.session().await, app.session().await);
            let (mut ended, mut kept) =
                (Listener::open(&session).await, Listener::open(&other).await);
            let start = Instant::now();
            session.delete("/api/session").await.ok();
            assert_eq!(ended.next().await, None);
            assert!(start.elapsed() <= REVOKED_WITHIN, "{:?}", start.elapsed());
            assert_eq!(kept.next().await.unwrap().event, "access.revoked");
        }
        owner.post("/api/freeze", json!({})).await.ok();
        assert_eq!(witness.next().await.unwrap().event, "freeze.changed");
    }
}

/// Between the check of a credential and the first listening there is no moment in which it could be
/// withdrawn unheard.
#[tokio::test(flavor = "multi_thread")]
async fn a_credential_that_is_withdrawn_while_its_stream_opens_does_not_keep_it() {
    let app = App::start().await;
    let owner = app.owner();
    for n in 0..40 {
        let holder = app.holder("agent", &format!("a{n}"), &["read"]).await;
        let path = format!("/api/tokens/{}", holder.id);
        let opening = holder.caller.request(Method::GET, "/api/events").send();
        let (opened, revoked) = tokio::join!(opening, owner.delete(&path));
        revoked.ok();
        let mut opened = opened.unwrap();
        if opened.status() == 200 {
            let ending = async { while opened.chunk().await.is_ok_and(|chunk| chunk.is_some()) {} };
            tokio::time::timeout(REVOKED_WITHIN, ending)
                .await
                .expect("it ends");
        }
    }
}

/// The first answer of a connection and a later one take different ways to the socket; both carry the
/// headers of every answer and what is said afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_is_the_same_whether_it_is_the_first_answer_or_a_later_one() {
    let app = App::start().await;
    let (host, bearer) = (
        app.address.to_string(),
        format!("Bearer {}", app.owner_token()),
    );
    let listen = crate::raw::request(
        "GET /api/events?after=0",
        &[("host", &host), ("authorization", &bearer)],
        "",
    );
    let health = crate::raw::request("GET /healthz", &[("host", &host)], "");
    for before in [0, 1, 3] {
        let mut connection = crate::raw::Connection::open(app.address).await;
        for _ in 0..before {
            connection.write(&health).await;
            assert_eq!(connection.read().await.unwrap().status, 200);
        }
        connection.write(&listen).await;
        let answer = connection.read().await.unwrap();
        assert_eq!(answer.status, 200, "{before}");
        for header in [
            "text/event-stream",
            "x-content-type-options: nosniff",
            "cache-control: no-store",
        ] {
            assert!(answer.head.contains(header), "{before}: {}", answer.head);
        }
        queue(&app.owner(), "stop-a").await;
        connection.heard("event: proposal.").await;
    }
}

/// Whoever is cut off hears nothing more, however much there is to hear.
#[tokio::test(flavor = "multi_thread")]
async fn a_withdrawn_listener_with_a_backlog_is_cut_off_at_once() {
    let app = App::start().await;
    let holder = app.holder("agent", "a", &["read"]).await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4 * 1024).unwrap();
    let mut slow = socket.connect(app.address).await.unwrap();
    let token = holder.caller.shows.headers()[0].1.clone();
    let request = format!(
        "GET /api/events?after=0 HTTP/1.1\r\nhost: {}\r\nauthorization: {token}\r\nconnection: close\r\n\r\n",
        app.address
    );
    slow.write_all(request.as_bytes()).await.unwrap();
    make_heavy_events(&app, 5_000).await;
    let after = last_event(&app).await;
    app.owner()
        .delete(&format!("/api/tokens/{}", holder.id))
        .await
        .ok();
    make_heavy_events(&app, 250).await;
    let mut rest = Vec::new();
    slow.read_to_end(&mut rest).await.unwrap();
    let text = String::from_utf8_lossy(&rest);
    let heard = text
        .lines()
        .filter_map(|line| line.strip_prefix("id: ")?.parse::<u64>().ok())
        .max();
    // What was on its way stays on its way; it is less than what waited.
    assert!(heard.unwrap() < after, "{heard:?} of {after}");
}

/// R-C5: what one agent asks for is no other agent's business; what concerns access is the owner's.
#[tokio::test(flavor = "multi_thread")]
async fn everybody_hears_what_is_theirs_to_hear() {
    let app = App::start().await;
    let owner = app.owner();
    let (blue, red) = (
        app.holder("agent", "blue", &["act"]).await,
        app.holder("agent", "red", &["act"]).await,
    );
    let reader = app.holder("agent", "reader", &["read"]).await;
    let viewer = app.holder("viewer", "eve", &[]).await;
    let start = last_event(&app).await;
    let tell = async {
        queue(&blue.caller, "stop-a").await;
        queue(&red.caller, "stop-a").await;
        app.queue("stop-b").await;
        blue.caller.run("touch-a").await.ok();
        red.caller.run("touch-b").await.ok();
        owner.run("touch-a").await.ok();
        red.caller.run("only-blue").await.error(403, "forbidden");
        red.caller.post("/api/freeze", json!({})).await.ok();
        let gone = app.holder("agent", "gone", &[]).await;
        owner.delete(&format!("/api/tokens/{}", gone.id)).await.ok();
        owner.delete("/api/freeze").await.ok();
    };
    let callers = [
        &owner,
        &viewer.caller,
        &blue.caller,
        &red.caller,
        &reader.caller,
    ];
    let mut live = Vec::new();
    for caller in callers {
        live.push(Listener::open(caller).await);
    }
    tell.await;
    let last = last_event(&app).await;
    let read = app
        .store
        .read(move |tx| Box::pin(events::list_after(tx, start, 1_000)));
    let stored = read.await.unwrap();
    let (blue_id, red_id) = (blue.id.parse().unwrap(), red.id.parse().unwrap());
    let may = |who: usize, audience: Audience| match (who, audience) {
        (0, _) | (_, Audience::Everyone) => true,
        (1, audience) => audience != Audience::OwnerOnly,
        (2, audience) => audience == Audience::Requester(blue_id),
        (3, audience) => audience == Audience::Requester(red_id),
        _ => false,
    };
    for (who, mut listener) in live.into_iter().enumerate() {
        let expected: Vec<u64> = stored
            .iter()
            .filter(|event| may(who, event.audience))
            .map(|event| event.seq)
            .collect();
        assert_eq!(expected.last(), Some(&last), "the thaw is for everybody");
        let heard = listener.until(last).await;
        assert_eq!(numbers(&heard), expected, "{who} live");
        let again = Listener::after(callers[who], start).await.until(last).await;
        assert_eq!(again, heard, "{who} resumed");
        assert_eq!(
            heard.iter().any(|heard| heard.event == "access.revoked"),
            who == 0
        );
        if who >= 2 {
            let name = ["blue", "red", "reader"][who - 2];
            for heard in heard
                .iter()
                .filter(|heard| heard.event.starts_with("proposal."))
            {
                let row = app.row(heard.data["id"].as_str().unwrap()).await;
                assert_eq!(row["requested_by"]["name"], name);
            }
        }
    }
}

/// Events for others do not keep the sign of life away, and time ends a session's stream too.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_shows_that_it_lives_and_ends_with_its_session() {
    let app = App::with_clock().await;
    let reader = app.holder("agent", "reader", &["read"]).await.caller;
    let session = app.session().await;
    let mut alive = Listener::open(&reader).await;
    let mut over = Listener::open(&session).await;
    // A session that is over is not told so by any event.
    app.pass(Duration::from_secs(31 * 24 * 60 * 60));
    let limit = Duration::from_secs(25);
    let beats = async {
        let start = Instant::now();
        tokio::time::timeout(limit, alive.heartbeat_or_end())
            .await
            .expect("a heartbeat")
            .unwrap();
        assert!(
            start.elapsed() >= Duration::from_secs(10),
            "{:?}",
            start.elapsed()
        );
    };
    let ends = async {
        let ending = async { while over.heartbeat_or_end().await.is_some() {} };
        tokio::time::timeout(limit, ending).await.expect("it ends");
    };
    let owner = app.owner();
    let others = chatter(&owner);
    tokio::select! {
        ((), ()) = async { tokio::join!(beats, ends) } => {}
        () = others => {}
    }
}

/// Something that concerns no agent, over and over.
async fn chatter(owner: &Caller) {
    let mut ticks = tokio::time::interval(Duration::from_millis(500));
    loop {
        ticks.tick().await;
        let row = queue(owner, "stop-a").await;
        owner.decide(&row, "reject").await.ok();
    }
}

/// I23: thousands listen, and the owner is served as before.
#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "deep"), ignore = "deep run")]
async fn the_owner_is_served_while_thousands_listen() {
    let files = crate::strangers::raise_file_limit();
    let count = usize::try_from((files - 500) / 2).unwrap().min(10_000);
    let app = App::start().await;
    let owner = app.owner();
    let head = format!(
        "GET /api/events HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\r\n",
        app.address,
        app.owner_token()
    );
    let listening = crate::strangers::crowd(app.address, count, head.as_bytes()).await;
    eventually("all to listen", || async {
        (metric(&owner, "void_event_listeners").await == Some(count as f64)).then_some(())
    })
    .await;
    let mut took: Vec<Duration> = Vec::new();
    for _ in 0..200 {
        let row = app.queue("stop-a").await;
        let path = format!(
            "/api/proposals/{}/decide?wait=0",
            row["id"].as_str().unwrap()
        );
        let body = json!({"decision": "approve", "digest": row["digest"]});
        let start = Instant::now();
        owner.post(&path, body).await.ok();
        took.push(start.elapsed());
        app.ended(row["id"].as_str().unwrap()).await;
    }
    took.sort_unstable();
    // Measured with optimisation; without it the bound is a generous one.
    let bound = Duration::from_millis(if cfg!(debug_assertions) { 2_500 } else { 250 });
    assert!(took[198] <= bound, "p99 {:?}", took[198]);
    drop(listening);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_streams_and_idle_connections_and_then_serving() {
    let mut app = App::start().await;
    let owner = app.owner();
    let mut listener = Listener::open(&owner).await;
    assert_eq!(
        owner.get("/healthz").await.ok()["status"],
        Value::from("ok")
    );
    let start = Instant::now();
    assert!(
        app.shut_down(Duration::from_secs(5)).await,
        "serving ends by itself"
    );
    assert_eq!(listener.next().await, None);
    assert!(start.elapsed() < Duration::from_secs(5));
    assert!(tokio::net::TcpStream::connect(app.address).await.is_err());
}
