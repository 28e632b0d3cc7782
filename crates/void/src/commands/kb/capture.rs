//! `void kb capture`

use serde_json::json;
use void_api::entity_responses::EntityResponse;

use super::super::Session;
use super::super::run::segment;
use super::{finding, parts, written};
use crate::cli::KbCaptureArgs;
use crate::client::{Client, read};
use crate::exit::{CommandError, Exit};

pub(super) async fn capture(
    session: &Session<'_>,
    client: &Client,
    args: &KbCaptureArgs,
) -> Result<Exit, CommandError> {
    let space = finding::of_space(client, args.space.as_deref()).await?;
    let path = format!("/api/spaces/{}/refs", segment(&space));
    let mut body = json!({"url": args.address, "tags": args.tags});
    if let (Some(members), Some(reason)) = (body.as_object_mut(), &args.reason) {
        members.insert("reason".to_owned(), json!(reason));
    }
    let sent = session
        .output
        .waiting("capturing", client.post(&path, &body))
        .await?;
    let entity: EntityResponse = read(sent.clone())?;
    let (head, ..) = parts(&entity);
    let did = match head.revision {
        1 => "Captured",
        _ => "Captured again",
    };
    written(session, sent, did)
}
