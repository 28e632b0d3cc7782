//! One host behind a real sshd, a catalogue that names its actions, and the channels under test.

mod ends;
mod listed;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use tempfile::TempDir;
use void_channels::{
    Channel as _, Channels, Evidence, LocalConfig, Outcome, SshConfig, UnsafePath,
};
use void_domain::catalogue::{Action, Catalogue};
use void_domain::freezes::FreezeSwitch;
use void_domain::hosts::{Host, HostName};
use void_domain::ids::ActionId;
use void_domain::permits::{Permit, Ticket};
use void_domain::proposals::Proposal;
use void_testkit::processes::{Process, processes_about};
use void_testkit::sshd::Sshd;

pub(crate) use self::ends::{
    Random, answer, beside, done, failed, is_refused, no_evidence, now, unknown, wait_until, within,
};
pub(crate) use self::listed::{Listed, address, catalogue, permit, running, usual};

/// The host's name in the catalogue.
pub(crate) const HOST: &str = "lab";

/// Appends its own path and arguments to a file, in one write.
const EFFECT: &str =
    "#!/bin/sh\nprintf '%s\\n' \"$(printf '%s|' \"$0\" \"$@\")\" >> \"${0%/*}/marks/effects\"\n";

pub(crate) struct Lab {
    pub(crate) sshd: Sshd,
    pub(crate) catalogue: Catalogue,
    pub(crate) channels: Arc<Channels>,
    /// The server's side: private folder for sockets, known hosts.
    pub(crate) client: TempDir,
    count: AtomicU32,
}

impl Lab {
    /// The host's key is pinned in the catalogue.
    pub(crate) fn new(listed: &[Listed]) -> Self {
        Self::behind(Sshd::start(), listed)
    }

    pub(crate) fn behind(sshd: Sshd, listed: &[Listed]) -> Self {
        sshd.install("effect", EFFECT);
        let catalogue = catalogue(listed, &json!({HOST: address(&sshd, Some(&sshd.host_key))}));
        let client = client_folder();
        let channels = Arc::new(channels(&catalogue, &sshd, client.path()));
        let lab = Self {
            sshd,
            catalogue,
            channels,
            client,
            count: AtomicU32::new(0),
        };
        lab.write_list(&lab.list(listed));
        lab
    }

    /// The same host under another catalogue; the host's list stays as it is.
    pub(crate) fn with_hosts(mut self, listed: &[Listed], hosts: &Value) -> Self {
        self.catalogue = catalogue(listed, hosts);
        self.channels = Arc::new(channels(&self.catalogue, &self.sshd, self.client.path()));
        self
    }

    /// The list that `void provision` would write for these actions.
    pub(crate) fn list(&self, listed: &[Listed]) -> Value {
        let entries: Vec<Value> = listed.iter().map(|one| self.entry(one)).collect();
        json!({
            "version": 1,
            "host": HOST,
            "stop_file": self.sshd.path("stop"),
            "entries": entries,
        })
    }

    pub(crate) fn entry(&self, listed: &Listed) -> Value {
        let folder = self.sshd.folder().display().to_string();
        let mut argv = listed.argv.clone();
        for element in argv.as_array_mut().unwrap() {
            if let Some(name) = element.as_str().and_then(|text| text.strip_prefix("@/")) {
                *element = json!(format!("{folder}/{name}"));
            }
        }
        let def = self.action(&listed.id).exec_digest();
        let mut entry = json!({"id": listed.id, "argv": argv, "tier": listed.tier, "def": def});
        if let Some(params) = &listed.params {
            entry["params"] = params.clone();
        }
        if let Some(seconds) = listed.timeout_s {
            entry["timeout_s"] = json!(seconds);
        }
        entry
    }

    pub(crate) fn write_list(&self, list: &Value) {
        self.sshd.write("list.json", &list.to_string(), 0o644);
    }

    pub(crate) fn action(&self, id: &str) -> &Arc<Action> {
        self.catalogue.get(&ActionId::parse(id).unwrap()).unwrap()
    }

    pub(crate) fn host(&self) -> Host {
        let name = HostName::parse(HOST).unwrap();
        self.catalogue.host(&name).unwrap().clone()
    }

    /// A proposal of its own that has just been claimed.
    pub(crate) fn running(&self, id: &str, params: &Value) -> Proposal {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        running(self.action(id), params, number)
    }

