//! What the owner keeps. Only the owner writes: every other way to another text is a draft that the owner approves
//! ([`crate::proposals::propose_knowledge`]), and both end in the same functions of [`writing`].
//!
//! Each write is one transaction with one entry of the record, which is its event. The entry holds no text of the entity.

mod attachments;
mod capture;
mod create;
mod delete;
mod export;
mod first_space;
mod history;
mod import;
mod karakeep;
mod preview;
mod read;
mod restore;
mod runbooks;
mod search;
mod update;
mod vault_files;
mod vouch;
pub(crate) mod writing;

use void_domain::actors::Actor;
use void_domain::capabilities::Capability;
use void_domain::knowledge::{Entity, InvalidField, Origin};
use void_domain::limits;
use void_store::StoreError;

use crate::context::Ctx;

pub use self::attachments::forget_deleted as forget_deleted_files;
pub use self::attachments::{
    AttachmentError, NewAttachment, add_attachment, attachment, attachment_content,
    attachment_named, attachments, delete_attachment, ref_source, restore_attachment,
};
pub use self::capture::{KeepRefError, RefFile, RefOptions, capture, keep_file};
pub use self::create::{NewEntity, create};
pub use self::delete::{delete, undelete};
pub use self::export::{
    ExportReview, FileContent, VAULT_CONTENT_BYTES_MAX, WantedFile, export_content, review_export,
};
pub use self::first_space::make_first_space;
pub use self::history::{Difference, diff, history, revision};
pub use self::import::{ImportStep, StepConflict, StepOutcome, apply_import, review_import};
pub use self::karakeep::{ImportRun, KarakeepError, KarakeepReport, import_karakeep};
pub use self::preview::resolve_links;
pub use self::read::{EntityLinks, find, find_ref, linked, list, list_open_tasks, space_counts};
pub use self::restore::restore;
pub use self::runbooks::{ActionRunbooks, runbooks, runbooks_of_actions, set_runbooks};
pub use self::search::{
    SearchError, SearchHit, SearchMode, SearchRequest, SearchResults, SearchWithin, search,
};
pub use self::update::{EntityUpdate, update};
pub use self::vault_files::{
    FoundFile, FoundFolder, RefusedFile, VAULT_FILES_MAX, VAULT_STEPS_MAX, VaultError,
};
pub use self::vouch::vouch;
pub(crate) use self::vouch::vouch_in;
pub use self::writing::{WRITE_AT_ONCE_MAX, Write, write_many};
pub use void_store::entities::EntityFilter;
pub use void_store::links::ResolvedLink;
pub use void_store::revisions::{RevisionHead, StoredRevision};
pub use void_store::spaces::SpaceCounts;
pub use void_vault::{
    ConflictReason, EntryKind as VaultFileKind, ExportConflict, ImportPlan, VaultPath,
};

#[derive(Debug, thiserror::Error)]
pub enum KnowledgeError {
    #[error("only the owner writes here; an agent drafts a change")]
    OwnerOnly,
    #[error("this caller may not read what the owner keeps")]
    Forbidden,
    #[error("there is no such thing here")]
    NotFound,
    #[error("{0} {1}")]
    Invalid(&'static str, InvalidField),
    #[error("there is no such project in this space")]
    NoProject,
    #[error("the reason is longer than {} bytes", limits::REASON_BYTES_MAX)]
    ReasonTooLong,
    #[error(
        "there are as many as there may be: {} spaces, and {} of each kind in one",
        limits::SPACES_MAX,
        limits::SPACE_ENTITIES_MAX
    )]
    Full,
    /// It is not what the caller looked at; this is what is there now.
    #[error("it was changed since you looked at it")]
    Conflict(Box<Entity>),
    #[error("nothing in it waits for the owner to answer for it")]
    NothingToVouch,
    #[error("a stranger could have written it; read it and answer for it first")]
    ForeignText,
    #[error(
        "its head would be too long, or it would be about more than {} things",
        limits::RUNBOOK_NAMES_MAX
    )]
    RunbookHead,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Where the text of a write comes from, as far as a caller may say so. A draft is none of these: it is applied by a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextSource {
    Owner,
    /// A folder of the owner's.
    Import,
    /// A page of the web, or a list of such.
    Capture,
}

impl TextSource {
    const fn origin(self) -> Origin {
        match self {
            Self::Owner => Origin::Owner,
            Self::Import => Origin::Import,
            Self::Capture => Origin::Capture,
        }
    }
}

fn may_write(ctx: &Ctx) -> Result<(), KnowledgeError> {
    match ctx.actor.is_owner() {
        true => Ok(()),
        false => Err(KnowledgeError::OwnerOnly),
    }
}

/// Whether a caller may read what the owner keeps: agents as far as they were granted it, and nobody else.
pub fn may_read(ctx: &Ctx) -> Result<(), KnowledgeError> {
    let has = |capability| ctx.capabilities.has(capability);
    match ctx.actor {
        Actor::Owner { .. } => Ok(()),
        Actor::Agent { .. } if has(Capability::Read) || has(Capability::Suggest) => Ok(()),
        Actor::Agent { .. } | Actor::Viewer { .. } | Actor::Node { .. } | Actor::System => {
            Err(KnowledgeError::Forbidden)
        }
    }
}

fn check_reason(reason: Option<&String>) -> Result<(), KnowledgeError> {
    match reason.is_some_and(|reason| reason.len() > limits::REASON_BYTES_MAX) {
        true => Err(KnowledgeError::ReasonTooLong),
        false => Ok(()),
    }
}
