//! The system's git, by fixed arguments and with nothing of the environment. Nothing of a repository is run: no hooks, no
//! filters, no monitor, no signing, no fetching; and nobody's configuration but the repository's own is read.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use void_domain::text;

use crate::process::{self, Program};

const WITHIN: Duration = Duration::from_secs(20);
/// Where git is looked for.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// How much of what git says is told.
const TOLD_BYTES_MAX: usize = 300;

/// What git printed, or what it said that was wrong.
pub(crate) async fn run(
    folder: &Path,
    args: Vec<OsString>,
    more: Vec<(&'static str, OsString)>,
) -> Result<String, String> {
    let said = run_exact(folder, args, more).await?;
    Ok(String::from_utf8_lossy(&said).into_owned())
}

/// The same byte by byte, as far as it fits into what a program may answer.
pub(crate) async fn run_exact(
    folder: &Path,
    args: Vec<OsString>,
    more: Vec<(&'static str, OsString)>,
) -> Result<Vec<u8>, String> {
    let mut all: Vec<OsString> = vec!["-C".into(), folder.to_owned().into_os_string()];
    for setting in [
        "core.fsmonitor=false",
        "core.hooksPath=/dev/null",
        "gc.auto=0",
    ] {
        all.extend(["-c".into(), setting.into()]);
    }
    all.extend(args);
    let mut env: Vec<(&'static str, OsString)> = vec![
        ("PATH", PATH.into()),
        ("GIT_CONFIG_NOSYSTEM", "1".into()),
        ("GIT_CONFIG_GLOBAL", "/dev/null".into()),
        ("GIT_TERMINAL_PROMPT", "0".into()),
        ("GIT_NO_LAZY_FETCH", "1".into()),
        ("GIT_OPTIONAL_LOCKS", "0".into()),
        ("LC_ALL", "C".into()),
    ];
    env.extend(more);
    let program = Program {
        path: "git".into(),
        args: all,
        env,
        dies_with_us: false,
    };
    match process::run(program, WITHIN).await {
        Ok(finished) if finished.code == Some(0) => Ok(finished.stdout),
        Ok(finished) => Err(text::escaped(text::cut(
            finished.stderr.trim(),
            TOLD_BYTES_MAX,
        ))),
        Err(process::NotFinished::NotStarted(error)) => Err(format!("git does not start: {error}")),
        Err(process::NotFinished::GivenUp) => Err("git took too long".to_owned()),
    }
}
