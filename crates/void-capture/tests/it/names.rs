//! Resolvers of the tests, and fetchers that use them.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::{ClientConfig, RootCertStore};
use void_capture::{Allowances, FetchPatience, Fetcher, Resolution, Resolve};

/// Each look-up of a name gets the next of its answers, the last one again and again.
#[derive(Default)]
pub(crate) struct Names {
    answers: BTreeMap<String, Vec<Vec<IpAddr>>>,
    asked: Mutex<Vec<String>>,
    /// What every other name gets.
    others: Option<Vec<IpAddr>>,
}

impl Names {
    pub(crate) fn none() -> Arc<Self> {
        Arc::new(Self::default())
    }

    pub(crate) fn of(name: &str, answers: &[&[&str]]) -> Arc<Self> {
        let parse = |answer: &&[&str]| answer.iter().map(|it| it.parse().unwrap()).collect();
        let answers = answers.iter().map(parse).collect();
        Arc::new(Self {
            answers: BTreeMap::from([(name.to_owned(), answers)]),
            ..Self::default()
        })
    }

    pub(crate) fn all_at(address: &str) -> Arc<Self> {
        Arc::new(Self {
            others: Some(vec![address.parse().unwrap()]),
            ..Self::default()
        })
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolution<'a> {
        let mut asked = self.asked.lock().unwrap();
        let before = asked.iter().filter(|name| *name == host).count();
        asked.push(host.to_owned());
        let answer = match self.answers.get(host) {
            Some(answers) => Some(answers[before.min(answers.len() - 1)].clone()),
            None => self.others.clone(),
        };
        Box::pin(async move { answer.ok_or_else(|| io::Error::other("no such name")) })
    }
}

/// Long for what comes, short for what does not.
pub(crate) const SHORT: Duration = Duration::from_millis(400);
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) fn no_authorities() -> Arc<ClientConfig> {
    client_config(RootCertStore::empty())
}

pub(crate) fn client_config(roots: RootCertStore) -> Arc<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    Arc::new(config)
}

pub(crate) fn fetcher(allowed: &[&str], names: &Arc<Names>) -> Fetcher {
    fetcher_with(allowed, names, no_authorities(), LONG)
}

pub(crate) fn fetcher_with(
    allowed: &[&str],
    names: &Arc<Names>,
    tls: Arc<ClientConfig>,
    whole: Duration,
) -> Fetcher {
    let allowances = Allowances::parse(allowed).unwrap();
    let patience = FetchPatience {
        connect: LONG,
        whole,
    };
    let names: Arc<dyn Resolve> = Arc::<Names>::clone(names);
    Fetcher::new(allowances, names, tls, patience)
}
