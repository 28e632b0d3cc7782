//! Who is handed what, and what a later poll proves.

use super::*;

fn session(generation: u64, nonce: &str) -> Connection {
    Connection {
        generation,
        nonce: nonce.to_owned(),
    }
}

fn poll(mailbox: &Arc<Mailbox>, session: Connection, holding: &[&str]) -> Result<Poll, Superseded> {
    mailbox.arrive(Arrival {
        session,
        list: None,
        holding: holding.iter().map(|id| (*id).to_owned()).collect(),
    })
}

fn command(id: &str, is_run: bool) -> Command {
    Command {
        id: id.to_owned(),
        command: "a".to_owned(),
        limit: Duration::from_secs(1),
        is_run,
    }
}

fn ids(commands: &[Command]) -> Vec<&str> {
    commands.iter().map(|command| command.id.as_str()).collect()
}

#[tokio::test]
async fn a_command_is_handed_to_the_newest_poll_and_to_no_other() {
    let mailbox = Arc::<Mailbox>::default();
    let mut old = poll(&mailbox, session(1, "a"), &[]).unwrap();
    let mut new = poll(&mailbox, session(1, "a"), &[]).unwrap();
    let mut pending = mailbox.post(command("run:1", true), false);
    assert!(old.take(false).is_empty() && old.is_over());
    assert_eq!(ids(&new.take(false)), ["run:1"]);
    assert!(new.take(false).is_empty(), "once");
    assert!(!pending.take_back());
    mailbox.report("run:1", vec!["half".into()], None);
    assert_eq!(mailbox.progress("run:1"), ["half"]);
    // The next poll holds it: the hand-over was not lost.
    let next = poll(&mailbox, session(1, "a"), &["run:1"]).unwrap();
    let lost = Reported::Lost(Failure::new(FailureCode::Locked, "y"));
    mailbox.report("run:1", Vec::new(), Some(lost.clone()));
    assert_eq!(pending.ends().await, lost);
    drop(next);
}

#[tokio::test]
async fn a_poll_without_what_was_handed_proves_that_it_was_lost() {
    let mailbox = Arc::<Mailbox>::default();
    let mut first = poll(&mailbox, session(1, "a"), &[]).unwrap();
    let mut pending = mailbox.post(command("run:1", true), false);
    assert_eq!(first.take(false).len(), 1);
    let _second = poll(&mailbox, session(1, "a"), &[]).unwrap();
    assert!(matches!(pending.ends().await, Reported::Lost(_)));
}

#[test]
fn an_older_program_or_a_twin_gets_nothing() {
    let mailbox = Arc::<Mailbox>::default();
    let _present = poll(&mailbox, session(7, "a"), &[]).unwrap();
    assert!(poll(&mailbox, session(7, "b"), &[]).is_err(), "a clone");
    assert!(poll(&mailbox, session(6, "a"), &[]).is_err(), "a stale one");
    assert!(poll(&mailbox, session(7, "a"), &[]).is_ok());
    assert!(poll(&mailbox, session(8, "b"), &[]).is_ok(), "a restart");
    assert!(poll(&mailbox, session(7, "a"), &[]).is_err());
}

#[tokio::test]
async fn while_frozen_questions_go_out_and_runs_come_back() {
    let mailbox = Arc::<Mailbox>::default();
    let mut turn = poll(&mailbox, session(1, "a"), &[]).unwrap();
    let mut run = mailbox.post(command("run:1", true), false);
    let _question = mailbox.post(command("void-settle:1:0", false), false);
    assert_eq!(ids(&turn.take(true)), ["void-settle:1:0"]);
    assert!(matches!(run.ends().await, Reported::NotSent(failure) if failure.code == "frozen"));
}

#[tokio::test]
async fn what_waits_for_an_absent_node_can_be_taken_elsewhere_and_comes_back() {
    let mailbox = Arc::<Mailbox>::default();
    let mut ours = mailbox.post(command("run:1", true), false);
    let _theirs = mailbox.post(command("run:2", true), true);
    assert_eq!(ids(&mailbox.strand()), ["run:1"]);
    assert!(mailbox.strand().is_empty() && !ours.take_back());
    // A poll that comes here now says nothing about what another instance handed over.
    let mut turn = poll(&mailbox, session(1, "a"), &[]).unwrap();
    assert_eq!(ids(&turn.take(false)), ["run:2"]);
    let lost = Reported::Lost(Failure::new(FailureCode::Locked, "y"));
    mailbox.report("run:1", Vec::new(), Some(lost.clone()));
    assert_eq!(ours.ends().await, lost);
}
