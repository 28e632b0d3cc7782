//! What happens to agents is noted for their next turn with what happens: for whom it concerns, once, and as long as it
//! is not over.

use void_control::agent_messages::{self, SendError, SendRequest, Sent};
use void_control::questions::{self, AnswerRequest, QuestionKey};
use void_control::reminders::{self, SetRequest};
use void_control::{Ctx, tokens};
use void_domain::actors::ActorKind;
use void_domain::agent_messages::{MessageText, OwnWake};
use void_domain::capabilities::Capabilities;
use void_domain::questions::{OPEN_PER_ASKED_MAX, Question, ReplyChoice};
use void_domain::reminders::{INTERVAL_MIN, ReminderSchedule};
use void_testkit::eventually;

use super::*;
use crate::callers::agent;
use crate::kin::{self, MEMBERS};
use crate::questions::{ask, request};

stories!(
    a_message_a_question_its_end_and_a_reminder_wait_for_whom_they_concern,
    what_is_over_waits_for_nobody,
    more_questions_than_there_is_room_for_lose_nothing_else,
);

fn read() -> Taint {
    Taint::from_sources(vec!["page A".to_owned()])
}

async fn send(plane: &Plane, who: Ctx, to: &str, key: &str) -> Result<Sent, SendError> {
    let wanted = SendRequest {
        to: name(to),
        text: MessageText::parse("look at this").unwrap(),
        key: Some(key.parse().unwrap()),
        taint: read(),
    };
    plane
        .inside(async move |control, _| agent_messages::send(&control, &who, wanted).await)
        .await
}

async fn asked(plane: &Plane, who: &Ctx, to: &str) -> Question {
    ask(plane, who, request(to)).await.unwrap()
}

async fn answer(plane: &Plane, who: Ctx, question: &Question) -> bool {
    let wanted = AnswerRequest {
        choice: ReplyChoice::Option(1),
        taint: read(),
        key: None,
    };
    let key = QuestionKey::Id(question.id);
    ask!(plane, who, |control, ctx| questions::answer(
        &control, &ctx, key, wanted
    ))
    .is_ok()
}

async fn cancel(plane: &Plane, who: Ctx, question: &Question) {
    let key = QuestionKey::Id(question.id);
    ask!(plane, who, |control, ctx| questions::cancel(
        &control, &ctx, key
    ))
    .unwrap();
}

/// Keys, counts and what could be a stranger's, of everybody for whom something waits.
async fn all(plane: &Plane) -> Vec<(&'static str, String, u32, bool)> {
    let mut all = Vec::new();
    for who in MEMBERS {
        let mut waiting = kin::waiting(plane, who).await;
        waiting.sort_by_key(|one| one.cause.key());
        for one in waiting {
            let is_marked = one.words.is_some() || !one.taint.is_clean();
            all.push((who, one.cause.key(), one.count, is_marked));
        }
    }
    all
}

async fn a_message_a_question_its_end_and_a_reminder_wait_for_whom_they_concern(plane: &mut Plane) {
    kin::begin(plane).await;
    assert_eq!(all(plane).await, []);
    // The same key is the same message, and what is refused wakes nobody.
    for (key, is_repeat) in [("k-1", false), ("k-1", true), ("k-2", false)] {
        let sent = send(plane, agent("alice"), "bob", key).await.unwrap();
        assert_eq!(sent.is_repeat, is_repeat);
    }
    assert!(send(plane, agent("bob"), "dave", "k-3").await.is_err());
    send(plane, owner(), "bob", "k-4").await.unwrap();
    for is_repeat in [false, true] {
        let woken = ask!(plane, agent("anna"), |control, ctx| agent_messages::wake(
            &control,
            &ctx,
            OwnWake::Timer,
            read()
        ));
        assert_eq!(woken.unwrap().is_repeat, is_repeat);
    }
    let open = asked(plane, &agent("alice"), "carol").await;
    let over = asked(plane, &agent("alice"), "carol").await;
    for is_first in [true, false] {
        assert_eq!(answer(plane, agent("carol"), &over).await, is_first);
    }
    assert!(!answer(plane, agent("dave"), &open).await);
    let wanted = SetRequest {
        agent: name("dave"),
        text: "look at the backup".to_owned(),
        schedule: ReminderSchedule::Every {
            interval: INTERVAL_MIN,
        },
        taint: read(),
    };
    let reminder = ask!(plane, agent("dave"), |control, ctx| reminders::set(
        &control, &ctx, wanted
    ))
    .unwrap();
    let mut expected = vec![
        ("anna", "mail:anna".to_owned(), 1, false),
        ("alice", format!("answer:{}", over.id), 1, false),
        ("bob", "mail:alice".to_owned(), 2, false),
        ("bob", "mail:owner".to_owned(), 1, false),
        ("carol", format!("question:{}", open.id), 1, false),
    ];
    assert_eq!(all(plane).await, expected, "nothing is due yet");
    plane.pass(INTERVAL_MIN);
    eventually("the reminder to fire", async || {
        (plane.audited("reminder.fired").await.len() == 1).then_some(())
    })
    .await;
    expected.push(("dave", format!("reminder:{}", reminder.id), 1, true));
    assert_eq!(all(plane).await, expected);
    plane.crash_and_start().await;
    kin::open(plane).await;
    assert_eq!(all(plane).await, expected, "after a crash");
}

