//! A small installation around the real binary: a data folder, a catalogue, a host list for this
//! machine, and a file in which every effect leaves a line.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use void_domain::catalogue::{Catalogue, Lockout};
use void_testkit::{eventually_blocking, free_port};

pub const VOID: &str = env!("CARGO_BIN_EXE_void");
pub const OWNER: &str = "owner-token-of-a-test-which-nobody-guesses";

pub struct Lab {
    pub folder: TempDir,
    pub address: SocketAddr,
    pub database_url: Option<String>,
    /// Set for the server and every command.
    pub environment: Vec<(String, String)>,
}

/// Where a shell finds programs, this one among them: what is hinted at then begins with its name.
pub fn search_path() -> String {
    let folder = Path::new(VOID).parent().unwrap().display();
    format!("{folder}:/usr/bin:/bin:/usr/sbin:/sbin")
}

/// Three actions on this machine: safe, risky and critical by its own word; each effect is a line.
pub fn catalogue() -> Value {
    let action = |id: &str, tier: &str| json!({"id": id, "label": format!("Label of {id}"), "kind": "service_restart", "host": "local", "service": id, "tier": tier, "cooldown_s": 0});
    let mut critical = action("critical-one", "risky");
    critical["risk"] = json!("critical");
    json!({"hosts": {}, "actions": [action("safe-one", "safe"), action("safe-two", "safe"), action("risky-one", "risky"), critical]})
}

impl Lab {
    pub fn new() -> Self {
        Self::with(&catalogue())
    }

    pub fn with(catalogue: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let lab = Self {
            address: SocketAddr::from(([127, 0, 0, 1], free_port())),
            folder,
            database_url: None,
            environment: Vec::new(),
        };
        fs::create_dir(lab.data()).unwrap();
        fs::set_permissions(lab.data(), fs::Permissions::from_mode(0o700)).unwrap();
        let script = lab.path("effect.sh");
        // What is called slow waits until the test lets it go on.
        let text = format!(
            "#!/bin/sh\ncase \"$1\" in slow-*) while [ ! -e {go} ]; do sleep 0.01; done ;; esac\necho \"$1\" >> {effects}\n",
            go = lab.path("go").display(),
            effects = lab.path("effects").display()
        );
        fs::write(&script, text).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let settings = format!(
            "[local]\nlist = \"{}\"\ntrust_own_list = true\n[backups]\nenabled = false\n",
            lab.path("list.json").display()
        );
        fs::write(lab.data().join("void.toml"), settings).unwrap();
        lab.write_catalogue(catalogue);
        lab
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn data(&self) -> PathBuf {
        self.path("data")
    }

    /// Writes the catalogue and the host list that belongs to it.
    pub fn write_catalogue(&self, catalogue: &Value) {
        fs::write(self.path("actions.json"), catalogue.to_string()).unwrap();
        let parsed = Catalogue::parse(&catalogue.to_string(), &Lockout::default()).unwrap();
        let entries: Vec<Value> = parsed
            .actions()
            .map(|action| {
                json!({
                    "id": action.id, "tier": action.tier, "def": action.exec_digest(),
                    // Read by a shell, not executed: a file that was just written may still be open in a
                    // fork of a parallel test.
                    "argv": ["/bin/sh", self.path("effect.sh"), action.id],
                })
            })
            .collect();
        let list = json!({"version": 1, "host": "local", "stop_file": self.path("stop"), "entries": entries});
        fs::write(self.path("list.json"), list.to_string()).unwrap();
        fs::set_permissions(self.path("list.json"), fs::Permissions::from_mode(0o644)).unwrap();
    }

    /// What really happened, counted outside Void.
    pub fn effects(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("effects")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(VOID);
        command
            .env_clear()
            .env("PATH", search_path())
            .env("VOID_DATA", self.data())
            .env("VOID_LISTEN", self.address.to_string())
            .env("ACTIONS_CONFIG", self.path("actions.json"))
            .env("OWNER_TOKEN", OWNER)
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::null());
        if let Some(url) = &self.database_url {
            command.env("VOID_DATABASE_URL", url);
        }
        command
    }

    /// Runs a command to its end.
    pub fn void(&self, args: &[&str]) -> Output {
        self.command().args(args).output().unwrap()
    }