    pub(crate) fn permit(&self, running: &Proposal, freeze_switch: FreezeSwitch) -> Permit {
        permit(
            self.action(running.subject.action_id().unwrap().as_str()),
            running,
            freeze_switch,
        )
    }

    /// What Void would send for a new proposal.
    pub(crate) fn command(&self, id: &str) -> String {
        let running = self.running(id, &json!({}));
        let ticket = Ticket::of(&running).unwrap();
        let expires_ms = u64::try_from(ticket.expires_at.as_ms()).unwrap();
        let word = void_act::Ticket::new(
            &ticket.proposal_id.to_string(),
            &ticket.digest.to_string(),
            &ticket.exec_digest.to_string(),
            void_act::Params::new(),
            expires_ms,
        );
        format!("{id} {}", word.unwrap().encode())
    }

    /// The whole way of one proposal without parameters.
    pub(crate) async fn run(&self, id: &str) -> Outcome {
        self.execute(&self.running(id, &json!({}))).await
    }

    pub(crate) async fn execute(&self, running: &Proposal) -> Outcome {
        let permit = self.permit(running, FreezeSwitch::default());
        self.channels.execute(permit).await
    }

    /// In the background, so that the test can interfere.
    pub(crate) fn start(&self, running: &Proposal) -> tokio::task::JoinHandle<Outcome> {
        let permit = self.permit(running, FreezeSwitch::default());
        let channels = Arc::clone(&self.channels);
        tokio::spawn(async move { channels.execute(permit).await })
    }

    pub(crate) async fn settle(&self, running: &Proposal) -> Evidence {
        let ticket = Ticket::of(running).unwrap();
        let execution = running.subject.execution().unwrap();
        self.channels.settle(execution, &ticket).await
    }

    /// What listed commands left behind: one line per start, `program|argument|…|`.
    pub(crate) fn effects(&self) -> Vec<String> {
        let text = fs::read_to_string(self.sshd.work().join("effects")).unwrap_or_default();
        let folder = format!("{}/", self.sshd.folder().display());
        text.lines()
            .map(|line| line.replace(&folder, "@/"))
            .collect()
    }

    pub(crate) async fn wait_for_effects(&self, count: usize) {
        wait_until("the effect", || self.effects().len() >= count).await;
    }

    pub(crate) fn known_hosts(&self) -> PathBuf {
        self.client.path().join("known_hosts")
    }

    pub(crate) fn run_folder(&self) -> PathBuf {
        self.client.path().join("run")
    }

    /// The process that holds the shared connection.
    pub(crate) fn masters(&self) -> Vec<Process> {
        let mut found = processes_about(&self.run_folder());
        found.retain(|process| process.line.contains("ControlMaster=yes"));
        found
    }

    /// The processes that carry this word to the host.
    pub(crate) fn senders(&self, word: &str) -> Vec<Process> {
        let word = format!(" {word} ");
        let mut found = processes_about(&self.run_folder());
        found.retain(|process| process.line.contains(&word));
        found
    }

    /// `void-act` on the host.
    pub(crate) fn actors(&self) -> Vec<Process> {
        let mut found = processes_about(&self.sshd.path("void-act"));
        found.retain(|process| process.name == "void-act");
        found
    }

    /// Makes this what the key runs, in the place of `void-act` or around it. A connection keeps the
    /// command that it logged in with, so there must be none.
    pub(crate) async fn force(&self, command: &str) {
        self.sshd.force(command);
        self.sshd.cut();
        wait_until("connections to end", || self.masters().is_empty()).await;
    }

    pub(crate) async fn force_script(&self, name: &str, script: &str) {
        let path = self.sshd.install(name, script);
        self.force(path.to_str().unwrap()).await;
    }

    /// Holds commands of this shell pattern at the pipe that is returned; `arrived` counts them.
    pub(crate) async fn hold(&self, pattern: &str) -> PathBuf {
        let script = format!(
            "#!/bin/sh\ncase \"$SSH_ORIGINAL_COMMAND\" in {pattern}) \
             echo \"$SSH_ORIGINAL_COMMAND\" >> \"${{0%/*}}/marks/arrived\"; \
             read _ < \"${{0%/*}}/marks/gate\" ;; esac\nexec {}\n",
            self.sshd.void_act()
        );
        self.force_script("hold", &script).await;
        self.sshd.fifo("gate")
    }

