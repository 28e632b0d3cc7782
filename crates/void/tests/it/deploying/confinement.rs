//! What systemd takes from a service by the words of its unit, taken by one thread; whatever that thread starts has it
//! too. Which system calls a set holds is what systemd says here, by name; their numbers are the C compiler's.

use std::collections::{BTreeMap, BTreeSet};
use std::env::consts::ARCH;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use rustix::thread::{
    CapabilitySet, Gid, Uid, remove_capability_from_bounding_set, set_thread_groups,
    set_thread_res_gid, set_thread_res_uid,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

use super::recipe;
use crate::lab::{Lab, VOID};

const NOBODY: u32 = 65_534;
const EPERM: u32 = 1;
const ENOSYS: u32 = 38;
const EAFNOSUPPORT: u32 = 97;
const PROT_WRITE: u64 = 2;
const PROT_EXEC: u64 = 4;
/// By the words of `RestrictAddressFamilies=`.
const FAMILIES: [(&str, u64); 3] = [("AF_UNIX", 1), ("AF_INET", 2), ("AF_INET6", 10)];

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// The words of a unit and of what is laid over it, in their order.
pub struct Unit(Vec<(String, String)>);

impl Unit {
    pub fn read(names: &[&str]) -> Self {
        let words = names.iter().flat_map(|name| {
            let text = recipe(name);
            let lines = text.lines().filter(|line| !line.starts_with('#'));
            let words = lines.filter_map(|line| line.split_once('='));
            let words = words.map(|(name, value)| (name.to_owned(), value.to_owned()));
            words.collect::<Vec<_>>()
        });
        Self(words.collect())
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.0.push((name.to_owned(), value.to_owned()));
        self
    }

    fn values<'a>(&'a self, wanted: &'a str) -> impl Iterator<Item = &'a str> {
        let of_name = self.0.iter().filter(move |(name, _)| name == wanted);
        of_name.map(|(_, value)| value.as_str())
    }

    pub fn is_on(&self, name: &str) -> bool {
        self.values(name).last() == Some("yes")
    }

    /// The system calls that are left, as systemd reads it: the first line says that it is a list of what is allowed.
    pub fn allowed(&self) -> BTreeSet<String> {
        let mut allowed = held_by("@default");
        for line in self.values("SystemCallFilter") {
            let (taken, sets) = line
                .strip_prefix('~')
                .map_or((false, line), |sets| (true, sets));
            for call in sets.split_whitespace().flat_map(held_by) {
                if taken {
                    allowed.remove(&call);
                } else {
                    allowed.insert(call);
                }
            }
        }
        allowed
    }

    /// What `work` starts is the service. As root it is of another account, as the service is.
    pub fn confined<T: Send>(&self, lab: &Lab, work: impl FnOnce() -> T + Send) -> T {
        let is_another = becomes_another();
        if is_another {
            give_away(lab.folder.path());
        }
        thread::scope(|scope| {
            let confined = scope.spawn(|| {
                if is_another {
                    become_nobody();
                }
                self.take_from_this_thread();
                work()
            });
            confined.join().unwrap()
        })
    }

    fn take_from_this_thread(&self) {
        let numbers = numbers();
        let number = |name: &str| numbers[name];
        let mut refused = Rules::new();
        if self.is_on("MemoryDenyWriteExecute") {
            let both = PROT_WRITE | PROT_EXEC;
            let maps = argument(2, SeccompCmpOp::MaskedEq(both), both);
            refused.insert(number("mmap"), vec![maps]);
            let runs = argument(2, SeccompCmpOp::MaskedEq(PROT_EXEC), PROT_EXEC);
            refused.insert(number("mprotect"), vec![runs.clone()]);
            refused.insert(number("pkey_mprotect"), vec![runs]);
        }
        apply(refused, SeccompAction::Allow, SeccompAction::Errno(EPERM));
        // By its first word a family is allowed; what it is made of cannot be seen in `clone3`.
        let others: Vec<SeccompCondition> = FAMILIES
            .iter()
            .map(|(_, family)| condition(0, SeccompCmpOp::Ne, *family))
            .collect();
        let others = SeccompRule::new(others).unwrap();
        let sockets = Rules::from([(number("socket"), vec![others])]);
        let listed: BTreeSet<&str> = (self.values("RestrictAddressFamilies"))
            .flat_map(str::split_whitespace)
            .collect();
        assert_eq!(listed, FAMILIES.map(|(name, _)| name).into());
        apply(
            sockets,
            SeccompAction::Allow,
            SeccompAction::Errno(EAFNOSUPPORT),
        );
        let clones = Rules::from([(number("clone3"), Vec::new())]);
        apply(clones, SeccompAction::Allow, SeccompAction::Errno(ENOSYS));
        let allowed = self.allowed();
        let allowed = allowed.iter().filter_map(|name| numbers.get(name.as_str()));
        let allowed: Rules = allowed.map(|call| (*call, Vec::new())).collect();
        assert!(allowed.len() > 200, "{}", allowed.len());
        assert!(self.values("SystemCallErrorNumber").eq(["EPERM"]));
        apply(allowed, SeccompAction::Errno(EPERM), SeccompAction::Allow);
    }
}

fn condition(index: u8, operator: SeccompCmpOp, value: u64) -> SeccompCondition {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, operator, value).unwrap()
}

