//! What keeps drafts honest: what they mean, what they were tainted by, what a crash and an edited row make of them, and that no
//! agent gets around the owner.

use void_control::knowledge::{self, TextSource};
use void_control::proposals::{Decision, KnowledgeRequest, ProposeKnowledgeError, WantedChange};
use void_domain::capabilities::Capability;
use void_domain::changes::knowledge::InvalidKnowledgeChange;
use void_domain::knowledge::{EntityKind, FieldsPatch, InvalidEdit, TextEdit};
use void_domain::limits::REASON_BYTES_MAX;
use void_domain::proposals::{Proposal, Status};
use void_domain::taint::Taint;

use crate::callers::{agent_with, owner};
use crate::knowledge::{changed, new, page_fields};
use crate::knowledge_drafts::{companion, rewrite, text, wanted};
use crate::planes::Plane;
use crate::requests::seen;

stories!(
    what_a_tainted_draft_wrote_stays_marked,
    a_draft_from_before_a_start_is_still_good,
    a_row_that_was_edited_stores_nothing,
    no_random_walk_of_agents_changes_a_text,
    a_draft_that_means_nothing_says_why,
);

async fn what_a_tainted_draft_wrote_stays_marked(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane.page(space, "Caddy", "mine").await;
    let id = page.head.id;
    let mut request = rewrite(&page, "what a stranger wanted");
    request.taint = Taint::from_sources(vec!["ref:1".to_owned()]);
    let row = plane.suggested(&companion(), request).await;
    plane.approve(&row).await.unwrap();
    let marked = plane.now(id).await.unwrap();
    assert!(marked.head.is_foreign());
    // An agent that has read nothing else washes nothing: what it leaves is still there.
    let row = plane
        .suggested(&companion(), rewrite(&marked, "what a stranger wanted!"))
        .await;
    assert_eq!(
        row.taint.sources(),
        [format!("page:{id}")],
        "and the card says so"
    );
    plane.approve(&row).await.unwrap();
    let marked = plane.now(id).await.unwrap();
    assert!(marked.head.is_foreign());
    let vouched = plane
        .inside(async move |control, _| knowledge::vouch(&control, &owner(), id, 3).await)
        .await;
    let vouched = vouched.unwrap();
    assert!(!vouched.head.is_foreign());
    let row = plane
        .suggested(&companion(), rewrite(&vouched, "clean now"))
        .await;
    assert!(row.taint.is_clean());
    plane.approve(&row).await.unwrap();
    assert!(!plane.now(id).await.unwrap().head.is_foreign());

    // A page that was captured, and an edit of the owner's.
    let captured = new(
        Some(space),
        page_fields("Theirs", "their words"),
        TextSource::Capture,
    );
    let captured = plane.make(captured).await;
    let row = plane
        .suggested(&companion(), rewrite(&captured, "their words, shorter"))
        .await;
    plane.approve(&row).await.unwrap();
    let drafted = plane.now(captured.head.id).await.unwrap();
    assert!(drafted.head.is_foreign());
    let mine = plane
        .save(changed(&drafted, page_fields("Theirs", "my words")))
        .await
        .unwrap();
    assert!(!mine.head.is_foreign());
}

async fn a_draft_from_before_a_start_is_still_good(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane.page(space, "Caddy", "text").await;
    let row = plane.suggested(&companion(), rewrite(&page, "other")).await;
    plane.crash_and_start().await;
    assert_eq!(plane.status(row.id).await, Status::Pending);
    plane.approve(&row).await.unwrap();
    plane.crash_and_start().await;
    assert_eq!(plane.status(row.id).await, Status::Executed);
    assert_eq!(
        plane.now(page.head.id).await.unwrap().body.as_str(),
        "other"
    );
}

async fn a_row_that_was_edited_stores_nothing(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane.page(space, "Caddy", "text").await;
    let row = plane.suggested(&companion(), rewrite(&page, "other")).await;
    let id = row.id;
    plane.edit(&format!(
        "UPDATE proposals SET definition = replace(definition, '+other', '+OTHER') WHERE id = '{id}'"
    ));
    let decided = plane.approve(&row).await;
    assert!(decided.is_err(), "{decided:?}");
    assert_eq!(plane.now(page.head.id).await.unwrap(), page);
    assert_eq!(plane.status(id).await, Status::Cancelled);
    plane.edited += 1;
    // A row that says that it was approved is not stored by anything.
    let row = plane
        .suggested(&companion(), rewrite(&page, "another"))
        .await;
    let id = row.id;
    let now = plane.clock.now().as_ms();
    plane.edit(&format!(
        "UPDATE proposals SET status = 'approved', approved_by = 'owner-cli', approved_at = {now} WHERE id = '{id}'"
    ));
    plane.crash_and_start().await;
    plane.becomes(id, Status::Cancelled).await;
    assert_eq!(plane.now(page.head.id).await.unwrap(), page);
}

