use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::capabilities::Capability;
use crate::changes::agent_configs::{
    ConfigCommit, ConfigPlace, InvalidConfigChange, agent_of, apply, first_text, init,
};
use crate::changes::{Change, ChangeOp};
use crate::instances::InstanceName;

const FULL: &str = r#"
persona = "watcher"
brain = "ollama"
model = "qwen3:8b"
capabilities = ["read", "act"]
tools = ["search", "service_status"]
actions = ["restart-caddy"]
schedule = ["0 6 * * *"]

[budget]
tokens_per_day = 1000
cost_micros_per_day = 2500000

[limits]
turn_tool_calls = 10
turn_seconds = 60
turn_output_tokens = 500
"#;

const SMALL: &str = "brain = \"builtin\"\n";

fn parsed(text: &str) -> AgentConfig {
    AgentConfig::parse(text).unwrap()
}

fn name(text: &str) -> AgentName {
    text.parse().unwrap()
}

fn wide() -> ConfigCeiling {
    ConfigCeiling {
        parent: name("alice"),
        capabilities: Capability::ALL.into_iter().collect(),
        budget: DailyBudget::default(),
        actions: None,
        closed_actions: BTreeSet::new(),
    }
}

fn with_place<T>(ceiling: &ConfigCeiling, made: impl Fn(ConfigPlace<'_>) -> T) -> T {
    made(ConfigPlace {
        instance: &InstanceName::parse("home").unwrap(),
        agent: &name("bob"),
        ceiling,
    })
}

fn commit(digit: char, files: &[(&str, &str)]) -> ConfigCommit {
    let files = files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
    ConfigCommit {
        id: CommitId::parse(&digit.to_string().repeat(40)).unwrap(),
        files: ConfigFiles::of(files).unwrap(),
    }
}

fn applied(old: &[(&str, &str)], new: &[(&str, &str)]) -> Result<Change, InvalidConfigChange> {
    let (from, to) = (commit('a', old), commit('b', new));
    with_place(&wide(), |place| apply(place, Some(&from), &to))
}

#[test]
fn a_config_is_read_whole() {
    let config = parsed(FULL);
    assert_eq!(config.persona, Some(name("watcher")));
    assert_eq!(config.brain, BrainKind::Ollama);
    assert_eq!(config.model.as_deref(), Some("qwen3:8b"));
    assert!(config.capabilities.has(Capability::Act));
    assert_eq!(config.budget.tokens, Some(1_000));
    assert_eq!(config.limits.turn_seconds, Some(60));
    assert_eq!(config.schedule.len(), 1);
    let small = parsed(SMALL);
    assert_eq!(small.tools, None);
    assert_eq!(small.capabilities, Capabilities::none());
}

#[test]
fn what_is_wrong_is_told_by_line_and_key() {
    let told = |text: &str| AgentConfig::parse(text).unwrap_err().to_string();
    for (text, line, key) in [
        ("", 1, ""),
        ("brain = \"builtin\"\ngrants = [\"all\"]\n", 2, "grants"),
        ("brain = \"shell\"\n", 1, "brain"),
        ("brain = 7\n", 1, "brain"),
        (
            "brain = \"builtin\"\n\ncapabilities = [\"read\",\n \"approve\"]\n",
            4,
            "capabilities",
        ),
        (
            "brain = \"builtin\"\ncapabilities = [\"read\", \"read\"]\n",
            2,
            "capabilities",
        ),
        ("brain = \"builtin\"\nmodel = \"a b\"\n", 2, "model"),
        ("brain = \"builtin\"\nmodel = \"\"\n", 2, "model"),
        ("brain = \"builtin\"\npersona = \"../x\"\n", 2, "persona"),
        ("brain = \"builtin\"\ntools = [\"rm -rf\"]\n", 2, "tools"),
        ("brain = \"builtin\"\nactions = [\"-x\"]\n", 2, "actions"),
        (
            "brain = \"builtin\"\nschedule = [\"@reboot\"]\n",
            2,
            "schedule",
        ),
        (
            "brain = \"builtin\"\nschedule = [\"* * * * * rm\"]\n",
            2,
            "schedule",
        ),
        (
            "brain = \"builtin\"\n[budget]\ntokens_per_day = 0\n",
            3,
            "budget.tokens_per_day",
        ),
        (
            "brain = \"builtin\"\n[budget]\ntokens_per_day = -1\n",
            3,
            "tokens_per_day",
        ),
        (
            "brain = \"builtin\"\n[limits]\nturn_seconds = 121\n",
            3,
            "limits.turn_seconds",
        ),
        (
            "brain = \"builtin\"\n[limits]\nturn_steps = 1\n",
            3,
            "turn_steps",
        ),
        ("brain = \"builtin\"\nbrain = \"claude\"\n", 2, "brain"),
        ("brain = \"builtin\nmodel = 1\n", 1, "brain"),
    ] {
        let said = told(text);
        assert!(
            said.starts_with(&format!("line {line}, {key}")),
            "{text:?}: {said}"
        );
        assert!(!said.contains('\n'), "{said}");
    }
    let long = format!("{SMALL}{}", "#".repeat(CONFIG_BYTES_MAX));
    assert!(told(&long).contains("longer than"));
    let many: Vec<String> = (0..=TOOLS_MAX)
        .map(|n| format!("\"t{}\"", "a".repeat(n + 1)))
        .collect();
    let many = format!("{SMALL}tools = [{}]\n", many.join(","));
    assert!(AgentConfig::parse(&many).is_err());
}

/// One value at a time is made another: the words name it, and say nothing else.
#[test]
fn the_difference_in_words_leaves_out_nothing() {
    let edits = [
        ("persona = \"watcher\"", "persona = \"other\"", "persona"),
        ("persona = \"watcher\"\n", "", "persona"),
        ("brain = \"ollama\"", "brain = \"claude\"", "brain"),
        ("model = \"qwen3:8b\"", "model = \"big\"", "model"),
        ("model = \"qwen3:8b\"\n", "", "model"),
        ("\"read\", \"act\"", "\"read\"", "loses the capability act"),
        (
            "\"read\", \"act\"",
            "\"read\", \"act\", \"spawn\"",
            "gains the capability spawn",
        ),
        ("\"search\", ", "", "loses the tool search"),
        ("\"search\", ", "\"search\", \"x\", ", "gains the tool x"),
        (
            "tools = [\"search\", \"service_status\"]\n",
            "",
            "gains tools: every one",
        ),
        (
            "[\"restart-caddy\"]",
            "[\"stop-nas\"]",
            "gains the action stop-nas",
        ),
        (
            "actions = [\"restart-caddy\"]\n",
            "",
            "gains actions: every one",
        ),
        (
            "[\"0 6 * * *\"]",
            "[\"0 6 * * *\", \"* * * * *\"]",
            "is woken by itself at \"* * * * *\"",
        ),
        ("[\"0 6 * * *\"]", "[]", "is no longer woken"),
        ("tokens_per_day = 1000", "tokens_per_day = 2000", "rises"),
        ("tokens_per_day = 1000\n", "", "no bound of its own"),
        (
            "cost_micros_per_day = 2500000",
            "cost_micros_per_day = 1",
            "falls",
        ),
        ("turn_tool_calls = 10", "turn_tool_calls = 20", "tool calls"),
        ("turn_seconds = 60", "turn_seconds = 61", "61 seconds"),
        ("turn_output_tokens = 500\n", "", "output tokens"),
    ];
    for (old, new, said) in edits {
        let text = FULL.replace(old, new);
        assert_ne!(text, FULL, "{old}");
        let lines = differences(&parsed(FULL), &parsed(&text));
        assert!(lines.iter().any(|line| line.contains(said)), "{lines:?}");
        // What is told one way round is told the other way round.
        let back = differences(&parsed(&text), &parsed(FULL));
        assert_eq!(lines.len(), back.len(), "{lines:?} {back:?}");
    }
    assert_eq!(differences(&parsed(FULL), &parsed(FULL)), [""; 0]);
}

#[test]
fn what_an_agent_gains_stands_before_what_it_loses() {
    let new = FULL
        .replace("\"read\", \"act\"", "\"read\", \"meta.update\"")
        .replace("tokens_per_day = 1000", "tokens_per_day = 10")
        .replace("\"claude\"", "\"builtin\"")
        .replace("brain = \"ollama\"", "brain = \"claude\"");
    let lines = differences(&parsed(FULL), &parsed(&new));
    assert_eq!(
        lines,
        [
            "gains the capability meta.update",
            "its brain was ollama, is claude",
            "loses the capability act",
            "its budget falls from 1000 tokens a day to 10 tokens a day",
        ]
    );
}

#[test]
fn what_is_more_than_the_parent_has_is_refused_by_its_name() {
    let mut ceiling = wide();
    assert_eq!(excesses(&parsed(FULL), &ceiling), []);
    ceiling.capabilities = [Capability::Read].into_iter().collect();
    ceiling.budget = DailyBudget {
        tokens: Some(999),
        cost_micros: Some(2_499_999),
    };
    ceiling.actions = Some(BTreeSet::new());
    let all: Vec<String> = excesses(&parsed(FULL), &ceiling)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        all,
        [
            "capability act: alice does not hold it",
            "action restart-caddy: it is not among those of alice",
            "budget.tokens_per_day 1000: alice has 999",
            "budget.cost_micros_per_day 2500000: alice has 2499999",
        ]
    );
    // Every action is more than a list of them; no bound of its own is no excess.
    assert_eq!(
        excesses(&parsed(SMALL), &ceiling),
        [ConfigExcess::EveryAction {
            parent: name("alice")
        }]
    );
    ceiling = wide();
    ceiling.closed_actions = [ActionId::parse("restart-caddy").unwrap()].into();
    let closed = excesses(&parsed(FULL), &ceiling);
    assert!(matches!(&closed[..], [ConfigExcess::ClosedAction { .. }]));
    let refused = with_place(&ceiling, |place| init(place, FULL));
    let said = refused.unwrap_err().to_string();
    assert!(
        said.contains("restart-caddy") && said.contains("alice"),
        "{said}"
    );
    // The bound itself is no excess.
    ceiling = wide();
    ceiling.budget.tokens = Some(1_000);
    assert_eq!(excesses(&parsed(FULL), &ceiling), []);
}