    /// The commands that came to the pipe so far.
    pub(crate) fn arrived(&self) -> Vec<String> {
        let text = fs::read_to_string(self.sshd.work().join("arrived")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub(crate) async fn wait_for_arrivals(&self, count: usize) {
        wait_until("a command to arrive", || self.arrived().len() >= count).await;
    }

    /// Waits until nothing that a command was given for runs on the host any more, so that effects can
    /// be counted for good.
    pub(crate) async fn wait_until_quiet(&self) {
        // The server itself, and the shell that watches over it.
        let stays = |process: &Process| {
            matches!(&*process.name, "sshd" | "ssh") || process.line.contains("cat >/dev/null")
        };
        let quiet = || processes_about(self.sshd.folder()).iter().all(stays);
        wait_until("the host to be quiet", quiet).await;
    }

    /// Lets whoever waits at this pipe go on.
    pub(crate) fn release(&self, fifo: &Path) {
        fs::write(fifo, "go\n").unwrap();
    }

    /// The plain client with the restricted key, for whatever a hostile server would try.
    pub(crate) fn ssh(&self, options: &[&str]) -> Command {
        let known = self.client.path().join("plain_known_hosts");
        let line = format!("{HOST} {}\n", self.sshd.host_key);
        if !fs::read_to_string(&known).is_ok_and(|found| found == line) {
            fs::write(&known, line).unwrap();
        }
        let mut command = Command::new("/usr/bin/ssh");
        command
            .args([
                "-F",
                "none",
                "-o",
                "BatchMode=yes",
                "-o",
                "IdentitiesOnly=yes",
            ])
            .args(["-o", &format!("HostKeyAlias={HOST}")])
            .args(["-o", &format!("UserKnownHostsFile={}", known.display())])
            .args([
                "-o",
                "GlobalKnownHostsFile=/dev/null",
                "-o",
                "LogLevel=INFO",
            ])
            .arg("-i")
            .arg(&self.sshd.key)
            .args(["-p", &self.sshd.port.to_string()])
            .args(options)
            .args(["--", &format!("{}@127.0.0.1", self.sshd.account())])
            .stdin(Stdio::null());
        command
    }

    /// The plain client over a connection of its own that calls share.
    pub(crate) fn shared(&self, options: &[&str]) -> Command {
        let path = self.client.path().join("plain");
        let path = format!("ControlPath={}", path.display());
        let sharing = [
            "-o",
            "ControlMaster=auto",
            "-o",
            "ControlPersist=20",
            "-o",
            &path,
        ];
        self.ssh(&[&sharing[..], options].concat())
    }

    /// One command by the plain client.
    pub(crate) fn say(&self, command: &str) -> Output {
        self.shared(&[]).arg(command).output().unwrap()
    }
}

fn client_folder() -> TempDir {
    let folder = tempfile::Builder::new()
        .prefix("void-client-")
        .tempdir_in("/tmp")
        .unwrap();
    fs::create_dir(folder.path().join("run")).unwrap();
    folder
}

pub(crate) fn ssh_config(sshd: &Sshd, client: &Path) -> SshConfig {
    SshConfig {
        program: "/usr/bin/ssh".into(),
        keyscan: "/usr/bin/ssh-keyscan".into(),
        key: Some(sshd.key.clone()),
        known_hosts: client.join("known_hosts"),
        run_folder: client.join("run"),
    }
}

pub(crate) fn local_config(sshd: &Sshd) -> LocalConfig {
    // As the account too: nothing that the tests run is root's.
    let account = format!("--reuid={}", sshd.account());
    let group = format!("--regid={}", sshd.account());
    let before = ["--clear-groups", &account, &group, "--"].map(OsString::from);
    LocalConfig {
        program: "/usr/bin/setpriv".into(),
        args: [&before[..], &[sshd.path("void-act").into_os_string()]].concat(),
        list: sshd.path("list.json"),
        state: sshd.state(),
        trust_own_list: false,
    }
}

pub(crate) fn channels(catalogue: &Catalogue, sshd: &Sshd, client: &Path) -> Channels {
    channels_with(catalogue, ssh_config(sshd, client), local_config(sshd)).unwrap()
}

/// The one place that puts channels together.
pub(crate) fn channels_with(
    catalogue: &Catalogue,
    ssh: SshConfig,
    local: LocalConfig,
) -> Result<Channels, UnsafePath> {
    Channels::new(catalogue, ssh, local, None)
}
