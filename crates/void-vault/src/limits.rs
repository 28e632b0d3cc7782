//! The bounds of a vault. Each is a size of what may be read; beyond it something is reported, never cut in silence.

/// The text of one note, front matter included, with line feeds alone.
pub const NOTE_BYTES_MAX: usize = 512 * 1024;

/// One file that is no note.
pub const ATTACHMENT_BYTES_MAX: usize = 20 * 1024 * 1024;

/// Everything that is looked at in a folder and below it: files, folders and what is skipped.
pub const ENTRIES_MAX: usize = 250_000;

/// Names in a path, the file's own included.
pub const DEPTH_MAX: usize = 32;

pub const PATH_BYTES_MAX: usize = 1_024;

/// One name in a path; file systems allow no longer one.
pub const NAME_BYTES_MAX: usize = 255;

/// A file name that is made from a title, without its extension: room for ` 1000.md` and an extension is left.
pub const STEM_BYTES_MAX: usize = 180;

/// What stands behind the last dot of an attachment's name and is kept as its extension.
pub const EXTENSION_BYTES_MAX: usize = 16;

pub const TITLE_CHARS_MAX: usize = 200;

/// The address of a ref.
pub const URL_BYTES_MAX: usize = 2_048;

pub const FRONT_MATTER_BYTES_MAX: usize = 16 * 1024;

/// Values of one list in front matter.
pub const FRONT_MATTER_ITEMS_MAX: usize = 256;

/// Links that are read in one note.
pub const LINKS_MAX: usize = 2_000;

/// One link from its first bracket to its last.
pub const LINK_BYTES_MAX: usize = 1_024;

/// Files that are named when a link could mean several.
pub const CANDIDATES_MAX: usize = 5;
