//! The first start has one space with three short pages that explain Void by using it. They are made once: whoever throws
//! them away does not get them again, because what is thrown away is still a row.

use void_domain::knowledge::{
    Body, Details, Fields, Origin, PageDetails, SpaceDetails, TaskDetails, Title,
};
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, spaces};

use super::create::NewEntity;
use super::writing::{Writing, create_in};
use super::{KnowledgeError, TextSource};
use crate::control::Control;
use crate::facts::AuditContext;

const SPACE: &str = "Home";
const SPACE_BODY: &str = "What you know about your lab. Begin with [[Welcome]].\n";
/// Title and text; a later page may name an earlier one and the other way round.
const PAGES: [(&str, &str); 3] = [
    ("Runbooks", include_str!("first_space/runbooks.md")),
    ("How changes happen", include_str!("first_space/changes.md")),
    ("Welcome", include_str!("first_space/welcome.md")),
];
const TASK: &str = "Write down how to restart what matters most";

/// Makes the first space, unless there ever was one. Whether it was made now.
pub async fn make_first_space(control: &Control) -> Result<bool, KnowledgeError> {
    let is_any_made = control
        .store
        .read(|tx| Box::pin(spaces::is_any_made(tx)))
        .await?;
    if is_any_made {
        return Ok(false);
    }
    let (context, at) = (control.context(&control.system_ctx()?), control.clock.now());
    control
        .store
        .write(move |tx| Box::pin(async move { make(tx, &context, at).await }))
        .await
}

async fn make(tx: &mut Tx, context: &AuditContext, at: Timestamp) -> Result<bool, KnowledgeError> {
    // Another instance may have been faster.
    if spaces::is_any_made(tx).await? {
        return Ok(false);
    }
    let space = Details::Space(SpaceDetails::default());
    let space = new(None, SPACE, SPACE_BODY, space)?;
    let space = create_in(tx, Writing::by_owner(context, at), space, Origin::Import).await?;
    let within = Some(space.head.space_id);
    for (title, text) in PAGES {
        let page = new(within, title, text, Details::Page(PageDetails::default()))?;
        create_in(tx, Writing::by_owner(context, at), page, Origin::Import).await?;
    }
    let task = new(
        within,
        TASK,
        "See [[Runbooks]].\n",
        Details::Task(TaskDetails::default()),
    )?;
    create_in(tx, Writing::by_owner(context, at), task, Origin::Import).await?;
    Ok(true)
}

fn new(
    space_id: Option<void_domain::ids::SpaceId>,
    title: &str,
    body: &str,
    details: Details,
) -> Result<NewEntity, StoreError> {
    let ours =
        |error: void_domain::knowledge::InvalidField| StoreError::Internal(error.to_string());
    Ok(NewEntity {
        space_id,
        fields: Fields {
            title: Title::parse(title).map_err(ours)?,
            body: Body::parse(body).map_err(ours)?,
            details,
        },
        source: TextSource::Import,
        reason: Some("made at the first start".to_owned()),
    })
}
