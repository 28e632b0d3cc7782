//! An installation with machines that dial out, each a folder and a process.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

use serde_json::{Value, json};
use void_domain::catalogue::{Catalogue, Lockout};
use void_domain::executions::Route;
use void_testkit::eventually_blocking;

use crate::lab::{Lab, Server, VOID, word};

pub fn catalogue() -> Value {
    let action = |id: &str, kind: &str, service: &str, tier: &str| json!({"id": id, "kind": kind, "node": "n1", "service": service, "tier": tier, "cooldown_s": 0});
    let mut deploy = action("deploy-web", "deploy_service", "web", "risky");
    deploy["params"] = json!({"image": {"type": "pattern", "pattern": "^[ -~]+$", "max_len": 80}});
    let mut scale = action("scale-web", "scale", "web", "risky");
    scale["params"] = json!({"replicas": {"type": "integer", "min": 0, "max": 5}});
    json!({"hosts": {}, "actions": [
        action("restart-web", "restart_service", "web", "safe"),
        action("slow-web", "restart_service", "slow", "safe"),
        deploy, scale,
        action("rollback-web", "rollback", "web", "risky"),
        {"id": "restart-other", "kind": "restart_service", "node": "n2", "service": "web", "tier": "safe"},
    ]})
}

pub struct Stand {
    pub lab: Lab,
}

impl Stand {
    pub fn new() -> Self {
        let stand = Self {
            lab: Lab::with(&json!({"hosts": {}, "actions": []})),
        };
        let lab = &stand.lab;
        fs::write(lab.path("actions.json"), catalogue().to_string()).unwrap();
        // What a deploy is asked for runs from then on; what is called slow waits for the test.
        let script = format!(
            "#!/bin/sh\nid=\"$1\"; shift\n\
             case \"$id\" in slow-*) echo first; echo second >&2; while [ ! -e {go} ]; do sleep 0.01; done; echo last ;;\n\
             deploy-*|rollback-*) printf '%s\\n' \"$1\" > {current} ;; esac\n\
             printf '%s' \"$id\" >> {effects}\nfor word in \"$@\"; do printf ' [%s]' \"$word\" >> {effects}; done\n\
             printf ' env=%s\\n' \"${{REPLICAS:-}}\" >> {effects}\n",
            go = lab.path("go").display(),
            current = lab.path("current").display(),
            effects = lab.path("effects").display(),
        );
        fs::write(lab.path("node.sh"), script).unwrap();
        let look = format!("[ ! -e {0} ] || cat {0}\n", lab.path("current").display());
        fs::write(lab.path("current.sh"), look).unwrap();
        let running = format!("cat {}\n", lab.path("running").display());
        fs::write(lab.path("running.sh"), running).unwrap();
        for node in ["n1", "n2"] {
            stand.write_list(node, &catalogue());
        }
        stand
    }

    pub fn list(&self, node: &str) -> PathBuf {
        self.lab.path(&format!("{node}.list.json"))
    }

    pub fn state(&self, node: &str) -> PathBuf {
        self.lab.path(&format!("{node}.state"))
    }

    pub fn write_list(&self, node: &str, catalogue: &Value) {
        let parsed = Catalogue::parse(&catalogue.to_string(), &Lockout::default()).unwrap();
        let on_node = parsed
            .actions()
            .filter(|action| matches!(action.route(), Route::Node(on) if on == node));
        let entries: Vec<Value> = on_node
            .map(|action| {
                let id = action.id.as_str();
                let mut argv = vec![json!("/bin/sh"), json!(self.lab.path("node.sh")), json!(id)];
                let mut entry = json!({"id": id, "tier": action.tier, "def": action.exec_digest()});
                match id {
                    "deploy-web" => {
                        argv.push(json!({"param": "image"}));
                        let look = ["/bin/sh".into(), self.lab.path("current.sh")];
                        entry["record"] =
                            json!({"argv": look, "pattern": "^[ -~]+$", "max_len": 80});
                    }
                    "rollback-web" => argv.push(json!({"recorded": "deploy-web"})),
                    "scale-web" => {
                        entry["env"] = json!({"REPLICAS": {"param": "replicas"}});
                        let look = ["/bin/sh".into(), self.lab.path("running.sh")];
                        entry["count"] = json!({"argv": look, "param": "replicas"});
                    }
                    _ => {}
                }
                entry["argv"] = json!(argv);
                if let Some(params) = action.definition().pointer("/action/params") {
                    entry["params"] = params.clone();
                }
                entry
            })
            .collect();
        let stop = self.lab.path(&format!("{node}.stop"));
        let list = json!({"version": 1, "host": node, "stop_file": stop, "entries": entries});
        let path = self.list(node);
        fs::write(&path, list.to_string()).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    }