#[test]
fn a_childs_use_counts_against_everybody_above() {
    let parents: BTreeMap<AgentName, Option<AgentName>> = [
        ("root", None),
        ("alice", Some("root")),
        ("bob", Some("alice")),
        ("carol", Some("bob")),
        ("dave", Some("alice")),
        // A circle grants nobody anything, and ends.
        ("x", Some("y")),
        ("y", Some("x")),
    ]
    .into_iter()
    .map(|(child, parent)| (name(child), parent.map(name)))
    .collect();
    let spent = |tokens| SpentToday {
        tokens,
        cost_micros: tokens,
    };
    let own = [("carol", 100), ("bob", 10), ("dave", 5), ("x", 1)]
        .map(|(who, tokens)| (name(who), spent(tokens)))
        .into();
    let all = with_those_below(&own, &parents);
    for (who, tokens) in [
        ("carol", 100),
        ("bob", 110),
        ("dave", 5),
        ("alice", 115),
        ("root", 115),
        ("x", 1),
        ("y", 1),
    ] {
        assert_eq!(all[&name(who)].tokens, tokens, "{who}");
    }
    let budget = |tokens| DailyBudget {
        tokens,
        cost_micros: None,
    };
    let names = ["carol", "bob", "alice"].map(name);
    let way_up = |bounds: [Option<u64>; 3]| {
        let way = names.iter().zip(bounds);
        let way = way.map(|(name, bound)| (name, budget(bound), all[name]));
        overspent(way).map(|over| over.whose.to_string())
    };
    assert_eq!(way_up([None, None, None]), None);
    assert_eq!(way_up([Some(101), Some(111), Some(116)]), None);
    assert_eq!(way_up([None, None, Some(115)]), Some("alice".to_owned()));
    assert_eq!(way_up([None, Some(110), Some(1)]), Some("bob".to_owned()));
    assert_eq!(way_up([Some(100), None, None]), Some("carol".to_owned()));
    let full = BTreeMap::from([(name("a"), spent(u64::MAX)), (name("b"), spent(1))]);
    let both = BTreeMap::from([(name("a"), Some(name("b"))), (name("b"), None)]);
    assert_eq!(with_those_below(&full, &both)[&name("b")].tokens, u64::MAX);
}

