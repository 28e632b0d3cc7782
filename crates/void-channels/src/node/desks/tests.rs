//! Who is handed what, and what a later poll proves.

use super::*;

fn session(generation: u64, nonce: &str) -> Session {
    Session {
        generation,
        nonce: nonce.to_owned(),
    }
}

fn poll(desk: &Arc<Desk>, session: Session, holding: &[&str]) -> Result<Turn, Superseded> {
    desk.arrive(Arrival {
        session,
        list: None,
        holding: holding.iter().map(|id| (*id).to_owned()).collect(),
    })
}

fn errand(id: &str, is_run: bool) -> Errand {
    Errand {
        id: id.to_owned(),
        command: "a".to_owned(),
        limit: Duration::from_secs(1),
        is_run,
    }
}

fn ids(errands: &[Errand]) -> Vec<&str> {
    errands.iter().map(|errand| errand.id.as_str()).collect()
}

#[tokio::test]
async fn a_command_is_handed_to_the_newest_poll_and_to_no_other() {
    let desk = Arc::<Desk>::default();
    let mut old = poll(&desk, session(1, "a"), &[]).unwrap();
    let mut new = poll(&desk, session(1, "a"), &[]).unwrap();
    let mut pending = desk.post(errand("run:1", true), false);
    assert!(old.take(false).is_empty() && old.is_over());
    assert_eq!(ids(&new.take(false)), ["run:1"]);
    assert!(new.take(false).is_empty(), "once");
    assert!(!pending.take_back());
    desk.report("run:1", vec!["half".into()], None);
    assert_eq!(desk.progress("run:1"), ["half"]);
    // The next poll holds it: the hand-over was not lost.
    let next = poll(&desk, session(1, "a"), &["run:1"]).unwrap();
    let lost = Reported::Lost(Failure::new("x", "y"));
    desk.report("run:1", Vec::new(), Some(lost.clone()));
    assert_eq!(pending.ends().await, lost);
    drop(next);
}

#[tokio::test]
async fn a_poll_without_what_was_handed_proves_that_it_was_lost() {
    let desk = Arc::<Desk>::default();
    let mut first = poll(&desk, session(1, "a"), &[]).unwrap();
    let mut pending = desk.post(errand("run:1", true), false);
    assert_eq!(first.take(false).len(), 1);
    let _second = poll(&desk, session(1, "a"), &[]).unwrap();
    assert!(matches!(pending.ends().await, Reported::Lost(_)));
}

#[test]
fn an_older_program_or_a_twin_gets_nothing() {
    let desk = Arc::<Desk>::default();
    let _present = poll(&desk, session(7, "a"), &[]).unwrap();
    assert!(poll(&desk, session(7, "b"), &[]).is_err(), "a clone");
    assert!(poll(&desk, session(6, "a"), &[]).is_err(), "a stale one");
    assert!(poll(&desk, session(7, "a"), &[]).is_ok());
    assert!(poll(&desk, session(8, "b"), &[]).is_ok(), "a restart");
    assert!(poll(&desk, session(7, "a"), &[]).is_err());
}

#[tokio::test]
async fn while_frozen_questions_go_out_and_runs_come_back() {
    let desk = Arc::<Desk>::default();
    let mut turn = poll(&desk, session(1, "a"), &[]).unwrap();
    let mut run = desk.post(errand("run:1", true), false);
    let _question = desk.post(errand("void-settle:1:0", false), false);
    assert_eq!(ids(&turn.take(true)), ["void-settle:1:0"]);
    assert!(matches!(run.ends().await, Reported::NotSent(failure) if failure.code == "frozen"));
}

#[tokio::test]
async fn what_waits_for_an_absent_node_can_be_taken_elsewhere_and_comes_back() {
    let desk = Arc::<Desk>::default();
    let mut ours = desk.post(errand("run:1", true), false);
    let _theirs = desk.post(errand("run:2", true), true);
    assert_eq!(ids(&desk.strand()), ["run:1"]);
    assert!(desk.strand().is_empty() && !ours.take_back());
    // A poll that comes here now says nothing about what another instance handed over.
    let mut turn = poll(&desk, session(1, "a"), &[]).unwrap();
    assert_eq!(ids(&turn.take(false)), ["run:2"]);
    let lost = Reported::Lost(Failure::new("x", "y"));
    desk.report("run:1", Vec::new(), Some(lost.clone()));
    assert_eq!(ours.ends().await, lost);
}
