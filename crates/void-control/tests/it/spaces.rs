//! What belongs to a space beside its pages: several writes at once, files, and conversations.

use void_control::Ctx;
use void_control::conversations::{self, TurnError};
use void_control::knowledge::{
    self, AttachmentError, EntityFilter, EntityUpdate, KnowledgeError, NewAttachment, ResolvedLink,
    TextSource, WRITE_AT_ONCE_MAX, Write,
};
use void_domain::conversations::ConversationSubject;
use void_domain::ids::SpaceId;
use void_domain::knowledge::{AttachmentName, EntityKind, MediaType, Origin};
use void_domain::limits::ATTACHMENT_BYTES_MAX;

use crate::callers::{others, owner};
use crate::knowledge::{changed, new, page_fields};
use crate::planes::Plane;
use crate::requests::at_once;

stories!(
    the_first_space_is_made_once,
    several_writes_happen_together_or_not_at_all,
    files_are_kept_within_their_bound,
    a_space_has_one_conversation_with_an_agent,
    a_conversation_is_taken_along_and_away,
);

pub fn file(space_id: SpaceId, content: Vec<u8>) -> NewAttachment {
    NewAttachment {
        space_id,
        name: AttachmentName::parse("a.bin").unwrap(),
        path: None,
        media_type: MediaType::parse("application/octet-stream").unwrap(),
        content,
    }
}

async fn several_writes_happen_together_or_not_at_all(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane.page(space, "Title", "text").await;
    let one = |n: usize| {
        Write::Create(new(
            Some(space),
            page_fields(&format!("p{n}"), ""),
            TextSource::Import,
        ))
    };
    let write = async |writes| {
        ask!(plane, owner(), |control, ctx| knowledge::write_many(
            &control, &ctx, writes
        ))
    };
    let stale = EntityUpdate {
        base: 9,
        ..changed(&page, page_fields("Title", "other"))
    };
    let failed = write(vec![one(1), Write::Update(stale)]).await;
    assert!(
        matches!(failed, Err(KnowledgeError::Conflict(_))),
        "{failed:?}"
    );
    let count = async || {
        let counts = ask!(plane, owner(), |control, ctx| knowledge::space_counts(
            &control, &ctx, space
        ));
        counts.unwrap().pages
    };
    assert_eq!(count().await, 1);
    let most: Vec<Write> = (0..WRITE_AT_ONCE_MAX).map(one).collect();
    let more: Vec<Write> = (0..=WRITE_AT_ONCE_MAX).map(one).collect();
    assert!(matches!(write(more).await, Err(KnowledgeError::Full)));
    let written = write(most).await.unwrap();
    assert_eq!(written.len(), WRITE_AT_ONCE_MAX);
    assert!(
        written
            .iter()
            .all(|one| one.head.revision.origin == Origin::Import)
    );
    assert_eq!(count().await, 1 + WRITE_AT_ONCE_MAX as u64);
}

async fn files_are_kept_within_their_bound(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let add = async |content| {
        let file = file(space, content);
        ask!(plane, owner(), |control, ctx| knowledge::add_attachment(
            &control, &ctx, file
        ))
    };
    let more = add(vec![7; ATTACHMENT_BYTES_MAX + 1]).await;
    assert!(matches!(more, Err(AttachmentError::TooLarge)), "{more:?}");
    let most = add(vec![7; ATTACHMENT_BYTES_MAX]).await.unwrap();
    let id = most.id;
    let content = async || {
        ask!(
            plane,
            owner(),
            |control, ctx| knowledge::attachment_content(&control, &ctx, id)
        )
    };
    assert_eq!(content().await.unwrap().1.len(), ATTACHMENT_BYTES_MAX);
    ask!(plane, owner(), |control, ctx| knowledge::delete_attachment(
        &control, &ctx, id
    ))
    .unwrap();
    assert!(matches!(content().await, Err(KnowledgeError::NotFound)));
    ask!(
        plane,
        owner(),
        |control, ctx| knowledge::restore_attachment(&control, &ctx, id)
    )
    .unwrap();
    assert!(content().await.is_ok());
    let verbs: Vec<String> = plane
        .facts_about(id.to_string())
        .await
        .into_iter()
        .map(|fact| fact.verb)
        .collect();
    assert_eq!(
        verbs,
        [
            "attachment.added",
            "attachment.deleted",
            "attachment.restored"
        ]
    );
}

