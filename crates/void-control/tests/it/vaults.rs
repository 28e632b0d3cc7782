//! A folder of Markdown comes in and goes out: byte for byte, once however often, and never over what somebody edited.

mod strangers;

use std::collections::BTreeMap;

use void_control::knowledge::{
    self, EntityFilter, ExportReview, FoundFile, FoundFolder, ImportPlan, ImportStep, StepConflict,
    StepOutcome, VAULT_STEPS_MAX, VaultError, WantedFile,
};
use void_domain::digests::Digest;
use void_domain::ids::SpaceId;
use void_domain::knowledge::{
    Body, Details, Entity, EntityHead, EntityKind, Fields, Origin, VaultItem,
};
use void_vault::{ConflictReason, EntryKind, ExportConflict, VaultEntry, VaultPath};

use crate::callers::owner;
use crate::knowledge::changed;
use crate::planes::Plane;
use void_testkit::vaults::{Random, Tree, random_tree, vault};

stories!(
    a_folder_comes_out_as_it_went_in,
    random_trees_come_out_as_they_went_in,
    a_second_import_changes_only_what_changed,
    what_both_sides_edited_stays_on_both,
    an_import_that_ends_anywhere_is_finished_by_the_next,
    a_plan_changes_nothing,
    a_renamed_file_is_the_same_thing_under_another_title,
    what_is_gone_is_thrown_away_when_the_owner_says_so,
);

fn kind(path: &str, bytes: &[u8]) -> EntryKind {
    VaultEntry::read(&VaultPath::parse(path).unwrap(), bytes).kind()
}

fn folder(tree: &Tree) -> FoundFolder {
    let file = |(path, bytes): (&String, &Vec<u8>)| FoundFile {
        path: path.clone(),
        kind: kind(path, bytes),
        hash: Digest::of(bytes),
    };
    FoundFolder {
        files: tree.iter().map(file).collect(),
        unread: Vec::new(),
    }
}

fn tree(files: &[(&str, &str)]) -> Tree {
    let file = |(path, text): &(&str, &str)| ((*path).to_owned(), text.as_bytes().to_vec());
    files.iter().map(file).collect()
}

/// What whoever carries out a plan sends, in its order.
fn steps_of(plan: &ImportPlan<VaultItem>, tree: &Tree) -> Vec<ImportStep> {
    let path = |path: &VaultPath| path.as_str().to_owned();
    let mut steps = Vec::new();
    steps.extend(plan.gone.iter().map(|step| ImportStep::Remove {
        path: path(&step.path),
    }));
    steps.extend(plan.rename.iter().map(|step| ImportStep::Move {
        from: path(&step.from),
        to: path(&step.to),
    }));
    steps.extend(plan.unchanged.iter().filter_map(|step| {
        Some(ImportStep::Agree {
            path: path(&step.path),
            item: Some(step.key),
            hash: Digest::from_bytes(*step.new_base?.as_bytes()),
        })
    }));
    let created = plan.create.iter().map(|step| &step.file.path);
    for at in created.chain(plan.update.iter().map(|step| &step.path)) {
        steps.push(ImportStep::Put {
            path: path(at),
            bytes: tree[at.as_str()].clone(),
        });
    }
    steps
}

impl Plane {
    async fn plan(&self, space: SpaceId, tree: &Tree) -> ImportPlan<VaultItem> {
        let folder = folder(tree);
        ask!(self, owner(), |control, ctx| knowledge::review_import(
            &control, &ctx, space, folder
        ))
        .unwrap()
    }

    async fn carry_out(
        &self,
        space: SpaceId,
        steps: Vec<ImportStep>,
    ) -> Result<Vec<StepOutcome>, VaultError> {
        ask!(self, owner(), |control, ctx| knowledge::apply_import(
            &control, &ctx, space, steps
        ))
    }

    /// Plans and does it, and what was planned is what happened.
    async fn import(&self, space: SpaceId, tree: &Tree) -> ImportPlan<VaultItem> {
        let plan = self.plan(space, tree).await;
        for some in steps_of(&plan, tree).chunks(VAULT_STEPS_MAX) {
            for outcome in self.carry_out(space, some.to_vec()).await.unwrap() {
                let is_done = !matches!(
                    outcome,
                    StepOutcome::Conflict(_) | StepOutcome::Refused(_) | StepOutcome::Unchanged
                );
                assert!(is_done, "{outcome:?}");
            }
        }
        plan
    }

