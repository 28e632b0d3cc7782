//! The companion over HTTP: what its owner looks at, and the draft that it makes, live, on replay and in the stored message.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use void_testkit::models::{Format, ModelServer, Script};

use crate::apps::{App, Engine};
use crate::callers::Caller;
use crate::routes::entities::{id, new, new_space};
use crate::talks::{ChatEvent, Turn, app_with};

/// A space with a page, and the companion that thinks with this model.
pub struct CompanionRig {
    pub app: App,
    pub owner: Caller,
    pub space: String,
    pub page: Value,
    pub conversation: String,
}

/// Which message of the owner's was said, and which one answers it.
pub struct Said {
    pub message: String,
    pub answer: String,
}

impl CompanionRig {
    pub async fn new(model: &ModelServer) -> Self {
        Self::of(app_with(model).await).await
    }

    pub async fn of(app: App) -> Self {
        let owner = app.owner();
        let space = new_space(&owner, "Lab").await;
        let page = json!({"title": "Caddy", "body": "It listens on 443."});
        let page = new(&owner, &space, "pages", page).await;
        let path = format!("/api/spaces/{space}/conversation");
        let open = owner.get(&path).await.ok();
        assert_eq!(open["agent"]["slug"], "companion");
        let conversation = open["conversation_id"].as_str().unwrap().to_owned();
        Self {
            app,
            owner,
            space,
            page,
            conversation,
        }
    }

    pub fn path(&self, what: &str) -> String {
        format!("/api/conversations/{}/{what}", self.conversation)
    }

    pub async fn say(&self, text: &str) -> Said {
        self.post(json!({"text": text})).await
    }

    pub async fn post(&self, body: Value) -> Said {
        let started = self.owner.post(&self.path("messages"), body).await.ok();
        let id = |name: &str| started[name].as_str().unwrap().to_owned();
        Said {
            message: id("message_id"),
            answer: id("assistant_message_id"),
        }
    }

    /// The whole turn, by either of its two ids.
    pub async fn heard(&self, message: &str) -> Vec<ChatEvent> {
        let turn = Turn::read(&self.owner, &self.conversation, message, None);
        turn.await.rest().await
    }

    pub async fn stored(&self) -> Vec<Value> {
        let page = self.owner.get(&self.path("messages")).await.ok();
        page["messages"].as_array().unwrap().clone()
    }

    pub async fn pending(&self) -> Vec<Value> {
        let pending = self.owner.get("/api/pending-changes").await.ok();
        pending["pending"].as_array().unwrap().clone()
    }

    pub async fn page_now(&self) -> Value {
        let path = format!("/api/pages/{}", id(&self.page));
        self.owner.get(&path).await.ok()
    }
}

/// A script that drafts a task of this title.
pub fn drafts(title: &str) -> Script {
    let fields = json!({"title": title});
    let draft =
        json!({"entity": "task", "op": "create", "fields": fields, "reason": "as you said"});
    Script::calls("propose_change", &draft)
}

