//! What is said to the built-in brain, and what has to come of it. The brain is the real one, and what it
//! reads comes from the real tools of a real control plane; a call of `propose_action` is an act, and is
//! counted instead of made.

mod corpus;
mod turns;
mod variations;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use void_agent::brains::{
    Arguments, Block, Brain, BuiltinBrain, Message, Prompt, ToolResult, ToolSpec,
};
use void_agent::tools::{self, Notes, Scope};
use void_domain::services::Services;
use void_domain::taint::Taint;
use void_rehearsal::proxmox::Guest;
use void_testkit::eventually;

use crate::labs::Lab;
use crate::rooms::{Room, Setup};
use crate::scripted::Scripted;

/// The lab of `void demo`, and two actions that undo each other.
const CATALOGUE: &str = r#"{ "actions": [
    { "id": "restart-caddy", "label": "Restart Caddy (rehearsal)", "kind": "service_restart", "host": "local", "service": "caddy", "tier": "safe", "verify": { "service": "caddy" } },
    { "id": "restart-jellyfin", "label": "Restart Jellyfin (rehearsal)", "kind": "service_restart", "host": "local", "service": "jellyfin", "tier": "safe", "verify": { "service": "jellyfin" } },
    { "id": "restart-grafana", "label": "Restart Grafana (rehearsal)", "kind": "service_restart", "host": "local", "service": "grafana", "tier": "safe", "verify": { "service": "grafana" } },
    { "id": "restart-blog-new", "label": "Restart the new blog", "kind": "service_restart", "host": "local", "service": "blog-new", "tier": "safe", "inverse": "restart-blog-old" },
    { "id": "restart-blog-old", "label": "Restart the old blog", "kind": "service_restart", "host": "local", "service": "blog-old", "tier": "safe", "inverse": "restart-blog-new" },
    { "id": "stop-ct107", "label": "Stop iVentoy (rehearsal)", "kind": "guest_power", "node": "pve1", "guest": "lxc", "vmid": 107, "op": "stop", "tier": "risky", "inverse": "start-ct107" },
    { "id": "start-ct107", "label": "Start iVentoy (rehearsal)", "kind": "guest_power", "node": "pve1", "guest": "lxc", "vmid": 107, "op": "start", "tier": "safe" },
    { "id": "reboot-ct100", "label": "Reboot the media stack (rehearsal)", "kind": "guest_power", "node": "pve1", "guest": "lxc", "vmid": 100, "op": "reboot", "tier": "risky" },
    { "id": "reboot-ct101", "label": "Reboot the proxy (rehearsal)", "kind": "guest_power", "node": "pve1", "guest": "lxc", "vmid": 101, "op": "reboot", "tier": "risky" },
    { "id": "reboot-ct110", "label": "Reboot the monitoring (rehearsal)", "kind": "guest_power", "node": "pve2", "guest": "lxc", "vmid": 110, "op": "reboot", "tier": "risky" },
    { "id": "reboot-vm200", "label": "Reboot Home Assistant (rehearsal)", "kind": "guest_power", "node": "pve2", "guest": "qemu", "vmid": 200, "op": "reboot", "tier": "risky" } ] }"#;

/// The codes that risky actions get: they only ever wait.
const QUEUED: [(&str, &str); 5] = [
    ("NK59", "stop-ct107"),
    ("YH1K", "reboot-ct100"),
    ("M14M", "reboot-ct101"),
    ("PX7Q", "reboot-ct110"),
    ("ZW3A", "reboot-vm200"),
];

const ROUNDS_MAX: usize = 8;
/// What `service_status` tells with `load`.
const LOADS: &str = "service_status with load";

/// Somebody to talk to: the brain, and what the tools of a real lab told.
struct Listener {
    specs: Vec<ToolSpec>,
    told: BTreeMap<&'static str, String>,
}

/// What came of a sentence.
struct Reaction {
    /// The ids that were named to `propose_action`, and the codes that were withdrawn.
    acts: Vec<String>,
    body: String,
    /// Code and id of what waits after it.
    waiting: Vec<(&'static str, &'static str)>,
}

