//! What the owner does with drafts beside a yes or a no to one: several at once, edited, and asked again against what is there
//! now. Nothing of it stores what the owner was not shown or did not write.

use void_control::Ctx;
use void_control::knowledge::{self, KnowledgeError, TextSource};
use void_control::proposals::{
    self, AgainError, DecideDraftsError, DecideError, Decision, DraftDecision, InvalidDraftEdit,
    KnowledgeRequest, ProposalKey,
};
use void_domain::actors::Surface;
use void_domain::changes::drafts::DraftTurn;
use void_domain::ids::{ConversationId, MessageId};
use void_domain::knowledge::merges::NoMerge;
use void_domain::knowledge::{Entity, EntityId, FieldsPatch, Origin, RunbookName};
use void_domain::limits::DRAFTS_AT_ONCE_MAX;
use void_domain::proposals::{Cancellation, Proposal, State, Status};
use void_domain::taint::Taint;
use void_testkit::proposals::NOW;

use crate::callers::{agent, agent_with, others, owner, owner_on};
use crate::knowledge::{changed, new, page_fields};
use crate::knowledge_drafts::{companion, creation, deletion, rewrite, text};
use crate::planes::Plane;
use crate::requests::{conflict, seen};

stories!(
    a_moved_base_shows_both_and_is_asked_again,
    what_both_changed_is_not_asked_again,
    a_deletion_and_a_new_page_are_asked_again,
    only_what_was_not_applied_is_asked_again,
    the_owners_edit_is_stored_and_ends_the_mark,
    an_edit_that_says_nothing_or_too_much_is_refused,
    drafts_are_decided_together_each_for_itself,
    nothing_but_drafts_is_decided_together,
    a_draft_knows_its_turn,
    a_page_becomes_a_runbook_and_a_foreign_one_does_not,
);

const BODY: &str = "one\n\ntwo\n\nthree\n";

fn tainted(mut request: KnowledgeRequest) -> KnowledgeRequest {
    request.taint = Taint::from_sources(vec!["ref:1".to_owned()]);
    request
}

impl Plane {
    async fn again(&self, ctx: &Ctx, row: &Proposal) -> Result<Proposal, AgainError> {
        let (ctx, key) = (ctx.clone(), ProposalKey::Id(row.id));
        self.inside(async move |control, _| proposals::again(&control, &ctx, key).await)
            .await
    }

    pub async fn approve_edited(
        &self,
        ctx: &Ctx,
        row: &Proposal,
        fields: FieldsPatch,
    ) -> Result<Proposal, DecideError> {
        let (ctx, key) = (ctx.clone(), ProposalKey::Id(row.id));
        let request = seen(Decision::Approve, row);
        self.inside(async move |control, _| {
            proposals::approve_edited(&control, &ctx, key, request, fields).await
        })
        .await
    }

    async fn decide_all(
        &self,
        ctx: &Ctx,
        decision: Decision,
        rows: &[&Proposal],
    ) -> Result<Vec<Result<Proposal, DecideError>>, DecideDraftsError> {
        let ctx = ctx.clone();
        let drafts: Vec<DraftDecision> = rows
            .iter()
            .map(|row| DraftDecision {
                key: ProposalKey::Id(row.id),
                request: seen(decision, row),
            })
            .collect();
        self.inside(async move |control, _| proposals::decide_drafts(&control, &ctx, drafts).await)
            .await
    }

    async fn moved(&self, ctx: &Ctx, row: &Proposal) -> Option<proposals::MovedBase> {
        let (ctx, row) = (ctx.clone(), row.clone());
        self.inside(async move |control, _| proposals::moved_base(&control, &ctx, &row).await)
            .await
            .unwrap()
    }

    async fn owners(&self, page: &Entity, body: &str) -> Entity {
        let title = page.head.title.to_string();
        self.save(changed(page, page_fields(&title, body)))
            .await
            .unwrap()
    }
}

