//! Rows and turns, as the document describes them.

use super::*;

/// What a person has to read before a yes is on the row that every client gets, and the document says so.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_says_what_its_requester_had_read_and_what_was_asked_again() {
    let document = void_server::document();
    let row = &document["components"]["schemas"]["Row"];
    let required = row["required"].as_array().unwrap();
    for (member, kind) in [
        ("taint", "array"),
        ("joined", "array"),
        ("words_left_out", "integer"),
        ("revision", "integer"),
    ] {
        assert_eq!(row["properties"][member]["type"], kind, "{member}: {row}");
        assert!(required.contains(&json!(member)), "{member}");
    }
    assert_eq!(row["properties"]["taint"]["items"]["type"], "string");
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let ctx = Ctx {
            actor: Actor::Owner {
                surface: Surface::Web,
            },
            capabilities: Capabilities::none(),
            request_id: RequestId::new(app.control.clock().now(), [7; 10]),
            authenticated_ago: None,
            is_from_outside: false,
            token: None,
        };
        let ask = |sources: &[&str], reason: &str| {
            let sources = sources.iter().map(|&source| source.to_owned()).collect();
            let wanted = ProposeRequest {
                action_id: "stop-a".to_owned(),
                params: json!({}),
                reason: Some(reason.to_owned()),
                diff: None,
                taint: Taint::from_sources(sources),
            };
            let (control, ctx) = (app.control.clone(), ctx.clone());
            async move { propose(&control, &ctx, wanted).await.unwrap() }
        };
        ask(&[], "it is slow").await;
        let read = || async {
            let rows = app.owner().get("/api/proposals").await.ok();
            rows["proposals"][0].clone()
        };
        let clean = read().await;
        let said = |row: &Value| {
            (
                row["taint"].clone(),
                row["revision"].clone(),
                row["words_left_out"].clone(),
            )
        };
        assert_eq!(said(&clean), (json!([]), json!(0), json!(0)));
        assert_eq!(clean["joined"], json!([]));
        // The same, from somebody who has read something foreign.
        ask(&["output of touch-a"], "the log told me to").await;
        let tainted = read().await;
        assert_eq!(
            said(&tainted),
            (json!(["output of touch-a"]), json!(1), json!(0)),
            "{tainted}"
        );
        assert_eq!(tainted["joined"][0]["reason"], "the log told me to");
        assert_eq!(tainted["count"], 2);
        // The list, the row itself and the card say the same, and each is what the document says of it.
        let id = tainted["id"].as_str().unwrap();
        assert_eq!(app.row(id).await, tainted);
        let card = app
            .owner()
            .get(&format!("/api/proposals/{id}/card"))
            .await
            .ok();
        assert_eq!(card["row"], tainted);
    }
}

/// Also what a turn says of earlier proposals that it only looked at.
#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_streamed_and_stored_as_described() {
    let proposes = |action: &str| {
        let wish = json!({"action_id": action, "reason": "you asked"});
        Script::calls("propose_action", &wish)
    };
    let lab = Arc::new(Lab::new());
    let turn = async |scripts: Vec<Script>, text: &str| {
        let model = ModelServer::start(Format::Anthropic, scripts);
        let setup = Setup {
            lab: Arc::clone(&lab),
            agents: agents(&model),
            ..Setup::default()
        };
        let app = setup.start().await;
        let heard = Turn::say(&app.owner(), text).await.rest().await;
        let stored = app.owner().get("/api/little-blue").await.ok();
        let stored = stored["messages"].as_array().unwrap().last().cloned();
        (heard, stored.unwrap()["turn"]["truth"].clone())
    };
    let (_, first) = turn(vec![proposes("stop-a"), Script::says("asked")], "stop it").await;
    assert!(first.get("before").is_none(), "{first}");
    let looks = json!({"proposal": first["waits"][0]["code"]});
    let looks = Script::calls("proposal_status", &looks);
    let scripts = vec![looks, proposes("rm-rf"), Script::says("it waits")];
    let (heard, second) = turn(scripts, "does it wait?").await;
    for event in &heard {
        assert_turn_event(&event.event, &event.data);
    }
    let streamed = &heard.last().unwrap().data["truth"];
    for truth in [streamed, &second] {
        assert_eq!(truth["refused"][0]["reason"], "unknown_action", "{truth}");
        assert_eq!(truth["refused"][0]["action_id"], "", "{truth}");
        assert_eq!(
            truth["before"]["waits"][0]["action_id"], "stop-a",
            "{truth}"
        );
    }
}
