//! What fail points leave behind: which were reached, how often, and whether something is still under way. An
//! answer may overtake the kill behind it; whoever reads the signs waits for that one, and for nothing else.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use void_testkit::eventually_blocking;

use crate::lab::Lab;

/// For what was begun and breaks off without reaching its end.
const TRAIL: Duration = Duration::from_millis(300);
const PAUSE: Duration = Duration::from_millis(5);

pub struct Signs {
    path: PathBuf,
    name: String,
    times: usize,
}

impl Signs {
    /// Of a process that is to end when it reaches this point that often.
    pub fn new(lab: &Lab, point: &str, times: u32) -> Self {
        Self {
            path: lab.path("signs"),
            name: point.to_owned(),
            times: usize::try_from(times).unwrap(),
        }
    }

    pub fn environment(&self) -> [(&'static str, String); 2] {
        [
            ("VOID_FAILPOINT", format!("{}#{}", self.name, self.times)),
            ("VOID_FAILPOINT_SIGNS", self.path.display().to_string()),
        ]
    }

    /// Whether it ends at its point, now or in a moment.
    pub fn was_killed(
        &self,
        is_at_rest: impl Fn(&[String]) -> bool,
        mut has_ended: impl FnMut() -> bool,
    ) -> bool {
        let end = Instant::now() + TRAIL;
        loop {
            let text = fs::read_to_string(&self.path).unwrap_or_default();
            let names: Vec<String> = text.lines().map(str::to_owned).collect();
            if count(&names, &self.name) >= self.times {
                eventually_blocking("the kill", || has_ended().then_some(()));
            }
            if has_ended() {
                return true;
            }
            if is_at_rest(&names) || Instant::now() >= end {
                return false;
            }
            thread::sleep(PAUSE);
        }
    }
}

pub fn count(names: &[String], name: &str) -> usize {
    names.iter().filter(|one| *one == name).count()
}

/// Everything that was begun has come to its end.
pub fn is_at_rest(names: &[String]) -> bool {
    names.iter().all(|name| {
        name.strip_suffix(".before")
            .is_none_or(|stem| count(names, &format!("{stem}.after")) >= count(names, name))
    })
}
