//! `void kb attach`, `void kb attachments` and `void kb get`: files of a space. What is saved is written to a file that was not
//! there: nothing of this machine is overwritten by what something is called in a space.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::Value;
use void_api::attachments::{AttachmentResponse, AttachmentsResponse};
use void_domain::failures::FailureCode;
use void_domain::limits::ATTACHMENT_BYTES_MAX;
use void_domain::text;

use super::super::run::segment;
use super::super::{Session, quoted};
use super::{finding, written};
use crate::cli::{KbAttachArgs, KbAttachmentsArgs, KbGetArgs};
use crate::client::{Client, read};
use crate::exit::{CommandError, Exit};

const PAGE_ROWS: u32 = 500;
const KIB: u64 = 1024;

pub(super) async fn attach(
    session: &Session<'_>,
    client: &Client,
    args: &KbAttachArgs,
) -> Result<Exit, CommandError> {
    let bytes = read_file(&args.file)?;
    let of_file = || {
        args.file
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    let name = args.name.clone().or_else(of_file).unwrap_or_default();
    let space = finding::of_space(client, args.space.as_deref()).await?;
    let to = if args.is_ref {
        "refs/file"
    } else {
        "attachments"
    };
    let mut path = format!(
        "/api/spaces/{}/{to}?name={}",
        segment(&space),
        segment(&name)
    );
    for (word, said) in [("title", &args.title), ("url", &args.address)] {
        if let Some(said) = said {
            path.push_str(&format!("&{word}={}", segment(said)));
        }
    }
    let sent = session
        .output
        .waiting("sending", client.post_file(&path, bytes))
        .await?;
    if args.is_ref {
        return written(session, sent, "Kept");
    }
    if session.output.json {
        session.output.value(sent);
        return Ok(Exit::Done);
    }
    let kept: AttachmentResponse = read(sent)?;
    let output = session.output;
    output.foreign("", &text::escaped(&format!("Kept the file {}", kept.name)));
    output.line(format!("  id: {}", text::escaped(&kept.id)));
    output.next(&format!("void kb get {}", kept.id));
    Ok(Exit::Done)
}

pub(super) async fn list(
    session: &Session<'_>,
    client: &Client,
    args: &KbAttachmentsArgs,
) -> Result<Exit, CommandError> {
    let space = finding::of_space(client, args.space.as_deref()).await?;
    let mut path = format!(
        "/api/spaces/{}/attachments?limit={}",
        segment(&space),
        args.limit.unwrap_or(50)
    );
    if let Some(cursor) = &args.cursor {
        path.push_str(&format!("&cursor={}", segment(cursor)));
    }
    let sent = client.get(&path).await?;
    let output = session.output;
    if output.json {
        output.value(sent);
        return Ok(Exit::Done);
    }
    let listed: AttachmentsResponse = read(sent)?;
    let row = |file: &AttachmentResponse| {
        vec![
            file.name.clone(),
            size(file.size_bytes),
            output.times.short(&file.created_at),
            file.id.clone(),
        ]
    };
    let rows: Vec<Vec<String>> = listed.attachments.iter().map(row).collect();
    let space = args
        .space
        .as_deref()
        .map(|space| format!(" --space {}", quoted(space)));
    let space = space.unwrap_or_default();
    if rows.is_empty() {
        let attach = session.again(&format!("kb attach FILE{space}"));
        output.note(format!("there is no file; {attach} keeps one"));
        return Ok(Exit::Done);
    }
    output.table(&["NAME", "SIZE", "ADDED", "ID"], &rows);
    if let Some(next) = &listed.next {
        let command = format!("kb attachments{space} --cursor {next}");
        output.note(format!("there is more: {}", session.again(&command)));
    }
    Ok(Exit::Done)
}

pub(super) async fn get(
    session: &Session<'_>,
    client: &Client,
    args: &KbGetArgs,
) -> Result<Exit, CommandError> {
    let file = find(client, args).await?;
    let path = format!("/api/attachments/{}/content", segment(&file.id));
    let mut sent = client.stream(&path).await?;
    let broken = |error: reqwest::Error| {
        let message = format!("the file did not arrive whole: {error}");
        CommandError::new(FailureCode::Unreachable, message)
    };
    let mut bytes = Vec::new();
    while let Some(chunk) = sent.chunk().await.map_err(broken)? {
        bytes.extend_from_slice(&chunk);
    }
    if args.output.as_deref() == Some(Path::new("-")) {
        let written = io::stdout().lock().write_all(&bytes);
        return match written {
            Ok(()) => Ok(Exit::Done),
            Err(error) => Err(not_saved(Path::new("-"), &error)),
        };
    }
    let target = match &args.output {
        Some(target) => target.clone(),
        None => own_name(&file.name)?,
    };
    let opened = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&target);
    let saved = opened.and_then(|mut file| file.write_all(&bytes));
    saved.map_err(|error| not_saved(&target, &error))?;
    let words = format!("Saved {}", target.display());
    session.output.foreign("", &text::escaped(&words));
    Ok(Exit::Done)
}

