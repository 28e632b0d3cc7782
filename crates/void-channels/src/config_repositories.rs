//! Repositories of agents' configs: `agents/NAME/config` in the data folder. Whoever stands above an agent may come to
//! write there, so what is in one is foreign: nothing of it is run, none of its configuration is read, and objects of
//! another repository are not reached through it.
//!
//! To read, git works in the server's own repository and takes the objects alone from the one that is read; branches are
//! read from their files.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use void_domain::agent_configs::{
    CONFIG_FILE, CommitId, ConfigFiles, FILE_BYTES_MAX, FILES_MAX, InvalidConfigFile,
};
use void_domain::agents::AgentName;
use void_domain::fail_point;
use void_domain::text;
use void_domain::time::Timestamp;

use crate::git;
use crate::meta_folder::{MetaAuthor, MetaFolder, signature};

const BRANCH: &str = "refs/heads/main";
/// Where a commit is put that an agent wrote, so that nobody's work on another branch is in its way.
const BRANCHES_OF_AGENTS: &str = "refs/heads/by";
/// A repository has a handful.
const BRANCHES_MAX: usize = 256;
const BRANCH_DEPTH_MAX: usize = 4;
const REF_BYTES_MAX: u64 = 256 * 1024;
/// Folders of objects and packs, links among which would lead to objects of somebody else.
const ENTRIES_MAX: usize = 20_000;
const SUBJECT_BYTES_MAX: usize = 200;

/// Why a commit is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigReadError {
    #[error("it has no config repository")]
    NoRepository,
    #[error("its config repository is not one of ours: {0}")]
    Unsafe(String),
    #[error("there is no such commit in its config repository")]
    NoCommit,
    #[error("no branch of its config repository has that commit")]
    Unreachable,
    #[error("the commit: {0}")]
    Files(#[from] InvalidConfigFile),
    #[error("git: {0}")]
    Git(String),
    #[error("{0}")]
    File(String),
}

/// One commit, for whoever looks at the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigCommitInfo {
    pub id: CommitId,
    /// Who made it and what they say about it: their own words, escaped.
    pub author: String,
    pub subject: String,
    pub at: Timestamp,
}

#[derive(Debug, Clone)]
pub struct ConfigRepository {
    folder: PathBuf,
    /// The server's own, whose configuration holds.
    own_git: PathBuf,
}

impl ConfigRepository {
    pub fn new(folder: PathBuf, meta: &MetaFolder) -> Self {
        Self {
            folder,
            own_git: meta.git_folder(),
        }
    }

    fn git_folder(&self) -> PathBuf {
        self.folder.join(".git")
    }

    fn objects(&self) -> PathBuf {
        self.git_folder().join("objects")
    }

    /// A repository with one commit, which has this config alone. One that was begun before is begun anew.
    pub async fn create(
        &self,
        text: &str,
        author: &MetaAuthor,
        message: &str,
    ) -> Result<CommitId, ConfigReadError> {
        remove_all(&self.folder).map_err(|error| file_error(&self.folder, &error))?;
        let made = DirBuilder::new().mode(0o700).create(&self.folder);
        made.map_err(|error| file_error(&self.folder, &error))?;
        let args = [
            "init",
            "--quiet",
            "--template=",
            "--object-format=sha1",
            "--initial-branch=main",
        ];
        self.write_call(&args, Vec::new()).await?;
        let file = self.folder.join(CONFIG_FILE);
        write_new(&file, text, 0o600).map_err(|error| file_error(&file, &error))?;
        let files = ConfigFiles::of_config(text)?;
        let commit = self.make_commit(&files, None, author, message).await?;
        fail_point!("config.repository.before");
        self.move_ref(BRANCH, &commit, None).await?;
        // What `git status` compares the file with; nothing depends on it.
        let _ = self.write_call(&["read-tree", "HEAD"], Vec::new()).await;
        sync(&self.folder).map_err(|error| file_error(&self.folder, &error))?;
        Ok(commit)
    }

    /// A commit of these files on the branch of whoever wrote them. Nothing that is applied changes.
    pub async fn write(
        &self,
        files: &ConfigFiles,
        before: Option<&CommitId>,
        by: &AgentName,
        author: &MetaAuthor,
        message: &str,
    ) -> Result<CommitId, ConfigReadError> {
        self.check()?;
        let commit = self.make_commit(files, before, author, message).await?;
        self.move_ref(&format!("{BRANCHES_OF_AGENTS}/{by}"), &commit, None)
            .await?;
        Ok(commit)
    }

