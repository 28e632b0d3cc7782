//! The tree is the product too: which crate may know which, and that the documents name real tests.

mod cycles;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use void_domain::events::EventKind;

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// What each crate may depend on; adding an edge is a decision with a record in docs/adr.
const EDGES: &[(&str, &[&str])] = &[
    ("void-domain", &[]),
    ("void-act", &[]),
    ("void-api", &["void-domain"]),
    ("void-verify", &[]),
    ("void-vault", &[]),
    ("void-embeddings", &[]),
    ("void-capture", &[]),
    ("void-sandbox", &[]),
    ("void-supervise", &["void-sandbox"]),
    // The tree of agents and the table of rights (ADR 37).
    ("void-tree", &["void-domain"]),
    ("void-store", &["void-domain"]),
    ("void-channels", &["void-domain", "void-act"]),
    (
        "void-control",
        // What fetches and reads foreign bytes, called by the use cases that keep what came of it (ADR 30); what makes and
        // compares vectors (ADR 28); what reads and writes the notes of a vault (ADR 29).
        &[
            "void-capture",
            "void-domain",
            "void-embeddings",
            "void-store",
            "void-channels",
            "void-vault",
            // Processes of agents: what confines them, what looks after them, and who stands above whom (ADR 38).
            "void-sandbox",
            "void-supervise",
            "void-tree",
        ],
    ),
    // What works beside the use cases, on the tables and the record that they keep. None of them knows another,
    // nor a machine; they are built side by side, and `void-agent` with them.
    (
        "void-access",
        &["void-control", "void-domain", "void-store"],
    ),
    (
        "void-bridge",
        &["void-control", "void-domain", "void-store"],
    ),
    (
        "void-notify",
        &["void-control", "void-domain", "void-store"],
    ),
    (
        "void-server",
        &[
            "void-access",
            "void-agent",
            "void-api",
            "void-bridge",
            // Holds the one `Captures` of the process, and gives it to those use cases.
            "void-capture",
            "void-control",
            "void-domain",
            "void-notify",
            // Names operations and rights on the wire.
            "void-tree",
        ],
    ),
    (
        "void",
        &[
            "void-access",
            "void-act",
            "void-agent",
            "void-api",
            "void-bridge",
            "void-capture",
            "void-channels",
            "void-control",
            "void-domain",
            "void-embeddings",
            "void-notify",
            "void-rehearsal",
            "void-server",
            "void-store",
            // An agent process is this binary.
            "void-supervise",
            "void-tree",
            "void-vault",
            "void-verify",
        ],
    ),
    ("void-agent", &["void-control", "void-domain"]),
    ("void-rehearsal", &["void-domain"]),
    (
        "void-bench",
        &[
            "void-agent",
            "void-capture",
            "void-channels",
            "void-control",
            "void-domain",
            "void-embeddings",
            "void-server",
            "void-store",
            "void-testkit",
            "void-tree",
            "void-verify",
        ],
    ),
    ("void-testkit", &["void-domain"]),
];

fn manifest(name: &str) -> toml::Table {
    fs::read_to_string(root().join("crates").join(name).join("Cargo.toml"))
        .unwrap()
        .parse()
        .unwrap()
}

fn dependencies(name: &str) -> BTreeSet<String> {
    let manifest = manifest(name);
    let table = manifest
        .get("dependencies")
        .and_then(|table| table.as_table());
    table
        .map(|table| table.keys().cloned().collect())
        .unwrap_or_default()
}

#[test]
fn no_crate_knows_more_than_it_may() {
    let listed: BTreeMap<&str, BTreeSet<&str>> = EDGES
        .iter()
        .map(|(name, edges)| (*name, edges.iter().copied().collect()))
        .collect();
    let crates: BTreeSet<String> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(
        crates,
        listed.keys().map(|name| (*name).to_owned()).collect(),
        "a crate came or went without a decision"
    );
    for (name, allowed) in listed {
        let ours: BTreeSet<String> = dependencies(name)
            .into_iter()
            .filter(|dependency| crates.contains(dependency))
            .collect();
        let unexpected: Vec<&String> = ours
            .iter()
            .filter(|dependency| !allowed.contains(dependency.as_str()))
            .collect();
        assert!(
            unexpected.is_empty(),
            "{name} has the new edge {unexpected:?}"
        );
    }
}

