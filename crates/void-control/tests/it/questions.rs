//! Questions: who may ask whom, who answers and who takes back, each once and in time.

use std::time::Duration;

use void_control::questions::{self, AnswerRequest, AskError, AskRequest, EndError, QuestionKey};
use void_control::tokens;
use void_control::{Ctx, tree};
use void_domain::actors::ActorKind;
use void_domain::agent_turns::{TurnCause, WaitingCause};
use void_domain::capabilities::Capabilities;
use void_domain::questions::{
    ASKED_PER_HOUR_MAX, EXPIRES_AFTER_DEFAULT, OPEN_PER_ASKED_MAX, OPEN_PER_ASKER_MAX, Question,
    QuestionCancellation, QuestionParty, QuestionState, ReplyChoice,
};
use void_domain::taint::Taint;
use void_testkit::eventually;
use void_tree::{Operation, Right};

use crate::callers::{agent, others, owner};
use crate::kin::{self, MEMBERS, begin, called, name, outside};
use crate::planes::Plane;

mod ends;

stories!(
    who_may_ask_whom_is_what_the_tree_says,
    nobody_without_a_position_asks_and_nobody_unknown_is_asked,
    what_one_agent_has_open_and_asks_in_an_hour_is_bounded,
    what_one_agent_is_asked_is_bounded,
    what_the_asker_had_read_goes_along_and_the_owner_adds_nothing,
);

pub(crate) fn request(to: &str) -> AskRequest {
    AskRequest {
        to: QuestionParty::parse(to).unwrap(),
        text: "Which disk?".to_owned(),
        options: vec!["sda".to_owned(), "sdb".to_owned()],
        expires_after: None,
        taint: Taint::clean(),
    }
}

pub(crate) async fn ask(
    plane: &Plane,
    who: &Ctx,
    wanted: AskRequest,
) -> Result<Question, AskError> {
    ask!(plane, who, |control, ctx| questions::ask(
        &control, &ctx, wanted
    ))
}

async fn asked(plane: &Plane, who: &str, to: &str) -> Question {
    ask(plane, &agent(who), request(to)).await.unwrap()
}

fn option(number: u8) -> AnswerRequest {
    AnswerRequest {
        choice: ReplyChoice::Option(number),
        taint: Taint::clean(),
        key: None,
    }
}

async fn answer(plane: &Plane, who: &Ctx, asked: &Question) -> Result<Question, EndError> {
    answer_with(plane, who, asked, option(1)).await
}

async fn answer_with(
    plane: &Plane,
    who: &Ctx,
    asked: &Question,
    wanted: AnswerRequest,
) -> Result<Question, EndError> {
    let key = QuestionKey::Id(asked.id);
    ask!(plane, who, |control, ctx| questions::answer(
        &control, &ctx, key, wanted
    ))
}

async fn cancel(plane: &Plane, who: &Ctx, asked: &Question) -> Result<Question, EndError> {
    let key = QuestionKey::Code(asked.code.clone());
    ask!(plane, who, |control, ctx| questions::cancel(
        &control, &ctx, key
    ))
}

async fn seen(plane: &Plane, who: &Ctx, asked: &Question) -> Option<Question> {
    let key = QuestionKey::Id(asked.id);
    ask!(plane, who, |control, ctx| questions::find(
        &control, &ctx, key
    ))
    .unwrap()
}

async fn causes_of(plane: &Plane, who: &'static str) -> Vec<TurnCause> {
    let waiting = kin::waiting(plane, who).await;
    // What was said is read from the question, and marks whoever reads it.
    let bare = |one: &WaitingCause| one.words.is_none() && one.taint.is_clean();
    assert!(waiting.iter().all(bare), "{waiting:?}");
    waiting.into_iter().map(|one| one.cause).collect()
}

fn question(asked: &Question) -> TurnCause {
    TurnCause::Question {
        question: asked.id.into(),
    }
}

fn over(asked: &Question) -> TurnCause {
    TurnCause::Answer {
        question: asked.id.into(),
    }
}

async fn right(plane: &Plane, who: &Ctx, operation: Operation, target: &str) -> Right {
    let (ctx, target) = (who.clone(), name(target));
    plane
        .inside(async move |control, _| tree::right_of(&control, &ctx, operation, &target))
        .await
}

async fn who_may_ask_whom_is_what_the_tree_says(plane: &mut Plane) {
    begin(plane).await;
    let mut alone = 0;
    for one in MEMBERS {
        for to in MEMBERS {
            let expected = right(plane, &agent(one), Operation::Ask, to).await;
            let live = ask(plane, &agent(one), request(to)).await;
            match &live {
                Ok(question) => {
                    assert_eq!(question.asker.to_string(), one);
                    assert_eq!(question.asked.to_string(), to);
                    alone += 1;
                }
                Err(AskError::NotAllowed) => {}
                Err(error) => panic!("{one} asks {to}: {error}"),
            }
            assert_eq!(live.is_ok(), expected == Right::Alone, "{one} asks {to}");
        }
        // Everybody who has a position may ask the owner.
        asked(plane, one, "owner").await;
    }
    // Oneself, one's parent, those beside, everybody below.
    assert_eq!(alone, 6 + 5 + 4 + 9);
    let told = plane.audited("question.asked").await;
    assert_eq!(told.len(), alone + MEMBERS.len());
    assert_eq!(told[0]["reason"], "Which disk?");
}

