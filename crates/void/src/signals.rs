//! The signals that a server is told to stop and to reload by. The streams are made once: what arrives while the
//! server is busy with the signal before waits in them instead of being lost.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use void_domain::failures::FailureCode;

use crate::exit::CommandError;

pub(crate) enum Told {
    ToStop,
    ToReload,
}

pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Hangup,
}

/// Watched before anything else is: left to itself this signal ends a server that is still starting.
pub(crate) struct Hangup(Signal);

impl Hangup {
    pub(crate) fn watch() -> Result<Self, CommandError> {
        signal(SignalKind::hangup()).map(Self).map_err(unwatched)
    }
}

impl Signals {
    /// From now on the process ends by its own doing only.
    pub(crate) fn watch(hangup: Hangup) -> Result<Self, CommandError> {
        Ok(Self {
            terminate: signal(SignalKind::terminate()).map_err(unwatched)?,
            interrupt: signal(SignalKind::interrupt()).map_err(unwatched)?,
            hangup,
        })
    }

    /// What it was told and has not heard yet; stopping comes first.
    pub(crate) async fn next(&mut self) -> Told {
        tokio::select! {
            biased;
            _ = self.terminate.recv() => Told::ToStop,
            _ = self.interrupt.recv() => Told::ToStop,
            _ = self.hangup.0.recv() => Told::ToReload,
        }
    }

    /// Until it is told to stop.
    pub(crate) async fn stop(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

fn unwatched(error: io::Error) -> CommandError {
    CommandError::failed(
        FailureCode::Internal,
        format!("signals cannot be watched: {error}"),
    )
}
