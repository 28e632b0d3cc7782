//! Drafts of knowledge: an agent proposes, the owner reads the difference, and only the owner's yes stores it, against exactly
//! what the draft was made of.

use std::time::Duration;

use void_control::Ctx;
use void_control::knowledge;
use void_control::proposals::{
    self, Decision, KnowledgeRequest, ProposeKnowledgeError, Proposed, WantedChange,
    propose_knowledge,
};
use void_domain::actors::Surface;
use void_domain::capabilities::Capability;
use void_domain::catalogue::Risk;
use void_domain::changes::knowledge::InvalidKnowledgeChange;
use void_domain::ids::SpaceId;
use void_domain::knowledge::{
    Body, Entity, EntityId, EntityKind, FieldsPatch, Origin, RefUrl, TextEdit, Title,
};
use void_domain::limits::{OPEN_PROPOSALS_PER_AGENT_MAX, PAGE_BYTES_MAX};
use void_domain::policy::Refusal;
use void_domain::proposals::{Cancellation, Proposal, State, Status, VerificationOutcome};
use void_domain::taint::Taint;

use crate::callers::{agent_with, others, owner, owner_on};
use crate::knowledge::{changed, page_fields};
use crate::planes::Plane;
use crate::requests::{at_once, conflict, seen};

stories!(
    a_yes_stores_what_was_shown_in_one_moment,
    a_yes_is_on_the_record_step_by_step,
    a_draft_of_everything_there_is,
    a_no_stores_nothing,
    of_two_drafts_of_one_page_the_second_is_never_applied,
    of_many_yeses_at_once_each_page_changes_once,
    nothing_is_applied_to_what_was_thrown_away,
    a_freeze_holds_a_draft_back,
    the_same_twice_is_one_and_so_many_wait,
    only_who_may_suggest_drafts_and_nobody_but_the_owner_decides,
    a_viewer_knows_of_no_draft_and_any_paired_surface_says_yes,
    the_longest_page_is_changed_by_edits_and_not_as_a_whole,
);

pub fn companion() -> Ctx {
    agent_with("companion", &[Capability::Suggest])
}

pub fn wanted(wanted: WantedChange) -> KnowledgeRequest {
    KnowledgeRequest {
        wanted,
        reason: Some("a test".to_owned()),
        taint: Taint::clean(),
        turn: None,
    }
}

pub fn text(body: &str) -> FieldsPatch {
    FieldsPatch {
        body: Body::parse(body).ok(),
        ..FieldsPatch::default()
    }
}

/// The whole text anew.
pub fn rewrite(entity: &Entity, body: &str) -> KnowledgeRequest {
    wanted(WantedChange::Update {
        id: entity.head.id,
        base: Some(entity.head.revision.number),
        fields: text(body),
        edits: Vec::new(),
    })
}

pub fn creation(space: SpaceId, title: &str) -> KnowledgeRequest {
    wanted(WantedChange::Create {
        kind: EntityKind::Page,
        space_id: Some(space),
        fields: FieldsPatch {
            title: Title::parse(title).ok(),
            ..text("text")
        },
    })
}

pub fn deletion(entity: &Entity) -> KnowledgeRequest {
    wanted(WantedChange::Delete {
        id: entity.head.id,
        base: None,
    })
}

impl Plane {
    pub async fn suggest(
        &self,
        ctx: &Ctx,
        request: KnowledgeRequest,
    ) -> Result<Proposed, ProposeKnowledgeError> {
        let ctx = ctx.clone();
        self.inside(async move |control, _| propose_knowledge(&control, &ctx, request).await)
            .await
    }

    pub async fn suggested(&self, ctx: &Ctx, request: KnowledgeRequest) -> Proposal {
        match self.suggest(ctx, request).await {
            Ok(Proposed::Queued(row)) => row,
            other => panic!("it does not wait: {other:?}"),
        }
    }
}

