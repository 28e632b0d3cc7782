//! Secrets that nobody may find, in any spelling.

use std::io;
use std::sync::{Mutex, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use tracing_subscriber::fmt::MakeWriter;

#[derive(Default)]
pub(crate) struct Canaries(Vec<(&'static str, Vec<String>)>);

impl Canaries {
    pub(crate) fn plant(&mut self, name: &'static str, text: &str) {
        assert!(text.len() >= 12, "too short to be searched for");
        self.0.push((name, spellings(text)));
    }

    pub(crate) fn assert_absent(&self, place: &str, text: &str) {
        for (name, spellings) in &self.0 {
            let found = spellings
                .iter()
                .find(|spelling| text.contains(spelling.as_str()));
            assert_eq!(found, None, "{name} is in {place}");
        }
    }
}

/// As it is, backwards, in hexadecimal, and in base64 at each of the three places it can have.
fn spellings(secret: &str) -> Vec<String> {
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let backwards = secret.chars().rev().collect();
    let mut spellings = vec![secret.to_owned(), backwards, hex.to_uppercase(), hex];
    for shift in 0..3 {
        let shifted = format!("{}{secret}", "x".repeat(shift));
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            let encoded = engine.encode(&shifted);
            // What the neighbours decide is left out.
            let (from, to) = ((shift * 8).div_ceil(6), shifted.len() * 8 / 6);
            spellings.push(encoded[from..to].to_owned());
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

/// Keeps everything that this process logs, at the finest level.
pub(crate) fn listen_to_the_log() {
    static LISTENING: OnceLock<()> = OnceLock::new();
    LISTENING.get_or_init(|| {
        tracing_subscriber::fmt()
            .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
            .with_ansi(false)
            .with_writer(Log)
            .init();
    });
}

pub(crate) fn log() -> String {
    String::from_utf8_lossy(&LOG.lock().unwrap()).into_owned()
}
