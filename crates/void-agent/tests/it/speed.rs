//! What a piece of text costs. The number is printed; the bound only catches what grows with the
//! length of the answer, on a slow and busy machine, in a debug build.

use std::time::{Duration, Instant};

use void_testkit::models::{Format, ModelServer, Script};

use crate::talk::{ask, brain};

const PIECES: u32 = 20_000;
const PIECE_MAX: Duration = Duration::from_micros(200);

#[tokio::test]
async fn a_piece_costs_microseconds() {
    for format in Format::ALL {
        let script = (0..PIECES).fold(Script::new(), |script, _| {
            script.text("twenty bytes of text")
        });
        let recorded = void_testkit::models::recorded(format, &script);
        let script = Script::raw_stream(recorded).chunks_of(16 * 1024);
        let server = ModelServer::start(format, [script]);
        let brain = brain(format, &server);
        let begun = Instant::now();
        let (reply, events) = ask(&*brain).await;
        let each = begun.elapsed() / PIECES;
        assert_eq!(events.len(), PIECES as usize);
        assert_eq!(reply.unwrap().blocks.len(), 1);
        println!("{format:?}: {each:?} a piece");
        assert!(each < PIECE_MAX, "{format:?}: {each:?} a piece");
    }
}
