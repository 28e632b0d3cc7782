//! A host in a directory: list, state and a command whose effects can be counted, below a parent that root owns.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use sha2::Digest;
use tempfile::TempDir;
use void_act::{Answer, Outcome, Params, Reason, Ticket};

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_void-act");
pub(crate) const HOUR_MS: u64 = 3600 * 1000;
pub(crate) const DAY_MS: u64 = 24 * HOUR_MS;
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Lab {
    dir: TempDir,
}

pub(crate) struct Called {
    pub(crate) code: Option<i32>,
    pub(crate) line: String,
    pub(crate) answer: Answer,
}

impl Called {
    pub(crate) fn from(output: &Output) -> Self {
        let line = String::from_utf8(output.stdout.clone()).unwrap();
        assert_eq!(
            line.matches('\n').count(),
            1,
            "one line: {line:?} {output:?}"
        );
        assert!(line.ends_with('\n') && line.len() <= 512 << 10);
        let answer: Answer = serde_json::from_str(&line).unwrap();
        assert_eq!(
            output.status.code(),
            Some(i32::from(answer.outcome.exit_code())),
            "{line}"
        );
        Self {
            code: output.status.code(),
            line,
            answer,
        }
    }

    #[track_caller]
    pub(crate) fn refused(&self, reason: Reason) {
        assert_eq!(
            (self.answer.outcome, self.answer.reason),
            (Outcome::Refused, Some(reason)),
            "{}",
            self.line
        );
        assert_eq!(self.code, Some(13));
        assert!(
            self.answer
                .stderr
                .as_ref()
                .is_some_and(|text| !text.is_empty()),
            "{}",
            self.line
        );
        assert!(!self.answer.replayed);
    }

    #[track_caller]
    pub(crate) fn is(&self, outcome: Outcome, replayed: bool) {
        assert_eq!(
            (self.answer.outcome, self.answer.replayed),
            (outcome, replayed),
            "{}",
            self.line
        );
    }
}

impl Lab {
    /// With one risky entry `effect`, which appends its arguments to a file, and the given ones.
    pub(crate) fn new(entries: &[Value]) -> Self {
        Self::below(Path::new("/run"), entries)
    }