    async fn make_commit(
        &self,
        files: &ConfigFiles,
        before: Option<&CommitId>,
        author: &MetaAuthor,
        message: &str,
    ) -> Result<CommitId, ConfigReadError> {
        let staging = self.git_folder().join("void.staging");
        let index = self.git_folder().join("void.index");
        let failed = |error: &io::Error| file_error(&staging, error);
        remove(&index).map_err(|error| failed(&error))?;
        let env = || vec![("GIT_INDEX_FILE", index.clone().into_os_string())];
        for (path, text) in files.iter() {
            remove(&staging).map_err(|error| failed(&error))?;
            write_new(&staging, text, 0o600).map_err(|error| failed(&error))?;
            let mut write: Vec<OsString> = ["hash-object", "-w", "--no-filters", "--"]
                .map(OsString::from)
                .to_vec();
            write.push(staging.clone().into());
            let blob = self.own_call(write, Vec::new()).await?;
            let entry = format!("100644,{},{path}", String::from_utf8_lossy(&blob).trim());
            self.own_words(&["update-index", "--add", "--cacheinfo", &entry], env())
                .await?;
        }
        let _ = remove(&staging);
        let tree = self.own_words(&["write-tree"], env()).await?;
        let _ = remove(&index);
        let mut args = vec!["commit-tree", "--no-gpg-sign", tree.trim(), "-m", message];
        args.extend(before.iter().flat_map(|before| ["-p", before.as_str()]));
        let commit = self.own_words(&args, signature(author)).await?;
        CommitId::parse(commit.trim())
            .map_err(|_| ConfigReadError::Git("it made no commit".to_owned()))
    }

    async fn move_ref(
        &self,
        name: &str,
        to: &CommitId,
        from: Option<&CommitId>,
    ) -> Result<(), ConfigReadError> {
        let mut args = vec!["update-ref", name, to.as_str()];
        args.extend(from.map(CommitId::as_str));
        self.write_call(&args, Vec::new()).await?;
        Ok(())
    }

    /// The files of a commit that some branch has.
    pub async fn read(&self, commit: &CommitId) -> Result<ConfigFiles, ConfigReadError> {
        self.check()?;
        let asked = ["cat-file", "-t", commit.as_str()];
        match self.own_words(&asked, Vec::new()).await {
            Ok(kind) if kind.trim() == "commit" => {}
            Ok(_) => return Err(ConfigReadError::NoCommit),
            // With the object away it says so; anything else is trouble of ours.
            Err(ConfigReadError::Git(said)) if !said.contains("took too long") => {
                return Err(ConfigReadError::NoCommit);
            }
            Err(error) => return Err(error),
        }
        self.check_reachable(commit).await?;
        let mut files = Vec::new();
        for (path, blob) in self.listed(commit).await? {
            let args = ["cat-file", "blob", &blob].map(OsString::from).to_vec();
            let content = self.own_call(args, Vec::new()).await?;
            if content.len() > FILE_BYTES_MAX {
                return Err(InvalidConfigFile::TooLarge.into());
            }
            files.push((path, content));
        }
        Ok(ConfigFiles::of(files)?)
    }

    async fn check_reachable(&self, commit: &CommitId) -> Result<(), ConfigReadError> {
        let tips = self.tips()?;
        if tips.is_empty() {
            return Err(ConfigReadError::Unreachable);
        }
        let mut args = vec!["rev-list", "--max-count=1", commit.as_str(), "--not"];
        args.extend(tips.iter().map(CommitId::as_str));
        let left = self.own_words(&args, Vec::new()).await?;
        match left.trim().is_empty() {
            true => Ok(()),
            false => Err(ConfigReadError::Unreachable),
        }
    }

