//! `void mcp` as a client meets it: started with three variables, spoken to line by line, while servers
//! come and go and tokens end.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Output, Stdio};

use serde_json::{Value, json};
use void_testkit::eventually_blocking;

use crate::lab::{Lab, OWNER, VOID, catalogue};

const CLIENTS: [&str; 6] = [
    "claude-code",
    "claude-desktop",
    "cursor",
    "vscode",
    "codex",
    "zed",
];

fn agent(lab: &Lab, name: &str) -> (String, String) {
    let new = ["token", "new", "--kind", "agent", "--name", name];
    let made = lab.json(&[&new[..], &["--cap", "read", "--cap", "act"]].concat(), 0);
    let text = |member: &str| made[member].as_str().unwrap().to_owned();
    (text("id"), text("token"))
}

fn command(address: SocketAddr, token: &str) -> Command {
    let mut command = Command::new(VOID);
    command
        .arg("mcp")
        .env_clear()
        .env("VOID_API_URL", format!("http://{address}"))
        .env("VOID_AGENT_TOKEN", token);
    command
}

/// A bridge and both its ends.
struct Bridge {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Bridge {
    fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    fn to(lab: &Lab, token: &str) -> Self {
        Self::start(command(lab.address, token))
    }

    fn say(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(text.as_bytes()).unwrap();
        input.flush().unwrap();
    }

    /// The next line, which is a message whatever happens.
    fn hear(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line).unwrap();
        let message: Option<Value> = (read > 0).then(|| serde_json::from_str(&line).unwrap());
        assert!(
            message
                .as_ref()
                .is_none_or(|message| message["jsonrpc"] == "2.0")
        );
        message
    }

    fn ask(&mut self, id: u64, method: &str, params: &Value) -> Value {
        self.say(&line(id, method, params));
        let answer = self.hear().unwrap();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn end(mut self) -> (ExitStatus, String) {
        self.input = None;
        let status = self.child.wait().unwrap();
        let mut said = String::new();
        let mut errors = self.child.stderr.take().unwrap();
        errors.read_to_string(&mut said).unwrap();
        (status, said)
    }
}

fn line(id: u64, method: &str, params: &Value) -> String {
    let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    format!("{message}\n")
}

fn call(name: &str, arguments: Value) -> Value {
    json!({"name": name, "arguments": arguments})
}

fn handshake() -> Value {
    json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})
}

fn with_slow_action() -> Value {
    let mut catalogue = catalogue();
    for id in ["slow-one", "slow-two"] {
        let slow = json!({"id": id, "label": "Slow", "kind": "service_restart", "host": "local", "service": id, "tier": "safe", "cooldown_s": 0});
        catalogue["actions"].as_array_mut().unwrap().push(slow);
    }
    catalogue
}

#[test]
fn many_are_asked_before_one_is_answered() {
    let lab = Lab::with(&with_slow_action());
    let _server = lab.serve(&[]);
    let (_, token) = agent(&lab, "client");
    let mut bridge = Bridge::to(&lab, &token);
    let answer = bridge.ask(0, "initialize", &handshake());
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
    bridge.say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    let slow = json!({"action_id": "slow-one", "reason": "a test"});
    let mut said = line(1, "tools/call", &call("propose_action", slow));
    for id in 2..=500 {
        said.push_str(&line(id, "tools/call", &call("list_actions", json!({}))));
    }
    bridge.say(&said);
    let mut heard = BTreeSet::new();
    for _ in 2..=500 {
        let answer = bridge.hear().unwrap();
        assert_eq!(
            answer["result"]["structuredContent"]["actions"][0]["id"],
            "critical-one"
        );
        heard.insert(answer["id"].as_u64().unwrap());
    }
    assert_eq!(heard, (2..=500).collect());
    // What is under way at the end of the input is still answered.
    bridge.input = None;
    fs::write(lab.path("go"), "").unwrap();
    let answer = bridge.hear().unwrap();
    assert_eq!(
        (answer["id"].as_u64(), lab.effects()),
        (Some(1), vec!["slow-one".to_owned()])
    );
    assert_eq!(bridge.hear(), None);
    let (status, said) = bridge.end();
    assert_eq!((status.code(), said.as_str()), (Some(0), ""));
}

