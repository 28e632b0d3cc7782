//! What a space and a folder of Markdown have in common: which file something is, and which bytes it would be written as.
//!
//! A file that nobody edited is written as the bytes that it came from; [`notes::read_file`] refuses what would not be.
//! Import and export judge by the same three values: what the file held when both last agreed (its base), what Void would write
//! now, and what the folder has.

pub(super) mod listing;
pub(super) mod notes;

use void_domain::digests::Digest;
use void_domain::ids::SpaceId;
use void_domain::knowledge::{InvalidField, VaultItem};
use void_domain::limits;
use void_store::{StoreError, Tx, spaces};
use void_vault::limits as bounds;
use void_vault::{
    ContentHash, EntryKind, FolderFile, FolderState, PathError, PlanError, VaultPath,
};

use super::KnowledgeError;
use super::writing::WRITE_AT_ONCE_MAX;

/// Steps of an import that happen together or not at all.
pub const VAULT_STEPS_MAX: usize = WRITE_AT_ONCE_MAX;
/// Files of one folder.
pub const VAULT_FILES_MAX: usize = bounds::ENTRIES_MAX;

// A file that the folder's reader takes for a page, a task or a ref is one here too.
const _: () = assert!(bounds::NOTE_BYTES_MAX == limits::PAGE_BYTES_MAX);
const _: () = assert!(bounds::ATTACHMENT_BYTES_MAX == limits::ATTACHMENT_BYTES_MAX);
const _: () = assert!(bounds::TITLE_CHARS_MAX == limits::TITLE_CHARS_MAX);
const _: () = assert!(bounds::URL_BYTES_MAX == limits::REF_URL_BYTES_MAX);
const _: () = assert!(bounds::NAME_BYTES_MAX == limits::ATTACHMENT_NAME_BYTES_MAX);
const _: () = assert!(bounds::FRONT_MATTER_BYTES_MAX == limits::FRONT_MATTER_BYTES_MAX);
const _: () = assert!(bounds::LINKS_MAX == limits::LINKS_MAX);
const _: () = assert!(bounds::LINK_BYTES_MAX == limits::LINK_BYTES_MAX);

#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// The path is shown as it was sent.
    #[error("{why}: {path}")]
    Path { path: String, why: PathError },
    #[error("{0}")]
    Plan(PlanError),
    #[error("a folder has {VAULT_FILES_MAX} files at most")]
    TooManyFiles,
    #[error("{VAULT_STEPS_MAX} steps at most are done at once")]
    TooManySteps,
    #[error(transparent)]
    Knowledge(#[from] KnowledgeError),
}

impl From<StoreError> for VaultError {
    fn from(error: StoreError) -> Self {
        Self::Knowledge(KnowledgeError::Store(error))
    }
}

/// Why a file cannot be taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RefusedFile {
    #[error("its {0} {1}")]
    Field(&'static str, InvalidField),
    #[error("a file has {} MiB at most", limits::ATTACHMENT_BYTES_MAX / 1024 / 1024)]
    TooLarge,
    #[error(
        "the space has no room for it: a space holds {} files, and {} GiB",
        limits::SPACE_ATTACHMENTS_MAX,
        limits::SPACE_ATTACHMENT_BYTES_MAX / 1024 / 1024 / 1024
    )]
    NoRoom,
    /// Nothing is known that ends so; it is looked at so that nothing is lost where that is wrong.
    #[error("it would not come out as the same bytes")]
    NotExact,
}

/// A file of a folder, as whoever looked at it says.
#[derive(Debug, Clone)]
pub struct FoundFile {
    pub path: String,
    pub kind: EntryKind,
    pub hash: Digest,
}

/// What is in a folder.
#[derive(Debug, Clone, Default)]
pub struct FoundFolder {
    pub files: Vec<FoundFile>,
    /// Files and folders that are there and were not read.
    pub unread: Vec<String>,
}

impl FoundFolder {
    pub(super) fn judged(self) -> Result<FolderState, VaultError> {
        if self.files.len() + self.unread.len() > VAULT_FILES_MAX {
            return Err(VaultError::TooManyFiles);
        }
        let files = self.files.into_iter().map(|file| {
            Ok(FolderFile {
                path: vault_path(file.path)?,
                kind: file.kind,
                hash: content_hash(file.hash),
            })
        });
        Ok(FolderState {
            files: files.collect::<Result<_, VaultError>>()?,
            unread: self.unread,
        })
    }
}

pub(super) fn vault_path(path: String) -> Result<VaultPath, VaultError> {
    match VaultPath::parse(&path) {
        Ok(parsed) => Ok(parsed),
        Err(why) => Err(VaultError::Path { path, why }),
    }
}

/// A path of ours: it was judged when it was stored.
pub(super) fn stored_path(path: &str) -> Result<VaultPath, StoreError> {
    VaultPath::parse(path).map_err(|why| StoreError::corrupt("vault_files", path, why))
}

pub(super) fn content_hash(hash: Digest) -> ContentHash {
    ContentHash::from_bytes(*hash.as_bytes())
}

pub(super) fn digest(hash: ContentHash) -> Digest {
    Digest::from_bytes(*hash.as_bytes())
}

pub(super) fn entry_kind(item: VaultItem) -> EntryKind {
    let kind = EntryKind::parse(item.kind());
    kind.unwrap_or(EntryKind::Attachment)
}

pub(super) async fn be_there(tx: &mut Tx, space: SpaceId) -> Result<(), KnowledgeError> {
    match spaces::is_there(tx, space).await? {
        true => Ok(()),
        false => Err(KnowledgeError::NotFound),
    }
}
