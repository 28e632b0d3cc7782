//! `routes.json` beside the tree: a person writes it, and the server makes a commit of it. The file itself is never written,
//! so all that a crash leaves behind is a text beside it that nobody reads.

use std::path::PathBuf;

use super::{MetaAuthor, MetaError, MetaFile, MetaFolder, read, remove};

const FILE: &str = "routes.json";
/// The text that a commit is made of: what was read, whatever the file says meanwhile.
const STAGED: &str = ".routes.json.new";

/// What is there of the allow-list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetaRoutes {
    pub file: MetaFile,
    /// Whether the file is as the newest commit has it.
    pub is_committed: bool,
    /// Whether the newest commit has one at all.
    pub is_known: bool,
}

impl MetaFolder {
    pub fn routes_file(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    pub async fn look_at_routes(&self) -> MetaRoutes {
        let file = read(&self.routes_file());
        let on_disk = match &file {
            MetaFile::Text(_) => self.blob_of(FILE).await,
            MetaFile::Missing | MetaFile::Unreadable(_) => None,
        };
        let committed = self.committed_blob(FILE).await;
        MetaRoutes {
            is_committed: on_disk.is_some() && on_disk == committed,
            is_known: committed.is_some(),
            file,
        }
    }

    /// The text that the newest commit has, as far as it fits into what a program may answer.
    pub async fn committed_routes(&self) -> Option<String> {
        let spec = format!("HEAD:{FILE}");
        self.call(&["cat-file", "blob", &spec]).await.ok()
    }

    /// Makes a commit that has this text, if the newest one is still the one that the caller knows. Its id.
    pub async fn commit_routes(
        &self,
        text: &str,
        before: &str,
        author: &MetaAuthor,
        message: &str,
    ) -> Result<String, MetaError> {
        self.stage(STAGED, text)?;
        let made = self.make_commit((STAGED, FILE), Some(before), author, message);
        let made = made.await;
        let _ = remove(&self.folder.join(STAGED));
        let commit = made?;
        self.move_branch(&commit, Some(before)).await?;
        // What `git status` compares the files with follows; nothing depends on that.
        let _ = self.call(&["read-tree", "HEAD"]).await;
        Ok(commit)
    }
}
