//! Proxmox, asked from here: settings, certificate, token, clock. Its rights are judged in `rights`.

use void_channels::{Channels, Probe, certificate_shown};
use void_domain::catalogue::{Catalogue, Lockout};
use void_domain::executions::Route;
use void_domain::failures::FailureCode;
use void_domain::proposals::Failure;

use super::super::counted;
use super::definitions::Definitions;
use super::findings::Findings;
use super::{clocks, rights};
use crate::commands::Session;
use crate::settings::Source;
use crate::{compose, proxmox};

const COMPARE: &str = "on the node: openssl x509 -noout -fingerprint -sha256 -in /etc/pve/local/pve-ssl.pem (pveproxy-ssl.pem, if it is there)";

pub(super) async fn check(
    session: &Session<'_>,
    definitions: &Definitions,
    findings: &mut Findings,
) {
    let Some(url) = &session.settings.proxmox.url.value else {
        check_absence(definitions, findings);
        return;
    };
    let Some(channels) = connect(session, url, definitions, findings).await else {
        return;
    };
    let probe = channels.probe();
    match probe.proxmox_server().await {
        Err(failure) => describe(session, url, &probe, &failure, findings).await,
        Ok(server) => {
            findings.fine("proxmox", format!("{} answers at {url}", server.version));
            clocks::compare("Proxmox' clock", server.clock_ahead_ms, findings);
            rights::check(session, &probe, definitions, findings).await;
        }
    }
}

/// Not connected is fine where nothing needs it.
fn check_absence(definitions: &Definitions, findings: &mut Findings) {
    let catalogue = definitions.catalogue.as_ref();
    let actions = catalogue.map_or(0, |catalogue| {
        let all = catalogue.actions();
        all.filter(|action| matches!(action.route(), Route::Proxmox(_)))
            .count()
    });
    let services = definitions.services.as_ref();
    let services = services.map_or(0, |services| rights::watched(services).len());
    if actions + services > 0 {
        let message = format!(
            "{} and {} need it, and PROXMOX_API_URL is not set",
            counted(actions, "action"),
            counted(services, "service")
        );
        findings.wrong("proxmox", message, "void provision proxmox");
    }
}

/// The channels of these settings, or what keeps them from being there.
async fn connect(
    session: &Session<'_>,
    url: &str,
    definitions: &Definitions,
    findings: &mut Findings,
) -> Option<Channels> {
    let settings = &session.settings.proxmox;
    let trusts_nothing = settings.fingerprint.value.is_none() && settings.ca_file.value.is_none();
    if trusts_nothing {
        match certificate_shown(url).await {
            Ok(shown) => {
                let shown = shown.to_fingerprint();
                let message =
                    format!("nothing says which certificate is trusted; it shows {shown}");
                findings.wrong("proxmox certificate", message, pin(session, &shown));
            }
            Err(failure) => findings.wrong("proxmox", failure.message, reach(url)),
        }
        if settings.token.value.is_some() {
            return None;
        }
    }
    // A catalogue that is refused says nothing about whether Proxmox answers.
    let empty = Catalogue::parse("{\"actions\":[]}", &Lockout::default()).ok();
    let catalogue = definitions.catalogue.as_ref().or(empty.as_ref())?;
    match proxmox::config(&session.settings, session.environment) {
        // Paths that cannot be used are not about Proxmox, and are said with the keys.
        Ok(_) => compose::channels(&session.settings, session.environment, catalogue).ok(),
        Err(problem) => {
            let next = problem.next;
            let next = next.unwrap_or_else(|| "void config show".to_owned());
            findings.wrong("proxmox", problem.message, next);
            None
        }
    }
}

async fn describe(
    session: &Session<'_>,
    url: &str,
    probe: &Probe<'_>,
    failure: &Failure,
    findings: &mut Findings,
) {
    let message = failure.message.clone();
    match failure.code.known() {
        Some(FailureCode::WrongCertificate) => {
            let shown = probe.proxmox_certificate().await;
            let next = match shown {
                Ok(shown) => pin(session, &shown.to_fingerprint()),
                Err(_) => COMPARE.to_owned(),
            };
            findings.wrong("proxmox certificate", message, next);
        }
        Some(FailureCode::CertificateExpired) => {
            let next = "on the node: pvecm updatecerts --force, or pvenode acme cert renew; then systemctl restart pveproxy";
            findings.wrong("proxmox certificate", message, next);
        }
        Some(FailureCode::AuthRefused) => {
            let next = "is PROXMOX_API_TOKEN whole, user@realm!name=secret? void provision proxmox makes one";
            findings.wrong("proxmox token", message, next);
        }
        Some(FailureCode::Unreachable) => findings.wrong("proxmox", message, reach(url)),
        _ => findings.wrong(
            "proxmox",
            message,
            "on the node: journalctl -u pveproxy -n 20",
        ),
    }
}

fn reach(url: &str) -> String {
    format!("is the node up, and PROXMOX_API_URL right? curl -k {url}")
}

/// How to trust the certificate that was shown, once it was compared.
fn pin(session: &Session<'_>, shown: &str) -> String {
    let settings = &session.settings;
    let proxmox = &settings.proxmox;
    if proxmox.fingerprint.value.is_none() && proxmox.ca_file.value.is_some() {
        return format!(
            "PROXMOX_CA_FILE wants the authority that signed it (/etc/pve/pve-root-ca.pem on the node), or instead of it PROXMOX_FINGERPRINT={shown}"
        );
    }
    let setting = match proxmox.fingerprint.source {
        Source::File => format!(
            "fingerprint = \"{shown}\" below [proxmox] in {}",
            settings.config_file.value.display()
        ),
        Source::Flag(_) | Source::Environment(_) | Source::Default => {
            format!("PROXMOX_FINGERPRINT={shown}")
        }
    };
    format!("{COMPARE}; if it is the same: {setting}")
}
