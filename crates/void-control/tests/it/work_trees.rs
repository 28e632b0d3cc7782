//! A change of the catalogue and the git work tree that it is in: nothing of it runs or has a say, and whatever it is in
//! the middle of stays as it is.

use std::fs;

use void_control::proposals::{ProposeChangeError, Proposed};
use void_domain::proposals::Status;

use crate::callers::owner;
use crate::changes::{commits, gardener, git, in_folder, in_git, whole, wider};
use crate::machines::CATALOGUE;
use crate::planes::Plane;
use crate::requests::{at_once, conflict};

stories!(
    of_two_changes_of_one_file_the_second_ends_and_does_not_come_back,
    filters_of_the_work_tree_neither_run_nor_have_a_say,
    what_lies_beside_is_not_written_over,
    a_work_tree_that_is_not_at_rest_is_left_as_it_is,
    a_file_that_is_elsewhere_now_is_not_written,
    hooks_of_the_work_tree_do_not_run,
    what_is_not_committed_is_not_committed_in_its_name,
);

/// The catalogue with another action.
fn other() -> String {
    wider().replace("added", "other").replace("Added", "Other")
}

async fn of_two_changes_of_one_file_the_second_ends_and_does_not_come_back(plane: &mut Plane) {
    let file = in_git(plane);
    let base = git(file.parent().unwrap(), &["rev-parse", "HEAD"]);
    plane.start().await;
    let first = plane.drafted(&gardener()).await;
    let Ok(Proposed::Queued(second)) = plane.draft(&owner(), whole(&other())).await else {
        panic!("it does not wait");
    };
    let rows = [first, second];
    let decided = at_once(2, |number| plane.approve(&rows[number])).await;
    assert!(decided.iter().any(Result::is_ok), "{decided:?}");
    let mut ends = Vec::new();
    for row in &rows {
        ends.push(plane.ended(row.id).await.status());
    }
    ends.sort();
    assert_eq!(ends, [Status::Executed, Status::Cancelled]);
    git(
        file.parent().unwrap(),
        &["reset", "--quiet", "--hard", base.trim()],
    );
    plane.sweep().await;
    assert_eq!(commits(&file), 1);
    assert_eq!(fs::read_to_string(&file).unwrap(), CATALOGUE);
}

async fn filters_of_the_work_tree_neither_run_nor_have_a_say(plane: &mut Plane) {
    use std::os::unix::fs::PermissionsExt as _;
    let file = in_git(plane);
    let folder = file.parent().unwrap();
    let (ran, script) = (folder.join("ran"), folder.join("filter.sh"));
    fs::write(
        &script,
        format!("#!/bin/sh\ntouch {}\nsed s/risky/safe/\n", ran.display()),
    )
    .unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir_all(folder.join(".git/info")).unwrap();
    fs::write(folder.join(".git/info/attributes"), "*.json filter=f\n").unwrap();
    for name in ["filter.f.clean", "filter.f.smudge"] {
        git(folder, &["config", name, script.to_str().unwrap()]);
    }
    plane.start().await;
    let row = plane.drafted(&gardener()).await;
    plane.approve(&row).await.unwrap();
    assert_eq!(plane.ended(row.id).await.status(), Status::Executed);
    assert!(!ran.exists(), "nothing of the work tree runs");
    assert_eq!(
        git(folder, &["cat-file", "blob", "HEAD:actions.json"]),
        wider()
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), wider());
}

async fn what_lies_beside_is_not_written_over(plane: &mut Plane) {
    let file = in_folder(plane);
    let (beside, victim) = (
        file.with_file_name("actions.json.proposed"),
        file.with_file_name("victim"),
    );
    fs::write(&victim, "keep").unwrap();
    plane.start().await;
    for is_link in [true, false] {
        match is_link {
            true => std::os::unix::fs::symlink(&victim, &beside).unwrap(),
            false => fs::write(&beside, "not moved yet").unwrap(),
        }
        let row = plane.drafted(&owner()).await;
        plane.approve(&row).await.unwrap();
        let ended = plane.ended(row.id).await;
        assert_eq!(
            ended.failure().unwrap().code.as_str(),
            "not_written",
            "{ended:?}"
        );
        assert_eq!(fs::read_to_string(&victim).unwrap(), "keep");
        fs::remove_file(&beside).unwrap();
    }
}

