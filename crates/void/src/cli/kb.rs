//! What `void kb` takes.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use void_domain::knowledge::SearchKind;
use void_domain::limits::SEARCH_RESULTS_MAX;

#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  void kb ls\n  void kb search \"restart caddy\" --kind page\n  void kb show Welcome\n  void kb new \"Restart caddy\"\n  void kb new \"Buy a disk\" --kind task --due 2026-12-01\n  void kb edit \"Buy a disk\" --state done\n  uptime | void kb new \"Load this morning\"\n  void kb import ~/Notes --dry-run\n  void kb export ~/Notes"
)]
pub(crate) enum KbCommand {
    /// List pages, tasks, refs and projects of a space, or the spaces
    Ls(KbListArgs),
    /// Find what you keep by its text, and services, actions, agents and proposals by name
    Search(KbSearchArgs),
    /// Show one, with what names it
    Show {
        #[command(flatten)]
        named: KbNamedArgs,
        /// Print its text as it is stored and nothing else
        #[arg(long, conflicts_with = "json")]
        raw: bool,
    },
    /// Write something new; the text comes from --text, --file, a pipe, or of a page from your editor
    New(KbNewArgs),
    /// Change one; without anything to change, its text opens in your editor
    Edit(KbEditArgs),
    /// Throw one away; undo takes it back
    Rm {
        #[command(flatten)]
        named: KbNamedArgs,
    },
    /// Take back what was thrown away
    Undo {
        #[command(flatten)]
        named: KbNamedArgs,
    },
    /// List what it was, newest first
    History {
        #[command(flatten)]
        named: KbNamedArgs,
        /// How many revisions
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=500))]
        limit: Option<u32>,
        /// Where the page before ended
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Show what differs between two revisions
    Diff {
        #[command(flatten)]
        named: KbNamedArgs,
        /// The older revision; the one before the newer if left out
        #[arg(long, value_name = "REVISION", value_parser = clap::value_parser!(u64).range(1..))]
        from: Option<u64>,
        /// The newer revision; the newest if left out
        #[arg(long, value_name = "REVISION", value_parser = clap::value_parser!(u64).range(1..))]
        to: Option<u64>,
    },
    /// Say which services and actions a page is a runbook of; it is of no other then
    Runbook(KbRunbookArgs),
    /// Go back to an older revision, by a new one that says the same
    Restore {
        #[command(flatten)]
        named: KbNamedArgs,
        /// The revision, as void kb history lists it
        #[arg(long, value_name = "REVISION", value_parser = clap::value_parser!(u64).range(1..))]
        revision: Option<u64>,
    },
    /// Take in a folder of Markdown, or with --karakeep an export of Karakeep; a second time, only what changed
    Import(KbImportArgs),
    /// Write a space as a folder of Markdown; a second time, only what changed
    Export(KbExportArgs),
    /// Keep a page of the web with its text; one that is known gets a new revision
    Capture(KbCaptureArgs),
    /// Keep a file; a PDF, a page or a text with --ref as a ref that can be found by its words
    Attach(KbAttachArgs),
    /// List the files of a space, newest first
    Attachments(KbAttachmentsArgs),
    /// Save a file of a space
    Get(KbGetArgs),
    /// Answer for a text that a stranger could have written; whoever reads it is not tainted any more
    Vouch {
        #[command(flatten)]
        named: KbNamedArgs,
        /// The revision that you have read
        #[arg(long, value_name = "REVISION", value_parser = clap::value_parser!(u64).range(1..))]
        revision: Option<u64>,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct KbImportArgs {
    /// The folder, or the file, on this machine
    pub folder: PathBuf,
    /// It is an export of Karakeep: its JSON, or a zip archive with it
    #[arg(long, conflicts_with_all = ["yes", "remove_gone"])]
    pub karakeep: bool,
    /// The space, by title or id; not needed where there is one
    #[arg(long)]
    pub space: Option<String>,
    /// Say what would be done, and do nothing
    #[arg(long, conflicts_with_all = ["yes", "remove_gone"])]
    pub dry_run: bool,
    /// Do not ask; what is gone from the folder stays all the same
    #[arg(long, short)]
    pub yes: bool,
    /// Throw away what is gone from the folder, if nobody edited it here; undo takes it back
    #[arg(long)]
    pub remove_gone: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct KbCaptureArgs {
    /// The address, with http or https
    #[arg(value_name = "URL")]
    pub address: String,
    /// The space, by title or id; not needed where there is one
    #[arg(long)]
    pub space: Option<String>,
    /// A tag in addition to those that it has; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// Why, for its history
    #[arg(long)]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct KbAttachArgs {
    /// The file, on this machine
    pub file: PathBuf,
    /// The space, by title or id; not needed where there is one
    #[arg(long)]
    pub space: Option<String>,
    /// What it is called in the space; as the file if left out
    #[arg(long)]
    pub name: Option<String>,
    /// Read its text and keep it as a ref
    #[arg(long = "ref")]
    pub is_ref: bool,
    /// Of a ref: what it is called
    #[arg(long, requires = "is_ref")]
    pub title: Option<String>,
    /// Of a ref: the address that the file came from
    #[arg(long, requires = "is_ref")]
    pub address: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct KbAttachmentsArgs {
    /// The space, by title or id; not needed where there is one
    #[arg(long)]
    pub space: Option<String>,
    /// How many
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub limit: Option<u32>,
    /// Where the page before ended
    #[arg(long)]
    pub cursor: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct KbGetArgs {
    /// Its name, or its id
    #[arg(value_name = "NAME_OR_ID")]
    pub name: String,
    /// The space, by title or id; not needed where there is one
    #[arg(long)]
    pub space: Option<String>,
    /// Where to; - is standard output, and without it the file is written here under its own name
    #[arg(long, short)]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct KbListArgs {
    /// What to list; pages if the space is clear, else the spaces
    #[arg(value_enum)]
    pub what: Option<KbNoun>,
    /// The space, by title or id; not needed where there is one
    #[arg(long)]
    pub space: Option<String>,
    /// Of tasks: by their day, what is open
    #[arg(long, conflicts_with = "deleted")]
    pub due: bool,
    /// What was thrown away
    #[arg(long)]
    pub deleted: bool,
    /// How many
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub limit: Option<u32>,
    /// Where the page before ended
    #[arg(long)]
    pub cursor: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct KbExportArgs {
    /// The folder, on this machine; it is made if there is none
    pub folder: PathBuf,
    /// The space, by title or id; not needed where there is one
    #[arg(long)]
    pub space: Option<String>,
    /// Say what would be written, and write nothing
    #[arg(long, conflicts_with = "yes")]
    pub dry_run: bool,
    /// Do not ask before files are replaced
    #[arg(long, short)]
    pub yes: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct KbSearchArgs {
    /// Words, '"phrases"', beginnings*, 'this -without', kind:page, tag:net; all of them have to be found
    #[arg(required = true, value_name = "WORDS")]
    pub words: Vec<String>,
    /// Only in this space, by title or id, and so nothing of the lab
    #[arg(long)]
    pub space: Option<String>,
    /// Only of this kind
    #[arg(long, value_parser = PossibleValuesParser::new(SearchKind::ALL.map(SearchKind::as_str)))]
    pub kind: Option<String>,
    /// How many
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(SEARCH_RESULTS_MAX)))]
    pub limit: Option<u32>,
    /// Where the page before ended
    #[arg(long)]
    pub cursor: Option<String>,
}

/// Which one is meant.
#[derive(Debug, Clone, Args)]
pub(crate) struct KbNamedArgs {
    /// Its title, or its id
    #[arg(value_name = "TITLE_OR_ID")]
    pub name: String,
    /// What it is, if several things have this title
    #[arg(long, value_enum)]
    pub kind: Option<KbKind>,
    /// The space, by title or id, if several have something of this title
    #[arg(long)]
    pub space: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct KbNewArgs {
    /// What it is called
    pub title: String,
    /// What it is
    #[arg(long, value_enum, default_value_t = KbKind::Page)]
    pub kind: KbKind,
    /// The space, by title or id; not needed where there is one
    #[arg(long)]
    pub space: Option<String>,
    #[command(flatten)]
    pub text: KbTextArgs,
    #[command(flatten)]
    pub fields: KbFieldArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct KbEditArgs {
    #[command(flatten)]
    pub named: KbNamedArgs,
    /// Another title
    #[arg(long)]
    pub title: Option<String>,
    #[command(flatten)]
    pub text: KbTextArgs,
    #[command(flatten)]
    pub fields: KbFieldArgs,
}

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct KbTextArgs {
    /// The text, in Markdown
    #[arg(long, conflicts_with = "file")]
    pub text: Option<String>,
    /// The file that the text is in; - is standard input
    #[arg(long)]
    pub file: Option<PathBuf>,
}

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct KbFieldArgs {
    /// The project that it belongs to, by title or id; none takes it out of one
    #[arg(long, value_name = "PROJECT|none")]
    pub project: Option<String>,
    /// A tag; may be repeated, and replaces those that were there
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// Of a task
    #[arg(long, value_enum)]
    pub state: Option<KbState>,
    /// Of a task: the day, such as 2026-12-01; none takes it away
    #[arg(long, value_name = "DAY|none")]
    pub due: Option<String>,
    /// Of a ref: the address
    #[arg(long)]
    pub address: Option<String>,
    /// Of a space: the agent that answers in it; none for nobody in particular
    #[arg(long, value_name = "AGENT|none")]
    pub agent: Option<String>,
    /// Why, for its history
    #[arg(long)]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KbNoun {
    Spaces,
    Projects,
    Pages,
    Tasks,
    Refs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KbKind {
    Page,
    Task,
    Ref,
    Project,
    Space,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KbState {
    Open,
    Done,
    Dropped,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct KbRunbookArgs {
    #[command(flatten)]
    pub named: KbNamedArgs,
    /// A service that it is about; can be given several times
    #[arg(long, value_name = "ID", required_unless_present_any = ["action", "none"])]
    pub service: Vec<String>,
    /// An action that it is about; can be given several times
    #[arg(long, value_name = "ID")]
    pub action: Vec<String>,
    /// It is a runbook of nothing any more
    #[arg(long, conflicts_with_all = ["service", "action"])]
    pub none: bool,
}
