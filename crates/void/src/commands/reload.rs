//! `void reload`: the running server takes over its catalogue, services and settings as they are in the files now.

use std::collections::BTreeMap;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::time::Instant;
use void_domain::catalogue::Catalogue;
use void_domain::text;

use super::rows::word;
use super::{Session, patiently};
use crate::cli::ReloadArgs;
use crate::exit::{Exit, Problem};
use crate::output::Tone;
use crate::running::{self, Note};
use crate::settings::Settings;
use crate::{catalogue, services};

/// Running actions have half a minute to end, and the next process starts within seconds.
const PATIENCE: Duration = Duration::from_secs(90);
const LOOK_EVERY: Duration = Duration::from_millis(100);

pub(super) async fn run(session: &Session<'_>, args: ReloadArgs) -> Result<Exit, Problem> {
    let folder = &session.settings.data.value;
    let note = running::find(folder).ok_or_else(|| {
        Problem::failed(
            "not_running",
            format!("no Void runs on {}", folder.display()),
        )
        .next("void serve; or name its folder with --data")
    })?;
    let changes = Changes::look(session, &note).await?;
    changes.show(session, args.dry_run);
    if args.dry_run {
        return Ok(Exit::Done);
    }
    let told = i32::try_from(note.pid)
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| Problem::failed("internal", "the note of the running server has no process"))
        .and_then(|pid| {
            kill_process(pid, Signal::HUP).map_err(|error| {
                Problem::failed(
                    "not_yours",
                    format!("process {} cannot be told: {error}", note.pid),
                )
                .next("run this as the account that runs Void, or: systemctl reload void")
            })
        });
    told?;
    patiently(session, "reloading", wait(session, &note)).await?;
    if session.output.json {
        session
            .output
            .value(json!({"reloaded": true, "changes": changes.to_value()}));
    } else {
        session
            .output
            .line(session.output.tone(Tone::Good, "Reloaded."));
    }
    Ok(Exit::Done)
}

/// Until the next process answers, or this one has said why not.
async fn wait(session: &Session<'_>, before: &Note) -> Result<(), Problem> {
    let (client, folder) = (session.client()?, &session.settings.data.value);
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some(note) = running::find(folder) else {
            continue;
        };
        let is_next = note.start != before.start;
        if is_next && client.get("/api/status").await.is_ok() {
            return Ok(());
        }
        if !is_next && note.refusals != before.refusals {
            let why = note.refusal.unwrap_or_default();
            return Err(Problem::config(format!("nothing was changed: {why}"))
                .next("void actions lint, void config check"));
        }
    }
    Err(
        Problem::new(Exit::Unconfirmed, "unconfirmed", "it has not come back yet")
            .next("void status; its log says what it waits for"),
    )
}

/// What the files say that the running server does not.
struct Changes {
    appear: Vec<String>,
    go: Vec<String>,
    change: Vec<String>,
    services: bool,
    /// What waits for an action that goes or changes.
    withdrawn: Vec<String>,
    notes: Vec<String>,
}

impl Changes {
    async fn look(session: &Session<'_>, note: &Note) -> Result<Self, Problem> {
        let mut settings: Settings = session.settings.clone();
        settings.actions.value.clone_from(&note.actions);
        settings.services.value.clone_from(&note.services);
        let next = catalogue::load(&settings)?;
        let watched = services::load(&settings)?;
        let client = session.client()?;
        let now = client.get("/api/actions").await?;
        let (appear, go, change) = compare(&now, &next);
        let seen = client.get("/api/services").await?;
        let mut before: Vec<&str> = list(&seen, "services").map(|one| word(one, "id")).collect();
        let mut after: Vec<&str> = watched.iter().map(|one| one.id.as_str()).collect();
        before.sort_unstable();
        after.sort_unstable();
        let inbox = client.get("/api/inbox").await?;
        let is_over = |id: &str| go.iter().chain(&change).any(|gone| gone == id);
        let withdrawn = list(&inbox, "items")
            .filter(|row| is_over(word(row, "action_id")))
            .map(|row| format!("{} {}", word(row, "code"), word(row, "label")))
            .collect();
        let mut notes: Vec<String> = next.warnings().iter().map(ToString::to_string).collect();
        notes.extend(services::unknown_checks(&next, &watched));
        Ok(Self {
            services: before != after,
            appear,
            go,
            change,
            withdrawn,
            notes,
        })
    }

    fn to_value(&self) -> Value {
        json!({
            "appear": self.appear, "go": self.go, "change": self.change, "services": self.services,
            "withdrawn": self.withdrawn, "notes": self.notes,
        })
    }

    fn show(&self, session: &Session<'_>, is_all: bool) {
        let output = session.output;
        if output.json {
            if is_all {
                output.value(json!({"reloaded": false, "changes": self.to_value()}));
            }
            return;
        }
        for (sign, tone, ids) in [
            ("+", Tone::Good, &self.appear),
            ("-", Tone::Bad, &self.go),
            ("~", Tone::Waiting, &self.change),
        ] {
            for id in ids {
                output.line(output.tone(tone, &format!("{sign} {id}")));
            }
        }
        if self.appear.is_empty() && self.go.is_empty() && self.change.is_empty() {
            output.line("The actions are the same.");
        }
        if self.services {
            output.line("The watched services are others.");
        }
        for waiting in &self.withdrawn {
            let text = format!("withdrawn, ask again: {}", text::escaped(waiting));
            output.line(output.tone(Tone::Waiting, &text));
        }
        for note in &self.notes {
            output.note(format!("note: {note}"));
        }
    }
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value
        .get(name)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// The ids that appear, go and change.
fn compare(now: &Value, next: &Catalogue) -> (Vec<String>, Vec<String>, Vec<String>) {
    let before: BTreeMap<&str, &str> = list(now, "actions")
        .map(|action| (word(action, "id"), word(action, "digest")))
        .collect();
    let after: BTreeMap<String, String> = next
        .actions()
        .map(|action| (action.id.to_string(), action.digest().to_string()))
        .collect();
    let appear = after.keys().filter(|id| !before.contains_key(id.as_str()));
    let go = before.keys().filter(|id| !after.contains_key(**id));
    let change = after
        .iter()
        .filter(|(id, digest)| before.get(id.as_str()).is_some_and(|known| known != digest));
    (
        appear.cloned().collect(),
        go.map(|id| (*id).to_owned()).collect(),
        change.map(|(id, _)| id.clone()).collect(),
    )
}
