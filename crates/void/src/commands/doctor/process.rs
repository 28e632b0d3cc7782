//! What the server's process can do where it runs: read foreign bytes, confine an agent, start the `claude` program. A service or a container
//! has fences of its own, so a server that answers is asked, and only without one this command looks from where it is.

use void_api::doctor::{DoctorResponse, Finding as Told};

use super::findings::{Findings, Level};
use super::{captures, claude, sandbox};
use crate::client::Client;
use crate::commands::Session;

/// What a filter of system calls around Void is mended by.
pub(super) const UNIT_NEXT: &str = "as a service: void service install | sudo sh writes the unit anew; in a container: a seccomp profile that allows them";

/// Who looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Examiner {
    Command,
    /// For the page: it is the server.
    Server,
}

/// Here, in this process.
pub(super) async fn check(session: &Session<'_>, findings: &mut Findings) {
    captures::check(session, findings).await;
    sandbox::check(session, findings);
    claude::check(session, findings);
}

pub(super) async fn check_served(
    session: &Session<'_>,
    examiner: Examiner,
    server: Option<&Client>,
    findings: &mut Findings,
) {
    let server = server.filter(|_| examiner == Examiner::Command);
    let told = match server {
        Some(server) => told_by(server).await,
        None => None,
    };
    match told {
        Some(told) => told.into_iter().for_each(|finding| take(finding, findings)),
        None => check(session, findings).await,
    }
}

/// `None` of a server that does not tell this caller, or that is older than the question.
async fn told_by(server: &Client) -> Option<Vec<Told>> {
    let asked = server.get_as("/api/doctor?scope=process").await;
    let told: DoctorResponse = asked.ok()?;
    (!told.findings.is_empty()).then_some(told.findings)
}

fn take(told: Told, findings: &mut Findings) {
    let names = [
        captures::CHECK,
        captures::PDFS,
        sandbox::CHECK,
        claude::CHECK,
    ];
    let Some(check) = names.into_iter().find(|name| *name == told.check) else {
        return;
    };
    let next = told.next.unwrap_or_default();
    match Level::parse(told.level.as_ref()) {
        Some(Level::Fine) => findings.fine(check, told.message),
        Some(Level::Warning) => findings.warn(check, told.message, next),
        Some(Level::Wrong) | None => findings.wrong(check, told.message, next),
    }
}
