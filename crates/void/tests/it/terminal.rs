//! The terminal as a person meets it: what happens on yes comes first, four words instead of 64 characters, the
//! history, short local times, 80 columns, closed pipes, and three different sentences for three different problems.

mod columns;
mod words;

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;

use serde_json::{Value, json};
use void_testkit::eventually_blocking;

use crate::lab::{Lab, OWNER, Server, VOID, catalogue, word};

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn set(lab: &mut Lab, name: &str, value: &str) {
    lab.environment.push((name.to_owned(), value.to_owned()));
}

/// Whether a text has a time as programs read it.
fn has_rfc3339(text: &str) -> bool {
    let is_time =
        |word: &str| word.len() >= 20 && word.ends_with('Z') && word.get(10..11) == Some("T");
    text.split(|letter: char| letter.is_whitespace() || letter == '"')
        .any(is_time)
}

#[test]
fn a_card_says_what_happens_before_what_it_binds() {
    let mut checked = catalogue();
    checked["actions"][2]["verify"] = json!({"service": "web"});
    let lab = Lab::with(&checked);
    let services = json!({"services": [{"id": "web", "label": "Web", "check": {"kind": "tcp", "address": "127.0.0.1:1"}}]});
    std::fs::write(lab.data().join("services.json"), services.to_string()).unwrap();
    let _server = lab.serve(&[]);
    let queued = lab.json(&["run", "risky-one"], 7);
    let code = word(&queued["row"], "code");
    let shown = out(&lab.void(&["inbox", "show", code]));
    let at = |text: &str| {
        shown
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {shown}"))
    };
    let (yes, after, binds) = (at("if yes"), at("afterwards"), at("binds"));
    assert!(
        yes < after && after < binds && binds < at("asked by"),
        "{shown}"
    );
    assert!(
        shown.contains("if yes       it restarts risky-one on local"),
        "{shown}"
    );
    // What has ended is not asked about any more.
    lab.json(&["inbox", "reject", code], 0);
    let ended = out(&lab.void(&["inbox", "show", code]));
    assert!(
        ended.contains("effect") && !ended.contains("if yes"),
        "{ended}"
    );
}

#[test]
fn the_history_has_everything_with_its_code_page_by_page() {
    let lab = Lab::new();
    assert_eq!(lab.void(&["inbox", "ls", "--all"]).status.code(), Some(10));
    let _server = lab.serve(&[]);
    assert!(out(&lab.void(&["inbox", "ls", "--all"])).contains("Nothing was asked for"));
    let ran = word(&lab.json(&["run", "safe-one"], 9)["row"], "code").to_owned();
    let rejected = word(&lab.json(&["run", "risky-one"], 7)["row"], "code").to_owned();
    lab.json(&["inbox", "reject", &rejected, "--reason", "not now"], 0);
    let waiting = word(&lab.json(&["run", "critical-one"], 7)["row"], "code").to_owned();

    let listed = out(&lab.void(&["inbox", "ls"]));
    assert!(
        listed.contains(&waiting) && !listed.contains(&ran),
        "{listed}"
    );
    let all = out(&lab.void(&["inbox", "ls", "--all"]));
    let place = |code: &str| all.find(code).unwrap_or_else(|| panic!("{code}: {all}"));
    assert!(
        place(&waiting) < place(&rejected) && place(&rejected) < place(&ran),
        "{all}"
    );
    for state in ["Waiting for yes", "Rejected", "Ran, not confirmed"] {
        assert!(all.contains(state), "{all}");
    }

    let mut seen = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..3 {
        let mut args = vec!["inbox", "ls", "--all", "--limit", "1"];
        if let Some(cursor) = &cursor {
            args.extend(["--cursor", cursor]);
        }
        let page = lab.json(&args, 0);
        let rows = page["proposals"].as_array().unwrap();
        assert_eq!(rows.len(), 1, "{page}");
        seen.push(word(&rows[0], "code").to_owned());
        cursor = page["next"].as_str().map(str::to_owned);
    }
    assert_eq!(seen, [waiting, rejected, ran]);
    let more = err(&lab.void(&["inbox", "ls", "--all", "--limit", "1"]));
    assert!(
        more.contains("inbox ls --all --limit 1 --cursor "),
        "{more}"
    );
    for bad in ["0", "501", "x"] {
        let refused = lab.void(&["inbox", "ls", "--all", "--limit", bad]);
        assert_eq!(refused.status.code(), Some(2), "{bad}");
    }
}

