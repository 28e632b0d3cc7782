//! `void agent run`: the process's side. It confines itself, sleeps until it is woken, works in the turns that the server
//! opens for it, sleeps again, and ends when the server does.
//!
//! The loop of a turn runs here: it asks for the next step, does what is asked of its own files, has the server do all
//! else, and asks again. It has no key, no model and no word of the conversation but what its files are to hold.
//!
//! One thread and no runtime: whatever waits, waits in one `read`, so a sleeping agent costs no processor and next to
//! no memory. That is also why it speaks HTTP by hand.

mod files;
mod messages;
mod requests;

use std::io::{self, BufRead, BufReader, Read as _, StdinLock};
use std::os::fd::AsFd as _;
use std::process::ExitCode;

use void_sandbox::{Kernel, PLAN_BYTES_MAX, SandboxPlan, confine};

use self::files::Files;
use self::messages::{FileAnswer, Step};
use self::requests::{Api, ApiError};
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
    let confined = match confine(&plan, Kernel::of_this_machine(), &[0, 1, 2]) {
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
    live(&mut lifeline, &api, &Files::of(&confined.folders))
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

fn live(lifeline: &mut BufReader<StdinLock<'_>>, api: &Api, files: &Files<'_>) -> ExitCode {
    let mut is_known = false;
    loop {
        if say(AWAKE).is_err() {
            return ExitCode::SUCCESS;
        }
        if let Err(why) = work(api, files, &mut is_known) {
            // What it was at ends with it, and is begun again with the next process.
            eprintln!("{why}");
            return ExitCode::from(UNKNOWN);
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

/// All turns that there are for it now, one after the other.
fn work(api: &Api, files: &Files<'_>, is_known: &mut bool) -> Result<(), ApiError> {
    if !*is_known {
        api.present_itself()?;
        println!("awake: the server knows this agent");
        *is_known = true;
    }
    while let Some((turn, pass)) = api.take_turn()? {
        println!("turn {turn}: begun");
        match lead(api, files, &turn, &pass) {
            Ok(()) => println!("turn {turn}: over"),
            // It is over for the server; there may be another one.
            Err(ApiError::Refused(status, why)) => {
                eprintln!("turn {turn}: refused ({status}): {why}");
            }
            Err(why) => return Err(why),
        }
    }
    Ok(())
}

fn lead(api: &Api, files: &Files<'_>, turn: &str, pass: &TokenText) -> Result<(), ApiError> {
    let mut answers = Vec::new();
    loop {
        let Step { over, calls } = api.step(turn, pass, answers)?;
        if over {
            return Ok(());
        }
        answers = Vec::with_capacity(calls.len());
        for call in calls {
            match call.file {
                Some(order) => answers.push(FileAnswer {
                    call: call.call,
                    file: files.answer(order),
                }),
                None if api.call(turn, pass, call.call)?.over => return Ok(()),
                None => {}
            }
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
