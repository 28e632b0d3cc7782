//! How fast and how exact the index is beside a scan of all vectors, on the seeded corpus.
//!
//! Both are timed by what their thread computed: a busy machine makes neither of them look slower.
//!
//!     cargo run --release -p void-embeddings --example search-speed -- 100000 1000000

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use void_embeddings::corpora::CorpusShape;
use void_embeddings::speed::measure;

const QUERIES: usize = 50;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for argument in std::env::args().skip(1) {
        let shape = CorpusShape::texts(argument.parse()?);
        let speed = measure(shape, QUERIES, &computed)?;
        println!("{speed}");
    }
    Ok(())
}

fn computed() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}
