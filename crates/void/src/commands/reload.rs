//! `void reload`: the running server takes over its catalogue, services and settings as they are in the files now.

use std::collections::BTreeMap;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use void_api::actions::ActionsResponse;
use void_api::inbox::{InboxResponse, ItemResponse};
use void_api::status::StatusResponse;
use void_domain::catalogue::Catalogue;
use void_domain::executions::Route;
use void_domain::failures::FailureCode;
use void_domain::hosts::{Host, HostName, Reach};
use void_domain::text;
use void_store::backups::held_by;

use super::{Session, hosts, patiently};
use crate::catalogue::Unmoved;
use crate::cli::ReloadArgs;
use crate::client::Client;
use crate::exit::{CommandError, Exit};
use crate::hints::NAME;
use crate::output::{Output, Tone};
use crate::running::{self, Note};
use crate::settings::Settings;
use crate::{catalogue, services};

/// Running actions have half a minute to end, and the next process starts within seconds.
const PATIENCE: Duration = Duration::from_secs(90);
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Far more than may wait at the same time, even if every page is cut short by its bytes.
const INBOX_PAGES_MAX: usize = 1_000;

pub(super) async fn run(session: &Session<'_>, args: ReloadArgs) -> Result<Exit, CommandError> {
    let folder = &session.settings.data.value;
    let Some(note) = running::find(folder) else {
        return Err(unnoted(session).await);
    };
    let changes = Changes::look(session, &note).await?;
    changes.show(session, args.dry_run);
    if args.dry_run {
        return Ok(Exit::Done);
    }
    let told = i32::try_from(note.pid)
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| {
            CommandError::failed(
                FailureCode::Internal,
                "the note of the running server has no process",
            )
        })
        .and_then(|pid| {
            kill_process(pid, Signal::HUP).map_err(|error| {
                CommandError::failed(
                    FailureCode::NotYours,
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
            .value(json!({"reloaded": true, "changes": changes.to_value(session.output)}));
    } else {
        session
            .output
            .line(session.output.tone(Tone::Good, "Reloaded."));
    }
    Ok(Exit::Done)
}

/// Nothing says that it can be told to reload: none runs there, or what runs is a rehearsal, whose lab is made anew.
async fn unnoted(session: &Session<'_>) -> CommandError {
    let folder = session.settings.data.value.display();
    if held_by(&session.settings.database_file()).is_none() {
        let message = format!("no Void runs on {folder}");
        return CommandError::failed(FailureCode::NotRunning, message)
            .next("void serve; or name its folder with --data");
    }
    let status: Option<StatusResponse> = match session.client() {
        Ok(client) => client.get_as("/api/status").await.ok(),
        Err(_) => None,
    };
    if status.is_some_and(|status| status.rehearsal) {
        let message = "a rehearsal is not reloaded: each one begins with its own files";
        return CommandError::failed(FailureCode::NotRunning, message)
            .next("Ctrl-C in its terminal, then start the demo again");
    }
    let message = format!("the Void on {folder} is just starting, or cannot be told by a command");
    CommandError::failed(FailureCode::NotRunning, message)
        .next("void reload once more; or systemctl reload void")
}

/// Until the next process answers, or this one has said why not.
async fn wait(session: &Session<'_>, before: &Note) -> Result<(), CommandError> {
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
            return Err(CommandError::config(format!("nothing was changed: {why}"))
                .next("void actions lint, void config check"));
        }
    }
    Err(CommandError::exiting(
        Exit::Unconfirmed,
        FailureCode::Unconfirmed,
        "it has not come back yet",
    )
    .next("void status; its log says what it waits for"))
}

/// What the files say that the running server does not.
struct Changes {
    actions: Difference,
    services: Difference,
    /// What waits for an action that goes or changes.
    withdrawn: Vec<String>,
    /// An approved change of the catalogue that nobody has moved into place.
    unmoved: Option<Unmoved>,
    /// Hosts whose own lists may have to follow, with the command for it.
    lists: BTreeMap<String, String>,
    notes: Vec<String>,
}

impl Changes {
    async fn look(session: &Session<'_>, note: &Note) -> Result<Self, CommandError> {
        let mut settings: Settings = session.settings.clone();
        settings.actions.value.clone_from(&note.actions);
        settings.services.value.clone_from(&note.services);
        let next = catalogue::load(&settings)?;
        let watched = services::load(&settings)?;
        let client = session.client()?;
        let now: ActionsResponse = client.get_as("/api/actions").await?;
        let now = (now.actions.into_iter())
            .map(|action| (action.id, action.digest))
            .collect();
        let then = next
            .actions()
            .map(|action| (action.id.to_string(), action.digest().to_string()))
            .collect();
        let actions = Difference::between(&now, &then);
        let mut notes: Vec<String> = next.warnings().iter().map(ToString::to_string).collect();
        notes.extend(services::unknown_checks(&next, &watched));
        Ok(Self {
            withdrawn: withdrawn(&client, &actions, &mut notes).await?,
            services: Difference::between(&note.watched, &services::digests(watched.iter())),
            lists: lists(&next, &actions),
            actions,
            unmoved: catalogue::unmoved(&settings.actions.value),
            notes,
        })
    }

    fn to_value(&self, output: &Output) -> Value {
        let Difference { appear, go, change } = &self.actions;
        let lists: BTreeMap<&String, String> = (self.lists.iter())
            .map(|(host, command)| (host, output.typed(command)))
            .collect();
        let unmoved = self.unmoved.as_ref().map(
            |it| json!({"file": it.file, "message": it.message, "next": output.typed(&it.next)}),
        );
        json!({
            "appear": appear, "go": go, "change": change, "services": self.services,
            "withdrawn": self.withdrawn, "unmoved": unmoved, "lists": lists, "notes": self.notes,
        })
    }

    fn show(&self, session: &Session<'_>, is_all: bool) {
        let output = session.output;
        if output.json {
            if is_all {
                output.value(json!({"reloaded": false, "changes": self.to_value(output)}));
            }
            return;
        }
        self.actions.show(output, "");
        if self.actions.is_empty() {
            output.line("The actions are the same.");
        }
        self.services.show(output, "service ");
        for waiting in &self.withdrawn {
            let text = format!("withdrawn, ask again: {}", text::escaped(waiting));
            output.line(output.tone(Tone::Waiting, &text));
        }
        for (host, command) in &self.lists {
            output.note(format!(
                "note: what is new or changed runs on {host} once its own list has it"
            ));
            output.note(format!("  next: {}", output.typed(command)));
        }
        for note in &self.notes {
            output.note(format!("note: {note}"));
        }
        if let Some(unmoved) = &self.unmoved {
            output.note(format!("note: {}", text::escaped(&unmoved.message)));
            output.note(format!("  next: {}", output.typed(&unmoved.next)));
        }
    }
}

/// The hosts that carry out what appears or changes.
fn lists(next: &Catalogue, actions: &Difference) -> BTreeMap<String, String> {
    let is_new = |id: &str| {
        let mut new = actions.appear.iter().chain(&actions.change);
        new.any(|known| known == id)
    };
    let hosts = next
        .actions()
        .filter(|action| is_new(&action.id.to_string()))
        .filter_map(|action| match action.route() {
            Route::Host(host) => Some(host),
            Route::Proxmox(_) | Route::Node(_) | Route::File => None,
        });
    let command = |host: &Host| format!("{NAME} {}", hosts::provision(list_name(host)));
    hosts
        .map(|host| (host.name.to_string(), command(host)))
        .collect()
}

/// The host as `void provision` is told it.
fn list_name(host: &Host) -> &str {
    match host.reach {
        Reach::Local => HostName::LOCAL,
        Reach::Ssh(_) => host.name.as_str(),
    }
}

/// The code and label of everything that waits for an action that goes or changes.
async fn withdrawn(
    client: &Client,
    actions: &Difference,
    notes: &mut Vec<String>,
) -> Result<Vec<String>, CommandError> {
    let is_over = |id: &str| {
        actions
            .go
            .iter()
            .chain(&actions.change)
            .any(|gone| gone == id)
    };
    let mut withdrawn = Vec::new();
    let mut path = "/api/inbox".to_owned();
    for _ in 0..INBOX_PAGES_MAX {
        let inbox: InboxResponse = client.get_as(&path).await?;
        let waiting = inbox.items.iter().filter_map(|item| match item {
            ItemResponse::Row(item) if item.kind == "proposal" => Some(&item.row),
            ItemResponse::Row(_) | ItemResponse::Join(_) | ItemResponse::Question(_) => None,
        });
        withdrawn.extend(
            waiting
                .filter(|row| row.action_id.as_deref().is_some_and(is_over))
                .map(|row| format!("{} {}", row.code, row.label)),
        );
        let Some(next) = inbox.next else {
            return Ok(withdrawn);
        };
        path = format!("/api/inbox?cursor={next}");
    }
    notes.push("more waits than was looked at; some of it may be withdrawn too".to_owned());
    Ok(withdrawn)
}

/// The ids that appear, go and change.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Difference {
    appear: Vec<String>,
    go: Vec<String>,
    change: Vec<String>,
}

impl Difference {
    /// Between what each id stands for now and then.
    fn between(now: &BTreeMap<String, String>, then: &BTreeMap<String, String>) -> Self {
        let appear = then.keys().filter(|id| !now.contains_key(*id));
        let go = now.keys().filter(|id| !then.contains_key(*id));
        let change = then
            .iter()
            .filter(|(id, digest)| now.get(*id).is_some_and(|known| known != *digest))
            .map(|(id, _)| id);
        Self {
            appear: appear.cloned().collect(),
            go: go.cloned().collect(),
            change: change.cloned().collect(),
        }
    }

    fn is_empty(&self) -> bool {
        self.appear.is_empty() && self.go.is_empty() && self.change.is_empty()
    }

    fn show(&self, output: &Output, kind: &str) {
        for (sign, tone, ids) in [
            ("+", Tone::Good, &self.appear),
            ("-", Tone::Bad, &self.go),
            ("~", Tone::Waiting, &self.change),
        ] {
            for id in ids {
                output.line(output.tone(tone, &format!("{sign} {kind}{id}")));
            }
        }
    }
}