#[test]
fn a_commit_is_named_by_its_whole_id_alone() {
    for good in ["a".repeat(40), "0123456789abcdef".repeat(4)] {
        assert_eq!(CommitId::parse(&good).unwrap().as_str(), good);
    }
    for bad in [
        String::new(),
        "main".to_owned(),
        "HEAD".to_owned(),
        "--upload-pack=touch /tmp/x".to_owned(),
        "-".repeat(40),
        "a".repeat(39),
        "a".repeat(41),
        "A".repeat(40),
        "0".repeat(40),
        "0".repeat(64),
        format!("{}\n", "a".repeat(40)),
        format!("{}~1", "a".repeat(38)),
        format!("{}:x", "a".repeat(38)),
    ] {
        assert!(CommitId::parse(&bad).is_err(), "{bad:?}");
    }
}

#[test]
fn a_commit_holds_a_few_plain_files() {
    let of = |files: &[(&str, &[u8])]| {
        let files = files.iter();
        ConfigFiles::of(files.map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec())))
    };
    assert!(of(&[("agent.toml", b"x"), ("prompts/day.md", b"y")]).is_ok());
    assert_eq!(
        of(&[("other.toml", b"x")]),
        Err(InvalidConfigFile::NoConfig)
    );
    for path in [
        "../x",
        "/etc/passwd",
        "a//b",
        ".gitattributes",
        "a/.git/config",
        "-x",
        "a b",
        "a\nb",
        "",
        "a/",
        "C:\\x",
        "ä",
    ] {
        let refused = of(&[("agent.toml", b"x"), (path, b"y")]);
        assert!(
            matches!(refused, Err(InvalidConfigFile::Path(_))),
            "{path:?}"
        );
    }
    let deep = ["a"; 9].join("/");
    assert!(of(&[("agent.toml", b"x"), (&deep, b"y")]).is_err());
    for text in [&b"\xff\xfe"[..], b"a\0b"] {
        let refused = of(&[("agent.toml", b"x"), ("b", text)]);
        assert!(matches!(refused, Err(InvalidConfigFile::NotText(_))));
    }
    let large = vec![b'a'; FILE_BYTES_MAX + 1];
    assert_eq!(
        of(&[("agent.toml", &large)]),
        Err(InvalidConfigFile::TooLarge)
    );
    let some = vec![b'a'; FILE_BYTES_MAX];
    let all: Vec<(String, Vec<u8>)> = (0..5).map(|n| (format!("f{n}"), some.clone())).collect();
    assert_eq!(ConfigFiles::of(all), Err(InvalidConfigFile::TooLarge));
    let many = (0..=FILES_MAX).map(|n| (format!("f{n}"), Vec::new()));
    assert_eq!(ConfigFiles::of(many), Err(InvalidConfigFile::TooMany));
    let alike = of(&[("agent.toml", b"x"), ("A", b""), ("a", b"")]);
    assert!(matches!(alike, Err(InvalidConfigFile::Alike(_))));
    // Where one file ends and the next begins is part of what is bound.
    let digest = |files: &[(&str, &[u8])]| of(files).unwrap().digest();
    assert_ne!(
        digest(&[("agent.toml", b"x"), ("b", b"yz")]),
        digest(&[("agent.toml", b"xb"), ("b", b"z")])
    );
}

