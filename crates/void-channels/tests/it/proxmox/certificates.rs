//! Who is trusted: the pinned certificate, or one that a named authority signed. Nobody else hears
//! anything from us.

use void_channels::{Trust, certificate_shown};
use void_domain::digests::Digest;
use void_rehearsal::proxmox::Certificate;

use super::{PATIENT, Pve, TOKEN, config};
use crate::lab::{done, failed};
use crate::sockets::{Canned, Does, Identity, says};

fn authority(pve: &Pve) -> Trust {
    let file = pve.folder.path().join("ca.pem");
    std::fs::write(&file, pve.server.ca_pem()).unwrap();
    Trust::from_file(&file).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn another_certificate_than_the_pinned_one_is_refused_with_its_fingerprint() {
    let pve = Pve::new();
    let pinned = pve.server.fingerprint();
    pve.server.present(Certificate::Other).unwrap();
    let failure = failed(pve.run("stop-107").await, "wrong_certificate");
    let shown = pve.server.fingerprint();
    assert!(failure.message.contains(&shown), "{failure:?}");
    assert!(failure.message.contains(&pinned), "{failure:?}");
    assert!(failure.message.ends_with("nothing was sent"));
    assert_eq!(pve.server.request_count(), 0);
    let seen = pve.channels.probe().proxmox_certificate().await.unwrap();
    assert_eq!(seen.to_fingerprint(), shown);
    assert_eq!(pve.server.request_count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_authority_vouches_until_the_certificate_expires() {
    let pve = Pve::new();
    let config = config(&pve.server.url(), TOKEN, &authority(&pve)).with_patience(PATIENT);
    let channels = pve.channels_with(config);
    let run = async || pve.execute(&channels, &pve.running("start-107")).await;
    done(run().await);
    let before = pve.server.request_count();
    pve.server.present(Certificate::Expired).unwrap();
    let failure = failed(run().await, "certificate_expired");
    assert!(failure.message.contains("it has expired"), "{failure:?}");
    assert!(failure.message.contains(&pve.server.fingerprint()));
    pve.server.present(Certificate::Other).unwrap();
    let failure = failed(run().await, "wrong_certificate");
    assert!(failure.message.contains("none of the named authorities"));
    assert_eq!(pve.server.request_count(), before);
    // A pin says which certificate it is, whatever its date.
    pve.server.present(Certificate::Expired).unwrap();
    let pinning = pve.channels_with(pve.config(TOKEN));
    done(pve.execute(&pinning, &pve.running("start-107")).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_for_another_name_is_refused() {
    let pve = Pve::new();
    let identity = Identity::new(&["pve.example"]);
    let server = Canned::secure(says(""), &identity).await;
    let file = pve.folder.path().join("own.pem");
    std::fs::write(&file, &identity.pem).unwrap();
    let url = format!("https://127.0.0.1:{}", server.port);
    let config = config(&url, TOKEN, &Trust::from_file(&file).unwrap());
    let outcome = pve
        .execute(&pve.channels_with(config), &pve.running("stop-107"))
        .await;
    let failure = failed(outcome, "wrong_certificate");
    assert!(failure.message.contains("another name"), "{failure:?}");
    assert!(server.received().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_certificate_is_shown_before_anything_is_set_up() {
    let pve = Pve::new();
    let shown = certificate_shown(&pve.server.url()).await.unwrap();
    assert_eq!(shown.to_fingerprint(), pve.server.fingerprint());
    assert_ne!(shown, Digest::ZERO);
    let plain = Canned::plain(Does::Greets(b"HTTP/1.1 400 Bad Request\r\n\r\n")).await;
    let url = format!("https://127.0.0.1:{}", plain.port);
    let failure = certificate_shown(&url).await.unwrap_err();
    assert_eq!(failure.code, "unreachable");
    assert!(failure.message.contains("TLS"), "{failure:?}");
    let failure = certificate_shown("http://127.0.0.1:8006")
        .await
        .unwrap_err();
    assert_eq!(failure.code, "not_configured");
    assert_eq!(pve.server.request_count(), 0);
}

#[test]
fn a_file_without_authorities_is_no_trust() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    assert!(Trust::from_file(&file).is_err());
    for text in [
        "",
        "nothing",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    ] {
        std::fs::write(&file, text).unwrap();
        let error = Trust::from_file(&file).unwrap_err().to_string();
        assert!(error.contains("ca.pem"), "{error}");
    }
}
