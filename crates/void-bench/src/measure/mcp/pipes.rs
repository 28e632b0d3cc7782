//! A server at the other end of a pipe, and one thread that keeps a number of calls under way.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use super::{CALL, INITIALIZE, INITIALIZED};
use crate::Outcome;
use crate::statistics::per_second;

/// Calls before anything counts.
const WARM_UP: usize = 500;

pub(super) struct Pipe {
    child: Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
    buffer: Vec<u8>,
}

impl Pipe {
    /// Starts it, and says after how many milliseconds it had answered.
    #[expect(
        clippy::disallowed_methods,
        reason = "what is measured here is a program that clients start"
    )]
    pub(super) fn start(command: &str) -> Outcome<(Self, f64)> {
        let begun = Instant::now();
        let mut child = Command::new("/bin/sh")
            .args(["-c", &format!("exec {command}")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let mut pipe = Self {
            child,
            input,
            output: output.ok_or("a program without an output")?,
            buffer: vec![0; 256 * 1024],
        };
        pipe.say(&format!("{INITIALIZE}\n"))?;
        while pipe.hear()? == 0 {}
        let time = begun.elapsed();
        pipe.say(&format!("{INITIALIZED}\n"))?;
        Ok((pipe, time.as_secs_f64() * 1_000.0))
    }

    /// Calls per second with so many under way.
    pub(super) fn rate(&mut self, depth: usize, duration: Duration) -> Outcome<f64> {
        self.say(&format!("{CALL}\n").repeat(depth))?;
        let mut heard = 0;
        while heard < WARM_UP {
            heard += self.again()?;
        }
        let (begun, mut heard) = (Instant::now(), 0);
        while begun.elapsed() < duration {
            heard += self.again()?;
        }
        Ok(per_second(heard, begun.elapsed()))
    }

    /// Hears some answers and asks as many again.
    fn again(&mut self) -> Outcome<usize> {
        let heard = self.hear()?;
        if heard > 0 {
            self.say(&format!("{CALL}\n").repeat(heard))?;
        }
        Ok(heard)
    }

    fn say(&mut self, text: &str) -> Outcome<()> {
        let input = self.input.as_mut().ok_or("the pipe is closed")?;
        Ok(input.write_all(text.as_bytes())?)
    }

    /// How many answers have ended with what is read now.
    fn hear(&mut self) -> Outcome<usize> {
        let read = self.output.read(&mut self.buffer)?;
        let bytes = self.buffer.get(..read).unwrap_or_default();
        if bytes.is_empty() {
            return Err("a server of MCP went away".into());
        }
        Ok(bytes.iter().filter(|byte| **byte == b'\n').count())
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
