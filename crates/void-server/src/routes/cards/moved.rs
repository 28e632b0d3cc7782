//! What is there instead of what a draft was made of, beside the draft.

use void_api::cards::MovedBaseResponse;
use void_control::proposals::{self, MovedBase};
use void_control::{Control, Ctx};
use void_domain::proposals::Proposal;

use super::differences;
use crate::errors::ApiError;

/// `None`: it is still what the draft was made of, or the reader is not the owner.
pub(in crate::routes) async fn of(
    control: &Control,
    ctx: &Ctx,
    proposal: &Proposal,
) -> Result<Option<MovedBaseResponse>, ApiError> {
    match proposals::moved_base(control, ctx, proposal).await? {
        Some(moved) => response(moved).await.map(Some),
        None => Ok(None),
    }
}

pub(in crate::routes) async fn response(moved: MovedBase) -> Result<MovedBaseResponse, ApiError> {
    let Some(now) = moved.now else {
        return Ok(MovedBaseResponse {
            gone: true,
            revision: None,
            title: None,
            body: None,
            updated_at: None,
            updated_by: None,
            difference: None,
        });
    };
    let difference = match &moved.base {
        Some(base) => differences::between(base.written(), now.fields().written()).await?,
        None => None,
    };
    let revision = &now.head.revision;
    Ok(MovedBaseResponse {
        gone: false,
        revision: Some(revision.number),
        title: Some(now.head.title.to_string()),
        body: Some(now.body.as_str().to_owned()),
        updated_at: Some(revision.at.to_string()),
        updated_by: Some(revision.by.clone()),
        difference,
    })
}
