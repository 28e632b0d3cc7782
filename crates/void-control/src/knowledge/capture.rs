//! The owner keeps a page of the web, or a file, as a ref. What a stranger wrote is fetched and read by `void-capture`, outside
//! of any transaction and before anything is stored; then the ref, its revision and the bytes as they came are stored in one.
//! So a capture that fails leaves nothing, and one that waits for a slow server holds nobody up.
//!
//! An address or a file that is known in the space gets a new revision. Only the owner captures: whoever fetches decides whom
//! Void talks to.

use void_capture::{CaptureError, Captures, DocumentKind, Extracted};
use void_domain::ids::{ProjectId, RefId, SpaceId};
use void_domain::knowledge::{
    Attachment, AttachmentName, Body, Details, Entity, EntityId, Fields, InvalidField, MediaType,
    Origin, RefDetails, RefUrl, Tags, Title,
};
use void_domain::limits::{ATTACHMENT_BYTES_MAX, TITLE_CHARS_MAX};
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, attachments as files, refs, spaces};

use super::attachments::{AttachmentError, NewAttachment, add_in, delete_in, new_file};
use super::create::NewEntity;
use super::update::EntityUpdate;
use super::writing::{Writing, create_in, is_project_of, live, update_in};
use super::{KnowledgeError, TextSource, check_reason, may_write};
use crate::context::Ctx;
use crate::control::Control;
use crate::facts::AuditContext;

/// What stands in place of the text of a PDF of pictures.
const UNREADABLE: &str =
    "*Unreadable: the PDF has no text, only pictures of it. The file is kept as it came.*";
const CUT: &str = "the document has more text than is kept";

#[derive(Debug, thiserror::Error)]
pub enum KeepRefError {
    #[error("this is neither a page, nor text, nor a PDF; attach it instead")]
    NotReadable,
    #[error(transparent)]
    Capture(#[from] CaptureError),
    #[error(transparent)]
    File(#[from] AttachmentError),
}

impl From<KnowledgeError> for KeepRefError {
    fn from(error: KnowledgeError) -> Self {
        Self::File(error.into())
    }
}

impl From<StoreError> for KeepRefError {
    fn from(error: StoreError) -> Self {
        Self::File(error.into())
    }
}

/// Where a ref belongs, and what the owner says of it.
#[derive(Debug, Clone)]
pub struct RefOptions {
    pub space_id: SpaceId,
    pub project_id: Option<ProjectId>,
    /// In addition to those that it has.
    pub tags: Tags,
    pub reason: Option<String>,
}

#[derive(Debug, Clone)]
pub struct RefFile {
    pub name: AttachmentName,
    /// Where it came from, if the owner says so.
    pub url: Option<RefUrl>,
    pub title: Option<Title>,
    pub content: Vec<u8>,
}

/// What was read, ready to be stored.
struct Document {
    /// `None`: it is known by its bytes.
    url: Option<RefUrl>,
    title: Option<Title>,
    text: Body,
    is_cut: bool,
    source: Attachment,
    content: Vec<u8>,
}

/// Fetches a page of the web and keeps its text and its bytes.
pub async fn capture(
    control: &Control,
    captures: &Captures,
    ctx: &Ctx,
    url: RefUrl,
    options: RefOptions,
) -> Result<Entity, KeepRefError> {
    may_keep(control, ctx, &options).await?;
    let captured = captures.capture(url.as_str()).await?;
    let (context, at) = (control.context(ctx), control.clock.now());
    // A name of ours: none that a stranger chose may be what an embed of the owner's means.
    let name = format!("capture-{at}.{}", extension(captured.kind)).replace(':', "-");
    let name = AttachmentName::parse(&name).map_err(|wrong| invalid("name", wrong))?;
    let title = captured.extracted.as_ref().and_then(title_of);
    let title = title.or_else(|| short_title(url.as_str()));
    let file = (name, captured.kind, captured.source);
    let document = document(
        (&context, at),
        options.space_id,
        (captured.extracted, title),
        file,
    )?;
    let document = Document {
        url: Some(url),
        ..document
    };
    store(control, (context, at), options, document).await
}

/// Keeps a file of text, HTML or PDF as a ref.
pub async fn keep_file(
    control: &Control,
    captures: &Captures,
    ctx: &Ctx,
    file: RefFile,
    options: RefOptions,
) -> Result<Entity, KeepRefError> {
    may_keep(control, ctx, &options).await?;
    if file.content.len() > ATTACHMENT_BYTES_MAX {
        return Err(AttachmentError::TooLarge.into());
    }
    let kind = DocumentKind::sniff(&file.content).ok_or(KeepRefError::NotReadable)?;
    let extracted = captures.read(kind, &file.content).await?;
    let (context, at) = (control.context(ctx), control.clock.now());
    let title = file.title;
    let title = title.or_else(|| extracted.as_ref().and_then(title_of));
    let title = title.or_else(|| short_title(file.name.as_str()));
    let source = (file.name, kind, file.content);
    let document = document((&context, at), options.space_id, (extracted, title), source)?;
    let document = Document {
        url: file.url,
        ..document
    };
    store(control, (context, at), options, document).await
}

/// Asked before anybody is asked for anything.
async fn may_keep(
    control: &Control,
    ctx: &Ctx,
    options: &RefOptions,
) -> Result<(), KnowledgeError> {
    may_write(ctx)?;
    check_reason(options.reason.as_ref())?;
    let (space, project) = (options.space_id, options.project_id);
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                if !spaces::is_there(tx, space).await? {
                    return Err(KnowledgeError::NotFound);
                }
                match project {
                    Some(id) if !is_project_of(tx, space, id).await? => {
                        Err(KnowledgeError::NoProject)
                    }
                    _ => Ok(()),
                }
            })
        })
        .await
}

