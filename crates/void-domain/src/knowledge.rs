//! What the owner keeps: spaces, and the projects, pages, tasks and refs in them.
//!
//! An entity is one of these in its newest revision. Every text of it was validated when it was made ([`fields`]), and
//! every revision says where its text came from ([`Origin`]): what a stranger could have written stays marked until the
//! owner says otherwise. Only the owner writes; agents draft.

pub mod attachments;
pub mod drafts;
pub mod edits;
pub mod entities;
pub mod fields;
pub mod front_matter;
pub mod links;
pub mod merges;
pub mod paths;
pub mod queries;
pub mod ranking;
pub mod revisions;
pub mod runbooks;
pub mod search_documents;
pub mod snippets;
pub mod tags;
pub mod vault_files;
pub mod word_diffs;
pub mod words;
pub mod written_form;

pub use self::attachments::{Attachment, AttachmentName, MediaType};
pub use self::drafts::{FieldsPatch, InvalidFields};
pub use self::edits::{InvalidEdit, NearMatch, TextEdit};
pub use self::entities::{
    Deletion, Details, Entity, EntityHead, EntityId, EntityKind, Fields, PageDetails, RefDetails,
    SpaceDetails, TaskDetails,
};
pub use self::fields::{Body, DueDate, InvalidField, RefUrl, TaskState, Title};
pub use self::front_matter::{FrontMatter, RunbookName};
pub use self::links::{Link, LinkTarget, Links};
pub use self::paths::NotePath;
pub use self::queries::{InvalidQuery, NO_EMBEDDINGS, SearchKind, SearchQuery, SearchTerm};
pub use self::revisions::{Origin, Revision, Vouched};
pub use self::runbooks::{RunbookLine, line_about, with_runbooks};
pub use self::search_documents::{SearchDocument, WordSequence};
pub use self::snippets::SnippetSpan;
pub use self::tags::Tags;
pub use self::vault_files::{VaultFile, VaultItem};
pub use self::word_diffs::{DiffGrain, Hiding, SpanKind, WordDiff, WordSpan};
