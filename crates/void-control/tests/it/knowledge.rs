//! What the owner keeps: written by the owner alone, from what was looked at, and with one entry of the record that holds no
//! text of it.

use void_control::Ctx;
use void_control::conversations::{self, TurnError};
use void_control::knowledge::{
    self, AttachmentError, EntityFilter, EntityUpdate, KnowledgeError, NewEntity, SpaceCounts,
    TextSource, Write,
};
use void_domain::capabilities::Capability;
use void_domain::conversations::ConversationSubject;
use void_domain::events::Audience;
use void_domain::facts::Fact;
use void_domain::ids::{ProjectId, SpaceId};
use void_domain::knowledge::{
    Body, Details, Entity, EntityId, EntityKind, Fields, Origin, PageDetails, RefDetails, RefUrl,
    SpaceDetails, Tags, TaskDetails, TaskState, Title,
};
use void_domain::limits::REASON_BYTES_MAX;

use crate::callers::{agent_with, others, owner};
use crate::planes::Plane;
use crate::requests::at_once;
use crate::spaces::file;

stories!(
    only_the_owner_writes_and_only_who_may_reads,
    of_many_saves_of_one_revision_one_wins_and_the_others_see_it,
    what_is_thrown_away_is_nowhere_until_it_is_taken_back,
    an_older_text_comes_back_with_its_mark,
    the_owner_answers_for_what_was_read,
    a_tick_is_no_new_text,
    the_record_says_what_happened_and_no_word_of_it,
    a_project_belongs_to_the_space_of_what_is_in_it,
);

pub fn fields(title: &str, body: &str, details: Details) -> Fields {
    Fields {
        title: Title::parse(title).unwrap(),
        body: Body::parse(body).unwrap(),
        details,
    }
}

pub fn page_fields(title: &str, body: &str) -> Fields {
    fields(title, body, Details::Page(PageDetails::default()))
}

pub fn ref_fields(title: &str, body: &str) -> Fields {
    let details = RefDetails {
        project_id: None,
        url: RefUrl::parse("https://example.org/").unwrap(),
        tags: Tags::default(),
    };
    fields(title, body, Details::Ref(details))
}

pub fn new(space_id: Option<SpaceId>, fields: Fields, source: TextSource) -> NewEntity {
    NewEntity {
        space_id,
        fields,
        source,
        reason: None,
    }
}

pub fn changed(entity: &Entity, fields: Fields) -> EntityUpdate {
    EntityUpdate {
        id: entity.head.id,
        base: entity.head.revision.number,
        fields,
        source: TextSource::Owner,
        reason: Some("a test".to_owned()),
    }
}

impl Plane {
    pub async fn make(&self, new: NewEntity) -> Entity {
        ask!(self, owner(), |control, ctx| knowledge::create(
            &control, &ctx, new
        ))
        .unwrap()
    }

    pub async fn space(&self) -> SpaceId {
        let details = Details::Space(SpaceDetails::default());
        let space = new(None, fields("Lab", "", details), TextSource::Owner);
        self.make(space).await.head.space_id
    }

    pub async fn page(&self, space: SpaceId, title: &str, body: &str) -> Entity {
        let page = new(Some(space), page_fields(title, body), TextSource::Owner);
        self.make(page).await
    }

    pub async fn save(&self, update: EntityUpdate) -> Result<Entity, KnowledgeError> {
        ask!(self, owner(), |control, ctx| knowledge::update(
            &control, &ctx, update
        ))
    }

    pub async fn now(&self, id: EntityId) -> Result<Entity, KnowledgeError> {
        ask!(self, owner(), |control, ctx| knowledge::find(
            &control, &ctx, id
        ))
    }

    pub async fn facts_about(&self, id: String) -> Vec<Fact> {
        let mut facts = self.audit().await;
        facts.retain(|fact| fact.subject.as_deref() == Some(&*id));
        facts
    }
}

