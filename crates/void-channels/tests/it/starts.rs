//! What is started on our side, seen from outside: the kernel's trace of one run in a process of its
//! own, and that process's memory.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use void_channels::{Channel as _, LocalConfig, SshConfig};
use void_domain::catalogue::{Catalogue, Lockout};
use void_domain::freezes::FreezeSwitch;
use void_domain::ids::ActionId;
use void_testkit::processes::{Signal, processes_about, signal};

use crate::lab::{HOST, Lab, Listed, address, channels_with, permit, running, usual};

/// What the process below is told to do.
const TASK: &str = "VOID_CHANNELS_TASK";
/// Words that could come from nowhere but the environment it was started with.
const CANARY: &str = "canary-4f1c9a";

fn task(lab: &Lab) -> Value {
    let action = json!({"id": "stop-it", "label": "x", "kind": "service_restart", "host": HOST, "service": "stop-it", "tier": "risky"});
    let hosts = json!({HOST: address(&lab.sshd, Some(&lab.sshd.host_key))});
    json!({
        "catalogue": {"hosts": hosts, "actions": [action]},
        "key": lab.sshd.key,
        "client": lab.client.path(),
    })
}

/// One run in a process of its own; does nothing when it is started by itself.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "started by the tests below"]
async fn one_run() {
    let Ok(task) = std::env::var(TASK) else {
        return;
    };
    let task: Value = serde_json::from_str(&task).unwrap();
    let text = task["catalogue"].to_string();
    let catalogue = Catalogue::parse(&text, &Lockout::default()).unwrap();
    let client = Path::new(task["client"].as_str().unwrap());
    let ssh = SshConfig {
        program: "/usr/bin/ssh".into(),
        keyscan: "/usr/bin/ssh-keyscan".into(),
        key: Some(task["key"].as_str().unwrap().into()),
        known_hosts: client.join("known_hosts"),
        run_folder: client.join("run"),
    };
    let local = LocalConfig {
        program: "/nonexistent".into(),
        args: Vec::new(),
        list: "/nonexistent".into(),
        state: "/nonexistent".into(),
        trust_own_list: false,
    };
    let channels = channels_with(&catalogue, ssh, local).unwrap();
    let action = catalogue.get(&ActionId::parse("stop-it").unwrap()).unwrap();
    let running = running(action, &json!({}), 1);
    let before = peak_kb();
    let outcome = channels
        .execute(permit(action, &running, FreezeSwitch::default()))
        .await;
    println!("outcome: {outcome:?}");
    println!("grown: {} kB", peak_kb() - before);
    // A trace ends with the last process in it.
    for process in processes_about(&client.join("run")) {
        signal(process.pid, Signal::KILL);
    }
}

