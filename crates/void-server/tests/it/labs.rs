//! The world outside Void: a catalogue, a host list made for it, and a file in which every effect
//! leaves a line, so that effects are counted by nobody who could be mistaken.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use void_channels::{CatalogueFile, Channels, LocalConfig, ProxmoxConfig, SshConfig};
use void_control::CatalogueSource;
use void_domain::catalogue::{Action, Catalogue, Lockout};
use void_domain::hosts::HostName;
use void_testkit::programs::void_act;

/// Every kind of brake and parameter once. `slow-` waits for [`Lab::release`], `fail-` leaves its
/// effect and then fails.
const CATALOGUE: &str = r#"{
  "hosts": { "far": { "address": "127.0.0.1", "port": 9, "user": "voidact" } },
  "actions": [
    { "id": "touch-a", "label": "Touch a", "kind": "service_restart", "host": "local", "service": "a", "tier": "safe", "cooldown_s": 0 },
    { "id": "touch-b", "label": "Touch b", "kind": "service_restart", "host": "local", "service": "b", "tier": "safe", "cooldown_s": 0 },
    { "id": "fail-a", "label": "Fail a", "kind": "service_restart", "host": "local", "service": "f", "tier": "safe", "cooldown_s": 0 },
    { "id": "slow-a", "label": "Slow a", "kind": "service_restart", "host": "local", "service": "slow", "tier": "safe", "cooldown_s": 0 },
    { "id": "slow-b", "label": "Slow b", "kind": "service_restart", "host": "local", "service": "slow", "tier": "safe", "cooldown_s": 0 },
    { "id": "stop-a", "label": "Stop a", "kind": "service_restart", "host": "local", "service": "r1", "tier": "risky" },
    { "id": "stop-b", "label": "Stop b", "kind": "service_restart", "host": "local", "service": "r2", "tier": "risky" },
    { "id": "slow-stop", "label": "Stop slowly", "kind": "service_restart", "host": "local", "service": "slow", "tier": "risky" },
    { "id": "stop-all", "label": "Stop everything", "kind": "service_restart", "host": "local", "service": "r3", "tier": "risky", "risk": "critical" },
    { "id": "cool-a", "label": "Cooling a", "kind": "service_restart", "host": "local", "service": "c1", "tier": "safe", "cooldown_s": 60 },
    { "id": "cool-stop", "label": "Cooling stop", "kind": "service_restart", "host": "local", "service": "c2", "tier": "risky", "cooldown_s": 60 },
    { "id": "cap-a", "label": "Capped a", "kind": "service_restart", "host": "local", "service": "c3", "tier": "safe", "cooldown_s": 0, "max_per_hour": 2 },
    { "id": "brief-stop", "label": "Stop soon or never", "kind": "service_restart", "host": "local", "service": "e", "tier": "risky", "expires_s": 60 },
    { "id": "only-blue", "label": "For blue alone", "kind": "service_restart", "host": "local", "service": "o", "tier": "safe", "cooldown_s": 0, "agents": ["blue"] },
    { "id": "scale-a", "label": "Scale a", "kind": "scale", "node": "local", "service": "s", "tier": "risky", "via": "host",
      "params": { "replicas": { "type": "integer", "min": 0, "max": 1000000 }, "zone": { "type": "enum", "values": ["north", "south"] },
                  "image": { "type": "pattern", "pattern": "^[a-z]+(:[0-9.]+)?$", "max_len": 64 } } },
    { "id": "reach-far", "label": "Reach far", "kind": "service_restart", "host": "far", "service": "x", "tier": "safe", "cooldown_s": 0 },
    { "id": "start-ct9", "label": "Start CT 109", "kind": "guest_power", "node": "z", "vmid": 109, "op": "start", "tier": "safe", "cooldown_s": 0 }
  ]
}"#;

pub struct Lab {
    folder: TempDir,
}

impl Lab {
    pub fn new() -> Self {
        Self::of(CATALOGUE)
    }

    /// One that several instances look after; `local` is the machine of the one that is called alpha.
    pub fn of_alpha(catalogue: Option<&str>) -> Self {
        let mut parsed: Value = serde_json::from_str(catalogue.unwrap_or(CATALOGUE)).unwrap();
        parsed["hosts"]["local"] = json!({"address": "local", "instance": "alpha"});
        Self::of(&parsed.to_string())
    }