/// Every write there is, by anybody: each has to be refused.
async fn tries_to_write(plane: &Plane, who: &Ctx, space: SpaceId, page: &Entity) {
    let is_refused = |name: &str, refused: bool| {
        assert!(refused, "{name} by {:?}", who.actor);
    };
    let id = page.head.id;
    let one = new(Some(space), page_fields("x", "x"), TextSource::Owner);
    let many = vec![Write::Create(one.clone())];
    let done = ask!(plane, who, |control, ctx| knowledge::create(
        &control, &ctx, one
    ));
    is_refused("create", matches!(done, Err(KnowledgeError::OwnerOnly)));
    let done = ask!(plane, who, |control, ctx| knowledge::write_many(
        &control, &ctx, many
    ));
    is_refused("write_many", matches!(done, Err(KnowledgeError::OwnerOnly)));
    let update = changed(page, page_fields("x", "x"));
    let done = ask!(plane, who, |control, ctx| knowledge::update(
        &control, &ctx, update
    ));
    is_refused("update", matches!(done, Err(KnowledgeError::OwnerOnly)));
    let done = ask!(plane, who, |control, ctx| knowledge::delete(
        &control, &ctx, id, None
    ));
    is_refused("delete", matches!(done, Err(KnowledgeError::OwnerOnly)));
    let done = ask!(plane, who, |control, ctx| knowledge::undelete(
        &control, &ctx, id
    ));
    is_refused("undelete", matches!(done, Err(KnowledgeError::OwnerOnly)));
    let done = ask!(plane, who, |control, ctx| knowledge::restore(
        &control, &ctx, id, 1, None
    ));
    is_refused("restore", matches!(done, Err(KnowledgeError::OwnerOnly)));
    let done = ask!(plane, who, |control, ctx| knowledge::vouch(
        &control, &ctx, id, 1
    ));
    is_refused("vouch", matches!(done, Err(KnowledgeError::OwnerOnly)));
    let file = file(space, b"x".to_vec());
    let done = ask!(plane, who, |control, ctx| knowledge::add_attachment(
        &control, &ctx, file
    ));
    is_refused(
        "file",
        matches!(
            done,
            Err(AttachmentError::Knowledge(KnowledgeError::OwnerOnly))
        ),
    );
    let done = ask!(plane, who, |control, ctx| knowledge::history(
        &control, &ctx, id, None, 10
    ));
    is_refused("history", matches!(done, Err(KnowledgeError::OwnerOnly)));
    let done = ask!(plane, who, |control, ctx| knowledge::diff(
        &control, &ctx, id, 1, 1
    ));
    is_refused("diff", matches!(done, Err(KnowledgeError::OwnerOnly)));
    let done = ask!(plane, who, |control, ctx| conversations::ambient(
        &control, &ctx, space, "blue"
    ));
    is_refused("ambient", matches!(done, Err(TurnError::OwnerOnly)));
    let about = ConversationSubject::Entity(id);
    let done = ask!(plane, who, |control, ctx| conversations::about(
        &control, &ctx, "blue", about
    ));
    is_refused("about", matches!(done, Err(TurnError::OwnerOnly)));
}

async fn only_the_owner_writes_and_only_who_may_reads(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane.page(space, "Title", "text").await;
    let id = page.head.id;
    for who in others() {
        tries_to_write(plane, &who, space, &page).await;
    }
    let reads = async |who: Ctx| {
        let found = ask!(plane, who, |control, ctx| knowledge::find(
            &control, &ctx, id
        ));
        let filter = EntityFilter::within(space, EntityKind::Page);
        let listed = ask!(plane, who, |control, ctx| knowledge::list(
            &control, &ctx, filter, None, 10
        ));
        let linked = ask!(plane, who, |control, ctx| knowledge::linked(
            &control, &ctx, id
        ));
        let counts = ask!(plane, who, |control, ctx| knowledge::space_counts(
            &control, &ctx, space
        ));
        let all = [
            found.is_ok(),
            listed.is_ok(),
            linked.is_ok(),
            counts.is_ok(),
        ];
        assert!(
            all == [true; 4] || all == [false; 4],
            "{:?} {all:?}",
            who.actor
        );
        all[0]
    };
    assert!(reads(owner()).await);
    for (capability, may) in
        Capability::ALL.map(|one| (one, matches!(one, Capability::Read | Capability::Suggest)))
    {
        assert_eq!(
            reads(agent_with("reader", &[capability])).await,
            may,
            "{capability}"
        );
    }
    assert!(!reads(agent_with("reader", &[])).await);
    let [_, viewer, node, system] = others();
    for who in [viewer, node, system] {
        assert!(!reads(who).await);
    }
    let trash = EntityFilter {
        is_deleted: true,
        ..EntityFilter::within(space, EntityKind::Page)
    };
    let reader = agent_with("reader", &Capability::ALL);
    let listed = ask!(plane, reader, |control, ctx| knowledge::list(
        &control, &ctx, trash, None, 10
    ));
    assert!(matches!(listed, Err(KnowledgeError::OwnerOnly)));
    assert_eq!(plane.now(id).await.unwrap(), page);
}

