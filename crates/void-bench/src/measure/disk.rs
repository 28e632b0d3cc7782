//! How often a second the disk makes a small append durable: what bounds one writer without batches.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Outcome;
use crate::servers::folder_in;
use crate::statistics::Round;

/// One page of the write-ahead log with its header.
const APPEND_BYTES: usize = 4_096 + 24;

pub(crate) fn measure(place: &Path, duration: Duration) -> Outcome<Value> {
    let folder = folder_in(place)?;
    let mut file = File::create(folder.path().join("flushes"))?;
    let bytes = [0x5a; APPEND_BYTES];
    let mut micros = Vec::new();
    let begun = Instant::now();
    while begun.elapsed() < duration {
        let asked = Instant::now();
        file.write_all(&bytes)?;
        file.sync_data()?;
        micros.push(u32::try_from(asked.elapsed().as_micros()).unwrap_or(u32::MAX));
    }
    Ok(Round::new(micros, begun.elapsed()).to_json())
}
