//! No image of this process is written to disk or handed to a debugger: its memory holds the owner's token,
//! keys and what agents were told.

use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};

/// Before anything secret is read. What the kernel does not grant is no reason not to start.
pub(crate) fn switch_off() {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    let _ = setrlimit(Resource::Core, none);
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}