async fn of_many_saves_of_one_revision_one_wins_and_the_others_see_it(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane.page(space, "Title", "text").await;
    let saves = at_once(8, |n| {
        plane.save(changed(&page, page_fields("Title", &format!("text {n}"))))
    })
    .await;
    let won: Vec<&Entity> = saves.iter().filter_map(|save| save.as_ref().ok()).collect();
    let [won] = won[..] else { panic!("{saves:?}") };
    assert_eq!(won.head.revision.number, 2);
    for save in &saves {
        match save {
            Ok(_) => {}
            Err(KnowledgeError::Conflict(now)) => assert_eq!(&**now, won),
            Err(other) => panic!("{other}"),
        }
    }
    // The same words once more change nothing, and a request that was repeated is no conflict of itself.
    let again = plane.save(changed(won, won.fields())).await.unwrap();
    assert_eq!(again.head.revision.number, 2);
    let long = EntityUpdate {
        reason: Some("x".repeat(REASON_BYTES_MAX + 1)),
        ..changed(won, page_fields("a", "b"))
    };
    assert!(matches!(
        plane.save(long).await,
        Err(KnowledgeError::ReasonTooLong)
    ));
    let other_kind = changed(won, fields("a", "b", Details::Project));
    assert!(matches!(
        plane.save(other_kind).await,
        Err(KnowledgeError::NotFound)
    ));
}

async fn what_is_thrown_away_is_nowhere_until_it_is_taken_back(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane.page(space, "Title", "[[Other]]").await;
    let other = plane.page(space, "Other", "").await;
    let (id, other_id) = (page.head.id, other.head.id);
    let linked = async |id| {
        ask!(plane, owner(), |control, ctx| knowledge::linked(
            &control, &ctx, id
        ))
    };
    assert_eq!(linked(other_id).await.unwrap().backlinks.len(), 1);
    let delete = async |id, base| {
        ask!(plane, owner(), |control, ctx| knowledge::delete(
            &control, &ctx, id, base
        ))
    };
    let stale = delete(id, Some(7)).await;
    assert!(
        matches!(stale, Err(KnowledgeError::Conflict(_))),
        "{stale:?}"
    );
    delete(id, Some(1)).await.unwrap();
    assert!(matches!(
        delete(id, None).await,
        Err(KnowledgeError::NotFound)
    ));
    assert!(matches!(plane.now(id).await, Err(KnowledgeError::NotFound)));
    let late = plane.save(changed(&page, page_fields("a", "b"))).await;
    assert!(matches!(late, Err(KnowledgeError::NotFound)));
    assert!(linked(other_id).await.unwrap().backlinks.is_empty());
    let undelete = async |id| {
        ask!(plane, owner(), |control, ctx| knowledge::undelete(
            &control, &ctx, id
        ))
    };
    for _ in 0..2 {
        assert_eq!(undelete(id).await.unwrap(), page, "also once more");
    }
    assert_eq!(plane.now(id).await.unwrap(), page);

    // A space takes everything with it, and brings it back.
    let space_id = EntityId::Space(space);
    delete(space_id, None).await.unwrap();
    assert!(matches!(plane.now(id).await, Err(KnowledgeError::NotFound)));
    let filter = EntityFilter::within(space, EntityKind::Page);
    let list = async || {
        ask!(plane, owner(), |control, ctx| knowledge::list(
            &control, &ctx, filter, None, 10
        ))
    };
    assert!(matches!(list().await, Err(KnowledgeError::NotFound)));
    let late = new(Some(space), page_fields("late", ""), TextSource::Owner);
    let late = ask!(plane, owner(), |control, ctx| knowledge::create(
        &control, &ctx, late
    ));
    assert!(matches!(late, Err(KnowledgeError::NotFound)));
    undelete(space_id).await.unwrap();
    assert_eq!(list().await.unwrap().items.len(), 2);
    let counts = ask!(plane, owner(), |control, ctx| knowledge::space_counts(
        &control, &ctx, space
    ));
    let two = SpaceCounts {
        pages: 2,
        ..SpaceCounts::default()
    };
    assert_eq!(counts.unwrap(), two);
}

