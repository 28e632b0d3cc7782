//! Retention on real rows: what is over and old goes with everything that refers to it, what is open, in
//! doubt or still needed stays, and neither a crash nor a neighbour makes a difference.

use std::time::Duration;

use void_domain::conversations::Said;
use void_domain::failures::FailureCode;
use void_domain::ids::{ChallengeId, NotificationId, ProposalId};
use void_domain::notifications::Content;
use void_domain::proposals::{Failure, Status};
use void_domain::retention::{MESSAGES_KEPT_PER_CONVERSATION, RUNS_KEPT_PER_ACTION};
use void_domain::time::Timestamp;
use void_store::challenges::{self, Purpose};
use void_store::facts::FactFilter;
use void_store::{
    BoxFuture, Store, StoreError, Tx, conversations, events, notifications, proposals, retention,
    sessions,
};
use void_testkit::proposals::{NOW, pending, run_at};

use crate::conversations::{begun, conversation, message, with_messages};
use crate::credentials::session;
use crate::notifications::tell;
use crate::proposals::{advance, insert, path_to};
use crate::{engines, retention as empty};

const LATER: Timestamp = Timestamp::from_ms(NOW.as_ms() + 1_000 * 86_400_000);
const ALL: u32 = 1_000;

type Prune = for<'t> fn(&'t mut Tx, Timestamp, u32) -> BoxFuture<'t, Result<u64, StoreError>>;

const ENDED: Prune = |tx, before, limit| Box::pin(retention::prune_ended(tx, before, limit));
const REFUSED: Prune = |tx, before, limit| Box::pin(retention::prune_refused(tx, before, limit));
const NOTIFICATIONS: Prune =
    |tx, before, limit| Box::pin(retention::prune_notifications(tx, before, limit));
const SESSIONS: Prune = |tx, before, limit| Box::pin(retention::prune_sessions(tx, before, limit));
const MESSAGES: Prune = |tx, before, limit| Box::pin(retention::prune_messages(tx, before, limit));

async fn prune(store: &Store, which: Prune, before: Timestamp, limit: u32) -> u64 {
    let gone = store.write_closing(move |tx| which(tx, before, limit));
    gone.await.unwrap()
}

async fn is_there(store: &Store, id: ProposalId) -> bool {
    let found = store.read(move |tx| Box::pin(proposals::find(tx, id)));
    let found: Result<_, StoreError> = found.await;
    found.unwrap().is_some()
}

/// How many entries of the record are about it.
async fn steps(store: &Store, id: ProposalId) -> usize {
    let filter = FactFilter {
        subject: Some(id.to_string()),
        ..FactFilter::default()
    };
    let found = store.read(move |tx| {
        Box::pin(async move { void_store::facts::list(tx, &filter, None, 100).await })
    });
    let found: Result<_, StoreError> = found.await;
    found.unwrap().items.len()
}

/// One proposal in every state, each with its steps; all of them moved last at [`NOW`].
async fn one_of_each(store: &Store) -> Vec<(Status, ProposalId, usize)> {
    let mut made = Vec::new();
    for (n, status) in (0..).zip(Status::ALL) {
        let path = path_to(status, n);
        insert(store, path[0].clone()).await;
        for moved in &path[1..] {
            assert!(advance(store, moved.clone()).await.unwrap());
        }
        made.push((status, path[0].proposal.id, path.len()));
    }
    made
}

