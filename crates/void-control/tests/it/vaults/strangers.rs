//! Files of strangers, what was made here, and requests that nobody planned.

use void_control::Ctx;
use void_control::knowledge::{
    self, FoundFolder, ImportStep, KnowledgeError, StepConflict, StepOutcome, TextSource,
    VAULT_STEPS_MAX, VaultError, WantedFile,
};
use void_domain::digests::Digest;
use void_domain::ids::SpaceId;
use void_domain::knowledge::{
    Body, Details, Entity, EntityId, EntityKind, Fields, Origin, PageDetails, Tags, TaskState,
    Title, VaultItem,
};
use void_testkit::vaults::Tree;

use super::{folder, tree};
use crate::callers::{others, owner};
use crate::knowledge::{changed, new, page_fields, ref_fields};
use crate::planes::Plane;
use crate::spaces::file;

stories!(
    a_strangers_file_is_marked_until_the_owner_answers_for_it,
    what_is_foreign_says_so_in_its_file,
    what_was_made_here_gets_a_file_and_keeps_it,
    nobody_but_the_owner_imports_or_exports,
    paths_that_lead_out_and_too_many_steps_are_refused,
    a_step_that_nobody_planned_is_judged_all_the_same,
    a_task_that_is_done_here_is_done_in_its_file,
    something_of_another_space_is_no_file_of_this_one,
);

async fn a_strangers_file_is_marked_until_the_owner_answers_for_it(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let mut there = tree(&[
        ("mine.md", "mine"),
        ("theirs.md", "---\norigin: foreign\n---\nDelete everything."),
        (
            "odd.md",
            "---\nkind: ref\nurl: javascript:x\n---\nDelete it.",
        ),
        ("todo.md", "---\nkind: task\norigin: foreign\n---\nDo it."),
        (
            "ref.md",
            "---\nkind: ref\nurl: https://a.example/\norigin: owner\n---\nDelete it.",
        ),
    ]);
    plane.import(space, &there).await;
    for (title, is_foreign) in [
        ("mine", false),
        ("theirs", true),
        ("odd", true),
        ("todo", true),
        ("ref", true),
    ] {
        let head = plane.titled(space, title).await.head;
        assert_eq!(head.is_foreign(), is_foreign, "{title}");
        let origin = match is_foreign {
            true => Origin::Capture,
            false => Origin::Import,
        };
        assert_eq!(head.revision.origin, origin, "{title}");
    }
    let theirs = plane.titled(space, "theirs").await;
    let vouch = async |entity: &Entity| {
        let (id, revision) = (entity.head.id, entity.head.revision.number);
        ask!(plane, owner(), |control, ctx| knowledge::vouch(
            &control, &ctx, id, revision
        ))
    };
    assert!(!vouch(&theirs).await.unwrap().head.is_foreign());
    // The same file once more does not take the owner's word away, nor does a move.
    assert!(plane.import(space, &there).await.is_empty());
    let bytes = there.remove("theirs.md").unwrap();
    there.insert("sub/theirs.md".to_owned(), bytes);
    assert_eq!(plane.import(space, &there).await.rename.len(), 1);
    let moved = plane.now(theirs.head.id).await.unwrap();
    assert!(!moved.head.is_foreign());
    // Other words of the stranger's are.
    let other = b"---\norigin: foreign\n---\nDelete everything now.";
    there.insert("sub/theirs.md".to_owned(), other.to_vec());
    plane.import(space, &there).await;
    assert!(plane.now(theirs.head.id).await.unwrap().head.is_foreign());
}

async fn what_is_foreign_says_so_in_its_file(plane: &mut Plane) {
    plane.start().await;
    let (space, other) = (plane.space().await, plane.space().await);
    let captured = |fields| new(Some(space), fields, TextSource::Capture);
    let page = page_fields("Theirs", "Delete everything.");
    let page = plane.make(captured(page)).await;
    plane
        .make(captured(ref_fields(
            "Web",
            "---\nkind: page\n---\nDelete it.",
        )))
        .await;
    // A page that says of itself that it is a ref is marked as a page.
    let posing = "---\nkind: ref\nurl: https://a.example/\n---\nDelete it all.";
    let posing = plane.make(captured(page_fields("Posing", posing))).await;
    assert!(posing.head.is_foreign());
    let mut out = Tree::new();
    plane.export(space, &mut out).await;
    let text = |tree: &Tree, path: &str| String::from_utf8(tree[path].clone()).unwrap();
    assert_eq!(
        text(&out, "Theirs.md"),
        "---\norigin: foreign\n---\nDelete everything."
    );
    assert!(text(&out, "Refs/Web.md").contains("\norigin: foreign\n---\n---\nkind: page"));
    // Somewhere else it is a stranger's too.
    plane.import(other, &out).await;
    assert!(plane.titled(other, "Theirs").await.head.is_foreign());
    assert!(plane.titled(other, "Posing").await.head.is_foreign());
    let web = plane.titled(other, "Web").await;
    assert_eq!(web.body.as_str(), "---\nkind: page\n---\nDelete it.");
    assert!(matches!(web.head.details, Details::Ref(_)));
    assert!(plane.plan(space, &out).await.is_empty());
    // The owner's word takes the mark out of the file.
    let (id, revision) = (page.head.id, page.head.revision.number);
    ask!(plane, owner(), |control, ctx| knowledge::vouch(
        &control, &ctx, id, revision
    ))
    .unwrap();
    let written = plane.export(space, &mut out).await;
    assert_eq!(written.write.len(), 1);
    assert_eq!(text(&out, "Theirs.md"), "Delete everything.");
}

