//! The repository of the tree of agents: the folder `meta`, which the server owns and only it writes to.
//!
//! What is committed on its branch is the tree, and `topology.json` beside it is the same text for whoever reads it. A
//! change is made in steps of which the third decides: the new text is put beside the file, a commit is made of it that
//! no branch has yet, the branch moves to it if it is still where it was, the file is replaced. Whoever comes after a
//! crash finds either no new text, or one that the branch has, and then it becomes the file, or one that the branch has
//! not, and then it goes: [`MetaFolder::open`].

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use void_domain::fail_point;
use void_domain::text;
use void_domain::time::Timestamp;

use crate::git;

const BRANCH: &str = "main";
/// What a commit has no parent in.
const NO_COMMIT: &str = "0000000000000000000000000000000000000000";
/// What a git that was killed may leave behind, and that would keep every later one from the branch.
const LOCKS: [&str; 3] = ["HEAD.lock", "refs/heads/main.lock", "packed-refs.lock"];
/// One more byte than a text may have shows that it is too long.
const READ_BYTES_MAX: u64 = 4 * 1024 * 1024 + 1;

/// What the repository holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetaDocument {
    /// `topology.json`: who stands under whom.
    Topology,
    /// `lock.json`: what is applied and what is pinned.
    Lock,
}

impl MetaDocument {
    const ALL: [Self; 2] = [Self::Topology, Self::Lock];

    const fn file(self) -> &'static str {
        match self {
            Self::Topology => "topology.json",
            Self::Lock => "lock.json",
        }
    }

    /// The text that is to become the file.
    const fn staged(self) -> &'static str {
        match self {
            Self::Topology => ".topology.json.new",
            Self::Lock => ".lock.json.new",
        }
    }
}

/// One document with its new text.
pub type MetaEdit<'a> = (MetaDocument, &'a str);

#[derive(Debug, Clone)]
pub struct MetaFolder {
    folder: PathBuf,
}

/// Why the repository cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetaError {
    #[error("git: {0}")]
    Git(String),
    #[error("{0}")]
    File(String),
    /// Somebody else moved the branch.
    #[error("the repository was changed by somebody else meanwhile")]
    Changed,
}

/// Who makes a change, as the record calls them.
#[derive(Debug, Clone)]
pub struct MetaAuthor {
    pub name: String,
    pub at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MetaFile {
    Missing,
    Text(String),
    Unreadable(String),
}

/// What is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetaState {
    /// The newest commit; `None` before the first.
    pub commit: Option<String>,
    pub file: MetaFile,
    /// Whether the file is as that commit has it.
    pub is_committed: bool,
    pub lock: MetaFile,
    /// Whether the lock is as that commit has it, or neither is there.
    pub is_lock_committed: bool,
}

impl MetaFolder {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub fn file(&self) -> PathBuf {
        self.path(MetaDocument::Topology)
    }

    pub fn path(&self, document: MetaDocument) -> PathBuf {
        self.folder.join(document.file())
    }

    pub(crate) fn git_folder(&self) -> PathBuf {
        self.folder.join(".git")
    }

    fn staged(&self, document: MetaDocument) -> PathBuf {
        self.folder.join(document.staged())
    }

    /// Makes the repository if there is none, and ends what a crash cut off.
    pub async fn open(&self) -> Result<(), MetaError> {
        let made = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder);
        made.map_err(|error| self.file_error(&self.folder, &error))?;
        match fs::symlink_metadata(self.git_folder()) {
            Ok(there) if there.is_dir() => {}
            // A link would be somebody else's repository.
            Ok(_) => {
                let shown = shown(&self.git_folder());
                return Err(MetaError::File(format!("{shown} is no folder")));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(self.file_error(&self.git_folder(), &error)),
        }
        for lock in LOCKS {
            let lock = self.git_folder().join(lock);
            remove(&lock).map_err(|error| self.file_error(&lock, &error))?;
        }
        if !matches!(self.head().await, Ok(Some(_))) {
            // One that was cut off is taken up again by the same command, which changes nothing that is there.
            let branch = format!("--initial-branch={BRANCH}");
            self.call(&["init", "--quiet", "--template=", &branch])
                .await?;
        }
        self.settle().await
    }

    /// A new text becomes the file if the branch has it, and goes otherwise.
    async fn settle(&self) -> Result<(), MetaError> {
        for document in MetaDocument::ALL {
            let staged = self.staged(document);
            if !is_there(&staged) {
                continue;
            }
            let committed = self.committed_blob(document).await;
            if committed.is_some() && committed == self.blob_of(document.staged()).await {
                self.replace_file(document).await?;
            } else {
                remove(&staged).map_err(|error| self.file_error(&staged, &error))?;
            }
        }
        Ok(())
    }