async fn a_yes_stores_what_was_shown_in_one_moment(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane
        .page(space, "Caddy", "Restart it.\nThen wait.\n")
        .await;
    let edit = TextEdit {
        find: "Restart it.".to_owned(),
        replace: "Restart it gently.".to_owned(),
    };
    let request = wanted(WantedChange::Update {
        id: page.head.id,
        base: None,
        fields: FieldsPatch::default(),
        edits: vec![edit],
    });
    let row = plane.suggested(&companion(), request).await;
    assert_eq!(
        (row.status(), row.subject.risk),
        (Status::Pending, Risk::Guarded)
    );
    assert_eq!(row.subject.label, "Change a page");
    assert_eq!(
        plane.now(page.head.id).await.unwrap(),
        page,
        "nothing is written yet"
    );

    let decided = plane.approve(&row).await.unwrap();
    let State::Executed {
        result,
        verification,
        ..
    } = &decided.state
    else {
        panic!("{decided:?}")
    };
    assert_eq!(result["revision"], 2);
    assert_eq!(
        verification.as_ref().unwrap().outcome,
        VerificationOutcome::Verified
    );
    assert_eq!(plane.row(row.id).await, decided);
    let now = plane.now(page.head.id).await.unwrap();
    assert_eq!(now.body.as_str(), "Restart it gently.\nThen wait.\n");
    let origin = Origin::Draft {
        proposal: row.id,
        agent: "companion".to_owned(),
        taint: Taint::clean(),
    };
    assert_eq!(
        (&now.head.revision.origin, now.head.revision.number),
        (&origin, 2)
    );
    assert!(!now.head.is_foreign());
}

async fn a_yes_is_on_the_record_step_by_step(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane.page(space, "Caddy", "Restart it.\n").await;
    let row = rewrite(&page, "Restart it gently.\n");
    let row = plane.suggested(&companion(), row).await;
    plane.approve(&row).await.unwrap();
    let now = plane.now(page.head.id).await.unwrap();
    let steps: Vec<Status> = plane
        .steps(row.id)
        .await
        .into_iter()
        .map(|(to, _)| to)
        .collect();
    let expected = [
        Status::Pending,
        Status::Approved,
        Status::Running,
        Status::Executed,
    ];
    assert_eq!(steps, expected);
    // The record has how the difference begins, under the page's own entry.
    let facts = plane.facts_about(page.head.id.to_string()).await;
    let last = facts.last().unwrap();
    assert_eq!(
        (last.verb.as_str(), last.actor.as_str()),
        ("page.changed", "owner-cli")
    );
    assert!(
        last.detail.contains("+Restart it gently."),
        "{}",
        last.detail
    );
    // The second yes is told of the first.
    assert_eq!(conflict(plane.approve(&row).await).0, "already_decided");
    assert_eq!(plane.now(page.head.id).await.unwrap(), now);
}

async fn a_draft_of_everything_there_is(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    for kind in EntityKind::ALL {
        let request = wanted(WantedChange::Create {
            kind,
            space_id: (kind != EntityKind::Space).then_some(space),
            fields: FieldsPatch {
                title: Title::parse("New").ok(),
                url: RefUrl::parse("https://example.org")
                    .ok()
                    .filter(|_| kind == EntityKind::Ref),
                ..text("text")
            },
        });
        let row = plane.suggested(&companion(), request).await;
        let made = plane.approve(&row).await.unwrap();
        let State::Executed { result, .. } = made.state else {
            panic!()
        };
        let id = EntityId::parse(kind, result["id"].as_str().unwrap()).unwrap();
        let made = plane.now(id).await.unwrap();
        assert_eq!(made.body.as_str(), "text");
        let row = plane.suggested(&companion(), rewrite(&made, "other")).await;
        plane.approve(&row).await.unwrap();
        let other = plane.now(id).await.unwrap();
        assert_eq!(
            (other.body.as_str(), other.head.revision.number),
            ("other", 2)
        );
        let row = plane.suggested(&companion(), deletion(&other)).await;
        plane.approve(&row).await.unwrap();
        assert!(plane.now(id).await.is_err(), "{kind}");
        let undone = plane
            .inside(async move |control, _| knowledge::undelete(&control, &owner(), id).await)
            .await;
        assert_eq!(
            undone.unwrap(),
            other,
            "what was thrown away can be taken back"
        );
    }
}

