//! Which system calls are left. A reader has a list of what it may call, a program of somebody else's a list
//! of what it may not: how a library of the system is made is not ours to say.
//!
//! What is refused fails with EPERM instead of ending the process: a C library that tries something and can
//! do without it goes on.

use std::collections::BTreeMap;
use std::env::consts::ARCH;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

use super::Role;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// The same calls by their x32 numbers, which a list of what is forbidden has to name as well.
#[cfg(target_arch = "x86_64")]
const X32: i64 = 0x4000_0000;
/// `fchmodat2`, `setxattrat`, `removexattrat`, `open_tree_attr`, `file_setattr`: the same number everywhere,
/// and too new for some C libraries to have a name for.
const NEWER: [i64; 5] = [452, 463, 466, 467, 469];

/// To compute, to say it, and to end.
const READER_MAY: &[c_long] = &[
    libc::SYS_brk,
    libc::SYS_clock_gettime,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_getrandom,
    libc::SYS_madvise,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_yield,
    libc::SYS_sigaltstack,
];

/// Sockets of every kind, other processes and their limits, names and attributes of files (Landlock does not
/// cover the latter), memory and queues that processes share, and everything that looks after the machine.
const PROGRAM_MAY_NOT: &[c_long] = &[
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bind,
    libc::SYS_bpf,
    libc::SYS_capset,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_connect,
    libc::SYS_delete_module,
    libc::SYS_execveat,
    libc::SYS_fanotify_init,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_finit_module,
    libc::SYS_fremovexattr,
    libc::SYS_fsconfig,
    libc::SYS_fsetxattr,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_ftruncate,
    libc::SYS_init_module,
    libc::SYS_inotify_init1,
    libc::SYS_io_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_ioprio_set,
    libc::SYS_kcmp,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_kill,
    libc::SYS_linkat,
    libc::SYS_listen,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_memfd_create,
    libc::SYS_migrate_pages,
    libc::SYS_mkdirat,
    libc::SYS_mknodat,
    libc::SYS_mount,
    libc::SYS_move_mount,
    libc::SYS_move_pages,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_msgctl,
    libc::SYS_msgget,
    libc::SYS_msgrcv,
    libc::SYS_msgsnd,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_openat2,
    libc::SYS_perf_event_open,
    libc::SYS_personality,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_recvfrom,
    libc::SYS_recvmmsg,
    libc::SYS_recvmsg,
    libc::SYS_removexattr,
    libc::SYS_renameat2,
    libc::SYS_request_key,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_sendmmsg,
    libc::SYS_sendmsg,
    libc::SYS_sendto,
    libc::SYS_setdomainname,
    libc::SYS_setfsgid,
    libc::SYS_setfsuid,
    libc::SYS_setgid,
    libc::SYS_setgroups,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_setpgid,
    libc::SYS_setpriority,
    libc::SYS_setregid,
    libc::SYS_setresgid,
    libc::SYS_setresuid,
    libc::SYS_setreuid,
    libc::SYS_setsid,
    libc::SYS_settimeofday,
    libc::SYS_setuid,
    libc::SYS_setxattr,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmget,
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_symlinkat,
    libc::SYS_syslog,
    libc::SYS_tgkill,
    libc::SYS_tkill,
    libc::SYS_truncate,
    libc::SYS_umount2,
    libc::SYS_unlinkat,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_utimensat,
    libc::SYS_vhangup,
];

/// What newer machines have one call for.
#[cfg(target_arch = "x86_64")]
const OLD_NAMES: &[c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_creat,
    libc::SYS_fork,
    libc::SYS_futimesat,
    libc::SYS_inotify_init,
    libc::SYS_ioperm,
    libc::SYS_iopl,
    libc::SYS_lchown,
    libc::SYS_link,
    libc::SYS_mkdir,
    libc::SYS_mknod,
    libc::SYS_modify_ldt,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_rmdir,
    libc::SYS_symlink,
    libc::SYS_unlink,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_vfork,
];
/// `renameat`, which not every C library names there.
#[cfg(not(target_arch = "x86_64"))]
const OLD_NAMES: &[c_long] = &[38];

/// `None` if the kernel did not take it.
pub(super) fn apply(role: Role<'_>) -> Option<()> {
    let (rules, otherwise, listed) = match role {
        Role::Reader => (reader()?, refused(), SeccompAction::Allow),
        Role::Program(_) => (program()?, SeccompAction::Allow, refused()),
    };
    let arch = ARCH.try_into().ok()?;
    let filter = SeccompFilter::new(rules, otherwise, listed, arch).ok()?;
    let program: BpfProgram = filter.try_into().ok()?;
    apply_filter(&program).ok()
}

fn refused() -> SeccompAction {
    SeccompAction::Errno(libc::EPERM.unsigned_abs())
}

fn reader() -> Option<Rules> {
    let mut rules: Rules = READER_MAY.iter().map(|call| (*call, Vec::new())).collect();
    let descriptor = |it: u64| argument(0, SeccompCmpOp::Eq, it);
    rules.insert(libc::SYS_read, vec![descriptor(0)?]);
    rules.insert(libc::SYS_write, vec![descriptor(1)?, descriptor(2)?]);
    // Memory, but none that can be run.
    let executable = u64::from(libc::PROT_EXEC.unsigned_abs());
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        let not_executable = argument(2, SeccompCmpOp::MaskedEq(executable), 0)?;
        rules.insert(call, vec![not_executable]);
    }
    Some(rules)
}

fn argument(index: u8, operator: SeccompCmpOp, value: u64) -> Option<SeccompRule> {
    let condition = SeccompCondition::new(index, SeccompCmpArgLen::Dword, operator, value);
    SeccompRule::new(vec![condition.ok()?]).ok()
}

fn program() -> Option<Rules> {
    let listed = PROGRAM_MAY_NOT.iter().chain(OLD_NAMES);
    let listed = listed.copied().chain(NEWER);
    let mut rules: Rules = listed.map(|call| (call, Vec::new())).collect();
    rules.insert(libc::SYS_openat, opens_for_writing(2)?);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_open, opens_for_writing(1)?);
    // Its own limits can only be lowered; those of others are theirs.
    rules.insert(libc::SYS_prlimit64, vec![argument(0, SeccompCmpOp::Ne, 0)?]);
    #[cfg(target_arch = "x86_64")]
    {
        let x32: Vec<i64> = rules.keys().map(|call| call | X32).collect();
        rules.extend(x32.into_iter().map(|call| (call, Vec::new())));
    }
    Some(rules)
}

/// By any of the flags of `open`, whose argument this is.
fn opens_for_writing(flags: u8) -> Option<Vec<SeccompRule>> {
    let has = |mask: libc::c_int, value: libc::c_int| {
        let mask = u64::from(mask.unsigned_abs());
        argument(
            flags,
            SeccompCmpOp::MaskedEq(mask),
            u64::from(value.unsigned_abs()),
        )
    };
    [
        has(libc::O_ACCMODE, libc::O_WRONLY),
        has(libc::O_ACCMODE, libc::O_RDWR),
        has(libc::O_ACCMODE, libc::O_ACCMODE),
        has(libc::O_CREAT, libc::O_CREAT),
        has(libc::O_TRUNC, libc::O_TRUNC),
    ]
    .into_iter()
    .collect()
}
