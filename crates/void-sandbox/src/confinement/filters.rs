//! Which system calls the process may not make any more. Landlock is the boundary of files and ports; this is what it
//! leaves open (modes, owners and times of files, UDP, Unix sockets, the machine itself), and a second fence before
//! what it holds (signals, emptying files). A process makes no other: no fork, no thread, no program.
//!
//! What is refused fails with EPERM instead of ending the process: a C library that tries something and can do without
//! it goes on.

use std::collections::BTreeMap;
use std::env::consts::ARCH;

use libc::c_long;
use rustix::process::getpid;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// The same calls by their x32 numbers.
#[cfg(target_arch = "x86_64")]
const X32: i64 = 0x4000_0000;
/// Calls with the same number everywhere that some C libraries have no name for: `mount_setattr`, `quotactl_fd`,
/// `memfd_secret`, `process_mrelease`, `cachestat`, `fchmodat2`, `map_shadow_stack`, `statmount`, `listmount`,
/// `lsm_set_self_attr`, `setxattrat`, `removexattrat`, `open_tree_attr`, `file_setattr`.
const NEWER: [i64; 14] = [
    442, 443, 447, 448, 451, 452, 453, 457, 458, 460, 463, 466, 467, 469,
];

/// By what they reach: other processes and programs, sockets but those of TCP, what Landlock does not cover of
/// files, memory and queues that processes share, and everything that looks after the machine.
const REFUSED: &[c_long] = &[
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_prctl,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_setpgid,
    libc::SYS_setsid,
    libc::SYS_tkill,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_personality,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_sendmmsg,
    libc::SYS_socketpair,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_truncate,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    libc::SYS_linkat,
    libc::SYS_mknodat,
    libc::SYS_symlinkat,
    libc::SYS_openat2,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_inotify_init1,
    libc::SYS_inotify_add_watch,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    libc::SYS_quotactl,
    libc::SYS_memfd_create,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_msgctl,
    libc::SYS_msgget,
    libc::SYS_msgrcv,
    libc::SYS_msgsnd,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmget,
    libc::SYS_io_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_userfaultfd,
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_capset,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pivot_root,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_setfsgid,
    libc::SYS_setfsuid,
    libc::SYS_setgid,
    libc::SYS_setgroups,
    libc::SYS_sethostname,
    libc::SYS_setregid,
    libc::SYS_setresgid,
    libc::SYS_setresuid,
    libc::SYS_setreuid,
    libc::SYS_settimeofday,
    libc::SYS_setuid,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_vhangup,
];

