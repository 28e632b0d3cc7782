//! `void kb import`: what is in a folder is told to the server, which says what it would do; the owner says yes; the files are
//! sent in pieces. Whatever ends in the middle is finished by the same command: what is there already is not sent again.

use std::collections::BTreeMap;

use serde_json::json;
use void_api::vault_files::{
    VaultAgreement, VaultConflict, VaultImportPlanResponse, VaultOutcome, VaultPlace, VaultRename,
    VaultStep,
};
use void_domain::text;
use void_vault::{ContentHash, Scanned, VaultFolder, VaultPath};

use super::super::{Session, quoted};
use super::finding;
use super::vaults::{self, Piece, Vault, conflict_lines, show, text_or_content};
use crate::cli::KbImportArgs;
use crate::client::{Client, read};
use crate::exit::{CommandError, Exit};
use crate::output::{Output, confirm, is_interactive};

pub(super) async fn run(
    session: &Session<'_>,
    client: &Client,
    args: KbImportArgs,
) -> Result<Exit, CommandError> {
    let output = session.output;
    let space = finding::of_space(client, args.space.as_deref()).await?;
    let vault = Vault::new(client, &space);
    let opened = VaultFolder::open(&args.folder);
    let folder = opened.map_err(|error| vaults::folder_error(&args.folder, &error))?;
    let scanned = vaults::scan(output, &args.folder, &folder)?;
    let remarks = vaults::remarks(&scanned);
    let request = vaults::request(&scanned);
    let asked = vault.ask("import-plan", &request);
    let sent = output.waiting("comparing", asked).await?;
    let plan: VaultImportPlanResponse = read(sent.clone())?;
    if !output.json {
        show(output, &remarks);
        show_plan(output, &plan);
    }
    let mut import = Import {
        output,
        vault,
        folder,
        tally: Tally::default(),
    };
    if !args.dry_run {
        let Some(is_removing) = agreed(&args, &plan)? else {
            output.note("Nothing was changed.");
            return Ok(Exit::Interrupted);
        };
        import.carry_out(&plan, &scanned, is_removing).await?;
    }
    let tally = import.tally;
    let is_whole = plan.conflicts.is_empty() && tally.left.is_empty();
    if output.json {
        output.value(json!({
            "dry_run": args.dry_run,
            "plan": sent,
            "remarks": remarks,
            "done": tally.done,
            "left": tally.left,
        }));
    } else if !args.dry_run {
        show_end(session, &args, &plan, &tally);
    }
    Ok(match is_whole || args.dry_run {
        true => Exit::Done,
        false => Exit::Refused,
    })
}

fn show_plan(output: &Output, plan: &VaultImportPlanResponse) {
    let places = |verb: &str, places: &[VaultPlace]| -> Vec<String> {
        let line = |one: &VaultPlace| text::escaped(&format!("{verb}{} ({})", one.path, one.kind));
        places.iter().map(line).collect()
    };
    show(output, &places("create    ", &plan.create));
    show(output, &places("update    ", &plan.update));
    let renames = plan.rename.iter();
    let renames =
        renames.map(|one| text::escaped(&format!("rename    {} -> {}", one.from, one.to)));
    show(output, &renames.collect::<Vec<_>>());
    show(output, &places("gone      ", &plan.gone));
    show(output, &conflict_lines(&plan.conflicts));
    output.line(format!(
        "{} to create, {} to update, {} to rename, {} gone, {} in conflict, {} unchanged",
        plan.create.len(),
        plan.update.len(),
        plan.rename.len(),
        plan.gone.len(),
        plan.conflicts.len(),
        plan.unchanged,
    ));
}

/// Asks before anything is done. What is gone from the folder is a question of its own, and no is its answer.
fn agreed(
    args: &KbImportArgs,
    plan: &VaultImportPlanResponse,
) -> Result<Option<bool>, CommandError> {
    let changes = plan.create.len() + plan.update.len() + plan.rename.len();
    if changes > 0 && !args.yes {
        if !is_interactive() {
            return Err(
                CommandError::usage("nobody is here to be asked whether to go on")
                    .next("add --yes, or --dry-run to see what would be done"),
            );
        }
        if !confirm(&format!("Take in {changes} files?")) {
            return Ok(None);
        }
    }
    if plan.gone.is_empty() || args.remove_gone {
        return Ok(Some(args.remove_gone));
    }
    let count = plan.gone.len();
    let question =
        format!("{count} files are gone from the folder. Throw away what they were here?");
    Ok(Some(!args.yes && is_interactive() && confirm(&question)))
}

/// What was done, and what was not and why.
#[derive(Default)]
struct Tally {
    done: BTreeMap<String, u64>,
    left: Vec<VaultConflict>,
}

impl Tally {
    fn add(&mut self, outcome: VaultOutcome) {
        match outcome.message {
            Some(message) => self.left.push(VaultConflict {
                path: outcome.path,
                reason: outcome.reason.unwrap_or(outcome.outcome),
                message,
            }),
            None => *self.done.entry(outcome.outcome.into_owned()).or_default() += 1,
        }
    }

