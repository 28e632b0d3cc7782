//! Certificates: a cluster's own authority, the node's certificate it signs, and their fingerprints.
//!
//! As in a real cluster, clients have the authority's certificate or pin the node's fingerprint, and the
//! server presents the node's certificate alone. Keys are ECDSA P-256 where Proxmox has RSA.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, SanType, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use sha2::{Digest as _, Sha256};

/// What the server presents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certificate {
    /// Signed by the lab's authority and valid.
    Valid,
    /// Signed by the lab's authority, valid until 2021.
    Expired,
    /// Valid, but another key and another authority: somebody else's server.
    Other,
}

/// The lab's authority.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// A certificate to present, and how Proxmox prints its fingerprint.
pub(crate) struct Presented {
    pub tls: Arc<ServerConfig>,
    pub fingerprint: String,
}

impl Authority {
    /// `unit` tells one authority from another, as the cluster's number does in Proxmox.
    pub(crate) fn new(unit: &str) -> io::Result<Self> {
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.distinguished_name = name(
            "PVE Cluster Manager CA",
            unit,
            "Proxmox Virtual Environment",
        );
        (params.not_before, params.not_after) =
            (date_time_ymd(2015, 1, 1), date_time_ymd(2049, 12, 31));
        let certificate = params.self_signed(&key).map_err(io::Error::other)?;
        Ok(Self {
            pem: certificate.pem(),
            issuer: Issuer::new(params, key),
        })
    }

    pub(crate) fn pem(&self) -> &str {
        &self.pem
    }

    /// A new certificate of this kind.
    pub(crate) fn present(&self, certificate: Certificate) -> io::Result<Presented> {
        match certificate {
            Certificate::Valid => self.issue(2049),
            Certificate::Expired => self.issue(2021),
            Certificate::Other => Self::new("somebody else")?.issue(2049),
        }
    }

    fn issue(&self, last_year: i32) -> io::Result<Presented> {
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let mut params =
            CertificateParams::new(vec!["localhost".to_owned()]).map_err(io::Error::other)?;
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        params.subject_alt_names.push(SanType::IpAddress(loopback));
        params.distinguished_name = name(
            "Proxmox Virtual Environment",
            "PVE Cluster Node",
            "rehearsal",
        );
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        (params.not_before, params.not_after) =
            (date_time_ymd(2019, 1, 1), date_time_ymd(last_year, 12, 31));
        let certificate = params
            .signed_by(&key, &self.issuer)
            .map_err(io::Error::other)?;
        let fingerprint = fingerprint(certificate.der());
        let private = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], private)
            .map_err(io::Error::other)?;
        Ok(Presented {
            tls: Arc::new(tls),
            fingerprint,
        })
    }
}

fn name(organisation: &str, unit: &str, common: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::OrganizationName, organisation);
    name.push(DnType::OrganizationalUnitName, unit);
    name.push(DnType::CommonName, common);
    name
}

/// SHA-256 in upper-case pairs with colons.
fn fingerprint(der: &[u8]) -> String {
    let pairs: Vec<String> = Sha256::digest(der)
        .iter()
        .map(|byte| format!("{byte:02X}"))
        .collect();
    pairs.join(":")
}
