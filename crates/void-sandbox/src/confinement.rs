//! Takes everything from the process that its plan does not leave it. The order matters: folders are opened as
//! who the process was, rights are taken as who it becomes, and the filter comes last, because it refuses most of
//! what the others need.
//!
//! The invariant: whoever gets a [`Confined`] has every fence that the plan asks for. Each step that does not work is
//! a refusal with a name. Landlock and the filter hold the thread that asks for them, so the process must have one
//! thread, and that is looked up, not believed.

mod descriptors;
mod filters;
mod limits;
mod rules;
mod users;

use std::fs;
use std::os::fd::{OwnedFd, RawFd};
use std::path::PathBuf;

use rustix::fs::{Mode, OFlags, open};
use rustix::process::{
    DumpableBehavior, Pid, Signal, fchdir, getppid, set_dumpable_behavior,
    set_parent_process_death_signal,
};

use crate::kernels::{Fence, Kernel};
use crate::plans::{Folder, FolderAccess, InvalidPlan, SandboxMode, SandboxPlan};
use crate::refusals::refused_calls;

/// A process that is confined, and what is left to it.
#[derive(Debug)]
pub struct Confined {
    /// Opened before the process became somebody else: the folders above them may be closed to who it is now.
    pub folders: Vec<OpenFolder>,
    /// What the kernel does not hold; empty unless the owner allowed that.
    pub missing: Vec<Fence>,
}

#[derive(Debug)]
pub struct OpenFolder {
    pub path: PathBuf,
    pub access: FolderAccess,
    pub handle: OwnedFd,
}

#[derive(Debug, thiserror::Error)]
pub enum NotConfined {
    #[error(transparent)]
    Plan(#[from] InvalidPlan),
    #[error("the process has more than one thread")]
    Threads,
    #[error("the kernel cannot keep this agent from: {}; processes.sandbox = \"incomplete\" in void.toml starts it all the same", words(.0))]
    Missing(Vec<Fence>),
    #[error("a filter of system calls around the server refuses {}: void doctor says what to do", .0.join(", "))]
    RefusedCalls(Vec<&'static str>),
    #[error("the folder {path} cannot be opened: {why}")]
    Folder { path: PathBuf, why: std::io::Error },
    #[error("the server that it belongs to is gone")]
    Orphan,
    #[error("{step} cannot be taken from the process: {why}")]
    Refused {
        step: &'static str,
        why: std::io::Error,
    },
    #[error("Landlock does not hold all that it was asked to")]
    Landlock,
    #[error("the kernel does not take the filter of system calls")]
    Filter,
}

fn words(missing: &[Fence]) -> String {
    let words: Vec<&str> = missing.iter().map(|fence| fence.words()).collect();
    words.join(", ")
}

/// Of whatever kind a failed system call is.
fn refused<E: Into<std::io::Error>>(step: &'static str) -> impl FnOnce(E) -> NotConfined {
    move |why| NotConfined::Refused {
        step,
        why: why.into(),
    }
}

/// Confines this process for the rest of its life. `kept` are the descriptors that it keeps; all others are closed.
pub fn confine(
    plan: &SandboxPlan,
    kernel: Kernel,
    kept: &[RawFd],
) -> Result<Confined, NotConfined> {
    plan.to_line()?;
    if !is_alone() {
        return Err(NotConfined::Threads);
    }
    let missing = kernel.missing();
    if plan.mode == SandboxMode::Full && !missing.is_empty() {
        let refused = refused_calls();
        return Err(match refused.is_empty() {
            true => NotConfined::Missing(missing),
            false => NotConfined::RefusedCalls(refused),
        });
    }
    descriptors::close_all_but(kept).map_err(refused("descriptors"))?;
    let folders = plan.folders.iter().map(open_folder);
    let folders = folders.collect::<Result<Vec<OpenFolder>, _>>()?;
    if let Some(own) = folders.first() {
        fchdir(&own.handle).map_err(refused("the working folder"))?;
    }
    let ruleset = rules::ruleset(plan, &folders, kernel.landlock())?;
    users::become_user(plan)?;
    // Whoever becomes somebody else loses both, so they come after it.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(refused("images of its memory"))?;
    end_with_the_server(plan)?;
    limits::apply(plan)?;
    rules::restrict(ruleset)?;
    filters::apply().ok_or(NotConfined::Filter)?;
    Ok(Confined { folders, missing })
}

fn is_alone() -> bool {
    fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1)
}

/// The last part of its path is a folder and no link to one.
fn open_folder(folder: &Folder) -> Result<OpenFolder, NotConfined> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = open(&folder.path, flags, Mode::empty());
    let handle = opened.map_err(|why| NotConfined::Folder {
        path: folder.path.clone(),
        why: why.into(),
    })?;
    Ok(OpenFolder {
        path: folder.path.clone(),
        access: folder.access,
        handle,
    })
}

/// The kernel ends this process when the one that started it ends. It may have ended before this was asked for.
fn end_with_the_server(plan: &SandboxPlan) -> Result<(), NotConfined> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(refused("life without its server"))?;
    let server = i32::try_from(plan.server_process).ok();
    match server.and_then(Pid::from_raw) {
        Some(server) if getppid() == Some(server) => Ok(()),
        Some(_) | None => Err(NotConfined::Orphan),
    }
}
