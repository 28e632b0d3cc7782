//! `void kb import --karakeep FILE`: the bookmarks of an export, once, and again only what changed.

use std::time::Duration;

use serde_json::Value;
use void_api::attachments::KarakeepImportResponse;
use void_api::spaces::SpaceResponse;

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
    let space = segment(&space);
    let path = format!("/api/spaces/{space}/import/karakeep");
    let dry = format!("{path}?dry_run=true");
    let reading = client.post_file(&dry, file.clone());
    let planned = session.output.waiting("reading", reading).await?;
    let sent = match args.dry_run {
        true => planned,
        false => {
            let planned: KarakeepImportResponse = read(planned)?;
            let import = client.post_file(&path, file);
            watched(session, client, &space, planned.created, import).await?
        }
    };
    if session.output.json {
        session.output.value(sent);
        return Ok(Exit::Done);
    }
    show(session, &read(sent)?);
    Ok(Exit::Done)
}

/// How often the space is asked how much of it has come.
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

/// Tells how many of the new ones are there while the server writes them, some at a time.
async fn watched(
    session: &Session<'_>,
    client: &Client,
    space: &str,
    new: u64,
    import: impl Future<Output = Result<Value, CommandError>>,
) -> Result<Value, CommandError> {
    let count = async || {
        let path = format!("/api/spaces/{space}");
        let space: SpaceResponse = client.get_as(&path).await?;
        Ok::<_, CommandError>(space.ref_count.saturating_add(space.page_count))
    };
    let before = count().await?;
    let tell = |now: u64| {
        let done = now.saturating_sub(before).min(new);
        let [done, new] = [done, new].map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        session.output.progress("imported", done, new);
    };
    if new > 0 {
        tell(before);
    }
    tokio::pin!(import);
    loop {
        if let Ok(done) = tokio::time::timeout(BETWEEN_LOOKS, import.as_mut()).await {
            if new > 0 {
                tell(before.saturating_add(new));
            }
            return done;
        }
        // Whoever cannot be asked just now is asked again; how it ends is told by the import itself.
        if let Ok(now) = count().await
            && new > 0
        {
            tell(now);
        }
    }
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