async fn what_is_over_waits_for_nobody(plane: &mut Plane) {
    kin::begin(plane).await;
    let token = plane
        .inside(async |control, _| {
            let (kind, none) = (ActorKind::Agent, Capabilities::none());
            let made = tokens::create(&control, &owner(), kind, "bob".to_owned(), none).await;
            made.unwrap().id
        })
        .await;
    let own = asked(plane, &agent("alice"), "carol").await;
    cancel(plane, agent("alice"), &own).await;
    let of_owner = asked(plane, &owner(), "carol").await;
    cancel(plane, owner(), &of_owner).await;
    assert_eq!(all(plane).await, []);
    // Above the asker: the asker learns that it is over.
    let moderated = asked(plane, &agent("alice"), "carol").await;
    cancel(plane, agent("anna"), &moderated).await;
    let late = asked(plane, &agent("dave"), "anna").await;
    plane.go_to(late.expires_at.plus(Duration::from_secs(1)));
    eventually("the question to expire", async || {
        (plane.audited("question.expired").await.len() == 1).then_some(())
    })
    .await;
    send(plane, owner(), "bob", "k-1").await.unwrap();
    let to_bob = asked(plane, &owner(), "bob").await;
    let expected = [
        ("alice", format!("answer:{}", moderated.id), 1, false),
        ("bob", "mail:owner".to_owned(), 1, false),
        ("bob", format!("question:{}", to_bob.id), 1, false),
        ("dave", format!("answer:{}", late.id), 1, false),
    ];
    assert_eq!(all(plane).await, expected);
    // Of a withdrawn agent nothing is left, and nothing comes.
    plane
        .inside(async move |control, _| tokens::revoke(&control, &owner(), token).await)
        .await
        .unwrap();
    let refused = send(plane, owner(), "bob", "k-2").await;
    assert!(matches!(refused, Err(SendError::ReceiverGone(_))));
    let of_others: Vec<_> = expected.into_iter().filter(|one| one.0 != "bob").collect();
    assert_eq!(all(plane).await, of_others);
}

/// What found no room waits with the last one, so that one does not go when it is over.
async fn more_questions_than_there_is_room_for_lose_nothing_else(plane: &mut Plane) {
    kin::begin(plane).await;
    let mut open = Vec::new();
    for _ in 0..OPEN_PER_ASKED_MAX {
        open.push(asked(plane, &owner(), "carol").await);
        plane.pass(Duration::from_millis(1));
    }
    send(plane, owner(), "carol", "k-1").await.unwrap();
    assert_eq!(all(plane).await.len(), CAUSES_WAITING_MAX);
    for question in &open {
        cancel(plane, owner(), question).await;
    }
    let last = &open[CAUSES_WAITING_MAX - 1];
    let more = u32::try_from(open.len() - CAUSES_WAITING_MAX + 2).unwrap();
    let kept = ("carol", format!("question:{}", last.id), more, false);
    assert_eq!(all(plane).await, [kept]);
}