async fn a_no_stores_nothing(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane.page(space, "Caddy", "text").await;
    let row = plane.suggested(&companion(), rewrite(&page, "other")).await;
    let mut no = seen(Decision::Reject, &row);
    no.reason = Some("not like this".to_owned());
    let decided = plane.decide(&owner(), row.id, no).await.unwrap();
    assert!(
        matches!(&decided.state, State::Rejected { reason: Some(reason), .. } if reason == "not like this")
    );
    assert_eq!(plane.now(page.head.id).await.unwrap(), page);
    assert_eq!(conflict(plane.approve(&row).await).0, "already_decided");
}

async fn of_two_drafts_of_one_page_the_second_is_never_applied(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane.page(space, "Caddy", "one\ntwo\nthree\n").await;
    let first = plane
        .suggested(&companion(), rewrite(&page, "ONE\ntwo\nthree\n"))
        .await;
    // It would fit beside the first, line by line; it was not shown so.
    let second = plane
        .suggested(&companion(), rewrite(&page, "one\ntwo\nTHREE\n"))
        .await;
    let third = plane.suggested(&companion(), deletion(&page)).await;
    plane.approve(&first).await.unwrap();
    let after = plane.now(page.head.id).await.unwrap();
    for row in [second, third] {
        let (code, ended) = conflict(plane.approve(&row).await);
        assert_eq!(code, "base_moved");
        let State::Cancelled { why, .. } = ended.state else {
            panic!()
        };
        assert_eq!(why, Cancellation::BaseMoved);
        assert_eq!(
            plane.now(page.head.id).await.unwrap(),
            after,
            "nothing was applied"
        );
    }
    // Also when the owner wrote meanwhile, and wrote the same words again.
    let row = plane
        .suggested(&companion(), rewrite(&after, "draft"))
        .await;
    let mine = plane
        .save(changed(&after, page_fields("Caddy", "mine")))
        .await
        .unwrap();
    let back = changed(&mine, after.fields());
    plane.save(back).await.unwrap();
    assert_eq!(conflict(plane.approve(&row).await).0, "base_moved");
    let stale = plane.suggest(&companion(), rewrite(&page, "x")).await;
    assert!(
        matches!(stale, Err(ProposeKnowledgeError::Moved(now)) if now.head.revision.number == 4)
    );
}

async fn of_many_yeses_at_once_each_page_changes_once(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let mut rows = Vec::new();
    let mut pages = Vec::new();
    for n in 0..4 {
        let page = plane.page(space, &format!("p{n}"), "text").await;
        for word in ["one", "two"] {
            rows.push(plane.suggested(&companion(), rewrite(&page, word)).await);
        }
        rows.push(
            plane
                .suggested(&companion(), creation(space, &format!("new {n}")))
                .await,
        );
        pages.push(page);
    }
    let twice: Vec<&Proposal> = rows.iter().chain(&rows).collect();
    let decided = at_once(twice.len(), |n| plane.approve(twice[n])).await;
    let won = decided.iter().filter(|one| one.is_ok()).count();
    assert_eq!(
        won,
        pages.len() * 2,
        "one draft of each page, and each new page once"
    );
    for page in pages {
        assert_eq!(
            plane.now(page.head.id).await.unwrap().head.revision.number,
            2
        );
    }
    let counts = plane
        .inside(async move |control, _| knowledge::space_counts(&control, &owner(), space).await)
        .await;
    assert_eq!(counts.unwrap().pages, 8);
}