    /// Writes into a folder what has to be written, and tells so.
    async fn export(&self, space: SpaceId, into: &mut Tree) -> ExportReview {
        let found = folder(into);
        let plan = ask!(self, owner(), |control, ctx| knowledge::review_export(
            &control, &ctx, space, found
        ))
        .unwrap();
        let mut steps = Vec::new();
        for (path, item, hash) in &plan.agree {
            steps.push(ImportStep::Agree {
                path: path.as_str().to_owned(),
                item: Some(*item),
                hash: *hash,
            });
        }
        let mut rest = plan.write.as_slice();
        while !rest.is_empty() {
            let some = &rest[..rest.len().min(VAULT_STEPS_MAX)];
            let wanted = some.iter().map(|step| WantedFile {
                item: step.key,
                path: step.path.as_str().to_owned(),
            });
            let wanted: Vec<WantedFile> = wanted.collect();
            let found = ask!(self, owner(), |control, ctx| knowledge::export_content(
                &control, &ctx, space, wanted
            ))
            .unwrap();
            assert!(!found.is_empty());
            for (step, file) in some.iter().zip(&found) {
                assert_eq!(step.path.as_str(), file.path);
                let bytes = file.bytes.clone().unwrap();
                let was = into.get(&file.path).map(|bytes| Digest::of(bytes));
                assert_eq!(
                    was,
                    step.replaces
                        .map(|hash| Digest::from_bytes(*hash.as_bytes()))
                );
                steps.push(ImportStep::Agree {
                    path: file.path.clone(),
                    item: Some(step.key),
                    hash: Digest::of(&bytes),
                });
                into.insert(file.path.clone(), bytes);
            }
            rest = &rest[found.len()..];
        }
        for some in steps.chunks(VAULT_STEPS_MAX) {
            for outcome in self.carry_out(space, some.to_vec()).await.unwrap() {
                assert_eq!(outcome, StepOutcome::Agreed);
            }
        }
        plan
    }

    /// Everything of a kind, by title.
    async fn all(&self, space: SpaceId, kind: EntityKind) -> BTreeMap<String, EntityHead> {
        let filter = EntityFilter::within(space, kind);
        let page = ask!(self, owner(), |control, ctx| knowledge::list(
            &control, &ctx, filter, None, 500
        ))
        .unwrap();
        assert!(page.next.is_none());
        let titled = page.items.into_iter();
        titled.map(|head| (head.title.to_string(), head)).collect()
    }

    async fn titled(&self, space: SpaceId, title: &str) -> Entity {
        for kind in [EntityKind::Page, EntityKind::Task, EntityKind::Ref] {
            if let Some(head) = self.all(space, kind).await.get(title) {
                return self.now(head.id).await.unwrap();
            }
        }
        panic!("nothing is called {title}");
    }

    async fn write(&self, entity: &Entity, text: &str) -> Entity {
        let fields = Fields {
            body: Body::parse(text).unwrap(),
            ..entity.fields()
        };
        self.save(changed(entity, fields)).await.unwrap()
    }

    async fn facts(&self) -> usize {
        self.audit().await.len()
    }
}

async fn a_folder_comes_out_as_it_went_in(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let there = vault();
    let plan = plane.import(space, &there).await;
    assert_eq!(plan.create.len(), there.len());
    let mut back = Tree::new();
    let written = plane.export(space, &mut back).await;
    assert_eq!(written.write.len(), there.len());
    assert_eq!(back, there);
    assert!(plane.plan(space, &there).await.is_empty());
    assert!(plane.export(space, &mut back).await.write.is_empty());
    // What it became.
    let task = plane.titled(space, "Renew the certificate").await;
    let Details::Task(details) = &task.head.details else {
        panic!("no task: {task:?}");
    };
    assert_eq!(details.due.unwrap().to_string(), "2026-12-31");
    assert_eq!(details.tags.joined(), "lab, tls");
    assert_eq!(task.body.as_str(), "See [[Caddy notes]].\n");
    assert_eq!(task.head.revision.origin, Origin::Import);
    let page = plane.titled(space, "Caddy notes").await;
    let Details::Page(details) = &page.head.details else {
        panic!("no page: {page:?}");
    };
    assert_eq!(
        details.path.as_ref().unwrap().as_str(),
        "Lab/Caddy notes.md"
    );
    assert_eq!(page.fields().all_tags().joined(), "proxy");
    let kept = plane.titled(space, "A page of the web").await;
    assert!(matches!(kept.head.details, Details::Ref(_)) && kept.head.is_foreign());
    let windows = plane.titled(space, "windows").await;
    assert!(!windows.body.as_str().contains('\r'));
}

