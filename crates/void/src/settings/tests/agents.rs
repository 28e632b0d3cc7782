use super::*;

fn blue(toml: Option<&str>, variables: &[(&str, &str)]) -> Result<AgentSettings, CommandError> {
    let folder = tempfile::tempdir().unwrap();
    let settings = load(folder.path(), toml, variables, Flags::default());
    settings.map(|settings| settings.agents["little-blue"].clone())
}

#[test]
fn agents_think_with_rules_unless_told_otherwise() {
    let agent = blue(None, &[("ANTHROPIC_API_KEY", "sk-1")]).unwrap();
    assert_eq!(
        agent.brain.value,
        BrainKind::Builtin,
        "a key alone changes nothing"
    );
    assert_eq!((agent.model.value, agent.base_url.value), (None, None));
    let file = "[agents.little-blue]\nbrain = \"anthropic\"\nmodel = \"m-file\"\nkey = \"file:/run/key\"\n\
        daily_tokens = 5000\nprices = { input = 3, output = 15.5 }\n";
    let agent = blue(Some(file), &[("ANTHROPIC_API_KEY", "sk-1")]).unwrap();
    assert_eq!(agent.brain.value, BrainKind::Anthropic);
    assert_eq!(agent.model.value.as_deref(), Some("m-file"));
    assert_eq!(agent.key.value, Some(Reference::File("/run/key".into())));
    assert_eq!(agent.daily_tokens.value, Some(5_000));
    assert_eq!(
        (agent.prices.input, agent.prices.output),
        (3_000_000, 15_500_000)
    );
    for (toml, problem) in [
        (
            "[agents.litle-blue]\nbrain = \"builtin\"",
            "did you mean little-blue?",
        ),
        (
            "[agents.little-blue]\nbrain = \"gpt\"",
            "\"gpt\" is no brain",
        ),
        (
            "[agents.little-blue]\nkey = \"sk-secret\"",
            "must say where the secret is",
        ),
        (
            "[agents.little-blue]\nmodle = \"x\"",
            "did you mean `model`?",
        ),
        (
            "[agents.little-blue]\nprices = { input = -1.0 }",
            "a price is 0 or more",
        ),
    ] {
        let error = blue(Some(toml), &[]).unwrap_err().message;
        assert!(
            error.contains(problem) && !error.contains("sk-secret"),
            "{error}"
        );
    }
}

/// The variables are the defaults of all agents.
#[test]
fn an_agents_own_table_wins_over_the_environment() {
    let variables: &[(&str, &str)] = &[
        ("VOID_BRAIN", "ollama"),
        ("VOID_MODEL", "m-env"),
        ("OLLAMA_HOST", "box:11434"),
        ("ANTHROPIC_BASE_URL", "http://elsewhere"),
        ("ANTHROPIC_API_KEY", "sk-1"),
    ];
    let agent = blue(None, variables).unwrap();
    assert_eq!(agent.brain.value, BrainKind::Ollama);
    assert_eq!(agent.brain.source, Source::Environment("VOID_BRAIN"));
    assert_eq!(agent.model.value.as_deref(), Some("m-env"));
    assert_eq!(agent.base_url.value.as_deref(), Some("box:11434"));
    assert_eq!(agent.key.value, None, "Ollama has no key by itself");

    let file = "[agents.little-blue]\nbrain = \"anthropic\"\nmodel = \"m-file\"\nkey = \"file:/run/key\"\n\
        base_url = \"http://own\"\n";
    let agent = blue(Some(file), variables).unwrap();
    assert_eq!(
        (agent.brain.value, &agent.brain.source),
        (BrainKind::Anthropic, &Source::File)
    );
    assert_eq!(
        (agent.model.value.as_deref(), &agent.model.source),
        (Some("m-file"), &Source::File)
    );
    assert_eq!(agent.key.value, Some(Reference::File("/run/key".into())));
    assert_eq!(agent.base_url.value.as_deref(), Some("http://own"));

    // What the table leaves open goes by the brain that it names.
    let agent = blue(
        Some("[agents.little-blue]\nbrain = \"claude\"\n"),
        variables,
    )
    .unwrap();
    assert_eq!(agent.brain.value, BrainKind::Claude);
    assert_eq!(
        agent.key.source,
        Source::Environment("ANTHROPIC_API_KEY"),
        "by the agent's own brain"
    );
    assert_eq!(agent.base_url.value.as_deref(), Some("http://elsewhere"));
    assert_eq!(agent.model.source, Source::Environment("VOID_MODEL"));

    // Others have no table of their own.
    let folder = tempfile::tempdir().unwrap();
    let settings = load(folder.path(), Some(file), variables, Flags::default()).unwrap();
    let others = settings
        .agents
        .iter()
        .filter(|(slug, _)| **slug != "little-blue");
    for (slug, agent) in others {
        assert_eq!(agent.brain.value, BrainKind::Ollama, "{slug}");
        assert_eq!(agent.model.value.as_deref(), Some("m-env"), "{slug}");
    }
}

/// Written once, and told with its source.
#[test]
fn the_default_model_stands_in_one_place() {
    let variables: &[(&str, &str)] = &[("VOID_BRAIN", "anthropic")];
    let agent = blue(None, variables).unwrap();
    assert_eq!(agent.model.source, Source::Default);
    let model = agent.model.value.unwrap();
    assert_eq!(Some(model.as_str()), BrainKind::Claude.model_default());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut named = Vec::new();
    for start in ["crates/void", "crates/void-agent", "docs", "README.md"] {
        files_that_name(&root.join(start), &model, &mut named);
    }
    let mut named: Vec<_> = named
        .iter()
        .map(|path| path.strip_prefix(&root).unwrap().to_str().unwrap())
        .collect();
    named.sort_unstable();
    assert_eq!(
        named,
        ["crates/void/src/settings/brains.rs", "docs/settings.md"],
        "the page is made from the code"
    );
}

fn files_that_name(path: &Path, word: &str, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            files_that_name(&entry.unwrap().path(), word, found);
        }
    } else if std::fs::read_to_string(path).is_ok_and(|text| text.contains(word)) {
        found.push(path.to_owned());
    }
}
