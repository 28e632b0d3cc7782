//! Rights: shapes of tokens with too few and with too many, and what each may see and do.

mod shapes;

use serde_json::{Value, json};
use void_rehearsal::proxmox::{Access, GuestStatus, ProxmoxServer, User};

use crate::access::shapes::Shape;
use crate::client::Client;
use crate::lab;

#[test]
fn twelve_shapes_with_too_few_rights() {
    let shapes = shapes::too_few();
    assert_eq!(shapes.len(), 12);
    shapes.into_iter().for_each(check);
}

#[test]
fn twelve_shapes_with_too_many_rights() {
    let shapes = shapes::too_many();
    assert_eq!(shapes.len(), 12);
    shapes.into_iter().for_each(check);
}

fn check(shape: Shape) {
    let what = shape.what;
    let id = shape.id;
    let mut config = lab::config();
    config.access = Access {
        users: vec![User::new(id, shape.user, vec![shape.token])],
        pools: shape.pools,
    };
    let server = ProxmoxServer::start(config).unwrap();
    let client = lab::client(&server, &format!("{id}!t"));

    let list = client.get("/nodes/z/lxc").data();
    let mut seen: Vec<u64> = vmids(&list);
    seen.sort_unstable();
    assert_eq!(
        seen,
        shape
            .sees
            .iter()
            .map(|&id| u64::from(id))
            .collect::<Vec<_>>(),
        "{what}"
    );
    let everywhere = vmids(&client.get("/cluster/resources?type=vm").data());
    for vmid in [107, 108] {
        let sees = shape.sees.contains(&vmid);
        assert_eq!(everywhere.contains(&u64::from(vmid)), sees, "{what}");
        let current = client.get(&format!("/nodes/z/lxc/{vmid}/status/current"));
        let refusal = format!("403 Permission check failed (/vms/{vmid}, VM.Audit)");
        assert_eq!(
            current.line(),
            if sees { "200 OK".to_owned() } else { refusal },
            "{what}"
        );

        // A reboot of a stopped guest is refused for another reason, which tells the two apart.
        server.set_status(vmid, GuestStatus::Stopped);
        let switched = client.post(&format!("/nodes/z/lxc/{vmid}/status/reboot"), "");
        let expected = if shape.switches.contains(&vmid) {
            format!("500 VM {vmid} not running")
        } else {
            format!("403 Permission check failed (/vms/{vmid}, VM.PowerMgmt)")
        };
        assert_eq!(switched.line(), expected, "{what}");
    }
    check_permissions(&client, shape.path, &shape.rights, what);
}

fn check_permissions(client: &Client, path: &str, rights: &Value, what: &str) {
    let one = client
        .get(&format!("/access/permissions?path={path}"))
        .data();
    assert_eq!(one, json!({path: rights}), "{what}");
    let all = client.get("/access/permissions").data();
    let is_empty = rights.as_object().unwrap().is_empty();
    if is_empty {
        assert!(all.get(path).is_none(), "{what}: {all}");
    } else if let Some(listed) = all.get(path) {
        // A path that no grant or pool names is not listed by itself.
        assert_eq!(listed, rights, "{what}");
    }
}

fn vmids(rows: &Value) -> Vec<u64> {
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row["vmid"].as_u64().unwrap()).collect()
}

#[test]
fn permissions_of_others_need_an_auditor() {
    let server = lab::server();
    let own = lab::client(&server, lab::ACTIONS);
    let other = format!("/access/permissions?userid={}", lab::NOBODY);
    assert_eq!(
        own.get(&other).line(),
        "403 Permission check failed (/access, Sys.Audit)"
    );
    let mine = format!("/access/permissions?userid={}", lab::ACTIONS);
    assert_eq!(own.get(&mine).data(), own.get("/access/permissions").data());
    let auditor = lab::client(&server, lab::AUDITOR);
    assert_eq!(auditor.get(&other).data(), json!({}));
    assert_eq!(
        auditor.get(&mine).data(),
        json!({"/vms": {"VM.Audit": 1, "VM.PowerMgmt": 1}})
    );
}
