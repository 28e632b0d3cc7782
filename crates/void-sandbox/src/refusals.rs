//! Which of the system calls that confine a process are refused around this one: by the filter of a service's unit or of
//! a container. The kernel may have all of them; what it lacks is another question (`kernels`).
//!
//! Each is asked in a way that changes nothing, so the server may ask as well.

use std::io;

use libc::{c_int, c_long};
use rustix::io::Errno;
use rustix::process::{getpriority_process, setpriority_process};
use rustix::thread::{capabilities, set_capabilities};

/// The same numbers everywhere; not every C library has a name for them.
const LANDLOCK_CREATE_RULESET: c_long = 444;
const LANDLOCK_ADD_RULE: c_long = 445;
/// `LANDLOCK_CREATE_RULESET_VERSION`: asks for the step, and makes nothing.
const VERSION: u32 = 1;
/// `SECCOMP_GET_ACTION_AVAIL`.
const ACTION_AVAILABLE: u32 = 2;
const NO_FILE: c_int = -1;
const PAGE_BYTES: usize = 4_096;

/// By the names that a filter has for them; none where nothing is in the way.
#[must_use]
pub fn refused_calls() -> Vec<&'static str> {
    let asked = [
        ("landlock_create_ruleset", is_landlock_refused()),
        ("landlock_add_rule", is_a_rule_refused()),
        ("seccomp", is_seccomp_refused()),
        ("capset", is_capset_refused()),
        ("setpriority", is_setpriority_refused()),
    ];
    let refused = asked.into_iter().filter(|(_, refused)| *refused);
    refused.map(|(name, _)| name).collect()
}

/// Whether memory that is written cannot be made code here, as a program with a compiler inside has to (`MemoryDenyWriteExecute=`).
#[must_use]
pub fn is_making_code_refused() -> bool {
    let (length, nowhere) = (PAGE_BYTES, std::ptr::null_mut());
    let access = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    #[expect(unsafe_code, reason = "there is no safe way to ask for this alone")]
    // SAFETY: one page of nobody's memory, which nothing refers to and nothing runs, is there for a moment.
    let is_there = unsafe {
        let page = libc::mmap(nowhere, length, access, kind, NO_FILE, 0);
        page != libc::MAP_FAILED && libc::munmap(page, length) == 0
    };
    !is_there
}

/// A kernel without it, or with it switched off, says something else.
fn is_refused(returned: c_long) -> bool {
    returned < 0 && io::Error::last_os_error().kind() == io::ErrorKind::PermissionDenied
}

fn is_landlock_refused() -> bool {
    #[expect(unsafe_code, reason = "there is no safe way to ask for this alone")]
    // SAFETY: no pointer is passed but the null one that this question asks for.
    let returned = unsafe {
        libc::syscall(
            LANDLOCK_CREATE_RULESET,
            std::ptr::null::<u8>(),
            0_usize,
            VERSION,
        )
    };
    is_refused(returned)
}

fn is_a_rule_refused() -> bool {
    #[expect(unsafe_code, reason = "there is no safe way to ask for this alone")]
    // SAFETY: there is no ruleset by this descriptor, so nothing is read and nothing is added.
    let returned = unsafe {
        libc::syscall(
            LANDLOCK_ADD_RULE,
            NO_FILE,
            0_u32,
            std::ptr::null::<u8>(),
            0_u32,
        )
    };
    is_refused(returned)
}

fn is_seccomp_refused() -> bool {
    let action = libc::SECCOMP_RET_ERRNO;
    #[expect(unsafe_code, reason = "there is no safe way to ask for this alone")]
    // SAFETY: the kernel reads four bytes, and they are there.
    let returned = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            ACTION_AVAILABLE,
            0_u32,
            std::ptr::from_ref(&action),
        )
    };
    is_refused(returned)
}

/// To have what it has.
fn is_capset_refused() -> bool {
    let same = capabilities(None).and_then(|now| set_capabilities(None, now));
    same == Err(Errno::PERM)
}

/// To stay where it is.
fn is_setpriority_refused() -> bool {
    let same = getpriority_process(None).and_then(|now| setpriority_process(None, now));
    matches!(same, Err(Errno::PERM | Errno::ACCESS))
}