    fn leave(&mut self, path: &str, reason: &'static str, message: String) {
        self.left.push(VaultConflict {
            path: path.to_owned(),
            reason: reason.into(),
            message,
        });
    }
}

struct Import<'a> {
    output: &'a Output,
    vault: Vault<'a>,
    folder: VaultFolder,
    tally: Tally,
}

impl Import<'_> {
    /// What goes is let go first, then what moved moves, then the rest comes: so no path is held twice on the way, and
    /// an end anywhere leaves what a second import finishes.
    async fn carry_out(
        &mut self,
        plan: &VaultImportPlanResponse,
        scanned: &Scanned,
        is_removing: bool,
    ) -> Result<(), CommandError> {
        let gone: &[VaultPlace] = if is_removing { &plan.gone } else { &[] };
        let removes = gone.iter().map(remove);
        let small = removes
            .chain(plan.rename.iter().map(rename))
            .chain(plan.agree.iter().map(agree));
        let mut piece = Piece::default();
        for step in small {
            if piece.is_full_for(0) {
                self.send(&mut piece).await?;
            }
            piece.push(step, 0);
        }
        self.send(&mut piece).await?;
        let files: Vec<&VaultPlace> = plan.create.iter().chain(&plan.update).collect();
        let known: BTreeMap<&str, (ContentHash, usize)> = scanned
            .files
            .iter()
            .map(|file| (file.path.as_str(), (file.hash, file.bytes)))
            .collect();
        for (at, place) in files.iter().enumerate() {
            let Some((hash, size)) = known.get(place.path.as_str()).copied() else {
                continue;
            };
            if piece.is_full_for(size) {
                self.send(&mut piece).await?;
                self.output.progress("imported", at, files.len());
            }
            match self.read_file(&place.path, hash) {
                Ok(step) => piece.push(step, size),
                Err(message) => self.tally.leave(&place.path, "unread", message),
            }
        }
        self.send(&mut piece).await?;
        if !files.is_empty() {
            self.output.progress("imported", files.len(), files.len());
        }
        Ok(())
    }

    /// The file as it was when the plan was made, or why not.
    fn read_file(&self, path: &str, hash: ContentHash) -> Result<VaultStep, String> {
        let parsed = VaultPath::parse(path).map_err(|error| error.to_string())?;
        let bytes = self.folder.read_planned(&parsed, hash);
        let (text, content) = text_or_content(bytes.map_err(|error| error.to_string())?);
        Ok(VaultStep {
            step: "put".into(),
            path: path.to_owned(),
            text,
            content,
            ..VaultStep::default()
        })
    }

    async fn send(&mut self, piece: &mut Piece) -> Result<(), CommandError> {
        let steps = piece.take();
        if steps.is_empty() {
            return Ok(());
        }
        let outcomes = self.vault.take(steps).await;
        for outcome in outcomes.map_err(may_be_repeated)? {
            self.tally.add(outcome);
        }
        Ok(())
    }
}

/// What was done stays done, and the rest is still to do.
fn may_be_repeated(mut error: CommandError) -> CommandError {
    error
        .message
        .push_str("; the same import once more goes on from here");
    error
}

fn remove(place: &VaultPlace) -> VaultStep {
    VaultStep {
        step: "remove".into(),
        path: place.path.clone(),
        ..VaultStep::default()
    }
}

fn rename(one: &VaultRename) -> VaultStep {
    VaultStep {
        step: "move".into(),
        path: one.from.clone(),
        to: Some(one.to.clone()),
        ..VaultStep::default()
    }
}

pub(super) fn agree(one: &VaultAgreement) -> VaultStep {
    VaultStep {
        step: "agree".into(),
        path: one.path.clone(),
        sha256: Some(one.sha256.clone()),
        kind: Some(one.kind.clone()),
        id: Some(one.id.clone()),
        ..VaultStep::default()
    }
}

fn show_end(
    session: &Session<'_>,
    args: &KbImportArgs,
    plan: &VaultImportPlanResponse,
    tally: &Tally,
) {
    let output = session.output;
    let count = |word: &str| tally.done.get(word).copied().unwrap_or_default();
    output.line(format!(
        "Imported: {} created, {} updated, {} renamed, {} thrown away",
        count("created"),
        count("updated"),
        count("moved"),
        count("removed"),
    ));
    show(output, &conflict_lines(&tally.left));
    if !plan.conflicts.is_empty() {
        output.note("What changed on both sides was left as it is on both: make one like the other, then import again.");
    }
    if !plan.gone.is_empty() && count("removed") == 0 {
        let space = args.space.as_deref();
        let space = space.map(|space| format!(" --space {}", quoted(space)));
        let command = format!(
            "kb import {}{} --remove-gone",
            quoted(&args.folder.display().to_string()),
            space.unwrap_or_default()
        );
        output.note(format!(
            "What is gone from the folder is still here; to throw it away: {}",
            session.again(&command)
        ));
    }
}