fn document(
    (context, at): (&AuditContext, Timestamp),
    space_id: SpaceId,
    (extracted, title): (Option<Extracted>, Option<Title>),
    (name, kind, content): (AttachmentName, DocumentKind, Vec<u8>),
) -> Result<Document, KnowledgeError> {
    let is_cut = extracted.as_ref().is_some_and(|extracted| extracted.cut);
    let text = extracted.map_or_else(|| UNREADABLE.to_owned(), |extracted| extracted.text);
    let media_type = MediaType::parse(media_type(kind));
    let new = NewAttachment {
        space_id,
        name,
        path: None,
        media_type: media_type.map_err(|wrong| invalid("media_type", wrong))?,
        content,
    };
    let (source, content) = new_file(new, at, context)?;
    Ok(Document {
        url: None,
        title,
        text: Body::new(text).map_err(|wrong| invalid("body", wrong))?,
        is_cut,
        source,
        content,
    })
}

async fn store(
    control: &Control,
    (context, at): (AuditContext, Timestamp),
    options: RefOptions,
    document: Document,
) -> Result<Entity, KeepRefError> {
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let writing = Writing::by_owner(&context, at);
                let kept = match known(tx, &document).await? {
                    Some(current) => renew(tx, writing, current, options, &document).await?,
                    None => make(tx, writing, options, &document).await?,
                };
                keep_source(tx, (&context, at), &kept, document).await?;
                Ok(kept)
            })
        })
        .await
}

/// The ref that this is already, by its address or by its bytes.
async fn known(tx: &mut Tx, document: &Document) -> Result<Option<Entity>, StoreError> {
    let (space, hash) = (document.source.space_id, document.source.hash);
    let id = match &document.url {
        Some(url) => {
            let found = refs::find_by_url(tx, space, url).await?;
            found.map(|head| head.id)
        }
        None => {
            let found = files::find_source(tx, space, hash).await?;
            found.and_then(|file| file.ref_id).map(EntityId::Ref)
        }
    };
    match id {
        Some(id) => live(tx, id).await,
        None => Ok(None),
    }
}

