//! From a peer's command to one line of JSON: reads, asks for the verdict, acts on it, answers.
//!
//! Standard input is never read. What there is to tidy in the journal is done after the answer, by a process of its
//! own that nobody waits for.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;

use crate::answers::{Answer, Outcome, Reason, Refusal, Reply};
use crate::attempts::{Attempt, LOOKS_MAX};
use crate::commands::{ActionId, NotACommand, escape, parse_command};
use crate::journals::{Fault, Journal};
use crate::lists::{self, List};
use crate::options::{self, HELP, Mode, Options};
use crate::rights;
use crate::tickets::Ticket;
use crate::verdicts::{self, Past, Settlement, Stop};
use crate::{checks, clock, sys};

const FINDING_CHARS_MAX: usize = 300;

/// The whole program. `args` come without the program's name; `original_command` is `SSH_ORIGINAL_COMMAND`.
///
/// Meant to be all that a process does: it changes how the process takes signals, and that it leaves no core dump.
pub fn main_with(
    args: impl Iterator<Item = OsString>,
    original_command: Option<OsString>,
) -> ExitCode {
    sys::leave_no_core_dump();
    sys::ignore_hangup();
    let command = original_command.unwrap_or_default();
    match options::parse(args) {
        Ok(options) => match options.mode {
            Mode::Answer => {
                let code = print_answer(&answer(&options, &command));
                tidy(&options, &command);
                code
            }
            Mode::Check => {
                let (lines, sound) = checks::check(&options);
                print(&format!("{}\n", lines.join("\n")));
                if sound {
                    ExitCode::SUCCESS
                } else {
                    ExitCode::FAILURE
                }
            }
            Mode::Version => print(concat!("void-act ", env!("CARGO_PKG_VERSION"), "\n")),
            Mode::Help => print(HELP),
        },
        Err(refusal) => {
            let id = escape(command.as_bytes());
            print_answer(&Answer::new(id, None, None, Reply::Refused(refusal)))
        }
    }
}

/// Forgets what is old, now that the peer has its answer. Whatever fails is tried again by another run.
fn tidy(options: &Options, command: &OsStr) {
    let is_about_a_run = matches!(
        Request::parse(command),
        Ok(Request::Run { .. } | Request::Settle(_))
    );
    if !is_about_a_run {
        return;
    }
    let (Ok(now), Ok(journal)) = (clock::now(), Journal::open(&options.state)) else {
        return;
    };
    if let Ok(Some(duty)) = journal.pruning_duty(&now)
        && matches!(sys::go_on_apart(), Ok(true))
    {
        let _ = journal.prune(duty, &now);
    }
}

fn print_answer(answer: &Answer) -> ExitCode {
    match serde_json::to_string(answer) {
        Ok(line) => {
            print(&format!("{line}\n"));
            ExitCode::from(answer.outcome.exit_code())
        }
        Err(_) => ExitCode::from(Outcome::Refused.exit_code()),
    }
}

pub(crate) fn print(text: &str) -> ExitCode {
    let mut stdout = io::stdout().lock();
    // Nobody may be listening any more; what happened is in the journal.
    let _ = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    ExitCode::SUCCESS
}

enum Request {
    List,
    /// The list, and which of its entries could not be started now.
    Check,
    LookUp(Ticket),
    Settle(Ticket),
    Run {
        id: ActionId,
        ticket: Option<Ticket>,
    },
}

impl Request {
    fn parse(raw: &OsStr) -> Result<Self, Refusal> {
        let bad = || Refusal::new(Reason::BadCommand, NotACommand.to_string());
        let command = parse_command(raw).map_err(|_| bad())?;
        let ticket = command.ticket.as_deref().map(Ticket::decode).transpose()?;
        match (command.id.as_str(), ticket) {
            ("void-list", None) => Ok(Self::List),
            ("void-check", None) => Ok(Self::Check),
            ("void-ticket", Some(ticket)) => Ok(Self::LookUp(ticket)),
            ("void-settle", Some(ticket)) => Ok(Self::Settle(ticket)),
            ("void-list" | "void-check" | "void-ticket" | "void-settle", _) => Err(bad()),
            (_, ticket) => Ok(Self::Run {
                id: command.id,
                ticket,
            }),
        }
    }

    fn ticket(&self) -> Option<&Ticket> {
        match self {
            Self::LookUp(ticket) | Self::Settle(ticket) => Some(ticket),
            Self::Run { ticket, .. } => ticket.as_ref(),
            Self::List | Self::Check => None,
        }
    }
}

fn answer(options: &Options, raw: &OsStr) -> Answer {
    let loaded = lists::load(&options.list, options.trust);
    let request = Request::parse(raw);
    let id = parse_command(raw)
        .map_or_else(|_| escape(raw.as_bytes()), |command| command.id.to_string());
    let ticket = request
        .as_ref()
        .ok()
        .and_then(Request::ticket)
        .map(|ticket| ticket.proposal().to_owned());
    let unusable = |findings: Vec<String>| {
        // A finding may quote the list, and the answer has a bound.
        let first = findings.iter().take(1).flat_map(|text| text.chars());
        let text: String = first.take(FINDING_CHARS_MAX).collect();
        Refusal::new(Reason::ListUnusable, text)
    };
    let digest = loaded.digest.as_deref().unwrap_or_default();
    let reply = request
        .and_then(|request| reply(options, &loaded.list.map_err(unusable)?, digest, &request));
    Answer::new(
        id,
        ticket,
        loaded.digest,
        reply.unwrap_or_else(Reply::Refused),
    )
}

fn reply(
    options: &Options,
    list: &List,
    list_digest: &str,
    request: &Request,
) -> Result<Reply, Refusal> {
    match request {
        Request::List | Request::Check => Ok(Reply::Listed {
            cannot: matches!(request, Request::Check).then(|| rights::missing(list)),
            host: list.host.clone(),
            stopped: look_for_stop(&list.stop_file) == Stop::PresentOrUnknown,
            defs: list
                .entries
                .iter()
                .map(|entry| (entry.id.to_string(), entry.def.clone()))
                .collect(),
        }),
        Request::LookUp(ticket) => verdicts::look_up(&Journal::open(&options.state)?.seen(ticket)?),
        Request::Settle(ticket) => settle(options, ticket),
        Request::Run { id, ticket } => {
            let attempt = Attempt {
                options,
                list,
                list_digest,
                id,
                ticket: ticket.as_ref(),
            };
            attempt.run()
        }
    }
}

fn settle(options: &Options, ticket: &Ticket) -> Result<Reply, Refusal> {
    let mut journal = Journal::open(&options.state)?;
    for _ in 0..LOOKS_MAX {
        let now = clock::now()?;
        let past = Past::of_ticket(&mut journal, ticket, &now)?;
        let now_ms = options.ticket_time_ms.unwrap_or(past.wall_ms_at_least);
        match verdicts::judge_settle(ticket, &past, now_ms)? {
            Settlement::Known(reply) => return Ok(reply),
            Settlement::Tombstone if journal.settle(ticket, &now)? => return Ok(Reply::Unseen),
            // Another process wrote its file meanwhile: look again.
            Settlement::Tombstone => {}
        }
    }
    Err(Fault::Busy.into())
}

pub(crate) fn look_for_stop(path: &Path) -> Stop {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Stop::Absent,
        Ok(_) | Err(_) => Stop::PresentOrUnknown,
    }
}
