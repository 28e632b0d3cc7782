//! How much of the machine the process may use. A hard limit is not raised again by whoever has no privilege.

use rustix::process::{Resource, Rlimit, getpriority_process, setpriority_process, setrlimit};

use super::{NotConfined, refused};
use crate::plans::{NICENESS, SandboxPlan};

pub(super) fn apply(plan: &SandboxPlan) -> Result<(), NotConfined> {
    for (resource, most) in [
        (Resource::As, plan.limits.memory_bytes),
        (Resource::Fsize, plan.limits.file_bytes),
        (Resource::Nofile, plan.open_files()),
        // Neither a second process nor a second thread.
        (Resource::Nproc, 0),
        (Resource::Core, 0),
        (Resource::Memlock, 0),
        (Resource::Msgqueue, 0),
    ] {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        setrlimit(resource, limit).map_err(refused("resources"))?;
    }
    let step = "its share of the processor";
    let now = getpriority_process(None).map_err(refused(step))?;
    setpriority_process(None, now.max(NICENESS)).map_err(refused(step))
}
