//! What an edited yes answers for: the words that the owner wrote, and what stands below a title only if they had it in hand.

use void_control::proposals::{DecideError, InvalidDraftEdit, WantedChange};
use void_domain::ids::{ProjectId, SpaceId};
use void_domain::knowledge::{EntityId, FieldsPatch, Title};
use void_domain::proposals::{Proposal, State, Status};
use void_domain::taint::Taint;
use void_testkit::proposals::NOW;

use crate::callers::owner;
use crate::knowledge_drafts::{companion, creation, rewrite, text, wanted};
use crate::planes::Plane;

stories!(
    another_title_is_no_word_on_what_stands_below_it,
    a_project_of_another_space_leaves_the_draft_waiting,
);

fn titled(title: &str) -> FieldsPatch {
    FieldsPatch {
        title: Title::parse(title).ok(),
        ..FieldsPatch::default()
    }
}

fn read_a_ref() -> Taint {
    Taint::from_sources(vec!["ref:1".to_owned()])
}

/// Whether what came of the draft is a stranger's, as the owner has edited it.
async fn is_foreign(plane: &Plane, row: &Proposal, fields: FieldsPatch) -> bool {
    let done = plane.approve_edited(&owner(), row, fields).await.unwrap();
    let State::Executed { result, .. } = done.state else {
        panic!("{row:?}")
    };
    let id = EntityId::Page(result["id"].as_str().unwrap().parse().unwrap());
    plane.now(id).await.unwrap().head.is_foreign()
}

async fn a_tainted_page(plane: &Plane, space: SpaceId, title: &str) -> Proposal {
    let mut request = creation(space, title);
    request.taint = read_a_ref();
    plane.suggested(&companion(), request).await
}

async fn another_title_is_no_word_on_what_stands_below_it(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let row = a_tainted_page(plane, space, "One").await;
    assert!(is_foreign(plane, &row, titled("Mine")).await);
    let row = a_tainted_page(plane, space, "Two").await;
    assert!(!is_foreign(plane, &row, text("mine")).await);
    let row = a_tainted_page(plane, space, "Three").await;
    let all = FieldsPatch {
        title: Title::parse("Mine").ok(),
        ..text("")
    };
    assert!(!is_foreign(plane, &row, all).await);
    // A draft that brought another title and nothing else is all the owner's once that is.
    let page = plane.page(space, "Caddy", "mine").await;
    let mut renaming = wanted(WantedChange::Update {
        id: page.head.id,
        base: None,
        fields: titled("Theirs"),
        edits: Vec::new(),
    });
    renaming.taint = read_a_ref();
    let row = plane.suggested(&companion(), renaming).await;
    assert!(!is_foreign(plane, &row, titled("Caddy again")).await);
}

async fn a_project_of_another_space_leaves_the_draft_waiting(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane.page(space, "Caddy", "mine").await;
    let row = plane.suggested(&companion(), rewrite(&page, "ours")).await;
    let elsewhere = FieldsPatch {
        project_id: Some(Some(ProjectId::new(NOW, [9; 10]))),
        ..FieldsPatch::default()
    };
    let answer = plane.approve_edited(&owner(), &row, elsewhere).await;
    assert!(
        matches!(
            answer,
            Err(DecideError::InvalidEdit(InvalidDraftEdit::NoProject))
        ),
        "{answer:?}"
    );
    assert_eq!(plane.status(row.id).await, Status::Pending);
    assert_eq!(plane.now(page.head.id).await.unwrap(), page);
    plane.approve(&row).await.unwrap();
}
