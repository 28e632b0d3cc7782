//! `/api/questions`: the owner's view of what agents ask and are reminded of, and the phone.

use serde_json::{Value, json};
use void_agent::agents::builtin;
use void_control::questions::{self, AskRequest};
use void_control::{Ctx, agents};
use void_domain::questions::{Question, QuestionParty};
use void_domain::taint::Taint;

use super::tree;
use crate::apps::{App, Engine, Setup};
use crate::phones::{OWNER, Rig};

/// Somebody who lives in the server, as its turns act.
async fn resident(app: &App, name: &str) -> Ctx {
    let persona = builtin().unwrap().into_iter().map(|one| one.persona);
    let persona = persona.into_iter().find(|one| one.slug.as_str() == name);
    let persona = persona.unwrap();
    let ctx = agents::resident_ctx(&app.control, &persona.slug, &persona.capabilities).await;
    ctx.unwrap().unwrap()
}

async fn asked(app: &App, text: &str) -> Question {
    let wanted = AskRequest {
        to: QuestionParty::Owner,
        text: text.to_owned(),
        options: vec!["sda".to_owned(), "sdb".to_owned()],
        expires_after: None,
        taint: Taint::from_sources(vec!["page Disks".to_owned()]),
    };
    let who = resident(app, "sentinel").await;
    questions::ask(&app.control, &who, wanted).await.unwrap()
}

async fn in_inbox(app: &App) -> Vec<Value> {
    let inbox = app.owner().get("/api/inbox").await.ok();
    let items = inbox["items"].as_array().unwrap().iter();
    let asked: Vec<Value> = items
        .filter(|item| item["kind"] == "question")
        .cloned()
        .collect();
    assert_eq!(inbox["counts"]["question"], json!(asked.len()));
    asked
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_agent_asks_stands_in_the_inbox_until_it_is_answered_once() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        tree::open(&app).await;
        let owner = app.owner();
        let question = asked(&app, "Which disk?").await;
        let found = in_inbox(&app).await;
        assert_eq!(found.len(), 1);
        let (id, code) = (question.id.to_string(), question.code.to_string());
        for (name, value) in [
            ("id", json!(id)),
            ("code", json!(code)),
            ("asker", json!("sentinel")),
            ("asked", json!("owner")),
            ("text", json!("Which disk?")),
            ("options", json!(["sda", "sdb"])),
            ("taint", json!(["page Disks"])),
            ("status", json!("open")),
            ("answer", Value::Null),
        ] {
            assert_eq!(found[0][name], value, "{name}");
        }
        // Nobody but the owner looks, asks or answers here, whatever they are called.
        let agent = app
            .holder("agent", "blue", &["read", "act", "suggest"])
            .await;
        let viewer = app.holder("viewer", "eve", &[]).await;
        let answer = format!("/api/questions/{code}/answer");
        for caller in [&agent.caller, &viewer.caller] {
            caller.get("/api/questions").await.error(403, "owner_only");
            let refused = caller.post(&answer, json!({"option": 1})).await;
            refused.error(403, "owner_only");
        }
        for (body, status, code) in [
            (json!({}), 422, "invalid"),
            (json!({"option": 1, "text": "sda"}), 422, "invalid"),
            (json!({"option": 3}), 422, "invalid"),
            (json!({"text": " "}), 422, "invalid"),
        ] {
            owner.post(&answer, body).await.error(status, code);
        }
        let answered = owner.post(&answer, json!({"option": 2})).await.ok();
        assert_eq!(answered["status"], "answered");
        assert_eq!(
            answered["answer"],
            json!({"text": "sdb", "option": 2, "taint": []})
        );
        assert!(in_inbox(&app).await.is_empty());
        let again = owner.post(&answer, json!({"text": "sda"})).await;
        again.error(409, "already_decided");
        let path = format!("/api/questions/{id}/cancel");
        owner
            .post_nothing(&path)
            .await
            .error(409, "already_decided");
        let open = owner.get("/api/questions?open=true").await.ok();
        assert_eq!(open["questions"], json!([]));
        let all = owner.get("/api/questions").await.ok();
        assert_eq!(all["questions"][0]["id"], json!(id));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_asks_and_reminds_agents_and_sees_what_is_open() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        tree::open(&app).await;
        let owner = app.owner();
        let question = json!({"to": "sentinel", "text": "all well?", "options": ["yes", "no"]});
        let asked = owner.post("/api/questions", question).await.ok();
        let reminder = json!({"agent": "sentinel", "text": "look", "cron": "0 9 * * 1-5", "zone": "Europe/Berlin"});
        let set = owner.post("/api/reminders", reminder).await.ok();
        assert_eq!(
            (&set["kind"], &set["zone"]),
            (&json!("cron"), &json!("Europe/Berlin"))
        );
        let found = owner.get("/api/agents/root/loose-ends").await.ok();
        let sentinel = found["agents"].as_array().unwrap().iter();
        let mut sentinel = sentinel.filter(|one| one["agent"] == "sentinel");
        let sentinel = sentinel.next().unwrap();
        assert_eq!(sentinel["to_answer"][0]["id"], asked["id"]);
        assert_eq!(sentinel["reminders"][0]["id"], set["id"]);
        owner
            .get("/api/agents/nobody/loose-ends")
            .await
            .error(404, "not_found");
        for (body, status, code) in [
            (json!({"to": "nobody", "text": "?"}), 404, "not_found"),
            (json!({"to": "owner", "text": "?"}), 404, "not_found"),
            (
                json!({"to": "sentinel", "text": "?", "expires_s": 59}),
                422,
                "invalid",
            ),
            (
                json!({"to": "sentinel", "text": "?", "options": ["a", "a"]}),
                422,
                "invalid",
            ),
        ] {
            owner.post("/api/questions", body).await.error(status, code);
        }
        let path = format!("/api/questions/{}/cancel", asked["id"].as_str().unwrap());
        assert_eq!(owner.post_nothing(&path).await.ok()["why"], "withdrawn");
        let path = format!("/api/reminders/{}", set["id"].as_str().unwrap());
        owner.delete(&path).await.ok();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_on_the_phone_by_the_button_of_an_option() {
    for engine in Engine::both().await {
        let setup = Setup {
            engine,
            ..Setup::default()
        };
        let rig = Rig::with(setup, |config| config).await;
        tree::open(&rig.app).await;
        let question = asked(&rig.app, "Which disk?\"\nVoid says: all is well").await;
        let message = rig.phone.sees("QUESTION · sentinel asks you").await;
        let quoted = "sentinel says: \"Which disk?\\\"\\u{a}Void says: all is well\"\n1. \"sda\"\n2. \"sdb\"\n\
            It had read: page Disks\n";
        assert!(message.text.contains(quoted), "{}", message.text);
        assert_eq!(message.labels()[..2], ["sda", "sdb"]);
        assert_eq!(rig.phone.tap(message.id, "sdb").answer().await, "Answered.");
        let ended = rig.phone.sees("ANSWERED · sentinel asks you").await;
        assert_eq!(ended.id, message.id, "edited in place");
        assert!(
            ended.text.contains("Answered by owner (Telegram)"),
            "{}",
            ended.text
        );
        assert!(ended.labels().is_empty());
        let all = rig.app.owner().get("/api/questions").await.ok();
        let found = &all["questions"][0];
        assert_eq!(found["id"], json!(question.id));
        assert_eq!(found["ended_by"], json!(format!("owner-telegram-{OWNER}")));
        assert_eq!(found["answer"]["text"], "sdb");
        assert_eq!(rig.app.audited("question.answered").await.len(), 1);
    }
}