    /// A machine whose token the owner made by hand; its folder is ready to run.
    pub fn admit(&self, server: &Server, node: &str, address: SocketAddr) {
        let body = json!({"kind": "node", "name": node});
        let (status, made) = server.call("POST", "/api/tokens", Some(&body));
        assert_eq!(status, 200, "{made}");
        let state = self.state(node);
        fs::create_dir(&state).unwrap();
        fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(state.join("secret"), word(&made, "token")).unwrap();
        let server = json!({"url": format!("http://{address}")});
        fs::write(state.join("server.json"), server.to_string()).unwrap();
    }

    pub fn run(&self, node: &str) -> NodeProcess {
        self.run_with(node, &[])
    }

    pub fn run_with(&self, node: &str, environment: &[(&str, &str)]) -> NodeProcess {
        let log = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.lab.path("log"))
            .unwrap();
        let child = Command::new(VOID)
            .args(["node", "run", "--trust-own-list", "--state"])
            .arg(self.state(node))
            .arg("--list")
            .arg(self.list(node))
            .env_clear()
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        NodeProcess { child }
    }

    pub fn effects(&self) -> Vec<String> {
        self.lab.effects()
    }

    pub fn count(&self, id: &str) -> usize {
        let of_id = |effect: &&String| effect.split(' ').next() == Some(id);
        self.effects().iter().filter(of_id).count()
    }

    pub fn let_go(&self) {
        fs::write(self.lab.path("go"), "").unwrap();
    }
}

pub struct NodeProcess {
    child: Child,
}

impl NodeProcess {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn has_ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    pub fn kill(&mut self) {
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}

impl Drop for NodeProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn nodes(server: &Server) -> Vec<Value> {
    let (status, body) = server.call("GET", "/api/nodes", None);
    assert_eq!(status, 200, "{body}");
    body["nodes"].as_array().unwrap().clone()
}

pub fn wait_until_here(server: &Server, node: &str) {
    eventually_blocking("the node to be here", || {
        let nodes = server.try_call("GET", "/api/nodes", None)?.1;
        let found = nodes["nodes"]
            .as_array()?
            .iter()
            .find(|known| word(known, "name") == node)?;
        (found["here"] == json!(true)).then_some(())
    });
}

/// Names an action, approves it if it waits, and waits for an end.
pub fn run_to_end(server: &Server, action: &str, params: &Value) -> Value {
    let body = json!({ "params": params });
    let path = format!("/api/actions/{action}/run?wait=60");
    let (_, run) = server.call("POST", &path, Some(&body));
    let id = word(&run, "action_row_id").to_owned();
    if run["queued"] == json!(true) {
        let path = format!("/api/actions/pending/{id}/approve?wait=60");
        let (status, row) = server.call("POST", &path, None);
        assert_eq!(status, 200, "{row}");
    }
    row(server, &id)
}

pub fn row(server: &Server, id: &str) -> Value {
    server.call("GET", &format!("/api/proposals/{id}"), None).1
}

/// The rows once nothing moves any more.
pub fn rows_at_rest(server: &Server) -> Vec<Value> {
    eventually_blocking("every row to come to rest", || {
        let rows = server.proposals();
        let moving =
            |row: &Value| matches!(word(row, "status"), "running" | "approved" | "unknown");
        (!rows.iter().any(moving)).then_some(rows)
    })
}

/// What a row says is what happened.
pub fn check_truth(stand: &Stand, rows: &[Value], context: &str) {
    for row in rows {
        let (id, status) = (word(row, "action_id"), word(row, "status"));
        let rows_of_id = rows.iter().filter(|other| word(other, "action_id") == id);
        assert_eq!(rows_of_id.count(), 1, "{context}: {rows:#?}");
        let happened = stand.count(id);
        let truthful = match status {
            "executed" => happened == 1,
            "failed" | "pending" => happened == 0,
            _ => false,
        };
        assert!(
            truthful,
            "{context}: {id} is {status} and happened {happened} times: {row:#}\n{}",
            stand.lab.log()
        );
    }
}