async fn a_space_has_one_conversation_with_an_agent(plane: &mut Plane) {
    plane.start().await;
    let (space, other) = (plane.space().await, plane.space().await);
    let ambient = async |space, agent: &'static str| {
        ask!(plane, owner(), |control, ctx| conversations::ambient(
            &control, &ctx, space, agent
        ))
    };
    let found = at_once(6, |_| ambient(space, "blue")).await;
    let first = found[0].as_ref().unwrap().clone();
    assert!(
        found
            .iter()
            .all(|one| one.as_ref().is_ok_and(|one| *one == first))
    );
    assert_ne!(ambient(space, "red").await.unwrap().id, first.id);
    assert_ne!(ambient(other, "blue").await.unwrap().id, first.id);
    let nowhere: SpaceId = first.id.to_string().parse().unwrap();
    assert!(matches!(
        ambient(nowhere, "blue").await,
        Err(TurnError::NotFound)
    ));

    // The conversation that goes on without a space is never a space's.
    let current = ask!(plane, owner(), |control, ctx| conversations::current(
        &control, &ctx, "blue"
    ));
    let current = current.unwrap();
    assert!(current.space_id.is_none() && current.id != first.id);

    let page = plane.page(space, "Title", "").await;
    let about = async |subject: ConversationSubject| {
        ask!(plane, owner(), |control, ctx| conversations::about(
            &control, &ctx, "blue", subject
        ))
    };
    let subject = ConversationSubject::Entity(page.head.id);
    let attached = about(subject.clone()).await.unwrap();
    assert_eq!(
        (attached.space_id, &attached.about),
        (Some(space), &Some(subject.clone()))
    );
    assert_eq!(about(subject).await.unwrap(), attached, "it goes on");
    assert_eq!(ambient(space, "blue").await.unwrap(), first);
    let action = ConversationSubject::parse("action", "touch-a").unwrap();
    assert_eq!(about(action).await.unwrap().space_id, None);
    for (kind, id) in [("service", "nobody-watches"), ("action", "no-such")] {
        let subject = ConversationSubject::parse(kind, id).unwrap();
        assert!(
            matches!(about(subject).await, Err(TurnError::NotFound)),
            "{kind} {id}"
        );
    }
}

async fn a_conversation_is_taken_along_and_away(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let talk = ask!(plane, owner(), |control, ctx| conversations::ambient(
        &control, &ctx, space, "blue"
    ));
    let id = talk.unwrap().id;
    let answering = conversations::Answering {
        is_process: false,
        agent: "blue".to_owned(),
        brain: "scripted".to_owned(),
        model: "scripted-1".to_owned(),
        daily_tokens: None,
    };
    let begun = ask!(plane, owner(), |control, ctx| {
        conversations::begin_turn(&control, &ctx, id, "Hello".to_owned(), answering)
    });
    let begun = begun.unwrap();
    let delete = async |who: Ctx| {
        ask!(plane, who, |control, ctx| conversations::delete(
            &control, &ctx, id
        ))
    };
    let export = async |who: Ctx| {
        ask!(plane, who, |control, ctx| conversations::export(
            &control, &ctx, id
        ))
    };
    assert!(
        matches!(delete(owner()).await, Err(TurnError::Busy(running)) if running == begun.message_id)
    );
    let mut turn = begun.turn.clone();
    turn.state = void_domain::conversations::TurnState::Stopped {
        at: plane.clock.now(),
    };
    let talk = begun.conversation.clone();
    let ended = plane.inside(async move |control, _| {
        conversations::end_turn(&control, &talk, begun.message_id, "Hi".to_owned(), turn).await
    });
    assert!(ended.await.unwrap());
    for who in others() {
        assert!(matches!(
            export(who.clone()).await,
            Err(TurnError::OwnerOnly)
        ));
        assert!(matches!(delete(who).await, Err(TurnError::OwnerOnly)));
    }
    let said: Vec<String> = export(owner())
        .await
        .unwrap()
        .messages
        .into_iter()
        .map(|one| one.body)
        .collect();
    assert_eq!(said, ["Hello", "Hi"]);
    delete(owner()).await.unwrap();
    assert!(matches!(delete(owner()).await, Err(TurnError::NotFound)));
    assert!(matches!(export(owner()).await, Err(TurnError::NotFound)));
    let facts = plane.facts_about(id.to_string()).await;
    assert!(facts.iter().any(|fact| fact.verb == "conversation.deleted"));
}

async fn the_first_space_is_made_once(plane: &mut Plane) {
    plane.start().await;
    let make = async || {
        plane
            .inside(async move |control, _| knowledge::make_first_space(&control).await)
            .await
    };
    let made = at_once(3, |_| make()).await;
    assert_eq!(
        made.into_iter()
            .filter(|made| matches!(made, Ok(true)))
            .count(),
        1
    );
    let spaces = ask!(plane, owner(), |control, ctx| {
        knowledge::list(&control, &ctx, EntityFilter::spaces(), None, 10)
    });
    let spaces = spaces.unwrap().items;
    let [space] = &spaces[..] else {
        panic!("{spaces:?}")
    };
    let filter = EntityFilter::within(space.space_id, EntityKind::Page);
    let pages = ask!(plane, owner(), |control, ctx| knowledge::list(
        &control, &ctx, filter, None, 10
    ));
    let pages = pages.unwrap().items;
    assert_eq!(pages.len(), 3);
    // Every link of theirs leads somewhere.
    for page in &pages {
        let id = page.id;
        let linked = ask!(plane, owner(), |control, ctx| knowledge::linked(
            &control, &ctx, id
        ))
        .unwrap();
        assert!(
            !linked.links.is_empty() && !linked.backlinks.is_empty(),
            "{}",
            page.title
        );
        for link in &linked.links {
            assert!(
                matches!(link, ResolvedLink::To(_)),
                "{}: {link:?}",
                page.title
            );
        }
    }
    let id = space.id;
    ask!(plane, owner(), |control, ctx| knowledge::delete(
        &control, &ctx, id, None
    ))
    .unwrap();
    assert!(
        !make().await.unwrap(),
        "whoever threw it away does not get it again"
    );
}
