//! Certificates: signed by the lab, pinned by fingerprint, expired, and somebody else's.

use std::net::TcpStream;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, Error, SignatureScheme};
use sha2::{Digest as _, Sha256};
use void_rehearsal::proxmox::{Certificate, ProxmoxServer};

use crate::lab::{self, ACTIONS};

#[test]
fn the_authority_vouches_for_loopback() {
    let server = lab::server();
    assert_eq!(lab::client(&server, ACTIONS).get("/version").status, 200);
    let fingerprint = server.fingerprint();
    assert_eq!(fingerprint.len(), 95);
    assert!(
        fingerprint
            .split(':')
            .all(|pair| pair.len() == 2 && pair == pair.to_uppercase())
    );
    assert_eq!(shown_by(&server), fingerprint);
}

#[test]
fn another_certificate_takes_over_at_once() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    let mut kept = client.connect().unwrap();
    assert_eq!(kept.send("GET", "/version", "").unwrap().status, 200);
    let first = server.fingerprint();
    for (certificate, problem) in [
        (Certificate::Expired, "certificate expired"),
        (Certificate::Other, "UnknownIssuer"),
    ] {
        server.present(certificate).unwrap();
        assert!(kept.send("GET", "/version", "").is_err());
        let error = client.send("GET", "/version", "").unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
        assert_ne!(server.fingerprint(), first);
        assert_eq!(shown_by(&server), server.fingerprint());
    }
    server.present(Certificate::Valid).unwrap();
    assert_eq!(client.get("/version").status, 200);
    assert_ne!(server.fingerprint(), first);
}

/// The fingerprint that a client sees which trusts everybody, computed here.
fn shown_by(server: &ProxmoxServer) -> String {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(TrustsEverybody))
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let mut session = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut socket = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    while session.is_handshaking() {
        session.complete_io(&mut socket).unwrap();
    }
    let chain = session.peer_certificates().unwrap();
    assert_eq!(chain.len(), 1);
    let pairs: Vec<String> = Sha256::digest(&chain[0])
        .iter()
        .map(|byte| format!("{byte:02X}"))
        .collect();
    pairs.join(":")
}

#[derive(Debug)]
struct TrustsEverybody;

impl ServerCertVerifier for TrustsEverybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ECDSA_NISTP256_SHA256]
    }
}