    /// Names and contents of the files of a commit, before any of them is read.
    async fn listed(&self, commit: &CommitId) -> Result<Vec<(String, String)>, ConfigReadError> {
        let args = ["ls-tree", "-r", "-l", "-z", "--full-tree", commit.as_str()];
        let said = self
            .own_call(args.map(OsString::from).to_vec(), Vec::new())
            .await?;
        let mut files = Vec::new();
        for entry in said.split(|byte| *byte == 0).filter(|one| !one.is_empty()) {
            if files.len() >= FILES_MAX {
                return Err(InvalidConfigFile::TooMany.into());
            }
            files.push(listed_file(entry)?);
        }
        Ok(files)
    }

    /// The newest commits of all branches, newest first.
    pub async fn history(&self, most: usize) -> Result<Vec<ConfigCommitInfo>, ConfigReadError> {
        self.check()?;
        let tips = self.tips()?;
        if tips.is_empty() {
            return Ok(Vec::new());
        }
        let most = format!("--max-count={most}");
        let mut args = vec![
            "log",
            "--no-show-signature",
            "--date-order",
            "-z",
            "--format=%H%x1f%ct%x1f%an%x1f%s",
            &most,
        ];
        args.extend(tips.iter().map(CommitId::as_str));
        let said = self.own_words(&args, Vec::new()).await?;
        let commits = said.split('\0').filter_map(|line| {
            let mut parts = line.trim_start().splitn(4, '\u{1f}');
            let id = CommitId::parse(parts.next()?).ok()?;
            let seconds: i64 = parts.next()?.parse().ok()?;
            let told = |text: Option<&str>| {
                text::escaped(text::cut(text.unwrap_or_default(), SUBJECT_BYTES_MAX))
            };
            Some(ConfigCommitInfo {
                id,
                author: told(parts.next()),
                subject: told(parts.next()),
                at: Timestamp::from_ms(seconds.saturating_mul(1_000)),
            })
        });
        Ok(commits.collect())
    }

