//! One question and its streamed answer, the same way for every format: send, cut into frames, hand
//! each to the format's reader, judge how it ended, ask again if nothing had come.
//!
//! A piece of text of 20 bytes costs 1 to 4 µs from the socket to the callback, whatever came before it
//! (release build, two busy cores, `tests/it/speed.rs`): only the unfinished line is kept, and nothing
//! is copied again as the answer grows.

use std::time::Duration;

use reqwest::Response;
use serde_json::Value;

use super::endpoints::Endpoint;
use super::errors::{BrainError, BrainErrorKind};
use super::frames::{Frame, Frames, Framing, TooLong};
use super::refusals::ProviderError;
use super::tallies::Tally;
use super::{ARGUMENTS_BYTES_MAX, BLOCKS_MAX, Block, OnEvent, Prompt, Reply, Stop, Usage};
use super::{refusals, retries};

/// A whole answer with its framing: some hundred times what a turn may write.
pub const STREAM_BYTES_MAX: usize = 8 * 1024 * 1024;
/// For what may follow when the answer is known to be whole: counters, a last mark.
const TAIL_PATIENCE: Duration = Duration::from_secs(2);
/// For the end of the transfer behind the last mark, so that the connection can be used again.
const DRAIN_PATIENCE: Duration = Duration::from_millis(50);

/// A wire format.
pub(super) trait Wire: Sync {
    type Reader: Reader;
    const FRAMING: Framing;

    fn endpoint(&self) -> &Endpoint;
    fn request(&self, prompt: &Prompt) -> Value;
    fn reader(&self, prompt: &Prompt) -> Self::Reader;

    /// Words that this format knows better.
    fn explain(&self, error: BrainError) -> BrainError {
        error
    }
}

/// Builds the reply from the frames of a format.
pub(super) trait Reader: Send {
    fn take(&mut self, frame: &Frame<'_>, on_event: OnEvent<'_>) -> Result<(), Fault>;
    fn progress(&self) -> Progress;
    fn tally(&self) -> Tally;
    /// Of the blocks so far.
    fn reply_bytes(&self) -> usize;
    fn finish(self) -> (Vec<Block>, Stop);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// Nothing of an answer yet: asking again hurts nobody.
    Waiting,
    Begun,
    /// The model has said why it stopped.
    Whole,
    /// The format's last mark.
    Over,
}

/// What is wrong with a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Not the format; what was expected instead.
    Malformed(&'static str),
    /// Above a bound; which one.
    TooLarge(String),
    /// The server reports an error of its own.
    ProviderError(ProviderError),
}

pub(super) async fn answer<W: Wire>(
    wire: &W,
    prompt: &Prompt,
    on_event: OnEvent<'_>,
) -> Result<Reply, BrainError> {
    let endpoint = wire.endpoint();
    let body = wire.request(prompt).to_string().into_bytes();
    let (mut tries, mut spent) = (0, Usage::default());
    loop {
        let mut reader = wire.reader(prompt);
        let asked = ask::<W>(endpoint, body.clone(), &mut reader, on_event).await;
        let Err(mut error) = asked else {
            let usage = reader.tally().settle(body.len(), reader.reply_bytes());
            let (blocks, stop) = reader.finish();
            let stop = stop.agreeing_with(&blocks);
            let usage = spent.plus(usage);
            return Ok(Reply {
                blocks,
                stop,
                usage,
                session: None,
            });
        };
        let tally = reader.tally();
        if reader.progress() != Progress::Waiting || tally.input.is_some() {
            spent = spent.plus(tally.settle_torn(body.len(), reader.reply_bytes()));
        }
        error.usage = spent;
        let pause = retries::pause(&error, tries, &endpoint.patience);
        let Some(pause) = pause.filter(|_| reader.progress() == Progress::Waiting) else {
            return Err(wire.explain(error));
        };
        tracing::debug!(
            brain = endpoint.who,
            code = %error.code(),
            ?pause,
            "asking again"
        );
        tokio::time::sleep(pause).await;
        tries += 1;
    }
}

