//! `void status`: one screen, in lines that a narrow terminal holds too.

use serde_json::Value;

use super::doctor::clocks;
use super::freeze;
use super::rows::word;
use super::{Session, storage};
use crate::exit::{Exit, Problem};
use crate::output::{Output, Tone};

/// How far the names of lines reach.
const NAME_COLUMNS: usize = 10;

pub(super) async fn status(session: &Session<'_>) -> Result<Exit, Problem> {
    let client = session.client()?;
    let status = client.get("/api/status").await?;
    let output = session.output;
    if output.json {
        output.value(status);
        return Ok(Exit::Done);
    }
    let screen = Screen {
        output,
        status: &status,
    };
    let base = client.base();
    screen.line("Void", format!("{} at {base}", word(&status, "version")));
    screen.show_catalogue();
    screen.show_waiting();
    screen.show_lab();
    screen.show_worries();
    screen.show_upkeep();
    Ok(Exit::Done)
}

struct Screen<'a> {
    output: &'a Output,
    status: &'a Value,
}

impl Screen<'_> {
    fn line(&self, name: &str, value: impl AsRef<str>) {
        let name = format!("{name:NAME_COLUMNS$}");
        self.output.hanging(&name, value.as_ref());
    }

    fn number(&self, name: &str) -> u64 {
        self.status.get(name).and_then(Value::as_u64).unwrap_or(0)
    }

    fn is(&self, name: &str) -> bool {
        self.status.get(name) == Some(&Value::Bool(true))
    }

    fn show_catalogue(&self) {
        if self.is("rehearsal") {
            let text = self.output.tone(Tone::Waiting, "REHEARSAL");
            self.line("Lab", format!("{text}: simulated, on this machine only"));
        }
        let digest = word(self.status, "catalogue_digest");
        let digest = digest.get(..12).unwrap_or("-");
        let commit = self.status.get("catalogue_commit").and_then(Value::as_str);
        let commit = commit
            .map(|commit| format!(", commit {}", commit.get(..12).unwrap_or(commit)))
            .unwrap_or_default();
        let actions = self.number("actions");
        self.line("Catalogue", format!("{actions} actions, {digest}{commit}"));
    }

    fn show_waiting(&self) {
        let told = |text: &str, command: &str| {
            let text = self.output.tone(Tone::Waiting, text);
            format!("{text}   {command}")
        };
        let mut lines = Vec::new();
        match self.number("waiting") {
            0 => {}
            1 => lines.push(told("1 approval", "void inbox ls")),
            n => lines.push(told(&format!("{n} approvals"), "void inbox ls")),
        }
        match self.number("joins") {
            0 => {}
            1 => lines.push(told("1 machine that asks to join", "void node ls")),
            n => lines.push(told(
                &format!("{n} machines that ask to join"),
                "void node ls",
            )),
        }
        if lines.is_empty() {
            lines.push("nothing".to_owned());
        }
        self.line("Waiting", lines.join("\n"));
        if self.number("untold") > 0 {
            let text = format!("nobody could be told about {}", self.number("untold"));
            self.worry("Untold", &text, "void notify ls");
        }
        self.show_told();
        self.line("Running", self.number("running").to_string());
    }

    /// Whether somebody hears of what is down: said if nobody does.
    fn show_told(&self) {
        let untold = self.number("services_untold");
        if self.number("channels") == 0 {
            let down = match untold {
                0 => String::new(),
                1 => ", not even that a service is down".to_owned(),
                n => format!(", not even that {n} services are down"),
            };
            let text = format!("nobody is told anything{down}: set TELEGRAM_BOT_TOKEN or NTFY_URL");
            return self.line("Told", format!("{text}   docs/notifications.md"));
        }
        let text = match untold {
            0 => return,
            1 => "nobody could be told that a service is down".to_owned(),
            n => format!("nobody could be told that {n} services are down"),
        };
        self.worry("Told", &text, "void notify ls");
    }

    fn show_lab(&self) {
        let (up, down) = (self.number("services_up"), self.number("services_down"));
        let unclear = self.number("services_unknown");
        let stopped = self.number("services_stopped");
        if up + down + unclear + stopped > 0 {
            let mut words = vec![format!("{up} up")];
            if down > 0 {
                words.push(self.output.tone(Tone::Bad, &format!("{down} down")));
            }
            if unclear > 0 {
                words.push(format!("{unclear} unknown"));
            }
            if stopped > 0 {
                let text = format!("{stopped} stopped by you");
                words.push(self.output.tone(Tone::Dim, &text));
            }
            self.line("Services", format!("{}   void services", words.join(", ")));
        }
        if self.number("mutes") > 0 {
            let text = format!("{}, not told while it lasts", self.number("mutes"));
            self.line("Muted", format!("{text}   void notify ls"));
        }
        if self.number("nodes") > 0 {
            let here = self.number("nodes_here");
            let away = match self.number("nodes").saturating_sub(here) {
                0 => String::new(),
                away => format!(", {}", self.output.tone(Tone::Bad, &format!("{away} away"))),
            };
            self.line("Nodes", format!("{here} here{away}   void node ls"));
        }
    }

    /// What is wrong, and what to type.
    fn worry(&self, name: &str, text: &str, command: &str) {
        let text = self.output.tone(Tone::Bad, text);
        self.line(name, format!("{text}   {command}"));
    }

    fn show_worries(&self) {
        if self.number("unknown") > 0 {
            let text = format!("{} with unknown outcome", self.number("unknown"));
            self.worry("Worry", &text, "void inbox ls");
        }
        if self.number("quarantined") > 0 {
            let text = format!(
                "{} credentials of an older copy",
                self.number("quarantined")
            );
            self.worry("Confirm", &text, "void quarantine ls");
        }
        let times = &self.output.times;
        if let Some(ahead_s) = self.status.get("clock_ahead_s").and_then(Value::as_i64) {
            let at = times.exact(word(self.status, "at"));
            let text = format!("{}; {at} is in force", clocks::apart(ahead_s));
            self.worry("Clock", &text, "void clock accept");
        }
        if self.is("frozen") {
            let text = self.output.tone(Tone::Bad, "nothing new starts");
            let told = freeze::told(times, self.status, "frozen_");
            self.line("Frozen", format!("{text}, {told}   void thaw"));
        }
    }

    fn show_upkeep(&self) {
        let instances: Vec<&str> = self
            .status
            .get("instances")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let others = match instances.len() {
            0 | 1 => String::new(),
            _ => format!(", of {}", instances.join(", ")),
        };
        let instance = word(self.status, "instance");
        self.line("Instance", format!("{instance}{others}"));
        let head = word(self.status, "audit_head");
        let head = head.get(..12).unwrap_or("-");
        let entries = self.number("audit_seq");
        self.line("Audit", format!("{entries} entries, head {head}"));
        if let Some(storage) = self.status.get("storage") {
            let (bytes, rows) = (storage::bytes(storage), storage::rows(storage));
            self.line("Storage", format!("{bytes}; rows: {rows}"));
            self.line("Kept", storage::kept(storage));
        }
    }
}
