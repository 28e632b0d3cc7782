//! The repository of the tree with the system's git: what is committed, what a crash leaves behind, and what others
//! put there.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use void_channels::{MetaAuthor, MetaError, MetaFile, MetaFolder};
use void_domain::time::Timestamp;

const FIRST: &str = "{\n  \"root\": null\n}\n";
const SECOND: &str = "{\n  \"alice\": \"root\",\n  \"root\": null\n}\n";

struct Stand {
    _data: TempDir,
    path: PathBuf,
    folder: MetaFolder,
}

impl Stand {
    fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let path = data.path().join("meta");
        Self {
            folder: MetaFolder::new(path.clone()),
            path,
            _data: data,
        }
    }

    async fn begun() -> (Self, String) {
        let stand = Self::new();
        stand.folder.open().await.unwrap();
        let commit = stand.commit(FIRST, None).await.unwrap();
        (stand, commit)
    }

    async fn commit(&self, text: &str, before: Option<&str>) -> Result<String, MetaError> {
        let message = "tree: put alice under root\n\nNobody gains.";
        self.folder.commit(text, before, &author(), message).await
    }

    fn git(&self, args: &[&str]) -> String {
        git(&self.path, args)
    }

    fn file(&self) -> String {
        fs::read_to_string(self.path.join("topology.json")).unwrap()
    }

    /// Disk, index and newest commit agree, and nothing is left over.
    async fn is_at_rest(&self, commit: &str, text: &str) {
        let state = self.folder.look().await.unwrap();
        assert_eq!(state.commit.as_deref(), Some(commit));
        assert_eq!(state.file, MetaFile::Text(text.to_owned()));
        assert!(state.is_committed);
        assert_eq!(self.git(&["status", "--porcelain"]), "");
        assert_eq!(self.git(&["show", "HEAD:topology.json"]), text);
        let mut left: Vec<_> = fs::read_dir(&self.path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        left.sort();
        assert_eq!(left, [".git", "topology.json"]);
    }
}

fn author() -> MetaAuthor {
    MetaAuthor {
        name: "owner-cli".to_owned(),
        at: Timestamp::from_ms(1_762_000_000_000),
    }
}

fn git(folder: &Path, args: &[&str]) -> String {
    let said = Command::new("git")
        .args(["-c", "safe.directory=*", "-C"])
        .arg(folder)
        .args(args)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("GIT_AUTHOR_NAME", "somebody")
        .env("GIT_AUTHOR_EMAIL", "somebody@example.org")
        .env("GIT_COMMITTER_NAME", "somebody")
        .env("GIT_COMMITTER_EMAIL", "somebody@example.org")
        .output()
        .unwrap();
    let wrong = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success(), "git {args:?}: {wrong}");
    String::from_utf8(said.stdout).unwrap()
}

#[tokio::test]
async fn every_change_is_a_commit_by_whoever_made_it() {
    let stand = Stand::new();
    stand.folder.open().await.unwrap();
    let fresh = stand.folder.look().await.unwrap();
    assert_eq!((fresh.commit, fresh.file), (None, MetaFile::Missing));
    let first = stand.commit(FIRST, None).await.unwrap();
    stand.is_at_rest(&first, FIRST).await;
    let second = stand.commit(SECOND, Some(&first)).await.unwrap();
    stand.is_at_rest(&second, SECOND).await;
    let log = stand.git(&["log", "--format=%H %an %at %s", "main"]);
    let line = |commit: &str| format!("{commit} owner-cli 1762000000 tree: put alice under root");
    assert_eq!(log, format!("{}\n{}\n", line(&second), line(&first)));
    let known = stand.folder.committed().await;
    assert_eq!(known, Some((SECOND.to_owned(), "owner-cli".to_owned())));
    let mode = fs::metadata(&stand.path).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0);
    // Opened again and again it stays as it is.
    for _ in 0..2 {
        stand.folder.open().await.unwrap();
        stand.is_at_rest(&second, SECOND).await;
    }
}

#[tokio::test]
async fn of_two_who_change_the_same_tree_the_second_changes_nothing() {
    let (stand, first) = Stand::begun().await;
    let second = stand.commit(SECOND, Some(&first)).await.unwrap();
    let late = stand.commit(FIRST, Some(&first)).await;
    assert_eq!(late, Err(MetaError::Changed));
    let late = stand.commit(FIRST, None).await;
    assert_eq!(late, Err(MetaError::Changed));
    stand.is_at_rest(&second, SECOND).await;
}

