//! Programs of this workspace that belong to another crate than the test's own, for which cargo sets
//! no `CARGO_BIN_EXE_…`.
//!
//! `cargo test --workspace` builds them all (a program of a crate that has tests, and every example), so
//! `scripts/test` says `VOID_TEST_PROGRAMS=built`. Otherwise cargo is asked, which builds what they stand on
//! anew, because features differ with what is built together.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Says that a build of the whole workspace came before.
const BUILT_BEFORE: &str = "VOID_TEST_PROGRAMS";

/// The built `void-act`, of the same profile and target folder as the running test.
pub fn void_act() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| program("void-act", "void-act", "--bin", ""))
}

/// What reads foreign bytes as the server does, and stands in for a reader of PDFs.
pub fn capture_confined() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| program("void-capture", "void-capture-confined", "--bin", ""))
}

/// The stand-in for `claude`.
pub(crate) fn scripted_claude() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| program("void-testkit", "scripted-claude", "--example", "examples"))
}

fn program(package: &str, name: &str, kind: &str, folder_of_kind: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the test's own program");
    // target/debug/deps/it-0123
    let folder = test
        .ancestors()
        .nth(2)
        .expect("cargo puts tests below a profile's folder");
    let program = folder.join(folder_of_kind).join(name);
    if std::env::var_os(BUILT_BEFORE).is_none_or(|built| built != "built") {
        build(package, &[kind, name], folder);
    }
    assert!(program.is_file(), "{} was not built", program.display());
    program
}

fn build(package: &str, target: &[&str; 2], folder: &Path) {
    let profile = folder
        .file_name()
        .and_then(|name| name.to_str())
        .expect("the profile's folder has its name");
    // The one profile whose folder is called otherwise.
    let profile = if profile == "debug" { "dev" } else { profile };
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", package])
        .args(target)
        .args(["--profile", profile])
        .arg("--manifest-path")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml"))
        .arg("--target-dir")
        .arg(folder.parent().expect("a profile's folder has a parent"))
        .output()
        .expect("cargo starts");
    assert!(
        output.status.success(),
        "cargo build -p {package} {}: {}",
        target.join(" "),
        String::from_utf8_lossy(&output.stderr)
    );
}
