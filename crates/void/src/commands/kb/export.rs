//! `void kb export`: a space as a folder of Markdown. A file that changed since Void last saw it is never overwritten, and
//! nothing is removed. What was written is told to the server in pieces, so that an export that ended in the middle goes on.

use std::path::Path;

use serde_json::json;
use void_api::vault_files::{
    VAULT_STEPS_MAX, VaultAgreement, VaultConflict, VaultContent, VaultExportPlanResponse,
    VaultExportResponse, VaultStep, VaultWanted, VaultWrite,
};
use void_domain::failures::FailureCode;
use void_domain::text;
use void_vault::{ContentHash, VaultFolder, VaultPath};

use super::super::Session;
use super::finding;
use super::import::agree;
use super::vaults::{self, Vault, bytes_of, conflict_lines, show};
use crate::cli::KbExportArgs;
use crate::client::{Client, read};
use crate::exit::{CommandError, Exit};
use crate::output::{Output, confirm, is_interactive};

pub(super) async fn run(
    session: &Session<'_>,
    client: &Client,
    args: KbExportArgs,
) -> Result<Exit, CommandError> {
    let output = session.output;
    let space = finding::of_space(client, args.space.as_deref()).await?;
    if !args.dry_run {
        make_folder(&args.folder)?;
    }
    let mut export = VaultExport {
        output,
        vault: Vault::new(client, &space),
        written: 0,
        left: Vec::new(),
    };
    let (folder, request) = match args.dry_run && !args.folder.exists() {
        // What is not there is empty.
        true => (None, json!({"files": []})),
        false => {
            let folder = VaultFolder::open(&args.folder)
                .map_err(|error| vaults::folder_error(&args.folder, &error))?;
            let scanned = vaults::scan(output, &args.folder, &folder)?;
            (Some(folder), json!(vaults::request(&scanned)))
        }
    };
    let asked = export.vault.ask("export-plan", &request);
    let sent = output.waiting("comparing", asked).await?;
    let plan: VaultExportPlanResponse = read(sent.clone())?;
    if !output.json {
        show_plan(output, &plan);
    }
    if let Some(folder) = folder.filter(|_| !args.dry_run) {
        if !agreed(&args, &plan)? {
            output.note("Nothing was written.");
            return Ok(Exit::Interrupted);
        }
        export.carry_out(&folder, &plan).await?;
    }
    let is_whole = plan.conflicts.is_empty() && export.left.is_empty();
    if output.json {
        output.value(json!({
            "dry_run": args.dry_run,
            "plan": sent,
            "written": export.written,
            "left": export.left,
        }));
    } else if !args.dry_run {
        output.line(format!("Exported: {} files written", export.written));
        show(output, &conflict_lines(&export.left));
        if !plan.conflicts.is_empty() {
            output.note("A file that changed since Void last saw it was left as it is; import the folder first.");
        }
    }
    Ok(match is_whole || args.dry_run {
        true => Exit::Done,
        false => Exit::Refused,
    })
}

fn make_folder(folder: &Path) -> Result<(), CommandError> {
    std::fs::create_dir_all(folder).map_err(|error| {
        let shown = text::escaped(&folder.display().to_string());
        CommandError::failed(FailureCode::Unwritable, format!("{shown}: {error}"))
    })
}

fn show_plan(output: &Output, plan: &VaultExportPlanResponse) {
    let line = |one: &VaultWrite| {
        let verb = match one.replaces {
            Some(_) => "replace  ",
            None => "write    ",
        };
        text::escaped(&format!("{verb}{} ({})", one.path, one.kind))
    };
    show(output, &plan.write.iter().map(line).collect::<Vec<_>>());
    show(output, &conflict_lines(&plan.conflicts));
    output.line(format!(
        "{} to write, {} in conflict, {} unchanged",
        plan.write.len(),
        plan.conflicts.len(),
        plan.unchanged
    ));
    if plan.projects_left_out > 0 {
        output.note("Projects are folders; what is written about one itself has no file.");
    }
}