async fn nothing_is_applied_to_what_was_thrown_away(plane: &mut Plane) {
    plane.start().await;
    let (space, other) = (plane.space().await, plane.space().await);
    let page = plane.page(space, "Caddy", "text").await;
    let in_other = plane.page(other, "Caddy", "text").await;
    let update = plane.suggested(&companion(), rewrite(&page, "other")).await;
    let update_in_other = plane
        .suggested(&companion(), rewrite(&in_other, "other"))
        .await;
    let create = plane.suggested(&companion(), creation(other, "New")).await;
    for id in [page.head.id, EntityId::Space(other)] {
        let gone = plane
            .inside(async move |control, _| knowledge::delete(&control, &owner(), id, None).await)
            .await;
        gone.unwrap();
    }
    for row in [update, update_in_other, create] {
        assert_eq!(conflict(plane.approve(&row).await).0, "base_moved");
    }
    let late = plane.suggest(&companion(), rewrite(&page, "x")).await;
    assert!(matches!(late, Err(ProposeKnowledgeError::NotFound)));
    let late = plane.suggest(&companion(), creation(other, "x")).await;
    assert!(matches!(late, Err(ProposeKnowledgeError::NotFound)));
}

async fn a_freeze_holds_a_draft_back(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane.page(space, "Caddy", "text").await;
    let row = plane.suggested(&companion(), rewrite(&page, "other")).await;
    plane.freeze().await;
    assert_eq!(conflict(plane.approve(&row).await).0, "frozen");
    assert_eq!(plane.status(row.id).await, Status::Pending);
    assert_eq!(plane.now(page.head.id).await.unwrap(), page);
    // It can still be drafted and refused.
    let another = plane
        .suggested(&companion(), rewrite(&page, "another"))
        .await;
    plane
        .decide(&owner(), another.id, seen(Decision::Reject, &another))
        .await
        .unwrap();
    plane.thaw().await;
    plane.approve(&row).await.unwrap();
    assert_eq!(
        plane.now(page.head.id).await.unwrap().body.as_str(),
        "other"
    );
    // What nobody decides runs out of time.
    let late = plane.suggested(&companion(), creation(space, "late")).await;
    plane.go_to(late.expires_at.plus(Duration::from_secs(1)));
    assert_eq!(conflict(plane.approve(&late).await).0, "expired");
}

async fn the_same_twice_is_one_and_so_many_wait(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane.page(space, "Caddy", "text").await;
    let first = plane.suggested(&companion(), rewrite(&page, "other")).await;
    let mut again = rewrite(&page, "other");
    again.taint = Taint::from_sources(vec!["ref:1".to_owned()]);
    let again = plane.suggested(&companion(), again).await;
    assert_eq!((again.id, again.count), (first.id, 2));
    assert_eq!(
        again.taint.sources(),
        ["ref:1"],
        "the strictest of both stays"
    );
    assert_eq!(
        conflict(plane.approve(&first).await).0,
        "changed",
        "it was read after the first look"
    );
    for n in 1..OPEN_PROPOSALS_PER_AGENT_MAX {
        plane
            .suggested(&companion(), creation(space, &format!("p{n}")))
            .await;
    }
    let more = plane.suggest(&companion(), creation(space, "more")).await;
    assert!(
        matches!(
            more,
            Ok(Proposed::Refused(
                Refusal::TooManyOpen {
                    limit: OPEN_PROPOSALS_PER_AGENT_MAX
                },
                _
            ))
        ),
        "{more:?}"
    );
    plane.approve(&again).await.unwrap();
}

async fn only_who_may_suggest_drafts_and_nobody_but_the_owner_decides(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane.page(space, "Caddy", "text").await;
    for capability in Capability::ALL {
        let who = agent_with("somebody", &[capability]);
        let drafted = plane
            .suggest(&who, rewrite(&page, &format!("by {capability}")))
            .await;
        match capability {
            Capability::Suggest => assert!(matches!(drafted, Ok(Proposed::Queued(_)))),
            _ => assert!(matches!(
                drafted,
                Err(ProposeKnowledgeError::Refused(Refusal::NoSuggestion))
            )),
        }
    }
    let [agent, viewer, node, system] = others();
    for who in [&viewer, &node, &system] {
        let drafted = plane.suggest(who, rewrite(&page, "x")).await;
        assert!(matches!(
            drafted,
            Err(ProposeKnowledgeError::Refused(Refusal::WrongActor))
        ));
    }
    let row = plane.suggested(&agent, rewrite(&page, "other")).await;
    for who in [&agent, &viewer, &node, &system] {
        for decision in [Decision::Approve, Decision::Reject] {
            let decided = plane.decide(who, row.id, seen(decision, &row)).await;
            assert!(decided.is_err(), "{:?}", who.actor);
        }
    }
    assert_eq!(plane.now(page.head.id).await.unwrap(), page);
}

