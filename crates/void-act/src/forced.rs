//! From a peer's command to one line of JSON: reads, asks for the verdict, acts on it, answers.
//!
//! Standard input is never read. The lock is held while a request is judged and its start is written, and again
//! while its end is written, but not while the command runs.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;

use crate::answers::{Answer, Ending, Outcome, Reason, Refusal, Reply};
use crate::clock::Moment;
use crate::commands::{ActionId, NotACommand, escape, parse_command};
use crate::journals::Journal;
use crate::lists::{self, List};
use crate::options::{self, HELP, Mode, Options};
use crate::params::ParamValue;
use crate::rights;
use crate::runs::{self, Ran};
use crate::tickets::Ticket;
use crate::verdicts::{self, Present, Settlement, Stop, Verdict};
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
            Mode::Answer => print_answer(&answer(&options, &command)),
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

fn print_answer(answer: &Answer) -> ExitCode {
    match serde_json::to_string(answer) {
        Ok(line) => {
            print(&format!("{line}\n"));
            ExitCode::from(answer.outcome.exit_code())
        }
        Err(_) => ExitCode::from(Outcome::Refused.exit_code()),
    }
}

fn print(text: &str) -> ExitCode {
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
    let reply =
        request.and_then(|request| reply(options, &loaded.list.map_err(unusable)?, &request));
    Answer::new(
        id,
        ticket,
        loaded.digest,
        reply.unwrap_or_else(Reply::Refused),
    )
}

fn reply(options: &Options, list: &List, request: &Request) -> Result<Reply, Refusal> {
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
        Request::LookUp(ticket) => {
            verdicts::look_up(ticket, Journal::open(&options.state)?.history())
        }
        Request::Settle(ticket) => settle(options, ticket),
        Request::Run { id, ticket } => run(options, list, id, ticket.as_ref()),
    }
}

fn settle(options: &Options, ticket: &Ticket) -> Result<Reply, Refusal> {
    let mut journal = Journal::open(&options.state)?;
    let now = clock::now()?;
    journal.compact(&now)?;
    let ours = journal.history().wall_ms_at_least(&now);
    let now_ms = options.ticket_time_ms.unwrap_or(ours);
    match verdicts::judge_settle(ticket, journal.history(), now_ms)? {
        Settlement::Known(reply) => Ok(reply),
        Settlement::Tombstone => {
            journal.settle(ticket, now)?;
            Ok(Reply::Unseen)
        }
    }
}

fn run(
    options: &Options,
    list: &List,
    id: &ActionId,
    ticket: Option<&Ticket>,
) -> Result<Reply, Refusal> {
    let record = list.entry(id).and_then(|entry| entry.record.as_ref());
    let recorded = match record {
        None => None,
        // Judged first, so that nobody makes us look without a reason, and again below, because looking takes time.
        Some(record) => match judged(options, list, id, ticket)?.verdict {
            Verdict::Recorded(reply) => return Ok(reply),
            Verdict::Start { .. } => runs::record(record)?,
        },
    };
    let Judged {
        mut journal,
        now,
        verdict,
    } = judged(options, list, id, ticket)?;
    let (invocation, timeout) = match verdict {
        Verdict::Recorded(reply) => return Ok(reply),
        Verdict::Start {
            invocation,
            timeout,
        } => (invocation, timeout),
    };
    let number = journal.start(id, ticket, now, recorded)?;
    drop(journal);
    // A slow disk must not let a command start long after the switch was thrown.
    let ran = match look_for_stop(&list.stop_file) {
        Stop::Absent => runs::run(&invocation, timeout, &mut |line| {
            if options.progress {
                print(&format!("{}\n", serde_json::json!({ "line": line })));
            }
        }),
        Stop::PresentOrUnknown => Ran::Ended(Ending::failed(
            "void-act: the stop file came before the command was started".to_owned(),
        )),
    };
    let mut ending = match ran {
        Ran::StillRunning { note } => return Ok(Reply::started(Some(note), false)),
        Ran::Ended(ending) => ending,
    };
    let recorded =
        Journal::reopen(&options.state).and_then(|mut it| it.end(number, ending.clone()));
    if let Err(fault) = recorded {
        let (said, why) = (ending.stderr.unwrap_or_default(), Refusal::from(fault).text);
        ending.stderr = Some(format!("{said}\nvoid-act: this end is not recorded: {why}"));
    }
    let running = if ending.done {
        count(list, id, ticket)
    } else {
        None
    };
    Ok(Reply::Ended {
        ending,
        replayed: false,
        running,
    })
}

/// How many copies run now. The end is on disk already: whoever dies while counting loses the number only.
fn count(list: &List, id: &ActionId, ticket: Option<&Ticket>) -> Option<u32> {
    let spec = list.entry(id)?.count.as_ref()?;
    match ticket?.params().get(&spec.param)? {
        ParamValue::Integer(wanted) => runs::count(spec, *wanted),
        ParamValue::Text(_) => None,
    }
}

/// A verdict under the lock that it was made under.
struct Judged {
    journal: Journal,
    now: Moment,
    verdict: Verdict,
}

fn judged(
    options: &Options,
    list: &List,
    id: &ActionId,
    ticket: Option<&Ticket>,
) -> Result<Judged, Refusal> {
    let mut journal = Journal::open(&options.state)?;
    // Read under the lock: whoever waited for it must not act on an old clock or an old stop file.
    let now = clock::now()?;
    journal.compact(&now)?;
    let present = Present {
        now: &now,
        stop: look_for_stop(&list.stop_file),
        ticket_time_ms: options.ticket_time_ms,
    };
    let verdict = verdicts::judge(id, ticket, list, journal.history(), &present)?;
    Ok(Judged {
        journal,
        now,
        verdict,
    })
}

fn look_for_stop(path: &Path) -> Stop {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Stop::Absent,
        Ok(_) | Err(_) => Stop::PresentOrUnknown,
    }
}