async fn random_trees_come_out_as_they_went_in(plane: &mut Plane) {
    plane.start().await;
    let mut files = 0;
    for seed in 0..12 {
        let mut random = Random(seed);
        let there = random_tree(&mut random);
        files += there.len();
        let space = plane.space().await;
        let plan = plane.import(space, &there).await;
        assert_eq!(plan.create.len(), there.len(), "seed {seed}");
        assert!(plane.plan(space, &there).await.is_empty(), "seed {seed}");
        let mut back = Tree::new();
        plane.export(space, &mut back).await;
        assert_eq!(back, there, "seed {seed}");
        // One of them is edited in the folder, and only that one is news.
        let edited = random.pick(&back.keys().map(String::as_str).collect::<Vec<_>>());
        let edited = edited.to_owned();
        let bytes = back.get_mut(&edited).unwrap();
        bytes.extend_from_slice(b"\nwords at the end");
        let plan = plane.import(space, &back).await;
        let steps = plan.update.len() + plan.create.len() + plan.gone.len();
        assert!((1..=2).contains(&steps), "seed {seed}: {plan}");
        let mut again = Tree::new();
        plane.export(space, &mut again).await;
        assert_eq!(again, back, "seed {seed}");
    }
    assert!(files > 60, "{files}");
}

async fn a_second_import_changes_only_what_changed(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let mut there = vault();
    plane.import(space, &there).await;
    let before = plane.all(space, EntityKind::Page).await;
    let facts = plane.facts().await;
    assert!(plane.import(space, &there).await.is_empty());
    assert_eq!(plane.facts().await, facts, "nothing to do is nothing done");
    let path = "Lab/Caddy notes.md";
    there.insert(path.to_owned(), b"Other words.\r\n".to_vec());
    let plan = plane.import(space, &there).await;
    assert_eq!((plan.update.len(), plan.create.len()), (1, 0));
    let mut after = plane.all(space, EntityKind::Page).await;
    let changed = after.remove("Caddy notes").unwrap();
    assert_eq!(changed.id, before["Caddy notes"].id);
    assert_eq!(changed.revision.number, 2);
    for (title, head) in after {
        assert_eq!(head, before[&title]);
    }
    // Another picture at the same place.
    there.insert(
        "Lab/img/rack photo.png".to_owned(),
        b"\x89PNG other".to_vec(),
    );
    let plan = plane.import(space, &there).await;
    assert_eq!((plan.update.len(), plan.create.len()), (1, 0));
    // Line ends alone are a change of the file, and no change of the text.
    there.insert(path.to_owned(), b"Other words.\n".to_vec());
    let plan = plane.import(space, &there).await;
    assert_eq!(plan.update.len(), 1);
    let page = plane.titled(space, "Caddy notes").await;
    assert_eq!(page.head.revision.number, 2);
    let mut back = Tree::new();
    plane.export(space, &mut back).await;
    assert_eq!(back, there);
}

