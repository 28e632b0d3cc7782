//! Passing an answer on. A task of its own reads it, so that a reader who stops reading holds up neither
//! the count nor the end of the turn.

use std::time::Duration;

use reqwest::Response;
use tokio::sync::mpsc;

use crate::brains::{Meter, STREAM_BYTES_MAX};
use crate::turns::ModelCall;

/// The answer ends before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the answer broke off")]
pub struct Torn;

pub(super) async fn pump(
    mut response: Response,
    call: ModelCall,
    mut meter: Meter,
    silence_max: Duration,
    pieces: mpsc::Sender<Result<Vec<u8>, Torn>>,
) {
    let passing = pass(&mut response, &mut meter, silence_max, &pieces);
    let passed = tokio::select! {
        biased;
        () = call.over() => Err(Torn),
        passed = passing => passed,
    };
    drop(response);
    call.finish(meter.settle());
    if let Err(torn) = passed {
        // Whoever does not listen any more does not miss it.
        let _ = pieces.try_send(Err(torn));
    }
}

async fn pass(
    response: &mut Response,
    meter: &mut Meter,
    silence_max: Duration,
    pieces: &mpsc::Sender<Result<Vec<u8>, Torn>>,
) -> Result<(), Torn> {
    let mut total: usize = 0;
    loop {
        let chunk = tokio::time::timeout(silence_max, response.chunk()).await;
        let Some(chunk) = chunk.map_err(|_| Torn)?.map_err(|_| Torn)? else {
            return Ok(());
        };
        total += chunk.len();
        if total > STREAM_BYTES_MAX {
            return Err(Torn);
        }
        meter.see(&chunk);
        pieces.send(Ok(chunk.to_vec())).await.map_err(|_| Torn)?;
    }
}
