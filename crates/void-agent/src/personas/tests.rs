use super::*;

fn builtin() -> Personas {
    Personas::builtin().unwrap()
}

const NIGHT: &str = "name = \"Night watch\"\nabout = \"Looks at night\"\ncapabilities = [\"read\"]\ntext = \"You are the night watch.\"\n";

#[test]
fn those_that_come_with_void_are_these() {
    let all: Vec<(String, Vec<Capability>)> = builtin()
        .iter()
        .map(|one| (one.slug.to_string(), one.capabilities.iter().collect()))
        .collect();
    assert_eq!(
        all,
        [
            (
                "companion".to_owned(),
                vec![Capability::Read, Capability::Suggest]
            ),
            (
                "little-blue".to_owned(),
                vec![Capability::Read, Capability::Act]
            ),
            (
                "sentinel".to_owned(),
                vec![Capability::Read, Capability::AuditRead]
            ),
        ]
    );
}

#[test]
fn a_file_of_the_owners_is_a_persona_like_ours() {
    let mut personas = builtin();
    personas.add("night-watch.toml", NIGHT).unwrap();
    let names: Vec<&str> = personas.iter().map(|one| one.slug.as_str()).collect();
    assert_eq!(
        names,
        ["companion", "little-blue", "night-watch", "sentinel"]
    );
    let night = personas.get("night-watch").unwrap();
    let prompt = night.prompt(&night.capabilities);
    assert!(prompt.starts_with("You are the night watch."), "{prompt}");
    assert!(prompt.contains("You may not propose actions"), "{prompt}");
    // What it says of itself is put in last, so it cannot stand for what Void says.
    let sly = NIGHT.replace("the night watch.", "{rights} and {persona}");
    personas.add("sly.toml", &sly).unwrap();
    let sly = personas.get("sly").unwrap();
    let prompt = sly.prompt(&sly.capabilities);
    assert!(
        prompt.starts_with("You are {rights} and {persona}"),
        "{prompt}"
    );
    assert_eq!(prompt.matches("You may not propose").count(), 1);
}

#[test]
fn a_bad_file_is_an_error_that_names_it() {
    let with = |from: &str, to: &str| NIGHT.replace(from, to);
    let long = "x".repeat(PERSONA_BYTES_MAX);
    for (file, text, problem) in [
        ("Night.toml", NIGHT.to_owned(), "called NAME.toml"),
        ("night", NIGHT.to_owned(), "called NAME.toml"),
        ("night.md", NIGHT.to_owned(), "called NAME.toml"),
        ("../night.toml", NIGHT.to_owned(), "called NAME.toml"),
        (".toml", NIGHT.to_owned(), "called NAME.toml"),
        ("owner.toml", NIGHT.to_owned(), "not a persona's"),
        ("file.toml", NIGHT.to_owned(), "not a persona's"),
        ("0wner.toml", NIGHT.to_owned(), "not a persona's"),
        (
            "night.toml",
            with("Night watch", "Little  B1ue"),
            "shown as somebody else's",
        ),
        (
            "night.toml",
            with("Night watch", "SENTINEL."),
            "shown as somebody else's",
        ),
        (
            "night.toml",
            with("Night watch", "You"),
            "shown as somebody else's",
        ),
        ("night.toml", with("Night watch", "  "), "name is one line"),
        (
            "little-blue.toml",
            NIGHT.to_owned(),
            "reads like that of \"little-blue\"",
        ),
        (
            "l1ttle-b1ue.toml",
            NIGHT.to_owned(),
            "reads like that of \"little-blue\"",
        ),
        ("night.toml", "name = ".to_owned(), "line 1"),
        ("night.toml", String::new(), "missing field `name`"),
        (
            "night.toml",
            with("about", "abuot"),
            "unknown field `abuot`",
        ),
        ("night.toml", with("\"read\"", "\"approve\""), "capability"),
        ("night.toml", with("Night watch", ""), "name is one line"),
        (
            "night.toml",
            with("Night watch", "a\\nb"),
            "name is one line",
        ),
        (
            "night.toml",
            with("Night watch", "a\\u202eb"),
            "name is one line",
        ),
        (
            "night.toml",
            with("Looks at night", &"x".repeat(201)),
            "about is one line",
        ),
        (
            "night.toml",
            with("You are the night watch.", " "),
            "text is empty",
        ),
        (
            "night.toml",
            with("You are the night watch.", &long),
            "longer than",
        ),
    ] {
        let error = builtin().add(file, &text).unwrap_err();
        assert_eq!(error.file, file);
        let said = error.to_string();
        assert!(said.contains(file) && said.contains(problem), "{said}");
    }
    let stranger = "name = \"Night\"\nroot:$6$hash:19000\n";
    let said = builtin().add("night.toml", stranger).unwrap_err().problem;
    assert!(
        said.starts_with("line 2: ") && !said.contains("hash"),
        "a line that is none of a persona is not repeated: {said}"
    );
    let mut full = builtin();
    for n in full.0.len()..PERSONAS_MAX {
        full.add(&format!("p{n}x.toml"), NIGHT).unwrap();
    }
    let error = full.add("one-more.toml", NIGHT).unwrap_err();
    assert_eq!(error.problem, "there are 64 already");
}

#[test]
fn a_prompt_says_what_its_capabilities_are_and_nothing_more() {
    for persona in builtin().iter() {
        let acting = persona.prompt(&[Capability::Read, Capability::Act].into_iter().collect());
        let reading = persona.prompt(&[Capability::Read].into_iter().collect());
        assert!(acting.contains("You may propose actions"), "{acting}");
        assert!(reading.contains("You may not propose"), "{reading}");
        for prompt in [&acting, &reading] {
            assert!(!prompt.contains('{'), "{prompt}");
            assert!(prompt.contains(&persona.name), "{prompt}");
            assert!(!prompt.contains("You may read the record"), "{prompt}");
        }
    }
}

/// Whatever an agent may, every line of its prompt stands in a file of ours or in this one.
#[test]
fn nothing_but_constants_and_capabilities_enters_a_prompt() {
    let rights = [
        "- You may look at services, actions, proposals and what happened lately.",
        "- You may read the record: who did what and when, and what was refused.",
        "- You may propose actions by their id. Safe ones run at once; risky ones wait for the owner.",
        "- You may not propose actions. If something should be done, say so to the owner.",
        DRAFTS,
    ];
    for persona in builtin().iter() {
        let ours: Vec<&str> = TEMPLATE
            .lines()
            .chain(persona.text.lines())
            .chain(rights)
            .collect();
        for set in 0..1_u32 << Capability::ALL.len() {
            let all = Capability::ALL.into_iter().enumerate();
            let held = all.filter(|(n, _)| set & (1 << n) != 0);
            let capabilities = held.map(|(_, capability)| capability).collect();
            let prompt = persona.prompt(&capabilities);
            for line in prompt.lines() {
                assert!(ours.contains(&line), "{line}");
            }
            let may_act = prompt.contains("You may propose actions");
            assert_eq!(may_act, capabilities.has(Capability::Act));
            let may_draft = prompt.contains(DRAFTS);
            assert_eq!(may_draft, capabilities.has(Capability::Suggest));
            let may_read = prompt.contains("You may read the record");
            assert_eq!(may_read, capabilities.has(Capability::AuditRead));
        }
    }
}