async fn ask<W: Wire>(
    endpoint: &Endpoint,
    body: Vec<u8>,
    reader: &mut W::Reader,
    on_event: OnEvent<'_>,
) -> Result<(), BrainError> {
    let mut response = endpoint.send(body).await?;
    let mut frames = Frames::new(W::FRAMING);
    let (mut stream_bytes, mut frames_seen) = (0_usize, 0_usize);
    while reader.progress() != Progress::Over {
        let is_whole = reader.progress() == Progress::Whole;
        let patience = if is_whole {
            TAIL_PATIENCE
        } else {
            endpoint.patience.read
        };
        let chunk = match tokio::time::timeout(patience, response.chunk()).await {
            Ok(Ok(Some(chunk))) => chunk,
            Ok(Err(_)) | Err(_) if is_whole => break,
            Ok(Ok(None)) => {
                frames.end();
                let read = take_all(&mut frames, reader, on_event);
                return judge_end(endpoint, reader, read, stream_bytes, frames_seen);
            }
            Ok(Err(_)) => return Err(broke_off(endpoint)),
            Err(_) => {
                let words = format!("fell silent for {patience:?} in its answer");
                return Err(endpoint.error(BrainErrorKind::TimedOut, &words, None));
            }
        };
        stream_bytes += chunk.len();
        frames.push(&chunk);
        let read = take_all(&mut frames, reader, on_event);
        frames_seen += read.map_err(|fault| fault.into_error(endpoint))?;
        if stream_bytes > STREAM_BYTES_MAX {
            let words = format!("does not stop: more than {STREAM_BYTES_MAX} bytes");
            return Err(endpoint.error(BrainErrorKind::AnswerTooLarge, &words, None));
        }
    }
    drain(response).await;
    Ok(())
}

/// The number of frames, for telling a page that is no stream at all.
fn take_all<R: Reader>(
    frames: &mut Frames,
    reader: &mut R,
    on_event: OnEvent<'_>,
) -> Result<usize, Fault> {
    let mut count = 0;
    while let Some(frame) = frames.next()? {
        if reader.progress() == Progress::Over {
            break;
        }
        reader.take(&frame, on_event)?;
        count += 1;
    }
    Ok(count)
}

/// The transfer is complete; is the answer? A torn last frame is a torn answer, not a strange one.
fn judge_end<R: Reader>(
    endpoint: &Endpoint,
    reader: &R,
    last: Result<usize, Fault>,
    stream_bytes: usize,
    frames_seen: usize,
) -> Result<(), BrainError> {
    if matches!(reader.progress(), Progress::Whole | Progress::Over) {
        return Ok(());
    }
    match last {
        Err(fault @ (Fault::ProviderError(_) | Fault::TooLarge(_))) => {
            Err(fault.into_error(endpoint))
        }
        Ok(0) if frames_seen == 0 && stream_bytes > 0 => {
            Err(Fault::Malformed("a stream").into_error(endpoint))
        }
        Ok(_) | Err(Fault::Malformed(_)) => Err(broke_off(endpoint)),
    }
}

fn broke_off(endpoint: &Endpoint) -> BrainError {
    let words = "broke off in the middle of its answer";
    endpoint.error(BrainErrorKind::BrokenOff, words, None)
}

async fn drain(mut response: Response) {
    let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
    let _ = tokio::time::timeout(DRAIN_PATIENCE, rest).await;
}

impl Fault {
    pub(super) fn too_many_blocks() -> Self {
        Self::TooLarge(format!("more than {BLOCKS_MAX} parts"))
    }

    pub(super) fn arguments_too_large() -> Self {
        Self::TooLarge(format!(
            "more than {ARGUMENTS_BYTES_MAX} bytes of arguments for a tool"
        ))
    }

    fn into_error(self, endpoint: &Endpoint) -> BrainError {
        match self {
            Self::Malformed(what) => {
                let words = format!("does not answer in its format; {what} was expected");
                endpoint.error(BrainErrorKind::BadAnswer, &words, None)
            }
            Self::TooLarge(what) => {
                let words = format!("answers with {what}");
                endpoint.error(BrainErrorKind::AnswerTooLarge, &words, None)
            }
            Self::ProviderError(said) => refusals::of(endpoint, said.kind(), &said, ""),
        }
    }
}

impl From<TooLong> for Fault {
    fn from(_: TooLong) -> Self {
        Self::TooLarge(format!(
            "more than {} bytes in one event",
            super::FRAME_BYTES_MAX
        ))
    }
}
