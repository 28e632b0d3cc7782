//! Host keys: nothing is accepted silently, whatever the server shows and whatever stands in the
//! managed file. In none of these cases does anything run.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use void_channels::HostKey;
use void_domain::hosts::{HostName, Reach};
use void_testkit::sshd::Sshd;

use crate::lab::{
    HOST, Lab, Listed, address, catalogue, channels, channels_with, done, failed, local_config,
    ssh_config, usual,
};

/// A host whose key the catalogue does not pin.
fn unpinned() -> Lab {
    let sshd = Sshd::start();
    let hosts = json!({HOST: address(&sshd, None)});
    Lab::behind(sshd, &usual()).with_hosts(&usual(), &hosts)
}

fn keygen(args: &[&str]) -> String {
    let output = Command::new("ssh-keygen").args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn fingerprint(lab: &Lab) -> String {
    let line = keygen(&["-lf", text(&lab.sshd.path("host_key.pub"))]);
    line.split(' ').nth(1).unwrap().to_owned()
}

async fn shown(lab: &Lab) -> HostKey {
    let Reach::Ssh(address) = lab.host().reach else {
        panic!("reached by SSH");
    };
    let keys = lab.channels.probe().keys_shown(&address).await;
    let [key] = &keys[..] else {
        panic!("it has one key: {keys:?}");
    };
    key.clone()
}

/// A new key of nobody, as a line.
fn new_key(lab: &Lab, name: &str) -> String {
    let path = lab.client.path().join(name);
    keygen(&["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", text(&path)]);
    let line = fs::read_to_string(path.with_extension("pub")).unwrap();
    line.trim().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_key_is_refused_until_the_owner_trusts_its_fingerprint() {
    let lab = unpinned();
    let failure = failed(lab.run("stop-it").await, "host_key_unknown");
    assert!(failure.message.contains(&fingerprint(&lab)), "{failure:?}");
    assert!(failure.message.contains("void hosts trust lab"));
    failed(lab.run("start-it").await, "host_key_unknown");
    assert_eq!((lab.effects().len(), lab.sshd.logins()), (0, 0));
    let key = shown(&lab).await;
    assert_eq!(key.fingerprint, fingerprint(&lab));
    assert_eq!(
        HostKey::parse_fingerprint(&key.fingerprint),
        Ok(&*key.fingerprint)
    );
    lab.channels.trust(&lab.host().name, &key).unwrap();
    done(lab.run("stop-it").await);
    assert_eq!(lab.effects().len(), 1);
    // It is on disk: another start of Void knows it too.
    let again = channels(&lab.catalogue, &lab.sshd, lab.client.path());
    assert!(again.probe().list(&lab.host()).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn r_s8_a_changed_key_is_refused_with_both_fingerprints() {
    for pinned in [true, false] {
        let mut lab = if pinned {
            Lab::new(&usual())
        } else {
            unpinned()
        };
        if !pinned {
            let key = shown(&lab).await;
            lab.channels.trust(&lab.host().name, &key).unwrap();
        }
        done(lab.run("stop-it").await);
        let before = fingerprint(&lab);
        lab.sshd.change_host_key();
        lab.sshd.restart();
        let failure = failed(lab.run("stop-it").await, "host_key_changed");
        for known in [before, fingerprint(&lab)] {
            assert!(failure.message.contains(&known), "{failure:?}");
        }
        assert_eq!(lab.effects().len(), 1);
    }
}

/// The owner looked and trusts the new key: the old one is worth nothing any more, not even on a
/// connection that is still open.
#[tokio::test(flavor = "multi_thread")]
async fn trusting_another_key_ends_the_trust_in_the_first() {
    let lab = unpinned();
    let key = shown(&lab).await;
    lab.channels.trust(&lab.host().name, &key).unwrap();
    done(lab.run("stop-it").await);
    let other = new_key(&lab, "other");
    fs::write(
        lab.client.path().join("scan"),
        format!("#!/bin/sh\necho 'x {other}'\n"),
    )
    .unwrap();
    let other = scanned(&lab, &other).await;
    lab.channels.trust(&lab.host().name, &other).unwrap();
    failed(lab.run("stop-it").await, "host_key_changed");
    assert_eq!(lab.effects().len(), 1);
    let line = fs::read_to_string(lab.known_hosts()).unwrap();
    assert_eq!(line, format!("{HOST} {}\n", other.line));
}

/// A [`HostKey`] of any line, from a scan that shows it.
async fn scanned(lab: &Lab, line: &str) -> HostKey {
    let script = lab
        .sshd
        .install("keyscan", &format!("#!/bin/sh\necho 'x {line}'\n"));
    let mut config = ssh_config(&lab.sshd, lab.client.path());
    config.keyscan = script;
    let channels = channels_with(&lab.catalogue, config, local_config(&lab.sshd)).unwrap();
    let Reach::Ssh(address) = lab.host().reach else {
        panic!("reached by SSH");
    };
    channels.probe().keys_shown(&address).await.remove(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pinned_key_is_the_only_one_that_counts() {
    let lab = unpinned();
    let key = shown(&lab).await;
    lab.channels.trust(&lab.host().name, &key).unwrap();
    let wrong = new_key(&lab, "wrong");
    let hosts = json!({HOST: address(&lab.sshd, Some(&wrong))});
    let lab = lab.with_hosts(&usual(), &hosts);
    failed(lab.run("stop-it").await, "host_key_changed");
    failed(lab.run("start-it").await, "host_key_changed");
    assert_eq!((lab.effects().len(), lab.sshd.logins()), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_one_host_does_not_serve_another() {
    let other = Sshd::start();
    let lab = Lab::new(&usual());
    let listed = [
        Listed::risky("stop-it", json!(["@/effect"])),
        Listed::risky("stop-pinned", json!(["@/effect"])).on("pinned"),
        Listed::risky("stop-unpinned", json!(["@/effect"])).on("unpinned"),
    ];
    // Both other names lead to the machine behind `lab`.
    let hosts = json!({
        HOST: address(&lab.sshd, Some(&lab.sshd.host_key)),
        "pinned": address(&lab.sshd, Some(&other.host_key)),
        "unpinned": address(&lab.sshd, None),
    });
    let lab = lab.with_hosts(&listed, &hosts);
    lab.write_list(&lab.list(&listed));
    done(lab.run("stop-it").await);
    failed(lab.run("stop-pinned").await, "host_key_changed");
    failed(lab.run("stop-unpinned").await, "host_key_unknown");
    let name = HostName::parse("other").unwrap();
    let key = shown(&lab).await;
    lab.channels.trust(&name, &key).unwrap();
    failed(lab.run("stop-unpinned").await, "host_key_unknown");
    assert_eq!((lab.effects().len(), lab.sshd.logins()), (1, 1));
}

/// Everything else that `ssh` would take for trust in a known-hosts file.
#[tokio::test(flavor = "multi_thread")]
async fn r_s8_authorities_and_patterns_in_the_managed_file_grant_nothing() {
    let mut lab = unpinned();
    let authority = new_key(&lab, "authority");
    let (signer, public) = (
        lab.client.path().join("authority"),
        lab.sshd.path("host_key.pub"),
    );
    let names = format!("{HOST},127.0.0.1");
    keygen(&[
        "-q",
        "-s",
        text(&signer),
        "-I",
        "x",
        "-h",
        "-n",
        &names,
        text(&public),
    ]);
    let certificate = lab.sshd.path("host_key-cert.pub");
    lab.sshd
        .push_option(&format!("HostCertificate={}", certificate.display()));
    lab.sshd.restart();
    let (key, port) = (lab.sshd.host_key.clone(), lab.sshd.port);
    // ssh-keygen -H hashes the names of a file in place.
    let hashed = lab.client.path().join("hashed");
    fs::write(&hashed, format!("{HOST} {key}\n")).unwrap();
    keygen(&["-q", "-H", "-f", text(&hashed)]);
    let hashed = fs::read_to_string(&hashed).unwrap();
    let lines = [
        format!("@cert-authority * {authority}"),
        format!("@cert-authority {HOST} {authority}"),
        format!("@cert-authority 127.0.0.1,[127.0.0.1]:{port} {authority}"),
        format!("* {key}"),
        format!("{HOST},other {key}"),
        format!("l?b {key}"),
        format!("[127.0.0.1]:{port} {key}"),
        format!("127.0.0.1 {key}"),
        format!("LAB {key}"),
        format!("@trusted {HOST} {key}"),
        format!("@revoked * {authority}"),
        format!("{HOST} {authority}extra"),
        format!("# {HOST} {key}"),
        HOST.to_owned(),
        hashed,
    ];
    for line in lines {
        fs::write(lab.known_hosts(), format!("{line}\n")).unwrap();
        failed(lab.run("start-it").await, "host_key_unknown");
    }
    fs::write(lab.known_hosts(), [0xff, 0xfe, b'\n']).unwrap();
    failed(lab.run("start-it").await, "host_key_unknown");
    assert_eq!((lab.effects().len(), lab.sshd.logins()), (0, 0));
    // The plain line does, certificate or not, with blanks and a comment as people write them.
    fs::write(lab.known_hosts(), format!("# ours\n {HOST}\t{key}  nas\n")).unwrap();
    done(lab.run("start-it").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn r_s8_a_revoked_key_is_refused_wherever_it_is_trusted() {
    let lab = unpinned();
    let key = shown(&lab).await;
    let revoked = format!("@revoked * {}\n", key.line);
    fs::write(lab.known_hosts(), format!("{revoked}{HOST} {}\n", key.line)).unwrap();
    failed(lab.run("start-it").await, "host_key_revoked");
    assert!(lab.channels.trust(&lab.host().name, &key).is_err());
    let hosts = json!({HOST: address(&lab.sshd, Some(&lab.sshd.host_key))});
    let lab = lab.with_hosts(&usual(), &hosts);
    let failure = failed(lab.run("start-it").await, "host_key_revoked");
    assert!(failure.message.contains(&key.fingerprint));
    assert_eq!((lab.effects().len(), lab.sshd.logins()), (0, 0));
    // Trusting another key keeps the mark.
    let other = scanned(&lab, &new_key(&lab, "other")).await;
    lab.channels.trust(&lab.host().name, &other).unwrap();
    let text = fs::read_to_string(lab.known_hosts()).unwrap();
    assert_eq!(text, format!("{revoked}{HOST} {}\n", other.line));
}

/// A server may show more keys than the one we know; it is asked for that one.
#[tokio::test(flavor = "multi_thread")]
async fn r_s8_added_keys_neither_help_nor_hurt() {
    let mut lab = Lab::new(&usual());
    let more = lab.sshd.path("host_key_ecdsa");
    keygen(&["-q", "-t", "ecdsa", "-N", "", "-C", "", "-f", text(&more)]);
    let given = Command::new("chown")
        .args(["voidact", text(&more)])
        .status();
    assert!(given.unwrap().success());
    lab.sshd.push_option(&format!("HostKey={}", more.display()));
    lab.sshd.restart();
    done(lab.run("stop-it").await);
    let line = fs::read_to_string(more.with_extension("pub")).unwrap();
    let hosts: Value = json!({HOST: address(&lab.sshd, Some(line.trim()))});
    let pinned = catalogue(&usual(), &hosts);
    let channels = channels(&pinned, &lab.sshd, lab.client.path());
    let host = pinned.host(&lab.host().name).unwrap();
    assert!(channels.probe().list(host).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn trusts_made_at_once_are_all_kept() {
    let lab = unpinned();
    let key = shown(&lab).await;
    let names: Vec<HostName> = (0..20)
        .map(|n| HostName::parse(&format!("host-{n}")).unwrap())
        .collect();
    std::thread::scope(|scope| {
        for name in &names {
            scope.spawn(|| lab.channels.trust(name, &key).unwrap());
        }
    });
    let Reach::Ssh(address) = lab.host().reach else {
        panic!("reached by SSH");
    };
    for name in &names {
        let trusted = lab.channels.probe().keys_trusted(name, &address);
        assert_eq!(trusted, std::slice::from_ref(&key));
    }
}
