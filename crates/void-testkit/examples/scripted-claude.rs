//! Stands in for the `claude` program: prints the lines that the real one prints, and keeps what it was
//! started with. Its environment is cleared by whoever starts it, so it finds its script beside the name
//! it was started by.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a part of the test harness, which stops at the first surprise"
)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio, exit};

use serde_json::{Value, json};

const SESSION: &str = "c38afb4e-fca9-4154-a753-429d9f8b748a";

fn main() {
    let argv: Vec<String> = std::env::args().collect();
    let folder = Path::new(&argv[0]).parent().expect("a folder").to_owned();
    let nth = (1..)
        .find(|nth| !folder.join(format!("pid-{nth}")).exists())
        .expect("a number");
    let pid = std::process::id().to_string();
    fs::write(folder.join(format!("pid-{nth}")), pid).expect("to be writable");
    let mut stdin = String::new();
    std::io::stdin().read_to_string(&mut stdin).expect("text");
    let env: BTreeMap<String, String> = std::env::vars().collect();
    let cwd = std::env::current_dir().expect("a folder");
    let mut run = Run {
        folder,
        nth,
        record: json!({"argv": argv, "env": env, "stdin": stdin, "cwd": cwd, "heard": []}),
    };
    run.write();
    let script = fs::read(run.folder.join("script.json")).expect("a script");
    let script: Value = serde_json::from_slice(&script).expect("JSON");
    for step in script[nth - 1].as_array().expect("a run") {
        run.step(step);
    }
}

struct Run {
    folder: PathBuf,
    nth: usize,
    record: Value,
}

impl Run {
    /// Whole or not at all: somebody may be waiting for it.
    fn write(&self) {
        let path = self.folder.join(format!("run-{}", self.nth));
        let new = path.with_extension("new");
        fs::write(&new, self.record.to_string()).expect("to be writable");
        fs::rename(new, path).expect("to be writable");
    }

    fn hear(&mut self, heard: Value) {
        let all = self.record["heard"].as_array_mut().expect("a list");
        all.push(heard);
        self.write();
    }

    fn step(&mut self, step: &Value) {
        let (kind, value) = step
            .as_object()
            .and_then(|step| step.iter().next())
            .expect("a step");
        let text = value.as_str().unwrap_or_default();
        match kind.as_str() {
            "says" => say(value),
            "line" => print(&format!("{value}\n")),
            "raw" => print(text),
            "fills" => print(&"x".repeat(usize::try_from(value.as_u64().expect("n")).expect("n"))),
            "stderr" => std::io::stderr().write_all(text.as_bytes()).expect("open"),
            "result" => result(value),
            "shell" => {
                // Stays the same process, with the signals that the script ignores.
                let error = Command::new("/bin/sh").args(["-c", text]).exec();
                panic_free(&error.to_string());
            }
            "child" => {
                let child = Command::new("/bin/sh").args(["-c", text]).spawn();
                self.hear(json!({"child": child.expect("to start").id()}));
            }
            "asks" => {
                let heard = self.ask(value);
                self.hear(heard);
            }
            "calls" => {
                let heard = self.call(text);
                self.hear(heard);
            }
            "stalls" => loop {
                std::thread::park();
            },
            "exits" => exit(i32::try_from(value.as_i64().expect("a code")).expect("small")),
            other => panic_free(other),
        }
    }

