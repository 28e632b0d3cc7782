//! Twenty-four shapes of tokens: twelve that may do too little, twelve that may do too much.

use serde_json::{Value, json};
use void_rehearsal::proxmox::{Acl, Pool, Token, roles};

use crate::lab::SECRET;

const POWER: &[&str] = &["VM.PowerMgmt", "VM.Audit"];
const POWER_AND_CONSOLE: &[&str] = &["VM.PowerMgmt", "VM.Audit", "VM.Console"];
const POWER_AND_GRANTING: &[&str] = &["VM.PowerMgmt", "VM.Audit", "Permissions.Modify"];

pub(crate) struct Shape {
    /// The user whose token it is.
    pub(crate) id: &'static str,
    pub(crate) what: &'static str,
    pub(crate) user: Vec<Acl>,
    pub(crate) token: Token,
    pub(crate) pools: Vec<Pool>,
    /// Containers of node z that it may switch and that it sees; the lab has 107 and 108.
    pub(crate) switches: &'static [u32],
    pub(crate) sees: &'static [u32],
    /// One place to look at in its permissions, and what stands there.
    pub(crate) path: &'static str,
    pub(crate) rights: Value,
}

fn separated(acl: Vec<Acl>) -> Token {
    Token::separated("t", SECRET, acl)
}

fn admin() -> Vec<Acl> {
    vec![Acl::new("/", roles::ADMINISTRATOR)]
}

pub(crate) fn too_few() -> Vec<Shape> {
    [few_by_grant(), few_by_owner_or_pool()]
        .into_iter()
        .flatten()
        .collect()
}

fn none() -> Shape {
    Shape {
        id: "some@pve",
        what: "a token without grants",
        user: admin(),
        token: separated(Vec::new()),
        pools: Vec::new(),
        switches: &[],
        sees: &[],
        path: "/vms/107",
        rights: json!({}),
    }
}

fn few_by_grant() -> Vec<Shape> {
    vec![
        none(),
        Shape {
            what: "a user without grants",
            user: Vec::new(),
            token: separated(vec![Acl::new("/vms/107", POWER)]),
            ..none()
        },
        Shape {
            what: "sight without power",
            token: separated(vec![Acl::new("/vms", &["VM.Audit"])]),
            sees: &[107, 108],
            rights: json!({"VM.Audit": 1}),
            ..none()
        },
        Shape {
            what: "power without sight",
            token: separated(vec![Acl::new("/vms/107", &["VM.PowerMgmt"])]),
            switches: &[107],
            rights: json!({"VM.PowerMgmt": 1}),
            ..none()
        },
        Shape {
            what: "a grant above that does not propagate",
            token: separated(vec![Acl::new("/vms", POWER).here_only()]),
            ..none()
        },
        Shape {
            what: "a deeper grant that replaces the inherited one",
            token: separated(vec![
                Acl::new("/vms", POWER),
                Acl::new("/vms/107", &["VM.Console"]),
            ]),
            switches: &[108],
            sees: &[108],
            rights: json!({"VM.Console": 1}),
            ..none()
        },
    ]
}

fn few_by_owner_or_pool() -> Vec<Shape> {
    vec![
        Shape {
            what: "NoAccess on one guest",
            token: separated(vec![
                Acl::new("/", POWER),
                Acl::new("/vms/107", roles::NO_ACCESS),
            ]),
            switches: &[108],
            sees: &[108],
            ..none()
        },
        Shape {
            what: "a user who may do less than the token",
            user: vec![Acl::new("/vms", &["VM.Audit"])],
            token: separated(vec![Acl::new("/", roles::ADMINISTRATOR)]),
            sees: &[107, 108],
            rights: json!({"VM.Audit": 1}),
            ..none()
        },
        Shape {
            what: "an unseparated token of a user without rights",
            user: Vec::new(),
            token: Token::unseparated("t", SECRET),
            ..none()
        },
        Shape {
            what: "grants on the unseparated token itself, which do not count",
            user: vec![Acl::new("/vms/108", POWER)],
            token: Token {
                acl: vec![Acl::new("/", roles::ADMINISTRATOR)],
                ..Token::unseparated("t", SECRET)
            },
            switches: &[108],
            sees: &[108],
            ..none()
        },
        Shape {
            what: "a pool whose grant NoAccess on the guest takes away",
            token: separated(vec![
                Acl::new("/pool/web", POWER),
                Acl::new("/vms/107", roles::NO_ACCESS),
            ]),
            pools: web_pool(&[107, 108]),
            switches: &[108],
            sees: &[108],
            ..none()
        },
        Shape {
            what: "a guest that is not in the pool",
            token: separated(vec![Acl::new("/pool/web", POWER)]),
            pools: web_pool(&[108]),
            switches: &[108],
            sees: &[108],
            ..none()
        },
    ]
}

