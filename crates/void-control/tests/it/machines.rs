//! The machine that a control plane works on: a folder with the list and the journal of the real `void-act`, and
//! a file in which every effect leaves a line, so that effects are counted by nobody who could be mistaken.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use void_channels::{Channels, LocalConfig, SshConfig};
use void_domain::catalogue::{Action, Catalogue, Lockout};
use void_domain::hosts::HostName;
use void_domain::time::Timestamp;
use void_testkit::programs::void_act;

/// What an id begins with says what the machine does: `slow-` waits for [`Machine::release`], `fail-` leaves its
/// effect and then fails, `counted-` says how many copies run.
pub const CATALOGUE: &str = r#"{"actions": [
  {"id": "touch-a", "label": "Touch a", "kind": "service_restart", "host": "local", "service": "a", "tier": "safe", "cooldown_s": 0},
  {"id": "touch-b", "label": "Touch b", "kind": "service_restart", "host": "local", "service": "b", "tier": "safe", "cooldown_s": 0},
  {"id": "touch-default", "label": "Touch with pauses", "kind": "service_restart", "host": "local", "service": "d", "tier": "safe"},
  {"id": "fail-a", "label": "Fail", "kind": "service_restart", "host": "local", "service": "f", "tier": "safe", "cooldown_s": 0},
  {"id": "slow-a", "label": "Touch slowly", "kind": "service_restart", "host": "local", "service": "slow", "tier": "safe", "cooldown_s": 0},
  {"id": "touch-slow", "label": "Touch what is slow", "kind": "service_restart", "host": "local", "service": "slow", "tier": "safe", "cooldown_s": 0},
  {"id": "slow-stop", "label": "Stop slowly", "kind": "service_restart", "host": "local", "service": "slow", "tier": "risky"},
  {"id": "stop-slow", "label": "Stop what is slow", "kind": "service_restart", "host": "local", "service": "slow", "tier": "risky"},
  {"id": "cool-slow", "label": "Stop what is slow, rarely", "kind": "service_restart", "host": "local", "service": "slow", "tier": "risky", "cooldown_s": 60},
  {"id": "stop-a", "label": "Stop a", "kind": "service_restart", "host": "local", "service": "r1", "tier": "risky"},
  {"id": "stop-b", "label": "Stop b", "kind": "service_restart", "host": "local", "service": "r2", "tier": "risky"},
  {"id": "stop-all", "label": "Stop everything", "kind": "service_restart", "host": "local", "service": "r3", "tier": "risky", "risk": "critical"},
  {"id": "cool-a", "label": "Touch rarely", "kind": "service_restart", "host": "local", "service": "c1", "tier": "safe", "cooldown_s": 60},
  {"id": "cool-stop", "label": "Stop rarely", "kind": "service_restart", "host": "local", "service": "c2", "tier": "risky", "cooldown_s": 60},
  {"id": "cap-a", "label": "Touch twice an hour", "kind": "service_restart", "host": "local", "service": "c3", "tier": "safe", "cooldown_s": 0, "max_per_hour": 2},
  {"id": "cap-stop", "label": "Stop once an hour", "kind": "service_restart", "host": "local", "service": "c4", "tier": "risky", "max_per_hour": 1},
  {"id": "brief-stop", "label": "Stop soon or never", "kind": "service_restart", "host": "local", "service": "e", "tier": "risky", "expires_s": 60},
  {"id": "only-blue", "label": "For blue alone", "kind": "service_restart", "host": "local", "service": "o", "tier": "safe", "cooldown_s": 0, "agents": ["blue"]},
  {"id": "touch-web", "label": "Restart the web", "kind": "service_restart", "host": "local", "service": "web", "tier": "safe", "cooldown_s": 0, "verify": {"service": "web"}},
  {"id": "fail-web", "label": "Fail the web", "kind": "service_restart", "host": "local", "service": "web", "tier": "safe", "cooldown_s": 0, "verify": {"service": "web"}},
  {"id": "touch-lost", "label": "With a check that nobody watches", "kind": "service_restart", "host": "local", "service": "lost", "tier": "safe", "cooldown_s": 0, "verify": {"service": "no-such"}},
  {"id": "counted-a", "label": "Scale a", "kind": "scale", "node": "local", "service": "s", "tier": "risky", "via": "host",
   "params": {"copies": {"type": "integer", "min": 0, "max": 9}}},
  {"id": "scale-a", "label": "Scale a, uncounted", "kind": "scale", "node": "local", "service": "u", "tier": "risky", "via": "host",
   "params": {"replicas": {"type": "integer", "min": 0, "max": 1000}, "zone": {"type": "enum", "values": ["north", "south"]},
              "image": {"type": "pattern", "pattern": "^[a-z]+(:[0-9.]+)?$", "max_len": 64}}}
]}"#;