#[test]
fn what_is_no_message_is_answered_too() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let (_, token) = agent(&lab, "client");
    let mut bridge = Bridge::to(&lab, &token);
    bridge.say("nothing\n\n[]\n");
    for code in [-32700, -32600] {
        let answer = bridge.hear().unwrap();
        assert_eq!(answer["error"]["code"], code);
        assert_eq!(answer.get("id"), Some(&Value::Null), "{answer}");
    }
    let long = line(1, "ping", &json!({"padding": "x".repeat(3 << 20)}));
    bridge.say(&long);
    assert_eq!(bridge.hear().unwrap()["error"]["code"], -32600);
    assert_eq!(bridge.ask(2, "ping", &json!({}))["result"], json!({}));
    // The last line needs no end.
    bridge.say("{\"jsonrpc\":\"2.0\",\"id\":\"last\",\"method\":\"ping\"}");
    bridge.input = None;
    assert_eq!(bridge.hear().unwrap()["id"], "last");
    assert_eq!(bridge.end().0.code(), Some(0));
}

#[test]
fn a_server_may_come_late_go_and_come_back() {
    let lab = Lab::with(&with_slow_action());
    let mut server = lab.serve(&[]);
    let (_, token) = agent(&lab, "client");
    server.terminate();
    let mut bridge = Bridge::to(&lab, &token);
    let answer = bridge.ask(1, "initialize", &handshake());
    assert_eq!(answer["error"]["code"], -32000, "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("cannot be reached") && message.contains("void serve"),
        "{message}"
    );
    bridge.say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    let mut server = lab.serve(&[]);
    assert!(bridge.ask(2, "initialize", &handshake())["result"].is_object());

    // It dies while it works: the call is answered, and is not made again.
    let slow = json!({"action_id": "slow-one", "reason": "a test"});
    bridge.say(&line(3, "tools/call", &call("propose_action", slow)));
    assert!(bridge.ask(4, "tools/list", &json!({}))["result"].is_object());
    eventually_blocking("the run to begin", || {
        server
            .proposals()
            .iter()
            .any(|row| row["status"] == "running")
            .then_some(())
    });
    server.kill();
    let answer = bridge.hear().unwrap();
    assert_eq!(answer["id"], 3);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("not known"), "{message}");
    fs::write(lab.path("go"), "").unwrap();
    let answer = bridge.ask(5, "ping", &json!({}));
    assert_eq!(answer["error"]["code"], -32000, "{answer}");
    let server = lab.serve(&[]);
    assert_eq!(bridge.ask(6, "ping", &json!({}))["result"], json!({}));
    assert_eq!(server.proposals().len(), 1);
    assert_eq!(bridge.end().0.code(), Some(0));
}

#[test]
fn a_token_that_is_no_good_is_said_at_once() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let ends = |mut command: Command| -> Output {
        let stdin = Stdio::piped();
        let child = command
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // Standard input stays open: it does not wait for anybody to say something.
        let mut child = child.spawn().unwrap();
        let input = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(input);
        output
    };
    let mut missing = command(lab.address, "");
    // Neither of these is looked at.
    missing
        .env("OWNER_TOKEN", OWNER)
        .env("VOID_DATA", lab.data());
    let mut odd = command(lab.address, "a token\r\nx: y");
    odd.env("VOID_TOOL_REGISTRY", "blue");
    for (command, words) in [
        (missing, "VOID_AGENT_TOKEN is not set"),
        (odd, "not a token"),
        (
            command(lab.address, "void_agent_made-up"),
            "refuses this token",
        ),
        (command(lab.address, OWNER), "tools are for agents"),
    ] {
        let output = ends(command);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(4), "{said}");
        assert!(
            said.contains(words) && said.contains("void token new"),
            "{said}"
        );
        assert!(output.stdout.is_empty() && !said.contains(OWNER));
    }
    let (_, token) = agent(&lab, "client");
    for name in ["root", "b l u e"] {
        let mut unknown = command(lab.address, &token);
        unknown.env("VOID_TOOL_REGISTRY", name);
        assert_eq!(ends(unknown).status.code(), Some(2), "{name}");
    }
    let mut security = command(lab.address, &token);
    security.env("VOID_TOOL_REGISTRY", "security");
    let mut bridge = Bridge::start(security);
    let listed = bridge.ask(1, "tools/list", &json!({}));
    assert!(
        !listed.to_string().contains("\"propose_action\""),
        "{listed}"
    );
}