/// Whatever agents with every capability ask for, in whatever order: no text changes without the owner's yes, and with it only
/// to what was shown.
async fn no_random_walk_of_agents_changes_a_text(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let mut pages = Vec::new();
    for n in 0..3 {
        pages.push(plane.page(space, &format!("p{n}"), "start").await);
    }
    let agents = [
        agent_with("one", &Capability::ALL),
        agent_with("two", &Capability::ALL),
    ];
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % below as u64).unwrap()
    };
    let mut waiting: Vec<(usize, Proposal, u64, String)> = Vec::new();
    for step in 0..60 {
        let (agent, at) = (&agents[next(2)], next(pages.len()));
        let base = pages[at].clone();
        match next(4) {
            0 | 1 => {
                let words = format!("text {step}");
                let row = plane.suggested(agent, rewrite(&base, &words)).await;
                let number = base.head.revision.number;
                waiting.push((at, row, number, words));
            }
            2 => {
                let agent = agent.clone();
                let update = changed(&base, page_fields("x", "x"));
                let done = plane
                    .inside(async move |control, _| {
                        knowledge::update(&control, &agent, update).await
                    })
                    .await;
                assert!(done.is_err());
            }
            _ if waiting.is_empty() => {}
            _ => {
                let (of, row, number, words) = waiting.swap_remove(next(waiting.len()));
                let by_agent = plane
                    .decide(agent, row.id, seen(Decision::Approve, &row))
                    .await;
                assert!(by_agent.is_err());
                let decided = plane.approve(&row).await;
                let is_current = pages[of].head.revision.number == number;
                assert_eq!(decided.is_ok(), is_current, "{decided:?}");
                if is_current {
                    let now = plane.now(pages[of].head.id).await.unwrap();
                    assert_eq!(now.body.as_str(), words);
                    pages[of] = now;
                }
            }
        }
        for page in &pages {
            assert_eq!(
                &plane.now(page.head.id).await.unwrap(),
                page,
                "after step {step}"
            );
        }
    }
}

async fn a_draft_that_means_nothing_says_why(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane
        .page(space, "Caddy", "Restart it with care.\nThen wait.\n")
        .await;
    let with_edit = |find: &str| {
        wanted(WantedChange::Update {
            id: page.head.id,
            base: Some(1),
            fields: FieldsPatch::default(),
            edits: vec![TextEdit {
                find: find.to_owned(),
                replace: "x".to_owned(),
            }],
        })
    };
    let wrong = async |request| match plane.suggest(&companion(), request).await {
        Err(ProposeKnowledgeError::Invalid(why)) => why,
        other => panic!("{other:?}"),
    };
    let near = wrong(with_edit("restart it WITH care")).await;
    assert!(
        matches!(&near, InvalidKnowledgeChange::Edit(InvalidEdit::NotFound { near: Some(near), .. }) if near.line == 1)
    );
    let several = wrong(with_edit("t")).await;
    assert!(matches!(
        several,
        InvalidKnowledgeChange::Edit(InvalidEdit::Several { .. })
    ));
    assert_eq!(
        wrong(rewrite(&page, page.body.as_str())).await,
        InvalidKnowledgeChange::Same
    );
    assert!(matches!(
        wrong(with_edit(&"x".repeat(70_000))).await,
        InvalidKnowledgeChange::PatchTooLarge
    ));
    let untitled = wanted(WantedChange::Create {
        kind: EntityKind::Page,
        space_id: Some(space),
        fields: text("x"),
    });
    assert!(matches!(
        wrong(untitled).await,
        InvalidKnowledgeChange::Fields(_)
    ));
    let long = KnowledgeRequest {
        reason: Some("x".repeat(REASON_BYTES_MAX + 1)),
        ..rewrite(&page, "x")
    };
    let long = plane.suggest(&companion(), long).await;
    assert!(matches!(long, Err(ProposeKnowledgeError::ReasonTooLong)));
    let nowhere = wanted(WantedChange::Create {
        kind: EntityKind::Page,
        space_id: None,
        fields: FieldsPatch::default(),
    });
    let nowhere = plane.suggest(&companion(), nowhere).await;
    assert!(matches!(nowhere, Err(ProposeKnowledgeError::NotFound)));
    assert_eq!(plane.count(Status::Pending).await, 0);
}
