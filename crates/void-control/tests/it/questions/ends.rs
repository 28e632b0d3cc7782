//! How questions end: answered, taken back, in vain, with whoever asked or was asked.

use super::*;

stories!(
    whoever_was_asked_answers_and_nobody_else_but_the_owner,
    whoever_asked_and_whoever_is_above_takes_back,
    a_question_ends_once,
    what_is_late_is_over_whoever_is_first,
    of_an_answer_and_an_expiry_one_wins,
    an_agent_wakes_when_it_is_asked_and_when_it_is_answered,
    what_a_withdrawn_agent_asked_or_was_asked_ends_with_it,
    a_question_is_there_after_a_crash,
);

fn everybody() -> Vec<Ctx> {
    let inside = MEMBERS.map(agent).into_iter();
    let all = inside.chain(MEMBERS.map(outside)).chain(others());
    all.chain([owner()]).collect()
}

/// The name of a member that acts inside.
fn member(who: &Ctx) -> Option<&'static str> {
    let of = |one: &&str| !who.is_from_outside && called(who) == format!("agent-{one}");
    MEMBERS.into_iter().find(of)
}

fn word(ended: &Result<Question, EndError>) -> &'static str {
    match ended {
        Ok(_) => "done",
        Err(EndError::NotFound) => "not found",
        Err(EndError::NotAsked | EndError::NotAsker) => "refused",
        Err(error) => panic!("{error}"),
    }
}

/// Everybody × a question to the owner, to a sibling and to a child.
async fn whoever_was_asked_answers_and_nobody_else_but_the_owner(plane: &mut Plane) {
    begin(plane).await;
    for to in ["owner", "carol", "bob"] {
        for who in everybody() {
            plane.pass(Duration::from_secs(60 * 60));
            let question = asked(plane, "alice", to).await;
            let is_asked = member(&who) == Some(to) || (to == "owner" && who.actor.is_owner());
            // Above the asker; what the owner was asked nobody answers in their place.
            let is_above = matches!(member(&who), Some("root" | "anna")) && to != "owner";
            let sees = right(plane, &who, Operation::SeeLooseEnds, "alice").await == Right::Alone
                || (to != "owner"
                    && right(plane, &who, Operation::SeeLooseEnds, to).await == Right::Alone);
            let expected = match (is_asked || is_above || who.actor.is_owner(), sees) {
                (true, _) => "done",
                (false, true) => "refused",
                (false, false) => "not found",
            };
            let answered = answer(plane, &who, &question).await;
            assert_eq!(
                word(&answered),
                expected,
                "{} answers what {to} was asked",
                called(&who)
            );
            if let Ok(answered) = answered {
                let QuestionState::Answered { by, reply, .. } = &answered.state else {
                    panic!("{answered:?}");
                };
                assert_eq!((by, reply.text.as_str()), (&who.actor.to_string(), "sda"));
            } else {
                cancel(plane, &owner(), &question).await.unwrap();
            }
        }
    }
}

/// Everybody × what the tree says of moderating the asker.
async fn whoever_asked_and_whoever_is_above_takes_back(plane: &mut Plane) {
    begin(plane).await;
    let mut done = 0;
    for to in ["owner", "bob"] {
        for who in everybody() {
            plane.pass(Duration::from_secs(60 * 60));
            let question = asked(plane, "alice", to).await;
            let moderates = right(plane, &who, Operation::Moderate, "alice").await == Right::Alone;
            let is_visible = moderates || (to == "bob" && member(&who) == Some("bob"));
            let expected = match (moderates || who.actor.is_owner(), is_visible) {
                (true, _) => "done",
                (false, true) => "refused",
                (false, false) => "not found",
            };
            let cancelled = cancel(plane, &who, &question).await;
            assert_eq!(
                word(&cancelled),
                expected,
                "{} takes back from {to}",
                called(&who)
            );
            match cancelled {
                Ok(_) => done += 1,
                Err(_) => drop(cancel(plane, &owner(), &question).await.unwrap()),
            }
        }
    }
    // Alice, anna, root and the owner, of both.
    assert_eq!(done, 8);
    // What the owner asked only the owner takes back.
    let of_owner = ask(plane, &owner(), request("alice")).await.unwrap();
    for (who, expected) in [
        ("root", "refused"),
        ("alice", "refused"),
        ("bob", "not found"),
    ] {
        assert_eq!(
            word(&cancel(plane, &agent(who), &of_owner).await),
            expected,
            "{who}"
        );
    }
    cancel(plane, &owner(), &of_owner).await.unwrap();
}

