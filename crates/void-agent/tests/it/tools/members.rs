//! The tools of whoever has a position in the tree: who has them, and that what is read by them marks its reader.

use serde_json::{Map, Value, json};
use void_agent::tools::{self, Notes, Outcome, REGISTRIES, Reach, Scope, TOOLS, ToolError};
use void_control::Ctx;
use void_control::tree::{self, TreePlaces};
use void_domain::capabilities::{Capabilities, Capability};
use void_domain::failures::FailureCode;
use void_domain::taint::Taint;

use super::resident;
use crate::rooms::{Room, room};

const MEMBERS: [(&str, &[Capability]); 3] = [
    ("little-blue", &[Capability::Read, Capability::Act]),
    ("companion", &[Capability::Read, Capability::Suggest]),
    ("sentinel", &[Capability::Read]),
];

async fn with_tree(room: &Room) {
    let rights = |all: &[Capability]| all.iter().copied().collect::<Capabilities>();
    let members = MEMBERS.map(|(name, may)| (name.parse().unwrap(), rights(may)));
    let places = TreePlaces::of_data(room.lab.path());
    tree::open(&room.control, places, members.to_vec())
        .await
        .unwrap();
}

async fn ctx(room: &Room, name: &str) -> Ctx {
    let (_, rights) = MEMBERS.into_iter().find(|(one, _)| *one == name).unwrap();
    resident(room, name, rights).await.ctx
}

