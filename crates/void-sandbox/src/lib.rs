//! The sandbox of an agent process. The process takes it upon itself, before it does anything else, and nothing
//! of it can be taken back.
//!
//! `plans` says what is left to an agent, as one typed value that the server writes and the process reads.
//! `kernels` says what of the sandbox this machine's kernel can hold, `refusals` what of it somebody else's filter of
//! system calls forbids, `confinement` holds it: descriptors, user, privileges, limits, Landlock, and a filter of system
//! calls. There is one function to call: [`confine`].

mod confinement;
mod kernels;
mod plans;
mod refusals;

pub use confinement::{Confined, NotConfined, OpenFolder, confine};
pub use kernels::{Fence, Kernel};
pub use plans::{
    Folder, FolderAccess, InvalidPlan, PLAN_BYTES_MAX, SandboxLimits, SandboxMode, SandboxPlan,
};
pub use refusals::{is_making_code_refused, refused_calls};
