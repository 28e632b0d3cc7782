//! One connection for all messages. This thread writes what the client says; another one reads what the
//! server answers, so nothing waits for anything but its own answer.

use std::io::Write as _;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;
use void_domain::failures::FailureCode;

use super::answers::Answers;
use super::lines::{InputLine, InputLines};
use super::servers::Server;
use crate::exit::CommandError;

/// A client that has said everything is waited for as long as the server works for it; a little longer
/// than that takes at most.
const END_PATIENCE: Duration = Duration::from_secs(90);

const LOST: &str = "the connection to Void was lost before the answer came; whether it was done is not \
    known here. search and proposal_status tell";

pub(super) struct Stream {
    socket: TcpStream,
    answers: Arc<Answers>,
    open: Arc<AtomicBool>,
    ended: Receiver<Option<CommandError>>,
}

impl Stream {
    pub(super) fn start(
        server: Arc<Server>,
        answers: Arc<Answers>,
        socket: TcpStream,
        early: Vec<u8>,
    ) -> Result<Self, CommandError> {
        let reading = socket.try_clone();
        let reading = reading
            .map_err(|error| CommandError::failed(FailureCode::Internal, error.to_string()))?;
        let open = Arc::new(AtomicBool::new(true));
        let (end, ended) = channel();
        let (still_open, given) = (Arc::clone(&open), Arc::clone(&answers));
        std::thread::spawn(move || {
            read(&given, InputLines::after(early, reading));
            let unanswered = given.take(|| still_open.store(false, Ordering::Release));
            let _ = end.send(lost(&server, &given, &unanswered));
        });
        Ok(Self {
            socket,
            answers,
            open,
            ended,
        })
    }

    pub(super) fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    /// What is still open when the reader finds the connection's end is answered there; what comes too
    /// late for that, here. Nothing is sent twice.
    pub(super) fn send(&mut self, lines: &[u8]) -> Result<(), CommandError> {
        self.answers.expect(lines);
        if self.socket.write_all(lines).is_err() {
            let _ = self.socket.shutdown(Shutdown::Both);
        }
        if !self.is_open() {
            self.answers.give_up(lines, LOST);
        }
        match self.ended.try_recv() {
            Ok(Some(problem)) => Err(problem),
            Ok(None) | Err(_) => Ok(()),
        }
    }

    /// Lets open calls be answered.
    pub(super) fn finish(&mut self) -> Result<(), CommandError> {
        let _ = self.socket.shutdown(Shutdown::Write);
        match self.ended.recv_timeout(END_PATIENCE) {
            Ok(Some(problem)) => Err(problem),
            Ok(None) | Err(_) => Ok(()),
        }
    }
}

fn read(answers: &Answers, mut lines: InputLines<TcpStream>) {
    while let Ok(Some(arrived)) = lines.next() {
        match arrived {
            InputLine::Whole(lines) => answers.give(lines),
            InputLine::TooLong => answers.too_long(),
        }
    }
}

/// The connection is gone. What was asked on it is answered; if the token is no good any more, that is
/// the reason, and the end.
fn lost(server: &Server, answers: &Answers, unanswered: &[Value]) -> Option<CommandError> {
    if unanswered.is_empty() {
        return None;
    }
    let problem = server.open().err();
    let reason = problem
        .as_ref()
        .map_or(LOST, |problem| problem.message.as_str());
    for id in unanswered {
        answers.fail(id, reason);
    }
    problem
}
