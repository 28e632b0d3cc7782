//! What is refused, and how that is said.

use super::*;

fn problem(toml: &str, variables: &[(&str, &str)]) -> CommandError {
    let folder = tempfile::tempdir().unwrap();
    load(folder.path(), Some(toml), variables, Flags::default())
        .err()
        .unwrap_or_else(|| panic!("accepted: {toml} {variables:?}"))
}

#[test]
fn a_value_of_the_wrong_kind_is_named_with_its_line() {
    for (toml, expected) in [
        (
            "\nlisten = 3000",
            "line 2: listen must be an address such as 127.0.0.1:3000",
        ),
        ("actions = true", "line 1: actions must be a path"),
        (
            "allowed_hosts = \"x\"",
            "allowed_hosts must be a list of texts",
        ),
        (
            "allowed_hosts = [1]",
            "allowed_hosts must be a list of texts",
        ),
        (
            "[backups]\nenabled = \"yes\"",
            "line 2: backups.enabled must be true or false",
        ),
        ("ssh = \"x\"", "line 1: ssh must be a table, as [ssh]"),
        ("[ssh.key]\nx = 1", "line 1: ssh.key must be a path"),
        ("[notify.webhooks]\nname = \"x\"", "as [[notify.webhooks]]"),
        (
            "[[notify.webhooks]]\nname = \"x\"\nurl = \"https://x\"",
            "notify.webhooks.1.secret is missing",
        ),
        (
            "[notify.telegram]\nallowed_users = []",
            "allowed_users must be a list of numbers",
        ),
        (
            "[notify.telegram]\nallowed_users = [\"ann\"]",
            "allowed_users must be a list of numbers",
        ),
        (
            "[notify.quiet]\nfrom = \"22:00\"",
            "notify.quiet: it needs both from and until",
        ),
        (
            "[notify.quiet]\nfrom = \"22\"\nuntil = \"7:00\"",
            "notify.quiet: a time of day",
        ),
        (
            "public_url = \"\"",
            "public_url is empty; leave it out instead",
        ),
        (
            "[limits]\nlease_s = 1.5",
            "limits.lease_s must be a whole number, 1 to 86400",
        ),
        ("listen = 1979-05-27", "listen must be an address"),
        ("[ssh]\nkey = \"a\"\nkey = \"b\"", "line 3: duplicate key"),
        ("[ssh]\n[ssh]", "line 2:"),
        ("listen = ", "line 1:"),
    ] {
        let message = problem(toml, &[]).message;
        assert!(message.contains(expected), "{toml}: {message}");
    }
}

#[test]
fn numbers_hold_at_their_limits() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen = 0;
    for row in table::rows().filter(|row| !row.key.starts_with("agents.")) {
        let rows::Kind::Number { min, max } = row.kind else {
            continue;
        };
        seen += 1;
        let (section, key) = row.key.rsplit_once('.').unwrap();
        let (min, max) = (i64::try_from(min).unwrap(), i64::try_from(max).unwrap());
        for (number, fits) in [(min - 1, false), (min, true), (max, true), (max + 1, false)] {
            let toml = format!("[{section}]\n{key} = {number}");
            let loaded = load(folder.path(), Some(&toml), &[], Flags::default());
            assert_eq!(loaded.is_ok(), fits, "{toml}");
            if let Err(problem) = loaded {
                let expected =
                    format!("line 2: {} must be a whole number, {min} to {max}", row.key);
                assert!(problem.message.contains(&expected), "{}", problem.message);
            }
        }
    }
    assert!(seen >= 14, "{seen}");
    problem("[limits]\nlease_s = 99999999999999999999999", &[]);
}

#[test]
fn a_name_that_nobody_knows_comes_with_the_one_that_was_meant() {
    for (toml, expected) in [
        (
            "proxmx.url = \"x\"",
            "line 1: unknown key `proxmx`; did you mean `proxmox`?",
        ),
        (
            "[retention]\nend_days = 40",
            "line 2: unknown key `end_days`; did you mean `ended_days`?",
        ),
        (
            "open_proposals = 4",
            "unknown key `open_proposals`; did you mean `limits.open_proposals`?",
        ),
        (
            "[notify.telegam]\ntoken = \"x\"",
            "line 1: unknown key `telegam`; did you mean `telegram`?",
        ),
        (
            "[[notify.webhooks]]\nname = \"x\"\nurl = \"x\"\nsecrt = \"y\"",
            "line 4: unknown key `secrt`; did you mean `secret`?",
        ),
        (
            "[agents.little-blue]\nprices = { inpt = 1 }",
            "unknown key `inpt`; did you mean `input`?",
        ),
        ("something_else = 1", "line 1: unknown key `something_else`"),
        (
            "\"proxmox.url\" = \"https://pve\"",
            "unknown key `proxmox.url`",
        ),
        ("[data]\nx = 1", "unknown key `data`"),
        (
            "little_blue_token = \"env:X\"",
            "unknown key `little_blue_token`",
        ),
        ("\"a\\u001b[2J\" = 1", "unknown key `a\\u{1b}[2J`"),
    ] {
        let message = problem(toml, &[]).message;
        assert!(message.contains(expected), "{toml}: {message}");
    }
}