    /// Runs a command to its end in front of a terminal of so many columns; what a person sees of it.
    pub fn on_terminal(&self, args: &[&str], columns: usize) -> String {
        let command = self.command();
        let environment = command.get_envs();
        let environment: Vec<_> = environment
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        let line: Vec<&str> = [&[VOID], args].concat();
        let seen = Command::new("script")
            .args(["-qec", &line.join(" "), "/dev/null"])
            .env_clear()
            .envs(environment)
            .env("COLUMNS", columns.to_string())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        String::from_utf8(seen.stdout).unwrap()
    }

    /// Runs a command with `--json` that must exit with `code`; its standard output as JSON.
    pub fn json(&self, args: &[&str], code: i32) -> Value {
        let output = self.void(&[args, &["--json"]].concat());
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(
            output.status.code(),
            Some(code),
            "void {args:?}\n{said}\n{error}"
        );
        serde_json::from_str(if said.is_empty() { &error } else { &said })
            .unwrap_or_else(|_| panic!("void {args:?}: {said}{error}"))
    }

    /// Starts the server with at most so many open files, unless it asks for more.
    pub fn serve_with_few_files(&self, files: u32) -> Following {
        let path = self.path("following");
        let limited = format!("ulimit -Sn {files}; exec {VOID} serve");
        let environment: Vec<_> = self
            .command()
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        let child = Command::new("/bin/sh")
            .args(["-c", &limited])
            .env_clear()
            .envs(environment)
            .stdin(Stdio::null())
            .stdout(fs::File::create(&path).unwrap())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Following { child, path }
    }

    /// Starts a command that goes on until it is dropped; what it prints goes into a file.
    pub fn start(&self, args: &[&str]) -> Following {
        let path = self.path("following");
        let child = self
            .command()
            .args(args)
            .stdout(fs::File::create(&path).unwrap())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Following { child, path }
    }

    /// Starts the server and waits until it answers, or until it has ended.
    pub fn serve(&self, environment: &[(&str, &str)]) -> Server {
        let log = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.path("log"))
            .unwrap();
        let child = self
            .command()
            .arg("serve")
            .envs(environment.iter().copied())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut server = Server {
            child,
            address: self.address,
        };
        eventually_blocking("the server to answer or to end", || {
            (server.has_ended().is_some()
                || call(server.address, "GET", "/readyz", "", None)
                    .is_some_and(|(status, _)| status == 200))
            .then_some(())
        });
        server
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }
}

/// A command that follows something.
pub struct Following {
    child: Child,
    path: PathBuf,
}

impl Following {
    pub fn lines(&self) -> Vec<String> {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    pub fn has_ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to stop and waits for the end.
    pub fn terminate(&mut self) -> ExitStatus {
        let sent = Command::new("kill")
            .arg(self.child.id().to_string())
            .status()
            .unwrap();
        assert!(sent.success());
        self.child.wait().unwrap()
    }

    /// One request on its own connection; `None` if the server went away before answering.
    pub fn try_call(&self, method: &str, path: &str, body: Option<&Value>) -> Option<(u16, Value)> {
        call(self.address, method, path, OWNER, body)
    }

    pub fn call(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        self.try_call(method, path, body)
            .unwrap_or_else(|| panic!("{method} {path}: no answer"))
    }

    /// The rows of all proposals, newest first.
    pub fn proposals(&self) -> Vec<Value> {
        let (status, body) = self.call("GET", "/api/proposals?limit=500", None);
        assert_eq!(status, 200, "{body}");
        body["proposals"].as_array().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn call(
    address: SocketAddr,
    method: &str,
    path: &str,
    token: &str,
    body: Option<&Value>,
) -> Option<(u16, Value)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream
        .set_read_timeout(Some(Duration::from_secs(120)))
        .ok()?;
    let body = body.map(Value::to_string).unwrap_or_default();
    let content = if body.is_empty() {
        String::new()
    } else {
        "Content-Type: application/json\r\n".to_owned()
    };
    let authorization = if token.is_empty() {
        String::new()
    } else {
        format!("Authorization: Bearer {token}\r\n")
    };
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\n{authorization}{content}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    let text = String::from_utf8(answer).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some((status, serde_json::from_str(body).unwrap_or(Value::Null)))
}

pub fn word<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or("")
}