    pub(crate) fn below(parent: &Path, entries: &[Value]) -> Self {
        let dir = tempfile::Builder::new()
            .prefix("void-act-tests-")
            .tempdir_in(parent);
        let lab = Self {
            dir: dir.expect("the suite of void-act runs as root"),
        };
        fs::set_permissions(lab.dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(lab.path("state")).unwrap();
        lab.set_mode("state", 0o700);
        lab.script(
            "effect",
            &format!("echo \"$#:$*\" >> {}", lab.path("effects").display()),
        );
        lab.list(entries);
        lab
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn script(&self, name: &str, body: &str) -> String {
        self.executable(name, &format!("#!/bin/sh\n{body}\n"))
    }

    pub(crate) fn executable(&self, name: &str, content: &str) -> String {
        let draft = format!("{name}.draft");
        fs::write(self.path(&draft), content).unwrap();
        self.install(&self.path(&draft), name)
    }

    /// Copied by another process: a file that this one has open for writing could be inherited by the fork of a
    /// parallel test, and then it cannot be executed.
    pub(crate) fn install(&self, from: &Path, name: &str) -> String {
        let copied = run(command("/bin/cp").arg(from).arg(self.path(name)));
        assert!(copied.status.success(), "{copied:?}");
        self.set_mode(name, 0o755);
        self.text(name)
    }

    pub(crate) fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn list(&self, entries: &[Value]) {
        let effect = json!({"id": "effect", "argv": [self.text("effect"), "one", "t w o"], "tier": "risky", "def": def()});
        let entries: Vec<_> = [&[effect], entries].concat();
        let list = json!({"version": 1, "host": "lab", "stop_file": self.path("stop"), "entries": entries});
        fs::write(self.path("list.json"), list.to_string()).unwrap();
        self.set_mode("list.json", 0o644);
    }

    pub(crate) fn arguments(&self) -> [OsString; 4] {
        [
            "--list".into(),
            self.path("list.json").into(),
            "--state".into(),
            self.path("state").into(),
        ]
    }

    pub(crate) fn command(&self, original: impl AsRef<OsStr>) -> Command {
        let mut command = command(BINARY);
        command
            .args(self.arguments())
            .env("SSH_ORIGINAL_COMMAND", original);
        command
    }

    pub(crate) fn call(&self, original: impl AsRef<OsStr>) -> Called {
        Called::from(&run(&mut self.command(original)))
    }

    pub(crate) fn ask(&self, id: &str, ticket: &Ticket) -> Called {
        self.call(format!("{id} {}", ticket.encode()))
    }

    pub(crate) fn effects(&self) -> usize {
        fs::read_to_string(self.path("effects")).map_or(0, |text| text.lines().count())
    }

    /// The lines of all tickets, the oldest ticket first.
    pub(crate) fn journal(&self) -> String {
        let mut found = Vec::new();
        for file in self.ticket_files() {
            let text = fs::read_to_string(file).unwrap();
            let first: Option<Value> = text
                .lines()
                .next()
                .and_then(|line| serde_json::from_str(line).ok());
            let at = |kind: &str| first.as_ref()?[kind]["at"]["up_ms"].as_u64();
            found.push((at("start").or(at("void")), text));
        }
        found.sort();
        found.into_iter().map(|(_, text)| text).collect()
    }

    pub(crate) fn ticket_files(&self) -> Vec<PathBuf> {
        let folders = "0123456789abcdef".chars();
        folders
            .filter_map(|digit| fs::read_dir(self.path(&format!("state/journal/{digit}"))).ok())
            .flatten()
            .map(|entry| entry.unwrap().path())
            .collect()
    }

    /// The file of a ticket that is there.
    pub(crate) fn ticket_file(&self, n: u64) -> PathBuf {
        let mut files = self.ticket_files();
        files.retain(|file| file.file_name() == Some(proposal(n).as_ref()));
        let [file] = &files[..] else {
            panic!("ticket {n}: {files:?}");
        };
        file.clone()
    }

    /// Where a file of this ticket would be, whether or not it is there.
    pub(crate) fn place_of(&self, n: u64) -> PathBuf {
        let hash = sha2::Sha256::digest(proposal(n).as_bytes());
        let folder = format!("state/journal/{:x}", hash[0] >> 4);
        self.path(&folder).join(proposal(n))
    }

    /// The journal of an earlier version.
    pub(crate) fn write_old_journal(&self, text: impl AsRef<[u8]>) {
        let _ = fs::remove_dir_all(self.path("state"));
        fs::create_dir(self.path("state")).unwrap();
        self.set_mode("state", 0o700);
        fs::write(self.path("state/journal"), text).unwrap();
        self.set_mode("state/journal", 0o600);
    }

    /// Makes it time for the next folder to be pruned, which is this one.
    pub(crate) fn make_pruning_due(&self, folder: u64) {
        let marks = self.path("state/journal/marks");
        for entry in fs::read_dir(&marks).unwrap() {
            let path = entry.unwrap().path();
            if path.to_str().unwrap().contains("pruned_") {
                let name = format!("pruned_{}_1", (folder + 15) % 16);
                fs::rename(path, marks.join(name)).unwrap();
            }
        }
    }

    pub(crate) fn marks(&self) -> Vec<String> {
        let names = fs::read_dir(self.path("state/journal/marks")).unwrap();
        names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    /// Waits until no process mentions this lab any more, so that effects can be counted for good.
    pub(crate) fn wait_quiet(&self) {
        let needle = self.dir.path().as_os_str().as_bytes();
        let busy = || {
            let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
            let mut lines =
                processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
            lines.any(|line| line.windows(needle.len()).any(|window| window == needle))
        };
        wait_for("the lab to be quiet", || !busy());
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests start processes here and nowhere else"
)]
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    // cargo's LD_LIBRARY_PATH would triple the system calls that the fault tests go through.
    command
        .stdin(Stdio::null())
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    command
}

/// Output of a command that must end by itself; one that hangs is killed and fails the test.
pub(crate) fn run(command: &mut Command) -> Output {
    run_within(PATIENCE, command)
}

/// The same for what takes its time: thousands of runs under a trace.
pub(crate) fn run_within(patience: Duration, command: &mut Command) -> Output {
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id().to_string();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    if let Ok(output) = receiver.recv_timeout(patience) {
        return output.unwrap();
    }
    let _ = self::command("/bin/kill").args(["-KILL", &pid]).status();
    panic!("{command:?} hangs");
}

pub(crate) fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let give_up = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < give_up, "waited too long for {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests read the clock here and nowhere else"
)]
pub(crate) fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(now.as_millis()).unwrap()
}

pub(crate) fn def() -> String {
    "e".repeat(64)
}

pub(crate) fn proposal(n: u64) -> String {
    format!("00000000-0000-7000-8000-{n:012x}")
}

/// A ticket for an entry with [`def`], good for an hour.
pub(crate) fn ticket(n: u64) -> Ticket {
    ticket_with(n, &json!({}), now_ms() + HOUR_MS)
}

pub(crate) fn ticket_with(n: u64, params: &Value, expires_ms: u64) -> Ticket {
    let params: Params = serde_json::from_value(params.clone()).unwrap();
    Ticket::new(&proposal(n), &"d".repeat(64), &def(), params, expires_ms).unwrap()
}

/// A safe entry with a cooldown that no test outlives, runnable by its bare id.
pub(crate) fn safe(id: &str, argv: &[&str]) -> Value {
    json!({"id": id, "argv": argv, "tier": "safe", "cooldown_s": 3600, "def": def()})
}
