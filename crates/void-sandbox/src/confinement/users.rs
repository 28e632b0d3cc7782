//! Who the process becomes, and that it has no privilege left.

use rustix::fs::Mode;
use rustix::process::umask;
use rustix::thread::{
    CapabilitySet, CapabilitySets, Gid, Uid, set_capabilities, set_no_new_privs, set_thread_groups,
    set_thread_res_gid, set_thread_res_uid,
};

use super::{NotConfined, refused};
use crate::plans::SandboxPlan;

pub(super) fn become_user(plan: &SandboxPlan) -> Result<(), NotConfined> {
    // Whoever stands above it reaches its files by their group.
    let others = Mode::RWXO;
    match plan.user {
        Some(user) => {
            umask(others);
            let (uid, gid) = (Uid::from_raw(user), Gid::from_raw(user));
            let groups: Vec<Gid> = plan.groups.iter().copied().map(Gid::from_raw).collect();
            set_thread_groups(&groups).map_err(refused("groups"))?;
            set_thread_res_gid(gid, gid, gid).map_err(refused("its group"))?;
            set_thread_res_uid(uid, uid, uid).map_err(refused("its user"))?;
        }
        None => {
            umask(others | Mode::RWXG);
        }
    }
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, none).map_err(refused("capabilities"))?;
    set_no_new_privs(true).map_err(refused("new privileges"))
}
