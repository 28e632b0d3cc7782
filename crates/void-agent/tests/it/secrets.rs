//! The key goes to its server and nowhere else: not to another address, not into words, not into logs.

use std::io;
use std::sync::{Arc, Mutex};

use tracing_subscriber::fmt::MakeWriter;
use void_agent::brains::{AnthropicBrain, InvalidBrain, OllamaBrain, OpenAiBrain};
use void_domain::secrets::Secret;
use void_testkit::models::{Format, ModelServer, Script};

use crate::talk::{KEY, ask, brain, config, error_of, patience};

#[tokio::test]
async fn redirects_are_not_followed() {
    for format in Format::ALL {
        let elsewhere = ModelServer::with(format, |_| Script::says("give me the key"));
        for status in [301, 302, 303, 307, 308] {
            let target = elsewhere.base_url();
            let script = Script::status(status).header("location", &target);
            let (error, _, asked) = error_of(format, [script], patience()).await;
            assert_eq!(asked, 1);
            assert!(error.message.contains("redirect"), "{error}");
            assert!(!error.message.contains(&target), "{error}");
        }
        assert_eq!(elsewhere.connections(), 0, "{format:?}");
    }
}

#[tokio::test]
async fn a_server_that_repeats_the_key_is_not_quoted() {
    let quotes = [
        format!("Incorrect API key provided: {KEY}"),
        format!("header was Bearer {KEY}; {}", "x".repeat(400)),
        format!("{}{KEY}", "x".repeat(290)),
        KEY[5..20].to_owned(),
    ];
    for format in Format::ALL {
        for quote in &quotes {
            for script in [
                Script::status(400).refusing("invalid_request_error", quote),
                Script::status(401).refusing("authentication_error", quote),
                Script::status(404).refusing("not_found_error", quote),
                Script::says("x").error("invalid_request_error", quote),
                Script::says("x").error("authentication_error", quote),
            ] {
                let (error, _, _) = error_of(format, [script], patience()).await;
                let told = format!("{error} {error:?}");
                assert!(!told.contains(&KEY[8..18]), "{format:?} {told}");
            }
        }
    }
}

#[test]
fn debug_shows_no_key() {
    let config = || config("http://127.0.0.1:1", patience());
    let shown = [
        format!("{:?}", config()),
        format!("{:?}", AnthropicBrain::new(config()).unwrap()),
        format!("{:?}", OpenAiBrain::new(config()).unwrap()),
        format!("{:?}", OllamaBrain::new(config()).unwrap()),
    ];
    for shown in shown {
        assert!(!shown.contains(&KEY[8..]), "{shown}");
    }
}

#[test]
fn a_key_that_no_header_carries_is_refused_without_showing_it() {
    for key in ["two\nlines", "nul\0", "bell\u{7}"] {
        let mut config = config("http://127.0.0.1:1", patience());
        config.key = Some(Secret::new(key));
        assert_eq!(
            AnthropicBrain::new(config.clone()).unwrap_err(),
            InvalidBrain::Key
        );
        let error = OpenAiBrain::new(config).unwrap_err();
        assert!(!error.to_string().contains(&key[..3]), "{error}");
    }
    let mut config = config("http://127.0.0.1:1", patience());
    config.model = " ".to_owned();
    assert_eq!(OllamaBrain::new(config).unwrap_err(), InvalidBrain::Model);
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// On one thread, so that everything that happens is seen by this subscriber.
#[tokio::test(flavor = "current_thread")]
async fn the_log_has_no_key_at_any_level() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_writer(log.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    for format in Format::ALL {
        let quote = format!("no: {KEY}");
        let scripts = [
            Script::status(529).refusing("overloaded_error", &quote),
            Script::says("x").error("api_error", &quote),
        ];
        let server = ModelServer::start(format, scripts);
        ask(&*brain(format, &server)).await.0.unwrap_err();
        assert_eq!(
            server.requests().len(),
            2,
            "it was retried, which is logged"
        );
    }
    let written = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(written.contains("asking again"), "{written}");
    assert!(!written.contains(&KEY[8..18]), "{written}");
}