#[test]
fn the_registry_of_the_companion_has_its_tools_and_no_others() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let new = "token new --kind agent --name notes --cap read --cap suggest";
    let made = lab.json(&new.split(' ').collect::<Vec<_>>(), 0);
    let mut companion = command(lab.address, made["token"].as_str().unwrap());
    companion.env("VOID_TOOL_REGISTRY", "companion");
    let mut bridge = Bridge::start(companion);
    let listed = bridge.ask(1, "tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap().iter();
    let names: BTreeSet<&str> = tools.map(|tool| tool["name"].as_str().unwrap()).collect();
    let expected = ["context", "propose_change", "read", "search"];
    assert_eq!(names, BTreeSet::from(expected));
    // What acts is not there, however it is asked for.
    let safe = json!({"action_id": "safe-one", "reason": "a test"});
    let acted = bridge.ask(2, "tools/call", &call("propose_action", safe));
    assert!(acted["error"].is_object(), "{acted}");
}

#[test]
fn a_token_that_is_withdrawn_ends_it() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let (id, token) = agent(&lab, "client");
    let mut bridge = Bridge::to(&lab, &token);
    assert!(bridge.ask(1, "tools/list", &json!({}))["result"].is_object());
    lab.json(&["token", "revoke", &id], 0);
    let safe = json!({"action_id": "safe-one", "reason": "a test"});
    let answer = bridge.ask(2, "tools/call", &call("propose_action", safe));
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("refuses this token"), "{message}");
    let (status, said) = bridge.end();
    assert_eq!(status.code(), Some(4), "{said}");
    assert!(
        said.contains("void token new") && !said.contains(&token),
        "{said}"
    );
    assert_eq!(lab.effects(), Vec::<String>::new());
}

#[test]
fn killing_it_harms_nothing() {
    let lab = Lab::new();
    let server = lab.serve(&[]);
    let (_, token) = agent(&lab, "client");
    for round in 0..10 {
        let mut bridge = Bridge::to(&lab, &token);
        assert!(bridge.ask(1, "tools/list", &json!({}))["result"].is_object());
        let safe = json!({"action_id": "safe-one", "reason": format!("round {round}")});
        bridge.say(&line(2, "tools/call", &call("propose_action", safe)));
        bridge.child.kill().unwrap();
        bridge.child.wait().unwrap();
    }
    let rows = eventually_blocking("everything to end", || {
        let rows = server.proposals();
        let open = |row: &Value| matches!(row["status"].as_str(), Some("approved" | "running"));
        (!rows.iter().any(open)).then_some(rows)
    });
    let executed = rows
        .iter()
        .filter(|row| row["status"] == "executed")
        .count();
    assert_eq!(lab.effects().len(), executed, "{rows:?}");
    let mut bridge = Bridge::to(&lab, &token);
    assert!(bridge.ask(1, "tools/list", &json!({}))["result"].is_object());
}

