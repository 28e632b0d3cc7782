//! Shapes of tokens that people really have: what each may do beyond the catalogue, and what it lacks.

use void_channels::Rights;
use void_rehearsal::proxmox::{Access, Acl, Guest, Pool, Token, User, roles};

use super::{BOTH, PATIENT, Pve, SECRET};

/// Token or user rights, and whether the token has its own.
struct Shape {
    name: &'static str,
    access: Access,
    /// Paths on which it may do too much.
    excesses: &'static [&'static str],
    /// Guests for which something is missing.
    shortages: &'static [u32],
    only_reads: bool,
}

fn separated(acl: Vec<Acl>) -> Access {
    let everything = vec![Acl::new("/", roles::ADMINISTRATOR)];
    let token = Token::separated("actions", SECRET, acl);
    Access {
        users: vec![User::new("void@pve", everything, vec![token])],
        pools: Vec::new(),
    }
}

fn whole_user(id: &str, acl: Vec<Acl>) -> Access {
    let token = Token::unseparated("actions", SECRET);
    Access {
        users: vec![User::new(id, acl, vec![token])],
        pools: Vec::new(),
    }
}

fn exact_and(more: Vec<Acl>) -> Access {
    let mut acl = vec![Acl::new("/vms/105", &BOTH), Acl::new("/vms/107", &BOTH)];
    acl.retain(|one| more.iter().all(|other| other.path != one.path));
    acl.extend(more);
    separated(acl)
}

fn shape(name: &'static str, access: Access, excesses: &'static [&'static str]) -> Shape {
    Shape {
        name,
        access,
        excesses,
        shortages: &[],
        only_reads: false,
    }
}

fn shapes() -> Vec<Shape> {
    let with = |path: &str, privileges: &[&str]| exact_and(vec![Acl::new(path, privileges)]);
    let may = |more: &[&'static str]| [&BOTH[..], more].concat();
    let pool = Access {
        pools: vec![Pool {
            name: "lab".to_owned(),
            vmids: vec![105, 107, 999],
        }],
        ..separated(vec![Acl::new("/pool/lab", &BOTH)])
    };
    let here_only = vec![
        Acl::new("/vms/105", &BOTH).here_only(),
        Acl::new("/vms/107", &BOTH).here_only(),
    ];
    vec![
        shape("exact", exact_and(Vec::new()), &[]),
        shape("exact, not propagated", separated(here_only), &[]),
        shape(
            "all guests",
            separated(vec![Acl::new("/vms", &BOTH)]),
            &["/vms"],
        ),
        shape(
            "another guest",
            with("/vms/999", &["VM.PowerMgmt"]),
            &["/vms/999"],
        ),
        shape(
            "configures",
            with("/vms/107", &may(&["VM.Config.Disk"])),
            &["/vms/107"],
        ),
        shape(
            "console",
            with("/vms/105", &may(&["VM.Console"])),
            &["/vms/105"],
        ),
        shape(
            "storage",
            with("/storage/local", &["Datastore.Allocate"]),
            &["/storage/local"],
        ),
        shape("nodes", with("/nodes/z", &["Sys.Modify"]), &["/nodes/z"]),
        shape(
            "users",
            with("/access", &["User.Modify"]),
            &["/access", "/access/groups"],
        ),
        shape("pool", pool, &["/pool/lab", "/vms/999"]),
        // The load of nodes is shown; the same privilege elsewhere shows what nobody needs.
        shape("looks at the nodes", with("/nodes", &["Sys.Audit"]), &[]),
        shape("looks at a node", with("/nodes/z", &["Sys.Audit"]), &[]),
        Shape {
            only_reads: true,
            ..shape(
                "looks at storage",
                with("/storage/local", &["Datastore.Audit", "Sys.Audit"]),
                &["/storage/local"],
            )
        },
        Shape {
            shortages: &[105, 107],
            ..shape("nothing", separated(Vec::new()), &[])
        },
        Shape {
            shortages: &[107],
            ..shape("only looks at one", with("/vms/107", &["VM.Audit"]), &[])
        },
        Shape {
            shortages: &[107],
            ..shape(
                "taken away below",
                separated(vec![Acl::new("/vms", &BOTH), Acl::new("/vms/107", &[])]),
                &["/vms"],
            )
        },
        Shape {
            shortages: &[105, 107],
            ..shape(
                "more than its user",
                Access {
                    users: vec![User::new(
                        "void@pve",
                        Vec::new(),
                        vec![Token::separated(
                            "actions",
                            SECRET,
                            vec![Acl::new("/vms", &BOTH)],
                        )],
                    )],
                    pools: Vec::new(),
                },
                &[],
            )
        },
    ]
}

async fn rights(pve: &Pve) -> Rights {
    pve.channels.probe().proxmox_rights().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_shape_of_token_is_told_apart() {
    let guests = vec![Guest::lxc(105, "z", "a"), Guest::lxc(107, "z", "b")];
    let pve = Pve::of(guests, PATIENT, 60);
    for shape in shapes() {
        let name = shape.name;
        pve.server.set_access(shape.access);
        let rights = rights(&pve).await;
        let paths: Vec<&str> = rights.excesses.iter().map(|one| &*one.path).collect();
        assert_eq!(paths, shape.excesses, "{name}");
        let mut short: Vec<u32> = rights.shortages.iter().map(|one| one.vmid).collect();
        short.dedup();
        assert_eq!(short, shape.shortages, "{name}");
        if !rights.excesses.is_empty() {
            let reads = rights.excesses.iter().all(|excess| excess.only_reads);
            assert_eq!(reads, shape.only_reads, "{name}");
        }
    }
    assert_eq!(pve.posts(), 0);
}

/// `--privsep 0` gives a token all that its user may do.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_without_separation_is_its_user() {
    let pve = Pve::new();
    let admin = vec![Acl::new("/", roles::ADMINISTRATOR)];
    pve.server.set_access(whole_user("void@pve", admin));
    let rights = rights(&pve).await;
    assert_eq!(rights.shortages, []);
    let root = rights
        .excesses
        .iter()
        .find(|excess| excess.path == "/")
        .unwrap();
    assert!(
        root.privileges
            .iter()
            .any(|one| one == "Permissions.Modify")
    );
    assert!(!root.only_reads);
}
