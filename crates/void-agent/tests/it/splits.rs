//! The same bytes in any pieces are the same reply.

use serde_json::json;
use void_agent::brains::{BrainEvent, Reply};
use void_testkit::models::{Format, ModelServer, Script, recorded};

use crate::talk::{ask, brain};

/// Longer than any event's beginning, so that two splits seldom meet in one token.
const STRIDE: usize = 61;

fn recording(format: Format) -> Vec<u8> {
    let script = Script::new()
        .thinking("hm…", "s")
        .texts(["Grüße 🙂", "\n\"x\"\\"])
        .tool_pieces("a", "f", &["{\"é\":\"\\ud83d", "\\ude42\"}"])
        .tool("g", &json!({"n": [1, null]}))
        .usage(7, 9);
    recorded(format, &script)
}

/// Joined, because where the text is cut is the server's business.
fn told(events: &[BrainEvent]) -> String {
    let told = events.iter().map(|event| match event {
        BrainEvent::Text(text) => text.clone(),
        BrainEvent::ToolStarted { name } => format!("<{name}>"),
    });
    told.collect()
}

async fn whole(format: Format) -> (Reply, String) {
    let server = ModelServer::start(format, [Script::raw_stream(recording(format))]);
    let (reply, events) = ask(&*brain(format, &server)).await;
    (reply.unwrap(), told(&events))
}

/// Every position is a split in one of the answers; splits of one answer are far apart.
async fn every_position(format: Format) {
    let bytes = recording(format);
    let expected = whole(format).await;
    assert_eq!(expected.0.blocks.len(), 4, "{expected:?}");
    let scripts = (0..STRIDE).map(|first| {
        let positions = (first..bytes.len()).step_by(STRIDE);
        Script::raw_stream(bytes.clone()).split_at(positions)
    });
    let server = ModelServer::start(format, scripts.collect::<Vec<_>>());
    let brain = brain(format, &server);
    for first in 0..STRIDE {
        let (reply, events) = ask(&*brain).await;
        assert_eq!(
            (reply.unwrap(), told(&events)),
            expected,
            "{format:?} from {first}"
        );
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn anthropic_split_at_every_position() {
    every_position(Format::Anthropic).await;
}

#[tokio::test]
async fn openai_split_at_every_position() {
    every_position(Format::OpenAi).await;
}

#[tokio::test]
async fn ollama_split_at_every_position() {
    every_position(Format::Ollama).await;
}

#[tokio::test]
async fn split_everywhere_and_at_random() {
    for format in Format::ALL {
        let bytes = recording(format);
        let expected = whole(format).await;
        let mut scripts = vec![Script::raw_stream(bytes.clone()).chunks_of(1)];
        for seed in 1..=24_u64 {
            let mut random = Random(seed);
            let positions = (0..bytes.len()).filter(|_| random.next().is_multiple_of(7));
            scripts.push(Script::raw_stream(bytes.clone()).split_at(positions.collect::<Vec<_>>()));
        }
        let count = scripts.len();
        let server = ModelServer::start(format, scripts);
        let brain = brain(format, &server);
        for seed in 0..count {
            let (reply, events) = ask(&*brain).await;
            assert_eq!(
                (reply.unwrap(), told(&events)),
                expected,
                "{format:?} seed {seed}"
            );
        }
    }
}

/// xorshift64: the same splits every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
