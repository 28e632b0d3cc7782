//! `void doctor`: looks for what is wrong and names the next command. Reads only, and shows no secret.
//!
//! Files and Proxmox are looked at from here, so that they are judged also while the server is down.
//! Hosts are asked by the server, which has the connections and the trusted keys. What a process may do where the server
//! runs only the server knows: its service has fences that a command is not behind. The names of the
//! checks are stable: `catalogue`, `services`, `settings`, `data`, `disk`, `ssh key`, `secret file`, `backups`,
//! `proxmox`, `proxmox certificate`, `proxmox token`, `proxmox rights`, `server`, `database`, `freeze`, `quarantine`,
//! `captures`, `pdfs`, `sandbox`, `claude`, `instance`, `storage`, `clock`, `service`, `host`, `host key`, `node`, `channel`, `tree`, `audit`.

mod audit;
mod backups;
mod captures;
mod channels;
mod claude;
pub(super) mod clocks;
mod data;
mod definitions;
mod findings;
mod hosts;
mod keys;
mod nodes;
mod process;
mod proxmox;
mod rights;
mod sandbox;
mod server;
mod tree;

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::runtime::Handle;
use void_domain::failures::FailureCode;
use void_domain::text;
use void_server::{Doctor, DoctorScope};

use self::findings::{Finding, Findings, Level};
use self::process::Examiner;
use super::{Session, counted};
use crate::cli::DoctorArgs;
use crate::exit::{CommandError, Exit};
use crate::output::{ColorChoice, Output, Tone};
use crate::settings::{Environment, Settings};
use crate::times::Times;

pub(super) async fn run(session: &Session<'_>, args: DoctorArgs) -> Result<Exit, CommandError> {
    let mut findings = Findings::default();
    let looking = look(session, Examiner::Command, &mut findings);
    session.output.waiting("looking", looking).await;
    Ok(report(session, &findings.0, args.strict))
}

/// The same for the page: what the server's own program says of itself.
pub(super) fn of_the_server(
    settings: &Settings,
    environment: &Environment,
    address: SocketAddr,
) -> Doctor {
    let known = Arc::new((settings.clone(), environment.clone()));
    Arc::new(move |scope| {
        let known = Arc::clone(&known);
        // It reads files, and walks the record: not where requests are answered.
        let looking = tokio::task::spawn_blocking(move || {
            let (settings, environment) = &*known;
            Handle::current().block_on(examine(scope, settings, environment, address))
        });
        Box::pin(async move { looking.await.unwrap_or_default() })
    })
}

async fn examine(
    scope: DoctorScope,
    settings: &Settings,
    environment: &Environment,
    address: SocketAddr,
) -> Vec<void_api::doctor::Finding> {
    let output = Output::new(true, ColorChoice::Never, Times::as_they_come(), environment);
    let session = Session {
        settings: settings.clone(),
        environment,
        output: &output,
        url: Some(format!("http://{address}")),
    };
    let mut findings = Findings::default();
    match scope {
        DoctorScope::Everything => look(&session, Examiner::Server, &mut findings).await,
        DoctorScope::Process => process::check(&session, &mut findings).await,
    }
    let told = |finding: Finding| void_api::doctor::Finding {
        check: finding.check.to_owned(),
        level: finding.level.as_str().into(),
        message: text::escaped_lines(&finding.message),
        next: finding.next,
    };
    findings.0.into_iter().map(told).collect()
}

/// What to do about a host that did not answer as it should.
pub(super) fn next_after_host(name: &str, code: Option<FailureCode>) -> String {
    hosts::next_after(name, false, code).1
}

async fn look(session: &Session<'_>, examiner: Examiner, findings: &mut Findings) {
    let definitions = definitions::check(session, findings);
    data::check(session, findings);
    keys::check(session, definitions.catalogue.as_ref(), findings);
    backups::check(session, findings);
    proxmox::check(session, &definitions, findings).await;
    let server = server::check(session, findings).await;
    let client = server.as_ref().map(|server| &server.client);
    process::check_served(session, examiner, client, findings).await;
    match server {
        Some(server) => {
            hosts::check(&server.client, findings).await;
            nodes::check(session, &server.client, findings).await;
            channels::check(session, &server.client, findings).await;
            tree::check(session, &server.client, findings).await;
            audit::check_served(&server, findings).await;
        }
        None => {
            hosts::not_asked(definitions.catalogue.as_ref(), findings);
            tree::check_file(session, findings);
            audit::check_file(session, findings).await;
        }
    }
}

fn report(session: &Session<'_>, findings: &[Finding], strict: bool) -> Exit {
    let count = |level| findings.iter().filter(|one| one.level == level).count();
    let (wrong, warnings) = (count(Level::Wrong), count(Level::Warning));
    let exit = if wrong > 0 || (strict && warnings > 0) {
        Exit::Failed
    } else {
        Exit::Done
    };
    if session.output.json {
        let findings: Vec<Value> = findings
            .iter()
            .map(|finding| {
                let next = finding
                    .next
                    .as_deref()
                    .map(|next| session.output.typed(next));
                json!({
                    "check": finding.check, "level": finding.level.as_str(),
                    "message": session.output.typed(&finding.message), "next": next,
                })
            })
            .collect();
        session
            .output
            .value(json!({"ok": exit == Exit::Done, "findings": findings}));
        return exit;
    }
    for finding in findings {
        print(session, finding);
    }
    session.output.line(match (wrong, warnings) {
        (0, 0) => "Nothing is wrong.".to_owned(),
        (wrong, warnings) => format!(
            "{}, {}.",
            counted(wrong, "problem"),
            counted(warnings, "warning")
        ),
    });
    exit
}

fn print(session: &Session<'_>, finding: &Finding) {
    let tone = match finding.level {
        Level::Fine => Tone::Good,
        Level::Warning => Tone::Waiting,
        Level::Wrong => Tone::Bad,
    };
    let level = session
        .output
        .tone(tone, &format!("{:8}", finding.level.as_str()));
    let message = session.output.typed(&text::escaped_lines(&finding.message));
    session
        .output
        .hanging(&format!("{level} {:20} ", finding.check), &message);
    if let Some(next) = &finding.next {
        session.output.hanging(
            "         next: ",
            &session.output.typed(&text::escaped(next)),
        );
    }
}
