//! `void agent run`: the process's side. It confines itself, sleeps, and ends when the server does.
//!
//! One thread and no runtime: whatever waits, waits in one `read`, so a sleeping agent costs no processor and next to
//! no memory. That is also why it speaks HTTP by hand.

mod requests;

use std::io::{self, BufRead, BufReader, Read as _, StdinLock};
use std::os::fd::AsFd as _;
use std::process::ExitCode;

use void_sandbox::{Kernel, PLAN_BYTES_MAX, SandboxPlan, confine};

use self::requests::Api;
use crate::lifelines::{ASLEEP, AWAKE, WAKE, WORD_BYTES_MAX};
use crate::orders::{TOKEN_FD, TokenText};

/// Its exit codes: it was started by somebody else than the server, it could not be confined, the server does not
/// know it.
const MISUSED: u8 = 2;
pub const NOT_CONFINED: u8 = 78;
const UNKNOWN: u8 = 77;
const TOKEN_BYTES_MAX: u64 = 512;

/// Before there is a second thread. `variable` reads the environment.
pub fn run_agent(variable: impl Fn(&str) -> Option<String>) -> ExitCode {
    let token_fd = variable("VOID_TOKEN_FD").and_then(|text| text.parse::<i32>().ok());
    let (Some(url), Some(name), Some(TOKEN_FD)) =
        (variable("VOID_API_URL"), variable("VOID_AGENT"), token_fd)
    else {
        eprintln!("void agent run is started by the server: void agents start NAME");
        return ExitCode::from(MISUSED);
    };
    let mut lifeline = BufReader::new(io::stdin().lock());
    let Some((token, plan)) = orders(&mut lifeline) else {
        eprintln!("the server said nothing that an agent can begin with");
        return ExitCode::from(MISUSED);
    };
    // All of it is held until the process ends.
    let _confined = match confine(&plan, Kernel::of_this_machine(), &[0, 1, 2]) {
        Ok(confined) => confined,
        Err(why) => {
            eprintln!("not started: {why}");
            return ExitCode::from(NOT_CONFINED);
        }
    };
    drop(plan);
    let Some(api) = Api::new(&url, &name, token) else {
        eprintln!("not started: {url} is not where a server is");
        return ExitCode::from(MISUSED);
    };
    live(&mut lifeline, &api)
}

fn orders(lifeline: &mut BufReader<StdinLock<'_>>) -> Option<(TokenText, SandboxPlan)> {
    let token = TokenText::new(&line(lifeline, TOKEN_BYTES_MAX)?)?;
    let plan = line(lifeline, u64::try_from(PLAN_BYTES_MAX).ok()?)?;
    match SandboxPlan::read(&plan) {
        Ok(plan) => Some((token, plan)),
        Err(why) => {
            eprintln!("{why}");
            None
        }
    }
}

/// `None` at its end, and for a line that is too long.
fn line(lifeline: &mut impl BufRead, bytes_max: u64) -> Option<String> {
    let mut text = String::new();
    lifeline.take(bytes_max).read_line(&mut text).ok()?;
    text.strip_suffix('\n').map(str::to_owned)
}

fn live(lifeline: &mut impl BufRead, api: &Api) -> ExitCode {
    loop {
        if say(AWAKE).is_err() {
            return ExitCode::SUCCESS;
        }
        match api.present_itself() {
            Ok(()) => println!("awake: the server knows this agent"),
            Err(why) => {
                eprintln!("{why}");
                return ExitCode::from(UNKNOWN);
            }
        }
        if say(ASLEEP).is_err() {
            return ExitCode::SUCCESS;
        }
        match line(lifeline, WORD_BYTES_MAX).as_deref() {
            Some(WAKE) => {}
            // The server is gone, or is no server.
            Some(_) | None => return ExitCode::SUCCESS,
        }
    }
}

fn say(word: &str) -> io::Result<()> {
    let text = format!("{word}\n");
    let written = rustix::io::write(io::stdin().as_fd(), text.as_bytes())?;
    match written == text.len() {
        true => Ok(()),
        false => Err(io::ErrorKind::WriteZero.into()),
    }
}