    /// What the branches are at, by their files.
    fn tips(&self) -> Result<BTreeSet<CommitId>, ConfigReadError> {
        let git = self.git_folder();
        let mut tips = BTreeSet::new();
        let mut waiting = vec![(git.join("refs/heads"), 0)];
        while let Some((folder, depth)) = waiting.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(file_error(&folder, &error)),
            };
            for entry in entries.take(BRANCHES_MAX) {
                let entry = entry.map_err(|error| file_error(&folder, &error))?;
                let kind = entry.file_type();
                let kind = kind.map_err(|error| file_error(&folder, &error))?;
                if kind.is_dir() && depth < BRANCH_DEPTH_MAX {
                    waiting.push((entry.path(), depth + 1));
                } else if kind.is_file() {
                    let text = read_text(&entry.path())?;
                    tips.extend(CommitId::parse(text.trim()).ok());
                }
            }
            if tips.len() + waiting.len() > BRANCHES_MAX {
                return Err(ConfigReadError::Unsafe("too many branches".to_owned()));
            }
        }
        let packed = git.join("packed-refs");
        if fs::symlink_metadata(&packed).is_ok_and(|there| there.is_file()) {
            for line in read_text(&packed)?.lines() {
                if let Some((id, name)) = line.split_once(' ')
                    && name.starts_with("refs/heads/")
                    && tips.len() < BRANCHES_MAX
                {
                    tips.extend(CommitId::parse(id).ok());
                }
            }
        }
        Ok(tips)
    }

    /// Folders where folders are expected, and nothing that leads out of them.
    fn check(&self) -> Result<(), ConfigReadError> {
        if fs::symlink_metadata(&self.folder).is_err() {
            return Err(ConfigReadError::NoRepository);
        }
        let git = self.git_folder();
        for folder in [&self.folder, &git, &self.objects()] {
            if !fs::symlink_metadata(folder).is_ok_and(|there| there.is_dir()) {
                let said = format!("{} is no folder", shown(folder));
                return Err(ConfigReadError::Unsafe(said));
            }
        }
        for elsewhere in [
            "objects/info/alternates",
            "objects/info/http-alternates",
            "commondir",
            "shallow",
        ] {
            if fs::symlink_metadata(git.join(elsewhere)).is_ok() {
                let said = format!("{elsewhere} leads to another repository");
                return Err(ConfigReadError::Unsafe(said));
            }
        }
        self.check_links()
    }

    fn check_links(&self) -> Result<(), ConfigReadError> {
        let objects = self.objects();
        let mut waiting = vec![objects.clone()];
        let mut seen = 0_usize;
        while let Some(folder) = waiting.pop() {
            let entries = fs::read_dir(&folder).map_err(|error| file_error(&folder, &error))?;
            for entry in entries {
                let entry = entry.map_err(|error| file_error(&folder, &error))?;
                let kind = entry.file_type();
                let kind = kind.map_err(|error| file_error(&folder, &error))?;
                seen += 1;
                if kind.is_symlink() || seen > ENTRIES_MAX {
                    let said = "its objects are links, or too many".to_owned();
                    return Err(ConfigReadError::Unsafe(said));
                }
                if kind.is_dir() && folder == objects {
                    waiting.push(entry.path());
                }
            }
        }
        Ok(())
    }

    async fn own_words(
        &self,
        args: &[&str],
        env: Vec<(&'static str, OsString)>,
    ) -> Result<String, ConfigReadError> {
        let args = args.iter().map(OsString::from).collect();
        let said = self.own_call(args, env).await?;
        Ok(String::from_utf8_lossy(&said).into_owned())
    }

    /// In the server's own repository, with the objects of this one.
    async fn own_call(
        &self,
        args: Vec<OsString>,
        mut env: Vec<(&'static str, OsString)>,
    ) -> Result<Vec<u8>, ConfigReadError> {
        env.push(("GIT_DIR", self.own_git.clone().into()));
        env.push(("GIT_OBJECT_DIRECTORY", self.objects().into()));
        env.push(("GIT_NO_REPLACE_OBJECTS", "1".into()));
        let mut all: Vec<OsString> = ["-c", "core.fsync=all"].map(OsString::from).to_vec();
        all.extend(args);
        git::run_exact(&self.folder, all, env)
            .await
            .map_err(ConfigReadError::Git)
    }

    /// In this repository: its branches are moved, and nothing of it is run.
    async fn write_call(
        &self,
        args: &[&str],
        mut env: Vec<(&'static str, OsString)>,
    ) -> Result<String, ConfigReadError> {
        env.push(("GIT_DIR", self.git_folder().into()));
        env.push(("GIT_WORK_TREE", self.folder.clone().into()));
        env.push(("GIT_NO_REPLACE_OBJECTS", "1".into()));
        let args = args.iter().map(OsString::from).collect();
        git::run(&self.folder, args, env)
            .await
            .map_err(ConfigReadError::Git)
    }
}

/// `MODE TYPE ID SIZE\tPATH`, as `ls-tree` writes it.
fn listed_file(entry: &[u8]) -> Result<(String, String), ConfigReadError> {
    let garbled = || ConfigReadError::Git("it listed something that is no file".to_owned());
    let entry = String::from_utf8(entry.to_vec())
        .map_err(|_| InvalidConfigFile::Path("(not of UTF-8)".to_owned()))?;
    let (head, path) = entry.split_once('\t').ok_or_else(garbled)?;
    ConfigFiles::check_path(path)?;
    let words: Vec<&str> = head.split_whitespace().collect();
    let [mode, kind, blob, size] = words.as_slice() else {
        return Err(garbled());
    };
    if (*mode, *kind) != ("100644", "blob") {
        return Err(InvalidConfigFile::NotRegular(path.to_owned()).into());
    }
    let is_small = size
        .parse::<usize>()
        .is_ok_and(|size| size <= FILE_BYTES_MAX);
    if !is_small {
        return Err(InvalidConfigFile::TooLarge.into());
    }
    let blob = CommitId::parse(blob).map_err(|_| garbled())?;
    Ok((path.to_owned(), blob.to_string()))
}

fn read_text(path: &Path) -> Result<String, ConfigReadError> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(REF_BYTES_MAX).read_to_string(&mut text));
    read.map_err(|error| file_error(path, &error))?;
    Ok(text)
}

pub(crate) fn write_new(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

pub(crate) fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// What is not there is removed. A link goes, and not what it leads to.
pub(crate) fn remove_all(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(there) if there.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    remove_all(path)
}

fn file_error(path: &Path, error: &io::Error) -> ConfigReadError {
    ConfigReadError::File(format!("{}: {error}", shown(path)))
}

fn shown(path: &Path) -> String {
    text::escaped(&path.display().to_string())
}