    pub async fn look(&self) -> Result<MetaState, MetaError> {
        let commit = self.head().await?;
        let file = self.read(MetaDocument::Topology);
        let lock = self.read(MetaDocument::Lock);
        let on_disk = self.blob_on_disk(MetaDocument::Topology, &file).await;
        let lock_on_disk = self.blob_on_disk(MetaDocument::Lock, &lock).await;
        let is_same = lock_on_disk == self.committed_blob(MetaDocument::Lock).await;
        Ok(MetaState {
            is_committed: on_disk.is_some()
                && on_disk == self.committed_blob(MetaDocument::Topology).await,
            commit,
            file,
            is_lock_committed: is_same && !matches!(lock, MetaFile::Unreadable(_)),
            lock,
        })
    }

    async fn blob_on_disk(&self, document: MetaDocument, file: &MetaFile) -> Option<String> {
        match file {
            MetaFile::Text(_) => self.blob_of(document.file()).await,
            MetaFile::Missing | MetaFile::Unreadable(_) => None,
        }
    }

    /// The text that the newest commit has, as far as it fits into what a program may answer, and who made it.
    pub async fn committed(&self) -> Option<(String, String)> {
        let spec = spec(MetaDocument::Topology);
        let text = self.call(&["cat-file", "blob", &spec]).await.ok()?;
        let author = self.call(&["log", "-1", "--format=%an"]).await.ok()?;
        Some((text, text::escaped(author.trim())))
    }

    fn read(&self, document: MetaDocument) -> MetaFile {
        let path = self.path(document);
        let read = || {
            if !fs::symlink_metadata(&path)?.is_file() {
                return Err(io::Error::other("it is no regular file"));
            }
            let mut text = String::new();
            File::open(&path)?
                .take(READ_BYTES_MAX)
                .read_to_string(&mut text)?;
            Ok(text)
        };
        match read() {
            Ok(text) => MetaFile::Text(text),
            Err(error) if error.kind() == ErrorKind::NotFound => MetaFile::Missing,
            Err(error) => MetaFile::Unreadable(error.to_string()),
        }
    }

    /// Makes this text the tree, if the newest commit is still the one that the caller knows. The id of the commit.
    pub async fn commit(
        &self,
        text: &str,
        before: Option<&str>,
        author: &MetaAuthor,
        message: &str,
    ) -> Result<String, MetaError> {
        let edits = [(MetaDocument::Topology, text)];
        self.commit_all(&edits, before, author, message).await
    }

