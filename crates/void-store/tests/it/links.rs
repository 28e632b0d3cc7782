//! Links go where they mean at the moment, backlinks come from everywhere, runbooks are found by what they are about, and
//! files are stored once.

use void_domain::conversations::{Conversation, ConversationSubject, Said};
use void_domain::digests::Digest;
use void_domain::ids::{ActionId, AttachmentId, ConversationId, MessageId};
use void_domain::knowledge::{
    Attachment, AttachmentName, Deletion, Details, Entity, EntityHead, LinkTarget, MediaType,
    NotePath, RunbookName, TaskDetails, Title,
};
use void_store::attachments::FileUndeleted;
use void_store::conversations::Summary;
use void_store::links::{self, ResolvedLink};
use void_store::{Store, StoreError, attachments, conversations, entities, runbooks};
use void_testkit::proposals::NOW;

use crate::conversations::{conversation, message};
use crate::engines;
use crate::entities::{at, entity, insert, on, page, space, space_id, update};

fn titles(heads: &[EntityHead]) -> Vec<&str> {
    let mut titles: Vec<&str> = heads.iter().map(|head| head.title.as_str()).collect();
    titles.sort_unstable();
    titles
}

fn changed(entity: &Entity, title: &str, body: &str) -> Entity {
    let mut changed = page(1, title, body);
    changed.head.id = entity.head.id;
    changed.head.revision.number = entity.head.revision.number + 1;
    changed
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_means_the_one_page_of_its_title() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        let target = page(1, "Target", "");
        let address = format!("[x](void:page/{})", target.head.id);
        let task = entity(
            4,
            "by task",
            "[[TARGET#part|x]] [[Target]]",
            Details::Task(TaskDetails::default()),
        );
        for entity in [
            space(1),
            target.clone(),
            page(2, "by title", "[[target]] [[nowhere]]"),
            page(3, "by address", &address),
            task,
            page(5, "not at all", "`[[Target]]`"),
        ] {
            insert(store, &entity).await;
        }
        let head = target.head.clone();
        let from = on!(store, |tx| links::backlinks(tx, &head));
        assert_eq!(
            titles(&from),
            ["by address", "by task", "by title"],
            "{name}"
        );

        let wanted = [
            LinkTarget::Title("TARGET".to_owned()),
            LinkTarget::Title("nowhere".to_owned()),
        ];
        let resolve = async || {
            let wanted = wanted.clone();
            on!(store, |tx| links::resolve(tx, space_id(1), &wanted))
        };
        let resolved = resolve().await;
        assert!(matches!(&resolved[0], ResolvedLink::To(head) if head.id == target.head.id));
        assert!(matches!(&resolved[1], ResolvedLink::Nothing(_)), "{name}");

        // The same words mean something else once pages are called otherwise.
        update(store, 1, &changed(&target, "Nowhere", "[[by title]]")).await;
        let resolved = resolve().await;
        assert!(matches!(&resolved[0], ResolvedLink::Nothing(_)), "{name}");
        assert!(matches!(&resolved[1], ResolvedLink::To(_)), "{name}");
        insert(store, &page(6, "nowhere", "")).await;
        let resolved = resolve().await;
        assert!(
            matches!(&resolved[1], ResolvedLink::Several(_, ids) if ids.len() == 2),
            "{name}"
        );

        // What was written over names nothing any more.
        update(
            store,
            2,
            &changed(&changed(&target, "a", ""), "Nowhere", "nothing"),
        )
        .await;
        let second = page(2, "by title", "");
        let from = on!(store, |tx| links::backlinks(tx, &second.head));
        assert!(from.is_empty(), "{name}: {from:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_the_runbook_of_what_its_head_names() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        let body = "---\nservices: [caddy, nas]\nactions: restart-caddy\n---\nFirst, …";
        let book = page(1, "Caddy", body);
        for entity in [
            space(1),
            book.clone(),
            page(2, "Caddy is down", "---\nservices: caddy\n---\n"),
        ] {
            insert(store, &entity).await;
        }
        let about = async |about: &RunbookName| -> Vec<Title> {
            let about = about.clone();
            let pages = on!(store, |tx| runbooks::list_about(tx, &about));
            pages.into_iter().map(|page| page.head.title).collect()
        };
        let caddy = RunbookName::parse("service", "caddy").unwrap();
        let restart = RunbookName::Action(ActionId::parse("restart-caddy").unwrap());
        assert_eq!(about(&caddy).await.len(), 2, "{name}");
        assert_eq!(about(&restart).await.len(), 1);
        assert!(
            about(&RunbookName::parse("action", "caddy").unwrap())
                .await
                .is_empty()
        );
        update(
            store,
            1,
            &changed(&book, "Caddy", "---\nservices: nas\n---\n"),
        )
        .await;
        assert_eq!(about(&caddy).await.len(), 1, "{name}");
        assert!(about(&restart).await.is_empty());
        let deletion = Deletion {
            at: at(9),
            by: "owner-web".to_owned(),
        };
        let head = space(1).head;
        on!(store, |tx| entities::delete(tx, &head, &deletion));
        assert!(about(&caddy).await.is_empty(), "{name}: its space is away");
    }
}