/// SQL, HTTP and processes each have one home.
#[test]
fn only_the_store_has_sql_and_only_channels_and_act_reach_machines() {
    let database = ["rusqlite", "tokio-postgres", "deadpool-postgres"];
    for (name, _) in EDGES {
        let holds = dependencies(name)
            .into_iter()
            .any(|dependency| database.contains(&dependency.as_str()));
        // The benchmark's floor writes rows of its own, into a file of its own.
        let may_hold = matches!(*name, "void-store" | "void-bench");
        assert_eq!(holds, may_hold, "{name}");
    }
    for (name, _) in EDGES.iter().filter(|(name, _)| {
        matches!(
            *name,
            "void-domain" | "void-api" | "void-act" | "void-tree" | "void-verify" | "void-vault"
        )
    }) {
        let forbidden = ["tokio", "reqwest", "axum", "hyper"];
        assert!(
            !dependencies(name)
                .iter()
                .any(|dependency| forbidden.contains(&dependency.as_str())),
            "{name}"
        );
    }
    assert!(
        dependencies("void-act").len() <= 6,
        "{:?}",
        dependencies("void-act")
    );
}

/// What confines a reader of foreign bytes is in one crate, and so is what reads them; what confines an agent is in
/// another. Neither knows anything of ours.
#[test]
fn foreign_bytes_and_confined_agents_have_one_home_each() {
    let homes: [(&str, &[&str]); 3] = [
        ("html5gum", &["void-capture"]),
        ("landlock", &["void-capture", "void-sandbox"]),
        ("seccompiler", &["void-capture", "void-sandbox"]),
    ];
    for (dependency, home) in homes {
        let holds = |name: &&str| dependencies(name).contains(dependency);
        let names = EDGES.iter().map(|(name, _)| *name);
        assert_eq!(names.filter(holds).collect::<Vec<_>>(), home);
    }
    let ours = |dependency: &String| dependency.starts_with("void");
    for name in ["void-capture", "void-sandbox"] {
        assert!(!dependencies(name).iter().any(ours), "{name}");
    }
}

/// How the owner signs in and is told is no business of the use cases: each of these has one home.
#[test]
fn only_its_crate_knows_how_the_owner_signs_in_and_is_told() {
    let homes = [
        ("argon2", "void-access"),
        ("webauthn-rs", "void-access"),
        ("hmac", "void-notify"),
    ];
    for (dependency, home) in homes {
        let holds = |name: &&str| dependencies(name).contains(dependency);
        let names = EDGES.iter().map(|(name, _)| *name);
        assert_eq!(names.filter(holds).collect::<Vec<_>>(), [home]);
    }
    for name in ["void-control", "void-access", "void-bridge"] {
        assert!(!dependencies(name).contains("reqwest"), "{name}");
    }
}

/// One place makes permits; clippy knows it, and this says that nobody silenced clippy elsewhere.
#[test]
fn permits_are_issued_in_one_place() {
    let mut places = Vec::new();
    for (name, _) in EDGES {
        for file in sources(&root().join("crates").join(name).join("src")) {
            let text = fs::read_to_string(&file).unwrap();
            if text.contains("Permit::issue(") {
                places.push(file.strip_prefix(root()).unwrap().display().to_string());
            }
        }
    }
    assert_eq!(places, ["crates/void-control/src/proposals/start.rs"]);
}

