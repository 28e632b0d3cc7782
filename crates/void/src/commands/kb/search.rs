//! `void kb search`

use void_api::search::{SearchHitResponse, SearchResponse, SearchSpanResponse};
use void_domain::knowledge::NO_EMBEDDINGS;
use void_domain::text;

use super::super::run::segment;
use super::super::{Session, quoted};
use super::finding;
use crate::cli::KbSearchArgs;
use crate::client::{Client, read};
use crate::exit::{CommandError, Exit};
use crate::output::Output;

pub(super) async fn search(
    session: &Session<'_>,
    client: &Client,
    args: &KbSearchArgs,
) -> Result<Exit, CommandError> {
    if query(args).trim().is_empty() {
        return Err(CommandError::usage("there is nothing to look for"));
    }
    let mut path = format!("/api/search?q={}", segment(&query(args)));
    if let Some(space) = &args.space {
        let space = finding::of_space(client, Some(space)).await?;
        path.push_str(&format!("&space={}", segment(&space)));
    }
    if let Some(kind) = &args.kind {
        path.push_str(&format!("&kind={}", segment(kind)));
    }
    if let Some(limit) = args.limit {
        path.push_str(&format!("&limit={limit}"));
    }
    if let Some(cursor) = &args.cursor {
        path.push_str(&format!("&cursor={}", segment(cursor)));
    }
    let sent = client.get(&path).await?;
    let output = session.output;
    if output.json {
        output.value(sent);
        return Ok(Exit::Done);
    }
    let found: SearchResponse = read(sent)?;
    if found.results.is_empty() {
        output.note(format!(
            "nothing was found; fewer words find more, and {} lists what there is",
            session.again("kb ls")
        ));
    }
    let spaces = match args.space {
        // Then all of it is of that one.
        Some(_) => Vec::new(),
        None => finding::all_spaces(client).await.unwrap_or_default(),
    };
    for hit in &found.results {
        show(output, hit, &spaces);
    }
    if let Some(why) = found.why.as_deref().filter(|why| *why != NO_EMBEDDINGS) {
        let how = match found.mode.as_ref() {
            "hybrid" => "found by meaning too",
            _ => "found by words alone",
        };
        output.note(format!("{how}: {}", text::escaped(why)));
    }
    if let Some(next) = &found.next {
        output.note(format!("there is more: {}", more(session, args, next)));
    }
    Ok(Exit::Done)
}

fn query(args: &KbSearchArgs) -> String {
    args.words.join(" ")
}

/// `spaces` by id and title; where there is one alone, it goes without saying.
fn show(output: &Output, hit: &SearchHitResponse, spaces: &[(String, String)]) {
    let mut words = format!("{}   {}", hit.title, hit.kind);
    let space = spaces
        .iter()
        .find(|(id, _)| hit.space_id.as_ref() == Some(id));
    if let Some((_, title)) = space.filter(|_| spaces.len() > 1) {
        words.push_str(&format!(" in {}", text::value_in_quotes(title)));
    }
    if let Some(state) = &hit.state {
        words.push_str(&format!(", {state}"));
    }
    if hit.foreign {
        words.push_str(" (foreign)");
    }
    output.foreign("", &text::escaped(&words));
    if !hit.snippet.is_empty() {
        output.foreign("  ", &text::escaped(&whole(&hit.snippet)));
    }
    output.line(format!("  id: {}", text::escaped(&hit.id)));
}

fn whole(spans: &[SearchSpanResponse]) -> String {
    spans.iter().map(|span| &*span.text).collect()
}

/// How the next page is asked for.
fn more(session: &Session<'_>, args: &KbSearchArgs, next: &str) -> String {
    let mut command = format!("kb search {}", quoted(&query(args)));
    if let Some(space) = &args.space {
        command.push_str(&format!(" --space {}", quoted(space)));
    }
    if let Some(kind) = &args.kind {
        command.push_str(&format!(" --kind {kind}"));
    }
    if let Some(limit) = args.limit {
        command.push_str(&format!(" --limit {limit}"));
    }
    command.push_str(&format!(" --cursor {}", quoted(next)));
    session.again(&command)
}