/// What newer machines have one call for.
#[cfg(target_arch = "x86_64")]
const OLD_NAMES: &[c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_fork,
    libc::SYS_futimesat,
    libc::SYS_inotify_init,
    libc::SYS_ioperm,
    libc::SYS_iopl,
    libc::SYS_kexec_file_load,
    libc::SYS_lchown,
    libc::SYS_link,
    libc::SYS_mknod,
    libc::SYS_modify_ldt,
    libc::SYS_symlink,
    libc::SYS_uselib,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_vfork,
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_NAMES: &[c_long] = &[];

/// `None` if the kernel did not take it.
pub(super) fn apply() -> Option<()> {
    let otherwise = SeccompAction::Allow;
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let arch = ARCH.try_into().ok()?;
    let filter = SeccompFilter::new(rules()?, otherwise, refused, arch).ok()?;
    let program: BpfProgram = filter.try_into().ok()?;
    apply_filter(&program).ok()
}

fn rules() -> Option<Rules> {
    let listed = REFUSED.iter().chain(OLD_NAMES).copied().chain(NEWER);
    let mut rules: Rules = listed.map(|call| (call, Vec::new())).collect();
    rules.insert(libc::SYS_socket, all_but_tcp()?);
    // Data with the first packet of a connection would connect without asking Landlock.
    rules.insert(libc::SYS_sendto, vec![has(3, libc::MSG_FASTOPEN)?]);
    rules.insert(libc::SYS_sendmsg, vec![has(2, libc::MSG_FASTOPEN)?]);
    // A signal to itself is how a process ends itself; all others are for others.
    let own = u64::try_from(getpid().as_raw_nonzero().get()).ok()?;
    for call in [
        libc::SYS_kill,
        libc::SYS_tgkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
    ] {
        rules.insert(call, vec![when(0, SeccompCmpOp::Ne, own)?]);
    }
    // Its own limits can only be lowered; those of others are theirs.
    rules.insert(libc::SYS_prlimit64, vec![when(0, SeccompCmpOp::Ne, 0)?]);
    // No memory becomes a program.
    for call in [libc::SYS_mmap, libc::SYS_mprotect, libc::SYS_pkey_mprotect] {
        rules.insert(call, vec![has(2, libc::PROT_EXEC)?]);
    }
    rules.insert(libc::SYS_openat, odd_openings(2)?);
    // Neither does it hold up whoever writes a file that it may read, nor has signals sent to others.
    let commands = FILE_COMMANDS.map(|command| is(1, command));
    let commands: Option<Vec<SeccompRule>> = commands.into_iter().collect();
    rules.insert(libc::SYS_fcntl, commands?);
    // A terminal would take this as typed by its owner.
    rules.insert(libc::SYS_ioctl, vec![when(1, SeccompCmpOp::Eq, TIOCSTI)?]);
    #[cfg(target_arch = "x86_64")]
    {
        rules.insert(libc::SYS_open, odd_openings(1)?);
        // Nobody here speaks that dialect.
        let x32: Vec<i64> = rules.keys().map(|call| call | X32).collect();
        rules.extend(x32.into_iter().map(|call| (call, Vec::new())));
    }
    Some(rules)
}

const TIOCSTI: u64 = 0x5412;
/// Leases, watches, and signals about a file. The last two are `F_SETOWN_EX` and `F_SETSIG`.
const FILE_COMMANDS: [libc::c_int; 5] = [libc::F_SETLEASE, libc::F_NOTIFY, libc::F_SETOWN, 15, 10];
/// Where a socket's type stands among its flags.
const KIND_MASK: u64 = 0xf;

/// Streams over IPv4 and IPv6 with their usual protocol are left.
fn all_but_tcp() -> Option<Vec<SeccompRule>> {
    let number = |value: libc::c_int| u64::from(value.unsigned_abs());
    let is_not = |index: u8, value: libc::c_int| condition(index, SeccompCmpOp::Ne, number(value));
    let another_family = [is_not(0, libc::AF_INET)?, is_not(0, libc::AF_INET6)?];
    let another_protocol = [is_not(2, 0)?, is_not(2, libc::IPPROTO_TCP)?];
    let mut rules = vec![
        SeccompRule::new(another_family.to_vec()).ok()?,
        SeccompRule::new(another_protocol.to_vec()).ok()?,
    ];
    let stream = number(libc::SOCK_STREAM);
    for kind in (0..=KIND_MASK).filter(|kind| *kind != stream) {
        rules.push(when(1, SeccompCmpOp::MaskedEq(KIND_MASK), kind)?);
    }
    Some(rules)
}

/// A file that may only be read is not emptied by opening it; and one that is opened neither to read nor to write is
/// not asked about by Landlock.
fn odd_openings(flags: u8) -> Option<Vec<SeccompRule>> {
    let number = |flags: libc::c_int| u64::from(flags.unsigned_abs());
    let mask = SeccompCmpOp::MaskedEq(number(libc::O_ACCMODE | libc::O_TRUNC));
    let empties = when(flags, mask, number(libc::O_RDONLY | libc::O_TRUNC))?;
    let mask = SeccompCmpOp::MaskedEq(number(libc::O_ACCMODE));
    let neither = when(flags, mask, number(libc::O_ACCMODE))?;
    Some(vec![empties, neither])
}

fn is(index: u8, value: libc::c_int) -> Option<SeccompRule> {
    when(index, SeccompCmpOp::Eq, u64::from(value.unsigned_abs()))
}

fn has(index: u8, flag: libc::c_int) -> Option<SeccompRule> {
    let flag = u64::from(flag.unsigned_abs());
    when(index, SeccompCmpOp::MaskedEq(flag), flag)
}

fn when(index: u8, operator: SeccompCmpOp, value: u64) -> Option<SeccompRule> {
    SeccompRule::new(vec![condition(index, operator, value)?]).ok()
}

fn condition(index: u8, operator: SeccompCmpOp, value: u64) -> Option<SeccompCondition> {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, operator, value).ok()
}