async fn call(
    room: &Room,
    ctx: &Ctx,
    tool: &str,
    read: &[&str],
    arguments: Value,
) -> Result<Outcome, ToolError> {
    let tool = TOOLS.into_iter().find(|one| one.name == tool).unwrap();
    let taint = Taint::from_sources(read.iter().map(|&one| one.to_owned()).collect());
    let (scope, notes) = (Scope::of_turn(None, None), Notes::default());
    let arguments = arguments.as_object().cloned().unwrap_or_else(Map::new);
    tool.call(&room.control, ctx, &taint, &scope, &notes, arguments)
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_stands_in_the_tree_has_its_tools_and_nobody_else() {
    let (room, _) = room([]).await;
    let names = |ctx: &Ctx, of_tree: bool| -> Vec<&'static str> {
        let offered = tools::for_turn(&room.control, ctx);
        let wanted = offered.filter(|tool| (tool.reach == Reach::Tree) == of_tree);
        wanted.map(|tool| tool.name).collect()
    };
    let sentinel = ctx(&room, "sentinel").await;
    let chat = names(&sentinel, false);
    assert!(names(&sentinel, true).is_empty(), "no tree was opened");
    with_tree(&room).await;
    let own = ["ask", "answer", "remind", "cancel", "loose_ends"];
    let all = [&["send", "recv", "wake"][..], &own].concat();
    assert_eq!(names(&sentinel, true), all);
    // A token from outside stands nowhere, and none of these is in a set that a client asks for.
    let outside = Ctx {
        is_from_outside: true,
        ..sentinel.clone()
    };
    assert!(names(&outside, true).is_empty());
    assert_eq!(names(&outside, false), chat);
    for set in &REGISTRIES {
        assert!(all.iter().all(|tool| set.get(tool).is_none()));
    }
    for (tool, arguments) in [
        ("ask", json!({"to": "owner", "text": "?"})),
        ("remind", json!({"text": "x", "every_s": 300})),
    ] {
        let refused = call(&room, &outside, tool, &[], arguments)
            .await
            .unwrap_err();
        assert_eq!(refused.code, FailureCode::Forbidden, "{tool}");
    }
    let refused = call(&room, &outside, "loose_ends", &[], json!({}))
        .await
        .unwrap_err();
    assert_eq!(refused.code, FailureCode::Forbidden);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_read_of_a_question_and_its_answer_marks_the_turn() {
    let (room, _) = room([]).await;
    with_tree(&room).await;
    let (blue, sentinel) = (
        ctx(&room, "little-blue").await,
        ctx(&room, "sentinel").await,
    );
    let question = json!({"to": "sentinel", "text": "Is it safe?", "options": ["yes", "no"]});
    let asked = call(&room, &blue, "ask", &["page A"], question)
        .await
        .unwrap();
    let code = asked.value["code"].as_str().unwrap().to_owned();
    assert!(asked.foreign.is_empty(), "its own words");
    // The list says that there is one, and not what it says.
    let listed = call(&room, &sentinel, "loose_ends", &[], json!({}))
        .await
        .unwrap();
    let open = &listed.value["agents"][0]["to_answer"][0];
    assert_eq!((&open["code"], open.get("text")), (&json!(code), None));
    assert!(listed.foreign.is_empty());
    let read = json!({"question": code});
    let found = call(&room, &sentinel, "loose_ends", &[], read.clone())
        .await
        .unwrap();
    assert_eq!(found.value["question"]["untrusted_text"], "Is it safe?");
    assert_eq!(found.foreign, ["page A"]);
    let answer = json!({"question": code, "option": 1});
    call(&room, &sentinel, "answer", &["log B"], answer.clone())
        .await
        .unwrap();
    let found = call(&room, &blue, "loose_ends", &[], read.clone())
        .await
        .unwrap();
    assert_eq!(found.value["question"]["untrusted_answer"], "yes");
    assert_eq!(found.foreign, ["page A", "log B"]);
    // Twice, by somebody beside, and what is over.
    let again = call(&room, &sentinel, "answer", &[], answer.clone())
        .await
        .unwrap_err();
    assert_eq!(again.code, FailureCode::AlreadyDecided);
    let companion = ctx(&room, "companion").await;
    for (tool, arguments) in [
        ("answer", answer),
        ("cancel", json!({"question": code})),
        ("loose_ends", read),
        ("loose_ends", json!({"agent": "sentinel"})),
    ] {
        let refused = call(&room, &companion, tool, &[], arguments)
            .await
            .unwrap_err();
        assert_eq!(refused.code, FailureCode::NotFound, "{tool}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reminder_is_set_listed_and_cancelled_by_whoever_it_reminds() {
    let (room, _) = room([]).await;
    with_tree(&room).await;
    let (sentinel, companion) = (ctx(&room, "sentinel").await, ctx(&room, "companion").await);
    let wanted = json!({"text": "look again", "cron": "0 9 * * *", "zone": "Europe/Berlin"});
    let set = call(&room, &sentinel, "remind", &[], wanted).await.unwrap();
    let id = set.value["id"].as_str().unwrap().to_owned();
    let listed = call(&room, &sentinel, "loose_ends", &[], json!({}))
        .await
        .unwrap();
    let open = &listed.value["agents"][0]["reminders"][0];
    assert_eq!(
        (&open["id"], &open["text"]),
        (&json!(id), &json!("look again"))
    );
    let cancel = json!({"reminder": id});
    let refused = call(&room, &companion, "cancel", &[], cancel.clone())
        .await
        .unwrap_err();
    assert_eq!(refused.code, FailureCode::NotFound);
    call(&room, &sentinel, "cancel", &[], cancel.clone())
        .await
        .unwrap();
    let again = call(&room, &sentinel, "cancel", &[], cancel)
        .await
        .unwrap_err();
    assert_eq!(again.code, FailureCode::AlreadyDecided);
    for bad in [
        json!({"text": "x"}),
        json!({"text": "x", "every_s": 299}),
        json!({"text": "x", "every_s": 300, "at": "2026-11-16T22:00:00Z"}),
        json!({"text": "x", "cron": "@hourly"}),
        json!({"text": "x", "cron": "0 9 * * *", "zone": "nowhere"}),
    ] {
        let refused = call(&room, &sentinel, "remind", &[], bad)
            .await
            .unwrap_err();
        assert_eq!(
            refused.code,
            FailureCode::InvalidArguments,
            "{}",
            refused.message
        );
    }
}
