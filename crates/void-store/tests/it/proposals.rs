//! Proposals: every state reads back as written, guards let one winner through, and a row that
//! cannot exist is named instead of guessed.

use std::time::Duration;

use serde_json::json;
use void_domain::facts::NewFact;
use void_domain::failures::AnyCode;
use void_domain::ids::{ProposalCode, ProposalId, RequesterId};
use void_domain::proposals::{
    Cancellation, Failure, Moved, Proposal, State, Status, Verification, VerificationOutcome,
};
use void_store::facts::steps;
use void_store::proposals::{self, ProposalFilter};
use void_store::{Store, StoreError, facts};
use void_testkit::proposals::{NOW, pending, run_at};

use crate::engines;

pub async fn insert(store: &Store, created: Moved) {
    store
        .write(move |tx| {
            Box::pin(async move {
                proposals::insert(tx, 1, &created).await?;
                facts::append(tx, created.transition.at, step(&created)).await
            })
        })
        .await
        .unwrap();
}

/// The entry of the record that says that it moved.
fn step(moved: &Moved) -> NewFact {
    let (step, id) = (&moved.transition, moved.proposal.id);
    NewFact {
        request_id: None,
        actor: "owner-cli".to_owned(),
        verb: step.to.event().as_str(),
        subject: Some(id.to_string()),
        detail: json!({"status": step.to, "by": step.by}),
        catalogue: None,
        audience: None,
    }
}

pub async fn advance(store: &Store, moved: Moved) -> Result<bool, StoreError> {
    store
        .write(move |tx| {
            Box::pin(async move {
                let won = proposals::advance(tx, &moved).await?;
                if won {
                    facts::append(tx, moved.transition.at, step(&moved)).await?;
                }
                Ok(won)
            })
        })
        .await
}

async fn find(store: &Store, id: ProposalId) -> Proposal {
    store
        .read(move |tx| Box::pin(proposals::find(tx, id)))
        .await
        .unwrap()
        .unwrap()
        .proposal
}

async fn find_by_code(store: &Store, code: &ProposalCode) -> ProposalId {
    let code = code.clone();
    let found = store
        .read(move |tx| Box::pin(async move { proposals::find_by_code(tx, &code).await }))
        .await;
    found.unwrap().unwrap().proposal.id
}

/// The steps that lead to a state, starting with a pending proposal.
pub fn path_to(status: Status, n: u32) -> Vec<Moved> {
    let created = pending(n);
    let approve = |p: Proposal| p.approve("owner-cli", NOW).unwrap();
    let start = |p: Proposal| p.start(run_at(NOW)).unwrap();
    let failure = || Failure {
        code: AnyCode::read("a_word_of_another_version"),
        message: "y".into(),
        result: Some(json!({"exit": 1})),
    };
    let mut path = vec![created.clone()];
    let mut push = |step: &dyn Fn(Proposal) -> Moved| {
        let next = step(path.last().unwrap().proposal.clone());
        path.push(next);
    };
    match status {
        Status::Pending => {}
        Status::Refused => {
            let state = State::Refused {
                at: NOW,
                failure: failure(),
            };
            return vec![
                Proposal {
                    state,
                    ..created.proposal
                }
                .created("owner-cli"),
            ];
        }
        Status::Rejected => push(&|p| p.reject("owner-web", NOW, Some("not now".into())).unwrap()),
        Status::Cancelled => {
            push(&|p| p.cancel("owner-cli", NOW, Cancellation::Withdrawn).unwrap());
        }
        Status::Approved => push(&approve),
        Status::Expired => {
            push(&approve);
            push(&|p| p.expire(NOW).unwrap());
        }
        Status::Running => {
            push(&approve);
            push(&start);
        }
        Status::Failed => {
            push(&approve);
            push(&start);
            push(&|p| p.fail(NOW, "owner-cli", failure()).unwrap());
        }
        Status::Unknown => {
            push(&approve);
            push(&start);
            push(&|p| p.mark_unknown(NOW, failure()).unwrap());
        }
        Status::Executed => {
            push(&approve);
            push(&start);
            push(&|p| p.succeed(NOW, "system", json!({"exit": 0})).unwrap());
        }
    }
    path
}

