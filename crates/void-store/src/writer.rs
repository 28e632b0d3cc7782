//! What the writers of both engines share: a use case waiting for its turn, and how it is answered.

use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use crate::errors::StoreError;
use crate::tx::Tx;

/// How many use cases share one commit at the most.
pub(crate) const BATCH_MAX: usize = 256;
/// How many may wait for the writer; more wait outside, in their own tasks.
pub(crate) const QUEUE_MAX: usize = 1_024;

/// Whether a write starts something or brings something to its end. When the disk is nearly full,
/// new work is refused so that rejecting, freezing and recording an outcome still fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urgency {
    New,
    Closing,
}

/// A use case on its way to the writer.
pub(crate) trait Job: Send {
    fn urgency(&self) -> Urgency;
    fn run<'t>(self: Box<Self>, tx: &'t mut Tx) -> BoxFuture<'t, Done>;
    /// Answers without having run.
    fn refuse(self: Box<Self>, error: StoreError);
}

/// A use case that ran: keep or roll back what it wrote, and how to tell its caller.
pub(crate) struct Done {
    pub keep: bool,
    /// Called once the fate of the commit is known.
    pub answer: Box<dyn FnOnce(Result<(), StoreError>) + Send>,
}

pub(crate) struct UseCase<T, E, F> {
    pub urgency: Urgency,
    pub body: F,
    pub reply: oneshot::Sender<Result<T, E>>,
}

impl<T, E, F> Job for UseCase<T, E, F>
where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
    F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
{
    fn urgency(&self) -> Urgency {
        self.urgency
    }

    fn run<'t>(self: Box<Self>, tx: &'t mut Tx) -> BoxFuture<'t, Done> {
        let Self { body, reply, .. } = *self;
        Box::pin(async move {
            let outcome = body(tx).await;
            Done {
                keep: outcome.is_ok(),
                answer: Box::new(move |committed| {
                    let answer = match (outcome, committed) {
                        (Ok(_), Err(error)) => Err(E::from(error)),
                        (outcome, _) => outcome,
                    };
                    // A caller that went away changes nothing.
                    let _ = reply.send(answer);
                }),
            }
        })
    }

    fn refuse(self: Box<Self>, error: StoreError) {
        let _ = self.reply.send(Err(E::from(error)));
    }
}
