//! What an extractor takes from itself before it reads a byte. Three fences that overlap: Landlock (no file,
//! no TCP, no signal to others), resource limits (memory, time, files), and a filter of system calls, which
//! also closes what Landlock leaves open (UDP, Unix sockets, new processes, changing the mode or the owner of
//! a file). None of it can be taken back, and whatever the process becomes has it too.
//!
//! Landlock and the filter hold the thread that asks for them. So the process must have one thread, and that
//! is looked up, not believed.

mod filters;

use std::fs;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::limits::{
    EXTRACT_CPU_SECONDS_MAX, EXTRACT_FILES_MAX, EXTRACT_MEMORY_BYTES_MAX, PDF_FILES_MAX,
};
use crate::reports::NotConfined;

/// Whether a kernel without Landlock is put up with. The other fences stand either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    #[default]
    Full,
    /// Switched off by this name; a reader that is fooled may then open the files of the server's user.
    WithoutLandlock,
}

impl Isolation {
    /// The word in settings and on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::WithoutLandlock => "without-landlock",
        }
    }

    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        let all = [Self::Full, Self::WithoutLandlock];
        all.into_iter().find(|isolation| isolation.word() == word)
    }
}

/// What the process is about to be, which says what is left to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role<'a> {
    /// Memory, standard input and standard output.
    Reader,
    /// The same, and to become this program, which reads its own libraries and tables.
    Program(&'a Path),
}

/// Where the libraries and tables of a reader of PDFs are. Those that exist are opened for reading, with
/// everything below them; nothing of `/etc` but the loader's cache and the fonts' settings, nothing of
/// `/home`, `/var`, `/proc` or `/dev`.
const PROGRAM_PATHS: [&str; 10] = [
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/share/poppler",
    "/usr/share/fonts",
    "/usr/share/fontconfig",
    "/etc/ld.so.cache",
    "/etc/fonts",
];

/// The newest kernel interface that this was tried with. What an older kernel lacks of it, the filter has.
const ABI_TRIED: ABI = ABI::V7;

pub fn confine(isolation: Isolation, role: Role<'_>) -> Result<(), NotConfined> {
    if !is_alone() {
        return Err(NotConfined::Threads);
    }
    match restrict_files(role) {
        Err(NotConfined::Landlock) if isolation == Isolation::WithoutLandlock => {}
        restricted => restricted?,
    }
    limit_resources(role).map_err(|_| NotConfined::Limits)?;
    filters::apply(role).ok_or(NotConfined::Filter)
}

fn is_alone() -> bool {
    fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1)
}

fn restrict_files(role: Role<'_>) -> Result<(), NotConfined> {
    let enforced = landlock_status(role).map_err(|_| NotConfined::Landlock)?;
    match enforced {
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
        RulesetStatus::NotEnforced => Err(NotConfined::Landlock),
    }
}

/// Files are required of the kernel; TCP, signals and abstract sockets are taken where it knows them.
fn landlock_status(role: Role<'_>) -> Result<RulesetStatus, landlock::RulesetError> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI_TRIED))?
        .handle_access(AccessNet::from_all(ABI_TRIED))?
        .scope(Scope::from_all(ABI_TRIED))?
        .create()?
        .set_compatibility(CompatLevel::BestEffort);
    let readable = match role {
        Role::Reader => Vec::new(),
        Role::Program(program) => program_paths(program),
    };
    let access = AccessFs::Execute | AccessFs::ReadFile | AccessFs::ReadDir;
    let rules = path_beneath_rules(readable, access);
    let status = ruleset.add_rules(rules)?.restrict_self()?;
    Ok(status.ruleset)
}

fn program_paths(program: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = PROGRAM_PATHS.iter().map(PathBuf::from).collect();
    paths.retain(|path| path.exists());
    paths.push(program.to_owned());
    paths
}

fn limit_resources(role: Role<'_>) -> rustix::io::Result<()> {
    let files = match role {
        Role::Reader => EXTRACT_FILES_MAX,
        Role::Program(_) => PDF_FILES_MAX,
    };
    for (resource, most) in [
        (Resource::As, EXTRACT_MEMORY_BYTES_MAX),
        (Resource::Cpu, EXTRACT_CPU_SECONDS_MAX),
        (Resource::Core, 0),
        (Resource::Fsize, 0),
        (Resource::Nproc, 0),
        (Resource::Nofile, files),
    ] {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        setrlimit(resource, limit)?;
    }
    Ok(())
}
