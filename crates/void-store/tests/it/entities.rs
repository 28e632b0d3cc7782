//! Entities of every kind: stored whole, changed only from the revision that was looked at, thrown away and taken back, and
//! counted without counting.

use std::time::Duration;

use void_domain::ids::{ProjectId, SpaceId};
use void_domain::knowledge::{
    Body, Deletion, Details, DueDate, Entity, EntityHead, EntityId, EntityKind, Fields, NotePath,
    Origin, PageDetails, RefDetails, RefUrl, Revision, SpaceDetails, Tags, TaskDetails, TaskState,
    Title, Vouched,
};
use void_domain::limits::SPACES_MAX;
use void_domain::taint::Taint;
use void_domain::time::Timestamp;
use void_store::entities::{self, EntityFilter, Undeleted};
use void_store::spaces::SpaceCounts;
use void_store::{Store, StoreError, pages, refs, revisions, spaces, tasks};
use void_testkit::proposals::NOW;

use crate::engines;

macro_rules! on {
    ($store:expr, |$tx:ident| $body:expr) => {{
        let done: Result<_, StoreError> = $store
            .write(move |$tx| Box::pin(async move { $body.await }))
            .await;
        done.unwrap()
    }};
}
pub(crate) use on;

pub fn at(second: u64) -> Timestamp {
    NOW.plus(Duration::from_secs(second))
}

pub fn space_id(n: u8) -> SpaceId {
    SpaceId::new(NOW, [n; 10])
}

fn first(at: Timestamp) -> Revision {
    Revision {
        number: 1,
        at,
        by: "owner-web".to_owned(),
        origin: Origin::Owner,
        vouched: None,
        reason: None,
    }
}

pub fn space(n: u8) -> Entity {
    let id = space_id(n);
    Entity {
        head: EntityHead {
            id: EntityId::Space(id),
            space_id: id,
            title: Title::parse("Lab").unwrap(),
            details: Details::Space(SpaceDetails {
                agent: "companion".parse().ok(),
            }),
            revision: first(NOW),
            created_at: NOW,
            deleted: None,
        },
        body: Body::default(),
    }
}

/// Something new in the first space, made in this second.
pub fn entity(n: u8, title: &str, body: &str, details: Details) -> Entity {
    let made = at(u64::from(n));
    Entity {
        head: EntityHead {
            id: EntityId::new(details.kind(), NOW, [n; 10]),
            space_id: space_id(1),
            title: Title::parse(title).unwrap(),
            details,
            revision: first(made),
            created_at: made,
            deleted: None,
        },
        body: Body::parse(body).unwrap(),
    }
}

pub fn page(n: u8, title: &str, body: &str) -> Entity {
    entity(n, title, body, Details::Page(PageDetails::default()))
}

/// The next revision, in this second, by an agent that had read something.
fn next(entity: &Entity, second: u64, body: &str) -> Entity {
    let mut taint = Taint::clean();
    taint.add("ref:1");
    let revision = Revision {
        number: entity.head.revision.number + 1,
        at: at(second),
        by: "owner-cli".to_owned(),
        origin: Origin::Draft {
            proposal: void_domain::ids::ProposalId::new(NOW, [9; 10]),
            agent: "companion".to_owned(),
            taint,
        },
        vouched: None,
        reason: Some("better".to_owned()),
    };
    let fields = Fields {
        body: Body::parse(body).unwrap(),
        ..entity.fields()
    };
    entity.clone().revised(fields, revision)
}

pub async fn insert(store: &Store, entity: &Entity) -> bool {
    let entity = entity.clone();
    on!(store, |tx| entities::insert(tx, &entity))
}

pub async fn update(store: &Store, base: u64, entity: &Entity) -> bool {
    let entity = entity.clone();
    on!(store, |tx| entities::update(tx, base, &entity))
}

pub async fn find(store: &Store, id: EntityId) -> Option<Entity> {
    on!(store, |tx| entities::find(tx, id))
}

