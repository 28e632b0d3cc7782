//! Fetching one document: every hop is judged anew, and the connection goes to an address that was judged.
//!
//! The invariant: between judging an address and connecting to it no name is looked up. A name whose answer
//! holds one address that is not allowed is refused as a whole, so that an answer which mixes public and
//! private addresses gets nobody anywhere. Nothing of the person or the server goes along: no cookies, no
//! credentials, no referrer, no proxy. One connection per hop, closed after it.

mod connections;
mod exchanges;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::sync::OnceCell;
use url::Host;

use self::exchanges::Reply;
use crate::addresses::AddressClass;
use crate::allowances::{Allowances, WEB_PORTS};
use crate::documents::Fetched;
use crate::errors::{CaptureError, FetchError, Refusal};
use crate::limits::{ADDRESSES_TRIED_MAX, CAPTURE_TIMEOUT, CONNECT_TIMEOUT, REDIRECTS_MAX};
use crate::resolvers::Resolve;
use crate::targets::Target;

/// How long to wait for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchPatience {
    /// For one address, with its TLS handshake.
    pub connect: Duration,
    /// For everything.
    pub whole: Duration,
}

impl Default for FetchPatience {
    fn default() -> Self {
        Self {
            connect: CONNECT_TIMEOUT,
            whole: CAPTURE_TIMEOUT,
        }
    }
}

#[derive(Clone)]
pub struct Fetcher {
    allowances: Allowances,
    resolver: Arc<dyn Resolve>,
    /// Empty until the first page is asked for by https, where nothing else was given.
    tls: Arc<OnceCell<Arc<ClientConfig>>>,
    patience: FetchPatience,
}

/// Certificates are checked against the authorities that the machine trusts; reading them takes a moment.
pub fn system_tls() -> Result<Arc<ClientConfig>, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth();
    Ok(Arc::new(config))
}

impl Fetcher {
    pub fn new(
        allowances: Allowances,
        resolver: Arc<dyn Resolve>,
        tls: Arc<ClientConfig>,
        patience: FetchPatience,
    ) -> Self {
        Self {
            tls: Arc::new(OnceCell::new_with(Some(tls))),
            ..Self::of_this_machine(allowances, resolver, patience)
        }
    }

    /// With the authorities that this machine trusts, which are read when they are first needed.
    pub fn of_this_machine(
        allowances: Allowances,
        resolver: Arc<dyn Resolve>,
        patience: FetchPatience,
    ) -> Self {
        Self {
            allowances,
            resolver,
            tls: Arc::default(),
            patience,
        }
    }

    /// What certificates are checked with, if the target has one to show.
    async fn tls_for(&self, target: &Target) -> Result<Option<Arc<ClientConfig>>, FetchError> {
        if !target.is_secure() {
            return Ok(None);
        }
        let read = async || {
            let read = tokio::task::spawn_blocking(system_tls).await;
            let none = rustls::Error::General("reading them was given up".to_owned());
            read.unwrap_or(Err(none)).map_err(FetchError::Authorities)
        };
        self.tls
            .get_or_try_init(read)
            .await
            .map(Arc::clone)
            .map(Some)
    }

    pub fn patience(&self) -> FetchPatience {
        self.patience
    }

    pub async fn fetch(&self, url: &str) -> Result<Fetched, CaptureError> {
        let fetched = tokio::time::timeout(self.patience.whole, self.follow(url)).await;
        fetched.unwrap_or(Err(CaptureError::TimedOut))
    }

    async fn follow(&self, url: &str) -> Result<Fetched, CaptureError> {
        let mut target = Target::parse(url)?;
        let mut visited = vec![target.url().clone()];
        loop {
            let location = match self.ask(&target).await? {
                Reply::Document(fetched) => return Ok(fetched),
                Reply::Moved(location) => location,
            };
            target = target.redirected(&location)?;
            let circle = visited.contains(target.url());
            if circle || visited.len() > REDIRECTS_MAX {
                return Err(FetchError::Redirects { circle }.into());
            }
            visited.push(target.url().clone());
        }
    }

    /// One hop: look up, judge, connect, ask.
    async fn ask(&self, target: &Target) -> Result<Reply, CaptureError> {
        let addresses = self.judged_addresses(target).await?;
        let tls = self.tls_for(target).await?;
        let mut last = None;
        for address in addresses.into_iter().take(ADDRESSES_TRIED_MAX) {
            let patience = self.patience.connect;
            let opened = connections::open(target, address, tls.as_ref(), patience).await;
            match opened {
                Ok(connection) => return exchanges::get(target, connection).await,
                Err(error) => last = Some(error),
            }
        }
        let host = target.host().to_string();
        let none = FetchError::UnknownHost { host, cause: None };
        Err(last.unwrap_or(none).into())
    }

    /// The addresses of the target's host, all of which may be asked.
    async fn judged_addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, CaptureError> {
        let host = target.host().to_string();
        let found = match target.host() {
            Host::Ipv4(address) => vec![IpAddr::V4(*address)],
            Host::Ipv6(address) => vec![IpAddr::V6(*address)],
            Host::Domain(name) => {
                let found = self.resolver.resolve(name).await;
                found.map_err(|cause| FetchError::UnknownHost {
                    host: host.clone(),
                    cause: Some(cause),
                })?
            }
        };
        let mut judged = Vec::with_capacity(found.len());
        for address in found {
            // What is judged is what is connected to: a mapped address is its IPv4 address.
            let address = address.to_canonical();
            self.judge(&host, address, target.port())?;
            judged.push(SocketAddr::new(address, target.port()));
        }
        Ok(judged)
    }

    fn judge(&self, host: &str, address: IpAddr, port: u16) -> Result<(), Refusal> {
        if self.allowances.open(host, address, port) {
            return Ok(());
        }
        let host = host.to_owned();
        match AddressClass::of(address) {
            AddressClass::Public if !WEB_PORTS.contains(&port) => Err(Refusal::Port { host, port }),
            class => Err(Refusal::Address {
                host,
                address,
                class,
            }),
        }
    }
}
