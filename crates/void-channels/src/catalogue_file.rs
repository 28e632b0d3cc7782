//! The file that the catalogue was read from: compared, and written by an approved change alone.
//!
//! Where the file is committed in a git work tree, a change becomes a commit; elsewhere the new text is put beside it
//! as `NAME.proposed`, and the owner moves it. Nothing here changes the catalogue that is in force: that is read once,
//! at the start. A file is written whole or not at all, and afterwards it is read back.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use void_domain::changes::catalogue::new_text;
use void_domain::changes::{Change, ChangeEffect};
use void_domain::digests::Digest;
use void_domain::failures::FailureCode;
use void_domain::permits::{ChangeAuthor, ChangePermit};
use void_domain::proposals::Failure;
use void_domain::text;

use crate::git;
use crate::outcomes::{Evidence, Outcome};

/// Who commits if git does not know the owner's name.
const NAME: &str = "Void owner";
const EMAIL: &str = "owner@void.invalid";

/// How the file stands to git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InGit {
    /// Committed, and as it was committed.
    Clean,
    /// Committed, and edited or staged since.
    Edited,
    /// Not committed, or in no work tree.
    No,
}

#[derive(Debug, Clone)]
pub struct CatalogueFile {
    path: PathBuf,
    /// What the path led to at the start. If it leads elsewhere now, nothing is written.
    place: Option<PathBuf>,
    /// What was read at the start; `None`: there was no file.
    loaded: Option<String>,
}

impl CatalogueFile {
    pub fn new(path: PathBuf, loaded: Option<String>) -> Self {
        Self {
            place: fs::canonicalize(&path).ok(),
            path,
            loaded,
        }
    }

    /// Where it is: by the path of the settings, and where that leads.
    pub fn paths(&self) -> Vec<PathBuf> {
        let place = self.place.iter().filter(|place| **place != self.path);
        [&self.path].into_iter().chain(place).cloned().collect()
    }

    /// What was read at the start.
    pub fn loaded(&self) -> Option<&str> {
        self.loaded.as_deref()
    }

    /// Whether the file is where it was, and still says what was read at the start.
    pub fn is_as_loaded(&self) -> io::Result<bool> {
        Ok(self.is_in_place() && read(&self.path)? == self.loaded)
    }

    fn is_in_place(&self) -> bool {
        fs::canonicalize(&self.path).ok() == self.place
    }

    /// Whether a change can be applied to what is there now.
    pub fn fits(&self, change: &Change) -> bool {
        let text = read(&self.path).ok().filter(|_| self.is_in_place());
        text.is_some_and(|text| new_text(change, text.as_deref()).is_some())
    }

    pub async fn in_git(&self) -> InGit {
        let Some(git) = Git::of(&self.path) else {
            return InGit::No;
        };
        if git.index_entry().await.is_none() {
            return InGit::No;
        }
        match git.clean_entry().await {
            Some(_) => InGit::Clean,
            None => InGit::Edited,
        }
    }

    /// Consumes the permit: whatever happens, it is not used again.
    pub async fn write(&self, permit: ChangePermit) -> Outcome {
        let change = permit.change();
        let before = match read(&self.path) {
            Ok(text) if self.is_in_place() => text,
            Ok(_) => return failed(FailureCode::Changed, "the file is in another place now"),
            Err(error) => {
                let said = format!("the file cannot be read: {error}");
                return failed(FailureCode::NotWritten, said);
            }
        };
        let Some(new) = new_text(change, before.as_deref()) else {
            let said = "the file is no longer the one that was looked at";
            return failed(FailureCode::Changed, said);
        };
        let written = match (change.effect, before) {
            (ChangeEffect::Commit, Some(before)) => self.commit(&permit, &before, &new).await,
            (ChangeEffect::Commit, None) => {
                Err((FailureCode::Changed, "the file is gone".to_owned()))
            }
            (ChangeEffect::Beside, _) => self.put_beside(&permit, &new),
            (ChangeEffect::Stored, _) => {
                Err((FailureCode::Changed, "it is a change of no file".to_owned()))
            }
        };
        if let Err((code, said)) = written {
            return failed(code, said);
        }
        match self.settle(change).await {
            Evidence::Done { result } => Outcome::Done { result },
            Evidence::Failed(failure) => Outcome::Failed(failure),
            Evidence::Started | Evidence::None(_) => Outcome::Unknown(Failure::new(
                FailureCode::NotReadBack,
                "it was written, and does not read as it was written",
            )),
        }
    }

