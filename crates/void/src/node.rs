//! The pull executor: a program on a machine that dials out, waits for commands, and lets `void-act` judge and run
//! them by the machine's own list. Nothing listens on the machine.

pub(crate) mod folder;
pub(crate) mod link;
mod run;
mod times;
mod work;

pub(crate) use run::{Options, run};
