//! Conversations that belong somewhere: about one thing, and the one of a space that begins anew.

use std::collections::BTreeSet;

use serde_json::json;
use void_testkit::models::Script;

use super::{model, say_and_leave};
use crate::apps::{Engine, Setup};
use crate::routes::entities::{Kept, new_space};
use crate::stands::{Stand, services};
use crate::talks::{Turn, app_with};

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_thing_has_conversations_of_its_own_until_it_is_gone() {
    for engine in Engine::both().await {
        let app = Setup {
            engine,
            services: services(&[Stand::down().watched("caddy")]),
            ..Setup::default()
        }
        .start()
        .await;
        let owner = app.owner();
        let kept = Kept::new(&app).await;
        let of_space = kept.ids.iter().map(|(noun, id)| {
            let kind = noun.strip_suffix('s').unwrap_or(noun);
            (kind.to_owned(), id.clone(), Some(kept.space.clone()))
        });
        let of_lab = [("service", "caddy"), ("action", "stop-a")];
        let of_lab = of_lab.map(|(kind, id)| (kind.to_owned(), id.to_owned(), None));
        let mut ids = BTreeSet::new();
        for (kind, id, space) in of_space.chain(of_lab) {
            let about = json!({"kind": kind, "id": id});
            let made = owner.post("/api/conversations", about.clone()).await.ok();
            assert_eq!(made["space_id"], json!(space), "{kind}");
            // One a thing and agent, and found again.
            let again = owner.post("/api/conversations", about.clone()).await.ok();
            assert_eq!(again["conversation_id"], made["conversation_id"], "{kind}");
            assert!(ids.insert(made["conversation_id"].to_string()), "{kind}");
            let mut other = about.clone();
            other["agent"] = json!("sentinel");
            let other = owner.post("/api/conversations", other).await.ok();
            assert!(ids.insert(other["conversation_id"].to_string()), "{kind}");
            // Nobody else has any.
            for (who, capabilities) in [("agent", &["read", "act", "suggest"][..]), ("viewer", &[])]
            {
                let name = format!("{who}-{kind}");
                let caller = app.holder(who, &name, capabilities).await.caller;
                let refused = caller.post("/api/conversations", about.clone()).await;
                refused.error(403, "owner_only");
            }
            // Neither the conversation of a space nor that of an agent is one of them.
            if let Some(space) = space {
                let ambient = format!("/api/spaces/{space}/conversation");
                let ambient = owner.get(&ambient).await.ok();
                assert!(
                    !ids.contains(&ambient["conversation_id"].to_string()),
                    "{kind}"
                );
                let noun = format!("{kind}s");
                if kind != "space" {
                    owner.delete(&format!("/api/{noun}/{id}")).await.ok();
                    let gone = owner.post("/api/conversations", about).await;
                    gone.error(404, "not_found");
                }
            }
        }
        owner
            .delete(&format!("/api/spaces/{}", kept.space))
            .await
            .ok();
        let gone = json!({"kind": "space", "id": kept.space});
        let gone = owner.post("/api/conversations", gone).await;
        gone.error(404, "not_found");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_talk_in_a_space_does_not_begin_anew_while_it_is_answered() {
    let model = model([Script::new().text("thinking").stall()]);
    let app = app_with(&model).await;
    let owner = app.owner();
    let space = new_space(&owner, "Lab").await;
    let path = format!("/api/spaces/{space}/conversation?agent=little-blue");
    let open = owner.get(&path).await.ok();
    let id = open["conversation_id"].as_str().unwrap().to_owned();
    let message = say_and_leave(&owner, &id, "think").await;
    let mut listening = Turn::read(&owner, &id, &message, None).await;
    listening.next().await.unwrap();
    owner.post_nothing(&path).await.error(409, "busy");
    assert_eq!(owner.get(&path).await.ok()["conversation_id"], id.as_str());
    let stop = format!("/api/conversations/{id}/stop");
    owner.post_nothing(&stop).await.ok();
    let anew = owner.post_nothing(&path).await.ok();
    assert_ne!(anew["conversation_id"], id.as_str());
}