#[test]
fn times_are_local_and_short_unless_programs_read_them() {
    let mut lab = Lab::new();
    // Nine hours ahead of UTC, without a summer time.
    set(&mut lab, "TZ", "TST-9");
    let _server = lab.serve(&[]);
    let queued = lab.json(&["run", "risky-one"], 7);
    let code = word(&queued["row"], "code").to_owned();
    lab.void(&[
        "token", "new", "--kind", "agent", "--name", "a", "--cap", "act",
    ]);
    let commands: [&[&str]; 8] = [
        &["inbox", "ls"],
        &["inbox", "ls", "--all"],
        &["inbox", "show", &code],
        &["audit", "ls"],
        &["audit", "show", "1"],
        &["token", "ls"],
        &["freeze", "--for", "4h"],
        // It says until when everything is frozen.
        &["status"],
    ];
    for args in commands {
        let shown = out(&lab.void(args));
        assert!(!has_rfc3339(&shown), "{args:?}: {shown}");
        let utc = out(&lab.void(&[args, &["--utc"]].concat()));
        assert!(has_rfc3339(&utc), "{args:?}: {utc}");
        let json = out(&lab.void(&[args, &["--json"]].concat()));
        assert!(has_rfc3339(&json), "{args:?}: {json}");
    }
    // What an error of the server says of times is said likewise.
    lab.json(&["thaw"], 0);
    lab.json(&["inbox", "reject", &code], 0);
    let again = lab.void(&["inbox", "approve", &code, "--yes"]);
    assert!(
        err(&again).contains("already rejected by owner (command line) at "),
        "{}",
        err(&again)
    );
    assert!(!has_rfc3339(&err(&again)), "{}", err(&again));
    // The clock is the zone's.
    let before = clock_there();
    let exact = out(&lab.void(&["audit", "show", "1"]));
    let frozen = out(&lab.void(&["freeze", "--for", "1s"]));
    let after = clock_there();
    assert!(exact.contains("TST"), "{exact}");
    assert!(
        [before, after].iter().any(|clock| frozen.contains(clock)),
        "{frozen}"
    );
}

fn clock_there() -> String {
    let said = Command::new("date")
        .env("TZ", "TST-9")
        .arg("+%H:%M")
        .output()
        .unwrap();
    out(&said).trim().to_owned()
}

/// Wide text everywhere: a long label, a long address, a data folder far down.
fn wide() -> Lab {
    let mut wide = catalogue();
    let label = "Restart the service that everybody in this house needs every single evening, and look that it came back";
    wide["actions"][2]["label"] = json!(label);
    let address = "the-long-name-of-a-machine.in-the-cellar.of-this-house.example";
    wide["hosts"] = json!({"the-machine-in-the-cellar": {"address": address, "port": 2222, "user": "somebody"}});
    let lab = Lab::with(&wide);
    let services = json!({"services": [{
        "id": "the-service-of-the-house", "label": label,
        "host": "local", "check": {"kind": "tcp", "address": "127.0.0.1:1"},
    }]});
    std::fs::write(lab.data().join("services.json"), services.to_string()).unwrap();
    lab
}