/// A line of this length is appended whole.
const EFFECT: &str = r#"
echo "$2" >> "$1/effects"
case "$3" in
  slow) while [ -d "$1" ] && [ ! -e "$1/go" ]; do sleep 0.02; done ;;
  fail) echo "no such unit" >&2; exit 3 ;;
esac
echo "done: $2"
"#;

pub struct Machine(TempDir);

impl Machine {
    /// With the list that [`CATALOGUE`] asks for.
    pub fn new() -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        for folder in ["state", "ssh"] {
            fs::create_dir(machine.path().join(folder)).unwrap();
        }
        machine.write("effect.sh", EFFECT);
        let act = format!(
            "read -r now < '{}'\nexec '{}' --ticket-time-ms \"$now\" \"$@\"\n",
            machine.path().join("time").display(),
            void_act().display()
        );
        machine.write("act.sh", &act);
        machine.install(&parse(CATALOGUE));
        machine
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.file(name), text).unwrap();
    }

    pub fn remove(&self, name: &str) {
        fs::remove_file(self.file(name)).unwrap();
    }

    /// The machine's clock is in step with the server's.
    pub fn set_time(&self, at: Timestamp) {
        self.write("time.partial", &format!("{}\n", at.as_ms()));
        fs::rename(self.file("time.partial"), self.file("time")).unwrap();
    }

    pub fn channels(&self, catalogue: &Catalogue) -> Channels {
        let ssh = SshConfig {
            program: "/usr/bin/ssh".into(),
            keyscan: "/usr/bin/ssh-keyscan".into(),
            key: None,
            known_hosts: self.file("known_hosts"),
            run_folder: self.file("ssh"),
        };
        let local = LocalConfig {
            program: "/bin/sh".into(),
            args: vec![self.file("act.sh").into()],
            list: self.file("list.json"),
            state: self.file("state"),
            trust_own_list: true,
        };
        Channels::new(catalogue, ssh, local, None).unwrap()
    }

    /// Installs the list that this catalogue asks for.
    pub fn install(&self, catalogue: &Catalogue) {
        let local = HostName::parse(HostName::LOCAL).unwrap();
        let actions = catalogue.actions_on(&local);
        let entries: Vec<Value> = actions.map(|action| self.entry(action)).collect();
        let list = json!({
            "version": 1,
            "host": "local",
            "stop_file": self.file("stop"),
            "entries": entries,
        });
        self.write("list.json", &list.to_string());
    }

    fn entry(&self, action: &Action) -> Value {
        let id = action.id.as_str();
        let mode = id.split('-').next().unwrap_or_default();
        let script = self.file("effect.sh");
        let mut argv = vec![
            json!("/bin/sh"),
            json!(script),
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
            let look = json!(["/bin/cat", self.file("running")]);
            entry["count"] = json!({"argv": look, "param": action.execution.replicas_param});
        }
        entry
    }

    /// What has had its effect, in the order in which it began.
    pub fn effects(&self) -> Vec<String> {
        let text = fs::read_to_string(self.file("effects")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub fn effect_counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for id in self.effects() {
            *counts.entry(id).or_default() += 1;
        }
        counts
    }

    /// Lets what is slow end, now and from now on.
    pub fn release(&self) {
        self.write("go", "");
    }
}

pub fn parse(catalogue: &str) -> Catalogue {
    Catalogue::parse(catalogue, &Lockout::default()).unwrap()
}
