//! The host side of Void: a list of fixed commands that root owns, and nothing else.
//!
//! A peer names an action by id and shows a ticket; this crate looks the id up in the host's own list, decides,
//! and runs the argv written there without a shell. It keeps three promises whatever the peer sends: what runs is
//! an argv of the list, byte for byte (I15); a ticket runs at most once (I1); any doubt means refused (I12).
//!
//! `void-act` is the forced command of an SSH account; `void` offers the same through [`main_with`] for the
//! machine it lives on. The server builds [`Ticket`]s, writes [`List`]s and reads [`Answer`]s with these types.

mod answers;
mod attempts;
mod checks;
mod clock;
mod commands;
mod files;
mod forced;
mod journals;
mod json;
mod lists;
mod options;
mod params;
mod progress;
mod rights;
mod runs;
mod sys;
mod tickets;
mod verdicts;

pub use answers::{Answer, Outcome, Reason, Refusal};
pub use commands::{ActionId, Command, NotACommand, RESERVED, RESERVED_PREFIX, parse_command};
pub use forced::main_with;
pub use lists::{
    Arg, CountSpec, Entry, LIST_VERSION, List, ParamRef, RecordSpec, RecordedRef, Tier,
};
pub use options::{LIST_PATH, STATE_DIR};
pub use params::{ParamSpec, ParamValue, Params};
pub use rights::sudo_command;
pub use tickets::Ticket;