    /// A request to the gateway with the credential of the environment.
    fn ask(&self, request: &Value) -> Value {
        let env = &self.record["env"];
        let base = env["ANTHROPIC_BASE_URL"].as_str().expect("a gateway");
        let rest = base.strip_prefix("http://").expect("plain HTTP");
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let token = env["ANTHROPIC_AUTH_TOKEN"].as_str().expect("a token");
        let credential = match request["as"].as_str() {
            Some("key") => format!("x-api-key: {token}"),
            _ => format!("authorization: Bearer {token}"),
        };
        let path = format!(
            "{path}{}",
            request["path"].as_str().unwrap_or("/v1/messages?beta=true")
        );
        let body = request["body"].to_string();
        let mut stream = TcpStream::connect(host).expect("the gateway is there");
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {host}\r\n{credential}\r\nanthropic-version: 2023-06-01\r\n\
             anthropic-beta: claude-code-20250219,oauth-2025-04-20\r\nx-app: cli\r\n\
             user-agent: scripted\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
             connection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).expect("to be heard");
        stream.write_all(body.as_bytes()).expect("to be heard");
        let answer = self.hear_out(&mut stream);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse::<u16>().ok());
        json!({"status": status, "answer": answer})
    }

    /// The whole answer; what there is of it so far can be read by others. A torn one is an answer too.
    fn hear_out(&self, stream: &mut TcpStream) -> Vec<u8> {
        let (mut answer, mut buffer) = (Vec::new(), [0_u8; 4096]);
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            answer.extend_from_slice(&buffer[..count]);
            let path = self.folder.join(format!("answer-{}", self.nth));
            fs::write(path, &answer).expect("to be writable");
        }
        answer
    }

    /// One tool of the one server in the MCP configuration.
    fn call(&self, tool: &str) -> Value {
        let argv = self.record["argv"].as_array().expect("arguments");
        let at = argv
            .iter()
            .position(|word| word == "--mcp-config")
            .expect("a configuration");
        let config: Value =
            serde_json::from_str(argv[at + 1].as_str().expect("text")).expect("JSON");
        let server = &config["mcpServers"]["void"];
        let arguments = server["args"].as_array().expect("arguments").iter();
        let mut command = Command::new(server["command"].as_str().expect("a program"));
        command.args(arguments.map(|word| word.as_str().expect("text")));
        for (name, value) in server["env"].as_object().expect("variables") {
            let value = value.as_str().expect("text");
            let name_in_it = value
                .strip_prefix("${")
                .and_then(|rest| rest.strip_suffix('}'));
            let value = match name_in_it {
                Some(own) => std::env::var(own).expect("it is set"),
                None => value.to_owned(),
            };
            command.env(name, value);
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut answers = Vec::new();
        for (id, method, params) in [
            (
                1,
                "initialize",
                json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "claude", "version": "0"}}),
            ),
            (2, "tools/call", json!({"name": tool, "arguments": {}})),
        ] {
            let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            writeln!(stdin, "{request}").expect("to be heard");
            let line = lines.next().and_then(Result::ok).unwrap_or_default();
            answers.push(serde_json::from_str::<Value>(&line).unwrap_or_default());
        }
        drop(stdin);
        let _ = child.wait();
        json!(answers)
    }
}

/// One message of the model, piece by piece, as with `--include-partial-messages`.
fn say(pieces: &Value) {
    event(
        &json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "usage": {"input_tokens": 10, "output_tokens": 1}}}),
    );
    event(
        &json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    );
    for piece in pieces.as_array().expect("pieces") {
        event(
            &json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}),
        );
    }
    event(&json!({"type": "content_block_stop", "index": 0}));
    event(
        &json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}}),
    );
    event(&json!({"type": "message_stop"}));
}

fn event(event: &Value) {
    let line = json!({"type": "stream_event", "event": event, "session_id": SESSION, "parent_tool_use_id": null});
    print(&format!("{line}\n"));
}

fn result(change: &Value) {
    let mut line = json!({
        "type": "result", "subtype": "success", "is_error": false, "api_error_status": null,
        "num_turns": 1, "result": "", "stop_reason": "end_turn", "session_id": SESSION,
        "usage": {"input_tokens": 20, "output_tokens": 14, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 4},
    });
    for (name, value) in change.as_object().into_iter().flatten() {
        line[name] = value.clone();
    }
    print(&format!("{line}\n"));
}

/// Whoever listens may have gone.
fn print(text: &str) {
    let mut stdout = std::io::stdout().lock();
    if stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .is_err()
    {
        exit(1);
    }
}

fn panic_free(what: &str) -> ! {
    eprintln!("the script has a mistake: {what}");
    exit(70);
}