fn agreed(args: &KbExportArgs, plan: &VaultExportPlanResponse) -> Result<bool, CommandError> {
    let replaced = plan
        .write
        .iter()
        .filter(|one| one.replaces.is_some())
        .count();
    if replaced == 0 || args.yes {
        return Ok(true);
    }
    if !is_interactive() {
        return Err(
            CommandError::usage("nobody is here to be asked whether to replace files")
                .next("add --yes, or --dry-run to see what would be written"),
        );
    }
    Ok(confirm(&format!(
        "Replace {replaced} files that Void wrote or read?"
    )))
}

struct VaultExport<'a> {
    output: &'a Output,
    vault: Vault<'a>,
    written: usize,
    left: Vec<VaultConflict>,
}

impl VaultExport<'_> {
    async fn carry_out(
        &mut self,
        folder: &VaultFolder,
        plan: &VaultExportPlanResponse,
    ) -> Result<(), CommandError> {
        for some in plan.agree.chunks(VAULT_STEPS_MAX) {
            self.vault.take(some.iter().map(agree).collect()).await?;
        }
        let mut rest: &[VaultWrite] = &plan.write;
        while !rest.is_empty() {
            let some = rest.get(..VAULT_STEPS_MAX).unwrap_or(rest);
            let files: Vec<VaultWanted> = some.iter().map(wanted).collect();
            let sent = self.vault.ask("export", &json!({"files": files})).await?;
            let answer: VaultExportResponse = read(sent)?;
            let count = answer.files.len();
            if count == 0 || count > some.len() {
                let message = "the server's answer has other files than were asked for";
                return Err(CommandError::failed(FailureCode::NotUnderstood, message));
            }
            let mut steps = Vec::with_capacity(count);
            for (file, step) in answer.files.into_iter().zip(some) {
                steps.extend(self.write(folder, step, file));
            }
            self.vault.take(steps).await?;
            rest = rest.get(count..).unwrap_or_default();
            let done = plan.write.len() - rest.len();
            self.output.progress("exported", done, plan.write.len());
        }
        Ok(())
    }

    /// What the server is told of a file that is written.
    fn write(
        &mut self,
        folder: &VaultFolder,
        step: &VaultWrite,
        file: VaultContent,
    ) -> Option<VaultStep> {
        match write_file(folder, step, file) {
            Ok(sha256) => {
                self.written += 1;
                Some(agree(&VaultAgreement {
                    path: step.path.clone(),
                    kind: step.kind.clone(),
                    id: step.id.clone(),
                    sha256,
                }))
            }
            Err(message) => {
                self.left.push(VaultConflict {
                    path: step.path.clone(),
                    reason: "unwritten".into(),
                    message,
                });
                None
            }
        }
    }
}

fn wanted(step: &VaultWrite) -> VaultWanted {
    VaultWanted {
        path: step.path.clone(),
        kind: step.kind.clone(),
        id: step.id.clone(),
    }
}

/// Where it goes is judged here once more: the server may be somebody else's.
fn write_file(
    folder: &VaultFolder,
    step: &VaultWrite,
    file: VaultContent,
) -> Result<String, String> {
    let path = VaultPath::parse(&step.path).map_err(|error| error.to_string())?;
    if file.path != step.path {
        return Err("the server sent another file".to_owned());
    }
    let replaces = step.replaces.as_deref().map(hash_of).transpose()?;
    let bytes = bytes_of(file.text, file.content).ok_or("it was thrown away meanwhile")?;
    let hash = ContentHash::of(&bytes).to_string();
    if file.sha256.as_deref() != Some(&*hash) {
        return Err("it did not arrive whole".to_owned());
    }
    let written = folder.write(&path, &bytes, replaces);
    written.map_err(|error| error.to_string())?;
    Ok(hash)
}

fn hash_of(text: &str) -> Result<ContentHash, String> {
    let digest: Result<void_domain::digests::Digest, _> = text.parse();
    match digest {
        Ok(digest) => Ok(ContentHash::from_bytes(*digest.as_bytes())),
        Err(_) => Err("the server named no hash".to_owned()),
    }
}
