//! The public use cases, called inside the control plane's runtime, and the rows that they leave.

use std::task::Poll;
use std::time::Duration;

use serde_json::{Value, json};
use void_control::proposals::{
    self, CancelError, DecideError, DecideRequest, Decision, ProposalKey, ProposeError,
    ProposeRequest, Proposed, SettleError, Settled,
};
use void_control::{Ctx, freezes};
use void_domain::facts::Fact;
use void_domain::ids::ProposalId;
use void_domain::policy::Refusal;
use void_domain::proposals::{Proposal, Status, Transition};
use void_domain::taint::Taint;
use void_store::facts;
use void_testkit::eventually;

use crate::callers::{owner, owner_on};
use crate::planes::Plane;

/// Far beyond what a busy machine needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// An ordinary request for this action.
pub fn request(action: &str) -> ProposeRequest {
    ProposeRequest {
        action_id: action.to_owned(),
        params: json!({}),
        reason: Some("a test".to_owned()),
        diff: None,
        taint: Taint::clean(),
    }
}

/// What a person sends who has seen this row.
pub fn seen(decision: Decision, row: &Proposal) -> DecideRequest {
    DecideRequest {
        decision,
        digest: Some(row.subject.digest),
        revision: Some(row.revision),
        reason: None,
        key: None,
    }
}

/// The code of a decision that was not taken, and the row as it stood then.
pub fn conflict(decided: Result<Proposal, DecideError>) -> (&'static str, Proposal) {
    match decided {
        Err(DecideError::Conflict { code, row, .. }) => (code.as_str(), *row),
        other => panic!("no conflict: {other:?}"),
    }
}

