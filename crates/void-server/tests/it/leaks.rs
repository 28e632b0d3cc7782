//! Secrets of a test and the places where they must not be: answers and log lines, raw or encoded.

use std::io;
use std::sync::{Mutex, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use reqwest::Method;
use tracing_subscriber::fmt::MakeWriter;

use crate::callers::{HttpResponse, Shows};

#[derive(Default)]
pub struct Secrets(Mutex<Vec<Secret>>);

struct Secret {
    text: String,
    spellings: Vec<String>,
}

impl Secrets {
    pub fn add(&self, text: &str) {
        assert!(text.len() >= 12, "too short to be searched for: {text}");
        let secret = Secret {
            text: text.to_owned(),
            spellings: spellings(text),
        };
        self.0.lock().unwrap().push(secret);
    }

    /// The first secret that is in the text.
    pub fn found_in(&self, text: &str) -> Option<String> {
        let secrets = self.0.lock().unwrap();
        let found = secrets.iter().find(|secret| {
            let mut spellings = secret.spellings.iter();
            spellings.any(|spelling| text.contains(spelling.as_str()))
        });
        found.map(|secret| secret.text.clone())
    }

    /// The answers that hand out a secret hand out a new one, which is not known here yet. A cookie
    /// that is to be kept longer goes back to who showed it, and to nobody else.
    pub fn assert_absent(&self, method: &Method, path: &str, answer: &HttpResponse, shows: &Shows) {
        let mut headers = exposed(answer);
        if let Shows::Cookie(own) = shows {
            let is_own = |value: &str| value.starts_with(&format!("{own}; "));
            headers.retain(|(name, value)| name != "set-cookie" || !is_own(value));
        }
        let whole = format!("{headers:?}\n{}", answer.text);
        assert_eq!(
            self.found_in(&whole),
            None,
            "in the answer to {method} {path}"
        );
    }
}

/// Header values as bytes: `Debug` of a sensitive one would hide what was sent.
fn exposed(answer: &HttpResponse) -> Vec<(String, String)> {
    let text = |value: &reqwest::header::HeaderValue| {
        String::from_utf8_lossy(value.as_bytes()).into_owned()
    };
    let headers = answer.headers.iter();
    headers
        .map(|(name, value)| (name.to_string(), text(value)))
        .collect()
}

/// As it is, in hexadecimal, and in base64 at each of the three places it can have in a longer text.
fn spellings(secret: &str) -> Vec<String> {
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut spellings = vec![secret.to_owned(), hex.to_uppercase(), hex];
    for shift in 0..3 {
        let shifted = format!("{}{secret}", "x".repeat(shift));
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            let encoded = engine.encode(&shifted);
            // What the neighbours decide is left out.
            let from = (shift * 8).div_ceil(6);
            let to = shifted.len() * 8 / 6;
            spellings.push(encoded.get(from..to).unwrap().to_owned());
        }
    }
    spellings
}

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

#[derive(Clone, Copy)]
struct Log;

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        *self
    }
}

/// Everything that this process logs, at the finest level.
pub fn listen_to_the_log() {
    static LISTENING: OnceLock<()> = OnceLock::new();
    LISTENING.get_or_init(|| {
        tracing_subscriber::fmt()
            .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
            .with_ansi(false)
            .with_writer(Log)
            .init();
    });
}

pub fn log() -> String {
    String::from_utf8_lossy(&LOG.lock().unwrap()).into_owned()
}

pub fn assert_not_logged(secrets: &Secrets) {
    assert_eq!(secrets.found_in(&log()), None, "in the log");
}

#[test]
fn every_spelling_is_found() {
    let secrets = Secrets::default();
    secrets.add("owner-0123456789abcdef");
    let inside = |text: &str| secrets.found_in(text).is_some();
    assert!(!inside("owner-0123456789abcdeX"));
    assert!(inside("x owner-0123456789abcdef y"));
    for before in 0..6 {
        let longer = format!("{}owner-0123456789abcdef and more", "-".repeat(before));
        assert!(inside(&STANDARD_NO_PAD.encode(&longer)), "{before}");
        assert!(inside(&URL_SAFE_NO_PAD.encode(&longer)), "{before}");
    }
    assert!(inside("6f776e65722d30313233343536373839616263646566"));
}
