//! `/api/tokens`

use serde_json::{Value, json};

use crate::apps::App;
use crate::masks::{masked, members};

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_shown_once_and_works_until_it_is_revoked() {
    let app = App::start().await;
    let owner = app.owner();
    let body = json!({"kind": "agent", "name": "blue", "capabilities": ["act", "read"]});
    let made = owner.post("/api/tokens", body.clone()).await.ok();
    assert_eq!(members(&made), ["id", "token"]);
    let token = made["token"].as_str().unwrap();
    assert!(
        token.starts_with("void_agent_") && token.len() >= 54,
        "{token}"
    );
    app.secrets.add(token);
    let blue = app.caller(crate::callers::Shows::Bearer(token.to_owned()));
    assert_eq!(
        blue.get("/api/session").await.ok(),
        json!({"kind": "agent", "name": "blue", "capabilities": ["read", "act"]})
    );
    let list = owner.get("/api/tokens").await.ok();
    assert_eq!(
        masked(&list),
        json!({"tokens": [{
            "id": "<id>", "kind": "agent", "agent_id": "<id>", "name": "blue", "capabilities": ["read", "act"],
            "created_at": "<time>", "revoked_at": null, "quarantined": false, "taint": [], "tainted_at": null,
        }]})
    );
    let hash = void_domain::digests::Digest::of(token.as_bytes()).to_string();
    assert!(!list.to_string().contains(&hash), "not even its hash");

    // An agent has all its tokens for the same capabilities; a viewer has one.
    let fewer = json!({"kind": "agent", "name": "blue", "capabilities": ["read"]});
    let error = owner
        .post("/api/tokens", fewer)
        .await
        .error(409, "name_taken");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("other capabilities (read, act)"),
        "{message}"
    );
    assert_eq!(
        error["hint"],
        "ask for the same capabilities, or choose another name"
    );
    let viewer = json!({"kind": "viewer", "name": "hall"});
    let watching = owner.post("/api/tokens", viewer.clone()).await.ok();
    app.secrets.add(watching["token"].as_str().unwrap());
    let error = owner
        .post("/api/tokens", viewer)
        .await
        .error(409, "name_taken");
    assert_eq!(error["hint"], "revoke the other one first");
    let path = format!("/api/tokens/{}", made["id"].as_str().unwrap());
    assert_eq!(owner.delete(&path).await.ok(), json!({"revoked": true}));
    blue.get("/api/session").await.error(401, "unauthenticated");
    owner.delete(&path).await.error(404, "not_found");
    let list = owner.get("/api/tokens").await.ok();
    assert!(list["tokens"][1]["revoked_at"].is_string());
    // A viewer's name is free again, for a token that is another one.
    let path = format!("/api/tokens/{}", watching["id"].as_str().unwrap());
    owner.delete(&path).await.ok();
    let viewer = json!({"kind": "viewer", "name": "hall"});
    let second = owner.post("/api/tokens", viewer).await.ok();
    app.secrets.add(second["token"].as_str().unwrap());
    assert_ne!(second["token"], watching["token"]);
    assert_eq!(app.audited("token.created").await.len(), 3);
    assert_eq!(app.audited("token.revoked").await.len(), 2);
    assert_eq!(app.audited("agent.created").await.len(), 1);
    assert_eq!(app.audited("agent.withdrawn").await.len(), 1);
}

