//! The machines of the catalogue: what their keys and lists are, and trusting a key.

use serde_json::json;
use void_channels::{HostKey, HostList};
use void_domain::hosts::{Host, HostName, Reach};
use void_domain::proposals::Failure;
use void_store::StoreError;

use crate::context::Ctx;
use crate::control::Control;
use crate::{facts, instances};

#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("only the owner trusts host keys")]
    OwnerOnly,
    #[error("the catalogue has no host of that name")]
    NotFound,
    #[error("this host is reached without SSH; there is no key to trust")]
    NoKey,
    #[error("the catalogue pins this host's key; change it there")]
    Pinned,
    #[error("a fingerprint is SHA256: and 43 characters")]
    InvalidFingerprint,
    #[error("the host shows {0}, not that fingerprint; nothing was trusted")]
    Mismatch(String),
    #[error("the known-hosts file cannot be written: {0}")]
    Unwritable(std::io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What is known about a host without asking it.
#[derive(Debug, Clone)]
pub struct HostView {
    pub host: Host,
    pub trusted: Vec<HostKey>,
    pub actions: usize,
}

pub fn list(control: &Control) -> Vec<HostView> {
    control
        .in_force
        .catalogue
        .hosts()
        .map(|host| HostView {
            host: host.clone(),
            trusted: match &host.reach {
                Reach::Local => Vec::new(),
                Reach::Ssh(address) => control
                    .runs
                    .channels
                    .probe()
                    .keys_trusted(&host.name, address),
            },
            actions: control.in_force.catalogue.actions_on(&host.name).count(),
        })
        .filter(|view| view.actions > 0 || matches!(view.host.reach, Reach::Ssh(_)))
        .collect()
}

/// Whether the catalogue has actions for this machine, and nobody has set it up to run any.
pub async fn is_local_missing(control: &Control) -> bool {
    let mut hosts = control.in_force.catalogue.hosts();
    let runs_here = hosts.any(|host| {
        host.reach == Reach::Local
            && control
                .in_force
                .catalogue
                .actions_on(&host.name)
                .next()
                .is_some()
    });
    runs_here && control.runs.channels.probe().lacks_local_list().await
}

/// What a host answers now.
#[derive(Debug, Clone)]
pub struct HostCheck {
    pub answer: Result<HostList, Failure>,
    pub drift: Option<String>,
}

/// Asks a host for its list, and what of it could not be started. Changes nothing there. The `local` of another instance is not asked: what
/// answers here is another machine.
pub async fn check(control: &Control, host: &Host) -> Result<HostCheck, StoreError> {
    if let Some(failure) = instances::why_not_asked(control, host).await? {
        return Ok(HostCheck {
            answer: Err(failure),
            drift: None,
        });
    }
    let probe = control.runs.channels.probe();
    let answer = probe.check(host).await;
    let drift = answer
        .as_ref()
        .ok()
        .and_then(|list| probe.drift(&host.name, list));
    Ok(HostCheck { answer, drift })
}

/// Trusts the key with this fingerprint, if that is the one the host shows.
pub async fn trust(
    control: &Control,
    ctx: &Ctx,
    name: &str,
    fingerprint: &str,
) -> Result<HostKey, TrustError> {
    if !ctx.actor.is_owner() {
        return Err(TrustError::OwnerOnly);
    }
    let name = HostName::parse(name).ok_or(TrustError::NotFound)?;
    let host = control
        .in_force
        .catalogue
        .host(&name)
        .ok_or(TrustError::NotFound)?;
    let Reach::Ssh(address) = &host.reach else {
        return Err(TrustError::NoKey);
    };
    if address.host_key.is_some() {
        return Err(TrustError::Pinned);
    }
    let wanted =
        HostKey::parse_fingerprint(fingerprint).map_err(|_| TrustError::InvalidFingerprint)?;
    let shown = control.runs.channels.probe().keys_shown(address).await;
    let Some(key) = shown.iter().find(|key| key.fingerprint == wanted).cloned() else {
        let shown: Vec<String> = shown.into_iter().map(|key| key.fingerprint).collect();
        return Err(TrustError::Mismatch(if shown.is_empty() {
            "no key".to_owned()
        } else {
            shown.join(", ")
        }));
    };
    let at = control.clock.now();
    let detail =
        json!({"fingerprint": key.fingerprint, "address": address.address, "port": address.port});
    let (context, subject) = (control.context(ctx), name.to_string());
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                facts::audit(tx, &context, at, "host.trusted", Some(subject), detail).await
            })
        })
        .await?;
    control
        .runs
        .channels
        .trust(&name, &key)
        .map_err(TrustError::Unwritable)?;
    Ok(key)
}
