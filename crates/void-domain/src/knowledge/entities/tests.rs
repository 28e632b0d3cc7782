use super::*;
use crate::ids::ProposalId;
use crate::taint::Taint;

const AT: Timestamp = Timestamp::from_ms(1);

fn draft(read: &[&str]) -> Origin {
    Origin::Draft {
        proposal: ProposalId::new(AT, [1; 10]),
        agent: "companion".to_owned(),
        taint: Taint::from_sources(read.iter().map(|&one| one.to_owned()).collect()),
    }
}

fn entity(details: Details, origin: Origin, vouched: bool) -> Entity {
    let id = EntityId::new(details.kind(), AT, [2; 10]);
    Entity {
        head: EntityHead {
            id,
            space_id: SpaceId::new(AT, [1; 10]),
            title: Title::parse("Title").unwrap(),
            details,
            revision: Revision {
                number: 1,
                at: AT,
                by: "owner-web".to_owned(),
                origin,
                vouched: vouched.then(|| Vouched {
                    by: "owner-web".to_owned(),
                    at: AT,
                }),
                reason: None,
            },
            created_at: AT,
            deleted: None,
        },
        body: Body::parse("text").unwrap(),
    }
}

fn page(origin: Origin, vouched: bool) -> Entity {
    entity(Details::Page(PageDetails::default()), origin, vouched)
}

fn kept(origin: Origin, vouched: bool) -> Entity {
    let url = RefUrl::parse("https://example.org").unwrap();
    let details = RefDetails {
        project_id: None,
        url,
        tags: Tags::default(),
    };
    entity(Details::Ref(details), origin, vouched)
}

/// Every origin of every kind: what a stranger could have written is foreign until somebody answers for it.
#[test]
fn a_text_is_foreign_by_where_it_came_from() {
    for (origin, vouched, is_foreign) in [
        (Origin::Owner, false, false),
        (Origin::Import, false, false),
        (Origin::Capture, false, true),
        (Origin::Capture, true, false),
        (draft(&[]), false, false),
        (draft(&["ref:1"]), false, true),
        (draft(&["ref:1"]), true, false),
    ] {
        let one = page(origin.clone(), vouched);
        assert_eq!(one.head.is_foreign(), is_foreign, "{origin:?} {vouched}");
        assert_eq!(one.head.taint_source().is_some(), is_foreign);
        assert!(kept(origin, vouched).head.is_foreign(), "a ref always is");
    }
    let source = page(Origin::Capture, false).head.taint_source().unwrap();
    assert!(source.starts_with("page:"), "{source}");
}

#[test]
fn only_other_words_take_a_mark_away() {
    let marked = page(draft(&["ref:1"]), false);
    let same = Fields {
        details: Details::Page(PageDetails {
            tags: Tags::parse(["a"]).unwrap(),
            ..PageDetails::default()
        }),
        ..marked.fields()
    };
    let other = Fields {
        body: Body::parse("mine").unwrap(),
        ..marked.fields()
    };
    let next = |from: &Entity, fields: &Fields, writer: Origin| {
        let (origin, vouched) = from.next_origin(fields, writer);
        let revision = Revision {
            number: 2,
            origin,
            vouched,
            ..from.head.revision.clone()
        };
        from.clone().revised(fields.clone(), revision).head
    };
    assert!(next(&marked, &same, Origin::Owner).is_foreign());
    assert!(!next(&marked, &other, Origin::Owner).is_foreign());
    // Another name is no word on what stands below it, unless nothing does.
    let renamed = |from: &Entity| Fields {
        title: Title::parse("mine").unwrap(),
        ..from.fields()
    };
    let empty = Entity {
        body: Body::default(),
        ..marked.clone()
    };
    for writer in [Origin::Owner, Origin::Import] {
        assert!(next(&marked, &renamed(&marked), writer.clone()).is_foreign());
        assert!(!next(&empty, &renamed(&empty), writer).is_foreign());
    }
    let owners = page(Origin::Owner, false);
    assert!(next(&owners, &renamed(&owners), Origin::Capture).is_foreign());
    let vouched = page(draft(&["ref:1"]), true);
    assert!(!next(&vouched, &same, Origin::Owner).is_foreign());
    // A draft of an agent that read nothing washes nothing.
    for fields in [&same, &other] {
        assert!(next(&marked, fields, draft(&[])).is_foreign());
        assert!(!next(&vouched, fields, draft(&[])).is_foreign());
        assert!(next(&vouched, fields, draft(&["x"])).is_foreign());
    }
    assert!(next(&page(Origin::Owner, false), &other, Origin::Capture).is_foreign());
}

#[test]
fn the_tags_of_a_page_are_also_those_of_its_head() {
    let body = "---\ntags: [net, a]\n---\n";
    let fields = |details: Details| Fields {
        title: Title::parse("t").unwrap(),
        body: Body::parse(body).unwrap(),
        details,
    };
    let tags = Tags::parse(["a", "b"]).unwrap();
    let of_page = PageDetails {
        tags: tags.clone(),
        ..PageDetails::default()
    };
    assert_eq!(
        fields(Details::Page(of_page)).all_tags().joined(),
        "a, b, net"
    );
    let task = TaskDetails {
        tags,
        ..TaskDetails::default()
    };
    assert_eq!(fields(Details::Task(task)).all_tags().joined(), "a, b");
    assert!(fields(Details::Project).all_tags().is_empty());
}

#[test]
fn an_id_says_its_kind() {
    for kind in EntityKind::ALL {
        let id = EntityId::new(kind, AT, [3; 10]);
        assert_eq!(EntityId::parse(kind, &id.to_string()), Ok(id));
        assert_eq!(
            (id.kind(), EntityKind::parse(kind.as_str())),
            (kind, Some(kind))
        );
        assert!(EntityId::parse(kind, "../x").is_err());
    }
    assert_eq!(EntityKind::parse("node"), None);
}
