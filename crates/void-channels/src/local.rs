//! The machine Void lives on: `void-act` as a child process, with the same list, journal and rules
//! as on any other host.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use void_act::Answer;
use void_domain::failures::FailureCode;
use void_domain::hosts::Host;
use void_domain::proposals::Failure;

use crate::act::{self, Carrier, NoAnswer};
use crate::process::{self, NotFinished, Program};

#[derive(Debug, Clone)]
pub struct LocalConfig {
    /// The program and the arguments before its own: `void act`, or an installed `void-act`.
    pub program: PathBuf,
    pub args: Vec<OsString>,
    pub list: PathBuf,
    pub state: PathBuf,
    /// Accept a list that belongs to the account Void runs as; for the rehearsal lab.
    pub trust_own_list: bool,
}

impl LocalConfig {
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        let mut args = self.args.clone();
        args.extend(["--list".into(), self.list.clone().into_os_string()]);
        args.extend(["--state".into(), self.state.clone().into_os_string()]);
        if self.trust_own_list {
            args.push("--trust-own-list".into());
        }
        args
    }
}

pub(crate) struct Local<'a> {
    pub config: &'a LocalConfig,
    pub host: Host,
}

impl Carrier for Local<'_> {
    /// There is nothing between us and a child process.
    type Line = ();

    fn host(&self) -> &str {
        self.host.name.as_str()
    }

    fn provision(&self) -> String {
        "void provision local".to_owned()
    }

    async fn open(&self) -> Result<(), Failure> {
        Ok(())
    }

    fn is_fresh(&self, (): &()) -> bool {
        true
    }

    async fn ask(&self, (): &(), command: &[&str], limit: Duration) -> Result<Answer, NoAnswer> {
        let program = Program {
            path: self.config.program.clone(),
            args: self.config.arguments(),
            env: vec![("SSH_ORIGINAL_COMMAND", command.join(" ").into())],
            dies_with_us: false,
        };
        match process::run(program, limit).await {
            Ok(finished) => act::parse(&finished.stdout).ok_or_else(|| {
                NoAnswer::Lost(Failure::new(
                    FailureCode::NoAnswer,
                    "void-act on this machine ended without an answer",
                ))
            }),
            Err(NotFinished::NotStarted(error)) => {
                let message = format!(
                    "{} cannot be started: {error}",
                    self.config.program.display()
                );
                Err(NoAnswer::NotSent(Failure::new(
                    FailureCode::NotConfigured,
                    message,
                )))
            }
            Err(NotFinished::GivenUp) => Err(NoAnswer::Lost(Failure::new(
                FailureCode::Timeout,
                "void-act on this machine did not answer in time",
            ))),
        }
    }
}
