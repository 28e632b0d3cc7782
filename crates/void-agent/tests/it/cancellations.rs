//! Dropping the future ends the answer and its connection.

use std::time::Duration;

use void_testkit::eventually;
use void_testkit::models::{Format, ModelServer, Script};

use crate::talk::{brain, prompt};

async fn dropped_while(format: Format, script: Script) {
    let server = ModelServer::with(format, move |_| script.clone());
    let brain = brain(format, &server);
    let prompt = prompt("hello");
    let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let mut on_event = |event| told.send(event).unwrap();
    {
        let answer = brain.answer(&prompt, &mut on_event);
        let arrived = eventually("the request is there", || async {
            (!server.requests().is_empty()).then_some(())
        });
        tokio::select! {
            answer = answer => panic!("{answer:?}"),
            () = async {
                arrived.await;
                // Into the stream, where there is one.
                let _ = tokio::time::timeout(Duration::from_millis(100), heard.recv()).await;
            } => {}
        }
    }
    eventually("the connection is closed", || async {
        (server.hangups() == 1).then_some(())
    })
    .await;
    assert_eq!(server.requests().len(), 1, "{format:?}");
}

#[tokio::test]
async fn before_the_first_word() {
    for format in Format::ALL {
        dropped_while(format, Script::new().stall()).await;
    }
}

#[tokio::test]
async fn before_the_answer_begins() {
    for format in Format::ALL {
        dropped_while(format, Script::silence()).await;
    }
}

#[tokio::test]
async fn between_words() {
    for format in Format::ALL {
        dropped_while(format, Script::says("Caddy is").stall()).await;
    }
}

#[tokio::test]
async fn in_a_flood_of_words() {
    for format in Format::ALL {
        let slow = (0..2_000).fold(Script::new(), |script, _| {
            script.text("word ").pause(Duration::from_millis(1))
        });
        dropped_while(format, slow).await;
    }
}

#[tokio::test]
async fn in_the_pause_before_asking_again() {
    let server = ModelServer::with(Format::Anthropic, |_| {
        Script::status(429).header("retry-after", "1")
    });
    let brain = brain(Format::Anthropic, &server);
    let prompt = prompt("hello");
    let mut ignore = |_| {};
    let answer = brain.answer(&prompt, &mut ignore);
    let waited = tokio::time::timeout(Duration::from_millis(300), answer).await;
    assert!(waited.is_err(), "it waits");
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    assert_eq!(server.requests().len(), 1, "and never asks again");
}
