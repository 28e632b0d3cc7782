//! What is sent, and what becomes of right answers.

use serde_json::json;
use void_embeddings::embedders::{Embedder, EmbeddingError};
use void_embeddings::endpoints::{
    BATCH_TEXTS_MAX, Endpoint, EndpointConfig, EndpointFormat, InvalidEndpoint, TEXT_BYTES_MAX,
};
use void_embeddings::vectors::{DIMENSIONS_MAX, Embedding};

use crate::servers::{FORMATS, KEY, PATIENCE, Reply, Server, answer, client, install_tls, texts};

#[tokio::test]
async fn texts_become_vectors_of_length_one_in_their_order() {
    for format in FORMATS {
        let vectors = json!([[3.0, 4.0], [0, -2]]);
        let server = Server::start(vec![Reply::Json(answer(format, &vectors))]);
        let made = client(format, server.address)
            .embed(&texts(2), PATIENCE)
            .await
            .unwrap();
        let made: Vec<&[f32]> = made.iter().map(Embedding::as_slice).collect();
        assert_eq!(made, [[0.6, 0.8], [0.0, -1.0]], "{format:?}");
    }
}

#[tokio::test]
async fn the_request_is_that_of_the_format() {
    for (format, line, body) in [
        (
            EndpointFormat::Ollama,
            "POST /api/embed HTTP/1.1",
            json!({"model": "mini", "input": ["text 0"], "truncate": true}),
        ),
        (
            EndpointFormat::OpenAi,
            "POST /v1/embeddings HTTP/1.1",
            json!({"model": "mini", "input": ["text 0"], "encoding_format": "float"}),
        ),
    ] {
        let server = Server::start(vec![Reply::Json(answer(format, &json!([[1.0]])))]);
        client(format, server.address)
            .embed(&texts(1), PATIENCE)
            .await
            .unwrap();
        let request = server.requests().remove(0);
        assert_eq!(request.head.lines().next(), Some(line));
        assert_eq!(request.body, body);
        let head = request.head.to_ascii_lowercase();
        assert!(
            head.contains(&format!("authorization: bearer {KEY}")),
            "{head}"
        );
        assert!(head.contains("content-type: application/json"), "{head}");
    }
}

#[tokio::test]
async fn an_order_that_the_answer_gives_is_kept() {
    let data = json!({"data": [{"index": 1, "embedding": [0.0, 1.0]}, {"index": 0, "embedding": [1.0, 0.0]}]});
    let server = Server::start(vec![Reply::Json(data)]);
    let made = client(EndpointFormat::OpenAi, server.address)
        .embed(&texts(2), PATIENCE)
        .await
        .unwrap();
    assert_eq!(made[0].as_slice(), [1.0, 0.0]);
    let without = json!({"data": [{"embedding": [1.0, 0.0]}, {"embedding": [0.0, 1.0]}]});
    let server = Server::start(vec![Reply::Json(without)]);
    let made = client(EndpointFormat::OpenAi, server.address)
        .embed(&texts(2), PATIENCE)
        .await
        .unwrap();
    assert_eq!(made[1].as_slice(), [0.0, 1.0]);
}

#[tokio::test]
async fn many_texts_are_sent_in_batches() {
    for format in FORMATS {
        let full = vec![json!([1.0, 0.0]); BATCH_TEXTS_MAX];
        let replies = vec![
            Reply::Json(answer(format, &json!(full))),
            Reply::Json(answer(format, &json!([[0.0, 1.0]]))),
        ];
        let server = Server::start(replies);
        let made = client(format, server.address)
            .embed(&texts(BATCH_TEXTS_MAX + 1), PATIENCE)
            .await
            .unwrap();
        assert_eq!(made.len(), BATCH_TEXTS_MAX + 1);
        assert_eq!(made[BATCH_TEXTS_MAX].as_slice(), [0.0, 1.0]);
        let sent: Vec<usize> = server
            .requests()
            .iter()
            .map(|request| request.body["input"].as_array().unwrap().len())
            .collect();
        assert_eq!(sent, [BATCH_TEXTS_MAX, 1]);
    }
}