    /// The same for several documents by one commit: all of them, or none.
    pub async fn commit_all(
        &self,
        edits: &[MetaEdit<'_>],
        before: Option<&str>,
        author: &MetaAuthor,
        message: &str,
    ) -> Result<String, MetaError> {
        fail_point!("tree.stage.before");
        self.stage_all(edits)?;
        fail_point!("tree.stage.after");
        let made = self.make_commit(edits, before, author, message).await;
        fail_point!("tree.branch.before");
        let moved = match made {
            Ok(commit) => self.move_branch(&commit, before).await.map(|()| commit),
            Err(error) => Err(error),
        };
        fail_point!("tree.branch.after");
        let commit = match moved {
            Ok(commit) => commit,
            Err(error) => {
                self.unstage(edits);
                return Err(error);
            }
        };
        for (document, _) in edits {
            self.replace_file(*document).await?;
        }
        fail_point!("tree.file.after");
        Ok(commit)
    }

    fn stage_all(&self, edits: &[MetaEdit<'_>]) -> Result<(), MetaError> {
        for (document, text) in edits {
            let staged = self.stage(*document, text);
            staged.map_err(|error| self.file_error(&self.staged(*document), &error))?;
        }
        Ok(())
    }

    fn unstage(&self, edits: &[MetaEdit<'_>]) {
        for (document, _) in edits {
            let _ = remove(&self.staged(*document));
        }
    }

    /// Takes back the newest commit, if it still is that one; the file says what it said before.
    pub async fn take_back(
        &self,
        commit: &str,
        before: Option<&str>,
        text: &str,
    ) -> Result<(), MetaError> {
        let edits = [(MetaDocument::Topology, text)];
        self.take_back_all(commit, before, &edits).await
    }

    /// The same for several documents.
    pub async fn take_back_all(
        &self,
        commit: &str,
        before: Option<&str>,
        edits: &[MetaEdit<'_>],
    ) -> Result<(), MetaError> {
        let Some(before) = before else {
            return Err(MetaError::Changed);
        };
        self.stage_all(edits)?;
        if let Err(error) = self.move_branch(before, Some(commit)).await {
            self.unstage(edits);
            return Err(error);
        }
        for (document, _) in edits {
            // What was not there before goes again.
            if self.committed_blob(*document).await.is_none() {
                for path in [self.staged(*document), self.path(*document)] {
                    remove(&path).map_err(|error| self.file_error(&path, &error))?;
                }
                continue;
            }
            self.replace_file(*document).await?;
        }
        Ok(())
    }

    /// On the disk, beside the file.
    fn stage(&self, document: MetaDocument, text: &str) -> io::Result<()> {
        let staged = self.staged(document);
        remove(&staged)?;
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&staged)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        File::open(&self.folder)?.sync_all()
    }

    /// A commit of the new text beside everything else that the newest commit has; no branch has it yet.
    async fn make_commit(
        &self,
        edits: &[MetaEdit<'_>],
        before: Option<&str>,
        author: &MetaAuthor,
        message: &str,
    ) -> Result<String, MetaError> {
        let index = self.git_folder().join("void.index");
        remove(&index).map_err(|error| self.file_error(&index, &error))?;
        let env = || vec![("GIT_INDEX_FILE", index.clone().into_os_string())];
        if let Some(before) = before {
            self.call_with(&["read-tree", before], env()).await?;
        }
        for (document, _) in edits {
            let write = ["hash-object", "-w", "--no-filters", "--", document.staged()];
            let blob = self.call(&write).await?;
            let entry = format!("100644,{},{}", blob.trim(), document.file());
            let put = ["update-index", "--add", "--cacheinfo", &entry];
            self.call_with(&put, env()).await?;
        }
        let tree = self.call_with(&["write-tree"], env()).await?;
        let _ = remove(&index);
        let mut args = vec!["commit-tree", "--no-gpg-sign", tree.trim(), "-m", message];
        args.extend(before.iter().flat_map(|before| ["-p", before]));
        let commit = self.call_with(&args, signature(author)).await?;
        Ok(commit.trim().to_owned())
    }

    /// Only if the branch is still where it was.
    async fn move_branch(&self, to: &str, from: Option<&str>) -> Result<(), MetaError> {
        let from = from.unwrap_or(NO_COMMIT);
        let moved = self.call(&["update-ref", "HEAD", to, from]).await;
        match moved {
            Ok(_) => Ok(()),
            Err(error) => match self.head().await?.as_deref() == Some(to) {
                true => Ok(()),
                false if self.head().await?.as_deref().unwrap_or(NO_COMMIT) != from => {
                    Err(MetaError::Changed)
                }
                false => Err(error),
            },
        }
    }

    /// The new text is the file from now on. What `git status` compares it with follows; nothing depends on that.
    async fn replace_file(&self, document: MetaDocument) -> Result<(), MetaError> {
        fail_point!("tree.file.before");
        let (staged, file) = (self.staged(document), self.path(document));
        let replaced =
            fs::rename(&staged, &file).and_then(|()| File::open(&self.folder)?.sync_all());
        replaced.map_err(|error| self.file_error(&file, &error))?;
        let _ = self.call(&["read-tree", "HEAD"]).await;
        Ok(())
    }

    /// The newest commit; `None` before the first, also where there is no repository.
    async fn head(&self) -> Result<Option<String>, MetaError> {
        if !is_there(&self.git_folder().join("HEAD")) {
            return Ok(None);
        }
        let args = ["rev-parse", "--quiet", "--verify", "HEAD^{commit}"];
        match self.call(&args).await {
            Ok(said) => Ok(Some(said.trim().to_owned())),
            // With --quiet it says nothing if there is no commit; anything that is said is trouble.
            Err(MetaError::Git(said)) if said.is_empty() => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn committed_blob(&self, document: MetaDocument) -> Option<String> {
        let spec = spec(document);
        let said = self
            .call(&["rev-parse", "--quiet", "--verify", &spec])
            .await;
        said.ok().map(|said| said.trim().to_owned())
    }

    async fn blob_of(&self, name: &str) -> Option<String> {
        let said = self
            .call(&["hash-object", "--no-filters", "--", name])
            .await;
        said.ok().map(|said| said.trim().to_owned())
    }

    async fn call(&self, args: &[&str]) -> Result<String, MetaError> {
        self.call_with(args, Vec::new()).await
    }

    async fn call_with(
        &self,
        args: &[&str],
        mut env: Vec<(&'static str, OsString)>,
    ) -> Result<String, MetaError> {
        // Whatever the folder or its configuration says, it is this repository, and no object stands for another one.
        env.push(("GIT_DIR", self.git_folder().into()));
        env.push(("GIT_WORK_TREE", self.folder.clone().into()));
        env.push(("GIT_NO_REPLACE_OBJECTS", "1".into()));
        let mut all: Vec<OsString> = ["-c", "core.fsync=all"].map(OsString::from).to_vec();
        all.extend(args.iter().map(OsString::from));
        git::run(&self.folder, all, env)
            .await
            .map_err(MetaError::Git)
    }

    fn file_error(&self, path: &Path, error: &io::Error) -> MetaError {
        MetaError::File(format!("{}: {error}", shown(path)))
    }
}

fn spec(document: MetaDocument) -> String {
    format!("HEAD:{}", document.file())
}

pub(crate) fn signature(author: &MetaAuthor) -> Vec<(&'static str, OsString)> {
    let date = format!("@{} +0000", author.at.as_ms().div_euclid(1_000));
    let (name, email) = (text::escaped(&author.name), "void@void.invalid");
    vec![
        ("GIT_AUTHOR_NAME", name.into()),
        ("GIT_AUTHOR_EMAIL", email.into()),
        ("GIT_AUTHOR_DATE", date.clone().into()),
        ("GIT_COMMITTER_NAME", "void".into()),
        ("GIT_COMMITTER_EMAIL", email.into()),
        ("GIT_COMMITTER_DATE", date.into()),
    ]
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// What is not there is removed.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn shown(path: &Path) -> String {
    text::escaped(&path.display().to_string())
}