fn attachment(n: u8, name: &str, content: &[u8]) -> Attachment {
    Attachment {
        id: AttachmentId::new(NOW, [n; 10]),
        space_id: space_id(1),
        name: AttachmentName::parse(name).unwrap(),
        path: NotePath::parse(&format!("files/{name}")).ok(),
        ref_id: None,
        media_type: MediaType::parse("image/png").unwrap(),
        hash: Digest::of(content),
        size_bytes: content.len() as u64,
        created_at: NOW,
        created_by: "owner-web".to_owned(),
        deleted: None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_are_stored_once_and_come_back_as_they_were() {
    let content: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        insert(store, &space(1)).await;
        let (one, two) = (
            attachment(1, "a.png", &content),
            attachment(2, "b.png", &content),
        );
        for file in [&one, &two, &attachment(3, "empty", b"")] {
            let (file, content) = (file.clone(), content.clone());
            let content = if file.size_bytes == 0 {
                Vec::new()
            } else {
                content
            };
            on!(store, |tx| attachments::insert(tx, &file, &content));
        }
        let hash = one.hash;
        assert_eq!(
            on!(store, |tx| attachments::content(tx, hash)).as_ref(),
            Some(&content),
            "{name}"
        );
        let empty = Digest::of(b"");
        assert_eq!(
            on!(store, |tx| attachments::content(tx, empty)),
            Some(Vec::new())
        );
        assert_eq!(
            on!(store, |tx| attachments::content(tx, Digest::ZERO)),
            None
        );
        let list = on!(store, |tx| attachments::list(tx, space_id(1), None, 2));
        assert_eq!(list.items[1], two, "{name}");
        assert!(list.next.is_some());
        let by_name = AttachmentName::parse("a.png").unwrap();
        let found = on!(store, |tx| attachments::find_by_name(
            tx,
            space_id(1),
            &by_name
        ));
        assert_eq!(found.as_ref(), Some(&one));
        let deletion = Deletion {
            at: at(1),
            by: "owner-cli".to_owned(),
        };
        let id = one.id;
        let delete = async || {
            let (deletion, file) = (deletion.clone(), one.clone());
            on!(store, |tx| attachments::delete(tx, &file, &deletion))
        };
        assert!(delete().await && !delete().await, "{name}");
        assert_eq!(
            on!(store, |tx| attachments::find(tx, id)).unwrap().deleted,
            Some(deletion.clone())
        );
        assert_eq!(
            on!(store, |tx| attachments::content(tx, hash)),
            Some(content.clone()),
            "{name}: b has it"
        );
        let undelete = async || {
            let file = on!(store, |tx| attachments::find(tx, id)).unwrap();
            on!(store, |tx| attachments::undelete(tx, &file))
        };
        assert_eq!(undelete().await, FileUndeleted::Yes, "{name}");
        assert_eq!(undelete().await, FileUndeleted::WasThere, "{name}");
    }
}

/// Bytes go with the last file that has them, and not while a file of them can be taken back.
#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_no_file_has_any_more_are_forgotten() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        insert(store, &space(1)).await;
        let (one, two) = (
            attachment(1, "a.png", b"bytes"),
            attachment(2, "b.png", b"bytes"),
        );
        let hash = one.hash;
        let has_bytes = async || on!(store, |tx| attachments::content(tx, hash)).is_some();
        for file in [&one, &two] {
            let file = file.clone();
            assert!(on!(store, |tx| attachments::insert(tx, &file, b"bytes")));
        }
        let away = async |file: &Attachment, when| {
            let (file, by) = (file.clone(), "owner-cli".to_owned());
            let deletion = Deletion { at: at(when), by };
            on!(store, |tx| attachments::delete(tx, &file, &deletion))
        };
        let forget = async |before, most| on!(store, |tx| attachments::prune(tx, at(before), most));
        assert!(away(&one, 1).await, "{name}");
        assert_eq!(forget(1, 10).await, 0, "{name}: not yet");
        assert_eq!(forget(2, 10).await, 1, "{name}");
        assert!(has_bytes().await, "{name}: the other file has them");
        let id = one.id;
        assert_eq!(on!(store, |tx| attachments::find(tx, id)), None, "{name}");
        assert!(away(&two, 3).await, "{name}");
        assert_eq!(forget(10, 0).await, 0, "{name}: no more than that");
        assert!(has_bytes().await, "{name}");
        assert_eq!(forget(10, 1).await, 1, "{name}");
        assert!(!has_bytes().await, "{name}");
        assert_eq!(forget(10, 10).await, 0, "{name}: twice");
    }
}

