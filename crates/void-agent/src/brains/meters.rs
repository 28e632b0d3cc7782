//! Counts the tokens of an answer that somebody else reads: it looks at the bytes as they pass.

use serde_json::Value;

use super::anthropic::MessageReader;
use super::exchanges::{Progress, Reader as _};
use super::frames::{Frames, Framing};
use super::tallies::Tally;
use super::{STREAM_BYTES_MAX, Usage};

pub(crate) struct Meter {
    prompt_bytes: usize,
    answer: MeteredBody,
}

enum MeteredBody {
    /// It costs nothing.
    Free,
    Stream(Box<Stream>),
    /// One JSON object.
    Whole(Vec<u8>),
}

struct Stream {
    frames: Frames,
    reader: MessageReader,
    /// Something in it could not be read; what was counted until then stands.
    is_lost: bool,
}

impl Meter {
    pub(crate) fn free() -> Self {
        Self {
            prompt_bytes: 0,
            answer: MeteredBody::Free,
        }
    }

    pub(crate) fn of_stream(prompt_bytes: usize) -> Self {
        let stream = Stream {
            frames: Frames::new(Framing::Events),
            reader: MessageReader::default(),
            is_lost: false,
        };
        Self {
            prompt_bytes,
            answer: MeteredBody::Stream(Box::new(stream)),
        }
    }

    pub(crate) fn of_object(prompt_bytes: usize) -> Self {
        Self {
            prompt_bytes,
            answer: MeteredBody::Whole(Vec::new()),
        }
    }

    pub(crate) fn see(&mut self, bytes: &[u8]) {
        match &mut self.answer {
            MeteredBody::Free => {}
            MeteredBody::Stream(stream) => stream.see(bytes),
            MeteredBody::Whole(seen) => {
                let room = STREAM_BYTES_MAX - seen.len();
                seen.extend_from_slice(bytes.get(..room.min(bytes.len())).unwrap_or_default());
            }
        }
    }

    /// What it came to, also if the answer broke off.
    pub(crate) fn settle(self) -> Usage {
        let prompt_bytes = self.prompt_bytes;
        match self.answer {
            MeteredBody::Free => Usage::default(),
            MeteredBody::Stream(stream) => {
                let (tally, bytes) = (stream.reader.tally(), stream.reader.reply_bytes());
                let is_whole = matches!(stream.reader.progress(), Progress::Whole | Progress::Over);
                if is_whole {
                    tally.settle(prompt_bytes, bytes)
                } else {
                    tally.settle_torn(prompt_bytes, bytes)
                }
            }
            MeteredBody::Whole(seen) => tally_of(&seen).settle(prompt_bytes, seen.len()),
        }
    }
}

impl Stream {
    fn see(&mut self, bytes: &[u8]) {
        if self.is_lost {
            return;
        }
        self.frames.push(bytes);
        loop {
            match self.frames.next() {
                Ok(None) => return,
                Ok(Some(frame)) if !frame.is_error => {
                    self.is_lost = self.reader.event(frame.data, &mut |_| {}).is_err();
                }
                Ok(Some(_)) | Err(_) => self.is_lost = true,
            }
            if self.is_lost {
                return;
            }
        }
    }
}

fn tally_of(object: &[u8]) -> Tally {
    let value: Value = serde_json::from_slice(object).unwrap_or_default();
    let count = |name: &str| value.get("usage")?.get(name)?.as_u64();
    Tally {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cache_read: count("cache_read_input_tokens").unwrap_or(0),
        cache_write: count("cache_creation_input_tokens").unwrap_or(0),
    }
}
