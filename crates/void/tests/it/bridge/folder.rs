//! A laboratory with a bridge, and the hands of an operator, an agent and a foreign executor.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};
use void_testkit::eventually_blocking;

use crate::lab::{self, Lab, Server, word};

pub const PLACES: [&str; 6] = [
    "pending",
    "approved",
    "running",
    "completed",
    "failed",
    "rejected",
];

pub struct Bridge {
    pub lab: Lab,
}

/// The usual three, and what a foreign executor executes.
pub fn catalogue() -> Value {
    let mut all = lab::catalogue();
    let image =
        json!({"image": {"type": "pattern", "pattern": "^[a-z]{1,20}:[0-9]{1,5}$", "max_len": 40}});
    let actions = all["actions"].as_array_mut().unwrap();
    actions.push(json!({"id": "restart-web", "kind": "restart_service", "node": "n1", "service": "web", "tier": "safe", "via": "file", "timeout_s": 1}));
    actions.push(json!({"id": "deploy-web", "kind": "deploy_service", "node": "n1", "service": "web", "tier": "risky", "via": "file", "params": image}));
    actions.push(json!({"id": "deploy-db", "kind": "deploy_service", "node": "n1", "service": "db", "tier": "risky", "via": "file"}));
    let image =
        json!({"image": {"type": "pattern", "pattern": "^[a-z0-9./:-]{1,90}$", "max_len": 90}});
    actions.push(json!({"id": "deploy-grafana", "label": "Deploy Grafana", "kind": "deploy_service", "node": "n1", "service": "grafana", "tier": "risky", "via": "file", "timeout_s": 77, "max_per_hour": 9, "params": image}));
    all
}

impl Bridge {
    pub fn new() -> Self {
        let mut lab = Lab::with(&catalogue());
        let dir = lab.path("bridge");
        lab.environment
            .push(("VOID_BRIDGE_DIR".to_owned(), dir.display().to_string()));
        fs::create_dir(&dir).unwrap();
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o750)).unwrap();
        Self { lab }
    }

    pub fn with_decisions() -> Self {
        let bridge = Self::new();
        let settings = bridge.lab.data().join("void.toml");
        let text = fs::read_to_string(&settings).unwrap();
        fs::write(&settings, format!("{text}[bridge]\ndecisions = true\n")).unwrap();
        bridge
    }

    pub fn dir(&self) -> PathBuf {
        self.lab.path("bridge")
    }

    pub fn path(&self, place: &str, id: &str) -> PathBuf {
        self.dir().join(place).join(format!("{id}.json"))
    }

    pub fn serve(&self) -> Server {
        let mut server = self.lab.serve(&[]);
        assert!(server.has_ended().is_none(), "{}", self.lab.log());
        eventually_blocking("the folders", || {
            self.dir().join("invalid").is_dir().then_some(())
        });
        server
    }

    /// The server has looked at everything since now.
    pub fn settle(&self, server: &Server) {
        let look = || server.call("GET", "/api/bridge", None).1["last_scan_at"].clone();
        for _ in 0..2 {
            let before = look();
            // A hint; without it the next look is seconds away.
            let hint = self.dir().join("pending/.hint");
            fs::write(&hint, "").unwrap();
            fs::remove_file(&hint).unwrap();
            eventually_blocking("another look", || (look() != before).then_some(()));
        }
    }

    pub fn queue(&self, server: &Server, action: &str) -> String {
        let (_, queued) = server.call("POST", &format!("/api/actions/{action}/run"), None);
        word(&queued, "action_row_id").to_owned()
    }

    pub fn wish(id: &str, kind: &str, node: &str, service: &str) -> Value {
        json!({
            "action_id": id, "service": service, "node": node, "type": kind, "risk": "nominal",
            "status": "pending", "created_at": 1_700_000_000, "updated_at": 1_700_000_000,
            "details": {"image": "", "reason": "", "diff": ""},
            "transition_history": [{"from": null, "to": "pending", "timestamp": 1_700_000_000, "by": "system"}],
        })
    }

    /// As the source documents' agents do it: written beside, then renamed.
    pub fn drop_file(&self, wish: &Value) {
        self.write("pending", word(wish, "action_id"), wish);
    }

    pub fn write(&self, place: &str, id: &str, content: &Value) {
        let temporary = self.dir().join(place).join(format!(".{id}.tmp"));
        fs::write(&temporary, content.to_string()).unwrap();
        fs::rename(&temporary, self.path(place, id)).unwrap();
    }

    pub fn mv(&self, from: &str, to: &str, id: &str) {
        fs::rename(self.path(from, id), self.path(to, id)).unwrap();
    }

    pub fn read(&self, place: &str, id: &str) -> Option<Value> {
        serde_json::from_slice(&fs::read(self.path(place, id)).ok()?).ok()
    }

    pub fn wait_for(&self, place: &str, id: &str) -> Value {
        eventually_blocking(&format!("{place}/{id}"), || self.read(place, id))
    }

    pub fn wait_for_invalid(&self, file: &str) -> String {
        let reason = self
            .dir()
            .join("invalid")
            .join(format!("{file}.reason.txt"));
        eventually_blocking(&format!("invalid/{file}"), || {
            fs::symlink_metadata(self.dir().join("invalid").join(file)).ok()?;
            fs::read_to_string(&reason).ok()
        })
    }

    pub fn wait_for_row(&self, server: &Server, action: &str) -> Value {
        eventually_blocking(&format!("a row of {action}"), || {
            server
                .proposals()
                .into_iter()
                .find(|row| word(row, "action_id") == action)
        })
    }

    pub fn wait_for_status(&self, server: &Server, id: &str, status: &str) -> Value {
        eventually_blocking(&format!("{id} to be {status}"), || {
            let row = server.call("GET", &format!("/api/proposals/{id}"), None).1;
            (word(&row, "status") == status).then_some(row)
        })
    }

    /// How many moves were refused, as the file says.
    pub fn notes(&self, file: &Value) -> usize {
        let steps = file["transition_history"].as_array().unwrap();
        steps.iter().filter(|step| !step["note"].is_null()).count()
    }

    /// A file that Void is rewriting is nowhere for a moment; it is never in two places.
    pub fn assert_only_in(&self, place: &str, id: &str) {
        eventually_blocking(&format!("{id} in {place} alone"), || {
            let mut found = PLACES
                .into_iter()
                .filter(|place| self.path(place, id).exists());
            (found.next() == Some(place) && found.next().is_none()).then_some(())
        });
    }

    /// Every file of every place with its bytes, but for Void's own folder.
    pub fn listing(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        for place in PLACES.into_iter().chain(["invalid"]) {
            for entry in fs::read_dir(self.dir().join(place)).unwrap().flatten() {
                let name = format!("{place}/{}", entry.file_name().to_string_lossy());
                found.insert(name, fs::read(entry.path()).unwrap_or_default());
            }
        }
        found
    }
}
