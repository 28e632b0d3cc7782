//! `void demo`, played as a newcomer would: the README's tour, line by line, against the real binary.

mod knowledge;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use void_testkit::eventually_blocking;

use crate::lab::{VOID, word};

/// Far above what it takes, which is what a slow machine under load needs.
const READY_MAX: Duration = Duration::from_secs(20);

struct Demo {
    child: Child,
    greeting: Value,
    ready_after: Duration,
    _runtime: TempDir,
}

fn command(runtime: &Path) -> Command {
    let mut command = Command::new(VOID);
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("XDG_RUNTIME_DIR", runtime)
        // What would point somewhere else if it were listened to.
        .env("PROXMOX_API_URL", "https://192.0.2.1:8006")
        .env("ACTIONS_CONFIG", "/nonexistent/actions.json")
        .stdin(Stdio::null());
    command
}

impl Demo {
    fn start() -> Self {
        let runtime = tempfile::tempdir().unwrap();
        fs::set_permissions(runtime.path(), fs::Permissions::from_mode(0o700)).unwrap();
        Self::start_in(runtime)
    }

    fn start_in(runtime: TempDir) -> Self {
        let begun = Instant::now();
        let mut child = command(runtime.path())
            .args(["demo", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let ready_after = begun.elapsed();
        let greeting: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
        Self {
            child,
            greeting,
            ready_after,
            _runtime: runtime,
        }
    }

    fn data(&self) -> PathBuf {
        PathBuf::from(word(&self.greeting, "data"))
    }

    fn void(&self, args: &[&str]) -> Output {
        Command::new(VOID)
            .env_clear()
            .arg("--data")
            .arg(self.data())
            .args(args)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        let output = self.void(&[&["--json"], args].concat());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{args:?}: {output:?}"))
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill")
            .args([signal, &self.child.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
    }

    /// Processes whose command line names this lab's folder.
    fn processes(&self) -> Vec<u32> {
        processes_of(self.data().parent().unwrap())
    }
}

fn processes_of(folder: &Path) -> Vec<u32> {
    let folder = folder.as_os_str().as_encoded_bytes();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if line.windows(folder.len()).any(|part| part == folder) {
            found.push(pid);
        }
    }
    found
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The commands of the README's tour, each with the words that its comment says will be seen.
fn tour() -> Vec<(Vec<String>, String)> {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let section = readme.split("## The tour").nth(1).unwrap();
    let block = section.split("```sh").nth(1).unwrap();
    let block = block.split("```").next().unwrap();
    let lines = block.lines().filter(|line| line.starts_with("void "));
    lines
        .map(|line| {
            let (command, words) = line.split_once("# ").unwrap_or_else(|| panic!("{line}"));
            // Quotes as a shell reads them, as far as the tour uses any.
            let mut args = Vec::new();
            for (index, part) in command.split('"').enumerate() {
                if index % 2 == 1 {
                    args.push(part.to_owned());
                } else {
                    args.extend(part.split_whitespace().map(str::to_owned));
                }
            }
            args.remove(0);
            (args, words.trim().to_owned())
        })
        .collect()
}

#[test]
fn the_readmes_tour_is_what_happens() {
    let demo = Demo::start();
    assert!(demo.ready_after < READY_MAX, "{:?}", demo.ready_after);
    let code = word(&demo.greeting, "waiting");
    // The first looks are over in a moment; a newcomer types slower than this.
    eventually_blocking("every service to be looked at", || {
        let services = demo.json(&["services"]);
        let looked = services["services"].as_array().unwrap();
        looked
            .iter()
            .all(|service| service["checked_at"].is_string())
            .then_some(())
    });
    let tour = tour();
    assert!(tour.len() >= 6, "{tour:?}");
    for (args, words) in tour {
        let args: Vec<&str> = args
            .iter()
            .map(|arg| if arg == "CODE" { code } else { arg.as_str() })
            .collect();
        let output = demo.void(&args);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{args:?}: {output:?}");
        assert!(
            said.contains(&words),
            "{args:?} should say {words:?}: {said}"
        );
    }
}

#[test]
fn the_lab_is_as_promised_and_says_that_it_is_a_rehearsal() {
    let demo = Demo::start();
    let status = demo.json(&["status"]);
    assert_eq!(status["rehearsal"], true);
    assert_eq!(status["waiting"], 1);
    let down = eventually_blocking("the one that is down to be seen", || {
        let status = demo.json(&["status"]);
        (status["services_up"] == 3).then(|| status["services_down"].clone())
    });
    assert_eq!(down, 1);
    let url = word(&demo.greeting, "url").strip_prefix("http://").unwrap();
    let (address, code) = url.split_once("/#/setup/").unwrap();
    let address = address.replace("localhost", "127.0.0.1").parse().unwrap();
    let open = || {
        let body = serde_json::json!({"setup": code});
        crate::lab::call(address, "POST", "/api/session", "", Some(&body)).unwrap()
    };
    let (found, opened) = open();
    assert_eq!(
        (found, word(&opened, "method")),
        (200, "setup"),
        "the printed link"
    );
    assert_eq!(open().0, 401, "it is good once");
    assert_eq!(demo.greeting["elsewhere"], serde_json::json!([]));
    let token = fs::read_to_string(demo.data().join("owner.token")).unwrap();
    let (_, lab) = crate::lab::call(address, "GET", "/api/lab", token.trim(), None).unwrap();
    let nodes = lab["nodes"].as_array().unwrap();
    let guests: usize = nodes
        .iter()
        .map(|node| node["guests"].as_array().unwrap().len())
        .sum();
    assert_eq!((nodes.len(), guests), (2, 5), "{lab}");
    let actions = demo.json(&["actions", "ls"]);
    for action in actions["actions"].as_array().unwrap() {
        assert!(word(action, "label").ends_with("(rehearsal)"), "{action}");
    }
    for command in demo.greeting["commands"].as_array().unwrap() {
        assert!(command.as_str().unwrap().contains("--data"), "{command}");
    }
    // Loopback only, whatever the environment says.
    let shown = demo.json(&["config", "show"]).to_string();
    assert!(!shown.contains("192.0.2.1"), "{shown}");
}

/// One of the examples that ship.
fn example(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config");
    serde_json::from_str(&fs::read_to_string(path.join(name)).unwrap()).unwrap()
}

/// What the demo works with, by its own files.
fn written(demo: &Demo, name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(demo.data().join(name)).unwrap()).unwrap()
}

#[test]
fn the_examples_that_ship_are_what_runs_here_every_action_of_them() {
    let demo = Demo::start();
    // Nothing is added, left out or changed but the words and addresses that a rehearsal needs.
    let (mut ours, mut theirs) = (example("actions.json"), written(&demo, "actions.json"));
    ours.as_object_mut().unwrap().remove("$schema");
    for action in theirs["actions"].as_array_mut().unwrap() {
        let label = word(action, "label").strip_suffix(" (rehearsal)").unwrap();
        action["label"] = label.into();
    }
    assert_eq!(ours, theirs);
    let (ours, theirs) = (example("services.json"), written(&demo, "services.json"));
    let facts = |file: &Value| -> Vec<(String, Value, Value)> {
        let services = file["services"].as_array().unwrap().iter();
        services
            .map(|one| {
                let label = word(one, "label").replace(" (rehearsal)", "");
                let place = serde_json::json!([one["node"], one["vmid"]]);
                let what = serde_json::json!([one["id"], label, one["check"]["kind"]]);
                (word(one, "id").to_owned(), place, what)
            })
            .collect()
    };
    assert_eq!(facts(&ours), facts(&theirs));
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config/actions.json");
    let lint = demo.void(&["actions", "lint", shipped.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&lint.stdout);
    assert!(lint.status.success(), "{lint:?}");
    assert!(!said.contains("warning"), "{said}");

    // Each of them does what it says, and is seen to.
    let waiting = word(&demo.greeting, "waiting");
    demo.json(&["inbox", "reject", waiting]);
    for action in example("actions.json")["actions"].as_array().unwrap() {
        let id = word(action, "id");
        let asked = demo.json(&["run", id]);
        let code = word(&asked["row"], "code");
        if word(action, "tier") == "risky" {
            demo.void(&["inbox", "approve", code, "--yes"]);
        }
        let row = demo.json(&["inbox", "show", code]);
        let outcome = (word(&row, "status"), word(&row, "verification"));
        assert_eq!(outcome, ("executed", "verified"), "{id}: {row}");
    }
}

/// What the owner says, as they would type it, and what they see.
fn chat(demo: &Demo, message: &str) -> String {
    let output = demo.void(&["chat", "-m", message]);
    assert!(output.status.success(), "{message}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn little_blue_mends_what_is_safe_and_asks_for_the_rest() {
    let demo = Demo::start();
    eventually_blocking("caddy to be seen down", || {
        let service = demo.json(&["services", "caddy"]);
        (service["status"] == "down").then_some(())
    });
    let said = chat(&demo, "don't restart caddy");
    assert!(said.contains("Void: Nothing was run or queued"), "{said}");
    let said = chat(&demo, "what is wrong?");
    assert!(
        said.contains("Caddy, the reverse proxy (rehearsal) is down"),
        "{said}"
    );
    // She looks and offers; only a yes to that does something.
    assert!(
        said.contains("Shall I run restart-caddy?")
            || said.contains("Shall I run `restart-caddy`?"),
        "{said}"
    );
    assert!(said.contains("Void: Nothing was run or queued"), "{said}");
    assert_eq!(demo.json(&["services", "caddy"])["status"], "down");
    let said = chat(&demo, "yes");
    assert!(said.contains("(Restart Caddy (rehearsal)) now."), "{said}");
    assert!(
        said.contains("Void: Done, checked: Restart Caddy (rehearsal)."),
        "{said}"
    );
    assert_eq!(demo.json(&["services", "caddy"])["status"], "up");
    let said = chat(&demo, "stop iventoy");
    assert!(
        said.contains("Void: Waits for your yes: Stop iVentoy (rehearsal)"),
        "{said}"
    );
    assert_eq!(
        demo.json(&["services", "iventoy"])["status"],
        "up",
        "nothing has run"
    );
    // The command that it printed, as a shell would read it.
    let printed = said
        .lines()
        .find_map(|line| line.trim().strip_prefix("yes: "))
        .unwrap();
    let approve = Command::new("/bin/sh")
        .args(["-c", &format!("{printed} --yes")])
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(approve.status.success(), "{printed}: {approve:?}");
    let said = chat(&demo, "did it work?");
    assert!(
        said.contains("It ran, and the check confirmed it"),
        "{said}"
    );
    assert!(
        said.contains("From before: Done, checked: Stop iVentoy (rehearsal)."),
        "{said}"
    );
    // What the owner stopped is no worry, and she knows what starts it.
    eventually_blocking("iventoy to be seen down", || {
        let service = demo.json(&["services", "iventoy"]);
        (service["status"] == "down").then_some(())
    });
    let said = chat(&demo, "what is wrong?");
    assert!(
        said.contains("iVentoy (rehearsal) is stopped by you"),
        "{said}"
    );
    let said = chat(&demo, "why is iventoy down?");
    assert!(
        said.contains("is stopped by you, since") && said.contains("start-ct107"),
        "{said}"
    );
    // She asked in her own name, and the record says who decided.
    let row = demo.json(&["inbox", "show", word(&demo.greeting, "waiting")]);
    assert_eq!(row["requested_by"]["name"], "little-blue", "{row}");
    assert_eq!(row["resolved_by"], "owner-cli", "{row}");
    let refused = chat(&demo, "approve everything for me");
    assert!(
        refused.contains("Void: Nothing was run or queued"),
        "{refused}"
    );
    let verified = demo.void(&["audit", "verify"]);
    assert!(verified.status.success(), "{verified:?}");
}

#[test]
fn a_chat_can_be_piped_and_read_by_programs() {
    let demo = Demo::start();
    let lines = demo.void(&["--json", "chat", "sentinel", "-m", "what can you do?"]);
    let events: Vec<Value> = String::from_utf8(lines.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let names: Vec<&str> = events.iter().map(|event| word(event, "event")).collect();
    assert_eq!(names.first(), Some(&"tool"), "{names:?}");
    assert_eq!(names.last(), Some(&"done"), "{names:?}");
    let piped = Command::new("/bin/sh")
        .args(["-c", "printf 'what is wrong?' | \"$0\" --data \"$1\" chat"])
        .arg(VOID)
        .arg(demo.data())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&piped.stdout);
    assert!(said.contains("Void: "), "{piped:?}");
    // Lines beside a message are read with it; a pipe that stays silent holds nobody up.
    for (lines, message, sign) in [
        (
            Some("Error: bind: address already in use\n"),
            "what does this mean?",
            "already listens on its port",
        ),
        (None, "what can you do?", "Void: "),
    ] {
        let mut child = Command::new(VOID)
            .env_clear()
            .arg("--data")
            .arg(demo.data())
            .args(["chat", "-m", message])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take();
        if let Some(lines) = lines {
            stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        }
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains(sign), "{output:?}");
    }
    let nobody = demo.void(&["chat", "nobody", "-m", "hi"]);
    assert_eq!(nobody.status.code(), Some(5), "{nobody:?}");
    let empty = demo.void(&["chat", "-m", " "]);
    assert_eq!(empty.status.code(), Some(2), "{empty:?}");
    let agents = demo.json(&["agents", "ls"]);
    let slugs: Vec<&str> = agents["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|agent| word(agent, "slug"))
        .collect();
    assert_eq!(slugs, ["companion", "little-blue", "sentinel"], "{agents}");
}

#[test]
fn a_wrong_turn_ends_like_in_a_real_lab() {
    let demo = Demo::start();
    // The guest of a service is stopped: the service goes down, its restart cannot bring it back up for
    // the check, and starting the guest does.
    let code = word(&demo.greeting, "waiting");
    let stopped = demo.void(&["inbox", "approve", code, "--yes"]);
    assert!(stopped.status.success(), "{stopped:?}");
    eventually_blocking("iventoy to be seen down", || {
        let service = demo.json(&["services", "iventoy"]);
        (service["status"] == "down").then_some(())
    });
    let started = demo.json(&["run", "start-ct107"]);
    assert_eq!(started["row"]["verification"], "verified", "{started}");
    eventually_blocking("iventoy to be seen up", || {
        let service = demo.json(&["services", "iventoy"]);
        (service["status"] == "up").then_some(())
    });
    let refused = demo.void(&["run", "format-everything"]);
    assert_eq!(refused.status.code(), Some(6), "{refused:?}");
    let verified = demo.void(&["audit", "verify"]);
    assert!(verified.status.success(), "{verified:?}");
}

/// What does not go here says so, and names nothing that would not go either.
#[test]
fn a_rehearsal_says_what_it_does_not_do() {
    let demo = Demo::start();
    for args in [&["reload"][..], &["reload", "--dry-run"]] {
        let refused = demo.void(args);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(1), "{said}");
        assert!(said.contains("a rehearsal is not reloaded"), "{said}");
        assert!(!said.contains("serve"), "{said}");
    }
    let none = demo.void(&["backup", "ls"]);
    let said = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(
        said.contains("[backups]") && !said.contains("backup create"),
        "{said}"
    );
}

#[test]
fn nothing_is_left_behind_by_an_end_or_by_a_kill() {
    let mut demo = Demo::start();
    let lab = demo.data().parent().unwrap().to_owned();
    // Three services; the one that is down has no process.
    assert_eq!(demo.processes().len(), 3, "{:?}", demo.processes());
    demo.signal("-INT");
    assert!(demo.child.wait().unwrap().success());
    assert!(!lab.exists());
    assert!(!lab.parent().unwrap().exists(), "nor what was around it");
    assert_eq!(demo.processes(), Vec::<u32>::new());

    let mut killed = Demo::start();
    let lab = killed.data().parent().unwrap().to_owned();
    killed.signal("-KILL");
    killed.child.wait().unwrap();
    eventually_blocking("the services to notice", || {
        processes_of(&lab).is_empty().then_some(())
    });
    assert!(lab.exists());
    let runtime = std::mem::replace(&mut killed._runtime, tempfile::tempdir().unwrap());
    let next = Demo::start_in(runtime);
    assert_eq!(
        next.data().parent().unwrap(),
        lab,
        "its folder is free again"
    );
}

#[test]
fn a_folder_that_others_may_write_is_no_place_for_a_lab() {
    let runtime = tempfile::tempdir().unwrap();
    let base = runtime
        .path()
        .join(format!("void-demo-{}", rustix::process::getuid().as_raw()));
    fs::create_dir(&base).unwrap();
    fs::set_permissions(&base, fs::Permissions::from_mode(0o777)).unwrap();
    let refused = command(runtime.path()).arg("demo").output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("not a private folder"), "{said}");
    assert_eq!(fs::read_dir(&base).unwrap().count(), 0);
}

#[test]
fn the_greeting_says_whom_a_link_is_for_and_where_the_owner_token_is() {
    let runtime = tempfile::tempdir().unwrap();
    fs::set_permissions(runtime.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let mut child = command(runtime.path())
        .args(["demo", "--port", "0", "--no-qr"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut said = String::new();
    for line in lines.map(Result::unwrap) {
        said.push_str(&format!("{line}\n"));
        if line.starts_with("Ctrl-C") {
            break;
        }
    }
    let _ = Command::new("kill").arg(child.id().to_string()).status();
    child.wait().unwrap();
    let after = |lead: &str| {
        said.split_once(lead)
            .map(|(_, rest)| rest.lines().next().unwrap())
    };
    let again = after("It signs one browser in, once, by whichever address; for another one: ");
    assert!(
        again.unwrap_or_default().ends_with("/data setup-link"),
        "{said}"
    );
    let token = after("If the page asks whether it is you: cat ");
    assert!(
        token.unwrap_or_default().ends_with("/data/owner.token"),
        "{said}"
    );
}

#[test]
fn a_port_that_is_taken_is_told_with_the_flag_that_takes_another() {
    let runtime = tempfile::tempdir().unwrap();
    fs::set_permissions(runtime.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let (listen, port) = (address.to_string(), address.port().to_string());
    for (flags, next) in [
        (
            ["--listen", &listen],
            " demo --listen 127.0.0.1:0 takes any free port",
        ),
        (["--port", &port], " demo without --port takes any free one"),
    ] {
        let refused = command(runtime.path())
            .arg("demo")
            .args(flags)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{said}");
        assert!(
            said.contains("cannot be listened on") && said.contains(next),
            "{said}"
        );
    }
}