pub fn named<'a>(events: &'a [ChatEvent], name: &str) -> Vec<&'a Value> {
    let those = events.iter().filter(|event| event.event == name);
    those.map(|event| &event.data).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_is_told_live_and_on_replay_and_its_id_stands_in_the_message() {
    let pause = Duration::from_millis(300);
    let slow = Script::new().pause(pause).text("It waits for your yes.");
    let model = ModelServer::start(Format::Anthropic, [drafts("Renew the certificate"), slow]);
    let desk = CompanionRig::new(&model).await;
    let said = desk.say("make a task of it").await;
    let live = desk.heard(&said.answer).await;
    let draft = named(&live, "draft");
    assert_eq!(draft.len(), 1, "{live:?}");
    let row = desk.pending().await.remove(0);
    assert_eq!(draft[0]["pending_change_id"], row["id"]);
    let summary = draft[0]["summary"].as_str().unwrap();
    assert!(summary.contains("Renew the certificate"), "{summary}");
    // By the owner's message as well as by the agent's, and after the end as well as before it.
    for message in [&said.message, &said.answer] {
        let replayed = desk.heard(message).await;
        assert_eq!(named(&replayed, "draft"), draft);
    }
    let stored = desk.stored().await;
    let step = &stored[1]["turn"]["trace"][0];
    assert_eq!(
        (&step["proposal_id"], &step["draft_summary"]),
        (&row["id"], &draft[0]["summary"])
    );
    let line = stored[1]["turn"]["truth_line"].as_str().unwrap();
    assert!(line.starts_with("Waits for your yes: "), "{line}");
    assert!(line.contains(row["code"].as_str().unwrap()), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_back_after_a_restart_hears_of_the_draft_from_the_table() {
    let model = ModelServer::start(
        Format::Anthropic,
        [drafts("Look at the disk"), Script::says("It waits.")],
    );
    let desk = CompanionRig::new(&model).await;
    let said = desk.say("note it").await;
    let live = desk.heard(&said.answer).await;
    let lab = std::sync::Arc::clone(&desk.app.lab);
    let conversation = desk.conversation.clone();
    drop(desk);
    let setup = crate::apps::Setup {
        lab,
        ..crate::apps::Setup::default()
    };
    let app = setup.start().await;
    for message in [&said.message, &said.answer] {
        let owner = app.owner();
        let mut turn = Turn::read(&owner, &conversation, message, None).await;
        let replayed = turn.rest().await;
        assert_eq!(named(&replayed, "draft"), named(&live, "draft"));
        assert_eq!(replayed.last().unwrap().data, live.last().unwrap().data);
    }
}

/// The last tool result that the model was given.
fn told(model: &ModelServer) -> Value {
    let body = model.bodies().pop().unwrap();
    let last = body["messages"].as_array().unwrap().last().unwrap().clone();
    let content = &last["content"][0]["content"];
    let text = content.as_str().or_else(|| content[0]["text"].as_str());
    serde_json::from_str(text.unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_owner_looks_at_comes_with_the_message_and_is_checked_against_the_space() {
    let model = ModelServer::with(Format::Anthropic, |request| {
        let messages = request["body"]["messages"].as_array().unwrap();
        match messages.last().unwrap()["content"]
            .to_string()
            .contains("tool_result")
        {
            false => Script::calls("context", &json!({})),
            true => Script::says("I see."),
        }
    });
    let desk = CompanionRig::new(&model).await;
    let elsewhere = new_space(&desk.owner, "Elsewhere").await;
    let secret = json!({"title": "Tax secrets", "body": "42"});
    let secret = new(&desk.owner, &elsewhere, "pages", secret).await;
    let look = async |kind: &str, id: &Value| {
        let view = json!({"entityType": kind, "entityId": id});
        let said = desk
            .post(json!({"text": "what is this?", "view": view}))
            .await;
        desk.heard(&said.answer).await;
        told(&model)
    };
    let seen = look("page", &desk.page["id"]).await;
    assert_eq!(seen["view"]["entity"]["content"]["title"], "Caddy");
    assert_eq!(seen["space"]["content"]["title"], "Lab");
    let seen = look("page", &secret["id"]).await;
    assert_eq!(seen["view"]["not_here"], true);
    assert!(!format!("{:?}", model.bodies()).contains("Tax secrets"));
    for (kind, id) in [
        ("screen", "inbox"),
        ("action", "touch-a"),
        ("entry", "1"),
        ("host", "local"),
    ] {
        let seen = look(kind, &json!(id)).await;
        assert_eq!(
            (&seen["view"]["kind"], &seen["view"]["id"]),
            (&json!(kind), &json!(id))
        );
        assert_eq!(seen["view"].get("not_here"), None, "{seen}");
    }
    // It is kept in the step that read it and nowhere else: a message without a view has none.
    let said = desk.say("and now?").await;
    desk.heard(&said.answer).await;
    assert_eq!(told(&model).get("view"), None);
    for message in desk.stored().await {
        let has_it = |value: &Value| value.to_string().contains(id(&desk.page));
        let mut without = message.clone();
        without["turn"]["trace"] = Value::Null;
        assert!(!has_it(&without), "{without}");
    }
}

/// Little Blue's own route takes it too; she reads what is on the catalogue's machines.
#[tokio::test(flavor = "multi_thread")]
async fn little_blue_is_told_as_well_and_what_is_no_view_is_refused() {
    let model = ModelServer::start(
        Format::Anthropic,
        [Script::calls("context", &json!({})), Script::says("I see.")],
    );
    let app = app_with(&model).await;
    let owner = app.owner();
    let view = json!({"entityType": "action", "entityId": "stop-a"});
    let body = json!({"text": "what does this do?", "view": view});
    let request = owner
        .request(Method::POST, "/api/little-blue/turn")
        .json(&body);
    let heard = request.send().await.unwrap().text().await.unwrap();
    assert!(heard.contains("event: done"), "{heard}");
    assert_eq!(told(&model)["view"]["action"]["id"], "stop-a");
    let open = owner.get("/api/little-blue").await.ok();
    let say = format!(
        "/api/conversations/{}/messages",
        open["conversation_id"].as_str().unwrap()
    );
    for path in [say.as_str(), "/api/little-blue/turn"] {
        for (view, status) in [
            (json!({}), 422),
            (json!({"entityType": "page"}), 422),
            (json!({"entityId": "x"}), 422),
            (
                json!({"entityType": "page", "entityId": "x", "more": 1}),
                422,
            ),
            (json!({"entityType": 1, "entityId": "x"}), 422),
            (json!("page"), 422),
            (json!({"entityType": "book", "entityId": "x"}), 404),
            (json!({"entityType": "page", "entityId": "x"}), 404),
            (json!({"entityType": "guest", "entityId": "pve1"}), 404),
            (json!({"entityType": "entry", "entityId": "0"}), 404),
            (json!({"entityType": "screen", "entityId": "../x"}), 404),
        ] {
            let answer = owner.post(path, json!({"text": "x", "view": view})).await;
            assert_eq!(answer.status, status, "{view}: {}", answer.text);
        }
    }
    let now = owner.get("/api/little-blue").await.ok();
    assert_eq!(
        now["messages"].as_array().unwrap().len(),
        2,
        "nothing of these was said"
    );
}

/// What stands before the words of a conversation is sent the same every time, to the byte, and says how far it may be cached.
#[tokio::test(flavor = "multi_thread")]
async fn the_prefix_is_marked_for_caching_and_byte_equal_over_turns() {
    let model = ModelServer::start(
        Format::Anthropic,
        [
            Script::calls("search", &json!({"query": "caddy"})).cached(0, 900),
            Script::says("It listens on 443.").cached(900, 40),
            Script::says("Gladly.").cached(940, 20),
        ],
    );
    let desk = CompanionRig::new(&model).await;
    for text in ["where does caddy listen?", "thanks"] {
        let said = desk.say(text).await;
        desk.heard(&said.answer).await;
    }
    let bodies = model.bodies();
    assert_eq!(bodies.len(), 3);
    let prefix = |body: &Value| format!("{}{}", body["tools"], body["system"]);
    for body in &bodies {
        assert_eq!(prefix(body), prefix(&bodies[0]));
        let system = body["system"].as_array().unwrap();
        assert_eq!(system.len(), 2);
        let place = system[1]["text"].as_str().unwrap();
        assert!(
            place.starts_with("This conversation belongs to the owner's space \"Lab\"."),
            "{place}"
        );
        let is_marked = |block: &Value| block["cache_control"] == json!({"type": "ephemeral"});
        assert!(system.iter().all(is_marked));
        let (last, others) = body["tools"].as_array().unwrap().split_last().unwrap();
        assert!(is_marked(last) && !others.iter().any(is_marked));
        let messages = body["messages"].as_array().unwrap();
        let newest = messages.last().unwrap()["content"].as_array().unwrap();
        assert!(is_marked(newest.last().unwrap()));
        // A provider takes four of them.
        assert_eq!(body.to_string().matches("cache_control").count(), 4);
    }
    let stored = desk.stored().await;
    let usage = |message: usize, name: &str| stored[message]["turn"]["usage"][name].clone();
    assert_eq!(usage(1, "cache_write_tokens"), 940);
    assert_eq!(usage(3, "cache_read_tokens"), 940);
}

/// The history of a space, and what was said in it, found again on both engines.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_in_a_space_is_found_again() {
    for engine in Engine::both().await {
        let desk = CompanionRig::of(App::on(engine).await).await;
        let said = desk.say("note that the Übersicht is 100% done").await;
        desk.heard(&said.answer).await;
        let about = json!({"kind": "page", "id": desk.page["id"]});
        let other = desk.owner.post("/api/conversations", about).await.ok();
        let other = other["conversation_id"].as_str().unwrap();
        let path = format!("/api/conversations/{other}/messages");
        let asked = desk
            .owner
            .post(&path, json!({"text": "what is a marmalade?"}))
            .await
            .ok();
        let asked = asked["assistant_message_id"].as_str().unwrap().to_owned();
        Turn::read(&desk.owner, other, &asked, None)
            .await
            .rest()
            .await;
        let found = async |q: &str| {
            let path = format!("/api/conversations?space={}&q={q}", desk.space);
            let listed = desk.owner.get(&path).await.ok();
            let rows = listed["conversations"].as_array().unwrap().clone();
            let pair = |row: &Value| {
                let word = |name: &str| row[name].as_str().unwrap().to_owned();
                (word("conversation_id"), word("found"))
            };
            rows.iter().map(pair).collect::<Vec<_>>()
        };
        let (mine, others) = (desk.conversation.clone(), other.to_owned());
        for q in [
            "%C3%BCbersicht",
            "%C3%9CBERSICHT",
            "done+100%25",
            "the+%C3%9Cbersicht",
        ] {
            let found = found(q).await;
            assert_eq!(found.len(), 1, "{q}: {found:?}");
            assert_eq!(found[0].0, mine, "{q}");
            assert!(found[0].1.contains("Übersicht"), "{found:?}");
        }
        assert_eq!(found("marmalade").await[0].0, others);
        for q in ["mermalade", "100_", "done+marmalade", "!", "%27%20OR%201=1"] {
            assert_eq!(found(q).await, [], "{q}");
        }
        let elsewhere = new_space(&desk.owner, "Elsewhere").await;
        let path = format!("/api/conversations?space={elsewhere}&q=marmalade");
        assert_eq!(desk.owner.get(&path).await.ok()["conversations"], json!([]));
        let path = "/api/agents/companion/conversations?q=marmalade";
        assert_eq!(
            desk.owner.get(path).await.ok()["conversations"],
            json!([]),
            "a space's are its own"
        );
        for q in ["", "%20", "a+b+c+d+e+f+g+h+i", &"x".repeat(201)] {
            let path = format!("/api/conversations?space={}&q={q}", desk.space);
            desk.owner.get(&path).await.error(422, "invalid");
        }
    }
}