/// Ends `n` runs of one action, each started a second after the one before.
async fn runs(store: &Store, n: u32) -> Vec<ProposalId> {
    let mut ids = Vec::new();
    for run in 0..n {
        let at = NOW.plus(Duration::from_secs(u64::from(run)));
        let created = pending(100 + run);
        let approved = created.proposal.clone().approve("owner-cli", at).unwrap();
        let started = approved.proposal.clone().start(run_at(at)).unwrap();
        let failure = Failure::new(FailureCode::Locked, "y");
        let failed = started
            .proposal
            .clone()
            .fail(at, "owner-cli", failure)
            .unwrap();
        ids.push(created.proposal.id);
        insert(store, created).await;
        for moved in [approved, started, failed] {
            assert!(advance(store, moved).await.unwrap());
        }
    }
    ids
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_open_or_in_doubt_stays_whatever_its_age_and_what_ended_goes_whole() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        let made = one_of_each(store).await;
        for which in [ENDED, REFUSED] {
            assert_eq!(
                prune(store, which, NOW, ALL).await,
                0,
                "{name}: not older yet"
            );
        }
        assert_eq!(prune(store, REFUSED, LATER, ALL).await, 1, "{name}");
        assert_eq!(prune(store, ENDED, LATER, ALL).await, 3, "{name}");
        assert_eq!(prune(store, ENDED, LATER, ALL).await, 0, "{name}");
        for (status, id, path) in made {
            let goes = match status {
                Status::Refused | Status::Rejected | Status::Expired | Status::Cancelled => true,
                // The two that ran are among the newest of their action, and one was not checked yet.
                Status::Pending
                | Status::Approved
                | Status::Running
                | Status::Unknown
                | Status::Failed
                | Status::Executed => false,
            };
            assert_eq!(is_there(store, id).await, !goes, "{name}: {status:?}");
            // The record keeps what became of it.
            assert_eq!(steps(store, id).await, path, "{name}: {status:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_runs_of_an_action_stay_and_older_ones_go_in_small_steps() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        let ids = runs(store, RUNS_KEPT_PER_ACTION + 3).await;
        assert_eq!(prune(store, ENDED, LATER, 2).await, 2, "{name}");
        assert_eq!(prune(store, ENDED, LATER, 2).await, 1, "{name}");
        assert_eq!(prune(store, ENDED, LATER, 2).await, 0, "{name}");
        for (n, id) in ids.into_iter().enumerate() {
            assert_eq!(is_there(store, id).await, n >= 3, "{name}: run {n}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prune_that_breaks_off_has_done_nothing_and_is_done_by_the_next() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        let made = one_of_each(store).await;
        let before = empty::counts(store).await;
        for which in [ENDED, REFUSED] {
            let broken = store.write_closing(move |tx| {
                Box::pin(async move {
                    assert!(which(tx, LATER, ALL).await? > 0);
                    Err::<(), _>(StoreError::Internal("told to break off".to_owned()))
                })
            });
            assert!(broken.await.is_err());
            // A use case that panics is as good as a crash: its connection is not used again.
            let crashed = store.write_closing(move |tx| {
                Box::pin(async move {
                    which(tx, LATER, ALL).await?;
                    if tx_is_there(tx) {
                        panic!("told to crash");
                    }
                    Ok::<(), StoreError>(())
                })
            });
            assert!(crashed.await.is_err(), "{name}");
        }
        assert_eq!(empty::counts(store).await, before, "{name}");
        for (status, id, path) in made {
            assert_eq!(steps(store, id).await, path, "{name}: {status:?}");
        }
        assert_eq!(prune(store, REFUSED, LATER, ALL).await, 1, "{name}");
        assert_eq!(prune(store, ENDED, LATER, ALL).await, 3, "{name}");
    }
}

/// Keeps the compiler from knowing that what follows never returns.
const fn tx_is_there(_: &mut Tx) -> bool {
    true
}

#[tokio::test(flavor = "multi_thread")]
async fn two_instances_that_prune_at_once_share_the_work() {
    let Some(engine) = engines::postgres().await else {
        return;
    };
    let other = engines::open_postgres(engine.url.as_ref().unwrap()).await;
    let ids = runs(&engine.store, RUNS_KEPT_PER_ACTION + 20).await;
    let round = async |store: &Store| {
        let mut gone = 0;
        loop {
            match prune(store, ENDED, LATER, 3).await {
                0 => return gone,
                some => gone += some,
            }
        }
    };
    let (one, two) = tokio::join!(round(&engine.store), round(&other));
    assert_eq!(one + two, 20, "{one} and {two}");
    for (n, id) in ids.into_iter().enumerate() {
        assert_eq!(is_there(&other, id).await, n >= 20, "run {n}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn deliveries_about_what_has_ended_go_and_those_that_wait_stay() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        let open = pending(1);
        let ended = path_to(Status::Rejected, 2);
        insert(store, open.clone()).await;
        insert(store, ended[0].clone()).await;
        assert!(advance(store, ended[1].clone()).await.unwrap());
        let (open, ended) = (open.proposal.id, ended[0].proposal.id);
        let sent = async |id: NotificationId| {
            let done: Result<_, StoreError> = store
                .write(move |tx| {
                    Box::pin(async move {
                        notifications::record_sent(tx, id, 1, Some("77"), NOW, NOW).await
                    })
                })
                .await;
            done.unwrap();
        };
        sent(tell(store, 1, Content::Message(open), NOW).await).await;
        sent(tell(store, 2, Content::Message(ended), NOW).await).await;
        tell(store, 3, Content::Event(ended, "x".to_owned()), NOW).await;
        assert_eq!(prune(store, NOTIFICATIONS, NOW, ALL).await, 0, "{name}");
        assert_eq!(prune(store, NOTIFICATIONS, LATER, ALL).await, 1, "{name}");
        let left = |counts: Vec<(&'static str, u64)>| {
            let found = counts
                .into_iter()
                .find(|(table, _)| *table == "notifications");
            found.unwrap().1
        };
        assert_eq!(left(empty::counts(store).await), 2, "{name}");
        // With the proposal goes what was to be said about it.
        assert_eq!(prune(store, ENDED, LATER, ALL).await, 1, "{name}");
        assert_eq!(left(empty::counts(store).await), 1, "{name}");
        assert!(is_there(store, open).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_are_over_go_and_live_ones_stay() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        // They run out a second after now.
        let (left, ran_out, asked) = (
            session(store, 1).await,
            session(store, 2).await,
            session(store, 3).await,
        );
        let ended: Result<bool, StoreError> = store
            .write(move |tx| Box::pin(sessions::end(tx, left, NOW)))
            .await;
        assert!(ended.unwrap());
        let (purpose, until) = (Purpose::Confirm(asked), LATER);
        let id = ChallengeId::new(NOW, [1; 10]);
        let put: Result<_, StoreError> = store
            .write(move |tx| Box::pin(challenges::insert(tx, id, purpose, "{}", NOW, until, 10)))
            .await;
        put.unwrap();
        assert_eq!(prune(store, SESSIONS, NOW, ALL).await, 0, "{name}");
        let soon = NOW.plus(Duration::from_millis(1));
        assert_eq!(
            prune(store, SESSIONS, soon, ALL).await,
            1,
            "{name}: the one that ended"
        );
        assert_eq!(prune(store, SESSIONS, soon, ALL).await, 0, "{name}");
        // Then the one that ran out, but not the one that something still refers to.
        assert_eq!(
            prune(store, SESSIONS, LATER, ALL).await,
            1,
            "{name}: {ran_out}"
        );
        assert_eq!(prune(store, SESSIONS, LATER, ALL).await, 0, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn old_messages_go_and_a_page_before_them_is_the_last() {
    let kept = u64::from(MESSAGES_KEPT_PER_CONVERSATION);
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        let (used, unused) = (conversation(201, "blue"), conversation(202, "blue"));
        let last = kept + 5;
        let mut said: Vec<_> = (1..last)
            .map(|seq| message(&used, seq, Said::ByOwner))
            .collect();
        said.push(message(&used, last, begun()));
        with_messages(store, &used, said).await;
        let mut alone = message(&unused, 1, Said::ByOwner);
        alone.id = void_domain::ids::MessageId::new(NOW, [250; 10]);
        with_messages(store, &unused, vec![alone]).await;
        assert_eq!(prune(store, MESSAGES, NOW, ALL).await, 0, "{name}");
        assert_eq!(
            prune(store, MESSAGES, LATER, 4).await,
            4,
            "{name}: in small steps"
        );
        let gone = prune(store, MESSAGES, LATER, ALL).await;
        assert_eq!(
            gone, 2,
            "{name}: the fifth, and the conversation nobody uses"
        );
        assert_eq!(prune(store, MESSAGES, LATER, ALL).await, 0, "{name}");
        let id = unused.id;
        let found: Result<_, StoreError> = store
            .read(move |tx| Box::pin(conversations::find(tx, id)))
            .await;
        assert!(found.unwrap().is_none(), "{name}: it goes whole");
        // The pages of what is left: nothing twice, nothing skipped, and an end.
        let (id, mut before, mut seen) = (used.id, None, Vec::new());
        loop {
            let page: Result<_, StoreError> = store
                .read(move |tx| Box::pin(conversations::page_before(tx, id, before, 8)))
                .await;
            let page = page.unwrap();
            assert!(!page.items.is_empty(), "{name}: no page is empty");
            seen.extend(page.items.iter().map(|message| message.seq));
            match page.next {
                Some(next) => before = Some(next.parse().unwrap()),
                None => break,
            }
        }
        let expected: Vec<u64> = (6..=last).rev().collect();
        assert_eq!(seen, expected, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn events_and_the_record_are_read_in_pieces_of_bounded_size() {
    use void_domain::budgets::{EVENT_PAGE_BYTES_MAX, LIST_BYTES_MAX};
    use void_domain::facts::NewFact;
    const ROWS: u64 = 120;
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        for _ in 0..ROWS {
            let written: Result<(), StoreError> = store
                .write(|tx| {
                    Box::pin(async move {
                        let told = crate::events::told(&"r".repeat(4_000));
                        void_store::facts::append(tx, NOW, told).await?;
                        let draft = NewFact {
                            request_id: None,
                            actor: "owner-cli".into(),
                            verb: "proposal.created",
                            subject: None,
                            detail: serde_json::json!({"diff": "d".repeat(32_000)}),
                            catalogue: None,
                            audience: None,
                        };
                        void_store::facts::append(tx, NOW, draft).await?;
                        Ok(())
                    })
                })
                .await;
            written.unwrap();
        }
        let (mut after, mut heard, mut pages) = (0, Vec::new(), 0);
        loop {
            let page: Result<_, StoreError> = store
                .read(move |tx| Box::pin(events::page_after(tx, after, 200)))
                .await;
            let page = page.unwrap();
            let bytes: usize = page.events.iter().map(|event| event.json.len()).sum();
            assert!(bytes <= EVENT_PAGE_BYTES_MAX, "{name}: {bytes}");
            heard.extend(page.events.iter().map(|event| event.seq));
            let Some(read_to) = page.read_to else { break };
            (after, pages) = (read_to, pages + 1);
        }
        let told = (0..ROWS).map(|n| 2 * n + 1);
        assert_eq!(heard, told.collect::<Vec<_>>(), "{name}");
        assert!(pages > 3, "{name}: {pages}");
        let (mut after, mut entries, mut pages) = (0, Vec::new(), 0);
        loop {
            let page: Result<_, StoreError> = store
                .read(move |tx| Box::pin(void_store::facts::list_after(tx, after, 500)))
                .await;
            let page = page.unwrap();
            let Some(last) = page.last() else { break };
            let bytes: usize = page.iter().map(|entry| entry.detail.len()).sum();
            assert!(bytes <= LIST_BYTES_MAX, "{name}: {bytes}");
            (after, pages) = (last.seq, pages + 1);
            entries.extend(page.iter().map(|entry| entry.seq));
        }
        assert_eq!(entries, (1..=2 * ROWS).collect::<Vec<_>>(), "{name}");
        assert!(pages > 1, "{name}: {pages}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_compared_with_the_record_in_pieces_of_bounded_size() {
    use void_domain::budgets::LIST_BYTES_MAX;
    use void_store::facts::steps;
    const ROWS: u32 = 150;
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        let mut expected = Vec::new();
        for n in 0..ROWS {
            let mut created = pending(n);
            created.proposal.diff = Some("d".repeat(32_000));
            expected.push(created.proposal.id.to_string());
            let written: Result<(), StoreError> = store
                .write(move |tx| Box::pin(async move { proposals::insert(tx, 1, &created).await }))
                .await;
            written.unwrap();
        }
        let (mut after, mut found, mut pages) = (String::new(), Vec::new(), 0);
        loop {
            let from = after.clone();
            let page: Result<_, StoreError> = store
                .read(move |tx| Box::pin(async move { steps::of_proposals(tx, &from, 500).await }))
                .await;
            let page = page.unwrap();
            let Some(last) = page.last() else { break };
            let diffs = page
                .iter()
                .filter_map(|step| step.row.as_ref()?.diff.as_ref());
            let bytes: usize = diffs.map(String::len).sum();
            assert!(bytes <= LIST_BYTES_MAX, "{name}: {bytes}");
            (after, pages) = (last.id.clone(), pages + 1);
            found.extend(page.into_iter().map(|step| step.id));
        }
        assert_eq!(found, expected, "{name}");
        assert!(pages > 1, "{name}: {pages}");
    }
}
