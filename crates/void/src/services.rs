//! Loads the services file once, and says how services are asked.

use std::collections::BTreeMap;
use std::path::Path;

use void_channels::{Checker, Trust};
use void_domain::catalogue::Catalogue;
use void_domain::services::{Service, Services};

use crate::catalogue::{describe, read};
use crate::exit::CommandError;
use crate::settings::{Settings, Source};

/// Where Debian keeps the authorities that a machine trusts.
pub(crate) const AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";

/// The services of the settings. A file that was named must be there; without any, nothing is watched.
pub(crate) fn load(settings: &Settings) -> Result<Services, CommandError> {
    let path = &settings.services.value;
    if settings.services.source == Source::Default && !path.exists() {
        return Ok(Services::default());
    }
    let text = read(path)?;
    Services::parse(&text).map_err(|findings| {
        let lines: Vec<String> = findings
            .iter()
            .map(|finding| describe(path, finding))
            .collect();
        CommandError::config(format!(
            "the services file is refused as a whole:\n{}",
            lines.join("\n")
        ))
        .next(format!("correct {}", path.display()))
    })
}

/// What tells one definition of a service from another, by its id.
pub(crate) fn digests<'a>(
    services: impl IntoIterator<Item = &'a Service>,
) -> BTreeMap<String, String> {
    services
        .into_iter()
        .map(|service| (service.id.to_string(), service.digest().to_string()))
        .collect()
}

/// Actions whose check is a service that nobody watches: they run and stay unconfirmed.
pub(crate) fn unknown_checks(catalogue: &Catalogue, services: &Services) -> Vec<String> {
    let mut unknown = Vec::new();
    for action in catalogue.actions() {
        if let Some(id) = &action.execution.verify
            && services.get(id).is_none()
        {
            unknown.push(format!(
                "{}: its check is the service {id}, which is not in the services file; it will stay unconfirmed",
                action.id
            ));
        }
    }
    unknown
}

/// Trusts whom the machine trusts; a service with a certificate of its own making is pinned instead.
pub(crate) fn checker() -> Checker {
    Checker::new(Trust::from_bundle(Path::new(AUTHORITIES)).ok().as_ref())
}