#[tokio::test]
async fn a_change_that_could_not_be_recorded_is_taken_back() {
    let (stand, first) = Stand::begun().await;
    let second = stand.commit(SECOND, Some(&first)).await.unwrap();
    let back = stand.folder.take_back(&second, Some(&first), FIRST).await;
    assert_eq!(back, Ok(()));
    stand.is_at_rest(&first, FIRST).await;
    // Twice is once, and not after somebody else's change.
    let again = stand.folder.take_back(&second, Some(&first), FIRST).await;
    assert_eq!(again, Ok(()));
    stand.is_at_rest(&first, FIRST).await;
    let third = "{\n  \"bob\": \"root\",\n  \"root\": null\n}\n";
    let newer = stand.commit(third, Some(&first)).await.unwrap();
    let late = stand.folder.take_back(&second, Some(&first), FIRST).await;
    assert_eq!(late, Err(MetaError::Changed));
    stand.is_at_rest(&newer, third).await;
}

/// What each step leaves if nothing follows it.
#[tokio::test]
async fn a_crash_between_two_steps_leaves_the_old_or_the_new_tree() {
    let (stand, first) = Stand::begun().await;
    // Half a new text.
    let staged = stand.path.join(".topology.json.new");
    fs::write(&staged, "{\n  \"ali").unwrap();
    stand.folder.open().await.unwrap();
    stand.is_at_rest(&first, FIRST).await;
    // All of it, and no commit, or one that no branch has.
    fs::write(&staged, SECOND).unwrap();
    stand.folder.open().await.unwrap();
    stand.is_at_rest(&first, FIRST).await;
    // The branch moved, and the file did not follow.
    let second = stand.commit(SECOND, Some(&first)).await.unwrap();
    fs::write(&staged, SECOND).unwrap();
    fs::write(stand.path.join("topology.json"), FIRST).unwrap();
    stand.folder.open().await.unwrap();
    stand.is_at_rest(&second, SECOND).await;
}

