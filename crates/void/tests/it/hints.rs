//! Commands that are hinted at can be copied: they are this program, by its path where the shell finds none by its
//! name, with the flags that say which server is meant.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::lab::{Lab, VOID, word};
use crate::ways_out::settings;

/// What goes to another machine or another person, or is no hint: file, words, why.
const BARE: [(&str, &str, &str); 5] = [
    (
        "commands/node.rs",
        "sudo -u voidnode void node join",
        "typed on the new node",
    ),
    (
        "commands/node.rs",
        "give that address to void node join",
        "typed on the new node",
    ),
    (
        "commands/node.rs",
        "void node approve {name}",
        "typed by the owner, where the server is",
    ),
    (
        "commands/provision/node.rs",
        "after void node install",
        "typed on the node",
    ),
    (
        "rehearsal.rs",
        "void rehearsal is started by void demo only",
        "says what happened",
    ),
];
/// What prints as it is, and what makes commands typed.
const PRINTS: [&str; 11] = [
    ".line(",
    ".note(",
    "field(",
    ".put(",
    ".hanging(",
    ".table(",
    "tracing::",
    "println!",
    "Script::new(",
    "script.done(",
    "lines.push(",
];
const TYPES: [&str; 3] = ["typed(", "again(", "told("];

/// The commands of the program, by what its help lists.
fn commands() -> Vec<String> {
    let help = Command::new(VOID).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let (_, listed) = help.split_once("Commands:\n").unwrap();
    let listed = listed.split("\n\n").next().unwrap().lines();
    let names = listed.filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).collect()
}

/// The commands in a text that have nothing before their name.
fn bare<'a>(text: &'a str, commands: &[String]) -> Vec<&'a str> {
    let starts = text.match_indices("void ");
    let starts = starts.filter(|(at, _)| {
        let before = text[..*at].chars().next_back();
        before.is_none_or(|letter| !letter.is_alphanumeric() && !"/.-_".contains(letter))
    });
    let found = starts.filter_map(|(at, _)| {
        let rest = &text[at..];
        let name = rest["void ".len()..].split(|c: char| !c.is_ascii_lowercase() && c != '-');
        let is_command = commands
            .iter()
            .any(|known| Some(known.as_str()) == name.clone().next());
        is_command.then(|| rest.lines().next().unwrap())
    });
    found.collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
}