async fn what_both_sides_edited_stays_on_both(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let mut there = tree(&[("a.md", "one"), ("b.md", "two"), ("c.md", "three")]);
    plane.import(space, &there).await;
    let page = plane.titled(space, "a").await;
    plane.write(&page, "from Void").await;
    there.insert("a.md".to_owned(), b"from the folder".to_vec());
    let plan = plane.import(space, &there).await;
    assert_eq!(plan.conflicts.len(), 1);
    assert_eq!(plan.conflicts[0].reason, ConflictReason::BothChanged);
    assert_eq!(plane.titled(space, "a").await.body.as_str(), "from Void");
    // Sent all the same, it is judged all the same.
    let put = |bytes: &[u8]| ImportStep::Put {
        path: "a.md".to_owned(),
        bytes: bytes.to_vec(),
    };
    let outcomes = plane.carry_out(space, vec![put(b"from the folder")]).await;
    let both = StepOutcome::Conflict(StepConflict::BothChanged);
    assert_eq!(outcomes.unwrap(), [both]);
    let written = plane.export(space, &mut there).await;
    assert_eq!(written.conflicts.len(), 1);
    assert_eq!(written.conflicts[0].1, ExportConflict::ChangedInFolder);
    assert_eq!(there["a.md"], b"from the folder");
    // The owner makes both the same, and it is settled.
    there.insert("a.md".to_owned(), b"from Void".to_vec());
    assert!(plane.import(space, &there).await.conflicts.is_empty());
    there.insert("a.md".to_owned(), b"and on".to_vec());
    assert_eq!(plane.import(space, &there).await.update.len(), 1);
    // Deleted here and edited there; edited here and gone from there.
    let b = plane.titled(space, "b").await.head.id;
    ask!(plane, owner(), |control, ctx| knowledge::delete(
        &control, &ctx, b, None
    ))
    .unwrap();
    assert!(
        plane.plan(space, &there).await.is_empty(),
        "it stays deleted"
    );
    there.insert("b.md".to_owned(), b"edited".to_vec());
    let c = plane.titled(space, "c").await;
    plane.write(&c, "edited here").await;
    there.remove("c.md");
    let plan = plane.import(space, &there).await;
    let reasons: Vec<ConflictReason> = plan.conflicts.iter().map(|one| one.reason).collect();
    assert_eq!(
        reasons,
        [
            ConflictReason::DeletedInVoid,
            ConflictReason::GoneFromFolder
        ]
    );
    assert_eq!(plane.titled(space, "c").await.body.as_str(), "edited here");
    // Taken back, it follows the folder again.
    ask!(plane, owner(), |control, ctx| knowledge::undelete(
        &control, &ctx, b
    ))
    .unwrap();
    plane.import(space, &there).await;
    assert_eq!(plane.titled(space, "b").await.body.as_str(), "edited");
}

async fn an_import_that_ends_anywhere_is_finished_by_the_next(plane: &mut Plane) {
    plane.start().await;
    let mut old = tree(&[
        ("keep.md", "kept"),
        ("edit.md", "old"),
        ("was.md", "this one moves"),
        ("kind.md", "a page"),
        ("gone.md", "this one goes"),
        ("x.bin", "bytes"),
    ]);
    let new = tree(&[
        ("keep.md", "kept"),
        ("edit.md", "new"),
        ("is.md", "this one moves"),
        ("kind.md", "---\nkind: task\n---\na task"),
        ("new.md", "new too"),
        ("sub/x.bin", "bytes"),
    ]);
    let steps_in_all = 9;
    for end in 0..=steps_in_all {
        let space = plane.space().await;
        plane.import(space, &old).await;
        let plan = plane.plan(space, &new).await;
        let steps = steps_of(&plan, &new);
        assert_eq!(steps.len(), 7, "{plan}");
        // It ends before one of its pieces; each piece is whole or was never there.
        for step in steps.into_iter().take(end) {
            plane.carry_out(space, vec![step]).await.unwrap();
        }
        plane.import(space, &new).await;
        assert!(plane.plan(space, &new).await.is_empty(), "{end}");
        let mut back = Tree::new();
        plane.export(space, &mut back).await;
        assert_eq!(back, new, "{end}");
        let pages = plane.all(space, EntityKind::Page).await;
        let titles: Vec<&str> = pages.keys().map(String::as_str).collect();
        assert_eq!(titles, ["edit", "is", "keep", "new"], "{end}");
        assert_eq!(pages["is"].revision.number, 2, "the same page, moved");
    }
    // The same piece twice, because nobody heard the answer.
    let space = plane.space().await;
    old.remove("x.bin");
    let steps = steps_of(&plane.plan(space, &old).await, &old);
    plane.carry_out(space, steps.clone()).await.unwrap();
    for outcome in plane.carry_out(space, steps).await.unwrap() {
        assert_eq!(outcome, StepOutcome::Unchanged);
    }
    assert_eq!(plane.all(space, EntityKind::Page).await.len(), 5);
}