async fn a_moved_base_shows_both_and_is_asked_again(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane.page(space, "Caddy", BODY).await;
    let drafted = tainted(rewrite(&page, "one, gently\n\ntwo\n\nthree\n"));
    let row = plane.suggested(&companion(), drafted).await;
    assert_eq!(plane.moved(&owner(), &row).await, None, "nothing has moved");
    let now = plane.owners(&page, "one\n\ntwo\n\nthree, mine\n").await;
    let moved = plane.moved(&owner(), &row).await.unwrap();
    assert_eq!(
        (moved.base, moved.now),
        (Some(page.fields()), Some(now.clone()))
    );
    assert_eq!(
        plane.moved(&companion(), &row).await,
        None,
        "it is for the owner"
    );

    let (code, ended) = conflict(plane.approve(&row).await);
    assert_eq!(code, "base_moved");
    assert_eq!(
        plane.now(page.head.id).await.unwrap(),
        now,
        "nothing is applied"
    );
    assert!(
        plane.moved(&owner(), &ended).await.is_some(),
        "the card goes on showing both"
    );

    let again = plane.again(&owner(), &row).await.unwrap();
    assert_eq!(again.status(), Status::Pending);
    assert_eq!(
        again.requested_by, row.requested_by,
        "it is the same requester's"
    );
    assert_eq!((&again.taint, &again.reason), (&row.taint, &row.reason));
    assert_eq!(
        plane.now(page.head.id).await.unwrap(),
        now,
        "asking writes nothing"
    );
    plane.approve(&again).await.unwrap();
    let merged = plane.now(page.head.id).await.unwrap();
    assert_eq!(merged.body.as_str(), "one, gently\n\ntwo\n\nthree, mine\n");
    assert!(merged.head.is_foreign(), "the mark of the draft went along");
    // What waits and was not moved needs no second one; what moved while it waited ends with the new one.
    let row = plane
        .suggested(&companion(), rewrite(&merged, "other\n"))
        .await;
    assert!(matches!(
        plane.again(&owner(), &row).await,
        Err(AgainError::NotNeeded(_))
    ));
    plane
        .owners(&merged, &format!("{}\nmore\n", merged.body.as_str()))
        .await;
    let answer = plane.again(&owner(), &row).await;
    assert!(
        matches!(answer, Err(AgainError::NoMerge { .. })),
        "{answer:?}"
    );
    assert_eq!(
        plane.status(row.id).await,
        Status::Pending,
        "it was not ended for nothing"
    );
}

async fn what_both_changed_is_not_asked_again(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane.page(space, "Caddy", BODY).await;
    let row = rewrite(&page, "one\n\ntheirs\n\nthree\n");
    let row = plane.suggested(&companion(), row).await;
    let now = plane.owners(&page, "one\n\nmine\n\nthree\n").await;
    let Err(AgainError::NoMerge { why, there }) = plane.again(&owner(), &row).await else {
        panic!()
    };
    let NoMerge::Conflicts {
        conflicts,
        left_out,
    } = *why
    else {
        panic!()
    };
    assert_eq!((conflicts.len(), left_out, *there), (1, 0, now.clone()));
    assert_eq!(
        (conflicts[0].draft.as_str(), conflicts[0].now.as_str()),
        ("theirs\n", "mine\n")
    );
    assert_eq!(
        plane.count(Status::Pending).await,
        1,
        "no other draft was made"
    );
    assert_eq!(plane.now(page.head.id).await.unwrap(), now);
    // What says the same as the draft by now leaves nothing to draft.
    plane.owners(&now, "one\n\ntheirs\n\nthree\n").await;
    let answer = plane.again(&owner(), &row).await;
    assert!(matches!(answer, Err(AgainError::Invalid(_))), "{answer:?}");
    let id = page.head.id;
    let gone = plane
        .inside(async move |control, _| knowledge::delete(&control, &owner(), id, None).await)
        .await;
    gone.unwrap();
    assert!(matches!(
        plane.again(&owner(), &row).await,
        Err(AgainError::Gone)
    ));
    assert_eq!(plane.moved(&owner(), &row).await.unwrap().now, None);
}

async fn a_deletion_and_a_new_page_are_asked_again(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane.page(space, "Caddy", BODY).await;
    let row = plane.suggested(&companion(), deletion(&page)).await;
    plane.owners(&page, "other\n").await;
    assert_eq!(conflict(plane.approve(&row).await).0, "base_moved");
    let again = plane.again(&owner(), &row).await.unwrap();
    plane.approve(&again).await.unwrap();
    assert!(plane.now(page.head.id).await.is_err());
    // A no is final; asking again is a new request of the same.
    let row = plane.suggested(&companion(), creation(space, "New")).await;
    plane.reject(&row).await.unwrap();
    let again = plane.again(&owner(), &row).await.unwrap();
    assert_eq!(again.subject.digest, row.subject.digest);
    assert_eq!(plane.status(row.id).await, Status::Rejected);
    let second = plane.again(&owner(), &row).await.unwrap();
    assert_eq!(
        (second.id, second.count),
        (again.id, 2),
        "the same twice is one"
    );
}

