//! `exec:PROGRAM WORD…`: a secret that a program of the owner's prints, such as `pass show void/proxmox` or `bw get password
//! void`. It is started by its words, without a shell, with nothing of ours but where the owner's keys lie. What it
//! prints is the secret, so nothing of it is repeated, neither when it fails.

use std::fmt;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use void_domain::secrets::Secret;

use super::Environment;
use super::secrets::SECRET_BYTES_MAX;

const WORDS_MAX: usize = 32;
/// Long enough for a password store that asks an agent for its key, too short for one that asks a person.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often one that has closed its output is looked after.
const LOOK: Duration = Duration::from_millis(10);
/// What password stores look for. Nothing else of our own environment is handed on: it may hold other secrets.
const HANDED_ON: [&str; 14] = [
    "HOME",
    "PATH",
    "USER",
    "LANG",
    "LC_ALL",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "GNUPGHOME",
    "PASSWORD_STORE_DIR",
    "BW_SESSION",
    "BITWARDENCLI_APPDATA_DIR",
    "SSL_CERT_FILE",
];

/// A program by its path, and its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SecretProgram {
    path: PathBuf,
    words: Vec<String>,
}

impl fmt::Display for SecretProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exec:{}", self.path.display())?;
        self.words.iter().try_for_each(|word| write!(f, " {word}"))
    }
}

impl SecretProgram {
    /// Words are parted by blanks; there is no way to write a blank into one, and nothing that a shell would read.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        if text.chars().any(char::is_control) {
            return Err("must be one line");
        }
        let mut words = text.split(' ').filter(|word| !word.is_empty());
        let path = words.next().map(PathBuf::from);
        let path = path.filter(|path| path.is_absolute());
        let path = path.ok_or("must begin with the whole path of a program")?;
        let words: Vec<String> = words.map(str::to_owned).collect();
        match words.len() {
            0..=WORDS_MAX => Ok(Self { path, words }),
            _ => Err("has too many words"),
        }
    }

    /// What it prints, without blanks and line ends around it.
    pub(super) fn ask(&self, environment: &Environment) -> Result<Secret, String> {
        let mut child = self.start(environment)?;
        let answer = printed(&mut child).and_then(|text| ended(&mut child).map(|()| text));
        // Whatever it left running ends too.
        end(&child);
        let _ = child.wait();
        let text = String::from_utf8(answer?).map_err(|_| "what it prints is no text")?;
        match text.trim() {
            "" => Err("it prints nothing".to_owned()),
            secret => Ok(Secret::new(secret)),
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a program that the owner's settings name, with fixed words, before anything runs"
    )]
    fn start(&self, environment: &Environment) -> Result<Child, String> {
        use std::os::unix::process::CommandExt as _;
        let mut command = Command::new(&self.path);
        command
            .args(&self.words)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // So that what it started ends with it.
            .process_group(0);
        for name in HANDED_ON {
            if let Some(value) = environment.get(name) {
                command.env(name, value);
            }
        }
        command
            .spawn()
            .map_err(|error| format!("it cannot be started: {error}"))
    }
}

/// All that it prints, up to the bound and the patience.
fn printed(child: &mut Child) -> Result<Vec<u8>, String> {
    let out = child.stdout.take().ok_or("it prints nowhere")?;
    let (tell, told) = mpsc::channel();
    // Ends with the pipe at the latest: whoever is too slow is killed with all that it started.
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = out.take(SECRET_BYTES_MAX + 1).read_to_end(&mut bytes);
        let _ = tell.send(read.map(|_| bytes));
    });
    let bytes = told
        .recv_timeout(PATIENCE)
        .map_err(|_| too_slow())?
        .map_err(|error| error.to_string())?;
    match u64::try_from(bytes.len()).is_ok_and(|length| length <= SECRET_BYTES_MAX) {
        true => Ok(bytes),
        false => Err("what it prints is too large for a secret".to_owned()),
    }
}

/// It has printed all it had; now it has to end, and well.
fn ended(child: &mut Child) -> Result<(), String> {
    for _ in 0..PATIENCE.as_millis() / LOOK.as_millis() {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(format!("it failed: {status}")),
            None => std::thread::sleep(LOOK),
        }
    }
    Err(too_slow())
}

fn too_slow() -> String {
    format!("it did not end within {} seconds", PATIENCE.as_secs())
}

fn end(child: &Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}
