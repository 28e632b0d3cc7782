//! Proxmox: not there, another certificate, another token, too much or too little. No server runs: it
//! is all judged from where the doctor is.

use std::fs;
use std::path::Path;

use serde_json::json;
use void_rehearsal::proxmox::{Access, Acl, Certificate, Token, User, roles};

use super::pve::{self, BOTH, access, needed, set};
use super::{amiss, fine, problem, report};
use crate::lab::{Lab, word};

#[test]
fn a_fitting_token_is_said_to_fit() {
    let server = pve::start(access(&needed()));
    let report = report(&pve::lab(&server));
    for check in ["proxmox", "proxmox rights", "clock"] {
        fine(&report, check);
    }
    let posts = server.requests();
    assert!(posts.iter().all(|request| request.method == "GET"));
}

#[test]
fn an_unreachable_proxmox_is_named() {
    let server = pve::start(access(&needed()));
    let mut lab = pve::lab(&server);
    let url = "https://127.0.0.1:1";
    set(&mut lab, "PROXMOX_API_URL", url);
    let (message, next) = problem(&report(&lab), "proxmox");
    assert!(message.contains("cannot be reached"), "{message}");
    assert!(next.contains(&format!("curl -k {url}")), "{next}");
}

#[test]
fn a_catalogue_that_needs_proxmox_misses_it() {
    let lab = Lab::with(&pve::catalogue());
    let (message, next) = problem(&report(&lab), "proxmox");
    assert!(
        message.starts_with("3 actions and 0 services need it"),
        "{message}"
    );
    assert_eq!(next, "void provision proxmox");
    assert_eq!(amiss(&report(&Lab::new()), "proxmox").len(), 0);
}

#[test]
fn a_refused_token_is_named() {
    let server = pve::start(access(&needed()));
    let mut lab = pve::lab(&server);
    set(
        &mut lab,
        "PROXMOX_API_TOKEN",
        "void@pve!actions=not-the-secret",
    );
    let (message, next) = problem(&report(&lab), "proxmox token");
    assert!(message.contains("does not accept the token"), "{message}");
    assert!(next.contains("void provision proxmox"), "{next}");
    // A broken one never leaves.
    set(&mut lab, "PROXMOX_API_TOKEN", pve::SECRET);
    let (message, _) = problem(&report(&lab), "proxmox");
    assert!(message.contains("user@realm!name=secret"), "{message}");
}

#[test]
fn a_token_that_may_too_much_is_named_with_what() {
    let grants = [Acl::new("/vms", roles::PVE_VM_ADMIN)];
    let server = pve::start(access(&grants));
    let lab = pve::lab(&server);
    let (message, next) = problem(&report(&lab), "proxmox rights");
    assert!(message.contains("on /vms"), "{message}");
    assert!(
        message.contains("VM.Allocate, VM.Audit, VM.Backup and 15 more"),
        "{message}"
    );
    assert!(
        next.contains("pveum user token permissions void@pve actions"),
        "{next}"
    );

    // Everything, everywhere: still a few lines.
    let all = [Acl::new("/", roles::ADMINISTRATOR)];
    server.set_access(access(&all));
    let (message, _) = problem(&report(&lab), "proxmox rights");
    assert!(
        message.contains("more paths") && message.len() < 500,
        "{message}"
    );

    // Looking alone is no problem, but more than is needed.
    let grants = [
        &needed()[..],
        &[Acl::new("/storage/local", &["Datastore.Audit"])],
    ]
    .concat();
    server.set_access(access(&grants));
    let found = amiss(&report(&lab), "proxmox rights");
    assert!(
        matches!(&found[..], [one] if word(one, "level") == "warning"),
        "{found:?}"
    );
}

#[test]
fn a_guest_that_left_the_catalogue_is_named_with_the_command() {
    let grants = [&needed()[..], &[Acl::new("/vms/108", &BOTH)]].concat();
    let server = pve::start(access(&grants));
    let (message, next) = problem(&report(&pve::lab(&server)), "proxmox rights");
    assert!(
        message.contains("VM.Audit, VM.PowerMgmt on /vms/108"),
        "{message}"
    );
    assert_eq!(
        next,
        "pveum acl delete /vms/108 --users void@pve --tokens 'void@pve!actions' --roles VoidPower"
    );
}

#[test]
fn a_guest_that_is_no_longer_watched_is_named_too() {
    let grants = [&needed()[..], &[Acl::new("/vms/108", &["VM.Audit"])]].concat();
    let server = pve::start(access(&grants));
    let found = amiss(&report(&pve::lab(&server)), "proxmox rights");
    assert_eq!(word(&found[0], "level"), "warning", "{found:?}");
    assert!(
        word(&found[0], "next").ends_with("--roles VoidWatch"),
        "{found:?}"
    );
}

