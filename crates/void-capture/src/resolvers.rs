//! From a name to its addresses. The resolver is an argument: what it says is judged, whoever it is.

use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;

pub type Resolution<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

pub trait Resolve: Send + Sync {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolution<'a>;
}

/// The machine's own: its hosts file and its name servers.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolution<'a> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}