pub(crate) fn too_many() -> Vec<Shape> {
    [many_by_reach(), many_by_privilege()]
        .into_iter()
        .flatten()
        .collect()
}

fn all() -> Shape {
    Shape {
        id: "some@pve",
        what: "the administrator's rights copied to the token",
        user: admin(),
        token: Token::unseparated("t", SECRET),
        pools: Vec::new(),
        switches: &[107, 108],
        sees: &[107, 108],
        path: "/vms/107",
        rights: rights(roles::ADMINISTRATOR),
    }
}

fn many_by_reach() -> Vec<Shape> {
    vec![
        all(),
        Shape {
            id: "root@pam",
            what: "root\'s own token, unseparated",
            user: Vec::new(),
            ..all()
        },
        Shape {
            id: "root@pam",
            what: "root\'s token with a grant on everything",
            user: Vec::new(),
            token: separated(vec![Acl::new("/", roles::PVE_VM_USER)]),
            rights: rights(roles::PVE_VM_USER),
            ..all()
        },
        Shape {
            what: "power over every guest instead of one",
            token: separated(vec![Acl::new("/vms", POWER)]),
            path: "/vms",
            rights: rights(POWER),
            ..all()
        },
        Shape {
            what: "the same from the root of the tree",
            token: separated(vec![Acl::new("/", POWER)]),
            path: "/",
            rights: rights(POWER),
            ..all()
        },
        Shape {
            what: "a role with configuration rights",
            token: separated(vec![Acl::new("/vms/107", roles::PVE_VM_ADMIN)]),
            switches: &[107],
            sees: &[107],
            rights: rights(roles::PVE_VM_ADMIN),
            ..all()
        },
    ]
}

fn many_by_privilege() -> Vec<Shape> {
    vec![
        Shape {
            what: "one privilege too many, the console",
            token: separated(vec![Acl::new("/vms/107", POWER_AND_CONSOLE)]),
            switches: &[107],
            sees: &[107],
            rights: rights(POWER_AND_CONSOLE),
            ..all()
        },
        Shape {
            what: "power over a node",
            token: separated(vec![
                Acl::new("/vms", POWER),
                Acl::new("/nodes/z", &["Sys.PowerMgmt"]),
            ]),
            path: "/nodes/z",
            rights: rights(&["Sys.PowerMgmt"]),
            ..all()
        },
        Shape {
            what: "the right to grant rights",
            token: separated(vec![Acl::new("/vms", POWER_AND_GRANTING)]),
            rights: rights(POWER_AND_GRANTING),
            ..all()
        },
        Shape {
            what: "a pool that holds another guest too",
            token: separated(vec![Acl::new("/pool/web", POWER)]),
            pools: web_pool(&[107, 108]),
            path: "/vms/108",
            rights: json!({"VM.PowerMgmt": 0, "VM.Audit": 0}),
            ..all()
        },
        Shape {
            what: "a pool's grant added to the guest's own",
            token: separated(vec![
                Acl::new("/pool/web", &["VM.Console"]),
                Acl::new("/vms/107", POWER),
            ]),
            pools: web_pool(&[107]),
            switches: &[107],
            sees: &[107],
            rights: json!({"VM.PowerMgmt": 1, "VM.Audit": 1, "VM.Console": 0}),
            ..all()
        },
        Shape {
            what: "two grants on one path, which add up",
            token: separated(vec![
                Acl::new("/vms/107", POWER).here_only(),
                Acl::new("/vms/107", &["VM.Audit", "VM.Backup"]),
            ]),
            switches: &[107],
            sees: &[107],
            rights: json!({"VM.PowerMgmt": 0, "VM.Audit": 1, "VM.Backup": 1}),
            ..all()
        },
    ]
}

fn rights(privileges: &[&str]) -> Value {
    privileges
        .iter()
        .map(|&one| (one.to_owned(), json!(1)))
        .collect()
}

fn web_pool(vmids: &[u32]) -> Vec<Pool> {
    vec![Pool {
        name: "web".to_owned(),
        vmids: vmids.to_vec(),
    }]
}
