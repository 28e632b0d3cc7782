//! What is made from the table: the page, `void config show`, and that every row is read.

use super::*;
use crate::settings::variables;

#[test]
fn the_page_is_as_the_table_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/settings.md");
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page(),
        "docs/settings.md is not what the table says; make it anew: cargo run -p void -- config docs > docs/settings.md"
    );
}

/// DESIGN 15 and CONTRACTS promise these.
#[test]
fn the_names_that_scripts_rely_on_stay() {
    let page = page();
    for name in [
        "VOID_LISTEN",
        "VOID_DATA",
        "VOID_DATABASE_URL",
        "VOID_PUBLIC_URL",
        "ACTIONS_CONFIG",
        "SERVICES_CONFIG",
        "OWNER_TOKEN",
        "PROXMOX_API_URL",
        "PROXMOX_API_TOKEN",
        "PROXMOX_FINGERPRINT",
        "PROXMOX_CA_FILE",
        "ACTIONS_SSH_KEY",
        "VOID_KNOWN_HOSTS",
        "CLAUDE_EXE",
        "ANTHROPIC_BASE_URL",
        "OLLAMA_HOST",
        "VOID_API_URL",
        "VOID_AGENT_TOKEN",
        "VOID_TOOL_REGISTRY",
        "ANTHROPIC_API_KEY",
        "OPENAI_BASE_URL",
        "OPENAI_API_KEY",
        "VOID_BRAIN",
        "VOID_MODEL",
        "VOID_CLAUDE_HOME",
        "LITTLEBLUE_TOKEN",
        "TELEGRAM_BOT_TOKEN",
        "TELEGRAM_API_URL",
        "TELEGRAM_ALLOWED_USERS",
        "NTFY_URL",
        "NTFY_TOKEN",
        "VOID_BRIDGE_DIR",
    ] {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn every_row_has_a_name_of_its_own_and_is_read() {
    let code = [
        include_str!("../../settings.rs"),
        include_str!("../agents.rs"),
        include_str!("../captures.rs"),
        include_str!("../embeddings.rs"),
        include_str!("../limits.rs"),
        include_str!("../notify.rs"),
        include_str!("../processes.rs"),
    ]
    .concat();
    let mut names = std::collections::BTreeSet::new();
    for row in table::rows() {
        assert!(names.insert(row.key), "{} is there twice", row.key);
        assert!(
            !row.help.is_empty() && !row.help.ends_with('.'),
            "{}",
            row.key
        );
        let last = row.key.rsplit('.').next().unwrap();
        let is_read = code.contains(&format!("\"{}\"", row.key))
            || code.contains(&format!("\"{last}\""))
            || row.key.starts_with("retention.");
        assert!(is_read, "nothing reads {}", row.key);
    }
    let mut used = std::collections::BTreeSet::new();
    for row in table::rows().filter(|row| !row.key.starts_with("agents.")) {
        for name in variables::names(row.variable) {
            assert!(used.insert(name), "{name} sets two things");
        }
    }
}

/// Each value tells where it comes from, also within one table of the file.
#[test]
fn every_setting_is_shown_with_its_own_source_and_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let toml = "owner_token = \"file:/run/owner\"\n[limits]\nlease_s = 9\n[retention]\nended_days = 31\n\
        [notify.telegram]\nproxy = \"http://ann:hunter2@proxy:1/x\"\n\
        [[notify.webhooks]]\nname = \"a\"\nurl = \"https://a\"\nsecret = \"file:/run/a\"\n\
        [[notify.webhooks]]\nname = \"b\"\nurl = \"https://b\"\nsecret = \"env:B\"\n";
    let variables: &[(&str, &str)] = &[
        ("PROXMOX_API_TOKEN", "hunter2"),
        ("VOID_DATABASE_URL", "postgres://u:hunter2@h/d"),
        ("VOID_BRAIN", "openai"),
        ("OPENAI_API_KEY", "hunter2"),
    ];
    let settings = load(folder.path(), Some(toml), variables, Flags::default()).unwrap();
    let shown: Vec<ShownValue> = settings.shown().collect();
    let find = |name: &str| {
        let setting = shown.iter().find(|setting| setting.name == name).unwrap();
        (setting.value.as_str(), setting.source.clone())
    };
    let variable = Source::Environment;
    for (name, value, source) in [
        ("limits.lease_s", "9", Source::File),
        ("limits.open_proposals", "1000", Source::Default),
        ("retention.ended_days", "31", Source::File),
        ("retention.events_days", "30", Source::Default),
        ("owner_token", "file:/run/owner", Source::File),
        (
            "proxmox.token",
            "env:PROXMOX_API_TOKEN",
            variable("PROXMOX_API_TOKEN"),
        ),
        (
            "database.url",
            "env:VOID_DATABASE_URL",
            variable("VOID_DATABASE_URL"),
        ),
        (
            "agents.little-blue.key",
            "env:OPENAI_API_KEY",
            variable("OPENAI_API_KEY"),
        ),
        ("notify.webhooks.1.secret", "file:/run/a", Source::File),
        ("notify.webhooks.2.name", "b", Source::File),
        (
            "notify.telegram.proxy",
            "http://ann:…@proxy:1/x",
            Source::File,
        ),
    ] {
        assert_eq!(find(name), (value, source), "{name}");
    }
    let said: String = shown.iter().map(|setting| setting.value.as_str()).collect();
    assert!(!said.contains("hunter2"), "{said}");
    assert_eq!(settings.notify.webhooks.len(), 2);
}