    /// What the file says about a change that may have been made.
    pub async fn settle(&self, change: &Change) -> Evidence {
        let file = self.written_to(change.effect);
        match read(&file) {
            Ok(Some(text)) if Digest::of(text.as_bytes()) == change.result => {
                let commit = match change.effect {
                    ChangeEffect::Commit => self.last_commit().await,
                    ChangeEffect::Beside | ChangeEffect::Stored => None,
                };
                let result = self.result(change, commit.as_deref());
                Evidence::Done { result }
            }
            Ok(text) => {
                let base = text.map(|text| Digest::of(text.as_bytes()).to_string());
                if change.effect == ChangeEffect::Beside || base == change.base {
                    let said = "it was not written";
                    return Evidence::Failed(Failure::new(FailureCode::NotWritten, said));
                }
                let message = "the file says neither what it said before nor what was approved";
                Evidence::None(Failure::new(FailureCode::NoEvidence, message))
            }
            Err(error) => Evidence::None(Failure::new(FailureCode::Unreadable, error.to_string())),
        }
    }

    fn written_to(&self, effect: ChangeEffect) -> PathBuf {
        match effect {
            ChangeEffect::Commit | ChangeEffect::Stored => self.path.clone(),
            ChangeEffect::Beside => Self::beside(&self.path),
        }
    }

    /// Where an approved change is put that does not become a commit, until the owner moves it.
    pub fn beside(catalogue: &Path) -> PathBuf {
        let mut name = catalogue.to_owned().into_os_string();
        name.push(".proposed");
        PathBuf::from(name)
    }

    fn result(&self, change: &Change, commit: Option<&str>) -> Value {
        let file = self.written_to(change.effect);
        let next = match (change.effect, commit) {
            (ChangeEffect::Commit, Some(_)) => "committed; not in force before the next start",
            (ChangeEffect::Commit, None) => {
                "written, but not committed: commit it; not in force before the next start"
            }
            (ChangeEffect::Beside, _) => {
                "put beside the catalogue; not in force before you move it there and reload"
            }
            (ChangeEffect::Stored, _) => "in no file",
        };
        json!({
            "file": file.display().to_string(),
            "catalogue": self.path.display().to_string(),
            "sha256": change.result,
            "commit": commit,
            "note": next,
        })
    }

    /// The commit that the file is at, if it is as it was committed.
    async fn last_commit(&self) -> Option<String> {
        let git = Git::of(&self.path)?;
        git.clean_entry().await?;
        let said = git.with_file(&["log", "-1", "--format=%H"]).await.ok()?;
        Some(said.trim().to_owned()).filter(|commit| commit.len() >= 40)
    }

    fn put_beside(&self, permit: &ChangePermit, new: &str) -> Result<(), ChangeRefusal> {
        let file = self.written_to(ChangeEffect::Beside);
        // What the owner has not moved yet, or a way to somewhere else, is not written over.
        if fs::symlink_metadata(&file).is_ok() {
            let said = format!("{} is there already: move or remove it first", shown(&file));
            return Err((FailureCode::NotWritten, said));
        }
        not_stopped(permit)?;
        replace(&file, new).map_err(|error| {
            (
                FailureCode::NotWritten,
                format!("{}: {error}", shown(&file)),
            )
        })
    }

    /// The commit is made before anything changes, from the text itself: neither filters nor hooks nor anything else
    /// of the work tree has a say in what it holds. Then the file, then the branch; if that one has moved, the file
    /// goes back.
    async fn commit(
        &self,
        permit: &ChangePermit,
        before: &str,
        new: &str,
    ) -> Result<(), ChangeRefusal> {
        let not_written = |said: String| (FailureCode::NotWritten, said);
        let git =
            Git::of(&self.path).ok_or((FailureCode::Changed, "it is in no folder".to_owned()))?;
        let Some(entry) = git.clean_entry().await else {
            let said = "the file is not as it was committed, or something is staged for it";
            return Err((FailureCode::Changed, said.to_owned()));
        };
        git.at_rest()
            .await
            .map_err(|said| (FailureCode::Changed, said.to_owned()))?;
        let made = git
            .make_commit(&entry, permit, new)
            .await
            .map_err(not_written)?;
        not_stopped(permit)?;
        // A lock of somebody else's shows here, before anything has changed.
        git.stage(&made.entry).await.map_err(not_written)?;
        let done = match replace(&self.path, new) {
            Ok(()) => git.move_branch(&made).await,
            Err(error) => Err(format!("{}: {error}", shown(&self.path))),
        };
        let Err(said) = done else {
            return Ok(());
        };
        let back = replace(&self.path, before).map_err(|error| error.to_string());
        let back = back.and(git.stage(&made.entry_before).await);
        let back = back.map_or("; it could not be put back as it was", |()| "");
        Err(not_written(format!("{said}{back}")))
    }
}