async fn an_older_text_comes_back_with_its_mark(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let captured = new(
        Some(space),
        page_fields("Title", "their words"),
        TextSource::Capture,
    );
    let captured = plane.make(captured).await;
    assert!(captured.head.is_foreign());
    let mine = changed(&captured, page_fields("Title", "my words"));
    let mine = plane.save(mine).await.unwrap();
    assert!(!mine.head.is_foreign());
    let id = mine.head.id;
    let restore = async |number, base| {
        ask!(plane, owner(), |control, ctx| knowledge::restore(
            &control, &ctx, id, number, base
        ))
    };
    let stale = restore(1, Some(1)).await;
    assert!(
        matches!(stale, Err(KnowledgeError::Conflict(_))),
        "{stale:?}"
    );
    assert!(matches!(
        restore(9, None).await,
        Err(KnowledgeError::NotFound)
    ));
    let back = restore(1, Some(2)).await.unwrap();
    assert_eq!(
        (back.body.as_str(), back.head.revision.number),
        ("their words", 3)
    );
    assert!(back.head.is_foreign(), "nobody has vouched for it");
    let history = ask!(plane, owner(), |control, ctx| knowledge::history(
        &control, &ctx, id, None, 2
    ));
    let history = history.unwrap();
    let numbers: Vec<u64> = history
        .items
        .iter()
        .map(|one| one.revision.number)
        .collect();
    assert_eq!((numbers, history.next), (vec![3, 2], Some("2".to_owned())));
    let difference = ask!(plane, owner(), |control, ctx| knowledge::diff(
        &control, &ctx, id, 1, 2
    ));
    let difference = difference.unwrap();
    assert_eq!(
        (difference.words.words_added, difference.words.words_removed),
        (1, 1)
    );
    let unified = difference.unified.unwrap();
    assert!(
        unified.contains("-their words") && unified.contains("+my words"),
        "{unified}"
    );
    let none = ask!(plane, owner(), |control, ctx| knowledge::diff(
        &control, &ctx, id, 1, 9
    ));
    assert!(matches!(none, Err(KnowledgeError::NotFound)));
}

async fn the_owner_answers_for_what_was_read(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let captured = new(
        Some(space),
        page_fields("Title", "their words"),
        TextSource::Capture,
    );
    let captured = plane.make(captured).await;
    let kept = new(
        Some(space),
        ref_fields("Title", "their words"),
        TextSource::Capture,
    );
    let kept = plane.make(kept).await;
    let mine = plane.page(space, "Mine", "").await;
    let vouch = async |entity: &Entity, revision| {
        let id = entity.head.id;
        ask!(plane, owner(), |control, ctx| knowledge::vouch(
            &control, &ctx, id, revision
        ))
    };
    assert!(matches!(
        vouch(&captured, 2).await,
        Err(KnowledgeError::Conflict(_))
    ));
    assert!(matches!(
        vouch(&kept, 1).await,
        Err(KnowledgeError::NothingToVouch)
    ));
    assert!(matches!(
        vouch(&mine, 1).await,
        Err(KnowledgeError::NothingToVouch)
    ));
    assert!(!vouch(&captured, 1).await.unwrap().head.is_foreign());
    assert!(matches!(
        vouch(&captured, 1).await,
        Err(KnowledgeError::NothingToVouch)
    ));
    let now = plane.now(captured.head.id).await.unwrap();
    assert!(!now.head.is_foreign() && now.head.revision.number == 1);
}