/// I4: who reads an agent's name means one agent, also after it was withdrawn.
#[tokio::test(flavor = "multi_thread")]
async fn a_withdrawn_agents_name_is_taken_over_by_nobody() {
    let app = App::start().await;
    let owner = app.owner();
    let body = |name: &str, rights: &[&str]| json!({"kind": "agent", "name": name, "capabilities": rights});
    let bot = app.holder("agent", "little-bot", &["act"]).await;
    let row = crate::apps::queue(&bot.caller, "stop-a").await;
    let (agent_id, code) = (row["agent_id"].clone(), row["code"].as_str().unwrap());
    let path = format!("/api/tokens/{}", bot.id);
    owner.delete(&path).await.ok();
    for rights in [&["act"] as &[&str], &["read"], &[]] {
        let refused = owner.post("/api/tokens", body("little-bot", rights)).await;
        let refused = refused.error(409, "name_withdrawn");
        assert_eq!(
            refused["hint"],
            "choose another name, or bring the same agent back with --restore"
        );
    }
    for name in ["l1ttle-b0t", "littlebot", "little--bot", "little-bot-"] {
        let refused = owner.post("/api/tokens", body(name, &["act"])).await;
        let message = refused.error(409, "name_taken")["message"].clone();
        assert_eq!(
            message,
            "this name reads like that of the agent \"little-bot\""
        );
    }
    for name in [
        "Little-Bot",
        "LITTLE-BOT",
        " little-bot",
        "little-bot ",
        "little_bot",
        "little-b\u{43e}t",
        "little-bot\u{200b}",
        "little-bot\0",
    ] {
        owner
            .post("/api/tokens", body(name, &["act"]))
            .await
            .error(422, "invalid");
    }
    assert_eq!(app.audited("agent.created").await.len(), 1);
    // The owner brings the same one back: it has what it asked for, and what the owner says now.
    let mut back = body("little-bot", &["read"]);
    back["restore"] = json!(true);
    let made = owner.post("/api/tokens", back.clone()).await.ok();
    let token = made["token"].as_str().unwrap();
    app.secrets.add(token);
    let again = app.caller(crate::callers::Shows::Bearer(token.to_owned()));
    let seen = again.get(&format!("/api/proposals/{code}")).await.ok();
    assert_eq!(seen["agent_id"], agent_id);
    again.run("touch-a").await.error(403, "forbidden");
    // The one that was revoked stays so.
    bot.caller
        .get("/api/session")
        .await
        .error(401, "unauthenticated");
    owner
        .post("/api/tokens", back.clone())
        .await
        .error(404, "not_found");
    back["name"] = json!("never-was");
    owner
        .post("/api/tokens", back)
        .await
        .error(404, "not_found");
    let odd = json!({"kind": "viewer", "name": "x", "restore": true});
    owner.post("/api/tokens", odd).await.error(422, "invalid");
    assert_eq!(app.audited("agent.restored").await.len(), 1);
}

/// Two requests for one name at the same moment: one agent, on both engines.
#[tokio::test(flavor = "multi_thread")]
async fn two_tokens_for_one_name_at_once_are_one_agents() {
    for engine in crate::apps::Engine::both().await {
        let app = App::on(engine).await;
        let body = json!({"kind": "agent", "name": "bot", "capabilities": ["act"]});
        let asked = (0..8).map(|_| {
            let (owner, body) = (app.owner(), body.clone());
            tokio::spawn(async move { owner.post("/api/tokens", body).await.ok() })
        });
        let asked: Vec<_> = asked.collect();
        let mut rows = Vec::new();
        for made in asked {
            let made = made.await.unwrap();
            let token = made["token"].as_str().unwrap();
            app.secrets.add(token);
            let bot = app.caller(crate::callers::Shows::Bearer(token.to_owned()));
            rows.push(crate::apps::queue(&bot, "stop-a").await);
        }
        let list = app.owner().get("/api/tokens").await.ok();
        let list = list["tokens"].as_array().unwrap();
        assert_eq!(list.len(), 8);
        for one in list {
            assert_eq!(one["agent_id"], list[0]["agent_id"]);
        }
        // Whichever token it shows, it asks for the same thing once.
        for row in &rows {
            assert_eq!(
                (&row["id"], &row["agent_id"]),
                (&rows[0]["id"], &list[0]["agent_id"])
            );
        }
        assert_eq!(app.audited("agent.created").await.len(), 1);
        // It is withdrawn with its last token, and not before.
        for (left, one) in list.iter().rev().enumerate() {
            assert_eq!(app.audited("agent.withdrawn").await.len(), 0, "{left}");
            let path = format!("/api/tokens/{}", one["id"].as_str().unwrap());
            app.owner().delete(&path).await.ok();
        }
        assert_eq!(app.audited("agent.withdrawn").await.len(), 1);
        app.owner()
            .post("/api/tokens", body)
            .await
            .error(409, "name_withdrawn");
    }
}