/// So many calls that begin before any of them ends.
pub async fn at_once<T, Fut>(count: usize, call: impl Fn(usize) -> Fut) -> Vec<T>
where
    Fut: Future<Output = T>,
{
    let mut calls: Vec<_> = (0..count).map(|number| Box::pin(call(number))).collect();
    let mut answers: Vec<Option<T>> = (0..count).map(|_| None).collect();
    std::future::poll_fn(|cx| {
        for (call, answer) in calls.iter_mut().zip(&mut answers) {
            if answer.is_none()
                && let Poll::Ready(ended) = call.as_mut().poll(cx)
            {
                *answer = Some(ended);
            }
        }
        match answers.iter().all(Option::is_some) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    answers.into_iter().flatten().collect()
}

impl Plane {
    pub async fn propose(
        &self,
        ctx: &Ctx,
        request: ProposeRequest,
    ) -> Result<Proposed, ProposeError> {
        let ctx = ctx.clone();
        self.inside(async move |control, _| proposals::propose(&control, &ctx, request).await)
            .await
    }

    /// A request that has to wait.
    pub async fn queue(&self, ctx: &Ctx, action: &str) -> Proposal {
        self.queue_as(ctx, request(action)).await
    }

    pub async fn queue_as(&self, ctx: &Ctx, request: ProposeRequest) -> Proposal {
        match self.propose(ctx, request).await {
            Ok(Proposed::Queued(row)) => row,
            other => panic!("it does not wait: {other:?}"),
        }
    }

    /// A request that starts at once.
    pub async fn run(&self, ctx: &Ctx, action: &str) -> Proposal {
        match self.propose(ctx, request(action)).await {
            Ok(Proposed::Started(row)) => row,
            other => panic!("it does not run: {other:?}"),
        }
    }

    /// A request that policy refuses.
    pub async fn refused(&self, ctx: &Ctx, action: &str) -> (Refusal, Proposal) {
        match self.propose(ctx, request(action)).await {
            Ok(Proposed::Refused(refusal, row)) => (refusal, row),
            other => panic!("it is not refused: {other:?}"),
        }
    }

    pub async fn decide(
        &self,
        ctx: &Ctx,
        id: ProposalId,
        request: DecideRequest,
    ) -> Result<Proposal, DecideError> {
        self.decide_by(ctx, ProposalKey::Id(id), request).await
    }

    pub async fn decide_by(
        &self,
        ctx: &Ctx,
        key: ProposalKey,
        request: DecideRequest,
    ) -> Result<Proposal, DecideError> {
        let ctx = ctx.clone();
        self.inside(async move |control, _| proposals::decide(&control, &ctx, key, request).await)
            .await
    }

    /// The owner's yes to what the row says.
    pub async fn approve(&self, row: &Proposal) -> Result<Proposal, DecideError> {
        self.decide(&owner(), row.id, seen(Decision::Approve, row))
            .await
    }

    pub async fn reject(&self, row: &Proposal) -> Result<Proposal, DecideError> {
        self.decide(&owner(), row.id, seen(Decision::Reject, row))
            .await
    }

    pub async fn settle(
        &self,
        ctx: &Ctx,
        id: ProposalId,
        said: Settled,
    ) -> Result<Proposal, SettleError> {
        let (ctx, key) = (ctx.clone(), ProposalKey::Id(id));
        self.inside(async move |control, _| proposals::settle(&control, &ctx, key, said).await)
            .await
    }

    pub async fn cancel(&self, ctx: &Ctx, id: ProposalId) -> Result<Proposal, CancelError> {
        let ctx = ctx.clone();
        self.inside(async move |control, _| proposals::cancel(&control, &ctx, id).await)
            .await
    }

    pub async fn freeze(&self) {
        self.inside(async |control, _| freezes::freeze(&control, &owner(), None, None).await)
            .await
            .unwrap();
    }

    pub async fn thaw(&self) {
        let ctx = owner_on(void_domain::actors::Surface::Web, Some(Duration::ZERO));
        self.inside(async move |control, _| freezes::thaw(&control, &ctx).await)
            .await
            .unwrap();
    }

    /// The row once it has ended and was checked.
    pub async fn ended(&self, id: ProposalId) -> Proposal {
        let row = self
            .inside(async move |control, _| {
                proposals::wait_for_end(&control, id, PATIENCE)
                    .await
                    .unwrap()
            })
            .await;
        assert!(row.status().is_end(), "{row:?}");
        row
    }

    pub async fn becomes(&self, id: ProposalId, status: Status) -> Proposal {
        eventually(status.as_str(), || async {
            let row = self.row(id).await;
            (row.status() == status).then_some(row)
        })
        .await
    }

    /// An unknown outcome once the machine was asked about it again: time passes until it is its turn.
    pub async fn settled(&self, id: ProposalId) -> Proposal {
        let row = self.row(id).await;
        let (_, since) = row.resolution();
        let age = since.map_or(Duration::ZERO, |since| self.clock.now().since(since));
        self.pass(age / 8 + Duration::from_secs(1));
        eventually("evidence", || async {
            self.pass(Duration::from_millis(20));
            let row = self.row(id).await;
            (row.status() != Status::Unknown).then_some(row)
        })
        .await
    }

    pub async fn row(&self, id: ProposalId) -> Proposal {
        self.inside(async move |_, store| {
            let read = store.read(move |tx| Box::pin(void_store::proposals::find(tx, id)));
            read.await.unwrap().unwrap().proposal
        })
        .await
    }

    pub async fn status(&self, id: ProposalId) -> Status {
        self.row(id).await.status()
    }

    pub async fn count(&self, status: Status) -> u64 {
        self.inside(async move |control, _| proposals::count_in(&control, status).await)
            .await
            .unwrap()
    }

    /// The steps of a proposal: to which state, and by whom.
    pub async fn steps(&self, id: ProposalId) -> Vec<(Status, String)> {
        let history = self.history(id).await;
        history.into_iter().map(|step| (step.to, step.by)).collect()
    }

    pub async fn history(&self, id: ProposalId) -> Vec<Transition> {
        self.inside(async move |control, _| proposals::history(&control, id).await)
            .await
            .unwrap()
    }

    /// The whole record, oldest first.
    pub async fn audit(&self) -> Vec<Fact> {
        self.inside(async |_, store| {
            let read = store.read(|tx| Box::pin(facts::list_after(tx, 0, 100_000)));
            read.await.unwrap()
        })
        .await
    }

    /// The details of the entries with this verb.
    pub async fn audited(&self, verb: &str) -> Vec<Value> {
        let mut entries = self.audit().await;
        entries.retain(|entry| entry.verb == verb);
        let detail = |entry: Fact| serde_json::from_str(&entry.detail).unwrap();
        entries.into_iter().map(detail).collect()
    }

    /// The machine is at it.
    pub async fn begun(&self, action: &str) {
        eventually("it to begin", || async {
            let effects = self.machine.effects();
            effects.iter().any(|id| id == action).then_some(())
        })
        .await;
    }

    /// Goes on until a whole sweep has seen this moment or a later one: two minutes.
    pub async fn sweep(&self) {
        for _ in 0..2 {
            // Expiring comes first in a sweep: when the second one has, the sweep of the first is over.
            let marker = self.queue(&owner(), "brief-stop").await;
            self.go_to(marker.expires_at);
            self.becomes(marker.id, Status::Expired).await;
        }
    }
}