#[tokio::test]
async fn no_texts_ask_nobody() {
    let server = Server::start(vec![]);
    let made = client(EndpointFormat::Ollama, server.address)
        .embed(&[], PATIENCE)
        .await;
    assert_eq!(made, Ok(vec![]));
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_long_text_is_cut_between_characters() {
    let server = Server::start(vec![Reply::Json(answer(
        EndpointFormat::Ollama,
        &json!([[1.0], [1.0]]),
    ))]);
    let fits = "x".repeat(TEXT_BYTES_MAX);
    let texts = [
        fits.clone(),
        format!("{}é and more", "x".repeat(TEXT_BYTES_MAX - 1)),
    ];
    client(EndpointFormat::Ollama, server.address)
        .embed(&texts, PATIENCE)
        .await
        .unwrap();
    let sent = &server.requests()[0].body["input"];
    assert_eq!(sent[0], json!(fits));
    assert_eq!(sent[1], json!("x".repeat(TEXT_BYTES_MAX - 1)));
}

#[tokio::test]
async fn the_longest_vector_that_may_be_is_taken() {
    let longest = vec![0.125; DIMENSIONS_MAX];
    for format in FORMATS {
        let server = Server::start(vec![Reply::Json(answer(format, &json!([longest])))]);
        let made = client(format, server.address)
            .embed(&texts(1), PATIENCE)
            .await
            .unwrap();
        assert_eq!(made[0].dimensions(), DIMENSIONS_MAX);
    }
}

#[tokio::test]
async fn what_is_off_says_so() {
    let off = Embedder::Off;
    assert_eq!(
        off.embed(&texts(1), PATIENCE).await,
        Err(EmbeddingError::Off)
    );
    assert_eq!(off.identity(), None);
}

fn config(base: &str) -> EndpointConfig {
    install_tls();
    EndpointConfig {
        format: EndpointFormat::OpenAi,
        base: base.to_owned(),
        key: None,
        model: "mini".to_owned(),
        dimensions: None,
    }
}

#[test]
fn addresses_are_checked_without_being_repeated() {
    for (base, error) in [
        ("", InvalidEndpoint::Address),
        ("localhost:11434", InvalidEndpoint::Address),
        ("ftp://host", InvalidEndpoint::Address),
        ("file:///etc/passwd", InvalidEndpoint::Address),
        ("http://user:hunter2@host", InvalidEndpoint::Credentials),
        ("http://host/v1?key=hunter2", InvalidEndpoint::Query),
        ("http://host/v1#x", InvalidEndpoint::Query),
    ] {
        let refused = Endpoint::new(config(base)).err();
        assert_eq!(refused, Some(error), "{base}");
        assert!(!error.to_string().contains("hunter2"));
    }
    let unnamed = EndpointConfig {
        model: " ".to_owned(),
        ..config("http://host")
    };
    assert_eq!(Endpoint::new(unnamed).err(), Some(InvalidEndpoint::Model));
    let broken = EndpointConfig {
        key: Some("a\nb".to_owned()),
        ..config("http://host")
    };
    assert_eq!(Endpoint::new(broken).err(), Some(InvalidEndpoint::Key));
}

#[test]
fn nothing_prints_the_key() {
    let with_key = EndpointConfig {
        key: Some(KEY.to_owned()),
        ..config("http://host/v1")
    };
    let endpoint = Endpoint::new(with_key).unwrap();
    assert_eq!(
        format!("{endpoint:?}"),
        "openai:mini at http://host/v1/embeddings"
    );
    assert_eq!(
        Embedder::Endpoint(endpoint).identity().as_deref(),
        Some("openai:mini")
    );
}