async fn only_what_was_not_applied_is_asked_again(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane.page(space, "Caddy", BODY).await;
    let row = plane
        .suggested(&companion(), rewrite(&page, "other\n"))
        .await;
    for who in others().iter().chain([&companion()]) {
        assert!(matches!(
            plane.again(who, &row).await,
            Err(AgainError::OwnerOnly)
        ));
    }
    plane.approve(&row).await.unwrap();
    assert!(matches!(
        plane.again(&owner(), &row).await,
        Err(AgainError::NotNeeded(_))
    ));
    let action = plane.queue(&agent("blue"), "stop-a").await;
    plane.reject(&action).await.unwrap();
    assert!(matches!(
        plane.again(&owner(), &action).await,
        Err(AgainError::NotADraft)
    ));
    let missing = Proposal {
        id: void_domain::ids::ProposalId::new(NOW, [9; 10]),
        ..row
    };
    assert!(matches!(
        plane.again(&owner(), &missing).await,
        Err(AgainError::NotFound)
    ));
}

async fn the_owners_edit_is_stored_and_ends_the_mark(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane.page(space, "Caddy", BODY).await;
    let drafted = tainted(rewrite(&page, "what a stranger wanted\n"));
    let row = plane.suggested(&companion(), drafted).await;
    let done = plane
        .approve_edited(&owner(), &row, text("what I want\n"))
        .await
        .unwrap();
    let State::Executed { result, .. } = &done.state else {
        panic!("{done:?}")
    };
    assert_eq!(result["edited"], true);
    let now = plane.now(page.head.id).await.unwrap();
    assert_eq!(now.body.as_str(), "what I want\n");
    assert!(!now.head.is_foreign(), "who edits it answers for it");
    let revision = &now.head.revision;
    let Origin::Draft {
        proposal, taint, ..
    } = &revision.origin
    else {
        panic!("{revision:?}")
    };
    assert_eq!(
        (*proposal, taint),
        (row.id, &row.taint),
        "what it came from stays known"
    );
    assert_eq!(revision.vouched.as_ref().unwrap().by, "owner-cli");
    // The record says both, and what was stored.
    let facts = plane.facts_about(page.head.id.to_string()).await;
    let verbs: Vec<&str> = facts.iter().map(|fact| fact.verb.as_str()).collect();
    assert_eq!(verbs[verbs.len() - 2..], ["page.changed", "page.vouched"]);
    let stored = &facts[facts.len() - 2].detail;
    assert!(
        stored.contains("+what I want") && !stored.contains("stranger"),
        "{stored}"
    );

    // Whoever moves it into another drawer has not answered for its words.
    let drafted = tainted(rewrite(&now, "a stranger again\n"));
    let row = plane.suggested(&companion(), drafted).await;
    let tags = FieldsPatch {
        tags: void_domain::knowledge::Tags::parse(["lab"]).ok(),
        ..FieldsPatch::default()
    };
    plane.approve_edited(&owner(), &row, tags).await.unwrap();
    let now = plane.now(page.head.id).await.unwrap();
    assert!(now.head.is_foreign() && now.head.revision.vouched.is_none());
}