fn argument(index: u8, operator: SeccompCmpOp, value: u64) -> SeccompRule {
    SeccompRule::new(vec![condition(index, operator, value)]).unwrap()
}

fn apply(rules: Rules, otherwise: SeccompAction, listed: SeccompAction) {
    if rules.is_empty() {
        return;
    }
    let filter = SeccompFilter::new(rules, otherwise, listed, ARCH.try_into().unwrap()).unwrap();
    let program: BpfProgram = filter.try_into().unwrap();
    apply_filter(&program).unwrap();
}

/// What systemd's set of this name holds; a name of a call holds itself.
fn held_by(name: &str) -> BTreeSet<String> {
    if !name.starts_with('@') {
        return BTreeSet::from([name.to_owned()]);
    }
    let said = Command::new("systemd-analyze")
        .args(["syscall-filter", name])
        .env("SYSTEMD_COLORS", "0")
        .output()
        .unwrap();
    assert!(said.status.success(), "{name}: {said:?}");
    let said = String::from_utf8(said.stdout).unwrap();
    let listed = said.lines().skip(1).map(str::trim);
    let listed = listed.filter(|line| !line.is_empty() && !line.starts_with('#'));
    listed.flat_map(held_by).collect()
}

/// Of the system calls of this machine.
fn numbers() -> BTreeMap<String, i64> {
    let said = Command::new("cc")
        .args(["-E", "-dM", "-include", "sys/syscall.h", "-x", "c", "-"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    let numbers = said.lines().filter_map(|line| {
        let (name, number) = line.strip_prefix("#define __NR_")?.split_once(' ')?;
        Some((name.to_owned(), number.parse().ok()?))
    });
    numbers.collect()
}

/// Only root can, and only where the other account reaches the program.
pub fn becomes_another() -> bool {
    let reached = |folder: &Path| fs::metadata(folder).is_ok_and(|it| it.mode() & 0o001 != 0);
    rustix::process::geteuid().is_root() && Path::new(VOID).ancestors().all(reached)
}

fn give_away(path: &Path) {
    chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            give_away(&entry.unwrap().path());
        }
    }
}

/// This thread, for good: with no right that it could get back.
fn become_nobody() {
    for capability in CapabilitySet::all().iter() {
        // What an older kernel does not know is not there.
        let _ = remove_capability_from_bounding_set(capability);
    }
    let (uid, gid) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
    set_thread_groups(&[]).unwrap();
    set_thread_res_gid(gid, gid, gid).unwrap();
    set_thread_res_uid(uid, uid, uid).unwrap();
}
