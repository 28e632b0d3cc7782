//! The process and everything it starts: one process group, ended as one. SIGTERM first, SIGKILL soon
//! after, and the leader is waited for last, so that its number means this group until the end.

use std::io;
use std::pin::pin;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::runtime::Handle;

use super::commands::Command;
use super::lines::Conversation;
use crate::brains::exchanges::Fault;
use crate::brains::frames::{Frames, Framing};
use crate::brains::{OnEvent, STREAM_BYTES_MAX};

/// Kept of what it writes about itself: its last words.
const STDERR_BYTES_MAX: usize = 4 * 1024;
/// After its result, or after SIGTERM, it may tidy up for this long.
const GRACE: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(10);
const LAST_WORDS: Duration = Duration::from_millis(200);

pub(super) struct Process {
    /// Taken when somebody sees to its end.
    group: Option<Group>,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    last_words: Vec<u8>,
}

/// How it ended and what it wrote about that.
pub(super) struct ProcessEnd {
    /// `None` if a signal ended it.
    pub code: Option<i32>,
    pub stderr: String,
}

/// How far it was heard.
enum Until {
    Result,
    End,
}

/// Why nothing more is read.
pub(super) enum Broken {
    Silent(Duration),
    TooMuch,
    Unread(io::Error),
    Fault(Fault),
}

impl Process {
    pub(super) fn start(command: Command) -> io::Result<Self> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the one place that starts the claude program"
        )]
        let mut starting = tokio::process::Command::new(&command.program);
        starting
            .args(&command.arguments)
            .env_clear()
            .envs(command.environment)
            .current_dir(&command.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let mut child = starting.spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let stderr = child.stderr.take();
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        let id = id.and_then(Pid::from_raw);
        Ok(Self {
            group: Some(Group {
                id,
                child: Some(child),
            }),
            stdin,
            stdout,
            stderr,
            last_words: Vec::new(),
        })
    }

    /// Tells it the text and hears it out, up to its result or the end of its output.
    pub(super) async fn talk(
        &mut self,
        text: String,
        silence_max: Duration,
        heard: &mut Conversation,
        on_event: OnEvent<'_>,
    ) -> Result<(), Broken> {
        let (stdin, stdout) = (self.stdin.take(), self.stdout.take());
        let (stderr, kept) = (self.stderr.take(), &mut self.last_words);
        let mut beside = pin!(async { tokio::join!(tell(stdin, text), keep_last(stderr, kept)) });
        let mut hearing = pin!(hear(stdout, silence_max, heard, on_event));
        let mut is_open = true;
        let heard = loop {
            tokio::select! {
                heard = &mut hearing => break heard,
                _ = &mut beside, if is_open => is_open = false,
            }
        };
        let explains_itself = matches!(heard, Ok(Until::End) | Err(Broken::Fault(_)));
        if is_open && explains_itself {
            // Its last words may be a moment behind.
            let _ = tokio::time::timeout(LAST_WORDS, beside).await;
        }
        heard.map(|_| ())
    }

    /// Lets it end, and sees to it that nothing of its group is left.
    pub(super) async fn end(mut self) -> ProcessEnd {
        let stderr = String::from_utf8_lossy(&self.last_words).into_owned();
        let group = self.group.take();
        let code = match group {
            Some(group) => group.end().await,
            None => None,
        };
        ProcessEnd { code, stderr }
    }
}

async fn tell(stdin: Option<ChildStdin>, text: String) {
    if let Some(mut stdin) = stdin {
        // Who does not read it will say why, or end.
        let _ = stdin.write_all(text.as_bytes()).await;
        let _ = stdin.shutdown().await;
    }
}

async fn keep_last(pipe: Option<ChildStderr>, kept: &mut Vec<u8>) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = [0_u8; 4096];
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        kept.extend_from_slice(buffer.get(..count).unwrap_or_default());
        let surplus = kept.len().saturating_sub(STDERR_BYTES_MAX);
        kept.drain(..surplus);
    }
}

async fn hear(
    stdout: Option<ChildStdout>,
    silence_max: Duration,
    heard: &mut Conversation,
    on_event: OnEvent<'_>,
) -> Result<Until, Broken> {
    let Some(mut stdout) = stdout else {
        return Ok(Until::End);
    };
    let mut frames = Frames::new(Framing::Lines);
    let mut buffer = vec![0_u8; 16 * 1024];
    let mut total: usize = 0;
    while !heard.is_over() {
        let read = tokio::time::timeout(silence_max, stdout.read(&mut buffer)).await;
        let count = read
            .map_err(|_| Broken::Silent(silence_max))?
            .map_err(Broken::Unread)?;
        if count == 0 {
            return Ok(Until::End);
        }
        total += count;
        if total > STREAM_BYTES_MAX {
            return Err(Broken::TooMuch);
        }
        frames.push(buffer.get(..count).unwrap_or_default());
        while let Some(line) = frames.next().map_err(|long| Broken::Fault(long.into()))? {
            heard.take(line.data, on_event).map_err(Broken::Fault)?;
        }
    }
    Ok(Until::Result)
}

/// Nobody waits for the answer any more.
impl Drop for Process {
    fn drop(&mut self) {
        let Some(group) = self.group.take() else {
            return;
        };
        group.signal(Signal::TERM);
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(group.end_soon());
        }
    }
}

/// A process group whose leader is our child. Dropped before its end, it is killed at once: then even
/// the server is going.
struct Group {
    id: Option<Pid>,
    /// Taken when the group has ended.
    child: Option<Child>,
}

impl Group {
    /// It has a moment to end by itself, then another one after SIGTERM. The leader's exit code.
    async fn end(mut self) -> Option<i32> {
        if !self.leader_ends_within(GRACE).await {
            self.signal(Signal::TERM);
            self.leader_ends_within(GRACE).await;
        }
        self.finish().await
    }

    async fn end_soon(mut self) {
        self.leader_ends_within(GRACE).await;
        self.finish().await;
    }

    /// Ends whoever is left, and only then lets go of the leader.
    async fn finish(&mut self) -> Option<i32> {
        self.signal(Signal::KILL);
        let mut child = self.child.take()?;
        child.wait().await.ok()?.code()
    }

    fn signal(&self, signal: Signal) {
        if let (Some(id), Some(_)) = (self.id, &self.child) {
            // Nobody there any more is what it is for.
            let _ = kill_process_group(id, signal);
        }
    }

    /// Looks without taking the leader's end away: as long as it is not waited for, nobody else can
    /// get its number.
    async fn leader_ends_within(&self, patience: Duration) -> bool {
        let Some(id) = self.id else { return true };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let ends = async {
            while let Ok(None) = waitid(WaitId::Pid(id), look) {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        tokio::time::timeout(patience, ends).await.is_ok()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
