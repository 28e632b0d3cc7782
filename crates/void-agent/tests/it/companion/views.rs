//! What the owner looks at: told on demand, checked, and kept nowhere but in the step.

use serde_json::{Value, json};
use void_control::knowledge::{self, NewAttachment, TextSource};
use void_domain::conversations::MessageView;
use void_domain::knowledge::{AttachmentName, MediaType};

use super::{CompanionRig, page_of, ref_of};
use crate::rooms::Ended;
use crate::scripted::{calls, says};

async fn looking_at(desk: &CompanionRig, kind: &str, id: &str) -> (Value, Ended) {
    desk.brain
        .then([calls("context", json!({})), says("I see")]);
    let view = MessageView::parse(kind, id);
    let started = desk.say("what is this?", view).await;
    let ended = desk.room.ended(&started).await;
    let prompts = desk.brain.prompts();
    let results = crate::scripted::results(prompts.last().unwrap());
    (results.last().unwrap().clone(), ended)
}

#[tokio::test]
async fn it_knows_what_the_owner_looks_at_on_every_page() {
    let desk = CompanionRig::companion([]).await;
    let page = desk.keep(page_of("Caddy notes", "Long text.")).await;
    let id = page.head.id.to_string();
    let (seen, ended) = looking_at(&desk, "page", &id).await;
    assert_eq!(
        (&seen["view"]["kind"], &seen["view"]["id"]),
        (&json!("page"), &json!(id))
    );
    assert_eq!(seen["view"]["entity"]["content"]["title"], "Caddy notes");
    assert_eq!(
        seen["view"]["entity"]["content"].get("text"),
        None,
        "read shows it"
    );
    assert_eq!(seen["space"]["content"]["title"], "Lab");
    assert!(ended.turn.tainted_by.is_clean());
    for (kind, id) in [
        ("screen", "inbox"),
        ("agent", "little-blue"),
        ("action", "touch-a"),
    ] {
        let (seen, _) = looking_at(&desk, kind, id).await;
        assert_eq!(seen["view"]["id"], id);
        assert_eq!(seen["view"].get("not_here"), None);
    }
    let (seen, _) = looking_at(&desk, "", "").await;
    assert_eq!(seen.get("view"), None, "nobody said");
}

#[tokio::test]
async fn a_view_of_what_is_not_here_shows_nothing_of_it() {
    let desk = CompanionRig::companion([]).await;
    let page = page_of("Tax secrets", "42");
    let page = desk.keep_in(desk.elsewhere, page, TextSource::Owner).await;
    let (id, gone) = (
        page.head.id.to_string(),
        "01999999-0000-7000-8000-000000000001",
    );
    for (kind, id) in [
        ("page", &*id),
        ("page", gone),
        ("proposal", gone),
        ("service", "no-such"),
    ] {
        let (seen, _) = looking_at(&desk, kind, id).await;
        assert_eq!(seen["view"]["not_here"], true, "{kind}");
    }
    assert!(!format!("{:?}", desk.brain.prompts()).contains("Tax secrets"));
}

#[tokio::test]
async fn a_view_is_in_its_step_and_nowhere_else_and_a_strangers_title_marks() {
    let desk = CompanionRig::companion([]).await;
    let kept = desk.keep(ref_of("Strange title", "x")).await;
    let id = kept.head.id.to_string();
    let (seen, ended) = looking_at(&desk, "ref", &id).await;
    assert_eq!(
        seen["view"]["entity"]["untrusted_content"]["title"],
        "Strange title"
    );
    assert_eq!(ended.turn.tainted_by.sources(), [format!("ref:{id}")]);
    let (message, mut turn) = desk.room.stored(ended.id).await;
    assert!(!message.body.contains(&id));
    let steps = std::mem::take(&mut turn.trace);
    assert!(steps[0].result.as_ref().unwrap().contains(&id));
    let besides = format!("{:?} {:?}", turn.truth, turn.session);
    assert!(!besides.contains(&id), "{besides}");
    // The next message has a view of its own, or none.
    let (seen, _) = desk.called("context", json!({})).await;
    assert_eq!(seen.get("view"), None);
}

/// What nobody keeps as a page of its own is told by what the catalogue and the record say of it.
#[tokio::test]
async fn machines_guests_and_entries_of_the_record_are_told_by_what_is_on_them() {
    let desk = CompanionRig::companion([]).await;
    let (seen, ended) = looking_at(&desk, "host", "local").await;
    let actions = seen["view"]["machine"]["actions"].as_array().unwrap();
    assert!(actions.contains(&json!("touch-a")), "{seen}");
    assert!(ended.turn.tainted_by.is_clean());
    for (kind, id) in [
        ("host", "no-such"),
        ("node", "no-such"),
        ("guest", "no-such/100"),
        ("entry", "999999"),
    ] {
        let (seen, _) = looking_at(&desk, kind, id).await;
        assert_eq!(seen["view"]["not_here"], true, "{kind}");
    }
    let (seen, ended) = looking_at(&desk, "entry", "1").await;
    assert!(seen["view"]["entry"]["verb"].is_string(), "{seen}");
    assert!(ended.turn.tainted_by.is_clean());
}

#[tokio::test]
async fn a_file_that_is_looked_at_is_known_without_a_strangers_name_for_it() {
    let desk = CompanionRig::companion([]).await;
    let (control, owner) = (&desk.room.control, &desk.room.owner);
    let file = |space_id, name: &str| NewAttachment {
        space_id,
        name: AttachmentName::parse(name).unwrap(),
        path: None,
        media_type: MediaType::parse("text/plain").unwrap(),
        content: b"words".to_vec(),
    };
    let here = knowledge::add_attachment(control, owner, file(desk.space, "nas.txt"));
    let here = here.await.unwrap();
    let (seen, ended) = looking_at(&desk, "attachment", &here.id.to_string()).await;
    let expected = json!({"name": "nas.txt", "media_type": "text/plain", "size_bytes": 5});
    assert_eq!(seen["view"]["file"], expected);
    assert!(ended.turn.tainted_by.is_clean());
    // One of another space, one that nobody knows, one that was thrown away.
    let elsewhere = knowledge::add_attachment(control, owner, file(desk.elsewhere, "tax.txt"));
    let elsewhere = elsewhere.await.unwrap();
    knowledge::delete_attachment(control, owner, here.id)
        .await
        .unwrap();
    let nobody = "01999999-0000-7000-8000-000000000001".to_owned();
    for id in [elsewhere.id.to_string(), here.id.to_string(), nobody] {
        let (seen, _) = looking_at(&desk, "attachment", &id).await;
        assert_eq!(seen["view"]["not_here"], true, "{seen}");
        assert_eq!(seen["view"].get("file"), None, "{seen}");
        assert!(!seen.to_string().contains("tax"), "{seen}");
    }
}
