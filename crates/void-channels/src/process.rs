//! Starting a program: fixed argv, empty environment, no standard input, bounded output that is
//! drained beyond its bound, and a time limit.

use std::ffi::OsString;
use std::path::PathBuf;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use void_domain::limits::CHANNEL_OUTPUT_BYTES_MAX;

/// An answer of `void-act` holds both outputs with every byte escaped at the worst.
const OUTPUT_BYTES_MAX: usize = 8 * CHANNEL_OUTPUT_BYTES_MAX;
/// After the program ended, a grandchild may still hold its pipes. What came until then counts.
const DRAIN_AFTER_EXIT: Duration = Duration::from_secs(1);

pub(crate) struct Program {
    pub path: PathBuf,
    pub args: Vec<OsString>,
    pub env: Vec<(&'static str, OsString)>,
    /// Whether it is killed when nobody waits for it any more. `void-act` is not: it records its end
    /// even when nobody listens.
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
    run_heard(program, limit, |_| {}).await
}

/// The same, and passes on what comes on standard output as it comes.
pub(crate) async fn run_heard(
    program: Program,
    limit: Duration,
    heard: impl FnMut(&[u8]),
) -> Result<Finished, NotFinished> {
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
        // An interrupt at our terminal is for us alone: what runs is let to its end.
        .process_group(0)
        .kill_on_drop(program.dies_with_us);
    let mut child = command.spawn().map_err(NotFinished::NotStarted)?;
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let status = watch(&mut child, &mut stdout, &mut stderr, limit, heard).await;
    Ok(Finished {
        code: status.ok_or(NotFinished::GivenUp)?.code(),
        stdout,
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
    })
}

/// Waits for the end and empties both pipes meanwhile: a full one would stop the program.
async fn watch(
    child: &mut Child,
    stdout: &mut Vec<u8>,
    stderr: &mut Vec<u8>,
    limit: Duration,
    heard: impl FnMut(&[u8]),
) -> Option<ExitStatus> {
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let mut drained =
        pin!(async { tokio::join!(collect(out, stdout, heard), collect(err, stderr, |_| {})) });
    let mut ended = pin!(tokio::time::timeout(limit, child.wait()));
    let mut open = true;
    let status = loop {
        tokio::select! {
            ended = &mut ended => break ended.ok()?.ok()?,
            _ = &mut drained, if open => open = false,
        }
    };
    if open {
        let _ = tokio::time::timeout(DRAIN_AFTER_EXIT, drained).await;
    }
    Some(status)
}

/// Reads to the end, keeps the beginning.
async fn collect(
    pipe: Option<impl AsyncRead + Unpin>,
    kept: &mut Vec<u8>,
    mut heard: impl FnMut(&[u8]),
) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = [0_u8; 8192];
    loop {
        match pipe.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(count) => {
                heard(buffer.get(..count).unwrap_or_default());
                let room = OUTPUT_BYTES_MAX.saturating_sub(kept.len()).min(count);
                kept.extend_from_slice(buffer.get(..room).unwrap_or_default());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    async fn shell(script: &str, limit: Duration) -> Result<Finished, NotFinished> {
        let program = Program {
            path: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            env: Vec::new(),
            dies_with_us: true,
        };
        run(program, limit).await
    }

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn what_comes_right_after_the_end_counts_and_nothing_later() {
        let begun = Instant::now();
        let script = "(sleep 0.2; echo late; sleep 30) & echo early; exit 7";
        let finished = shell(script, LONG).await.unwrap();
        assert_eq!(finished.code, Some(7));
        assert_eq!(finished.stdout, b"early\nlate\n");
        assert!(begun.elapsed() < Duration::from_secs(10));
    }

    #[tokio::test]
    async fn output_beyond_the_bound_is_drained_and_dropped() {
        let script = "head -c 2000000 /dev/zero; head -c 2000000 /dev/zero >&2; echo end >&2";
        let finished = shell(script, LONG).await.unwrap();
        let kept = (finished.stdout.len(), finished.stderr.len());
        assert_eq!(kept, (OUTPUT_BYTES_MAX, OUTPUT_BYTES_MAX));
        assert_eq!(finished.code, Some(0));
    }

    #[tokio::test]
    async fn a_program_that_takes_too_long_is_given_up_and_ended() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let script = format!("echo $$ > {}; exec sleep 60", file.display());
        let given_up = shell(&script, Duration::from_millis(500)).await;
        assert!(matches!(given_up, Err(NotFinished::GivenUp)));
        let pid: u32 = std::fs::read_to_string(file)
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        void_testkit::eventually("it to be gone", || async {
            (!void_testkit::processes::is_running(pid)).then_some(())
        })
        .await;
        let program = Program {
            path: "/nonexistent".into(),
            args: Vec::new(),
            env: Vec::new(),
            dies_with_us: true,
        };
        let never = run(program, LONG).await;
        assert!(matches!(never, Err(NotFinished::NotStarted(_))));
    }
}