async fn a_viewer_knows_of_no_draft_and_any_paired_surface_says_yes(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane.page(space, "Caddy", "text").await;
    let [agent, viewer, ..] = others();
    let row = plane.suggested(&agent, rewrite(&page, "other")).await;
    let find = async |who: &Ctx| {
        let (who, id) = (who.clone(), row.id);
        plane
            .inside(async move |control, _| {
                let key = proposals::ProposalKey::Id(id);
                let found = proposals::find(&control, &who, key).await.unwrap();
                let listed = proposals::list(&control, &who, None, None, 100)
                    .await
                    .unwrap();
                (
                    found.is_some(),
                    listed.items.iter().any(|one| one.proposal.id == id),
                )
            })
            .await
    };
    assert_eq!(find(&viewer).await, (false, false));
    assert_eq!(find(&owner()).await, (true, true));
    assert_eq!(find(&agent).await, (true, true));
    // Any paired surface may approve what is guarded, with what was seen.
    let chat = Surface::Telegram {
        user: 7,
        may_approve: true,
    };
    let told = Surface::Telegram {
        user: 7,
        may_approve: false,
    };
    let yes = seen(Decision::Approve, &row);
    assert!(
        plane
            .decide(&owner_on(told, None), row.id, yes.clone())
            .await
            .is_err()
    );
    plane
        .decide(&owner_on(chat, None), row.id, yes)
        .await
        .unwrap();
    assert_eq!(
        plane.now(page.head.id).await.unwrap().body.as_str(),
        "other"
    );
}

async fn the_longest_page_is_changed_by_edits_and_not_as_a_whole(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let line = "A line of a long page, as long as such lines are.\n";
    let head = "The first.\n";
    let mut body = format!(
        "{head}{}",
        line.repeat((PAGE_BYTES_MAX - head.len()) / line.len())
    );
    body.push_str(&"x".repeat(PAGE_BYTES_MAX - body.len()));
    assert_eq!(body.len(), PAGE_BYTES_MAX);
    let page = plane.page(space, "Long", &body).await;
    // As long as the page may be, before and after.
    let edit = TextEdit {
        find: "The first.".to_owned(),
        replace: "The begin.".to_owned(),
    };
    let request = wanted(WantedChange::Update {
        id: page.head.id,
        base: None,
        fields: FieldsPatch::default(),
        edits: vec![edit],
    });
    let row = plane.suggested(&companion(), request).await;
    plane.approve(&row).await.unwrap();
    let now = plane.now(page.head.id).await.unwrap();
    assert_eq!(now.body.as_str(), body.replace("The first.", "The begin."));
    // The whole of it anew, and something new as long, are too much for one draft: it is said what to do instead.
    let other = "Another line of it, which has nothing of the old one.\n".repeat(2_000);
    let too_long = FieldsPatch {
        title: Title::parse("New").ok(),
        ..text(&other)
    };
    let create = wanted(WantedChange::Create {
        kind: EntityKind::Page,
        space_id: Some(space),
        fields: too_long,
    });
    for request in [rewrite(&now, &other), create] {
        let refused = plane.suggest(&companion(), request).await.unwrap_err();
        assert!(
            matches!(
                refused,
                ProposeKnowledgeError::Invalid(InvalidKnowledgeChange::PatchTooLarge)
            ),
            "{refused:?}"
        );
        let told = refused.to_string();
        assert!(
            told.contains("64 KiB") && told.contains("its edits"),
            "{told}"
        );
    }
    // Throwing it away says nothing of its text, however long it is.
    let row = plane.suggested(&companion(), deletion(&now)).await;
    plane.approve(&row).await.unwrap();
}
