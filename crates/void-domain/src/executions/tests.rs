//! What the catalogue makes of an action is what is read from its definition, and a definition that was tampered with
//! is never another machine's.

use serde_json::{Value, json};

use super::*;
use crate::catalogue::{Action, Catalogue, Lockout};
use crate::hosts::{HostName, Reach, SshAddress};
use crate::instances::InstanceName;

const KEY: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ3ku4fOd0Dl5vXbXhbmvb3m1B8rTnKqcHv4fUXhEB1T";

fn parse(text: &str) -> Catalogue {
    Catalogue::parse(text, &Lockout::default()).unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// Every kind by every channel, with and without each member that may be missing.
fn generated() -> Catalogue {
    let hosts = json!({
        "far": {"address": "far.lan", "port": 2222, "user": "root", "host_key": KEY}, "near": "192.168.1.9",
        "here": "local", "mine": {"address": "local", "instance": "alpha"},
    });
    let mut what = Vec::new();
    for host in ["far", "near", "here", "mine", "local"] {
        what.push(json!({"kind": "service_restart", "host": host, "service": "web@1.service"}));
        what.push(
            json!({"kind": "service_restart", "host": host, "service": "web", "via": "host"}),
        );
        for op in PowerOp::ALL {
            what.push(
                json!({"kind": "guest_power", "node": host, "vmid": 100, "op": op.as_str(), "via": "host"}),
            );
        }
        for op in NodeOp::ALL {
            what.push(json!({"kind": op.as_str(), "node": host, "service": "web", "via": "host"}));
        }
    }
    for op in PowerOp::ALL {
        let power =
            json!({"kind": "guest_power", "node": "Z1", "vmid": 999_999_999, "op": op.as_str()});
        what.push(power.clone());
        for guest in Guest::ALL {
            let mut named = power.clone();
            named["guest"] = json!(guest.as_str());
            what.push(named.clone());
            named["kindPath"] = json!(guest.as_str());
            what.push(named.clone());
            named.as_object_mut().unwrap().remove("guest");
            what.push(named);
        }
    }
    for op in NodeOp::ALL {
        let on_node = json!({"kind": op.as_str(), "node": "N-1", "service": "web:2"});
        what.push(on_node.clone());
        let mut by_file = on_node.clone();
        by_file["via"] = json!("file");
        what.push(by_file);
        let number = json!({"type": "integer", "min": 0, "max": 9});
        for params in [
            json!({}),
            json!({"replicas": number}),
            json!({"copies": number, "zone": {"type": "enum", "values": ["a"]}}),
            json!({"copies": number, "replicas": number}),
            json!({"copies": number, "others": number}),
        ] {
            let mut chosen = on_node.clone();
            chosen["params"] = params;
            what.push(chosen);
        }
    }
    let mut actions = Vec::new();
    for action in what {
        for timeout in [None, Some(1), Some(3_600)] {
            for verify in [None, Some("web")] {
                let mut action = action.clone();
                action["id"] = json!(format!("a{}", actions.len()));
                action["tier"] = json!("risky");
                if let Some(seconds) = timeout {
                    action["timeout_s"] = json!(seconds);
                }
                if let Some(service) = verify {
                    action["verify"] = json!({"service": service});
                }
                actions.push(action);
            }
        }
    }
    parse(&json!({"hosts": hosts, "actions": actions}).to_string())
}

fn all() -> [Catalogue; 2] {
    let shipped = include_str!("../../../../config/actions.json");
    [parse(shipped), generated()]
}

/// The catalogue refuses an action of which this is not so; so it is so for every catalogue of every test.
#[test]
fn a_definition_reads_back_as_what_the_catalogue_made_of_the_action() {
    let mut count = 0;
    for catalogue in all() {
        for action in catalogue.actions() {
            let read = Execution::from_definition(action.definition());
            assert_eq!(read.as_ref(), Some(&action.execution), "{}", action.id);
            // It is stored as text.
            let stored = action.definition().to_string();
            let stored = serde_json::from_str(&stored).unwrap();
            assert_eq!(Execution::from_definition(&stored), read);
            count += 1;
        }
    }
    assert!(count > 600, "{count}");
}

/// What is no value of any member of an execution.
fn nonsense() -> Vec<Value> {
    let long = "a".repeat(254);
    vec![
        Value::Null,
        json!(true),
        json!(-1),
        json!(0),
        json!(1.5),
        json!(u64::MAX),
        json!(""),
        json!("-oProxyCommand=x"),
        json!("a b"),
        json!("z/../y"),
        json!("z/107"),
        json!("é"),
        json!("a\n"),
        json!(long),
        json!([]),
        json!(["lxc"]),
        json!({}),
    ]
}

/// The members that make an execution, of those that the definition has.
const MEMBERS: [&str; 18] = [
    "/action",
    "/action/kind",
    "/action/host",
    "/action/node",
    "/action/service",
    "/action/vmid",
    "/action/guest",
    "/action/kindPath",
    "/action/op",
    "/action/via",
    "/action/timeout_s",
    "/action/verify",
    "/action/verify/service",
    "/host",
    "/host/name",
    "/host/address",
    "/host/port",
    "/host/user",
];

#[test]
fn nonsense_in_any_member_is_never_a_machine() {
    let tampered = |action: &Action, member: &str, value: Value| {
        let mut definition = action.definition().clone();
        let found = definition.pointer_mut(member)?;
        let is_other = *found != value;
        *found = value;
        is_other.then_some(definition)
    };
    let mut count = 0;
    for catalogue in all() {
        for action in catalogue.actions() {
            for member in MEMBERS {
                for value in nonsense() {
                    let Some(definition) = tampered(action, member, value) else {
                        continue;
                    };
                    let read = Execution::from_definition(&definition);
                    assert_eq!(read, None, "{}: {member} of {definition}", action.id);
                    count += 1;
                }
            }
        }
    }
    assert!(count > 50_000, "{count}");
}

/// Values that fit their member, and not the rest of the definition.
#[test]
fn a_definition_that_disagrees_with_itself_is_none() {
    let catalogue = generated();
    let action = |is_it: &dyn Fn(&Execution) -> bool| {
        let mut all = catalogue.actions();
        let found = all.find(|action| is_it(&action.execution));
        found.unwrap().definition().clone()
    };
    let by_host = action(&|it| matches!(it.kind, ActionKind::ServiceRestart { .. }));
    let power_by_host = action(&|it| it.kind.power().is_some() && it.host().is_some());
    let by_proxmox = action(&|it| matches!(it.route(), Route::Proxmox(_)));
    let by_node = action(&|it| matches!(it.route(), Route::Node(_)));
    let far =
        json!({"name": "far", "address": "far.lan", "port": 22, "user": "root", "host_key": null});
    for (definition, member, value) in [
        (&by_host, "/action/host", json!("other")),
        (&by_host, "/host/name", json!("other")),
        (&by_host, "/host", Value::Null),
        (&by_host, "/host/address", json!("192.168.1.300")),
        (&by_host, "/action/kind", json!("guest_power")),
        (&by_host, "/action/kind", json!("restart_service")),
        (&power_by_host, "/action/node", json!("other")),
        (&power_by_host, "/action/via", json!("file")),
        (&power_by_host, "/host", Value::Null),
        (&by_proxmox, "/host", far.clone()),
        (&by_proxmox, "/action/kind", json!("scale")),
        (&by_proxmox, "/action/vmid", json!(99)),
        (&by_node, "/host", far),
        (&by_node, "/action/kind", json!("service_restart")),
    ] {
        let mut tampered = definition.clone();
        *tampered.pointer_mut(member).unwrap() = value.clone();
        let read = Execution::from_definition(&tampered);
        assert_eq!(read, None, "{member} {value} in {definition}");
    }
    for member in ["via", "node", "vmid", "op", "kind"] {
        let mut tampered = power_by_host.clone();
        tampered["action"].as_object_mut().unwrap().remove(member);
        assert_eq!(Execution::from_definition(&tampered), None, "{member}");
    }
    let mut both = by_proxmox;
    both["action"]["guest"] = json!("lxc");
    both["action"]["kindPath"] = json!("qemu");
    assert_eq!(Execution::from_definition(&both), None);
    for other in [
        json!({}),
        json!({"host": null}),
        json!({"action": {"kind": "guest_power"}, "host": null}),
        json!({"action": {"kind": "new", "node": "n", "service": "s"}, "host": null}),
        json!({"action": {"kind": "scale", "node": "n", "service": "s"}}),
    ] {
        assert_eq!(Execution::from_definition(&other), None, "{other}");
    }
    let mut scale = json!({"action": {"kind": "scale", "node": "n", "service": "s"}, "host": null});
    assert!(Execution::from_definition(&scale).is_some());
    for params in [
        json!([]),
        json!({"replicas": {}}),
        json!({"replicas": {"type": "float"}}),
    ] {
        scale["action"]["params"] = params;
        assert_eq!(Execution::from_definition(&scale), None, "{scale}");
    }
}

#[test]
fn a_host_reads_back() {
    let name = HostName::parse("nas").unwrap();
    let ssh = SshAddress {
        address: "nas.lan".into(),
        port: 2222,
        user: "voidact".into(),
        host_key: None,
    };
    let alpha = InstanceName::parse("alpha");
    for (reach, instance) in [
        (Reach::Local, None),
        (Reach::Local, alpha),
        (Reach::Ssh(ssh), None),
    ] {
        let host = Host {
            name: name.clone(),
            reach,
            instance,
        };
        assert_eq!(definitions::host(&host.to_definition()), Some(host));
    }
    let tampered = json!({"name": "nas", "address": "local", "instance": "-x"});
    assert_eq!(definitions::host(&tampered), None);
    let tampered = json!({"name": "nas", "address": "-oProxyCommand=x", "port": 22, "user": "voidact", "host_key": null});
    assert_eq!(definitions::host(&tampered), None);
    for key in [json!(""), json!("ssh-dss x"), json!(7), json!({})] {
        let tampered = json!({"name": "nas", "address": "nas.lan", "port": 22, "user": "voidact", "host_key": key});
        assert_eq!(definitions::host(&tampered), None, "{key}");
    }
}

/// Operation by operation: which channel, and what is looked at afterwards.
#[test]
fn each_kind_has_its_channel_and_its_sign() {
    let read = |action: Value| {
        let definition = json!({"action": action, "host": null});
        Execution::from_definition(&definition).unwrap()
    };
    for op in PowerOp::ALL {
        let power = read(
            json!({"kind": "guest_power", "node": "z", "vmid": 107, "op": op.as_str(), "guest": "qemu"}),
        );
        let guest = power.kind.power().unwrap();
        assert_eq!(
            (guest.guest_name().as_str(), guest.op, guest.guest),
            ("VM 107", op, Guest::Qemu)
        );
        assert_eq!(power.route(), Route::Proxmox(guest));
        let wanted = match op {
            PowerOp::Stop | PowerOp::Shutdown => ExpectedState::Down,
            PowerOp::Start | PowerOp::Reboot => ExpectedState::Up,
        };
        assert_eq!(
            power.sign(),
            Sign::Guest {
                power: guest,
                wanted
            }
        );
    }
    for op in NodeOp::ALL {
        let mut on_node = read(json!({"kind": op.as_str(), "node": "n1", "service": "web"}));
        assert_eq!(
            (on_node.route(), on_node.sign()),
            (Route::Node("n1"), Sign::Nothing)
        );
        on_node.verify = Some("web".to_owned());
        let (id, wanted) = ("web", ExpectedState::Up);
        assert_eq!(on_node.sign(), Sign::Service { id, wanted });
        let by_file =
            read(json!({"kind": op.as_str(), "node": "n1", "service": "web", "via": "file"}));
        assert_eq!(by_file.route(), Route::File);
    }
    assert_eq!(
        read(json!({"kind": "rollback", "node": "n1", "service": "web"})).timeout,
        crate::limits::ACTION_TIMEOUT
    );
}