async fn a_tick_is_no_new_text(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let task = fields(
        "Do it",
        "their words",
        Details::Task(TaskDetails::default()),
    );
    let task = plane
        .make(new(Some(space), task, TextSource::Capture))
        .await;
    let ticked = Fields {
        details: Details::Task(TaskDetails {
            state: TaskState::Done,
            ..TaskDetails::default()
        }),
        ..task.fields()
    };
    let ticked = plane.save(changed(&task, ticked)).await.unwrap();
    assert_eq!(ticked.head.revision.number, 2);
    assert_eq!(ticked.head.revision.origin, Origin::Capture);
    assert!(ticked.head.is_foreign());
}

async fn the_record_says_what_happened_and_no_word_of_it(plane: &mut Plane) {
    const CANARY: &str = "canary";
    plane.start().await;
    let space = plane.space().await;
    let page = plane.page(space, CANARY, CANARY).await;
    let id = page.head.id;
    let next = changed(&page, page_fields(CANARY, "canary once more"));
    plane.save(next).await.unwrap();
    ask!(plane, owner(), |control, ctx| knowledge::delete(
        &control, &ctx, id, None
    ))
    .unwrap();
    ask!(plane, owner(), |control, ctx| knowledge::undelete(
        &control, &ctx, id
    ))
    .unwrap();
    let facts = plane.facts_about(id.to_string()).await;
    let verbs: Vec<&str> = facts.iter().map(|fact| fact.verb.as_str()).collect();
    assert_eq!(
        verbs,
        [
            "page.created",
            "page.changed",
            "page.deleted",
            "page.restored"
        ]
    );
    for fact in facts {
        assert_eq!(fact.audience, Some(Audience::OwnerOnly), "{}", fact.verb);
        assert_eq!(fact.actor, "owner-cli");
        assert!(!fact.detail.contains(CANARY), "{}", fact.detail);
        assert!(matches!(void_domain::told::told(&fact), Ok(Some(_))));
    }
}

async fn a_project_belongs_to_the_space_of_what_is_in_it(plane: &mut Plane) {
    plane.start().await;
    let (here, there) = (plane.space().await, plane.space().await);
    let project = new(
        Some(here),
        fields("Move", "", Details::Project),
        TextSource::Owner,
    );
    let project = plane.make(project).await;
    let EntityId::Project(id) = project.head.id else {
        panic!()
    };
    let page = |space, id: ProjectId| {
        let details = Details::Page(PageDetails {
            project_id: Some(id),
            ..PageDetails::default()
        });
        new(Some(space), fields("Title", "", details), TextSource::Owner)
    };
    let create = async |new| {
        ask!(plane, owner(), |control, ctx| knowledge::create(
            &control, &ctx, new
        ))
    };
    let wrong = create(page(there, id)).await;
    assert!(matches!(wrong, Err(KnowledgeError::NoProject)), "{wrong:?}");
    let stranger: ProjectId = here.to_string().parse().unwrap();
    assert!(matches!(
        create(page(here, stranger)).await,
        Err(KnowledgeError::NoProject)
    ));
    create(page(here, id)).await.unwrap();
    let own_space = new(
        Some(here),
        fields("x", "", Details::Space(SpaceDetails::default())),
        TextSource::Owner,
    );
    assert!(create(own_space).await.is_err(), "a space is in no other");
    let nowhere = new(None, page_fields("x", ""), TextSource::Owner);
    assert!(matches!(
        create(nowhere).await,
        Err(KnowledgeError::NotFound)
    ));
}
