//! Starting a program: fixed argv, empty environment, no standard input, bounded output that is
//! drained beyond its bound, and a time limit.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use void_domain::limits::CHANNEL_OUTPUT_BYTES_MAX;

/// An answer of `void-act` holds both outputs with every byte escaped at the worst.
const OUTPUT_BYTES_MAX: usize = 8 * CHANNEL_OUTPUT_BYTES_MAX;
/// After the program ended, a grandchild may still hold its pipes.
const DRAIN_AFTER_EXIT: Duration = Duration::from_secs(1);

pub(crate) struct Program {
    pub path: PathBuf,
    pub args: Vec<OsString>,
    pub env: Vec<(&'static str, OsString)>,
    /// Whether it ends with us. `void-act` does not: it records its end even when nobody listens.
    pub dies_with_us: bool,
}

#[derive(Debug)]
pub(crate) struct Finished {
    /// `None` if a signal ended it.
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

#[derive(Debug)]
pub(crate) enum NotFinished {
    /// It never started.
    NotStarted(std::io::Error),
    /// It ran longer than it may, or could not be waited for.
    GivenUp,
}

pub(crate) async fn run(program: Program, limit: Duration) -> Result<Finished, NotFinished> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that starts programs"
    )]
    let mut command = Command::new(&program.path);
    command
        .args(&program.args)
        .env_clear()
        .envs(program.env)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(program.dies_with_us);
    if !program.dies_with_us {
        // A signal to our terminal's group is not meant for it.
        command.process_group(0);
    }
    let mut child = command.spawn().map_err(NotFinished::NotStarted)?;
    let stdout = tokio::spawn(collect(child.stdout.take()));
    let stderr = tokio::spawn(collect(child.stderr.take()));
    let Ok(Ok(status)) = tokio::time::timeout(limit, child.wait()).await else {
        return Err(NotFinished::GivenUp);
    };
    let stdout = finished(stdout).await;
    let stderr = finished(stderr).await;
    Ok(Finished {
        code: status.code(),
        stdout,
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
    })
}

/// Reads to the end, keeps the beginning: a full pipe would stop the program.
async fn collect(pipe: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut kept = Vec::new();
    let Some(mut pipe) = pipe else { return kept };
    let mut buffer = [0_u8; 8192];
    loop {
        match pipe.read(&mut buffer).await {
            Ok(0) | Err(_) => return kept,
            Ok(count) => {
                let room = OUTPUT_BYTES_MAX.saturating_sub(kept.len()).min(count);
                kept.extend_from_slice(buffer.get(..room).unwrap_or_default());
            }
        }
    }
}

async fn finished(reader: tokio::task::JoinHandle<Vec<u8>>) -> Vec<u8> {
    let abort = reader.abort_handle();
    match tokio::time::timeout(DRAIN_AFTER_EXIT, reader).await {
        Ok(Ok(kept)) => kept,
        Ok(Err(_)) => Vec::new(),
        Err(_) => {
            abort.abort();
            Vec::new()
        }
    }
}
