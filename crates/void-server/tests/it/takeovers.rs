//! Streams are taken out of hyper, also behind other answers of their connection: nothing of those is lost.

use tokio::net::TcpSocket;

use crate::apps::{App, queue};
use crate::raw::{Connection, request};

/// More than the buffers of both sides hold.
const ANSWERS: usize = 24;

/// A client that sends all of its requests before it reads, and then reads slowly: whatever of the answers has not left the
/// server when the stream begins is sent before it.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_asked_for_behind_long_answers_cuts_none_of_them_off() {
    let app = App::start().await;
    let (host, bearer) = (
        app.address.to_string(),
        format!("Bearer {}", app.owner_token()),
    );
    let headers = [("host", host.as_str()), ("authorization", bearer.as_str())];
    let get = |path: &str| request(&format!("GET {path}"), &headers, "");
    let whole = app.owner().get("/api/openapi.json").await.ok();
    for long in [0, 1, ANSWERS] {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4 * 1024).unwrap();
        let mut connection = Connection::over(socket.connect(app.address).await.unwrap());
        let mut all = get("/api/openapi.json").repeat(long);
        all.extend(get("/api/events?after=0"));
        assert!(connection.write(&all).await);
        for number in 0..long {
            let answer = connection.read().await.unwrap();
            assert_eq!(answer.status, 200, "{number} of {long}");
            let told: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
            assert!(told == whole, "answer {number} of {long} is cut or mixed");
        }
        let answer = connection.read().await.unwrap();
        assert_eq!(answer.status, 200, "{}", answer.head);
        assert!(answer.head.contains("text/event-stream"), "{}", answer.head);
        queue(&app.owner(), "stop-a").await;
        connection.heard("event: proposal.").await;
    }
}

/// A stream is the last word of its connection, whatever is asked behind it.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_answered_behind_a_stream() {
    let app = App::start().await;
    let (host, bearer) = (
        app.address.to_string(),
        format!("Bearer {}", app.owner_token()),
    );
    let headers = [("host", host.as_str()), ("authorization", bearer.as_str())];
    let get = |path: &str| request(&format!("GET {path}"), &headers, "");
    let mut connection = Connection::open(app.address).await;
    let mut all = get("/healthz");
    all.extend(get("/api/events?after=0"));
    all.extend(get("/api/freeze"));
    assert!(connection.write(&all).await);
    assert_eq!(connection.read().await.unwrap().status, 200);
    let stream = connection.read().await.unwrap();
    assert!(stream.head.contains("text/event-stream"), "{}", stream.head);
    queue(&app.owner(), "stop-a").await;
    connection.heard("event: proposal.").await;
    assert!(
        !connection.has_heard("\"frozen\""),
        "it answers behind a stream"
    );
}