/// One of each kind, with everything set.
fn full() -> Vec<Entity> {
    let project = entity(2, "Move", "…", Details::Project);
    let EntityId::Project(id) = project.head.id else {
        panic!("{project:?}")
    };
    let (project_id, tags) = (Some(id), Tags::parse(["a", "b/c"]).unwrap());
    let details = [
        Details::Page(PageDetails {
            project_id,
            tags: tags.clone(),
            path: NotePath::parse("Notes/a.md").ok(),
        }),
        Details::Task(TaskDetails {
            project_id,
            state: TaskState::Done,
            due: DueDate::parse("2026-12-01").ok(),
            tags: tags.clone(),
        }),
        Details::Ref(RefDetails {
            project_id,
            url: RefUrl::parse("https://example.org/a").unwrap(),
            tags,
        }),
    ];
    let rest = (3..).zip(details);
    let rest = rest.map(|(n, details)| entity(n, "Title é", "a\r\n[[Lab]]\n", details));
    [space(1), project].into_iter().chain(rest).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_is_stored_whole_and_changed_only_from_what_was_seen() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        for entity in full() {
            let id = entity.head.id;
            assert!(insert(store, &entity).await, "{name} {id:?}");
            assert_eq!(find(store, id).await.as_ref(), Some(&entity), "{name}");
            let second = next(&entity, 100, "second");
            assert!(!update(store, 2, &second).await, "{name}: another base");
            assert!(update(store, 1, &second).await, "{name}");
            assert!(
                !update(store, 1, &next(&entity, 101, "lost")).await,
                "{name}: twice"
            );
            assert_eq!(find(store, id).await.as_ref(), Some(&second), "{name}");
            assert_eq!(
                on!(store, |tx| entities::find_head(tx, id)).as_ref(),
                Some(&second.head)
            );

            let listed = on!(store, |tx| revisions::list(tx, id, None, 10));
            let numbers: Vec<u64> = listed.items.iter().map(|one| one.revision.number).collect();
            assert_eq!(numbers, [2, 1], "{name}");
            let old = on!(store, |tx| revisions::find(tx, id, 1)).unwrap();
            assert_eq!(
                (old.fields, old.revision),
                (entity.fields(), entity.head.revision)
            );
            assert_eq!(on!(store, |tx| revisions::find(tx, id, 3)), None);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_thrown_away_comes_back_once_and_its_space_counts_it() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        insert(store, &space(1)).await;
        let page = page(1, "Title", "text");
        let id = page.head.id;
        insert(store, &page).await;
        let counts = async || on!(store, |tx| spaces::counts(tx, space_id(1))).unwrap();
        let one = SpaceCounts {
            pages: 1,
            ..SpaceCounts::default()
        };
        assert_eq!(counts().await, one);
        let deletion = Deletion {
            at: at(5),
            by: "owner-web".to_owned(),
        };
        let (head, said) = (page.head.clone(), deletion.clone());
        let stale = EntityHead {
            revision: Revision {
                number: 2,
                ..head.revision.clone()
            },
            ..head.clone()
        };
        let delete = async |head: EntityHead| {
            let said = said.clone();
            on!(store, |tx| entities::delete(tx, &head, &said))
        };
        assert!(!delete(stale).await, "{name}: it is not what was seen");
        assert!(delete(head.clone()).await);
        assert!(!delete(head).await, "{name}: twice");
        assert_eq!(counts().await, SpaceCounts::default());
        let deleted = find(store, id).await.unwrap();
        assert_eq!(deleted.head.deleted, Some(deletion));
        assert!(
            !update(store, 1, &next(&page, 6, "late")).await,
            "{name}: it is away"
        );
        let filter = EntityFilter::within(space_id(1), EntityKind::Page);
        let list = async |filter| on!(store, |tx| entities::list(tx, filter, None, 10)).items;
        assert!(list(filter).await.is_empty());
        let trash = EntityFilter {
            is_deleted: true,
            ..filter
        };
        assert_eq!(list(trash).await.len(), 1);

        let undelete = async |head: EntityHead| on!(store, |tx| entities::undelete(tx, &head));
        assert_eq!(undelete(deleted.head.clone()).await, Undeleted::Yes);
        assert_eq!(undelete(page.head.clone()).await, Undeleted::WasThere);
        assert_eq!(find(store, id).await, Some(page), "{name}");
        assert_eq!(counts().await, one);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_or_deleted_space_takes_nothing_more() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        assert!(
            !insert(store, &page(1, "Title", "")).await,
            "{name}: no space"
        );
        let space = space(1);
        insert(store, &space).await;
        assert!(on!(store, |tx| spaces::is_there(tx, space_id(1))));
        let deletion = Deletion {
            at: at(1),
            by: "owner-web".to_owned(),
        };
        let head = space.head.clone();
        on!(store, |tx| entities::delete(tx, &head, &deletion));
        assert!(!on!(store, |tx| spaces::is_there(tx, space_id(1))));
        assert!(
            on!(store, |tx| spaces::is_any_made(tx)),
            "{name}: there was one"
        );
        assert!(
            !insert(store, &page(1, "Title", "")).await,
            "{name}: it is away"
        );
        assert_eq!(find(store, page(1, "a", "").head.id).await, None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn there_are_so_many_spaces_and_no_more() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        let full: Result<bool, StoreError> = store
            .write(|tx| {
                Box::pin(async move {
                    for n in 0..SPACES_MAX {
                        let mut space = space(1);
                        let mut random = [0; 10];
                        random[..4].copy_from_slice(&n.to_be_bytes());
                        let id = SpaceId::new(NOW, random);
                        (space.head.id, space.head.space_id) = (EntityId::Space(id), id);
                        assert!(entities::insert(tx, &space).await?);
                    }
                    entities::insert(tx, &space(1)).await
                })
            })
            .await;
        assert_eq!(full, Ok(false), "{name}");
    }
}

fn task(n: u8, state: TaskState, due: Option<&str>, project_id: Option<ProjectId>) -> Entity {
    let task = TaskDetails {
        project_id,
        state,
        due: due.map(|due| DueDate::parse(due).unwrap()),
        tags: Tags::default(),
    };
    entity(n, &format!("t{n}"), "", Details::Task(task))
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_show_what_changed_last_and_what_is_due_next() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        let project = entity(9, "Move", "", Details::Project);
        let EntityId::Project(project_id) = project.head.id else {
            panic!()
        };
        for entity in [space(1), project] {
            insert(store, &entity).await;
        }
        let tasks = [
            task(1, TaskState::Open, None, Some(project_id)),
            task(2, TaskState::Open, Some("2027-01-01"), None),
            task(3, TaskState::Done, Some("2026-01-01"), Some(project_id)),
            task(4, TaskState::Open, Some("2026-12-31"), None),
            task(5, TaskState::Open, None, None),
        ];
        for task in &tasks {
            insert(store, task).await;
        }
        let titles = |heads: &[EntityHead]| -> Vec<String> {
            heads.iter().map(|head| head.title.to_string()).collect()
        };
        let filter = EntityFilter::within(space_id(1), EntityKind::Task);
        let mut seen = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let from = cursor.clone();
            let list = on!(store, |tx| entities::list(tx, filter, from.as_deref(), 2));
            seen.extend(titles(&list.items));
            cursor = list.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, ["t5", "t4", "t3", "t2", "t1"], "{name}");
        update(store, 1, &next(&tasks[1], 50, "x")).await;
        let listed =
            async |filter| titles(&on!(store, |tx| entities::list(tx, filter, None, 10)).items);
        let open = EntityFilter {
            state: Some(TaskState::Open),
            ..filter
        };
        assert_eq!(listed(open).await, ["t2", "t5", "t4", "t1"], "{name}");
        let of_project = EntityFilter {
            project_id: Some(project_id),
            ..filter
        };
        assert_eq!(listed(of_project).await, ["t3", "t1"]);
        let due = on!(store, |tx| tasks::list_open(tx, space_id(1), None, 3));
        assert_eq!(titles(&due.items), ["t4", "t2", "t1"], "{name}");
        let rest = on!(store, |tx| tasks::list_open(
            tx,
            space_id(1),
            due.next.as_deref(),
            3
        ));
        assert_eq!(
            (titles(&rest.items), rest.next),
            (vec!["t5".to_owned()], None)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_found_by_its_title_and_a_ref_by_its_address() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        insert(store, &space(1)).await;
        for entity in [
            page(1, "Back Up", ""),
            page(2, "back  up", ""),
            page(3, "Other", ""),
        ] {
            insert(store, &entity).await;
        }
        let found = on!(store, |tx| pages::find_by_title(tx, space_id(1), "back up"));
        assert_eq!(found.len(), 2, "{name}");
        let found = on!(store, |tx| pages::find_by_title(tx, space_id(2), "back up"));
        assert!(found.is_empty(), "{name}: another space");
        let url = RefUrl::parse("https://example.org/").unwrap();
        let kept = RefDetails {
            project_id: None,
            url: url.clone(),
            tags: Tags::default(),
        };
        let kept = entity(4, "Example", "text", Details::Ref(kept));
        insert(store, &kept).await;
        let found = on!(store, |tx| refs::find_by_url(tx, space_id(1), &url));
        assert_eq!(found, Some(kept.head), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_answers_for_one_revision_once() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        insert(store, &space(1)).await;
        let first = page(1, "Title", "text");
        insert(store, &first).await;
        let drafted = next(&first, 10, "what an agent wrote");
        update(store, 1, &drafted).await;
        assert!(find(store, first.head.id).await.unwrap().head.is_foreign());
        let vouched = Vouched {
            by: "owner-web".to_owned(),
            at: at(11),
        };
        let id = first.head.id;
        let vouch = async |revision| {
            let vouched = vouched.clone();
            on!(store, |tx| entities::vouch(tx, id, revision, &vouched))
        };
        assert!(!vouch(1).await, "{name}: not the newest");
        assert!(vouch(2).await);
        assert!(!vouch(2).await, "{name}: twice");
        let now = find(store, id).await.unwrap();
        assert!(!now.head.is_foreign(), "{name}");
        let kept = on!(store, |tx| revisions::find(tx, id, 2)).unwrap();
        assert_eq!(kept.revision.vouched, Some(vouched), "{name}");
        // What comes next has its own mark.
        update(store, 2, &next(&now, 12, "again")).await;
        assert!(find(store, id).await.unwrap().head.is_foreign(), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_cannot_be_is_named_and_hides_no_other() {
    let engine = engines::sqlite().await;
    let store = &engine.store;
    insert(store, &space(1)).await;
    for n in [1, 2] {
        insert(store, &page(n, &format!("p{n}"), "")).await;
    }
    let path = engine.folder.path().join("void.db");
    let db = rusqlite::Connection::open(path).unwrap();
    let changed = db.execute("UPDATE pages SET origin = '{}' WHERE title = 'p1'", []);
    assert_eq!(changed.unwrap(), 1);
    let id = page(1, "p1", "").head.id;
    let found: Result<_, StoreError> = store
        .read(move |tx| Box::pin(async move { entities::find(tx, id).await }))
        .await;
    assert!(
        matches!(&found, Err(StoreError::Corrupt { table: "pages", id: named, .. }) if *named == id.to_string()),
        "{found:?}"
    );
    let filter = EntityFilter::within(space_id(1), EntityKind::Page);
    let listed = on!(store, |tx| entities::list(tx, filter, None, 10)).items;
    assert_eq!(listed.len(), 1);
    let refused = db.execute("UPDATE pages SET revision = 0", []);
    assert!(refused.is_err());
    let refused = db.execute("UPDATE spaces SET space_id = 'x'", []);
    assert!(refused.is_err());
}