async fn a_question_ends_once(plane: &mut Plane) {
    begin(plane).await;
    let answered = asked(plane, "alice", "owner").await;
    answer(plane, &owner(), &answered).await.unwrap();
    let cancelled = asked(plane, "alice", "owner").await;
    cancel(plane, &agent("alice"), &cancelled).await.unwrap();
    for (question, state) in [(&answered, "answered"), (&cancelled, "cancelled")] {
        for again in [
            answer(plane, &owner(), question).await,
            cancel(plane, &owner(), question).await,
            cancel(plane, &agent("anna"), question).await,
        ] {
            match again {
                Err(EndError::Over { over, question }) => {
                    assert_eq!((over.0, question.state.as_str()), (state, state));
                }
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(plane.audited("question.answered").await.len(), 1);
    assert_eq!(plane.audited("question.cancelled").await.len(), 1);
    // What is no answer leaves it open.
    let open = asked(plane, "alice", "owner").await;
    for bad in [
        option(0),
        option(3),
        AnswerRequest {
            choice: ReplyChoice::Words(" ".to_owned()),
            ..option(1)
        },
    ] {
        let refused = answer_with(plane, &owner(), &open, bad).await;
        assert!(matches!(refused, Err(EndError::Invalid(_))), "{refused:?}");
    }
    assert!(seen(plane, &owner(), &open).await.unwrap().state.is_open());
}

async fn what_is_late_is_over_whoever_is_first(plane: &mut Plane) {
    begin(plane).await;
    let question = asked(plane, "alice", "owner").await;
    plane.go_to(question.expires_at);
    // Whether or not a sweep was faster.
    for late in [
        answer(plane, &owner(), &question).await,
        cancel(plane, &agent("alice"), &question).await,
    ] {
        assert!(
            matches!(&late, Err(EndError::Over { over, .. }) if over.0 == "expired"),
            "{late:?}"
        );
    }
    eventually("it to expire", async || {
        let found = seen(plane, &owner(), &question).await.unwrap();
        matches!(found.state, QuestionState::Expired { .. }).then_some(())
    })
    .await;
    assert_eq!(plane.audited("question.expired").await.len(), 1);
    assert_eq!(causes_of(plane, "alice").await, [over(&question)]);
}

/// The clock passes the expiry while answers come in: each question ends one way, and the record has one entry of it.
async fn of_an_answer_and_an_expiry_one_wins(plane: &mut Plane) {
    begin(plane).await;
    let mut open = Vec::new();
    for _ in 0..10 {
        open.push(asked(plane, "alice", "owner").await);
    }
    plane.pass(EXPIRES_AFTER_DEFAULT - Duration::from_millis(50));
    for (at, question) in open.iter().enumerate() {
        if at == 5 {
            plane.pass(Duration::from_millis(50));
        }
        let answered = answer(plane, &owner(), question).await;
        assert_eq!(answered.is_ok(), at < 5, "{at}: {answered:?}");
    }
    eventually("the others to expire", async || {
        (plane.audited("question.expired").await.len() == 5).then_some(())
    })
    .await;
    assert_eq!(plane.audited("question.answered").await.len(), 5);
}

async fn an_agent_wakes_when_it_is_asked_and_when_it_is_answered(plane: &mut Plane) {
    begin(plane).await;
    let question = asked(plane, "alice", "bob").await;
    assert_eq!(causes_of(plane, "bob").await, [super::question(&question)]);
    assert!(causes_of(plane, "alice").await.is_empty());
    answer(plane, &agent("bob"), &question).await.unwrap();
    assert!(causes_of(plane, "bob").await.is_empty(), "it is answered");
    assert_eq!(causes_of(plane, "alice").await, [over(&question)]);
    // What began a turn waits no more.
    assert_eq!(kin::take(plane, "alice").await, 1);
    // Whoever takes back its own question is not woken by that.
    let own = asked(plane, "alice", "bob").await;
    cancel(plane, &agent("alice"), &own).await.unwrap();
    assert!(causes_of(plane, "alice").await.is_empty());
    assert!(causes_of(plane, "bob").await.is_empty());
    let moderated = asked(plane, "alice", "bob").await;
    cancel(plane, &agent("anna"), &moderated).await.unwrap();
    assert_eq!(causes_of(plane, "alice").await, [over(&moderated)]);
}

async fn what_a_withdrawn_agent_asked_or_was_asked_ends_with_it(plane: &mut Plane) {
    begin(plane).await;
    let token = plane
        .inside(async |control, _| {
            let (kind, none) = (ActorKind::Agent, Capabilities::none());
            let made = tokens::create(&control, &owner(), kind, "bob".to_owned(), none).await;
            made.unwrap().id
        })
        .await;
    let to_owner = asked(plane, "bob", "owner").await;
    let to_bob = asked(plane, "alice", "bob").await;
    let of_others = asked(plane, "alice", "owner").await;
    plane
        .inside(async move |control, _| tokens::revoke(&control, &owner(), token).await)
        .await
        .unwrap();
    for question in [&to_owner, &to_bob] {
        let found = seen(plane, &owner(), question).await.unwrap();
        let is_gone = matches!(
            found.state,
            QuestionState::Cancelled {
                why: QuestionCancellation::Gone,
                ..
            }
        );
        assert!(is_gone, "{found:?}");
    }
    assert!(
        seen(plane, &owner(), &of_others)
            .await
            .unwrap()
            .state
            .is_open()
    );
    assert_eq!(causes_of(plane, "alice").await, [over(&to_bob)]);
    assert!(causes_of(plane, "bob").await.is_empty());
    let refused = ask(plane, &agent("alice"), request("bob")).await;
    assert!(
        matches!(refused, Err(AskError::UnknownAgent)),
        "{refused:?}"
    );
}

async fn a_question_is_there_after_a_crash(plane: &mut Plane) {
    begin(plane).await;
    let question = asked(plane, "alice", "owner").await;
    plane.crash_and_start().await;
    kin::open(plane).await;
    assert_eq!(
        seen(plane, &owner(), &question).await,
        Some(question.clone())
    );
    answer(plane, &owner(), &question).await.unwrap();
    plane.crash_and_start().await;
    assert_eq!(causes_of(plane, "alice").await, [over(&question)]);
}