#[tokio::test]
async fn what_a_killed_git_leaves_behind_stops_nobody() {
    let (stand, first) = Stand::begun().await;
    for lock in [
        "HEAD.lock",
        "refs/heads/main.lock",
        "packed-refs.lock",
        "index.lock",
        "void.index",
    ] {
        fs::write(stand.path.join(".git").join(lock), "").unwrap();
    }
    stand.folder.open().await.unwrap();
    let second = stand.commit(SECOND, Some(&first)).await.unwrap();
    let state = stand.folder.look().await.unwrap();
    assert_eq!((state.commit, state.is_committed), (Some(second), true));
    // And a repository that was hardly begun, cut off sooner or later.
    for is_later in [false, true] {
        let half = Stand::new();
        fs::create_dir_all(half.path.join(".git/refs")).unwrap();
        if is_later {
            fs::write(half.path.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        }
        half.folder.open().await.unwrap();
        let begun = half.commit(FIRST, None).await.unwrap();
        half.is_at_rest(&begun, FIRST).await;
    }
}

#[tokio::test]
async fn an_edit_by_hand_is_seen_and_left_alone() {
    let (stand, first) = Stand::begun().await;
    let file = stand.path.join("topology.json");
    for text in ["", "{", SECOND, "{\r\n  \"root\": null\r\n}\r\n"] {
        fs::write(&file, text).unwrap();
        stand.folder.open().await.unwrap();
        let state = stand.folder.look().await.unwrap();
        assert!(!state.is_committed, "{text:?}");
        assert_eq!(state.commit, Some(first.clone()));
        assert_eq!(stand.file(), text);
    }
    fs::remove_file(&file).unwrap();
    stand.folder.open().await.unwrap();
    let state = stand.folder.look().await.unwrap();
    assert_eq!((state.file, state.is_committed), (MetaFile::Missing, false));
    // Neither a link nor a folder is a file, wherever it leads.
    symlink("/etc/hostname", &file).unwrap();
    let state = stand.folder.look().await.unwrap();
    assert!(matches!(state.file, MetaFile::Unreadable(_)), "{state:?}");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let state = stand.folder.look().await.unwrap();
    assert!(matches!(state.file, MetaFile::Unreadable(_)), "{state:?}");
    fs::remove_dir(&file).unwrap();
    fs::write(&file, b"\xff{}").unwrap();
    let state = stand.folder.look().await.unwrap();
    assert!(matches!(state.file, MetaFile::Unreadable(_)), "{state:?}");
}

#[tokio::test]
async fn what_somebody_committed_by_hand_counts_and_stays_beside_the_tree() {
    let (stand, _) = Stand::begun().await;
    fs::write(stand.path.join("lock.json"), "{}\n").unwrap();
    fs::write(stand.path.join("topology.json"), SECOND).unwrap();
    stand.git(&["add", "."]);
    stand.git(&["commit", "--quiet", "-m", "by hand"]);
    let by_hand = stand.folder.look().await.unwrap();
    assert!(by_hand.is_committed);
    let known = stand.folder.committed().await;
    assert_eq!(known, Some((SECOND.to_owned(), "somebody".to_owned())));
    stand
        .commit(FIRST, by_hand.commit.as_deref())
        .await
        .unwrap();
    assert_eq!(stand.git(&["show", "HEAD:lock.json"]), "{}\n");
    assert_eq!(stand.git(&["status", "--porcelain"]), "");
}

/// Hooks, filters, a monitor, signing, another work tree: nothing that stands in the repository runs or has a say.
#[tokio::test]
async fn nothing_that_stands_in_the_repository_runs() {
    let (stand, first) = Stand::begun().await;
    let ran = stand.path.join(".git/ran");
    let script = format!("#!/bin/sh\necho ran >> {}\ncat\n", ran.display());
    let program = stand.path.join(".git/program");
    fs::write(&program, &script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir_all(stand.path.join(".git/hooks")).unwrap();
    for hook in [
        "pre-commit",
        "post-commit",
        "reference-transaction",
        "post-index-change",
        "post-checkout",
        "commit-msg",
        "fsmonitor-watchman",
    ] {
        fs::copy(&program, stand.path.join(".git/hooks").join(hook)).unwrap();
    }
    let shown = program.display().to_string();
    for (name, value) in [
        (
            "core.hooksPath",
            stand.path.join(".git/hooks").display().to_string(),
        ),
        ("core.fsmonitor", shown.clone()),
        ("core.worktree", "/tmp".to_owned()),
        ("filter.x.clean", shown.clone()),
        ("filter.x.smudge", shown.clone()),
        ("commit.gpgSign", "true".to_owned()),
        ("gpg.program", shown.clone()),
        ("core.autocrlf", "true".to_owned()),
        ("core.editor", shown.clone()),
        ("core.sshCommand", shown),
    ] {
        git(
            &stand.path,
            &["config", "--file", ".git/config", name, &value],
        );
    }
    fs::create_dir_all(stand.path.join(".git/info")).unwrap();
    fs::write(stand.path.join(".git/info/attributes"), "* filter=x\n").unwrap();
    stand.folder.open().await.unwrap();
    let second = stand.commit(SECOND, Some(&first)).await.unwrap();
    let state = stand.folder.look().await.unwrap();
    assert_eq!(
        (state.commit.as_deref(), state.is_committed),
        (Some(second.as_str()), true)
    );
    assert_eq!(stand.file(), SECOND);
    assert!(
        !ran.exists(),
        "{}",
        fs::read_to_string(&ran).unwrap_or_default()
    );
    assert!(!Path::new("/tmp/topology.json").exists());
}

#[tokio::test]
async fn somebody_elses_repository_is_not_taken_for_ours() {
    let stand = Stand::new();
    let other = tempfile::tempdir().unwrap();
    git(other.path(), &["init", "--quiet"]);
    fs::create_dir(&stand.path).unwrap();
    symlink(other.path().join(".git"), stand.path.join(".git")).unwrap();
    let refused = stand.folder.open().await.unwrap_err();
    assert!(refused.to_string().contains("is no folder"), "{refused}");
    fs::remove_file(stand.path.join(".git")).unwrap();
    let link = format!("gitdir: {}\n", other.path().join(".git").display());
    fs::write(stand.path.join(".git"), link).unwrap();
    let refused = stand.folder.open().await.unwrap_err();
    assert!(refused.to_string().contains("is no folder"), "{refused}");
    // One around it is not it either.
    let inner = other.path().join("meta");
    let folder = MetaFolder::new(inner.clone());
    folder.open().await.unwrap();
    folder.commit(FIRST, None, &author(), "m").await.unwrap();
    assert!(inner.join(".git").is_dir());
    assert!(!other.path().join(".git/refs/heads/main").exists());
}
