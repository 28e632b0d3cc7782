//! `void mcp`: a client that speaks MCP on standard input reaches the tools of the server. Nothing is
//! decided here; messages are passed on and answers handed back.
//!
//! It knows an address, an agent's token and the name of a registry, and nothing else: no settings, no
//! data folder, no owner's token.

mod answers;
mod lines;
mod requests;
mod servers;
mod snippets;
mod streams;

use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use self::answers::Answers;
use self::lines::{InputLine, InputLines};
use self::requests::Requests;
pub(super) use self::servers::URL_DEFAULT;
use self::servers::{Opened, Server};
pub(super) use self::snippets::config;
use self::streams::Stream;
use crate::exit::{self, CommandError, Exit};
use crate::output::Output;
use crate::settings::Environment;
use void_domain::failures::FailureCode;

/// Passes messages on until standard input ends.
pub(crate) fn bridge(url: Option<&str>, environment: &Environment, output: &Output) -> ExitCode {
    let passed = Server::new(url, environment).and_then(|server| {
        let answers = Arc::new(Answers::new(server.base.clone()));
        let mut bridge = StdioBridge {
            server: Arc::new(server),
            answers,
            way: Way::None,
        };
        bridge.run()
    });
    match passed {
        Ok(()) => exit::to_code(Exit::Done),
        Err(problem) => {
            output.error(&problem);
            exit::to_code(problem.exit)
        }
    }
}

struct StdioBridge {
    server: Arc<Server>,
    answers: Arc<Answers>,
    way: Way,
}

/// How messages reach the server.
enum Way {
    /// It could not be reached so far.
    None,
    /// One connection for all of them.
    Stream(Stream),
    /// A request for each: where a proxy does not give connections away, or there is TLS.
    Requests(Requests),
}

impl StdioBridge {
    fn run(&mut self) -> Result<(), CommandError> {
        // A token that is no good is found at once; a server that is not there yet may come.
        let _ = self.ready()?;
        let mut lines = InputLines::of(io::stdin());
        loop {
            match lines.next() {
                Ok(None) => break,
                Ok(Some(InputLine::Whole(lines))) => self.pass_on(lines)?,
                Ok(Some(InputLine::TooLong)) => self.answers.too_long(),
                Err(error) => {
                    let message = format!("standard input cannot be read: {error}");
                    return Err(CommandError::failed(FailureCode::Input, message));
                }
            }
        }
        match &mut self.way {
            Way::None => Ok(()),
            Way::Stream(stream) => stream.finish(),
            Way::Requests(requests) => requests.finish(),
        }
    }

    fn pass_on(&mut self, lines: &[u8]) -> Result<(), CommandError> {
        match self.ready() {
            Err(problem) => {
                self.answers.refuse(lines, &problem.message);
                return Err(problem);
            }
            Ok(Err(unreachable)) => self.answers.refuse(lines, &unreachable),
            Ok(Ok(())) => {}
        }
        match &mut self.way {
            Way::None => Ok(()),
            Way::Stream(stream) => stream.send(lines),
            Way::Requests(requests) => requests.send(lines),
        }
    }

    /// Sees to it that there is a way to the server. A problem ends the bridge; the inner error is one
    /// that may pass.
    fn ready(&mut self) -> Result<Result<(), String>, CommandError> {
        let there = match &self.way {
            Way::None => false,
            Way::Stream(stream) => stream.is_open(),
            Way::Requests(_) => true,
        };
        if there {
            return Ok(Ok(()));
        }
        let (server, answers) = (Arc::clone(&self.server), Arc::clone(&self.answers));
        self.way = match server.open()? {
            Opened::Stream(socket, early) => {
                Way::Stream(Stream::start(server, answers, socket, early)?)
            }
            Opened::OnlyRequests => Way::Requests(Requests::start(server, answers)?),
            Opened::Unreachable(reason) => {
                self.way = Way::None;
                return Ok(Err(reason));
            }
        };
        Ok(Ok(()))
    }
}