const ALL_SECRETS: [(&str, &str); 6] = [
    ("OWNER_TOKEN", "x"),
    ("PROXMOX_API_TOKEN", "x"),
    ("VOID_DATABASE_URL", "x"),
    ("TELEGRAM_BOT_TOKEN", "x"),
    ("NTFY_TOKEN", "x"),
    ("ANTHROPIC_API_KEY", "x"),
];

#[test]
fn a_secret_that_is_written_plainly_is_refused_and_not_repeated() {
    for toml in [
        "owner_token = \"hunter2\"",
        "[proxmox]\ntoken = \"root@pam!x=hunter2\"",
        "[database]\nurl = \"postgres://u:hunter2@h/d\"",
        "[database]\nurl = \"postgres://u@h/d?password=hunter2\"",
        "[notify.telegram]\ntoken = \"123:hunter2\"",
        "[notify.ntfy]\ntoken = \"hunter2\"",
        "[[notify.webhooks]]\nname = \"x\"\nurl = \"https://x\"\nsecret = \"hunter2\"",
        "[agents.little-blue]\nkey = \"sk-hunter2\"",
        "owner_token = [\"hunter2\"]",
        "owner_token = \"hunter2",
    ] {
        // Whether or not a variable is there that counts more.
        problem(toml, &ALL_SECRETS);
        let problem = problem(toml, &[]);
        let said = format!("{}{:?}{:?}", problem.message, problem.next, problem.parts);
        assert!(!said.contains("hunter2"), "{said}");
        assert!(said.contains("line "), "{said}");
    }
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let toml = "listn = \"x\"\ninstance = \"No Name\"\nowner_token = \"hunter2\"\n[limits]\nlease_s = 0\n\
        token_streams = \"many\"\n[self]\nguests = [\"z\"]\nhosts = [\"a b\"]\n[agents.bleu]\nbrain = \"x\"\n";
    let problem = problem(toml, &[("TELEGRAM_ALLOWED_USERS", "ann")]);
    assert_eq!(problem.exit, crate::exit::Exit::Config);
    let found: Vec<(Option<&str>, Option<u64>)> = problem
        .parts
        .iter()
        .map(|part| (part["setting"].as_str(), part["line"].as_u64()))
        .collect();
    for expected in [
        (Some("listn"), Some(1)),
        (Some("instance"), Some(2)),
        (Some("owner_token"), Some(3)),
        (Some("limits.lease_s"), Some(5)),
        (Some("limits.token_streams"), Some(6)),
        (Some("self.guests"), Some(8)),
        (Some("self.hosts"), Some(9)),
        (Some("agents.bleu"), Some(10)),
        (Some("notify.telegram.allowed_users"), None),
    ] {
        assert!(found.contains(&expected), "{expected:?} in {found:?}");
    }
    assert_eq!(found.len(), 9, "{found:?}");
    assert!(problem.message.starts_with("9 things are wrong:\n"));
    assert!(problem.message.contains("TELEGRAM_ALLOWED_USERS: "));
}

#[test]
fn a_wrong_variable_is_named() {
    for (name, value, expected) in [
        (
            "VOID_LISTEN",
            "nowhere",
            "VOID_LISTEN: listen: \"nowhere\" is not an address",
        ),
        (
            "VOID_INSTANCE",
            "No Name",
            "VOID_INSTANCE: instance: \"No Name\" is not a name",
        ),
        (
            "VOID_BRAIN",
            "gpt",
            "VOID_BRAIN: agents.little-blue.brain: \"gpt\" is no brain",
        ),
        (
            "TELEGRAM_ALLOWED_USERS",
            " , ",
            "TELEGRAM_ALLOWED_USERS: notify.telegram.allowed_users must be",
        ),
        (
            "TELEGRAM_ALLOWED_USERS",
            "12,-3",
            "must be a list of numbers, such as 12345,67890",
        ),
    ] {
        let message = problem("", &[(name, value)]).message;
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn an_empty_variable_counts_as_not_set() {
    let folder = tempfile::tempdir().unwrap();
    let empty: Vec<(&str, &str)> = table::rows()
        .flat_map(|row| variables::names(row.variable))
        .filter(|name| *name != "VOID_DATA")
        .map(|name| (name, ""))
        .collect();
    let toml = "listen = \"127.0.0.1:7\"\n[notify.telegram]\nallowed_users = [5]\n";
    let settings = load(folder.path(), Some(toml), &empty, Flags::default()).unwrap();
    assert_eq!(settings.listen.value.port(), 7);
    assert_eq!(settings.listen.source, Source::File);
    assert_eq!(settings.notify.telegram_users, [5]);
    let from_environment = |shown: &ShownValue| matches!(shown.source, Source::Environment(_));
    assert!(!settings.shown().any(|shown| from_environment(&shown)));

    let warnings = warnings(&Environment::of(&[
        ("VOID_LISTEN", ""),
        ("VOID_LISTN", "127.0.0.1:1"),
        ("VOID_LOG", "debug"),
        ("VOID_SOMETHING_ELSE", "x"),
        ("HOME", ""),
    ]));
    assert_eq!(
        warnings,
        [
            "VOID_LISTEN is set and empty: that counts as not set",
            "VOID_LISTN is read by nothing; did you mean VOID_LISTEN?"
        ]
    );
}