async fn a_work_tree_that_is_not_at_rest_is_left_as_it_is(plane: &mut Plane) {
    let file = in_git(plane);
    let folder = file.parent().unwrap().to_owned();
    let head = git(&folder, &["rev-parse", "HEAD"]);
    plane.start().await;
    let lock = folder.join(".git/index.lock");
    let merge = folder.join(".git/MERGE_HEAD");
    for (disturb, restore) in [
        (
            Box::new(|| fs::write(&lock, "").unwrap()) as Box<dyn Fn()>,
            Box::new(|| fs::remove_file(&lock).unwrap()) as Box<dyn Fn()>,
        ),
        (
            Box::new(|| fs::write(&merge, &head).unwrap()),
            Box::new(|| fs::remove_file(&merge).unwrap()),
        ),
        (
            Box::new(|| _ = git(&folder, &["checkout", "--quiet", "--detach"])),
            Box::new(|| _ = git(&folder, &["checkout", "--quiet", "-"])),
        ),
    ] {
        let row = plane.drafted(&owner()).await;
        disturb();
        plane.approve(&row).await.unwrap();
        let ended = plane.ended(row.id).await;
        assert_eq!(ended.status(), Status::Failed, "{ended:?}");
        restore();
        assert_eq!(fs::read_to_string(&file).unwrap(), CATALOGUE);
        assert_eq!(git(&folder, &["status", "--porcelain"]), "");
        assert_eq!(git(&folder, &["rev-parse", "HEAD"]), head);
    }
    // What is staged is the owner's.
    fs::write(&file, format!("{CATALOGUE}\n")).unwrap();
    git(&folder, &["add", "actions.json"]);
    fs::write(&file, CATALOGUE).unwrap();
    let refused = plane.draft(&owner(), whole(&wider())).await;
    assert!(
        matches!(refused, Err(ProposeChangeError::NotCommitted)),
        "{refused:?}"
    );
}

async fn a_file_that_is_elsewhere_now_is_not_written(plane: &mut Plane) {
    let file = in_git(plane);
    plane.start().await;
    let row = plane.drafted(&owner()).await;
    let elsewhere = plane.machine.path().join("elsewhere.json");
    fs::rename(&file, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    assert_eq!(conflict(plane.approve(&row).await).0, "changed");
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), CATALOGUE);
}

async fn hooks_of_the_work_tree_do_not_run(plane: &mut Plane) {
    use std::os::unix::fs::PermissionsExt as _;
    let file = in_git(plane);
    let folder = file.parent().unwrap();
    let ran = folder.join("ran");
    for hook in [
        "pre-commit",
        "commit-msg",
        "prepare-commit-msg",
        "post-commit",
    ] {
        let path = folder.join(".git/hooks").join(hook);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(
            &path,
            format!("#!/bin/sh\ntouch {}\nexit 1\n", ran.display()),
        )
        .unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    plane.start().await;
    let row = plane.drafted(&gardener()).await;
    plane.approve(&row).await.unwrap();
    assert_eq!(plane.ended(row.id).await.status(), Status::Executed);
    assert_eq!(commits(&file), 2);
    assert!(!ran.exists());
}

async fn what_is_not_committed_is_not_committed_in_its_name(plane: &mut Plane) {
    let file = in_git(plane);
    fs::write(&file, format!("{CATALOGUE}\n")).unwrap();
    plane.start().await;
    let refused = plane.draft(&owner(), whole(&wider())).await;
    assert!(
        matches!(refused, Err(ProposeChangeError::NotCommitted)),
        "{refused:?}"
    );
    // A file that nobody ever committed is none of git's.
    let folder = file.parent().unwrap();
    git(folder, &["rm", "--quiet", "--cached", "actions.json"]);
    git(folder, &["commit", "--quiet", "-m", "without it"]);
    let row = plane.drafted(&owner()).await;
    plane.approve(&row).await.unwrap();
    plane.ended(row.id).await;
    assert!(file.with_file_name("actions.json.proposed").exists());
    assert_eq!(commits(&file), 2);
}