#[test]
fn eighty_columns_hold_every_list() {
    let mut lab = wide();
    let settings = lab.data().join("void.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, text.replace("enabled = false", "enabled = true")).unwrap();
    let mut server = lab.serve(&[]);
    for token in [
        json!({"kind": "agent", "name": "the-agent-with-the-longest-name-of-all", "capabilities": ["read", "act"]}),
        json!({"kind": "viewer", "name": "v"}),
    ] {
        let (status, made) = server.call("POST", "/api/tokens", Some(&token));
        assert_eq!(status, 200, "{made}");
    }
    lab.json(&["backup", "create"], 0);
    // Without the note beside it, the database may be an older copy: everything is quarantined and frozen.
    assert!(server.terminate().success());
    std::fs::remove_file(lab.data().join("witness.json")).unwrap();
    set(
        &mut lab,
        "NTFY_URL",
        "http://127.0.0.1:9/the-topic-of-this-house-which-nobody-guesses-either",
    );
    let server = lab.serve(&[]);
    let mut joining = ask_to_join(&lab, &server, "the-node-in-the-cellar-of-the-house");
    let code = word(&lab.json(&["run", "risky-one"], 7)["row"], "code").to_owned();
    let commands: [&[&str]; 16] = [
        &["services"],
        &["config", "show"],
        &["audit", "ls"],
        &["doctor"],
        &["actions", "ls"],
        &["inbox", "ls"],
        &["inbox", "ls", "--all"],
        &["inbox", "show", &code],
        &["agents", "ls"],
        &["token", "ls"],
        &["hosts", "ls"],
        &["node", "ls"],
        &["notify", "ls"],
        &["backup", "ls"],
        &["quarantine", "ls"],
        &["status"],
    ];
    let whole: Vec<String> = commands.iter().map(|args| out(&lab.void(args))).collect();
    let is_wide = |text: &String| text.lines().any(|line| line.chars().count() > 80);
    assert!(
        whole.iter().filter(|text| is_wide(text)).count() >= 10,
        "nothing is cut for a file"
    );
    for (args, text) in commands.iter().zip(&whole) {
        assert!(text.lines().count() >= 2, "{args:?} lists nothing: {text}");
    }
    set(&mut lab, "COLUMNS", "80");
    for args in commands {
        let shown = out(&lab.void(args));
        for line in shown.lines() {
            assert!(line.chars().count() <= 80, "{args:?}: {line}");
        }
    }
    // Nothing of it is lost.
    let letters = |text: &str| text.replace(char::is_whitespace, "");
    let shown = letters(&out(&lab.void(&["config", "show"])));
    for setting in lab.json(&["config", "show"], 0)["settings"]
        .as_array()
        .unwrap()
    {
        let name = word(setting, "name");
        assert!(shown.contains(&letters(name)), "{name}: {shown}");
    }
    // Colour is not cut in two.
    for command in ["doctor", "status"] {
        let coloured = out(&lab.void(&[command, "--color", "always"]));
        for line in coloured.lines() {
            assert_eq!(line.matches('\u{1b}').count() % 2, 0, "{line:?}");
        }
    }
    joining.kill().unwrap();
    joining.wait().unwrap();
}

/// A machine that asks to be a node, and waits.
fn ask_to_join(lab: &Lab, server: &Server, name: &str) -> Child {
    let invited = lab.json(&["node", "invite", name], 0);
    let joining = lab
        .command()
        .args([
            "node",
            "join",
            &format!("http://{}", lab.address),
            "--state",
        ])
        .arg(lab.path("node"))
        .env("VOID_JOIN_TOKEN", word(&invited, "token"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    eventually_blocking("it asks", || {
        let (_, nodes) = server.call("GET", "/api/nodes", None);
        let found = nodes["nodes"]
            .as_array()?
            .iter()
            .any(|node| word(node, "name") == name);
        found.then_some(())
    });
    joining
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let code = word(&lab.json(&["run", "risky-one"], 7)["row"], "code").to_owned();
    let commands: Vec<(Vec<&str>, i32)> = vec![
        (vec!["audit", "ls"], 0),
        (vec!["audit", "export"], 0),
        (vec!["audit", "verify"], 0),
        (vec!["audit", "show", "1"], 0),
        (vec!["inbox", "ls"], 0),
        (vec!["inbox", "ls", "--all"], 0),
        (vec!["inbox", "show", &code], 0),
        (vec!["inbox", "ls", "--json"], 0),
        (vec!["status"], 0),
        (vec!["services"], 0),
        (vec!["actions", "ls"], 0),
        (vec!["actions", "schema"], 0),
        (vec!["actions", "lint"], 0),
        (vec!["agents", "ls"], 0),
        (vec!["hosts", "ls"], 0),
        (vec!["token", "ls"], 0),
        (vec!["notify", "ls"], 0),
        (vec!["config", "show"], 0),
        (vec!["doctor"], 0),
        (vec!["provision", "local"], 0),
        (vec!["help-exit-codes"], 0),
        (vec!["version"], 0),
        (vec!["--help"], 0),
        (vec!["completions", "bash"], 0),
        (vec!["chat", "-m", "what is wrong?"], 0),
        // What was asked for is done all the same, and its end is told.
        (vec!["run", "safe-one"], 9),
    ];
    for (args, code) in commands {
        let ended = into_closed_pipe(&lab, &args);
        let said = err(&ended);
        assert!(
            !said.contains("panicked") && !said.contains("roken pipe"),
            "{args:?}: {said}"
        );
        assert_eq!(ended.status.code(), Some(code), "{args:?}: {said}");
    }
    assert_eq!(lab.effects(), ["safe-one"]);
}

fn into_closed_pipe(lab: &Lab, args: &[&str]) -> Output {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let child = lab
        .command()
        .args(args)
        .stdout(Stdio::from(writer))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.wait_with_output().unwrap()
}

/// What follows has nothing left to do when nobody reads.
#[test]
fn watching_ends_with_the_pipe() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut child = lab
        .command()
        .args(["inbox", "watch"])
        .stdout(Stdio::from(writer))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Until it has said something, it may not listen yet.
    let mut said = [0_u8; 1];
    let heard = std::thread::spawn(move || reader.read_exact(&mut said).map(|()| reader));
    while !heard.is_finished() {
        lab.json(&["run", "safe-one"], 9);
    }
    drop(heard.join().unwrap().unwrap());
    let ended = loop {
        lab.json(&["run", "safe-one"], 9);
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
    };
    assert_eq!(ended.code(), Some(0));
}

/// Answers every connection with these bytes.
fn stranger(answer: &'static [u8]) -> (std::net::SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = [0_u8; 4096];
        let _ = stream.read(&mut asked);
        let _ = stream.write_all(answer);
    });
    (address, serving)
}