impl Listener {
    async fn start() -> (Self, Room) {
        // Held open as long as the process: what listens is up.
        let up = || {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap().to_string();
            std::mem::forget(listener);
            address
        };
        let service = |id: &str, label: &str, node: &str, vmid: u32, address: String| {
            json!({"id": id, "label": label, "node": node, "vmid": vmid, "interval_s": 1,
                "check": {"kind": "tcp", "address": address}})
        };
        let services = json!({"services": [
            service("caddy", "Caddy, the reverse proxy (rehearsal)", "pve1", 101, "127.0.0.1:9".to_owned()),
            service("jellyfin", "Jellyfin (rehearsal)", "pve1", 100, up()),
            service("grafana", "Grafana (rehearsal)", "pve2", 110, up()),
            service("iventoy", "iVentoy (rehearsal)", "pve1", 107, up()),
        ]});
        let setup = Setup {
            lab: Arc::new(Lab::of(CATALOGUE).watched_by_proxmox(
                &["pve1", "pve2"],
                vec![
                    Guest::lxc(100, "pve1", "media").running(),
                    Guest::lxc(101, "pve1", "proxy").running(),
                    Guest::lxc(110, "pve2", "monitoring").running(),
                    Guest::qemu(200, "pve2", "home").running(),
                ],
            )),
            services: Services::parse(&services.to_string()).unwrap(),
            ..Setup::default()
        };
        let room = setup.open(Scripted::new([])).await;
        // One thing has really run, so that there is something to undo.
        call(
            &room,
            "propose_action",
            json!({"action_id": "restart-blog-new"}),
        )
        .await;
        let status = eventually("every service to be looked at", || async {
            let status = call(&room, "service_status", json!({})).await;
            let services = status["services"].as_array().unwrap();
            let is = |id: &str, wanted: &str| {
                let mut all = services.iter();
                all.any(|service| service["id"] == id && service["status"] == wanted)
            };
            let all = is("caddy", "down")
                && ["jellyfin", "grafana", "iventoy"]
                    .iter()
                    .all(|id| is(id, "up"));
            all.then_some(status)
        });
        let mut told = BTreeMap::from([("service_status", status.await.to_string())]);
        let loads = call(&room, "service_status", json!({"load": true})).await;
        told.insert(LOADS, loads.to_string());
        for tool in ["list_actions", "recent_activity"] {
            told.insert(tool, call(&room, tool, json!({})).await.to_string());
        }
        let ctx = room.agent.ctx(&room.control).await.unwrap().unwrap();
        let specs = tools::for_turn(&room.control, &ctx).map(|tool| ToolSpec {
            name: tool.name.to_owned(),
            description: tool.description.to_owned(),
            schema: (tool.arguments)(),
        });
        let specs = specs.collect();
        (Self { specs, told }, room)
    }

    /// Says one thing after the other; what came of the last.
    async fn hear(&self, said: &[&str]) -> Reaction {
        let mut history = Vec::new();
        let mut reaction = None;
        let mut waiting = Vec::new();
        for text in said {
            history.push(Message::User((*text).to_owned()));
            let came = self.turn(history.clone(), waiting).await;
            waiting = came.waiting.clone();
            history.push(Message::Assistant(vec![Block::Text(came.body.clone())]));
            reaction = Some(came);
        }
        reaction.unwrap()
    }

    async fn turn(
        &self,
        messages: Vec<Message>,
        waiting: Vec<(&'static str, &'static str)>,
    ) -> Reaction {
        let mut prompt = Prompt {
            messages,
            tools: self.specs.clone(),
            output_tokens_max: 4096,
            ..Prompt::default()
        };
        let mut reaction = Reaction {
            acts: Vec::new(),
            body: String::new(),
            waiting,
        };
        for _ in 0..ROUNDS_MAX {
            let reply = BuiltinBrain.answer(&prompt, &mut |_| {}).await.unwrap();
            let mut results = Vec::new();
            for block in &reply.blocks {
                match block {
                    Block::Text(text) => {
                        let gap = if reaction.body.is_empty() { "" } else { "\n\n" };
                        reaction.body.push_str(&format!("{gap}{text}"));
                    }
                    Block::ToolCall(call) => {
                        let Arguments::Object(arguments) = &call.arguments else {
                            panic!("{call:?}")
                        };
                        results.push(ToolResult {
                            call_id: call.id.clone(),
                            content: self.answer(&call.name, arguments, &mut reaction),
                            is_error: false,
                        });
                    }
                    Block::Opaque(_) => panic!("{block:?}"),
                }
            }
            if results.is_empty() {
                return reaction;
            }
            prompt.messages.push(Message::Assistant(reply.blocks));
            prompt.messages.push(Message::ToolResults(results));
        }
        panic!("it never comes to an end: {}", reaction.body);
    }

