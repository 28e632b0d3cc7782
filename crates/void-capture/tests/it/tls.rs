//! https: whoever cannot show that it is who it is called is not read.

use std::sync::Arc;

use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;
use void_capture::{CaptureError, FetchError};

use crate::names::{LONG, Names, client_config, fetcher_with};
use crate::servers::{Server, page};

/// An authority and a server that it vouches for under this name.
fn authority(name: &str) -> (RootCertStore, TlsAcceptor) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec![name.to_owned()]).unwrap();
    let leaf = leaf.signed_by(&key, &issuer).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(issuer.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![leaf.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    (roots, TlsAcceptor::from(Arc::new(config)))
}

async fn fetch(
    host: &str,
    roots: RootCertStore,
    tls: Option<TlsAcceptor>,
) -> Result<Vec<u8>, CaptureError> {
    let server = Server::start_with(|_| page("<p>sealed"), tls).await;
    let port = server.port();
    let allowed = [format!("{host}:{port}"), format!("127.0.0.1:{port}")];
    let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
    let names = Names::all_at("127.0.0.1");
    let fetcher = fetcher_with(&allowed, &names, client_config(roots), LONG);
    let fetched = fetcher.fetch(&format!("https://{host}:{port}/")).await?;
    Ok(fetched.bytes)
}

#[tokio::test]
async fn a_server_that_an_authority_vouches_for_is_read() {
    let (roots, tls) = authority("site.test");
    assert_eq!(
        fetch("site.test", roots, Some(tls)).await.unwrap(),
        b"<p>sealed"
    );
    let (roots, tls) = authority("127.0.0.1");
    assert_eq!(
        fetch("127.0.0.1", roots, Some(tls)).await.unwrap(),
        b"<p>sealed"
    );
}

#[tokio::test]
async fn a_certificate_that_nobody_knows_or_of_another_is_refused() {
    let (_, tls) = authority("site.test");
    let (strangers, _) = authority("site.test");
    let (roots, others) = authority("other.test");
    for (roots, tls) in [(strangers, tls), (roots, others)] {
        let refused = fetch("site.test", roots, Some(tls)).await.unwrap_err();
        let is_certificate = matches!(refused, CaptureError::Fetch(FetchError::Certificate { .. }));
        assert!(is_certificate, "{refused:?}");
        assert_eq!(
            refused.to_string(),
            "site.test cannot show that it is site.test: its certificate is not trusted"
        );
    }
}

#[tokio::test]
async fn a_server_without_tls_is_no_https() {
    let (roots, _) = authority("site.test");
    let refused = fetch("site.test", roots, None).await.unwrap_err();
    assert_eq!(refused.code(), "capture_unreachable", "{refused:?}");
}

#[test]
fn the_machines_authorities_can_be_read_or_are_said_to_be_missing() {
    // Without a bundle of certificates there is no configuration, and never one that trusts everybody.
    if let Ok(config) = void_capture::system_tls() {
        assert!(config.alpn_protocols.is_empty());
        assert!(!config.client_auth_cert_resolver.has_certs());
    }
}