#[test]
fn no_server_another_server_and_a_wrong_token_are_three_sentences() {
    let mut lab = Lab::new();
    let nobody = lab.void(&["status"]);
    assert_eq!(nobody.status.code(), Some(10));
    assert!(
        err(&nobody).contains("no server answers at "),
        "{}",
        err(&nobody)
    );
    assert!(
        err(&nobody).contains("next: void serve"),
        "{}",
        err(&nobody)
    );

    let others: [&[u8]; 6] = [
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\nConnection: close\r\n\r\n{\"status\":\"up\"}",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 13\r\nConnection: close\r\n\r\n<h1>nope</h1>",
        b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 20\r\nConnection: close\r\n\r\n{\"message\":\"log in\"}",
        b"HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
    ];
    for answer in others {
        let (address, serving) = stranger(answer);
        let url = format!("http://{address}");
        let told = lab.void(&["--url", &url, "status"]);
        assert_eq!(
            told.status.code(),
            Some(12),
            "{}: {}",
            String::from_utf8_lossy(answer),
            err(&told)
        );
        assert!(
            err(&told).contains("another server answers at "),
            "{}",
            err(&told)
        );
        assert!(
            err(&told).contains("next: point --url")
                && !err(&told).split_whitespace().any(|said| said == "serve"),
            "{}",
            err(&told)
        );
        serving.join().unwrap();
    }

    let _server = lab.serve(&[]);
    lab.environment = vec![("OWNER_TOKEN".into(), "somebody-else".into())];
    let unknown = lab.void(&["status"]);
    assert_eq!(unknown.status.code(), Some(4));
    assert!(
        err(&unknown).contains("does not know the token of OWNER_TOKEN"),
        "{}",
        err(&unknown)
    );
    assert!(err(&unknown).contains("next: "), "{}", err(&unknown));
    assert!(!err(&unknown).contains("somebody-else") && !err(&unknown).contains(OWNER));
    lab.environment = vec![("OWNER_TOKEN".into(), String::new())];
    let none = lab.void(&["status"]);
    assert_eq!(none.status.code(), Some(4));
    assert!(
        err(&none).contains("wants a token, and there is none"),
        "{}",
        err(&none)
    );
    let json: Value = lab.json(&["status"], 4);
    assert_eq!(json["error"]["code"], json!("unauthenticated"));
    assert!(
        Command::new(VOID)
            .arg("help-exit-codes")
            .output()
            .unwrap()
            .stdout
            .windows(4)
            .any(|four| four == b"  12")
    );
}