/// Every direct dependency is there for a reason that somebody wrote down.
#[test]
fn every_dependency_has_its_line() {
    let text = fs::read_to_string(root().join("docs/dependencies.md")).unwrap();
    let mut all = BTreeSet::new();
    for (name, _) in EDGES {
        all.extend(dependencies(name));
        let manifest = manifest(name);
        let dev = manifest
            .get("dev-dependencies")
            .and_then(|table| table.as_table());
        all.extend(dev.into_iter().flat_map(|table| table.keys().cloned()));
    }
    for dependency in all.iter().filter(|name| !name.starts_with("void")) {
        assert!(
            text.contains(&format!("`{dependency}`")),
            "docs/dependencies.md does not say why {dependency} is there"
        );
    }
}

/// The threat model names the test behind each defence; a name that is gone is a defence that is gone.
#[test]
fn the_threat_model_names_tests_that_exist() {
    let text = fs::read_to_string(root().join("docs/threat-model.md")).unwrap();
    let mut tests = String::new();
    for (name, _) in EDGES {
        for folder in ["src", "tests"] {
            for file in sources(&root().join("crates").join(name).join(folder)) {
                tests.push_str(&fs::read_to_string(file).unwrap());
            }
        }
    }
    let named: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with('|'))
        .filter_map(|line| line.trim_end_matches('|').rsplit('|').next())
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect();
    assert!(named.len() >= 30, "{}", named.len());
    for name in named {
        assert!(
            tests.contains(&format!("fn {name}(")),
            "docs/threat-model.md names {name}, which is no test"
        );
    }
}

/// Words of the same shape as a verb of the record that are none: files, fail points, settings, a webhook's type, columns.
const NO_VERBS: &[&str] = &[
    "alert.down",
    "alert.over",
    "c.id",
    "clock.accept",
    "clock.json",
    "clock.partial",
    "execute.after",
    "execute.before",
    "instance.json",
    "notes.txt",
    "notification.test",
    "ntfy.token",
    "p.id",
    "runbooks.page_id",
    "telegram.api_url",
    "u.v",
    "void.db",
];

/// Every verb that the code can write into the record: the words of that shape in the crates that write it, and
/// those of the entries that are told.
fn verbs() -> BTreeSet<String> {
    let is_verb = |word: &str| {
        word.split_once('.').is_some_and(|(noun, done)| {
            let plain = |part: &str| {
                !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
            };
            plain(noun) && plain(done)
        })
    };
    let mut found = BTreeSet::new();
    let writers = [
        "void-access",
        "void-bridge",
        "void-control",
        "void-notify",
        "void-store",
    ];
    for name in writers {
        for file in sources(&root().join("crates").join(name).join("src")) {
            let text = fs::read_to_string(file).unwrap();
            found.extend(
                text.split('"')
                    .filter(|word| is_verb(word))
                    .map(str::to_owned),
            );
        }
    }
    for other in NO_VERBS {
        found.remove(*other);
    }
    let told = EventKind::ALL.into_iter().flat_map(EventKind::verbs);
    found.extend(told.map(|verb| (*verb).to_owned()));
    found
}

/// The Audit shows a verb that it has no sentence for as it is written in the code.
#[test]
fn every_verb_of_the_record_has_a_sentence_and_a_filter() {
    let page = root().join("crates/void-server/ui");
    let strings = fs::read_to_string(page.join("audit/strings.js")).unwrap();
    let audit = fs::read_to_string(page.join("pages/audit.js")).unwrap();
    let (_, kinds) = audit.split_once("\nconst KINDS = ").unwrap();
    let (kinds, _) = kinds.split_once(';').unwrap();
    let verbs = verbs();
    assert!(verbs.len() >= 60, "{verbs:?}");
    for verb in &verbs {
        let sentence = format!("\"audit.did.{verb}\":");
        assert!(strings.contains(&sentence), "no sentence for {verb}");
        let (noun, _) = verb.split_once('.').unwrap();
        assert!(
            kinds.contains(&format!("\"{noun}.\"")),
            "no filter for {noun}"
        );
        assert!(
            strings.contains(&format!("\"audit.kind.{noun}\":")),
            "{noun}"
        );
    }
}

pub fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}