async fn nobody_without_a_position_asks_and_nobody_unknown_is_asked(plane: &mut Plane) {
    begin(plane).await;
    for who in others().into_iter().chain(MEMBERS.map(outside)) {
        for to in ["owner", "root", "alice"] {
            let refused = ask(plane, &who, request(to)).await;
            assert!(
                matches!(refused, Err(AskError::NotAllowed)),
                "{} asks {to}",
                called(&who)
            );
        }
    }
    for who in [agent("alice"), owner()] {
        let refused = ask(plane, &who, request("nobody")).await.unwrap_err();
        assert!(
            matches!(refused, AskError::NotAllowed | AskError::UnknownAgent),
            "{refused}"
        );
    }
    let refused = ask(plane, &owner(), request("owner")).await;
    assert!(matches!(refused, Err(AskError::UnknownAgent)));
    // A tree that cannot be read grants nothing.
    plane.stop().await;
    std::fs::write(plane.machine.path().join("meta/topology.json"), "{").unwrap();
    plane.start().await;
    kin::open(plane).await;
    for to in ["owner", "alice", "bob"] {
        let refused = ask(plane, &agent("alice"), request(to)).await;
        assert!(matches!(refused, Err(AskError::NotAllowed)), "{to}");
    }
    assert!(plane.audited("question.asked").await.is_empty());
}

async fn what_one_agent_has_open_and_asks_in_an_hour_is_bounded(plane: &mut Plane) {
    begin(plane).await;
    let mut open = Vec::new();
    for _ in 0..OPEN_PER_ASKER_MAX {
        open.push(asked(plane, "alice", "owner").await);
    }
    let limit = OPEN_PER_ASKER_MAX;
    let refused = ask(plane, &agent("alice"), request("owner")).await;
    assert!(matches!(refused, Err(AskError::TooMany { limit: found }) if found == limit));
    // Another one still asks.
    asked(plane, "bob", "owner").await;
    // What is taken back makes room, and no more of it than an hour has.
    for question in &open {
        cancel(plane, &agent("alice"), question).await.unwrap();
    }
    for _ in OPEN_PER_ASKER_MAX..ASKED_PER_HOUR_MAX {
        asked(plane, "alice", "owner").await;
    }
    let refused = ask(plane, &agent("alice"), request("owner")).await;
    assert!(matches!(refused, Err(AskError::TooOften)), "{refused:?}");
    plane.pass(Duration::from_secs(60 * 60));
    asked(plane, "alice", "owner").await;
}

async fn what_one_agent_is_asked_is_bounded(plane: &mut Plane) {
    begin(plane).await;
    let mut askers = ["root", "anna", "carol", "bob", "alice"].iter().cycle();
    for _ in 0..OPEN_PER_ASKED_MAX {
        asked(plane, askers.next().unwrap(), "alice").await;
    }
    for who in [agent("anna"), owner()] {
        let refused = ask(plane, &who, request("alice")).await;
        let limit = OPEN_PER_ASKED_MAX;
        assert!(matches!(refused, Err(AskError::TooMany { limit: found }) if found == limit));
    }
    asked(plane, "anna", "carol").await;
}

async fn what_the_asker_had_read_goes_along_and_the_owner_adds_nothing(plane: &mut Plane) {
    begin(plane).await;
    let read = |source: &str| Taint::from_sources(vec![source.to_owned()]);
    let tainted = |to: &str, source: &str| AskRequest {
        taint: read(source),
        ..request(to)
    };
    let to_bob = ask(plane, &agent("alice"), tainted("bob", "page A"))
        .await
        .unwrap();
    assert_eq!(to_bob.taint, read("page A"));
    // An agent's answer carries what it had read, and what it answers to.
    let wanted = AnswerRequest {
        taint: read("log B"),
        ..option(2)
    };
    let answered = answer_with(plane, &agent("bob"), &to_bob, wanted)
        .await
        .unwrap();
    let both = Taint::from_sources(vec!["log B".to_owned(), "page A".to_owned()]);
    assert_eq!(answered.taint_of_answer(), both);
    let stored = seen(plane, &agent("alice"), &to_bob).await.unwrap();
    assert_eq!(stored, answered);
    // The owner's answer is the owner's, also to what a stranger could have written.
    let to_owner = ask(plane, &agent("alice"), tainted("owner", "page A"))
        .await
        .unwrap();
    let answered = answer(plane, &owner(), &to_owner).await.unwrap();
    assert!(answered.taint_of_answer().is_clean());
    let by_owner = ask(plane, &owner(), tainted("alice", "page A"))
        .await
        .unwrap();
    assert!(by_owner.taint.is_clean());
    let sources = void_domain::limits::TAINT_SOURCES_MAX;
    let many = (0..=sources).map(|n| format!("page {n}")).collect();
    let wanted = AskRequest {
        taint: Taint::from_sources(many),
        ..request("owner")
    };
    let question = ask(plane, &agent("alice"), wanted).await.unwrap();
    assert_eq!(question.taint.sources().last().unwrap(), Taint::MORE);
}
