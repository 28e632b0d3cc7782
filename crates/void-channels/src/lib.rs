//! The only code that reaches machines.
//!
//! What changes something takes a [`Permit`](void_domain::permits::Permit) and consumes it; what only
//! looks goes through [`Probe`], which has no changing method. A channel says *done*, *failed* or
//! *unknown*, and says unknown whenever the machine may have done it and has not told us.

mod act;
mod local;
mod outcomes;
mod process;
mod router;
mod ssh;

pub use act::HostList;
pub use local::LocalConfig;
pub use outcomes::{Evidence, Outcome};
pub use router::{Channel, Channels, Probe};
pub use ssh::host_keys::{HostKey, InvalidFingerprint};
pub use ssh::{SshConfig, UnsafePath};
