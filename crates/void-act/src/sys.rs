//! System calls that the standard library does not offer; the only `unsafe` of this crate.

use std::ffi::{CString, c_char, c_int};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const FIRST_FD_TO_CLOSE: u32 = 3;
const CHILD_UMASK: libc::mode_t = 0o022;
const SIGNALS: std::ops::RangeInclusive<c_int> = 1..=64;
const KERNEL_SIGSET_BYTES: usize = 8;
const LEAST_HURRY: c_int = 19;
/// The kernel's `struct sigaction`, and more: all zero is SIG_DFL without flags on every architecture.
const DEFAULT_ACTION: [u64; 8] = [0; 8];

#[expect(unsafe_code, reason = "geteuid has no arguments and cannot fail")]
pub(crate) fn effective_uid() -> u32 {
    // SAFETY: no preconditions.
    unsafe { libc::geteuid() }
}

#[expect(
    unsafe_code,
    reason = "the standard library does not read CLOCK_BOOTTIME"
)]
pub(crate) fn boottime_ms() -> io::Result<u64> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for one timespec during the call.
    check(unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut time) })?;
    let ms = i128::from(time.tv_sec) * 1000 + i128::from(time.tv_nsec) / 1_000_000;
    u64::try_from(ms).map_err(io::Error::other)
}

/// No image of this process is written to disk: its memory holds tickets and what commands said. The commands
/// inherit the limit. What the kernel does not grant is no reason not to answer.
#[expect(unsafe_code, reason = "the standard library sets no resource limits")]
pub(crate) fn leave_no_core_dump() {
    let none = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `none` is a valid rlimit during the call.
    unsafe {
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
    }
}

/// A caller that goes away must not take a started command's end with it.
#[expect(
    unsafe_code,
    reason = "the standard library does not set signal dispositions"
)]
pub(crate) fn ignore_hangup() {
    for signal in [libc::SIGHUP, libc::SIGPIPE] {
        // SAFETY: ignoring a signal installs no handler.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Makes `command` replace itself by exactly `argv` and `env`, in a session of its own, with default signals, umask
/// 022 and no descriptor past stderr. `execve` is called here because `execvp`, which the standard library uses,
/// hands a file without a known format to `/bin/sh`.
#[expect(
    unsafe_code,
    reason = "what happens between fork and exec can only be said with system calls"
)]
pub(crate) fn exec_alone(command: &mut Command, argv: Vec<CString>, env: Vec<CString>) {
    // Addresses, because raw pointers are not Send; the strings they point into move into the closure.
    let addresses = |strings: &[CString]| -> Vec<usize> {
        let pointers = strings.iter().map(|text| text.as_ptr().expose_provenance());
        pointers.chain([0]).collect()
    };
    let (argv_at, env_at) = (addresses(&argv), addresses(&env));
    let image = move || {
        let program = argv.first().map_or(std::ptr::null(), |text| text.as_ptr());
        let _keep_alive = &env;
        // SAFETY: only async-signal-safe calls on memory that was allocated before the fork. Both arrays end in null
        // and their strings live as long as the closure.
        unsafe {
            check(libc::setsid())?;
            libc::umask(CHILD_UMASK);
            for signal in SIGNALS {
                // SIGKILL and SIGSTOP cannot be set, and need not be. The system call itself, because libc's wrappers
                // refuse its own two signals, which a careless ancestor may have left ignored.
                libc::syscall(
                    libc::SYS_rt_sigaction,
                    signal,
                    DEFAULT_ACTION.as_ptr(),
                    std::ptr::null_mut::<u64>(),
                    KERNEL_SIGSET_BYTES,
                );
            }
            let mut none = std::mem::zeroed::<libc::sigset_t>();
            check(libc::sigemptyset(&raw mut none))?;
            check(libc::sigprocmask(
                libc::SIG_SETMASK,
                &raw const none,
                std::ptr::null_mut(),
            ))?;
            let cloexec = libc::CLOSE_RANGE_CLOEXEC;
            if libc::syscall(libc::SYS_close_range, FIRST_FD_TO_CLOSE, u32::MAX, cloexec) != 0 {
                return Err(io::Error::last_os_error());
            }
            libc::execve(
                program,
                argv_at.as_ptr().cast::<*const c_char>(),
                env_at.as_ptr().cast::<*const c_char>(),
            );
        }
        Err(io::Error::last_os_error())
    };
    // SAFETY: see inside the closure.
    unsafe { command.pre_exec(image) };
}

/// Swaps what two names stand for, in one step. Some file systems cannot.
#[expect(
    unsafe_code,
    reason = "the standard library renames in one direction only"
)]
pub(crate) fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    let [one, other] = [one, other].map(|path| CString::new(path.as_os_str().as_bytes()));
    let (one, other) = (one?, other?);
    let here = libc::AT_FDCWD;
    // SAFETY: both strings live during the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            here,
            one.as_ptr(),
            here,
            other.as_ptr(),
            libc::RENAME_EXCHANGE,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Goes on twice: as the caller, which has answered and ends, and as a process of its own without a terminal, a peer
/// or a hurry. True is said to the latter.
#[expect(unsafe_code, reason = "the standard library does not fork")]
pub(crate) fn go_on_apart() -> io::Result<bool> {
    // SAFETY: void-act has one thread, so the child may do whatever the parent may.
    let pid = unsafe { libc::fork() };
    check(pid)?;
    if pid != 0 {
        return Ok(false);
    }
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    // SAFETY: integers, and a descriptor that is open.
    unsafe {
        libc::setsid();
        libc::nice(LEAST_HURRY);
        for standard in 0..=2 {
            check(libc::dup2(nothing.as_raw_fd(), standard))?;
        }
    }
    Ok(true)
}

/// A descriptor that becomes readable when the process ends; the process stays unreaped.
#[expect(unsafe_code, reason = "the standard library has no stable pidfd")]
pub(crate) fn exit_of(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: two integers; the result is a new descriptor or -1.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let fd = RawFd::try_from(fd)
        .ok()
        .filter(|fd| *fd >= 0)
        .ok_or_else(io::Error::last_os_error)?;
    // SAFETY: the descriptor is new and nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Waits until one of the descriptors is readable or closed; says which.
#[expect(unsafe_code, reason = "the standard library has no poll")]
pub(crate) fn wait_readable<const N: usize>(
    fds: [Option<BorrowedFd<'_>>; N],
    timeout: Duration,
) -> io::Result<[bool; N]> {
    let mut polled = fds.map(|fd| libc::pollfd {
        fd: fd.map_or(-1, |fd| fd.as_raw_fd()),
        events: libc::POLLIN,
        revents: 0,
    });
    let timeout_ms = c_int::try_from(timeout.as_millis() + 1).unwrap_or(c_int::MAX);
    // SAFETY: `polled` is an array of N valid pollfds during the call; negative descriptors are skipped.
    match check(unsafe { libc::poll(polled.as_mut_ptr(), N as libc::nfds_t, timeout_ms) }) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        Ok(()) | Err(_) => Ok(polled.map(|one| one.revents != 0)),
    }
}

/// Signals every process of the group that `leader` leads.
#[expect(
    unsafe_code,
    reason = "the standard library signals single processes only"
)]
pub(crate) fn signal_group(leader: u32, signal: c_int) -> io::Result<()> {
    let group = libc::pid_t::try_from(leader).map_err(io::Error::other)?;
    // SAFETY: two integers.
    check(unsafe { libc::killpg(group, signal) })
}

fn check(result: c_int) -> io::Result<()> {
    if result == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
