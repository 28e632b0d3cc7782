//! Closes what the process inherited and nobody agreed on. A descriptor that was open before goes past Landlock.

use std::io;
use std::os::fd::RawFd;

pub(super) fn close_all_but(kept: &[RawFd]) -> io::Result<()> {
    let mut kept: Vec<u32> = kept
        .iter()
        .filter_map(|descriptor| u32::try_from(*descriptor).ok())
        .collect();
    kept.sort_unstable();
    let mut first = 0;
    for descriptor in kept {
        if descriptor > first {
            close_range(first, descriptor - 1)?;
        }
        first = first.max(descriptor.saturating_add(1));
    }
    close_range(first, u32::MAX)
}

fn close_range(first: u32, last: u32) -> io::Result<()> {
    #[expect(
        unsafe_code,
        reason = "there is no safe way to close descriptors that nobody owns; this process has one thread and has just begun"
    )]
    // SAFETY: nothing in this process owns one of them: it has opened nothing so far that it means to keep.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0_u32) };
    if closed == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
