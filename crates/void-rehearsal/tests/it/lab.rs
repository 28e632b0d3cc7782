//! The cluster that most tests use, and waiting on conditions.

use std::time::{Duration, Instant};

use void_rehearsal::proxmox::{
    Access, Acl, Guest, Node, ProxmoxConfig, ProxmoxServer, TaskDurations, Token, User, roles,
};

use crate::client::Client;

pub(crate) const SECRET: &str = "5c6f0fd1-2d3b-4b2c-9d35-0a1b2c3d4e5f";
/// May see and switch every guest, and nothing else.
pub(crate) const ACTIONS: &str = "void@pve!actions";
/// May see everything.
pub(crate) const AUDITOR: &str = "void@pve!auditor";
/// May do nothing.
pub(crate) const NOBODY: &str = "void@pve!nobody";
pub(crate) const TASK: Duration = Duration::from_millis(40);

pub(crate) fn config() -> ProxmoxConfig {
    let nodes = vec![Node::online("z"), Node::online("y"), Node::offline("w")];
    let guests = vec![
        Guest::lxc(107, "z", "iventoy").running(),
        Guest::lxc(108, "z", "spare"),
        Guest::qemu(104, "z", "haos").running(),
        Guest::qemu(105, "z", "win"),
        Guest::lxc(201, "y", "dns").running(),
        Guest::lxc(301, "w", "far").running(),
    ];
    let tokens = vec![
        Token::separated(
            "actions",
            SECRET,
            vec![Acl::new("/vms", &["VM.PowerMgmt", "VM.Audit"])],
        ),
        Token::separated("auditor", SECRET, vec![Acl::new("/", roles::PVE_AUDITOR)]),
        Token::separated("nobody", SECRET, Vec::new()),
    ];
    let user = User::new(
        "void@pve",
        vec![Acl::new("/", roles::ADMINISTRATOR)],
        tokens,
    );
    let access = Access {
        users: vec![user],
        pools: Vec::new(),
    };
    let mut config = ProxmoxConfig::new(nodes, guests, access);
    config.durations = TaskDurations::all(TASK);
    config.unauthorized_delay = Duration::ZERO;
    config
}

pub(crate) fn server() -> ProxmoxServer {
    ProxmoxServer::start(config()).unwrap()
}

pub(crate) fn client(server: &ProxmoxServer, token: &str) -> Client {
    Client::new(server, &format!("{token}={SECRET}"))
}

/// Waits until a task has ended and gives back its exit status.
pub(crate) fn exit_status(client: &Client, upid: &str) -> String {
    let node = upid.split(':').nth(1).unwrap();
    eventually("the task to end", || {
        let status = client
            .get(&format!("/nodes/{node}/tasks/{upid}/status"))
            .data();
        (status["status"] == "stopped").then(|| status["exitstatus"].as_str().unwrap().to_owned())
    })
}

/// Posts a power operation and gives back the task's exit status.
pub(crate) fn power(client: &Client, path: &str, form: &str) -> String {
    let upid = client.post(path, form).data();
    exit_status(client, upid.as_str().unwrap())
}

pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "waited for {what}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}
