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
    /// Whether it may run beside others, and again if what it wrote was rolled back with theirs.
    fn is_shared(&self) -> bool;
    fn run<'t>(&'t mut self, tx: &'t mut Tx) -> BoxFuture<'t, Done>;
    /// Answers a use case that was not run, or not brought to its end.
    fn refuse(&self, error: StoreError);
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

/// What both kinds of use cases have.
pub(crate) struct Order<T, E> {
    pub urgency: Urgency,
    pub reply: Reply<T, E>,
    /// The caller's place in the queue, given back when it has run.
    pub place: Option<OwnedSemaphorePermit>,
}

impl<T, E> Order<T, E>
where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
{
    fn done(&mut self, outcome: Result<T, E>) -> Done {
        drop(self.place.take());
        let reply = self.reply.clone();
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
    }
}

/// A use case that runs alone, once.
pub(crate) struct UseCase<T, E, F> {
    pub order: Order<T, E>,
    /// `None` once it has begun.
    pub body: Option<F>,
}

/// A use case that may run beside others, and again.
pub(crate) struct SharedUseCase<T, E, F> {
    pub order: Order<T, E>,
    pub body: F,
}

type Answerer<T, E> = oneshot::Sender<Result<T, E>>;

/// Answers once; whoever comes later says nothing.
pub(crate) struct Reply<T, E>(Arc<Mutex<Option<Answerer<T, E>>>>);

impl<T, E> Clone for Reply<T, E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

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
        self.order.urgency
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn run<'t>(&'t mut self, tx: &'t mut Tx) -> BoxFuture<'t, Done> {
        let body = self.body.take();
        Box::pin(async move {
            let outcome = match body {
                Some(body) => body(tx).await,
                None => Err(E::from(StoreError::Internal(
                    "a use case ran twice".to_owned(),
                ))),
            };
            self.order.done(outcome)
        })
    }

    fn refuse(&self, error: StoreError) {
        self.order.reply.send(Err(E::from(error)));
    }
}

impl<T, E, F> Job for SharedUseCase<T, E, F>
where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
    F: for<'t> Fn(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
{
    fn urgency(&self) -> Urgency {
        self.order.urgency
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn run<'t>(&'t mut self, tx: &'t mut Tx) -> BoxFuture<'t, Done> {
        Box::pin(async move {
            let outcome = (self.body)(tx).await;
            self.order.done(outcome)
        })
    }

    fn refuse(&self, error: StoreError) {
        self.order.reply.send(Err(E::from(error)));
    }
}