/// Capabilities of the tree are granted like the others, to agents alone.
#[tokio::test(flavor = "multi_thread")]
async fn capabilities_of_the_tree_are_granted_to_agents_alone() {
    let app = App::start().await;
    for (at, capability) in ["spawn", "meta.read", "meta.update"]
        .into_iter()
        .enumerate()
    {
        let body = |kind: &str| {
            let name = ["one", "other", "third"][at];
            json!({"kind": kind, "name": name, "capabilities": ["read", capability]})
        };
        for kind in ["viewer", "node"] {
            let refused = app.owner().post("/api/tokens", body(kind)).await;
            let refused = refused.error(422, "invalid");
            assert_eq!(refused["fields"]["capabilities"], "are for agents");
        }
        app.owner().post("/api/tokens", body("agent")).await.ok();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_sound_tokens_are_made() {
    let app = App::start().await;
    let owner = app.owner();
    let of = |kind: Value, name: Value, capabilities: Value| json!({"kind": kind, "name": name, "capabilities": capabilities});
    for (body, field) in [
        (of(json!("owner"), json!("x"), json!([])), "kind"),
        (of(json!("system"), json!("x"), json!([])), "kind"),
        (of(json!(""), json!("x"), json!([])), "kind"),
        (of(json!("Agent"), json!("x"), json!([])), "kind"),
        (of(json!("agent"), json!(""), json!([])), "name"),
        (of(json!("agent"), json!("-x"), json!([])), "name"),
        (of(json!("agent"), json!("a b"), json!([])), "name"),
        (of(json!("agent"), json!("A"), json!([])), "name"),
        (of(json!("agent"), json!("x".repeat(65)), json!([])), "name"),
        (
            of(json!("agent"), json!("x"), json!(["approve"])),
            "capabilities",
        ),
        (
            of(json!("agent"), json!("x"), json!(["act", "*"])),
            "capabilities",
        ),
        (
            of(json!("agent"), json!("x"), json!({"approve": true})),
            "capabilities",
        ),
        (of(json!("agent"), json!("x"), json!("act")), "capabilities"),
        (
            of(json!("agent"), json!("x"), json!({"act": "yes"})),
            "capabilities",
        ),
        (of(json!(1), json!("x"), json!([])), "body"),
        (
            json!({"kind": "agent", "name": "x", "token": "chosen"}),
            "body",
        ),
        (
            json!({"kind": "agent", "name": "x", "id": "chosen"}),
            "body",
        ),
    ] {
        let error = owner
            .post("/api/tokens", body.clone())
            .await
            .error(422, "invalid");
        assert_eq!(members(&error["fields"]), [field], "{body}");
    }
    assert_eq!(owner.get("/api/tokens").await.ok(), json!({"tokens": []}));
    // The source documents' map form means the same as a list.
    let map = of(
        json!("agent"),
        json!("m"),
        json!({"act": true, "spawn": false}),
    );
    owner.post("/api/tokens", map).await.ok();
    let list = owner.get("/api/tokens").await.ok();
    assert_eq!(list["tokens"][0]["capabilities"], json!(["act"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn only_agents_take_capabilities() {
    let app = App::start().await;
    for kind in ["viewer", "node"] {
        let body = json!({"kind": kind, "name": "watching", "capabilities": ["act"]});
        let refused = app.owner().post("/api/tokens", body).await;
        let refused = refused.error(422, "invalid");
        assert_eq!(
            refused["fields"]["capabilities"], "are for agents",
            "{refused}"
        );
    }
}