    /// The data folder of an instance of this name; its own without one.
    pub fn folder_of(&self, instance: Option<&str>) -> PathBuf {
        let folder = self.path().join(instance.unwrap_or("own"));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// One with a catalogue of its own.
    pub fn of(catalogue: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("actions.json"), catalogue).unwrap();
        fs::write(folder.path().join("effect.sh"), SCRIPT).unwrap();
        let (time, act) = (folder.path().join("host-time"), void_act());
        let script = format!(
            "[ -e '{0}' ] || exec '{1}' \"$@\"\nread -r now < '{0}'\nexec '{1}' --ticket-time-ms \"$now\" \"$@\"\n",
            time.display(),
            act.display()
        );
        fs::write(folder.path().join("act.sh"), script).unwrap();
        fs::create_dir(folder.path().join("state")).unwrap();
        fs::create_dir(folder.path().join("ssh")).unwrap();
        let lab = Self { folder };
        lab.install_list(&lab.catalogue());
        lab
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn catalogue_file(&self) -> PathBuf {
        self.path().join("actions.json")
    }

    pub fn catalogue(&self) -> Catalogue {
        let text = fs::read_to_string(self.catalogue_file()).unwrap();
        Catalogue::parse(&text, &Lockout::default()).unwrap()
    }

    pub fn catalogue_source(&self) -> CatalogueSource {
        let file = self.catalogue_file();
        let text = fs::read_to_string(&file).unwrap();
        CatalogueSource {
            file: CatalogueFile::new(file, Some(text)),
            lockout: Lockout::default(),
        }
    }

    pub fn channels(&self, catalogue: &Catalogue, proxmox: Option<ProxmoxConfig>) -> Channels {
        let ssh = SshConfig {
            program: "/usr/bin/ssh".into(),
            keyscan: "/usr/bin/ssh-keyscan".into(),
            key: Some(self.ssh_key()),
            known_hosts: self.path().join("known_hosts"),
            run_folder: self.path().join("ssh"),
        };
        let local = LocalConfig {
            program: "/bin/sh".into(),
            args: vec![self.path().join("act.sh").into()],
            list: self.path().join("list.json"),
            state: self.path().join("state"),
            trust_own_list: true,
        };
        Channels::new(catalogue, ssh, local, proxmox).unwrap()
    }

    pub fn ssh_key(&self) -> PathBuf {
        self.path().join("id_ed25519")
    }

    fn install_list(&self, catalogue: &Catalogue) {
        let local = HostName::parse(HostName::LOCAL).unwrap();
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
        let mut entry = json!({
            "id": id,
            "argv": argv,
            "tier": action.tier.as_str(),
            "def": action.exec_digest(),
            "params": action.params.to_value(),
        });
        if mode == "counted" {
            let look = json!(["/bin/cat", self.path().join("running")]);
            entry["count"] = json!({"argv": look, "param": action.execution.replicas_param});
        }
        entry
    }

    /// The host goes by this time from now on, as one whose clock is in step with the server's does.
    pub fn set_host_time(&self, ms: i64) {
        let partial = self.path().join("host-time.partial");
        fs::write(&partial, format!("{ms}\n")).unwrap();
        fs::rename(partial, self.path().join("host-time")).unwrap();
    }

    /// How often each action has had its effect.
    pub fn effects(&self) -> BTreeMap<String, u64> {
        let text = fs::read_to_string(self.path().join("effects")).unwrap_or_default();
        let mut effects = BTreeMap::new();
        for line in text.lines() {
            *effects.entry(line.to_owned()).or_default() += 1;
        }
        effects
    }

    pub fn effect_count(&self) -> u64 {
        self.effects().values().sum()
    }

    /// Lets the slow actions end.
    pub fn release(&self) {
        fs::write(self.path().join("go"), "").unwrap();
    }
}

/// A line of this length is appended whole.
const SCRIPT: &str = r#"
echo "$2" >> "$1/effects"
case "$3" in
  slow) while [ ! -e "$1/go" ]; do sleep 0.02; done ;;
  fail) echo "no such unit" >&2; exit 3 ;;
esac
echo "done: $2"
"#;