async fn make(
    tx: &mut Tx,
    writing: Writing<'_>,
    options: RefOptions,
    document: &Document,
) -> Result<Entity, KnowledgeError> {
    let url = document.url.clone();
    let title = document.title.clone();
    let details = RefDetails {
        project_id: options.project_id,
        url: url.unwrap_or_else(|| RefUrl::of_file(document.source.id)),
        tags: options.tags,
    };
    let new = NewEntity {
        space_id: Some(options.space_id),
        fields: Fields {
            title: title.ok_or(("title", InvalidField::Title))?,
            body: document.text.clone(),
            details: Details::Ref(details),
        },
        source: TextSource::Capture,
        reason: options.reason.or_else(|| why(document)),
    };
    create_in(tx, writing, new, Origin::Capture).await
}

/// The newest words of the page in place of those that are there, which stay as a revision. A title that somebody chose stays.
async fn renew(
    tx: &mut Tx,
    writing: Writing<'_>,
    current: Entity,
    options: RefOptions,
    document: &Document,
) -> Result<Entity, KnowledgeError> {
    let EntityId::Ref(_) = current.head.id else {
        return Err(KnowledgeError::NotFound);
    };
    let Details::Ref(details) = current.head.details.clone() else {
        return Err(KnowledgeError::NotFound);
    };
    let tags = details.tags.with(&options.tags);
    let tags = Tags::parse(tags.iter()).map_err(|wrong| ("tags", wrong))?;
    let title = match (&current.head.revision.origin, &document.title) {
        (Origin::Capture, Some(title)) => title.clone(),
        _ => current.head.title.clone(),
    };
    let update = EntityUpdate {
        id: current.head.id,
        base: current.head.revision.number,
        fields: Fields {
            title,
            body: document.text.clone(),
            details: Details::Ref(RefDetails {
                project_id: options.project_id.or(details.project_id),
                tags,
                ..details
            }),
        },
        source: TextSource::Capture,
        reason: options.reason.or_else(|| why(document)),
    };
    update_in(tx, writing, update, Origin::Capture).await
}

/// The bytes of the newest revision; those of an older one go, as a file that was thrown away does.
async fn keep_source(
    tx: &mut Tx,
    by: (&AuditContext, Timestamp),
    kept: &Entity,
    document: Document,
) -> Result<(), AttachmentError> {
    let EntityId::Ref(id) = kept.head.id else {
        return Err(KnowledgeError::NotFound.into());
    };
    let before = files::list_of_ref(tx, id).await?;
    let hash = document.source.hash;
    if before.first().is_some_and(|file| file.hash == hash) {
        return Ok(());
    }
    for older in &before {
        delete_in(tx, by, older).await?;
    }
    let source = of_ref(document.source, id);
    add_in(tx, by, &source, &document.content).await
}

fn of_ref(file: Attachment, id: RefId) -> Attachment {
    Attachment {
        ref_id: Some(id),
        ..file
    }
}

fn why(document: &Document) -> Option<String> {
    document.is_cut.then(|| CUT.to_owned())
}

fn title_of(extracted: &Extracted) -> Option<Title> {
    extracted.title.as_deref().and_then(short_title)
}

fn short_title(text: &str) -> Option<Title> {
    let text: String = text.chars().take(TITLE_CHARS_MAX).collect();
    Title::parse(&text).ok()
}

const fn extension(kind: DocumentKind) -> &'static str {
    match kind {
        DocumentKind::Html => "html",
        DocumentKind::Text => "txt",
        DocumentKind::Pdf => "pdf",
    }
}

const fn media_type(kind: DocumentKind) -> &'static str {
    match kind {
        DocumentKind::Html => "text/html",
        DocumentKind::Text => "text/plain",
        DocumentKind::Pdf => "application/pdf",
    }
}

fn invalid(field: &'static str, wrong: InvalidField) -> KnowledgeError {
    KnowledgeError::Invalid(field, wrong)
}