async fn a_plan_changes_nothing(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    plane.page(space, "Made here", "text").await;
    let facts = plane.facts().await;
    let mut there = vault();
    assert_eq!(plane.plan(space, &there).await.create.len(), there.len());
    let found = folder(&there);
    let plan = ask!(plane, owner(), |control, ctx| knowledge::review_export(
        &control, &ctx, space, found
    ));
    assert_eq!(plan.unwrap().write.len(), 1);
    assert_eq!(plane.facts().await, facts);
    assert_eq!(plane.all(space, EntityKind::Page).await.len(), 1);
    there.clear();
    assert!(plane.plan(space, &there).await.is_empty());
}

async fn a_renamed_file_is_the_same_thing_under_another_title(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let mut there = tree(&[
        ("Old name.md", "its words"),
        ("said.md", "---\ntitle: Said\n---\nother words"),
        ("a/p.png", "picture"),
    ]);
    plane.import(space, &there).await;
    let (old, said) = (
        plane.titled(space, "Old name").await,
        plane.titled(space, "Said").await,
    );
    for (from, to) in [
        ("Old name.md", "deep/New name.md"),
        ("said.md", "unsaid.md"),
        ("a/p.png", "b/q.png"),
    ] {
        let bytes = there.remove(from).unwrap();
        there.insert(to.to_owned(), bytes);
    }
    let plan = plane.import(space, &there).await;
    assert_eq!((plan.rename.len(), plan.create.len()), (3, 0), "{plan}");
    let renamed = plane.now(old.head.id).await.unwrap();
    assert_eq!(renamed.head.title.as_str(), "New name");
    assert_eq!(renamed.head.revision.origin, Origin::Import);
    assert_eq!(
        plane.now(said.head.id).await.unwrap().head.title.as_str(),
        "Said"
    );
    assert!(plane.plan(space, &there).await.is_empty());
    let mut back = Tree::new();
    plane.export(space, &mut back).await;
    assert_eq!(back, there);
}

async fn what_is_gone_is_thrown_away_when_the_owner_says_so(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let mut there = tree(&[("a.md", "a"), ("b.md", "b"), ("c.png", "c")]);
    plane.import(space, &there).await;
    let a = plane.titled(space, "a").await;
    there.remove("a.md");
    there.remove("c.png");
    let plan = plane.plan(space, &there).await;
    assert_eq!(plan.gone.len(), 2);
    assert_eq!(
        plane.all(space, EntityKind::Page).await.len(),
        2,
        "nobody said so"
    );
    plane.import(space, &there).await;
    assert_eq!(plane.all(space, EntityKind::Page).await.len(), 1);
    // It is in the bin, and a file that comes back is a new page.
    there.insert("a.md".to_owned(), b"again".to_vec());
    let plan = plane.import(space, &there).await;
    assert_eq!(plan.create.len(), 1);
    let again = plane.titled(space, "a").await;
    assert_ne!(again.head.id, a.head.id);
    let id = a.head.id;
    ask!(plane, owner(), |control, ctx| knowledge::undelete(
        &control, &ctx, id
    ))
    .unwrap();
    // Both have a file then, under two names.
    let mut back = Tree::new();
    plane.export(space, &mut back).await;
    let paths: Vec<&str> = back.keys().map(String::as_str).collect();
    assert_eq!(paths, ["a 2.md", "a.md", "b.md"]);
    // What could not be read is not gone.
    let found = FoundFolder {
        files: Vec::new(),
        unread: vec!["a.md".to_owned(), "b.md".to_owned()],
    };
    let plan = ask!(plane, owner(), |control, ctx| knowledge::review_import(
        &control, &ctx, space, found
    ))
    .unwrap();
    assert_eq!(plan.conflicts.len(), 2);
    assert!(plan.gone.iter().all(|step| step.path.as_str() == "a 2.md"));
}
