//! The world outside: a catalogue, a host list made for it, and a file in which every effect leaves a
//! line, so that effects are counted by nobody who could be mistaken.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use void_channels::{Channels, LocalConfig, ProxmoxConfig, SshConfig, Trust};
use void_control::Clock;
use void_domain::catalogue::{Action, Catalogue, Lockout};
use void_domain::digests::Digest;
use void_domain::hosts::HostName;
use void_domain::secrets::Secret;
use void_rehearsal::proxmox::{
    Access, Acl, Guest, Node, ProxmoxConfig as ServerConfig, ProxmoxServer, Token, User,
};
use void_testkit::programs::void_act;

/// `slow-` waits for [`Lab::release`], `fail-` leaves its effect and then fails, `say-` prints what
/// [`Lab::prints_as`] was told.
const CATALOGUE: &str = r#"{ "actions": [
    { "id": "touch-a", "label": "Touch a", "kind": "service_restart", "host": "local", "service": "a", "tier": "safe", "cooldown_s": 0 },
    { "id": "touch-b", "label": "Touch b", "kind": "service_restart", "host": "local", "service": "b", "tier": "safe", "cooldown_s": 0 },
    { "id": "check-a", "label": "Touch what is watched", "kind": "service_restart", "host": "local", "service": "w", "tier": "safe", "cooldown_s": 0, "verify": { "service": "web" } },
    { "id": "fail-a", "label": "Fail a", "kind": "service_restart", "host": "local", "service": "f", "tier": "safe", "cooldown_s": 0 },
    { "id": "slow-a", "label": "Slow a", "kind": "service_restart", "host": "local", "service": "slow", "tier": "safe", "cooldown_s": 0 },
    { "id": "say-a", "label": "Say a", "kind": "service_restart", "host": "local", "service": "say", "tier": "safe", "cooldown_s": 0 },
    { "id": "stop-a", "label": "Stop a", "kind": "service_restart", "host": "local", "service": "r1", "tier": "risky" },
    { "id": "only-other", "label": "For another alone", "kind": "service_restart", "host": "local", "service": "o", "tier": "safe", "cooldown_s": 0, "agents": ["other"] },
    { "id": "scale-a", "label": "Scale a", "kind": "scale", "node": "local", "service": "s", "tier": "risky", "via": "host",
      "params": { "replicas": { "type": "integer", "min": 0, "max": 5 } } } ] }"#;

pub(crate) struct Lab {
    folder: TempDir,
    proxmox: Option<ProxmoxServer>,
}

const TOKEN_SECRET: &str = "8b6ad8a5-1d2c-4b8e-9a57-6f1f7d0c2e11";

impl Lab {
    pub(crate) fn new() -> Self {
        Self::of(CATALOGUE)
    }

    /// One with a catalogue of its own.
    pub(crate) fn of(catalogue: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("actions.json"), catalogue).unwrap();
        fs::write(folder.path().join("effect.sh"), SCRIPT).unwrap();
        fs::create_dir(folder.path().join("state")).unwrap();
        fs::create_dir(folder.path().join("ssh")).unwrap();
        let proxmox = None;
        let lab = Self { folder, proxmox };
        lab.install_list();
        lab
    }

    /// The same lab with a simulated Proxmox that shows these guests of these nodes; the token may only look.
    pub(crate) fn watched_by_proxmox(mut self, nodes: &[&str], guests: Vec<Guest>) -> Self {
        let nodes = nodes.iter().map(|name| Node::online(name)).collect();
        let acl = vec![
            Acl::new("/vms", &["VM.Audit"]),
            Acl::new("/nodes", &["Sys.Audit"]),
        ];
        let tokens = vec![Token::separated("looks", TOKEN_SECRET, acl.clone())];
        let access = Access {
            users: vec![User::new("void@pve", acl, tokens)],
            pools: Vec::new(),
        };
        self.proxmox =
            Some(ProxmoxServer::start(ServerConfig::new(nodes, guests, access)).unwrap());
        self
    }

    fn proxmox_config(&self) -> Option<ProxmoxConfig> {
        let server = self.proxmox.as_ref()?;
        let fingerprint = Digest::parse_fingerprint(&server.fingerprint()).unwrap();
        let clock = Clock::system();
        let token = Secret::new(format!("void@pve!looks={TOKEN_SECRET}"));
        let trust = Trust::Pinned(fingerprint);
        let config =
            ProxmoxConfig::new(&server.url(), &token, &trust, Arc::new(move || clock.now()));
        Some(config.unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn catalogue(&self) -> Catalogue {
        let text = fs::read_to_string(self.path().join("actions.json")).unwrap();
        Catalogue::parse(&text, &Lockout::default()).unwrap()
    }

    pub(crate) fn channels(&self, catalogue: &Catalogue) -> Channels {
        let ssh = SshConfig {
            program: "/usr/bin/ssh".into(),
            keyscan: "/usr/bin/ssh-keyscan".into(),
            key: Some(self.path().join("id_ed25519")),
            known_hosts: self.path().join("known_hosts"),
            run_folder: self.path().join("ssh"),
        };
        let local = LocalConfig {
            program: void_act().to_owned(),
            args: Vec::new(),
            list: self.path().join("list.json"),
            state: self.path().join("state"),
            trust_own_list: true,
        };
        Channels::new(catalogue, ssh, local, self.proxmox_config()).unwrap()
    }

    fn install_list(&self) {
        let local = HostName::parse(HostName::LOCAL).unwrap();
        let catalogue = self.catalogue();
        let entries: Vec<Value> = catalogue
            .actions_on(&local)
            .map(|action| self.entry(action))
            .collect();
        let list = json!({
            "version": 1,
            "host": "local",
            "stop_file": self.path().join("stop"),
            "entries": entries,
        });
        fs::write(self.path().join("list.json"), list.to_string()).unwrap();
    }

    fn entry(&self, action: &Action) -> Value {
        let id = action.id.as_str();
        let mode = id.split('-').next().unwrap_or_default();
        let mut argv = vec![
            json!("/bin/sh"),
            json!(self.path().join("effect.sh")),
            json!(self.path()),
            json!(id),
            json!(mode),
        ];
        argv.extend(action.params.iter().map(|(name, _)| json!({"param": name})));
        json!({
            "id": id,
            "argv": argv,
            "tier": action.tier.as_str(),
            "def": action.exec_digest(),
            "params": action.params.to_value(),
        })
    }

    /// How often each action has had its effect.
    pub(crate) fn effects(&self) -> BTreeMap<String, u64> {
        let text = fs::read_to_string(self.path().join("effects")).unwrap_or_default();
        let mut effects = BTreeMap::new();
        for line in text.lines() {
            *effects.entry(line.to_owned()).or_default() += 1;
        }
        effects
    }

    /// Lets the slow actions end.
    pub(crate) fn release(&self) {
        fs::write(self.path().join("go"), "").unwrap();
    }

    /// What `say-a` prints from now on.
    pub(crate) fn prints(&self, text: &str) {
        self.prints_as("say-a", text);
    }

    pub(crate) fn prints_as(&self, action: &str, text: &str) {
        fs::write(self.path().join(format!("says-{action}")), text).unwrap();
    }
}

/// A line of this length is appended whole.
const SCRIPT: &str = r#"
echo "$2" >> "$1/effects"
case "$3" in
  slow) while [ ! -e "$1/go" ]; do sleep 0.02; done ;;
  fail) echo "no such unit" >&2; exit 3 ;;
  say) cat "$1/says-$2" ;;
esac
echo "done: $2"
"#;
