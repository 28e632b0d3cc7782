//! Programs of this workspace that belong to another crate than the test's own, for which cargo sets
//! no `CARGO_BIN_EXE_…`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The built `void-act`, of the same profile and target folder as the running test.
pub fn void_act() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build("void-act", "void-act"))
}

/// The stand-in for `claude`.
pub(crate) fn scripted_claude() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build("void-testkit", "scripted-claude"))
}

fn build(package: &str, name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the test's own program");
    // target/debug/deps/it-0123
    let folder = test
        .ancestors()
        .nth(2)
        .expect("cargo puts tests below a profile's folder");
    let profile = folder
        .file_name()
        .and_then(|name| name.to_str())
        .expect("the profile's folder has its name");
    // The one profile whose folder is called otherwise.
    let profile = if profile == "debug" { "dev" } else { profile };
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", package, "--bin", name])
        .args(["--profile", profile])
        .arg("--manifest-path")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml"))
        .arg("--target-dir")
        .arg(folder.parent().expect("a profile's folder has a parent"))
        .output()
        .expect("cargo starts");
    assert!(
        output.status.success(),
        "cargo build -p {package} --bin {name}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    folder.join(name)
}