/// Every text of ours that names a command is printed as it has to be typed.
#[test]
fn no_command_is_printed_bare() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut files, commands) = (Vec::new(), commands());
    sources(&root, &mut files);
    let (mut wrong, mut seen, mut used) = (Vec::new(), 0, [false; BARE.len()]);
    for file in files {
        let name = file.strip_prefix(&root).unwrap().display().to_string();
        let text = fs::read_to_string(&file).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap();
        let mut statement = String::new();
        for line in text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
        {
            statement.push_str(line);
            statement.push('\n');
            let is_literal = line.contains('"') && !bare(line, &commands).is_empty();
            if is_literal {
                seen += 1;
                let has = |words: &[&str]| words.iter().any(|word| statement.contains(word));
                let known = BARE
                    .iter()
                    .position(|(of, words, _)| name == *of && line.contains(words));
                if let Some(known) = known {
                    used[known] = true;
                } else if has(&PRINTS) && !has(&TYPES) {
                    wrong.push(format!("{name}: {}", line.trim()));
                }
            }
            if line.trim_end().ends_with([';', '{', '}']) {
                statement.clear();
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "printed as they are:\n{}",
        wrong.join("\n")
    );
    assert!(seen > 100, "{seen}");
    let left: Vec<_> = BARE.iter().zip(used).filter(|(_, used)| !used).collect();
    assert!(left.is_empty(), "no longer there: {left:?}");
}

fn said(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!(
        "{}{}",
        String::from_utf8_lossy(out),
        String::from_utf8_lossy(err)
    )
}

/// Runs commands by the path of the program and with flags, and looks at all that they say.
struct Reader {
    lab: Lab,
    commands: Vec<String>,
    flags: Vec<String>,
    hints: usize,
}

impl Reader {
    fn new(mut lab: Lab) -> Self {
        let path = ("PATH".to_owned(), "/usr/bin:/bin".to_owned());
        lab.environment.push(path);
        let url = format!("http://{}", lab.address);
        let data = lab.data().display().to_string();
        Self {
            flags: vec!["--data".to_owned(), data, "--url".to_owned(), url],
            commands: commands(),
            hints: 0,
            lab,
        }
    }

    fn read(&mut self, args: &[&str]) -> String {
        let flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
        let called = format!("{VOID} {}", flags.join(" "));
        let args = [&flags, args].concat();
        let text = said(&self.lab.void(&args));
        let json = self.lab.void(&[&args, &["--json"][..]].concat());
        let mut nexts = Vec::new();
        for out in [&json.stdout, &json.stderr] {
            let value: Value = serde_json::from_slice(out).unwrap_or_default();
            told_next(&value, &mut nexts);
        }
        for said in nexts.iter().chain([&text]) {
            let bare = bare(said, &self.commands);
            let bare: Vec<&&str> = bare.iter().filter(|line| !is_elsewhere(line)).collect();
            assert!(bare.is_empty(), "{args:?} says {bare:?}:\n{said}");
            self.hints += said.matches(&called).count();
        }
        text
    }
}

/// What programs are told to type; all else that they get is as the server sent it.
fn told_next(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match (name.as_str(), value) {
                    ("next", Value::String(next)) => found.push(next.clone()),
                    _ => told_next(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| told_next(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What is typed on another machine.
fn is_elsewhere(line: &str) -> bool {
    ["void node join", "void node approve"]
        .iter()
        .any(|known| line.starts_with(known))
}

#[test]
fn what_is_hinted_at_is_for_this_program_and_this_server() {
    let lab = Lab::new();
    settings(&lab, "[agents.little-blue]\nbrain = \"builtin\"");
    let mut reader = Reader::new(lab);
    for args in [
        &["status"][..],
        &["doctor"],
        &["reload"],
        &["inbox", "ls"],
        &["backup", "verify", "/etc/passwd"],
        &["provision", "local"],
        &["provision", "ssh", "nope"],
        &["provision", "proxmox"],
        &["mcp", "config", "claude-code"],
        &["config", "check"],
        &["quarantine", "confirm"],
        &["frobnicate"],
    ] {
        reader.read(args);
    }
    let server = reader.lab.serve(&[]);
    let queued = reader.lab.json(&["run", "risky-one"], 7);
    let code = word(&queued["row"], "code").to_owned();
    let list = fs::read_to_string(reader.lab.path("list.json")).unwrap();
    let other = list.replace("\"safe-two\"", "\"other\"");
    fs::write(reader.lab.path("list.json"), other).unwrap();
    read_with_a_server(&mut reader, &code);
    drop(server);
    assert!(reader.hints > 40, "{}", reader.hints);
}

fn read_with_a_server(reader: &mut Reader, code: &str) {
    for args in [
        &["status"][..],
        &["run", "safe-two"],
        &["run", "risky-one"],
        &["run", "nope"],
        &["freeze", "--reason", "hands off"],
        &["status"],
        &["run", "safe-one"],
        &["inbox", "ls"],
        &["inbox", "ls", "--all"],
        &["inbox", "show", code],
        &["inbox", "show", "ABCD"],
        &["actions", "show", "nope"],
        &["services", "nope"],
        &["services"],
        &["hosts", "check", "local"],
        &["hosts", "check", "nope"],
        &["token", "new", "--kind", "viewer", "--name", "wall"],
        &["token", "revoke", "nope"],
        &["node", "ls"],
        &["node", "invite", "nas"],
        &["node", "revoke", "nope"],
        &["notify", "ls"],
        &["notify", "pair", "telegram"],
        &["notify", "mute", "nope", "--for", "1h", "--reason", "x"],
        &["notify", "unmute", "nope"],
        &["quarantine", "ls"],
        &["backup", "ls"],
        &["backup", "create"],
        &["audit", "show", "999"],
        &["audit", "verify"],
        &["doctor"],
        &["reload", "--dry-run"],
        &["chat", "-m", "freeze everything"],
        &["chat", "-m", "what waits for me?"],
        &["serve"],
        &["inbox", "reject", code],
        &["inbox", "approve", code, "--yes"],
        &["thaw"],
    ] {
        reader.read(args);
    }
}

/// What was hinted at is copied into a shell, and works.
#[test]
fn an_approved_catalogue_that_lies_beside_is_named_with_what_moves_it() {
    let lab = Lab::new();
    let mut reader = Reader::new(lab);
    let server = reader.lab.serve(&[]);
    assert!(!reader.read(&["doctor"]).contains("actions.json.proposed"));
    let loaded = fs::read_to_string(reader.lab.path("actions.json")).unwrap();
    let new = loaded.replace("Label of safe-two", "Another label");
    fs::write(reader.lab.path("new.json"), &new).unwrap();
    let file = reader.lab.path("new.json").display().to_string();
    let drafted = reader.lab.json(&["actions", "propose", &file], 7);
    let (code, digest) = (word(&drafted, "code"), word(&drafted, "digest"));
    reader
        .lab
        .json(&["inbox", "approve", code, "--digest", digest, "--yes"], 0);
    let (beside, catalogue) = (
        reader.lab.path("actions.json.proposed"),
        reader.lab.path("actions.json"),
    );
    let called = format!("{VOID} {}", reader.flags.join(" "));
    let moves = format!(
        "mv {} {} && {called} reload",
        beside.display(),
        catalogue.display()
    );
    for args in [&["doctor"][..], &["reload", "--dry-run"], &["reload"]] {
        let told = reader.read(args);
        assert!(
            told.contains("an approved change that is not in force"),
            "{args:?}: {told}"
        );
        assert!(told.contains(&format!("next: {moves}")), "{args:?}: {told}");
    }
    // A server that does not run names it all the same.
    let looked = reader.lab.json(&["doctor"], 0);
    let findings = looked["findings"].as_array().unwrap().iter();
    let levels: Vec<&str> = findings
        .filter(|one| one["check"] == "catalogue")
        .map(|one| word(one, "level"))
        .collect();
    assert_eq!(levels, ["warning", "ok"]);
    let mut shell = Command::new("sh");
    for (name, value) in reader.lab.command().get_envs() {
        if let Some(value) = value {
            shell.env(name, value);
        }
    }
    let moved = shell.args(["-c", &moves]).output().unwrap();
    assert!(moved.status.success(), "{}", said(&moved));
    assert_eq!(fs::read_to_string(&catalogue).unwrap(), new);
    for args in [&["doctor"][..], &["reload", "--dry-run"]] {
        assert!(
            !reader.read(args).contains("actions.json.proposed"),
            "{args:?}"
        );
    }
    // Copied instead of moved, it only lies in the way of the next one.
    fs::copy(&catalogue, &beside).unwrap();
    let told = reader.read(&["doctor"]);
    assert!(
        told.contains(&format!("next: rm {}", beside.display())),
        "{told}"
    );
    drop(server);
    assert!(
        reader
            .read(&["doctor"])
            .contains("says what the catalogue says already")
    );
}
