//! Questions and reminders: each moves once, the guard is in the statement, and what no type says no table holds.

use std::time::Duration;

use void_domain::ids::{QuestionId, ReminderId};
use void_domain::questions::{
    Question, QuestionCancellation, QuestionCode, QuestionParty, QuestionState, QuestionWords,
    ReplyChoice,
};
use void_domain::reminders::{Reminder, ReminderSchedule, ReminderState};
use void_domain::taint::Taint;
use void_store::{StoreError, questions, reminders, retention};
use void_testkit::proposals::NOW;

use crate::engines;

const HOUR: Duration = Duration::from_secs(60 * 60);

macro_rules! on {
    ($store:expr, |$tx:ident| $body:expr) => {{
        let done: Result<_, StoreError> = $store
            .write(move |$tx| Box::pin(async move { $body.await }))
            .await;
        done
    }};
}

fn question(n: u8, asker: &str, asked: &str) -> Question {
    let party = |text: &str| QuestionParty::parse(text).unwrap();
    Question {
        id: QuestionId::new(NOW, [n; 10]),
        code: QuestionCode::from_random(&[n, 1, 2, 3]),
        asker: party(asker),
        asker_id: None,
        asked: party(asked),
        words: QuestionWords::new("which?", vec!["a".to_owned(), "b".to_owned()]).unwrap(),
        taint: Taint::from_sources(vec!["page".to_owned()]),
        asked_at: NOW,
        expires_at: NOW.plus(HOUR),
        state: QuestionState::Open,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_read_as_it_was_written_and_ends_once() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        let first = question(1, "alice", "owner");
        let stored = first.clone();
        on!(store, |tx| questions::insert(tx, &stored)).unwrap();
        // An open question's code is its own.
        let twin = Question {
            code: first.code.clone(),
            ..question(2, "bob", "owner")
        };
        let refused = on!(store, |tx| questions::insert(tx, &twin));
        assert!(matches!(refused, Err(StoreError::Constraint(_))), "{name}");
        let id = first.id;
        assert_eq!(
            on!(store, |tx| questions::find(tx, id)),
            Ok(Some(first.clone()))
        );
        let reply = first.reply(ReplyChoice::Option(2)).unwrap();
        let answered = first
            .clone()
            .answer("owner-web", reply, Taint::clean(), NOW)
            .unwrap();
        let why = QuestionCancellation::Withdrawn;
        let cancelled = first.clone().cancel("agent-alice", why, NOW).unwrap();
        let ended = answered.clone();
        assert_eq!(on!(store, |tx| questions::end(tx, &ended)), Ok(true));
        assert_eq!(
            on!(store, |tx| questions::end(tx, &cancelled)),
            Ok(false),
            "{name}"
        );
        assert_eq!(on!(store, |tx| questions::find(tx, id)), Ok(Some(answered)));
        for (n, end) in [(3, "cancelled"), (4, "expired")] {
            let open = question(n, "owner", "alice");
            let (stored, id) = (open.clone(), open.id);
            on!(store, |tx| questions::insert(tx, &stored)).unwrap();
            let over = match end {
                "cancelled" => open.cancel("owner-cli", why, NOW).unwrap(),
                _ => open.expire(NOW.plus(HOUR)).unwrap(),
            };
            let stored = over.clone();
            assert_eq!(on!(store, |tx| questions::end(tx, &stored)), Ok(true));
            assert_eq!(
                on!(store, |tx| questions::find(tx, id)),
                Ok(Some(over)),
                "{name}"
            );
        }
        // The owner asks nobody who is the owner.
        let none = question(5, "owner", "owner");
        let refused = on!(store, |tx| questions::insert(tx, &none));
        assert!(matches!(refused, Err(StoreError::Constraint(_))), "{name}");
        let prune = async |before| {
            on!(store, |tx| retention::prune_notifications(tx, before, 100)).unwrap()
        };
        assert_eq!(prune(NOW).await, 0, "{name}");
        assert_eq!(prune(NOW.plus(HOUR * 2)).await, 3, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reminder_moves_on_from_what_it_was_due_at_and_from_nothing_else() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        let due = NOW.plus(HOUR);
        let reminder = Reminder {
            id: ReminderId::new(NOW, [1; 10]),
            agent: "alice".parse().unwrap(),
            set_by: "agent-alice".to_owned(),
            text: "look".to_owned(),
            taint: Taint::clean(),
            schedule: ReminderSchedule::Every { interval: HOUR },
            set_at: NOW,
            fired_count: 0,
            last_fired_at: None,
            state: ReminderState::Active { next_at: due },
        };
        let (stored, id) = (reminder.clone(), reminder.id);
        on!(store, |tx| reminders::insert(tx, &stored)).unwrap();
        assert_eq!(
            on!(store, |tx| reminders::find(tx, id)),
            Ok(Some(reminder.clone()))
        );
        let before = due.minus(Duration::from_millis(1));
        assert_eq!(
            on!(store, |tx| reminders::list_due(tx, before, 10)),
            Ok(Vec::new())
        );
        assert_eq!(
            on!(store, |tx| reminders::list_due(tx, due, 10)),
            Ok(vec![id])
        );
        let (fired, due_at) = reminder.fire(due).unwrap();
        let advance = async |one: Reminder, from| {
            on!(store, |tx| reminders::advance(tx, &one, from)).unwrap()
        };
        assert!(!advance(fired.clone(), NOW).await, "{name}");
        assert!(advance(fired.clone(), due_at).await);
        assert!(
            !advance(fired.clone(), due_at).await,
            "{name}: somebody else fired it"
        );
        assert_eq!(
            on!(store, |tx| reminders::find(tx, id)),
            Ok(Some(fired.clone()))
        );
        assert_eq!(
            on!(store, |tx| reminders::cancel(tx, id, "owner-cli", NOW)),
            Ok(true)
        );
        assert_eq!(
            on!(store, |tx| reminders::cancel(tx, id, "owner-cli", NOW)),
            Ok(false)
        );
        let next = fired.next_at().unwrap();
        assert!(!advance(fired, next).await, "{name}: it was cancelled");
    }
}