/// Something on the way that passes requests on and gives no connection away.
fn proxy(to: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let Ok(mut server) = TcpStream::connect(to) else {
                continue;
            };
            let mut answers = (server.try_clone().unwrap(), client.try_clone().unwrap());
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut answers.0, &mut answers.1);
                let _ = answers.1.shutdown(std::net::Shutdown::Both);
            });
            std::thread::spawn(move || {
                let mut bytes = [0; 4_096];
                while let Ok(read @ 1..) = client.read(&mut bytes) {
                    let text = String::from_utf8(bytes[..read].to_vec()).unwrap();
                    let text = text.replace("Upgrade: void-mcp", "X-Dropped: nothing");
                    if server.write_all(text.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

#[test]
fn it_works_where_connections_are_not_given_away() {
    let lab = Lab::with(&with_slow_action());
    let mut server = lab.serve(&[]);
    let (id, token) = agent(&lab, "client");
    // The server knows its own address only; the proxy is on the same machine.
    let mut bridge = Bridge::start(command(proxy(lab.address), &token));
    assert!(bridge.ask(1, "initialize", &handshake())["result"].is_object());
    bridge.say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    let slow = json!({"action_id": "slow-one", "reason": "a test"});
    let mut said = line(2, "tools/call", &call("propose_action", slow));
    for id in 3..=50 {
        said.push_str(&line(id, "tools/call", &call("list_actions", json!({}))));
    }
    bridge.say(&said);
    let heard: BTreeSet<u64> = (3..=50)
        .map(|_| bridge.hear().unwrap()["id"].as_u64().unwrap())
        .collect();
    assert_eq!(heard, (3..=50).collect());
    fs::write(lab.path("go"), "").unwrap();
    assert_eq!(bridge.hear().unwrap()["id"], 2);
    server.terminate();
    let answer = bridge.ask(60, "ping", &json!({}));
    assert_eq!(answer["error"]["code"], -32000, "{answer}");
    let _server = lab.serve(&[]);
    assert_eq!(bridge.ask(61, "ping", &json!({}))["result"], json!({}));
    lab.json(&["token", "revoke", &id], 0);
    let answer = bridge.ask(62, "ping", &json!({}));
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("refuses this token")
    );
    assert_eq!(bridge.end().0.code(), Some(4));
}

/// Word of a run that takes its time comes also where every message is a request.
#[test]
fn a_slow_run_is_told_of_where_connections_are_not_given_away() {
    let lab = Lab::with(&with_slow_action());
    let mut server = lab.serve(&[]);
    let (_, token) = agent(&lab, "client");
    let mut bridge = Bridge::start(command(proxy(lab.address), &token));
    let slow = json!({"action_id": "slow-one", "reason": "a test"});
    let mut params = call("propose_action", slow.clone());
    params["_meta"] = json!({"progressToken": "p-1"});
    bridge.say(&line(7, "tools/call", &params));
    let mut before = 0;
    for _ in 0..2 {
        let notice = bridge.hear().unwrap();
        assert_eq!(notice["method"], "notifications/progress", "{notice}");
        assert_eq!(notice["params"]["progressToken"], "p-1");
        assert!(notice.get("id").is_none(), "{notice}");
        let progress = notice["params"]["progress"].as_u64().unwrap();
        assert!(progress > before, "{notice}");
        before = progress;
    }
    // Others are answered meanwhile.
    bridge.say(&line(8, "ping", &json!({})));
    let mut heard = bridge.hear().unwrap();
    while heard["method"] == "notifications/progress" {
        heard = bridge.hear().unwrap();
    }
    assert_eq!(heard["id"], 8, "{heard}");
    fs::write(lab.path("go"), "").unwrap();
    let mut answer = bridge.hear().unwrap();
    while answer["method"] == "notifications/progress" {
        answer = bridge.hear().unwrap();
    }
    assert_eq!(answer["id"], 7, "{answer}");
    assert_eq!(answer["result"]["structuredContent"]["outcome"], "executed");
    // Whoever did not ask for word is told the answer only, however often another one is told meanwhile.
    fs::remove_file(lab.path("go")).unwrap();
    bridge.say(&line(
        9,
        "tools/call",
        &call("propose_action", slow.clone()),
    ));
    let other = json!({"action_id": "slow-two", "reason": "a test"});
    let mut asks = call("propose_action", other);
    asks["_meta"] = json!({"progressToken": "p-11"});
    bridge.say(&line(11, "tools/call", &asks));
    for _ in 0..2 {
        let notice = bridge.hear().unwrap();
        assert_eq!(notice["params"]["progressToken"], "p-11", "{notice}");
    }
    fs::write(lab.path("go"), "").unwrap();
    let mut answered = BTreeSet::new();
    while answered.len() < 2 {
        let heard = bridge.hear().unwrap();
        match heard["id"].as_u64() {
            Some(id) => {
                answered.insert(id);
            }
            None => assert_eq!(heard["params"]["progressToken"], "p-11", "{heard}"),
        }
    }
    assert_eq!(answered, BTreeSet::from([9, 11]));
    // A server that goes away in the middle is an error, and no answer is made up.
    fs::remove_file(lab.path("go")).unwrap();
    params["_meta"] = json!({"progressToken": "p-2"});
    bridge.say(&line(10, "tools/call", &params));
    let notice = bridge.hear().unwrap();
    assert_eq!(notice["params"]["progressToken"], "p-2", "{notice}");
    server.kill();
    let mut answer = bridge.hear().unwrap();
    while answer["method"] == "notifications/progress" {
        answer = bridge.hear().unwrap();
    }
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(10), &json!(-32000)),
        "{answer}"
    );
    fs::write(lab.path("go"), "").unwrap();
}

/// A client gives a call up and closes: the program ends although the run goes on.
#[test]
fn a_cancelled_call_does_not_keep_it_alive() {
    let lab = Lab::with(&with_slow_action());
    let server = lab.serve(&[]);
    let (_, token) = agent(&lab, "client");
    for (address, action) in [(lab.address, "slow-one"), (proxy(lab.address), "slow-two")] {
        let mut bridge = Bridge::start(command(address, &token));
        let mut params = call("propose_action", json!({"action_id": action}));
        params["_meta"] = json!({"progressToken": "p"});
        bridge.say(&line(7, "tools/call", &params));
        let notice = bridge.hear().unwrap();
        assert_eq!(notice["method"], "notifications/progress", "{notice}");
        let given_up = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
        bridge.say(&format!("{given_up}\n"));
        bridge.input = None;
        // Whoever waited for the call would be answered that it still runs.
        while let Some(heard) = bridge.hear() {
            assert_eq!(heard["method"], "notifications/progress", "{heard}");
        }
        assert!(bridge.child.wait().unwrap().success(), "{action}");
        let rows = server.proposals();
        let row = rows.iter().find(|row| row["action_id"] == action).unwrap();
        assert_eq!(row["status"], "running", "{row}");
    }
    assert_eq!(lab.effects(), Vec::<String>::new());
    fs::write(lab.path("go"), "").unwrap();
    eventually_blocking("both to run to their end", || {
        (lab.effects().len() == 2).then_some(())
    });
}

#[test]
fn every_snippet_starts_a_bridge_that_answers() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let (_, token) = agent(&lab, "client");
    for client in CLIENTS {
        let told = |with_token: &[&str]| -> (Output, Value) {
            let run = |more: &[&str]| {
                let mut command = command(lab.address, &token);
                command.args(["config", client]).args(with_token).args(more);
                command.output().unwrap()
            };
            let (plain, json) = (run(&[]), run(&["--json"]));
            assert!(plain.status.success(), "{plain:?}");
            (plain, serde_json::from_slice(&json.stdout).unwrap())
        };
        let (plain, value) = told(&[]);
        let shown = String::from_utf8(plain.stdout).unwrap();
        let notes = String::from_utf8(plain.stderr).unwrap();
        assert_eq!(shown.trim_end(), value["snippet"].as_str().unwrap());
        assert!(
            !format!("{shown}{notes}{value}").contains(&token),
            "{client}"
        );
        assert!(notes.contains("void token new --kind agent"), "{notes}");
        assert!(notes.contains(value["file"].as_str().unwrap()), "{notes}");

        let (_, value) = told(&["--with-token"]);
        let snippet = value["snippet"].as_str().unwrap();
        let read: Value = if client == "codex" {
            toml::from_str(snippet).unwrap()
        } else {
            serde_json::from_str(snippet).unwrap()
        };
        let servers = match client {
            "vscode" => "servers",
            "codex" => "mcp_servers",
            "zed" => "context_servers",
            _ => "mcpServers",
        };
        let entry = &read[servers]["void"];
        let mut command = Command::new(entry["command"].as_str().unwrap());
        command.env_clear();
        for argument in entry["args"].as_array().unwrap() {
            command.arg(argument.as_str().unwrap());
        }
        for (name, value) in entry["env"].as_object().unwrap() {
            command.env(name, value.as_str().unwrap());
        }
        let mut bridge = Bridge::start(command);
        assert!(
            bridge.ask(1, "initialize", &handshake())["result"].is_object(),
            "{client}"
        );
        assert_eq!(bridge.end().0.code(), Some(0));
    }
    // By the settings, as every other command.
    let shown = lab.json(&["mcp", "config", "cursor"], 0).to_string();
    assert!(shown.contains(&lab.address.to_string()), "{shown}");
    let output = lab.void(&["mcp", "config", "cursor", "--with-token"]);
    assert_eq!(output.status.code(), Some(2), "there is no token to write");
}