#[test]
fn a_token_that_may_too_little_is_named_with_the_guests() {
    let server = pve::start(access(&[Acl::new("/vms/107", &BOTH)]));
    let lab = pve::lab(&server);
    let found = amiss(&report(&lab), "proxmox rights");
    let messages: Vec<&str> = found.iter().map(|one| word(one, "message")).collect();
    let lacks = |name: &str| format!("the token lacks {name} for the guests 104");
    assert_eq!(messages, [lacks("VM.Audit"), lacks("VM.PowerMgmt")]);
    assert!(word(&found[0], "next").contains("void provision proxmox"));

    // With privilege separation, what only the token was given counts for nothing.
    let token = Token::separated("actions", pve::SECRET, needed());
    server.set_access(Access {
        users: vec![User::new("void@pve", Vec::new(), vec![token])],
        pools: Vec::new(),
    });
    let found = amiss(&report(&lab), "proxmox rights");
    assert!(
        word(&found[1], "message").ends_with("104, 107"),
        "{found:?}"
    );
}

#[test]
fn a_guest_that_a_service_watches_may_be_looked_at_and_must_be_seen() {
    let grants = [&needed()[..], &[Acl::new("/vms/108", &["VM.Audit"])]].concat();
    let server = pve::start(access(&grants));
    let mut lab = pve::lab(&server);
    let services = json!({"services": [{"id": "spare", "label": "Spare", "node": "z", "vmid": 108, "check": {"kind": "guest"}}]});
    fs::write(lab.path("services.json"), services.to_string()).unwrap();
    let path = lab.path("services.json").display().to_string();
    set(&mut lab, "SERVICES_CONFIG", &path);
    fine(&report(&lab), "proxmox rights");
    server.set_access(access(&needed()));
    let (message, next) = problem(&report(&lab), "proxmox rights");
    assert!(message.ends_with("108 (spare)"), "{message}");
    assert!(next.contains("void provision proxmox"), "{next}");
}

#[test]
fn another_certificate_is_named_with_the_one_it_shows() {
    let server = pve::start(access(&needed()));
    let mut lab = pve::lab(&server);
    let pinned = server.fingerprint();
    server.present(Certificate::Other).unwrap();
    let shown = server.fingerprint();
    let (message, next) = problem(&report(&lab), "proxmox certificate");
    assert!(
        message.contains(&pinned) && message.contains(&shown),
        "{message}"
    );
    assert!(next.starts_with("on the node: openssl x509 "), "{next}");
    assert!(
        next.ends_with(&format!("PROXMOX_FINGERPRINT={shown}")),
        "{next}"
    );
    assert_eq!(server.request_count(), 0, "it heard nothing from us");

    // A pin in the file is changed in the file.
    set(&mut lab, "PROXMOX_FINGERPRINT", "");
    let file = lab.data().join("void.toml");
    let before = fs::read_to_string(&file).unwrap();
    fs::write(
        &file,
        format!("{before}[proxmox]\nfingerprint = \"{pinned}\"\n"),
    )
    .unwrap();
    let (_, next) = problem(&report(&lab), "proxmox certificate");
    assert!(
        next.contains(&format!("fingerprint = \"{shown}\"")),
        "{next}"
    );
    assert!(next.ends_with("void.toml"), "{next}");

    // And without any, this is how one comes to a pin.
    fs::write(&file, before).unwrap();
    let (message, next) = problem(&report(&lab), "proxmox certificate");
    assert!(message.ends_with(&shown), "{message}");
    assert!(
        next.ends_with(&format!("PROXMOX_FINGERPRINT={shown}")),
        "{next}"
    );
    assert_eq!(server.request_count(), 0);
}

#[test]
fn an_expired_certificate_is_named_where_an_authority_is_trusted() {
    let server = pve::start(access(&needed()));
    let mut lab = pve::lab(&server);
    let file = lab.path("ca.pem");
    fs::write(&file, server.ca_pem()).unwrap();
    set(&mut lab, "PROXMOX_FINGERPRINT", "");
    set(&mut lab, "PROXMOX_CA_FILE", path(&file));
    fine(&report(&lab), "proxmox");
    server.present(Certificate::Expired).unwrap();
    let (message, next) = problem(&report(&lab), "proxmox certificate");
    assert!(message.contains("it has expired"), "{message}");
    assert!(next.contains("pvecm updatecerts --force"), "{next}");
    server.present(Certificate::Other).unwrap();
    let (_, next) = problem(&report(&lab), "proxmox certificate");
    assert!(next.contains("/etc/pve/pve-root-ca.pem"), "{next}");
}

#[test]
fn proxmox_is_judged_also_when_the_catalogue_is_refused() {
    let server = pve::start(access(&needed()));
    let lab = pve::lab(&server);
    fs::write(lab.path("actions.json"), "{").unwrap();
    let report = report(&lab);
    fine(&report, "proxmox");
    problem(&report, "catalogue");
    assert_eq!(amiss(&report, "proxmox rights").len(), 0);
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}
