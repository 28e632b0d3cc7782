use super::*;
use crate::ids::ProjectId;
use crate::time::Timestamp;

/// One of each kind, empty and full.
fn samples() -> Vec<Fields> {
    let project_id = Some(ProjectId::new(Timestamp::from_ms(1), [3; 10]));
    let tags = Tags::parse(["b", "a/c"]).unwrap();
    let all = [
        Details::Project,
        Details::Space(SpaceDetails::default()),
        Details::Space(SpaceDetails {
            agent: "companion".parse().ok(),
        }),
        Details::Page(PageDetails::default()),
        Details::Page(PageDetails {
            project_id,
            tags: tags.clone(),
            path: NotePath::parse("Notes/a b.md").ok(),
        }),
        Details::Task(TaskDetails::default()),
        Details::Task(TaskDetails {
            project_id,
            state: TaskState::Dropped,
            due: DueDate::parse("2026-11-19").ok(),
            tags: tags.clone(),
        }),
        Details::Ref(RefDetails {
            project_id,
            url: RefUrl::parse("https://example.org/a?b").unwrap(),
            tags,
        }),
    ];
    let bodies = [
        "",
        "\n",
        "text",
        "\n\ntitle: x\n\n",
        "a\r\nb\rc\u{feff}",
        "state: done",
    ];
    let mut samples = Vec::new();
    for details in all {
        for body in bodies {
            samples.push(Fields {
                title: Title::parse("A title: with [[signs]]").unwrap(),
                body: Body::parse(body).unwrap(),
                details: details.clone(),
            });
        }
    }
    samples
}

#[test]
fn what_is_written_is_read_again() {
    for fields in samples() {
        let text = fields.written();
        assert_eq!(Fields::read(fields.kind(), &text), Ok(fields), "{text}");
    }
}

#[test]
fn no_two_entities_of_a_kind_are_written_alike() {
    let mut seen = std::collections::HashSet::new();
    for fields in samples() {
        assert!(seen.insert((fields.kind(), fields.written())));
    }
}

#[test]
fn what_is_not_exactly_so_is_refused() {
    let page = "title: a\nproject:\ntags:\npath:\n\nbody";
    assert!(Fields::read(EntityKind::Page, page).is_ok());
    for bad in [
        "",
        "title: a\n",
        "title:\nproject:\ntags:\npath:\n\nbody",
        "title: a\ntags:\nproject:\npath:\n\nbody",
        "title: a\nproject: \ntags:\npath:\n\nbody",
        "title: a \nproject:\ntags:\npath:\n\nbody",
        "title: a\nproject: x\ntags:\npath:\n\nbody",
        "title: a\nproject:\ntags: b, a\npath:\n\nbody",
        "title: a\nproject:\ntags:\npath: ../x\n\nbody",
        "title: a\nproject:\ntags:\npath:\nbody",
        "title: a\nproject:\ntags:\npath:\nmore: x\n\nbody",
        "title: a\nproject:\ntags:\npath:\n\nbo\0dy",
    ] {
        assert!(Fields::read(EntityKind::Page, bad).is_err(), "{bad:?}");
    }
    for kind in [EntityKind::Task, EntityKind::Ref] {
        assert!(Fields::read(kind, page).is_err(), "{kind}");
    }
}