#[test]
fn the_change_binds_both_commits_and_every_byte() {
    let change = applied(
        &[("agent.toml", SMALL)],
        &[("agent.toml", FULL), ("notes.md", "hi\n")],
    );
    let change = change.unwrap();
    assert_eq!(agent_of(&change), Some(name("bob")));
    assert_eq!(change.base, Some("a".repeat(40)));
    let deploy = change.deploy.clone().unwrap();
    assert_eq!(deploy.commit.unwrap().as_str(), "b".repeat(40));
    assert_eq!(deploy.parent, Some(name("alice")));
    assert_eq!(
        change.summary[0],
        "bob, below alice: applies the commit bbbbbbbbbbbb instead of aaaaaaaaaaaa"
    );
    assert_eq!(change.summary[1], "gains the capability read");
    assert!(
        change
            .summary
            .contains(&"beside agent.toml: notes.md".to_owned())
    );
    assert!(
        change.patch.contains("new file notes.md\n"),
        "{}",
        change.patch
    );
    let digest = |change: &Change| change.clone().into_subject().unwrap().digest;
    let before = digest(&change);
    let edits: [fn(&mut Change); 5] = [
        |change| change.base = None,
        |change| change.deploy.as_mut().unwrap().commit = None,
        |change| change.deploy.as_mut().unwrap().parent = None,
        |change| change.deploy.as_mut().unwrap().instance.push('x'),
        |change| change.result = crate::digests::Digest::ZERO,
    ];
    for edit in edits {
        let mut other = change.clone();
        edit(&mut other);
        assert_ne!(digest(&other), before);
    }
    let same = commit('a', &[("agent.toml", SMALL)]);
    let refused = with_place(&wide(), |place| apply(place, Some(&same), &same));
    assert_eq!(refused, Err(InvalidConfigChange::Same));
}

