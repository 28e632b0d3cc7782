//! `void kb import --karakeep FILE`: the bookmarks of an export, once, and again only what changed.

use void_api::attachments::KarakeepImportResponse;

use super::super::Session;
use super::super::counted;
use super::super::run::segment;
use super::attachments::read_file;
use super::finding;
use crate::cli::KbImportArgs;
use crate::client::{Client, read};
use crate::exit::{CommandError, Exit};

pub(super) async fn import(
    session: &Session<'_>,
    client: &Client,
    args: &KbImportArgs,
) -> Result<Exit, CommandError> {
    let file = read_file(&args.folder)?;
    let space = finding::of_space(client, args.space.as_deref()).await?;
    let dry_run = if args.dry_run { "?dry_run=true" } else { "" };
    let path = format!("/api/spaces/{}/import/karakeep{dry_run}", segment(&space));
    let sent = session
        .output
        .waiting("importing", client.post_file(&path, file))
        .await?;
    if session.output.json {
        session.output.value(sent);
        return Ok(Exit::Done);
    }
    show(session, &read(sent)?);
    Ok(Exit::Done)
}

fn show(session: &Session<'_>, report: &KarakeepImportResponse) {
    let output = session.output;
    output.line(match report.dry_run {
        true => "Nothing was written. This would be done:",
        false => "Imported:",
    });
    for (count, words) in [
        (report.created, "new"),
        (report.changed, "changed"),
        (report.unchanged, "as they were"),
        (report.kept, "stay as you edited or captured them here"),
        (report.thrown_away, "stay thrown away"),
        (report.repeated, "in the file more than once"),
        (
            report.left_out,
            "left out: files that Karakeep keeps elsewhere, and what has no words",
        ),
    ] {
        if count > 0 {
            let count = counted(usize::try_from(count).unwrap_or(usize::MAX), "bookmark");
            output.line(format!("  {count} {words}"));
        }
    }
    if report.cut {
        output.line("  a text was shortened to what a page may have");
    }
}