/// A name of a space is one part of a path, so what it names is in this folder; one that begins with a dot or a dash is asked for.
fn own_name(name: &str) -> Result<PathBuf, CommandError> {
    let is_plain = !name.starts_with(['.', '-']) && !name.contains(['/', '\\']);
    match is_plain {
        true => Ok(PathBuf::from(name)),
        false => {
            Err(CommandError::usage("its name is none to save it by").next("say --output FILE"))
        }
    }
}

fn not_saved(target: &Path, error: &io::Error) -> CommandError {
    let message = format!("{}: {error}", target.display());
    CommandError::failed(FailureCode::NotWritten, message).next("say another file: --output FILE")
}

async fn find(client: &Client, args: &KbGetArgs) -> Result<AttachmentResponse, CommandError> {
    if finding::is_id(&args.name) {
        let path = format!("/api/attachments/{}", segment(&args.name));
        return client.get_as(&path).await;
    }
    let space = finding::of_space(client, args.space.as_deref()).await?;
    let list = format!(
        "/api/spaces/{}/attachments?limit={PAGE_ROWS}",
        segment(&space)
    );
    let mut cursor = None::<String>;
    loop {
        let from = cursor.map(|cursor| format!("&cursor={}", segment(&cursor)));
        let page: Value = client
            .get(&format!("{list}{}", from.unwrap_or_default()))
            .await?;
        let AttachmentsResponse { attachments, next } = read(page)?;
        // The newest of a name is the one that an embed means.
        if let Some(found) = attachments.into_iter().find(|file| file.name == args.name) {
            return Ok(found);
        }
        if next.is_none() {
            let message = format!("there is no file called \"{}\"", text::escaped(&args.name));
            return Err(
                CommandError::new(FailureCode::NotFound, message).next("void kb attachments")
            );
        }
        cursor = next;
    }
}

/// A file of this machine that is not too large to be sent.
pub(super) fn read_file(path: &Path) -> Result<Vec<u8>, CommandError> {
    let unusable = |error: io::Error| CommandError::usage(format!("{}: {error}", path.display()));
    let known = fs::metadata(path).map_err(unusable)?;
    let is_large = known.len() > ATTACHMENT_BYTES_MAX as u64;
    let bytes = match is_large {
        true => Vec::new(),
        false => fs::read(path).map_err(unusable)?,
    };
    match is_large || bytes.len() > ATTACHMENT_BYTES_MAX {
        true => Err(CommandError::new(
            FailureCode::TooLarge,
            format!(
                "{} is larger than {} MiB",
                path.display(),
                ATTACHMENT_BYTES_MAX / 1024 / 1024
            ),
        )),
        false => Ok(bytes),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..KIB => format!("{bytes} B"),
        _ if bytes < KIB * KIB => format!("{} KiB", bytes.div_ceil(KIB)),
        _ => format!("{} MiB", bytes.div_ceil(KIB * KIB)),
    }
}
