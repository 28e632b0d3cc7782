//! Asking again: only what can pass, only before anything has come, not for ever.

use std::time::{Duration, Instant};

use void_agent::brains::{BrainErrorKind as Kind, Retry};
use void_testkit::free_port;
use void_testkit::models::{Format, ModelServer, Script};

use crate::talk::{ask, brain, brain_with, config, error_of, patience, shown, text};

#[tokio::test]
async fn what_passes_is_asked_again() {
    for format in Format::ALL {
        for status in [429, 500, 502, 503, 529] {
            let server = ModelServer::start(
                format,
                [
                    Script::status(status),
                    Script::status(status),
                    Script::says("hello"),
                ],
            );
            let (reply, events) = ask(&*brain(format, &server)).await;
            assert_eq!(
                reply.unwrap().blocks,
                [text("hello")],
                "{format:?} {status}"
            );
            assert_eq!(events, [shown("hello")]);
            let bodies = server.bodies();
            assert_eq!(bodies.len(), 3);
            assert!(
                bodies.iter().all(|body| *body == bodies[0]),
                "the same question"
            );
        }
    }
}

#[tokio::test]
async fn tries_are_counted() {
    for format in Format::ALL {
        let scripts = std::iter::repeat_n(Script::status(529), 9);
        let (error, _, asked) = error_of(format, scripts, patience()).await;
        assert_eq!((error.kind, asked), (Kind::Overloaded, 3), "{format:?}");
    }
}

#[tokio::test]
async fn what_cannot_pass_is_asked_once() {
    for format in Format::ALL {
        for status in [301, 400, 401, 403, 404, 413] {
            let scripts = [Script::status(status), Script::says("hello")];
            let (_, _, asked) = error_of(format, scripts, patience()).await;
            assert_eq!(asked, 1, "{format:?} {status}");
        }
    }
}

#[tokio::test]
async fn retry_after_is_waited_for() {
    for format in Format::ALL {
        let script = Script::status(429).header("retry-after", "0.4");
        let server = ModelServer::start(format, [script, Script::says("hello")]);
        let begun = Instant::now();
        ask(&*brain(format, &server)).await.0.unwrap();
        assert!(begun.elapsed() >= Duration::from_millis(400), "{format:?}");
    }
}

#[tokio::test]
async fn a_long_retry_after_is_the_callers_to_wait() {
    for format in Format::ALL {
        let script = || Script::status(429).header("retry-after", "30");
        let (error, _, asked) = error_of(format, [script(), script()], patience()).await;
        assert_eq!(error.retry, Retry::After(Duration::from_secs(30)));
        assert_eq!((error.kind, asked), (Kind::RateLimited, 1), "{format:?}");
    }
}

#[tokio::test]
async fn an_error_event_before_the_first_word_is_asked_again() {
    for format in Format::ALL {
        let early = Script::new().error("overloaded_error", "Overloaded");
        let server = ModelServer::start(format, [early, Script::says("hello")]);
        let (reply, _) = ask(&*brain(format, &server)).await;
        assert_eq!(reply.unwrap().blocks, [text("hello")], "{format:?}");
        assert_eq!(server.requests().len(), 2);
    }
}

#[tokio::test]
async fn after_the_first_word_nothing_is_asked_again() {
    for format in Format::ALL {
        for begun in [
            Script::says("Caddy"),
            Script::new().thinking("Hm", "sig"),
            Script::new().tool_pieces("a", "search", &["{}"]),
        ] {
            for broken in [
                begun.clone().error("overloaded_error", "Overloaded"),
                begun.clone().end(),
                begun.clone().cut(),
            ] {
                let scripts = [broken, Script::says("hello")];
                let (error, _, asked) = error_of(format, scripts, patience()).await;
                assert_eq!(asked, 1, "{format:?} {error}");
                assert!(
                    error.usage.is_estimate && error.usage.input > 0,
                    "{error:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_said_to_be_so() {
    for format in Format::ALL {
        let base = format!("http://127.0.0.1:{}", free_port());
        let brain = brain_with(format, config(&base, patience()));
        let error = ask(&*brain).await.0.unwrap_err();
        assert_eq!(error.kind, Kind::Unreachable, "{error}");
        assert_eq!(error.retry, Retry::After(Duration::ZERO));
        assert!(error.message.contains("refused"), "{error}");
    }
}
