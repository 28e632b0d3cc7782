//! An Obsidian-style vault: a folder of Markdown that comes in and goes out without losing a byte.
//!
//! Everything but `folders` is a pure function over bytes and names. Reading order: `paths` (where a file is),
//! `note_files` (a note's bytes taken apart), `front_matter` and `links` (what is written there), `entries` (what
//! a file becomes), `link_index` (what a link means), `plans` (what an import or export would do), `exports` and
//! `file_names` (files of what Void made), `folders` (the only I/O). Why: docs/adr/0029-vault.md.

mod days;
mod entries;
mod exports;
mod file_names;
mod folders;
mod front_matter;
mod hashes;
pub mod limits;
mod link_index;
mod links;
mod note_files;
mod paths;
mod plans;

pub use days::{Day, NotADay};
pub use entries::{EntryFault, EntryKind, Note, NoteKind, TaskStatus, VaultEntry, title_of};
pub use exports::{NoteFields, NoteMarks, write_note};
pub use file_names::FileNames;
pub use folders::{
    FolderError, ScanProgress, Scanned, ScannedFile, SkipReason, SkippedName, VaultFolder,
};
pub use front_matter::{FaultKind, Field, FieldValue, FrontMatter, FrontMatterFault, with_field};
pub use hashes::ContentHash;
pub use link_index::{LinkIndex, LinkTarget, LinkableFile, ResolvedLinks};
pub use links::{Link, LinkForm, Links};
pub use note_files::{LineEnding, NotANote, NoteFile, TextEncoding, UnknownEncoding};
pub use paths::{PathError, VaultPath, folded, shown};
pub use plans::{
    ConflictReason, CreateStep, ExportConflict, ExportPlan, FolderFile, FolderState, GoneStep,
    ImportConflict, ImportPlan, PlanError, RenameStep, StoredEntry, StoredState, UnchangedStep,
    UpdateStep, WriteStep, plan_export, plan_import,
};