    fn answer(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
        reaction: &mut Reaction,
    ) -> String {
        if tool == "propose_action" {
            let id = arguments["action_id"].as_str().unwrap();
            let reason = arguments["reason"].as_str().unwrap();
            assert!(reason.starts_with("Said in this chat: \""), "{reason}");
            assert!(
                reaction.body.contains(&format!("`{id}`")),
                "{id} is named before: {}",
                reaction.body
            );
            reaction.acts.push(id.to_owned());
            if let Some((code, risky)) = QUEUED.iter().find(|(_, risky)| *risky == id) {
                reaction.waiting.retain(|(known, _)| known != code);
                reaction.waiting.push((code, risky));
                return json!({"outcome": "queued", "display_state": "waiting", "code": code, "meaning": "It waits."})
                    .to_string();
            }
            return json!({"outcome": "executed", "display_state": "verified", "verification": "verified", "code": "AAAA", "meaning": "It ran."}).to_string();
        }
        if tool == "withdraw_proposal" {
            let code = arguments["proposal"].as_str().unwrap();
            assert!(reaction.body.contains(code), "{}", reaction.body);
            reaction.acts.push(format!("withdraw {code}"));
            reaction.waiting.retain(|(known, _)| *known != code);
            return json!({"outcome": "refused", "display_state": "withdrawn", "code": code, "meaning": "It was withdrawn."})
                .to_string();
        }
        if tool == "proposal_status" {
            let code = arguments["proposal"].as_str().unwrap();
            let queued = QUEUED.iter().any(|(known, _)| *known == code);
            let (outcome, shown) = match queued {
                true => ("queued", "waiting"),
                false => ("executed", "verified"),
            };
            return json!({"outcome": outcome, "display_state": shown, "code": code, "label": "It", "verification": "verified"}).to_string();
        }
        if tool == "recent_activity" {
            return self.activity(&reaction.waiting);
        }
        let asked = match arguments.get("load") {
            Some(Value::Bool(true)) => LOADS,
            _ => tool,
        };
        let told = self.told.get(asked).cloned();
        told.unwrap_or_else(|| {
            json!({"error": {"code": "not_found", "message": "not here"}}).to_string()
        })
    }
}

impl Listener {
    /// What the record told, and what was asked for since.
    fn activity(&self, waiting: &[(&str, &str)]) -> String {
        let mut told: Value = serde_json::from_str(&self.told["recent_activity"]).unwrap();
        let actions: Value = serde_json::from_str(&self.told["list_actions"]).unwrap();
        let label = |id: &str| {
            let mut all = actions["actions"].as_array().unwrap().iter();
            all.find(|action| action["id"] == id).unwrap()["label"].clone()
        };
        let rows: Vec<Value> = waiting
            .iter()
            .map(|(code, id)| {
                json!({"code": code, "action_id": id, "label": label(id), "tier": "risky", "status": "pending",
                    "display_state": "waiting", "state": "Waiting for yes", "asked_by": "little-blue",
                    "asked_at": told["at"]})
            })
            .collect();
        told["waiting"].as_array_mut().unwrap().extend(rows);
        told.to_string()
    }
}

async fn call(room: &Room, tool: &str, arguments: Value) -> Value {
    let ctx = room.agent.ctx(&room.control).await.unwrap().unwrap();
    let mut tools = tools::for_turn(&room.control, &ctx);
    let tool = tools.find(|known| known.name == tool).unwrap();
    let arguments = arguments.as_object().cloned().unwrap();
    let (taint, notes) = (Taint::clean(), Notes::default());
    let called = tool
        .call(
            &room.control,
            &ctx,
            &taint,
            &Scope::outside(),
            &notes,
            arguments,
        )
        .await;
    called.unwrap().value.into_value()
}
