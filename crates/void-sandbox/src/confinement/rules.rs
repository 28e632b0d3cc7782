//! Landlock: folders of the plan, one port, and nothing of other processes. What the kernel's Landlock does not know
//! was named before; what it knows has to be held.

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, NetPort,
    PathBeneath, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError,
    RulesetStatus, Scope,
};

use super::{NotConfined, OpenFolder};
use crate::plans::{FolderAccess, SandboxPlan};

/// `None` where the kernel has no Landlock, which the owner allowed.
pub(super) fn ruleset(
    plan: &SandboxPlan,
    folders: &[OpenFolder],
    step: ABI,
) -> Result<Option<RulesetCreated>, NotConfined> {
    if step == ABI::Unsupported {
        return Ok(None);
    }
    let made = make(plan, folders, step);
    made.map(Some).map_err(|_| NotConfined::Landlock)
}

fn make(
    plan: &SandboxPlan,
    folders: &[OpenFolder],
    step: ABI,
) -> Result<RulesetCreated, RulesetError> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(step))?;
    if step >= ABI::V4 {
        ruleset = ruleset.handle_access(AccessNet::from_all(step))?;
    }
    if step >= ABI::V6 {
        ruleset = ruleset.scope(Scope::from_all(step))?;
    }
    let mut created = ruleset.create()?;
    for folder in folders {
        let access = access(folder.access) & AccessFs::from_all(step);
        created = created.add_rule(PathBeneath::new(&folder.handle, access))?;
    }
    if step >= ABI::V4 {
        created = created.add_rule(NetPort::new(plan.server_port, AccessNet::ConnectTcp))?;
    }
    Ok(created)
}

/// Files and folders, never links, pipes, sockets or devices: whoever reads the folder later, the server or an agent
/// above it, finds nothing there that leads or waits elsewhere. Nothing can be run.
fn access(access: FolderAccess) -> BitFlags<AccessFs> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    match access {
        FolderAccess::ReadOnly => read,
        FolderAccess::ReadWrite => {
            read | AccessFs::WriteFile
                | AccessFs::Truncate
                | AccessFs::MakeReg
                | AccessFs::MakeDir
                | AccessFs::RemoveFile
                | AccessFs::RemoveDir
                | AccessFs::Refer
        }
    }
}

pub(super) fn restrict(ruleset: Option<RulesetCreated>) -> Result<(), NotConfined> {
    let Some(ruleset) = ruleset else {
        return Ok(());
    };
    let status = ruleset.restrict_self().map_err(|_| NotConfined::Landlock)?;
    match status.ruleset {
        RulesetStatus::FullyEnforced if status.no_new_privs => Ok(()),
        RulesetStatus::FullyEnforced
        | RulesetStatus::PartiallyEnforced
        | RulesetStatus::NotEnforced => Err(NotConfined::Landlock),
    }
}