async fn an_edit_that_says_nothing_or_too_much_is_refused(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane.page(space, "Caddy", BODY).await;
    let row = plane
        .suggested(&companion(), rewrite(&page, "other\n"))
        .await;
    let gone = plane.suggested(&companion(), deletion(&page)).await;
    let action = plane.queue(&agent("blue"), "stop-a").await;
    let state = FieldsPatch {
        state: Some(void_domain::knowledge::TaskState::Done),
        ..FieldsPatch::default()
    };
    for (about, fields) in [
        (&row, text("other\n")),
        (&row, FieldsPatch::default()),
        (&row, text(BODY)),
        (&row, state),
        (&gone, text("x")),
    ] {
        let answer = plane.approve_edited(&owner(), about, fields).await;
        assert!(
            matches!(answer, Err(DecideError::InvalidEdit(_))),
            "{answer:?}"
        );
    }
    let same = plane.approve_edited(&owner(), &row, text(BODY)).await;
    assert!(matches!(
        same,
        Err(DecideError::InvalidEdit(InvalidDraftEdit::Same))
    ));
    let answer = plane.approve_edited(&owner(), &action, text("x")).await;
    assert!(matches!(answer, Err(DecideError::NotADraft)), "{answer:?}");
    for who in others().iter().chain([&companion()]) {
        let answer = plane.approve_edited(who, &row, text("x")).await;
        assert!(matches!(answer, Err(DecideError::OwnerOnly)), "{answer:?}");
    }
    let other = Proposal {
        subject: gone.subject.clone(),
        ..row.clone()
    };
    let answer = plane.approve_edited(&owner(), &other, text("x")).await;
    assert_eq!(
        conflict(answer).0,
        "changed",
        "another digest than the row's"
    );
    assert_eq!(plane.now(page.head.id).await.unwrap(), page);
    assert_eq!(plane.count(Status::Pending).await, 3, "all of them wait on");
    let now = plane.owners(&page, "moved\n").await;
    let answer = plane.approve_edited(&owner(), &row, text("x")).await;
    assert_eq!(conflict(answer).0, "base_moved");
    assert_eq!(plane.now(page.head.id).await.unwrap(), now);
}

async fn drafts_are_decided_together_each_for_itself(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let pages = [
        plane.page(space, "One", BODY).await,
        plane.page(space, "Two", BODY).await,
        plane.page(space, "Three", BODY).await,
    ];
    let mut rows = Vec::new();
    for page in &pages {
        rows.push(plane.suggested(&companion(), rewrite(page, "new\n")).await);
    }
    let now = plane.owners(&pages[1], "mine\n").await;
    let stale = Proposal {
        subject: rows[0].subject.clone(),
        ..rows[2].clone()
    };
    let asked = [&rows[0], &rows[1], &stale, &rows[0]];
    let answers = plane
        .decide_all(&owner(), Decision::Approve, &asked)
        .await
        .unwrap();
    let mut answers = answers.into_iter();
    assert_eq!(answers.next().unwrap().unwrap().status(), Status::Executed);
    assert_eq!(conflict(answers.next().unwrap()).0, "base_moved");
    assert_eq!(
        conflict(answers.next().unwrap()).0,
        "changed",
        "another digest"
    );
    assert_eq!(conflict(answers.next().unwrap()).0, "already_decided");
    assert!(answers.next().is_none());
    assert_eq!(
        plane.now(pages[0].head.id).await.unwrap().body.as_str(),
        "new\n"
    );
    assert_eq!(plane.now(pages[1].head.id).await.unwrap(), now);
    assert_eq!(plane.now(pages[2].head.id).await.unwrap(), pages[2]);
    let answers = plane
        .decide_all(&owner(), Decision::Reject, &[&rows[2]])
        .await
        .unwrap();
    assert_eq!(answers[0].as_ref().unwrap().status(), Status::Rejected);
    let cancelled = plane.row(rows[1].id).await;
    assert!(matches!(
        cancelled.state,
        State::Cancelled {
            why: Cancellation::BaseMoved,
            ..
        }
    ));
}

async fn nothing_but_drafts_is_decided_together(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let action = plane.queue(&agent("blue"), "stop-a").await;
    let draft = plane.suggested(&companion(), creation(space, "New")).await;
    for who in others().iter().chain([&companion()]) {
        let answers = plane
            .decide_all(who, Decision::Approve, &[&draft])
            .await
            .unwrap();
        assert!(
            matches!(answers[0], Err(DecideError::OwnerOnly)),
            "{answers:?}"
        );
    }
    for decision in [Decision::Approve, Decision::Reject] {
        let answers = plane
            .decide_all(&owner(), decision, &[&action])
            .await
            .unwrap();
        assert!(
            matches!(answers[0], Err(DecideError::NotADraft)),
            "{answers:?}"
        );
    }
    assert_eq!(plane.status(action.id).await, Status::Pending);
    let many = vec![&draft; DRAFTS_AT_ONCE_MAX + 1];
    let answers = plane.decide_all(&owner(), Decision::Approve, &many).await;
    assert!(matches!(answers, Err(DecideDraftsError::TooMany)));
    assert_eq!(plane.status(draft.id).await, Status::Pending);
    let page = owner_on(Surface::Web, None);
    let answers = plane
        .decide_all(&page, Decision::Approve, &many[1..])
        .await
        .unwrap();
    assert_eq!(answers.len(), DRAFTS_AT_ONCE_MAX);
    assert_eq!(answers[0].as_ref().unwrap().status(), Status::Executed);
}

