//! What `void conversations` takes.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  void conversations ls --space Lab\n  void conversations search certificate --agent companion\n  void conversations export ID --file talk.json"
)]
pub(crate) enum ConversationsCommand {
    /// List all, or those with an agent or of a space, newest first
    Ls(ConversationListArgs),
    /// List those in which all of these words were said
    Search {
        /// One to eight words
        #[arg(required = true, num_args = 1..=8)]
        words: Vec<String>,
        #[command(flatten)]
        list: ConversationListArgs,
    },
    /// Show what was said, newest page
    Show {
        /// As ls shows it
        id: String,
        /// How many messages
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=500))]
        limit: Option<u32>,
        /// Where the page before ended
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Write all of one as JSON, with what every turn did
    Export {
        /// As ls shows it
        id: String,
        /// Where to; standard output if left out
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Delete one for good, with all that was said in it; the record keeps what was done
    Rm {
        /// As ls shows it
        id: String,
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ConversationListArgs {
    /// With whom; all of them, in every space, if neither this nor a space is named
    #[arg(long, conflicts_with = "space")]
    pub agent: Option<String>,
    /// All of this space, by title or id
    #[arg(long, value_name = "TITLE_OR_ID")]
    pub space: Option<String>,
    /// How many
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub limit: Option<u32>,
    /// Where the page before ended; of an agent's, or of a space's
    #[arg(long)]
    pub cursor: Option<String>,
}