#[tokio::test(flavor = "multi_thread")]
async fn every_state_reads_back_as_it_was_written() {
    for engine in engines::both().await {
        for (n, status) in (0..).zip(Status::ALL) {
            let path = path_to(status, n);
            let id = path[0].proposal.id;
            insert(&engine.store, path[0].clone()).await;
            for moved in &path[1..] {
                assert!(
                    advance(&engine.store, moved.clone()).await.unwrap(),
                    "{}: {status:?}",
                    engine.name
                );
                assert_eq!(
                    find(&engine.store, id).await,
                    moved.proposal,
                    "{}: {status:?}",
                    engine.name
                );
            }
            let last = path.last().unwrap().proposal.clone();
            let history = engine
                .store
                .read(move |tx| Box::pin(async move { steps::history(tx, &last).await }))
                .await
                .unwrap();
            let steps: Vec<_> = path.iter().map(|moved| moved.transition.clone()).collect();
            assert_eq!(history, steps, "{}: {status:?}", engine.name);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_is_recorded_once_and_only_for_what_ran() {
    for engine in engines::both().await {
        let record = |id: ProposalId, outcome: VerificationOutcome| {
            let store = engine.store.clone();
            async move {
                let seen = Verification {
                    outcome,
                    at: NOW,
                    detail: json!({"ms": 3}),
                };
                let write = store.write(move |tx| {
                    Box::pin(async move { proposals::record_verification(tx, id, &seen).await })
                });
                write.await.unwrap()
            }
        };
        let path = path_to(Status::Executed, 1);
        let id = path[0].proposal.id;
        insert(&engine.store, path[0].clone()).await;
        for moved in &path[1..] {
            assert!(
                !record(id, VerificationOutcome::Verified).await,
                "{}",
                engine.name
            );
            assert!(advance(&engine.store, moved.clone()).await.unwrap());
        }
        assert!(
            record(id, VerificationOutcome::Failed).await,
            "{}",
            engine.name
        );
        assert!(
            !record(id, VerificationOutcome::Verified).await,
            "{}",
            engine.name
        );
        let State::Executed {
            verification: Some(seen),
            ..
        } = find(&engine.store, id).await.state
        else {
            panic!("{}: no check", engine.name)
        };
        assert_eq!(
            (seen.outcome, seen.detail),
            (VerificationOutcome::Failed, json!({"ms": 3}))
        );
    }
}

/// 32,000 decisions on each engine in CI; a million in the deep run (I11).
#[tokio::test(flavor = "multi_thread")]
async fn of_many_that_decide_at_once_one_wins() {
    let rows = if cfg!(feature = "deep") { 15_625 } else { 500 };
    for engine in engines::both().await {
        for n in 0..rows {
            let created = pending(n);
            insert(&engine.store, created.clone()).await;
            let mut tasks = Vec::new();
            for k in 0..64 {
                let store = engine.store.clone();
                let proposal = created.proposal.clone();
                tasks.push(tokio::spawn(async move {
                    let moved = if k % 2 == 0 {
                        proposal.approve(&format!("owner {k}"), NOW).unwrap()
                    } else {
                        proposal.reject(&format!("owner {k}"), NOW, None).unwrap()
                    };
                    advance(&store, moved).await.unwrap()
                }));
            }
            let mut winners = 0;
            for task in tasks {
                winners += usize::from(task.await.unwrap());
            }
            assert_eq!(winners, 1, "{}", engine.name);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_database_itself_lets_one_run_per_target() {
    for engine in engines::both().await {
        let mut first = path_to(Status::Running, 1);
        let mut second = path_to(Status::Running, 2);
        for moved in first.iter_mut().chain(&mut second) {
            moved.proposal.subject.target = "guest:z/107".into();
        }
        for path in [&first, &second] {
            insert(&engine.store, path[0].clone()).await;
            assert!(advance(&engine.store, path[1].clone()).await.unwrap());
        }
        assert!(advance(&engine.store, first[2].clone()).await.unwrap());
        let refused = advance(&engine.store, second[2].clone()).await;
        assert!(
            matches!(refused, Err(StoreError::Constraint(_))),
            "{}: {refused:?}",
            engine.name
        );
        assert_eq!(
            find(&engine.store, second[0].proposal.id).await.status(),
            Status::Approved,
            "{}",
            engine.name
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_count_of_what_waits_is_kept_with_the_rows() {
    for engine in engines::both().await {
        for n in 0..5 {
            insert(&engine.store, pending(n)).await;
        }
        insert(&engine.store, path_to(Status::Refused, 9).remove(0)).await;
        assert!(
            advance(&engine.store, path_to(Status::Approved, 0)[1].clone())
                .await
                .unwrap()
        );
        assert!(
            advance(&engine.store, path_to(Status::Rejected, 1)[1].clone())
                .await
                .unwrap()
        );
        assert!(
            !advance(&engine.store, path_to(Status::Rejected, 1)[1].clone())
                .await
                .unwrap()
        );
        assert_eq!(
            engine
                .store
                .write(|tx| Box::pin(async move {
                    let requester = pending(0).proposal.requested_by;
                    Ok::<_, StoreError>((
                        proposals::count_open(tx)?,
                        proposals::count_open_of(tx, &requester).await?,
                    ))
                }))
                .await
                .unwrap(),
            (3, 3),
            "{}",
            engine.name
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_page_without_gaps_and_keep_to_their_filter() {
    for engine in engines::both().await {
        let agent = RequesterId::new(NOW, [5; 10]);
        for n in 0..25 {
            let mut created = pending(n);
            if n % 5 == 0 {
                created.proposal.requested_by.id = Some(agent);
            }
            insert(&engine.store, created).await;
        }
        let page = |filter: ProposalFilter, cursor: Option<ProposalId>| {
            let store = engine.store.clone();
            async move {
                store
                    .read(move |tx| Box::pin(proposals::list(tx, filter, cursor, 10)))
                    .await
                    .unwrap()
            }
        };
        let mut seen = Vec::new();
        let mut cursor = None;
        loop {
            let page = page(ProposalFilter::default(), cursor).await;
            seen.extend(page.items.iter().map(|stored| stored.proposal.id));
            match page.next {
                Some(next) => cursor = Some(next.parse().unwrap()),
                None => break,
            }
        }
        let newest_first: Vec<_> = (0..25).rev().map(|n| pending(n).proposal.id).collect();
        assert_eq!(seen, newest_first, "{}", engine.name);
        let own = page(
            ProposalFilter {
                requester: Some(agent),
                status: Some(Status::Pending),
            },
            None,
        )
        .await;
        assert_eq!(own.items.len(), 5, "{}", engine.name);
        let none = page(
            ProposalFilter {
                requester: None,
                status: Some(Status::Executed),
            },
            None,
        )
        .await;
        assert!(
            none.items.is_empty() && none.next.is_none(),
            "{}",
            engine.name
        );
    }
}

/// Each combination of filters, on pages of two: all that fit and nothing else, in their order.
#[tokio::test(flavor = "multi_thread")]
async fn a_filter_holds_on_every_page() {
    let agent = RequesterId::new(NOW, [5; 10]);
    let made: Vec<Moved> = (0..12)
        .flat_map(|n| {
            let status = [Status::Pending, Status::Pending, Status::Refused][n as usize % 3];
            path_to(status, n)
        })
        .enumerate()
        .map(|(n, mut created)| {
            if n % 2 == 0 {
                created.proposal.requested_by.id = Some(agent);
            }
            created
        })
        .collect();
    for engine in engines::both().await {
        for created in &made {
            insert(&engine.store, created.clone()).await;
        }
        for status in [None, Some(Status::Pending), Some(Status::Refused)] {
            for requester in [None, Some(agent)] {
                let fits = |p: &Proposal| {
                    status.is_none_or(|status| p.status() == status)
                        && requester.is_none_or(|id| p.requested_by.id == Some(id))
                };
                let expected: Vec<ProposalId> = (made.iter().rev())
                    .filter(|made| fits(&made.proposal))
                    .map(|made| made.proposal.id)
                    .collect();
                let filter = ProposalFilter { status, requester };
                let (mut seen, mut cursor) = (Vec::new(), None);
                while seen.len() < expected.len() {
                    let page = engine
                        .store
                        .read(move |tx| Box::pin(proposals::list(tx, filter, cursor, 2)));
                    let page = page.await.unwrap();
                    seen.extend(page.items.iter().map(|stored| stored.proposal.id));
                    assert_eq!(page.next.is_some(), seen.len() < expected.len());
                    cursor = page.next.map(|next| next.parse().unwrap());
                }
                assert_eq!(seen, expected, "{} {filter:?}", engine.name);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_finds_the_open_one_first() {
    for engine in engines::both().await {
        let old = path_to(Status::Rejected, 1);
        let mut new = pending(2);
        new.proposal.code = old[0].proposal.code.clone();
        insert(&engine.store, old[0].clone()).await;
        advance(&engine.store, old[1].clone()).await.unwrap();
        let code = new.proposal.code.clone();
        assert_eq!(find_by_code(&engine.store, &code).await, old[0].proposal.id);
        insert(&engine.store, new.clone()).await;
        assert_eq!(
            find_by_code(&engine.store, &code).await,
            new.proposal.id,
            "{}",
            engine.name
        );
        let mut twin = pending(3);
        twin.proposal.code = new.proposal.code.clone();
        let second = engine
            .store
            .write(move |tx| Box::pin(async move { proposals::insert(tx, 1, &twin).await }))
            .await;
        assert!(
            matches!(second, Err(StoreError::Constraint(_))),
            "{}: {second:?}",
            engine.name
        );
    }
}

/// Whatever became of them since, approvals are counted by who gave them and when, once each.
#[tokio::test(flavor = "multi_thread")]
async fn approvals_are_counted_by_name_and_time() {
    let minute = Duration::from_secs(60);
    let late = NOW.plus(minute);
    for engine in engines::both().await {
        let store = &engine.store;
        for (n, by, at, steps) in [
            (1, "owner-telegram-5", NOW, 1),
            (2, "owner-telegram-5", NOW, 2),
            (3, "owner-telegram-77", NOW, 3),
            (4, "owner-telegram-5", late, 3),
            (5, "owner-telegram-5", late, 0),
            (6, "owner-cli", late, 3),
            (7, "owner-telegramXYZ", late, 3),
        ] {
            let mut moved = pending(n);
            insert(store, moved.clone()).await;
            let ended = json!({"exit": 0});
            for step in 0..steps {
                let last = moved.proposal;
                moved = match step {
                    0 => last.approve(by, at).unwrap(),
                    1 => last.start(run_at(at)).unwrap(),
                    _ => last.succeed(late, "system", ended.clone()).unwrap(),
                };
                assert!(advance(store, moved.clone()).await.unwrap(), "{n} {step}");
            }
        }
        // The last one: by a clock that was later than it is now.
        let far = late.plus(minute);
        for (since, until, expected) in [
            (NOW.minus(minute), far, 4),
            (NOW, far, 1),
            (late, far, 0),
            (NOW, NOW, 0),
        ] {
            let counted = store.read(move |tx| {
                Box::pin(async move {
                    proposals::approvals_since(tx, "owner-telegram-", since, until).await
                })
            });
            let counted: Result<u64, StoreError> = counted.await;
            assert_eq!(counted.unwrap(), expected, "{} since {since}", engine.name);
        }
    }
}

/// Starts and approvals that a wrong clock dated years ahead hold nothing back.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_started_in_the_future_does_not_count() {
    for engine in engines::both().await {
        let store = &engine.store;
        let minute = Duration::from_secs(60);
        let years = NOW.plus(Duration::from_secs(3_650 * 24 * 60 * 60));
        let (first, second) = (pending(0), pending(1));
        let (action, requester) = (
            first.proposal.subject.action_id().unwrap().clone(),
            first.proposal.requested_by.clone(),
        );
        for (moved, at) in [(first, NOW), (second, years)] {
            insert(store, moved.clone()).await;
            let approved = moved.proposal.approve("policy", at).unwrap();
            assert!(advance(store, approved.clone()).await.unwrap());
            let started = approved.proposal.start(run_at(at)).unwrap();
            assert!(advance(store, started.clone()).await.unwrap());
            let ended = started.proposal.succeed(at, "system", json!({}));
            assert!(advance(store, ended.unwrap()).await.unwrap());
        }
        for (until, starts, last) in [(NOW, 1, NOW), (years, 2, years)] {
            let (action, requester) = (action.clone(), requester.clone());
            let since = NOW.minus(minute);
            let counted = store.read(move |tx| {
                Box::pin(async move {
                    let starts = proposals::starts_since(tx, &action, since, until).await?;
                    let safe = proposals::safe_runs_since(tx, &requester, since, until).await?;
                    Ok::<_, StoreError>((starts, safe))
                })
            });
            let expected = ((starts, Some(last)), starts);
            assert_eq!(counted.await.unwrap(), expected, "{}", engine.name);
        }
    }
}

/// More than one statement is about, none of which may be left out or mixed up with another.
#[tokio::test(flavor = "multi_thread")]
async fn histories_of_many_are_those_of_each() {
    const STATES: [Status; 4] = [
        Status::Pending,
        Status::Rejected,
        Status::Expired,
        Status::Executed,
    ];
    for engine in engines::both().await {
        let mut all = Vec::new();
        for n in 0..70_u32 {
            let mut path = path_to(STATES[n as usize % 4], n + 1).into_iter();
            let created = path.next().unwrap();
            let mut last = created.proposal.clone();
            insert(&engine.store, created).await;
            for moved in path {
                last = moved.proposal.clone();
                assert!(advance(&engine.store, moved).await.unwrap());
            }
            all.push(last);
        }
        let read = engine.store.read(move |tx| {
            Box::pin(async move {
                let of: Vec<&Proposal> = all.iter().collect();
                let together = steps::histories(tx, &of).await?;
                let mut one_by_one = Vec::new();
                for proposal in &of {
                    one_by_one.push(steps::history(tx, proposal).await?);
                }
                Ok::<_, StoreError>((together, one_by_one))
            })
        });
        let (together, one_by_one) = read.await.unwrap();
        assert_eq!(together.len(), 70);
        assert_eq!(together, one_by_one, "{}", engine.name);
        assert!(together.iter().all(|history| !history.is_empty()));
    }
}