async fn a_draft_knows_its_turn(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let turn = DraftTurn {
        conversation_id: ConversationId::new(NOW, [1; 10]),
        message_id: MessageId::new(NOW, [2; 10]),
    };
    let request = KnowledgeRequest {
        turn: Some(turn),
        ..creation(space, "New")
    };
    let row = plane.suggested(&companion(), request).await;
    let other = plane
        .suggested(&companion(), creation(space, "Other"))
        .await;
    let action = plane.queue(&agent("blue"), "stop-a").await;
    let page = plane
        .inside(async move |control, _| proposals::list_waiting_changes(&control, None, 1).await)
        .await
        .unwrap();
    assert_eq!((page.items.len(), page.next.is_some()), (1, true));
    // Of one millisecond, either may be the first.
    let of = |id| (id == row.id).then_some(turn);
    let first = page.items[0].proposal.id;
    assert!([row.id, other.id].contains(&first));
    assert_eq!(page.items[0].draft.turn, of(first));
    let second = if first == row.id { other.id } else { row.id };
    let after = Some(first);
    let page = plane
        .inside(async move |control, _| proposals::list_waiting_changes(&control, after, 9).await)
        .await
        .unwrap();
    let ids: Vec<_> = page.items.iter().map(|listed| listed.proposal.id).collect();
    assert_eq!(
        (ids, page.next),
        (vec![second], None),
        "an action is no change"
    );
    assert_eq!(plane.status(action.id).await, Status::Pending);
    // Who asks again asks for the same turn's.
    plane.reject(&row).await.unwrap();
    let again = plane.again(&owner(), &row).await.unwrap();
    let key = ProposalKey::Id(again.id);
    let found = plane
        .inside(async move |control, _| proposals::find(&control, &owner(), key).await)
        .await;
    let context = found.unwrap().unwrap().draft;
    assert_eq!((context.turn, context.again_of), (Some(turn), Some(row.id)));
}

async fn a_page_becomes_a_runbook_and_a_foreign_one_does_not(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane.page(space, "Caddy", BODY).await;
    let EntityId::Page(id) = page.head.id else {
        panic!()
    };
    let about = RunbookName::parse("service", "caddy").unwrap();
    let names = vec![about.clone()];
    let set = |ctx: Ctx, id, base: u64, names: Vec<RunbookName>| {
        plane.inside(async move |control, _| {
            knowledge::set_runbooks(&control, &ctx, id, base, names).await
        })
    };
    for who in others().into_iter().chain([companion()]) {
        let answer = set(who, id, 1, names.clone()).await;
        assert!(
            matches!(answer, Err(KnowledgeError::OwnerOnly)),
            "{answer:?}"
        );
    }
    let answer = set(owner(), id, 7, names.clone()).await;
    assert!(
        matches!(answer, Err(KnowledgeError::Conflict(_))),
        "{answer:?}"
    );
    let runbook = set(owner(), id, 1, names.clone()).await.unwrap();
    assert!(
        runbook
            .body
            .as_str()
            .starts_with("---\nservices: [caddy]\n---\none\n")
    );
    let look = about.clone();
    let reader = agent_with("reader", &[void_domain::capabilities::Capability::Read]);
    let found = plane
        .inside(async move |control, _| knowledge::runbooks(&control, &reader, look).await)
        .await;
    assert_eq!(found.unwrap(), [runbook]);
    let captured = new(Some(space), page_fields("Theirs", "x"), TextSource::Capture);
    let captured = plane.make(captured).await;
    let EntityId::Page(id) = captured.head.id else {
        panic!()
    };
    let answer = set(owner(), id, 1, names).await;
    assert!(
        matches!(answer, Err(KnowledgeError::ForeignText)),
        "{answer:?}"
    );
    assert!(plane.now(captured.head.id).await.unwrap().head.is_foreign());
}
