//! What the writers of both engines share: a use case waiting for its turn, and how it is answered.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

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
    /// Says that the database went back and voids what waited in it; runs only then, and nothing else does.
    Repair,
}

/// A use case on its way to the writer.
pub(crate) trait Job: Send {
    fn urgency(&self) -> Urgency;
    fn run<'t>(self: Box<Self>, tx: &'t mut Tx) -> BoxFuture<'t, Done>;
    /// Answers for a use case that was begun and could not be brought to its end.
    fn refuser(&self) -> Box<dyn FnOnce(StoreError) + Send>;
    /// Answers without having run.
    fn refuse(self: Box<Self>, error: StoreError);
}

/// Whether a use case may run in this batch.
pub(crate) fn admit(urgency: Urgency, rolled_back: bool) -> Result<(), StoreError> {
    match (urgency, rolled_back) {
        (Urgency::New | Urgency::Closing, false) | (Urgency::Repair, true) => Ok(()),
        (Urgency::New | Urgency::Closing, true) => Err(StoreError::RolledBack),
        (Urgency::Repair, false) => Err(StoreError::Internal(
            "there is nothing to repair".to_owned(),
        )),
    }
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
    pub reply: Reply<T, E>,
    /// The caller's place in the queue, given back when it has run.
    pub place: Option<OwnedSemaphorePermit>,
}

type Answerer<T, E> = oneshot::Sender<Result<T, E>>;

/// Answers once; whoever comes later says nothing.
pub(crate) struct Reply<T, E>(Arc<Mutex<Option<Answerer<T, E>>>>);

impl<T, E> Reply<T, E> {
    pub(crate) fn new(sender: Answerer<T, E>) -> Self {
        Self(Arc::new(Mutex::new(Some(sender))))
    }

    fn send(&self, answer: Result<T, E>) {
        let sender = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(sender) = sender {
            // A caller that went away changes nothing.
            let _ = sender.send(answer);
        }
    }
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
        let Self {
            body, reply, place, ..
        } = *self;
        Box::pin(async move {
            let outcome = body(tx).await;
            drop(place);
            Done {
                keep: outcome.is_ok(),
                answer: Box::new(move |committed| {
                    let answer = match (outcome, committed) {
                        (Ok(_), Err(error)) => Err(E::from(error)),
                        (outcome, _) => outcome,
                    };
                    reply.send(answer);
                }),
            }
        })
    }

    fn refuser(&self) -> Box<dyn FnOnce(StoreError) + Send> {
        let reply = Reply(Arc::clone(&self.reply.0));
        Box::new(move |error| reply.send(Err(E::from(error))))
    }

    fn refuse(self: Box<Self>, error: StoreError) {
        self.reply.send(Err(E::from(error)));
    }
}