/// Lines that look like ours, signs that turn text round, text without an end: all of it is there, and nothing of it is
/// taken for a line of ours.
#[test]
fn a_config_cannot_make_the_card_show_less() {
    let hostile = format!(
        "{SMALL}# new file nothing.md\n# file gone agent.toml\n--- a/agent.toml\n+++ b/agent.toml\n@@ -1 +1 @@\n\\ No newline at end of file\n# \u{202e}desrever\r# more"
    );
    let change = applied(
        &[("agent.toml", SMALL)],
        &[("agent.toml", SMALL), ("notes.md", &hostile)],
    )
    .unwrap();
    let ours: Vec<&str> = change
        .patch
        .lines()
        .filter(|line| !line.starts_with([' ', '+', '-', '@', '\\']))
        .collect();
    assert_eq!(ours, ["new file notes.md"]);
    let subject = change.clone().into_subject().unwrap();
    let bound = subject.change().unwrap();
    assert_eq!(bound.patch, change.patch);
    assert!(
        change
            .summary
            .iter()
            .any(|line| line == "nothing that it may or has changes")
    );
    assert!(
        change
            .summary
            .iter()
            .any(|line| line.ends_with("all of it is in the difference"))
    );
    // What no card shows whole is not proposed.
    let long = "a line that is added\n".repeat(3_500);
    let long = [("agent.toml", SMALL), ("notes.md", &long[..60_000])];
    let much = [("b.md", &"b\n".repeat(3_900)[..]), long[0], long[1]];
    assert_eq!(
        applied(&[("agent.toml", SMALL)], &much),
        Err(InvalidConfigChange::TooLarge)
    );
}

#[test]
fn somebody_new_is_introduced_with_every_value() {
    let change = with_place(&wide(), |place| init(place, FULL)).unwrap();
    assert_eq!((change.op, &change.base), (ChangeOp::Create, &None));
    assert_eq!(first_text(&change).as_deref(), Some(FULL));
    let said = change.summary.join("\n");
    for value in [
        "makes the agent bob below alice",
        "act, read",
        "1000 tokens a day",
        "$2.500000 a day",
        "restart-caddy",
        "search, service_status",
        "\"0 6 * * *\"",
        "10",
        "60",
        "500",
        "ollama",
        "qwen3:8b",
        "watcher",
    ] {
        assert!(said.contains(value), "{value}: {said}");
    }
    let mut edited = change;
    edited.patch = edited.patch.replace("1000", "9000");
    assert_eq!(first_text(&edited), None);
}
