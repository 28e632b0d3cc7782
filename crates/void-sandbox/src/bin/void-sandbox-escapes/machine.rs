//! The machine itself. None of these calls has an argument that would make it do anything.

use crate::{Try, call};

pub(super) fn that_look() -> Vec<Try> {
    vec![(
        "set up shared memory",
        call(libc::SYS_shmget, [0, 4096, 0o600, 0, 0]),
    )]
}

pub(super) fn that_change() -> Vec<Try> {
    let calls: [(&'static str, libc::c_long); 36] = [
        ("use io_uring", libc::SYS_io_uring_setup),
        ("mount", libc::SYS_mount),
        ("unmount", libc::SYS_umount2),
        ("mount in the new way", libc::SYS_fsopen),
        ("clone a mount", libc::SYS_open_tree),
        ("move a mount", libc::SYS_move_mount),
        ("change a mount", 442),
        ("change its root", libc::SYS_chroot),
        ("turn the roots", libc::SYS_pivot_root),
        ("enter a namespace", libc::SYS_setns),
        ("become root", libc::SYS_setuid),
        ("become root for good", libc::SYS_setresuid),
        ("join the group of root", libc::SYS_setresgid),
        ("join groups", libc::SYS_setgroups),
        ("take capabilities", libc::SYS_capset),
        ("load a program into the kernel", libc::SYS_bpf),
        ("watch events of the kernel", libc::SYS_perf_event_open),
        ("handle faults", libc::SYS_userfaultfd),
        ("read the kernel's keys", libc::SYS_keyctl),
        ("add a key", libc::SYS_add_key),
        ("ask for a key", libc::SYS_request_key),
        ("load a module", libc::SYS_init_module),
        ("load a module by descriptor", libc::SYS_finit_module),
        ("load a kernel", libc::SYS_kexec_load),
        ("restart the machine", libc::SYS_reboot),
        ("set the clock", libc::SYS_settimeofday),
        ("name the machine", libc::SYS_sethostname),
        ("swap", libc::SYS_swapon),
        ("read the kernel's messages", libc::SYS_syslog),
        ("be another kind of process", libc::SYS_personality),
        ("account for processes", libc::SYS_acct),
        ("open a queue", libc::SYS_mq_open),
        ("open a queue in the old way", libc::SYS_msgget),
        ("open semaphores", libc::SYS_semget),
        ("watch all files", libc::SYS_fanotify_init),
        ("set quotas", libc::SYS_quotactl),
    ];
    let calls = calls.into_iter();
    let mut tries: Vec<Try> = calls
        .map(|(name, number)| (name, call(number, [0; 5])))
        .collect();
    for (name, flags) in [
        ("make a user namespace", libc::CLONE_NEWUSER),
        ("make a mount namespace", libc::CLONE_NEWNS),
        ("make a network namespace", libc::CLONE_NEWNET),
    ] {
        let flags = usize::try_from(flags).unwrap_or(0);
        tries.push((name, call(libc::SYS_unshare, [flags, 0, 0, 0, 0])));
    }
    tries
}
