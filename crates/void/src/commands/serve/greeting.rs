//! What a start says: that it is ready, what is missing, the set-up link by every address, and what listening
//! beyond this machine wants.

use std::net::SocketAddr;

use void_access::{OwnerAccess, setup_links};
use void_server::{page_url, page_urls_elsewhere};

use super::first_steps;
use crate::cli::QrArgs;
use crate::commands::{Session, program, quoted, setup_link};
use crate::settings::Settings;

pub(super) async fn greet(
    session: &Session<'_>,
    access: &OwnerAccess,
    address: SocketAddr,
    qr: QrArgs,
) {
    let (output, catalogue) = (session.output, access.control().catalogue());
    output.line(format!(
        "Void {} is ready at http://{address}",
        env!("CARGO_PKG_VERSION")
    ));
    let digest = catalogue.digest().short();
    match catalogue.actions().len() {
        0 => output.line("  0 actions: nothing may run yet"),
        1 => output.line(format!("  1 action, catalogue {digest}")),
        actions => output.line(format!("  {actions} actions, catalogue {digest}")),
    }
    let called = first_steps::called(&program(session.environment), &session.settings, address);
    let next = |command: &str| format!("{called} {command}");
    if catalogue.actions().len() == 0 {
        let file = quoted(&session.settings.actions.value.display().to_string());
        output.line(format!(
            "  next: {}, then {}",
            next(&format!("actions example SERVICE > {file}")),
            next("reload")
        ));
    } else {
        output.line(format!("  next: {}", next("status")));
    }
    show_setup_link(session, access, address, qr, &next("setup-link")).await;
}

/// Until the owner has a way to sign in, every start offers one.
async fn show_setup_link(
    session: &Session<'_>,
    access: &OwnerAccess,
    address: SocketAddr,
    qr: QrArgs,
    another: &str,
) {
    let link = match setup_links::for_first_start(access).await {
        Ok(Some(link)) => link,
        Ok(None) => return,
        Err(error) => {
            tracing::warn!(%error, "no set-up link could be made: {another}");
            return;
        }
    };
    let public_url = session.settings.public_url.value.as_deref();
    let here = link.url(&page_url(public_url, address));
    let elsewhere: Vec<String> = page_urls_elsewhere(public_url, address)
        .iter()
        .map(|base| link.url(base))
        .collect();
    let output = session.output;
    output.line(format!("  set up, once and within an hour: {here}"));
    for other in elsewhere.iter().filter(|other| **other != here) {
        output.line(format!("    the same from elsewhere: {other}"));
    }
    output.line(format!(
        "    it signs one browser in, by whichever address; for another one: {another}"
    ));
    let listen = format!("VOID_LISTEN=0.0.0.0:{}", address.port());
    setup_link::show_code(output, qr, &here, &elsewhere, &setup_link::way_out(&listen));
}

/// What the fence in front of every request wants from who listens beyond this machine without a name: other
/// machines get in by an address, and every name is refused until a setting says it.
pub(super) fn beyond_this_machine(settings: &Settings, address: SocketAddr) -> Option<String> {
    if address.ip().is_loopback() || settings.public_url.value.is_some() {
        return None;
    }
    let at = page_urls_elsewhere(None, address).into_iter().next();
    let at = at.unwrap_or_else(|| format!("http://ADDRESS:{}", address.port()));
    let names = match settings.allowed_hosts.as_slice() {
        [] => "every name is refused".to_owned(),
        some => format!("every name but {} is refused", some.join(", ")),
    };
    Some(format!(
        "this listens beyond this machine by plain HTTP, which everybody on the way reads. Browsers get in by its \
         address only ({at}); {names}, because another site could pose as it. For a name set \
         VOID_PUBLIC_URL=https://NAME (public_url in {}) to what stands in the browser's address bar, with TLS in \
         front; docs/operations.md, Exposing it",
        settings.config_file.value.display()
    ))
}