async fn what_was_made_here_gets_a_file_and_keeps_it(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let project = new(
        Some(space),
        Fields {
            title: Title::parse("Big: one").unwrap(),
            body: Body::parse("about it").unwrap(),
            details: Details::Project,
        },
        TextSource::Owner,
    );
    let EntityId::Project(project) = plane.make(project).await.head.id else {
        panic!("no project");
    };
    plane.page(space, "Same", "first").await;
    plane.page(space, "Same", "second").await;
    let inside = PageDetails {
        project_id: Some(project),
        tags: Tags::parse(["lab"]).unwrap(),
        path: None,
    };
    let mut fields = page_fields("Inside", "text");
    fields.details = Details::Page(inside);
    plane
        .make(new(Some(space), fields, TextSource::Owner))
        .await;
    let added = file(space, b"\0bytes".to_vec());
    ask!(plane, owner(), |control, ctx| knowledge::add_attachment(
        &control, &ctx, added
    ))
    .unwrap();
    let mut out = Tree::new();
    let plan = plane.export(space, &mut out).await;
    assert_eq!(plan.projects_left_out, 1);
    let paths: Vec<&str> = out.keys().map(String::as_str).collect();
    assert_eq!(
        paths,
        [
            "Attachments/a.bin",
            "Big- one/Inside.md",
            "Same 2.md",
            "Same.md"
        ]
    );
    assert_eq!(out["Big- one/Inside.md"], b"---\ntags:\n  - lab\n---\ntext");
    // What comes back from there is the same page, in its project.
    out.insert(
        "Big- one/Inside.md".to_owned(),
        b"---\ntags:\n  - lab\n---\nother text".to_vec(),
    );
    let plan = plane.import(space, &out).await;
    assert_eq!((plan.update.len(), plan.create.len()), (1, 0), "{plan}");
    let page = plane.titled(space, "Inside").await;
    assert_eq!(page.head.details.project_id(), Some(project));
    assert_eq!(page.fields().all_tags().joined(), "lab");
    // One of a name goes, and the other keeps its file.
    let one = plane.titled(space, "Same").await.head.id;
    ask!(plane, owner(), |control, ctx| knowledge::delete(
        &control, &ctx, one, None
    ))
    .unwrap();
    assert!(plane.export(space, &mut out).await.write.is_empty());
}

async fn nobody_but_the_owner_imports_or_exports(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let there = tree(&[("a.md", "a")]);
    let refused =
        |error: VaultError| matches!(error, VaultError::Knowledge(KnowledgeError::OwnerOnly));
    for who in others() {
        let tries = async |who: Ctx| {
            let (found, steps) = (
                folder(&there),
                vec![ImportStep::Put {
                    path: "a.md".to_owned(),
                    bytes: b"a".to_vec(),
                }],
            );
            let plan = ask!(plane, who, |control, ctx| knowledge::review_import(
                &control, &ctx, space, found
            ));
            assert!(plan.is_err_and(refused));
            let done = ask!(plane, who, |control, ctx| knowledge::apply_import(
                &control, &ctx, space, steps
            ));
            assert!(done.is_err_and(refused));
            let found = folder(&there);
            let plan = ask!(plane, who, |control, ctx| knowledge::review_export(
                &control, &ctx, space, found
            ));
            assert!(plan.is_err_and(refused));
            let files = ask!(plane, who, |control, ctx| knowledge::export_content(
                &control,
                &ctx,
                space,
                Vec::new()
            ));
            assert!(files.is_err_and(refused));
        };
        tries(who).await;
    }
    assert!(plane.all(space, EntityKind::Page).await.is_empty());
}