/// Why nothing was written.
type ChangeRefusal = (FailureCode, String);

fn not_stopped(permit: &ChangePermit) -> Result<(), ChangeRefusal> {
    match permit.is_stopped() {
        true => Err((
            FailureCode::Frozen,
            "everything was frozen before it was written".to_owned(),
        )),
        false => Ok(()),
    }
}

fn message(change: &Change, author: &ChangeAuthor) -> String {
    let lines: Vec<String> = (change.summary.iter())
        .map(|line| format!("- {}", text::escaped(line)))
        .collect();
    format!(
        "catalogue: apply proposal {}\n\n{}\n\nAsked for by {}, approved by {}.\nProposal: {}\nDigest: {}",
        author.code,
        lines.join("\n"),
        text::escaped(&author.requested_by),
        text::escaped(&author.approved_by),
        author.proposal_id,
        author.digest,
    )
}

fn failed(code: FailureCode, message: impl Into<String>) -> Outcome {
    let message: String = message.into();
    Outcome::Failed(Failure::new(
        code,
        format!("{message}; nothing was changed"),
    ))
}

fn shown(path: &Path) -> String {
    text::escaped(&path.display().to_string())
}

/// `None`: there is no such file.
fn read(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whole or not at all, with the rights that the file has. A link stays one: what it points to is replaced.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let mut name = OsString::from(".");
    name.push(target.file_name().ok_or(io::ErrorKind::InvalidInput)?);
    name.push(".new");
    let beside = folder.join(name);
    // Of an attempt that was cut off.
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = File::options().write(true).create_new(true).open(&beside)?;
    let mode = fs::metadata(&target).map_or(0o644, |known| known.permissions().mode() & 0o777);
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.set_permissions(fs::Permissions::from_mode(mode)))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&beside, &target))
        .and_then(|()| File::open(folder)?.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// git in the folder of a file, by fixed arguments. Nothing of the work tree is run: no hooks, no filters, no monitor,
/// no signing, no fetching. What is compared and committed are the bytes themselves.
struct Git {
    folder: PathBuf,
    name: OsString,
}

/// How a file is committed.
struct Entry {
    mode: String,
    /// The branch's newest commit.
    head: String,
    blob: String,
    /// The name of the file from the top of the work tree.
    path: String,
}

/// A commit that no branch has yet.
struct Made {
    commit: String,
    head: String,
    /// Mode, content and path, as an index takes them; and as they were.
    entry: String,
    entry_before: String,
}

impl Git {
    fn of(path: &Path) -> Option<Self> {
        let path = fs::canonicalize(path).ok()?;
        Some(Self {
            folder: path.parent()?.to_owned(),
            name: path.file_name()?.to_owned(),
        })
    }

    /// Mode and content of the file in the index. `None`: it is not there, or in several versions.
    async fn index_entry(&self) -> Option<(String, String)> {
        let said = self
            .with_file(&["ls-files", "--stage", "--error-unmatch"])
            .await
            .ok()?;
        let (words, _) = said
            .lines()
            .next()
            .filter(|_| said.lines().count() == 1)?
            .split_once('\t')?;
        match words.split(' ').collect::<Vec<_>>().as_slice() {
            [mode @ ("100644" | "100755"), blob, "0"] => {
                Some(((*mode).to_owned(), (*blob).to_owned()))
            }
            _ => None,
        }
    }

    /// The file as it is committed, if disk, index and newest commit hold the same bytes.
    async fn clean_entry(&self) -> Option<Entry> {
        let (mode, staged) = self.index_entry().await?;
        let on_disk = self
            .with_file(&["hash-object", "--no-filters"])
            .await
            .ok()?;
        let head = self
            .plain(&["rev-parse", "--verify", "HEAD^{commit}"])
            .await
            .ok()?;
        let said = self
            .with_file(&["ls-tree", "--full-name", head.trim()])
            .await
            .ok()?;
        let (words, path) = said.trim_end_matches('\n').split_once('\t')?;
        let committed = words.split(' ').nth(2)?;
        let is_same = committed == staged && committed == on_disk.trim();
        // Names that git has to quote are left to the owner.
        (is_same && !path.starts_with('"')).then(|| Entry {
            mode,
            head: head.trim().to_owned(),
            blob: staged,
            path: path.to_owned(),
        })
    }

    /// A commit belongs on a branch on which nothing else is under way.
    async fn at_rest(&self) -> Result<(), &'static str> {
        if self
            .plain(&["symbolic-ref", "--quiet", "HEAD"])
            .await
            .is_err()
        {
            return Err("the work tree is on no branch");
        }
        for under_way in [
            "MERGE_HEAD",
            "CHERRY_PICK_HEAD",
            "REVERT_HEAD",
            "REBASE_HEAD",
        ] {
            let verify = ["rev-parse", "--quiet", "--verify", under_way];
            if self.plain(&verify).await.is_ok() {
                return Err("a merge or the like is under way in the work tree");
            }
        }
        Ok(())
    }

    /// Makes the commit in a folder and an index of its own.
    async fn make_commit(
        &self,
        entry: &Entry,
        permit: &ChangePermit,
        new: &str,
    ) -> Result<Made, String> {
        let git_folder = self.plain(&["rev-parse", "--absolute-git-dir"]).await?;
        let name = format!("void-{}", permit.author().proposal_id);
        let (text, index) = (
            Path::new(git_folder.trim()).join(format!("{name}.text")),
            Path::new(git_folder.trim()).join(format!("{name}.index")),
        );
        let made = self.commit_of(entry, permit, new, (&text, &index)).await;
        for file in [&text, &index] {
            let _ = fs::remove_file(file);
        }
        made
    }

    async fn commit_of(
        &self,
        entry: &Entry,
        permit: &ChangePermit,
        new: &str,
        (text, index): (&Path, &Path),
    ) -> Result<Made, String> {
        replace(text, new).map_err(|error| error.to_string())?;
        let mut store: Vec<OsString> = ["hash-object", "-w", "--no-filters", "--"]
            .map(Into::into)
            .to_vec();
        store.push(text.into());
        let blob = self.call(store, None).await?.trim().to_owned();
        let entry_text = format!("{},{blob},{}", entry.mode, entry.path);
        let read_tree = ["read-tree", &entry.head].map(OsString::from).to_vec();
        self.call(read_tree, Some(index)).await?;
        let put = ["update-index", "--cacheinfo", &entry_text]
            .map(OsString::from)
            .to_vec();
        self.call(put, Some(index)).await?;
        let tree = self.call(vec!["write-tree".into()], Some(index)).await?;
        let known = self.plain(&["config", "user.email"]).await.is_ok();
        let mut args: Vec<OsString> = Vec::new();
        if !known {
            for setting in [format!("user.name={NAME}"), format!("user.email={EMAIL}")] {
                args.extend(["-c".into(), setting.into()]);
            }
        }
        let message = message(permit.change(), permit.author());
        args.extend(
            [
                "commit-tree",
                "--no-gpg-sign",
                tree.trim(),
                "-p",
                &entry.head,
                "-m",
                &message,
            ]
            .map(OsString::from),
        );
        let commit = self.call(args, None).await?.trim().to_owned();
        Ok(Made {
            commit,
            head: entry.head.clone(),
            entry: entry_text,
            entry_before: format!("{},{},{}", entry.mode, entry.blob, entry.path),
        })
    }

    /// What `git status` compares the file with.
    async fn stage(&self, entry: &str) -> Result<(), String> {
        let args = ["update-index", "--cacheinfo", entry];
        self.plain(&args).await.map(|_| ())
    }

    /// Only if the branch is still where it was.
    async fn move_branch(&self, made: &Made) -> Result<(), String> {
        let args = [
            "update-ref",
            "-m",
            "void: apply an approved change",
            "HEAD",
            &made.commit,
            &made.head,
        ];
        self.plain(&args).await.map(|_| ())
    }

    async fn with_file(&self, args: &[&str]) -> Result<String, String> {
        let mut all: Vec<OsString> = args.iter().map(OsString::from).collect();
        all.extend(["--".into(), self.name.clone()]);
        self.call(all, None).await
    }

    async fn plain(&self, args: &[&str]) -> Result<String, String> {
        self.call(args.iter().map(OsString::from).collect(), None)
            .await
    }

    async fn call(&self, args: Vec<OsString>, index: Option<&Path>) -> Result<String, String> {
        let index = index.map(|index| ("GIT_INDEX_FILE", index.into()));
        git::run(&self.folder, args, index.into_iter().collect()).await
    }
}
