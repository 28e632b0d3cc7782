//! What must hold after every story, whatever happened in it.
//!
//! The chain verifies and no row says anything but the record; every step of every proposal has its entry and
//! its event, in order and with its time; what the row says of who and when is in its history; no run has had its effect twice.

use std::collections::BTreeMap;

use serde_json::Value;
use void_domain::events::EventKind;
use void_domain::proposals::{Proposal, State, Status};
use void_domain::time::Timestamp;
use void_store::proposals::{self, ProposalFilter};
use void_store::{StoreError, events};

use crate::planes::Plane;

type Steps = BTreeMap<String, Vec<(String, Timestamp)>>;

impl Plane {
    pub async fn look_back(&self) {
        self.settle_writes().await;
        let walk = self
            .inside(async |control, _| void_control::audit::verify(&control).await)
            .await
            .unwrap();
        assert_eq!((walk.broken, walk.set_aside), (None, 0));
        let named = &walk.mismatches;
        assert_eq!(named.total, self.edited, "{named:?}");
        let rows = self.rows().await;
        let (recorded, told) = (self.recorded().await, self.told().await);
        for row in &rows {
            let id = row.id.to_string();
            let entries = recorded.get(&id).map_or(&[][..], Vec::as_slice);
            assert_eq!(entries, self.expected(row).await, "the record of {row:?}");
            let events = told.get(&id).map_or(&[][..], Vec::as_slice);
            assert_eq!(entries, events, "the events of {row:?}");
        }
        assert_eq!(recorded.len(), rows.len(), "the record knows no other rows");
        self.nothing_ran_twice(&rows);
    }

    /// Writes are made in turn: once this one is through, what was begun before it is too.
    async fn settle_writes(&self) {
        let written = self
            .inside(async |_, store| {
                let nothing = store.write(|_| Box::pin(async { Ok::<_, StoreError>(()) }));
                nothing.await
            })
            .await;
        written.unwrap();
    }

    async fn rows(&self) -> Vec<Proposal> {
        let mut rows: Vec<Proposal> = Vec::new();
        loop {
            let cursor = rows.last().map(|row| row.id);
            let page = self
                .inside(async move |_, store| {
                    let read = store.read(move |tx| {
                        Box::pin(proposals::list(tx, ProposalFilter::default(), cursor, 500))
                    });
                    read.await.unwrap()
                })
                .await;
            rows.extend(page.items.into_iter().map(|stored| stored.proposal));
            if page.next.is_none() {
                return rows;
            }
        }
    }

    /// What the history of a row and its check say that the record holds.
    async fn expected(&self, row: &Proposal) -> Vec<(String, Timestamp)> {
        let history = self.history(row.id).await;
        assert_eq!(history.last().map(|step| step.to), Some(row.status()));
        // What its machine was too busy for was put back, and has not run.
        let last = history.iter().rev();
        let mut last = last.filter(|step| matches!(step.to, Status::Running | Status::Approved));
        let started = last.next().filter(|step| step.to == Status::Running);
        let started_at = row.run().map(|run| run.started_at);
        assert_eq!(started.map(|step| step.at), started_at, "{history:?}");
        let approved = history.iter().find(|step| step.to == Status::Approved);
        // What was withdrawn after its yes has no approval any more.
        if let Some(approval) = row.approval() {
            let approved = approved.map(|step| (&step.by, step.at));
            assert_eq!(approved, Some((&approval.by, approval.at)));
        }
        let mut expected = Vec::new();
        if let Some(first) = history.first()
            && first.to == Status::Approved
        {
            // Asked for and let through by policy at once.
            expected.push((EventKind::ProposalCreated.as_str().to_owned(), first.at));
        }
        let step = |to: Status, at| (to.event().as_str().to_owned(), at);
        expected.extend(history.iter().map(|entry| step(entry.to, entry.at)));
        if let Some(seen) = row.verification() {
            // Where there is no check, the end itself says so.
            let reason = seen.detail["reason"].as_str();
            if !matches!(reason, Some("no_check" | "not_counted")) {
                expected.push((EventKind::ProposalVerified.as_str().to_owned(), seen.at));
            }
        }
        expected
    }

    async fn recorded(&self) -> Steps {
        let mut steps = Steps::new();
        for entry in self.audit().await {
            if let Some(subject) = entry.subject.filter(|_| is_step(&entry.verb)) {
                let list = steps.entry(subject).or_default();
                list.push((entry.verb, entry.at));
            }
        }
        steps
    }

    async fn told(&self) -> Steps {
        let all = self
            .inside(async |_, store| {
                let read = store.read(|tx| Box::pin(events::list_after(tx, 0, 100_000)));
                read.await.unwrap()
            })
            .await;
        let mut steps = Steps::new();
        let entries = self.audit().await.into_iter();
        let expected: Vec<u64> = entries
            .filter(|entry| entry.audience.is_some())
            .map(|entry| entry.seq)
            .collect();
        let numbers: Vec<u64> = all.iter().map(|event| event.seq).collect();
        assert_eq!(numbers, expected, "every entry with an audience is told");
        for event in all {
            let kind = event.kind.as_str();
            let payload: Value = serde_json::from_str(&event.json).unwrap();
            if let Some(id) = payload["id"].as_str().filter(|_| is_step(kind)) {
                let list = steps.entry(id.to_owned()).or_default();
                list.push((kind.to_owned(), event.at));
            }
        }
        steps
    }

    fn nothing_ran_twice(&self, rows: &[Proposal]) {
        let (mut started, mut answered) = (BTreeMap::new(), BTreeMap::new());
        for row in rows {
            let Some(id) = row.subject.action_id().map(ToString::to_string) else {
                continue;
            };
            if row.run().is_some() {
                *started.entry(id.clone()).or_insert(0) += 1;
            }
            let result = match &row.state {
                State::Executed { result, .. } => Some(result),
                State::Failed { failure, .. } => failure.result.as_ref(),
                _ => None,
            };
            if result.is_some_and(|result| result["exit"].is_number()) {
                *answered.entry(id).or_insert(0) += 1;
            }
        }
        let effects = self.machine.effect_counts();
        for (id, count) in &effects {
            assert!(started.get(id) >= Some(count), "{id} ran {count} times");
        }
        for (id, count) in &answered {
            assert!(
                effects.get(id) >= Some(count),
                "{id} did not run {count} times"
            );
        }
    }
}

/// Whether an entry or event is a step of a proposal's life; joining changes no state.
fn is_step(name: &str) -> bool {
    name == EventKind::ProposalVerified.as_str()
        || Status::ALL
            .into_iter()
            .any(|status| status.event().as_str() == name)
}
