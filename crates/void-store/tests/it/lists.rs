//! Every list and count of proposals, on both engines, over one proposal in each state.

use std::time::Duration;

use void_domain::ids::ProposalId;
use void_domain::proposals::{Proposal, Status};
use void_store::proposals::{self, Stored};
use void_store::{Store, StoreError, Tx};
use void_testkit::proposals::NOW;

use crate::engines;
use crate::proposals::{advance, insert, path_to};

const SECOND: Duration = Duration::from_secs(1);

/// One in each state, in the order of [`Status::ALL`].
async fn one_of_each(store: &Store) -> Vec<Proposal> {
    let mut last = Vec::new();
    for (n, status) in (0..).zip(Status::ALL) {
        let path = path_to(status, n);
        insert(store, path[0].clone()).await;
        for moved in &path[1..] {
            assert!(advance(store, moved.clone()).await.unwrap());
        }
        last.push(path.last().unwrap().proposal.clone());
    }
    last
}

fn of(all: &[Proposal], wanted: &[Status]) -> Vec<ProposalId> {
    let fits = |proposal: &&Proposal| wanted.contains(&proposal.status());
    all.iter().filter(fits).map(|one| one.id).collect()
}

fn ids(listed: &[Stored]) -> Vec<ProposalId> {
    listed.iter().map(|stored| stored.proposal.id).collect()
}

fn sorted(listed: &[Stored]) -> Vec<ProposalId> {
    let mut ids = ids(listed);
    ids.sort();
    ids
}

#[tokio::test(flavor = "multi_thread")]
async fn every_list_holds_what_it_says() {
    for engine in engines::both().await {
        let all = one_of_each(&engine.store).await;
        let checked: Result<(), StoreError> = engine
            .store
            .read(move |tx| {
                Box::pin(async move {
                    by_state(tx, &all).await?;
                    by_time(tx, &all).await?;
                    counts(tx, &all).await
                })
            })
            .await;
        checked.unwrap();
    }
}

async fn by_state(tx: &mut Tx, all: &[Proposal]) -> Result<(), StoreError> {
    for status in Status::ALL {
        let listed = proposals::list_in(tx, status, 10).await?;
        assert_eq!(ids(&listed), of(all, &[status]));
    }
    let waiting = proposals::list_waiting(tx, None, 10).await?;
    assert_eq!(ids(&waiting.items), of(all, &[Status::Pending]));
    assert_eq!(waiting.next, None);
    let cursor = waiting.items.first().map(|stored| stored.proposal.id);
    let behind = proposals::list_waiting(tx, cursor, 10).await?;
    assert!(behind.items.is_empty());
    let unchecked = proposals::list_unchecked(tx, 10).await?;
    assert_eq!(ids(&unchecked), of(all, &[Status::Executed]));
    let open = [Status::Pending, Status::Approved, Status::Running];
    let before = proposals::list_open_before(tx, 2, 10).await?;
    assert_eq!(ids(&before), of(all, &open));
    assert_eq!(before[0].epoch, 1);
    assert!(proposals::list_open_before(tx, 1, 10).await?.is_empty());
    assert_eq!(proposals::count_open_before(tx, 2).await?, 3);
    Ok(())
}

async fn by_time(tx: &mut Tx, all: &[Proposal]) -> Result<(), StoreError> {
    let ran = [Status::Executed, Status::Failed, Status::Unknown];
    for listed in [
        proposals::list_power_since(tx, NOW.minus(SECOND), 10).await?,
        proposals::list_ended_since(tx, NOW.minus(SECOND), 10).await?,
    ] {
        assert_eq!(sorted(&listed), of(all, &ran));
    }
    assert!(proposals::list_ended_since(tx, NOW, 10).await?.is_empty());
    let open = [Status::Pending, Status::Approved, Status::Running];
    let mut ended = of(all, &Status::ALL);
    ended.retain(|id| !of(all, &open).contains(id));
    assert_eq!(sorted(&proposals::list_ended(tx, 10).await?), ended);
    assert_eq!(proposals::list_ended(tx, 2).await?.len(), 2);
    let action = all[0].subject.action_id().unwrap();
    let started = proposals::list_started_of(tx, action, 10).await?;
    let with_run = [&ran[..], &[Status::Running]].concat();
    assert_eq!(sorted(&started), of(all, &with_run));
    let end = all[0].expires_at;
    let overdue = proposals::list_overdue(tx, end, 10).await?;
    assert_eq!(ids(&overdue), of(all, &[Status::Pending]));
    let overdue = proposals::list_overdue(tx, end.minus(SECOND), 10).await?;
    assert!(overdue.is_empty());
    Ok(())
}

async fn counts(tx: &mut Tx, all: &[Proposal]) -> Result<(), StoreError> {
    for status in Status::ALL {
        assert_eq!(proposals::count_by_status(tx, status).await?, 1);
    }
    assert!(proposals::is_any_decided(tx).await?);
    for proposal in all {
        let open = [
            Status::Pending,
            Status::Approved,
            Status::Running,
            Status::Unknown,
        ];
        let is_open = proposals::is_code_open(tx, &proposal.code).await?;
        assert_eq!(is_open, open.contains(&proposal.status()));
        let digest = proposal.subject.digest.to_string();
        let twin = proposals::find_pending_twin(tx, &proposal.requested_by, &digest).await?;
        assert_eq!(twin.is_some(), proposal.status() == Status::Pending);
    }
    let owner = &all[0].requested_by;
    assert_eq!(proposals::count_open_of(tx, owner).await?, 1);
    Ok(())
}
