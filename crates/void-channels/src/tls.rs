//! TLS as a client. A certificate is trusted because it is the pinned one, or because an authority
//! that was named signed it. There is no way to switch that off.
//!
//! A pinned certificate may have expired: the pin says which one it is, and nobody renews a pin by date.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore,
    SignatureScheme,
};
use void_domain::digests::Digest;
use void_domain::failures::FailureCode;
use void_domain::proposals::Failure;

/// Why a server is believed to be the right one.
#[derive(Debug, Clone)]
pub enum Trust {
    /// Its certificate has this SHA-256.
    Pinned(Digest),
    /// One of these signed it, for this name, and it is valid today.
    Authorities(Arc<RootCertStore>),
}

#[derive(Debug)]
pub struct UnusableAuthorities(String);

impl fmt::Display for UnusableAuthorities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UnusableAuthorities {}

impl Trust {
    /// The authorities of a PEM file.
    pub fn from_file(path: &Path) -> Result<Self, UnusableAuthorities> {
        let unusable =
            |error: &dyn fmt::Display| UnusableAuthorities(format!("{}: {error}", path.display()));
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(path).map_err(|error| unusable(&error))? {
            let certificate = certificate.map_err(|error| unusable(&error))?;
            roots.add(certificate).map_err(|error| unusable(&error))?;
        }
        if roots.is_empty() {
            return Err(unusable(&"no certificate in it"));
        }
        Ok(Self::Authorities(Arc::new(roots)))
    }

    /// The authorities of a machine's bundle, but for those that cannot be read.
    pub fn from_bundle(path: &Path) -> Result<Self, UnusableAuthorities> {
        let certificates = CertificateDer::pem_file_iter(path)
            .map_err(|error| UnusableAuthorities(format!("{}: {error}", path.display())))?;
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates.filter_map(Result::ok));
        Ok(Self::Authorities(Arc::new(roots)))
    }

    /// Every connection shows its certificate: none is resumed.
    pub fn client_config(&self) -> Result<Arc<ClientConfig>, rustls::Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = Verifier::new(self, &provider)?;
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        config.resumption = Resumption::disabled();
        Ok(Arc::new(config))
    }
}

/// A certificate that is not trusted, with the fingerprint that an owner can compare.
#[derive(Debug, Clone)]
pub(crate) struct WrongCertificate {
    pub shown: Digest,
    why: Why,
}

#[derive(Debug, Clone)]
enum Why {
    NotPinned(Digest),
    Expired,
    UnknownAuthority,
    WrongName,
    Other(String),
}

impl WrongCertificate {
    pub(crate) fn to_failure(&self, who: &str) -> Failure {
        let code = match self.why {
            Why::Expired => FailureCode::CertificateExpired,
            Why::NotPinned(_) | Why::UnknownAuthority | Why::WrongName | Why::Other(_) => {
                FailureCode::WrongCertificate
            }
        };
        Failure::new(code, format!("{who}: {self}"))
    }
}

impl fmt::Display for WrongCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("its certificate is not trusted: ")?;
        match &self.why {
            Why::NotPinned(pinned) => write!(f, "pinned is {}", pinned.to_fingerprint())?,
            Why::Expired => f.write_str("it has expired")?,
            Why::UnknownAuthority => f.write_str("none of the named authorities signed it")?,
            Why::WrongName => f.write_str("it was made for another name")?,
            Why::Other(why) => f.write_str(why)?,
        }
        write!(f, ", shown was {}", self.shown.to_fingerprint())
    }
}

impl std::error::Error for WrongCertificate {}

/// Finds the certificate that was refused in an error of the handshake.
pub(crate) fn wrong_certificate(error: &std::io::Error) -> Option<WrongCertificate> {
    let error = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    match error {
        rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(cause))) => {
            cause.downcast_ref::<WrongCertificate>().cloned()
        }
        _ => None,
    }
}

#[derive(Debug)]
struct Verifier {
    rule: Rule,
    provider: Arc<CryptoProvider>,
}

#[derive(Debug)]
enum Rule {
    Pinned(Digest),
    Authorities(Arc<WebPkiServerVerifier>),
}

impl Verifier {
    fn new(trust: &Trust, provider: &Arc<CryptoProvider>) -> Result<Self, rustls::Error> {
        let rule = match trust {
            Trust::Pinned(digest) => Rule::Pinned(*digest),
            Trust::Authorities(roots) => {
                let roots = Arc::clone(roots);
                let verifier =
                    WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(provider))
                        .build()
                        .map_err(|error| rustls::Error::General(error.to_string()))?;
                Rule::Authorities(verifier)
            }
        };
        let provider = Arc::clone(provider);
        Ok(Self { rule, provider })
    }
}

fn why(error: rustls::Error) -> Why {
    let rustls::Error::InvalidCertificate(error) = error else {
        return Why::Other(error.to_string());
    };
    match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => Why::Expired,
        CertificateError::UnknownIssuer => Why::UnknownAuthority,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            Why::WrongName
        }
        other => Why::Other(other.to_string()),
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        stapled: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let shown = Digest::of(leaf);
        let why = match &self.rule {
            Rule::Pinned(pinned) if *pinned == shown => return Ok(ServerCertVerified::assertion()),
            Rule::Pinned(pinned) => Why::NotPinned(*pinned),
            Rule::Authorities(verifier) => {
                match verifier.verify_server_cert(leaf, between, name, stapled, now) {
                    Ok(verified) => return Ok(verified),
                    Err(error) => why(error),
                }
            }
        };
        let wrong = OtherError(Arc::new(WrongCertificate { shown, why }));
        let error = CertificateError::Other(wrong);
        Err(rustls::Error::InvalidCertificate(error))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
