//! `void status`: one screen, in lines that a narrow terminal holds too.

use void_api::status::StatusResponse;

use super::doctor::clocks;
use super::freeze;
use super::{Session, storage};
use crate::client::read;
use crate::exit::{CommandError, Exit};
use crate::output::{Output, Tone};

/// How far the names of lines reach.
const NAME_COLUMNS: usize = 10;

pub(super) async fn status(session: &Session<'_>) -> Result<Exit, CommandError> {
    let client = session.client()?;
    let status = client.get("/api/status").await?;
    let output = session.output;
    if output.json {
        output.value(status);
        return Ok(Exit::Done);
    }
    let status: StatusResponse = read(status)?;
    let screen = Screen {
        output,
        status: &status,
    };
    let base = client.base();
    screen.line("Void", format!("{} at {base}", status.version));
    screen.show_catalogue();
    screen.show_waiting();
    screen.show_lab();
    screen.show_worries();
    screen.show_upkeep();
    Ok(Exit::Done)
}

struct Screen<'a> {
    output: &'a Output,
    status: &'a StatusResponse,
}

impl Screen<'_> {
    fn line(&self, name: &str, value: impl AsRef<str>) {
        let name = format!("{name:NAME_COLUMNS$}");
        self.output.hanging(&name, value.as_ref());
    }

    fn show_catalogue(&self) {
        if self.status.rehearsal {
            let text = self.output.tone(Tone::Waiting, "REHEARSAL");
            self.line("Lab", format!("{text}: simulated, on this machine only"));
        }
        let digest = &self.status.catalogue_digest;
        let digest = digest.get(..12).unwrap_or("-");
        let commit = self.status.catalogue_commit.as_deref();
        let commit = commit
            .map(|commit| format!(", commit {}", commit.get(..12).unwrap_or(commit)))
            .unwrap_or_default();
        let actions = self.status.actions;
        let actions = match actions {
            1 => "1 action".to_owned(),
            more => format!("{more} actions"),
        };
        self.line("Catalogue", format!("{actions}, {digest}{commit}"));
    }

    fn show_waiting(&self) {
        let told = |text: &str, command: &str| {
            let text = self.output.tone(Tone::Waiting, text);
            format!("{text}   {}", self.output.typed(command))
        };
        let mut lines = Vec::new();
        match self.status.waiting {
            0 => {}
            1 => lines.push(told("1 approval", "void inbox ls")),
            n => lines.push(told(&format!("{n} approvals"), "void inbox ls")),
        }
        match self.status.joins {
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
        if self.status.untold > 0 {
            let text = format!("nobody could be told about {}", self.status.untold);
            self.worry("Untold", &text, "void notify ls");
        }
        self.show_told();
        self.line("Running", self.status.running.to_string());
    }

    /// Whether somebody hears of what is down: said if nobody does.
    fn show_told(&self) {
        let untold = self.status.services_untold;
        if self.status.channels == 0 {
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
        let (up, down) = (self.status.services_up, self.status.services_down);
        let unclear = self.status.services_unknown;
        let stopped = self.status.services_stopped;
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
            let command = self.output.typed("void services");
            self.line("Services", format!("{}   {command}", words.join(", ")));
        }
        if self.status.mutes > 0 {
            let text = format!("{}, not told while it lasts", self.status.mutes);
            let command = self.output.typed("void notify ls");
            self.line("Muted", format!("{text}   {command}"));
        }
        if self.status.nodes > 0 {
            let here = self.status.nodes_here;
            let away = match self.status.nodes.saturating_sub(here) {
                0 => String::new(),
                away => format!(", {}", self.output.tone(Tone::Bad, &format!("{away} away"))),
            };
            let command = self.output.typed("void node ls");
            self.line("Nodes", format!("{here} here{away}   {command}"));
        }
    }

    /// What is wrong, and what to type.
    fn worry(&self, name: &str, text: &str, command: &str) {
        let text = self.output.tone(Tone::Bad, text);
        self.line(name, format!("{text}   {}", self.output.typed(command)));
    }

    fn show_worries(&self) {
        if self.status.unknown > 0 {
            let text = format!("{} with unknown outcome", self.status.unknown);
            self.worry("Worry", &text, "void inbox ls");
        }
        if self.status.quarantined > 0 {
            let text = format!("{} credentials of an older copy", self.status.quarantined);
            self.worry("Confirm", &text, "void quarantine ls");
        }
        if !self.status.open_fences.is_empty() {
            let open = self.status.open_fences.join(", ");
            let text = format!("agents run without all of their sandbox; open: {open}");
            self.worry("Sandbox", &text, "void doctor");
        }
        let times = &self.output.times;
        if let Some(ahead_s) = self.status.clock_ahead_s {
            let at = times.exact(&self.status.at);
            let text = format!("{}; {at} is in force", clocks::apart(ahead_s));
            self.worry("Clock", &text, "void clock accept");
        }
        if self.status.frozen {
            let text = self.output.tone(Tone::Bad, "nothing new starts");
            let told = freeze::told(
                times,
                self.status.frozen_by.as_deref(),
                self.status.frozen_reason.as_deref(),
                self.status.frozen_until.as_deref(),
            );
            let thaw = self.output.typed("void thaw");
            self.line("Frozen", format!("{text}, {told}   {thaw}"));
        }
    }

    fn show_upkeep(&self) {
        let instances = &self.status.instances;
        let others = match instances.len() {
            0 | 1 => String::new(),
            _ => format!(", of {}", instances.join(", ")),
        };
        let instance = &self.status.instance;
        self.line("Instance", format!("{instance}{others}"));
        let head = self.status.audit_head.as_deref();
        let head = head.and_then(|head| head.get(..12)).unwrap_or("-");
        let entries = self.status.audit_seq;
        self.line("Audit", format!("{entries} entries, head {head}"));
        let storage = &self.status.storage;
        let (bytes, rows) = (storage::bytes(storage), storage::rows(storage));
        self.line("Storage", format!("{bytes}; rows: {rows}"));
        self.line("Kept", storage::kept(storage));
        if let Some(embeddings) = &self.status.embeddings {
            let told = format!("{} of {} texts", embeddings.done, embeddings.total);
            let told = match &embeddings.message {
                Some(trouble) => format!("{told}; {trouble}"),
                None => told,
            };
            self.line("Vectors", told);
        }
    }
}