/// A space is full by the number of its files, by their bytes, and has room again for what goes.
#[tokio::test(flavor = "multi_thread")]
async fn a_space_holds_no_more_files_and_bytes_than_it_may() {
    use void_domain::limits::{SPACE_ATTACHMENT_BYTES_MAX, SPACE_ATTACHMENTS_MAX};
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        insert(store, &space(1)).await;
        let sized = |n: u8, size_bytes| Attachment {
            size_bytes,
            ..attachment(n, "a.bin", b"bytes")
        };
        let add =
            async |file: Attachment| on!(store, |tx| attachments::insert(tx, &file, b"bytes"));
        let half = SPACE_ATTACHMENT_BYTES_MAX / 2;
        assert!(
            add(sized(1, half)).await && add(sized(2, half)).await,
            "{name}"
        );
        assert!(!add(sized(3, 1)).await, "{name}: one byte too many");
        assert!(add(sized(4, 0)).await, "{name}");
        let (first, deletion) = (
            sized(1, half),
            Deletion {
                at: at(1),
                by: "owner-cli".to_owned(),
            },
        );
        let away = first.clone();
        assert!(on!(store, |tx| attachments::delete(tx, &away, &deletion)));
        assert!(add(sized(5, half)).await, "{name}: there is room again");
        let id = first.id;
        let gone = on!(store, |tx| attachments::find(tx, id)).unwrap();
        let back = on!(store, |tx| attachments::undelete(tx, &gone));
        assert_eq!(back, FileUndeleted::NoRoom, "{name}");
        let elsewhere = Attachment {
            space_id: space_id(9),
            ..sized(6, 1)
        };
        assert!(!add(elsewhere).await, "{name}: there is no such space");
        // By number; those that are there stand for all that could be.
        if engine.url.is_some() {
            continue;
        }
        let db = rusqlite::Connection::open(engine.folder.path().join("void.db")).unwrap();
        let sql = format!(
            "UPDATE spaces SET attachment_count = {SPACE_ATTACHMENTS_MAX} - 1, attachment_bytes = 0"
        );
        db.execute_batch(&sql).unwrap();
        assert!(add(sized(7, 1)).await && !add(sized(8, 1)).await, "{name}");
    }
}

fn of_space(n: u8, agent: &str, about: Option<&ConversationSubject>) -> Conversation {
    Conversation {
        space_id: Some(space_id(1)),
        about: about.cloned(),
        ..conversation(n, agent)
    }
}

/// Stores a conversation in which something was said.
async fn talk(store: &Store, n: u8, one: &Conversation) -> Result<(), StoreError> {
    let one = one.clone();
    store
        .write(move |tx| {
            Box::pin(async move {
                conversations::insert(tx, &one).await?;
                let mut first = message(&one, 1, Said::ByOwner);
                first.id = MessageId::new(NOW, [n; 10]);
                conversations::append(tx, &first).await
            })
        })
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_space_has_one_conversation_with_an_agent_and_any_number_about_something() {
    let page = ConversationSubject::Entity(page(1, "a", "").head.id);
    let service = ConversationSubject::parse("service", "caddy").unwrap();
    let (alone, ambient) = (conversation(1, "blue"), of_space(2, "blue", None));
    let about_service = Conversation {
        about: Some(service.clone()),
        ..conversation(6, "blue")
    };
    let all = [
        alone.clone(),
        ambient.clone(),
        of_space(3, "red", None),
        of_space(4, "blue", Some(&page)),
        of_space(5, "blue", Some(&page)),
        about_service,
    ];
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        for (n, one) in (1..).zip(&all) {
            talk(store, n, one).await.unwrap();
        }
        let second = talk(store, 7, &of_space(7, "blue", None)).await;
        assert!(
            matches!(second, Err(StoreError::Constraint(_))),
            "{name}: {second:?}"
        );
        let found = on!(store, |tx| conversations::ambient(tx, space_id(1), "blue"));
        assert_eq!(found.as_ref(), Some(&ambient), "{name}");
        let found = on!(store, |tx| conversations::newest_with(tx, "blue"));
        assert_eq!(found.as_ref(), Some(&alone), "{name}: never a space's");
        let listed = on!(store, |tx| conversations::list_with(
            tx, "blue", None, None, 10
        ));
        let ids: Vec<ConversationId> = listed.items.iter().map(|one| one.id).collect();
        assert_eq!(ids, [alone.id], "{name}");
        let listed = on!(store, |tx| conversations::list_in(
            tx,
            space_id(1),
            None,
            None,
            10
        ));
        assert_eq!(listed.items.len(), 4, "{name}");
        let about = async |about: &ConversationSubject| {
            let about = about.clone();
            on!(store, |tx| conversations::list_about(
                tx, &about, None, None, 10
            ))
            .items
        };
        let listed = about(&page).await;
        let is_of_page = |one: &Summary| one.about.as_ref() == Some(&page) && one.agent == "blue";
        assert!(listed.iter().all(is_of_page), "{listed:?}");
        assert_eq!(
            (listed.len(), about(&service).await.len()),
            (2, 1),
            "{name}"
        );
        let delete = async |id: ConversationId| on!(store, |tx| conversations::delete(tx, id));
        assert!(
            delete(ambient.id).await && !delete(ambient.id).await,
            "{name}"
        );
        let id = ambient.id;
        let left = on!(store, |tx| conversations::list_before(tx, id, None, 10));
        assert!(left.is_empty());
        // Its place is free again.
        talk(store, 8, &of_space(8, "blue", None)).await.unwrap();
    }
}
