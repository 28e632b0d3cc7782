//! Agent processes: how one is started, kept running, heard and ended.
//!
//! `supervisor` keeps the processes of this server, one small state machine each (`states`, `restarts`); `drivers` say
//! how one is started (`orders` is what they start); `processes` is one that runs, with everything that it started
//! (`cgroups`), and `logs` what it wrote. The process's side is `harness`: what `void agent run` does. `lifelines` is
//! what the two say to each other.
//!
//! Who may start what, what is kept over a restart of the server and what is put on the record is not known here: that
//! is the [`Host`]'s.

mod cgroups;
mod drivers;
mod harness;
mod lifelines;
mod logs;
mod orders;
mod processes;
mod restarts;
mod states;
mod supervisor;

pub use cgroups::Cgroups;
pub use drivers::{Driver, Launch, NotLaunched, NspawnDriver, ProcessDriver};
pub use harness::{NOT_CONFINED, run_agent};
pub use logs::{LINE_BYTES_MAX, LOG_BYTES_MAX, LogLine, read_log};
pub use orders::{AgentFacts, MountedFolder, Order, TOKEN_FD, TokenText};
pub use restarts::Restarts;
pub use states::{Ending, ProcessState, ProcessStatus};
pub use supervisor::{Host, HostFuture, Over, Patience, Supervisor, SupervisorConfig};
