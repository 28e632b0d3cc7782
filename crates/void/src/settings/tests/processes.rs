//! `[processes]`.

use std::path::PathBuf;

use void_control::agent_processes::SandboxMode;

use super::*;

#[test]
fn agents_run_in_a_whole_sandbox_unless_the_owner_says_otherwise_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let read = |toml: &str| {
        let text = format!("[processes]\n{toml}");
        load(folder.path(), Some(&text), &[], Flags::default())
    };
    let none = read("").unwrap().processes;
    assert_eq!(none.mode, SandboxMode::Full);
    assert_eq!(none.limits.memory_bytes, 512 * 1024 * 1024);
    assert_eq!(none.users.unwrap().to_string(), "70000-70999");
    assert_eq!(none.driver, DriverSettings::Process);
    let some = read(
        "sandbox = \"incomplete\"\nusers = \"none\"\nmemory_mib = 128\ndriver = \"nspawn\"\nnspawn_root = \"/var/lib/machines/agents\"",
    );
    let some = some.unwrap().processes;
    assert_eq!(some.mode, SandboxMode::Incomplete);
    assert_eq!(some.users, None);
    assert_eq!(some.limits.memory_bytes, 128 * 1024 * 1024);
    let root = PathBuf::from("/var/lib/machines/agents");
    assert_eq!(some.driver, DriverSettings::Nspawn { root });
    for (toml, said) in [
        ("sandbox = \"off\"", "neither"),
        ("sandbox = \"\"", "is empty"),
        ("users = \"0-10\"", "from 1000"),
        ("driver = \"docker\"", "neither"),
        ("driver = \"nspawn\"", "nspawn_root"),
        ("memory_mib = 1", "128"),
    ] {
        let Err(error) = read(toml) else {
            panic!("{toml}");
        };
        assert!(error.message.contains(said), "{toml}: {}", error.message);
    }
}