/// The most memory that this process ever had.
fn peak_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Runs it behind `before`, which is a program and its arguments, or nothing.
fn run_apart(lab: &Lab, before: &[&str]) -> String {
    let this = std::env::current_exe().unwrap();
    let words = [before, &[this.to_str().unwrap()]].concat();
    let output = Command::new(words[0])
        .args(&words[1..])
        .args(["--exact", "starts::one_run", "--ignored", "--nocapture"])
        .env(TASK, task(lab).to_string())
        .env("LC_ALL", CANARY)
        .env("SSH_AUTH_SOCK", CANARY)
        .env("VOID_SECRET", CANARY)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

struct Started {
    program: String,
    args: Vec<String>,
    env: Vec<String>,
}

/// The programs of a trace, in no order: `execve("path", ["argument", …], ["NAME=value", …]) = 0`.
fn started(folder: &Path) -> Vec<Started> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let trace = fs::read_to_string(entry.unwrap().path()).unwrap();
        let lines = trace.lines().filter(|line| line.ends_with(" = 0"));
        for call in lines.filter_map(|line| line.strip_prefix("execve(")) {
            let (call, _) = call.rsplit_once(')').unwrap();
            // C strings; none here holds an escape that JSON does not know.
            let parts = serde_json::from_str(&format!("[{call}]"));
            let (program, args, env) = parts.unwrap_or_else(|error| panic!("{error}: {call}"));
            found.push(Started { program, args, env });
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn ssh_is_started_with_our_arguments_alone_and_no_environment() {
    let lab = Lab::new(&usual()[..1]);
    let folder = lab.client.path().join("trace");
    fs::create_dir(&folder).unwrap();
    let file = folder.join("t").display().to_string();
    let strace = [
        "/usr/bin/strace",
        "-ff",
        "-qq",
        "-e",
        "trace=execve",
        "-e",
        "signal=none",
        "-v",
        "-s",
        "4096",
        "-o",
        &file,
    ];
    let said = run_apart(&lab, &strace);
    assert!(said.contains("outcome: Done"), "{said}");
    assert_eq!(lab.effects(), ["@/effect|stop|"]);
    let this = std::env::current_exe().unwrap().display().to_string();
    let mut started = started(&folder);
    started.retain(|one| one.program != this);
    // One opens the connection, one asks for the list, one sends the ticket. No shell, nothing else.
    assert_eq!(started.len(), 3);
    let mut commands = Vec::new();
    for Started { program, args, env } in &started {
        assert_eq!((&**program, &*args[0]), ("/usr/bin/ssh", "/usr/bin/ssh"));
        assert_eq!(env, &[""; 0]);
        assert!(!args.iter().any(|arg| arg.contains(CANARY)), "{args:?}");
        let end = args.iter().position(|arg| arg == "--").unwrap();
        assert_eq!(args[end + 1], "voidact@127.0.0.1");
        let command = &args[end + 2..];
        assert_eq!(
            args[1..end],
            options(&lab, &args[..end], command.is_empty())
        );
        commands.push(command.to_vec());
    }
    commands.sort();
    assert_eq!(commands[0], [""; 0]);
    let [id, ticket] = &commands[1][..] else {
        panic!("{commands:?}");
    };
    assert!(
        id == "stop-it" && void_act::Ticket::decode(ticket).is_ok(),
        "{ticket}"
    );
    assert_eq!(commands[2], ["void-list"]);
}

/// All that stands before the destination. The names of socket and key file are taken from `found`,
/// and have to lie in the run folder.
fn options(lab: &Lab, found: &[String], opens: bool) -> Vec<String> {
    let run_folder = lab.run_folder().display().to_string();
    let ours = |prefix: &str, text: &str| {
        let path = text.strip_prefix(prefix).unwrap_or_default();
        assert!(path.starts_with(&format!("{run_folder}/")), "{text}");
        path.to_owned()
    };
    let socket = ours("", found.last().unwrap());
    let (flags, own): (&[&str], Vec<String>) = if opens {
        let keys = found
            .iter()
            .find(|arg| arg.starts_with("UserKnownHostsFile="));
        let keys = ours("UserKnownHostsFile=", keys.unwrap());
        let own = vec![
            "ControlMaster=yes".to_owned(),
            "ControlPersist=60".to_owned(),
            format!("UserKnownHostsFile={keys}"),
            format!("IdentityFile={}", lab.sshd.key.display()),
        ];
        (&["-N", "-f"], own)
    } else {
        let own = [
            "ControlMaster=no",
            "UserKnownHostsFile=/dev/null",
            "IdentityFile=none",
        ];
        (&[], own.map(str::to_owned).to_vec())
    };
    let fixed = [
        "BatchMode=yes",
        "IdentitiesOnly=yes",
        "PreferredAuthentications=publickey",
        "StrictHostKeyChecking=yes",
        "GlobalKnownHostsFile=/dev/null",
        "HostKeyAlias=lab",
        "UpdateHostKeys=no",
        "VerifyHostKeyDNS=no",
        "CheckHostIP=no",
        "ClearAllForwardings=yes",
        "ForwardAgent=no",
        "ForwardX11=no",
        "PermitLocalCommand=no",
        "ProxyCommand=none",
        "ProxyJump=none",
        "CanonicalizeHostname=no",
        "AddKeysToAgent=no",
        "IdentityAgent=none",
        "EscapeChar=none",
        "ConnectTimeout=10",
        "ServerAliveInterval=10",
        "ServerAliveCountMax=2",
        "LogLevel=ERROR",
    ];
    let mut words: Vec<String> = ["-F", "none", "-T"].map(str::to_owned).to_vec();
    words.extend(flags.iter().map(|&flag| flag.to_owned()));
    for option in own.into_iter().chain(fixed.map(str::to_owned)) {
        words.extend(["-o".to_owned(), option]);
    }
    words.extend(["-p".to_owned(), lab.sshd.port.to_string()]);
    words.extend(["-S".to_owned(), socket]);
    words
}

/// On the host: what `void-act` starts is the listed argv, with one variable and nothing in between.
#[tokio::test(flavor = "multi_thread")]
async fn the_listed_argv_is_all_that_the_host_starts() {
    let argv = json!(["/usr/bin/printf", "%s|", "a b", "$HOME", "`id`", "-x", ""]);
    let lab = Lab::new(&[Listed::risky("stop-it", argv.clone())]);
    let folder = lab.sshd.work().join("trace");
    let script = format!(
        "#!/bin/sh\nmkdir -p {0}\nexec /usr/bin/strace -ff -qq -e trace=execve -e signal=none -v -s 4096 -o {0}/t {1}\n",
        folder.display(),
        lab.sshd.void_act()
    );
    lab.force_script("traced", &script).await;
    let result = crate::lab::done(lab.run("stop-it").await);
    assert_eq!(result["stdout"], json!("a b|$HOME|`id`|-x||"));
    let mut started = started(&folder);
    started.retain(|one| one.program != lab.sshd.path("void-act").to_str().unwrap());
    let [one] = &started[..] else {
        panic!("{} programs", started.len());
    };
    assert_eq!(one.program, "/usr/bin/printf");
    assert_eq!(json!(one.args), argv);
    let path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    assert_eq!(one.env, [path]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_floods_us_does_not_fill_our_memory() {
    let lab = Lab::new(&usual()[..1]);
    let flood = "#!/bin/sh\nyes 0123456789 | head -c 50000000 & yes 0123456789 | head -c 50000000 >&2; wait\n";
    lab.force_script("flood", flood).await;
    let said = run_apart(&lab, &[]);
    assert!(said.contains("Known(NoAnswer)"), "{said}");
    let grown = said.split("grown: ").nth(1).unwrap();
    let grown: u64 = grown.split(' ').next().unwrap().parse().unwrap();
    assert!(grown < 16 * 1024, "{said}");
}