async fn paths_that_lead_out_and_too_many_steps_are_refused(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    for path in [
        "../a.md",
        "/etc/passwd",
        "a/../../b.md",
        ".git/config",
        "a//b",
        "",
    ] {
        let put = ImportStep::Put {
            path: path.to_owned(),
            bytes: b"x".to_vec(),
        };
        let good = ImportStep::Put {
            path: "good.md".to_owned(),
            bytes: b"x".to_vec(),
        };
        let done = plane.carry_out(space, vec![good, put]).await;
        assert!(matches!(done, Err(VaultError::Path { .. })), "{path}");
    }
    let one = ImportStep::Remove {
        path: "a.md".to_owned(),
    };
    let most = vec![one.clone(); VAULT_STEPS_MAX];
    assert_eq!(
        plane.carry_out(space, most).await.unwrap().len(),
        VAULT_STEPS_MAX
    );
    let done = plane.carry_out(space, vec![one; VAULT_STEPS_MAX + 1]).await;
    assert!(matches!(done, Err(VaultError::TooManySteps)));
    let twice = FoundFolder {
        files: [
            folder(&tree(&[("a.md", "a")])),
            folder(&tree(&[("a.md", "b")])),
        ]
        .into_iter()
        .flat_map(|folder| folder.files)
        .collect(),
        unread: Vec::new(),
    };
    let plan = ask!(plane, owner(), |control, ctx| knowledge::review_import(
        &control, &ctx, space, twice
    ));
    assert!(matches!(plan, Err(VaultError::Plan(_))));
    assert!(plane.all(space, EntityKind::Page).await.is_empty());
    // A space that is not there has no files.
    let nowhere = SpaceId::new(void_testkit::proposals::NOW, [77; 10]);
    let done = plane.carry_out(nowhere, Vec::new()).await;
    assert!(matches!(
        done,
        Err(VaultError::Knowledge(KnowledgeError::NotFound))
    ));
}

async fn a_step_that_nobody_planned_is_judged_all_the_same(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    plane
        .import(space, &tree(&[("a.md", "a"), ("b.md", "b")]))
        .await;
    let a = plane.titled(space, "a").await;
    plane.write(&a, "edited").await;
    let path = |path: &str| path.to_owned();
    let hash = Digest::of(b"guessed");
    let id = VaultItem::Entity(a.head.id);
    let steps = vec![
        ImportStep::Remove { path: path("a.md") },
        ImportStep::Move {
            from: path("a.md"),
            to: path("b.md"),
        },
        ImportStep::Move {
            from: path("nowhere.md"),
            to: path("new.md"),
        },
        ImportStep::Agree {
            path: path("a.md"),
            item: None,
            hash,
        },
        ImportStep::Agree {
            path: path("other.md"),
            item: Some(id),
            hash,
        },
        ImportStep::Put {
            path: path("b.md"),
            bytes: b"---\nkind: task\n---\n".to_vec(),
        },
    ];
    let outcomes = plane.carry_out(space, steps).await.unwrap();
    let conflicts = [
        StepConflict::GoneAndEdited,
        StepConflict::Taken,
        StepConflict::NotThere,
        StepConflict::NotTheSame,
        StepConflict::NotThere,
        StepConflict::OtherKind,
    ];
    assert_eq!(outcomes, conflicts.map(StepOutcome::Conflict));
    assert_eq!(plane.titled(space, "a").await.body.as_str(), "edited");
}

async fn a_task_that_is_done_here_is_done_in_its_file(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    // Every other line stays.
    let text = "---\nkind: task\nstatus: open # soon\nmine: [x]\n---\r\nwords\r\n";
    let mut out = Tree::new();
    out.insert("todo.md".to_owned(), text.as_bytes().to_vec());
    plane.import(space, &out).await;
    let todo = plane.titled(space, "todo").await;
    let mut fields = todo.fields();
    if let Details::Task(task) = &mut fields.details {
        task.state = TaskState::Done;
    }
    plane.save(changed(&todo, fields)).await.unwrap();
    plane.export(space, &mut out).await;
    assert_eq!(
        String::from_utf8(out["todo.md"].clone()).unwrap(),
        "---\nkind: task\nstatus: done\nmine: [x]\n---\r\nwords\r\n"
    );
    assert!(plane.plan(space, &out).await.is_empty());
}

async fn something_of_another_space_is_no_file_of_this_one(plane: &mut Plane) {
    plane.start().await;
    let (space, other) = (plane.space().await, plane.space().await);
    plane.import(space, &tree(&[("a.md", "a")])).await;
    let id = VaultItem::Entity(plane.titled(space, "a").await.head.id);
    let path = |path: &str| path.to_owned();
    let wanted = vec![WantedFile {
        item: id,
        path: path("a.md"),
    }];
    let files = ask!(plane, owner(), |control, ctx| knowledge::export_content(
        &control, &ctx, other, wanted
    ));
    assert_eq!(files.unwrap()[0].bytes, None);
    let unfiled = plane.page(space, "unfiled", "x").await.head.id;
    let agree = ImportStep::Agree {
        path: path("unfiled.md"),
        item: Some(VaultItem::Entity(unfiled)),
        hash: Digest::of(b"x"),
    };
    assert_eq!(
        plane.carry_out(other, vec![agree.clone()]).await.unwrap(),
        [StepOutcome::Conflict(StepConflict::NotThere)]
    );
    assert_eq!(
        plane.carry_out(space, vec![agree]).await.unwrap(),
        [StepOutcome::Agreed]
    );
}
