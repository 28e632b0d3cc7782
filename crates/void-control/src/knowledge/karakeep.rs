//! An export of Karakeep: its links become refs, its texts and notes without an address become pages below `Karakeep/`. All of it
//! is read and looked up before anything is written, so a file that is broken, too large or a bomb changes nothing.
//!
//! A second import changes only what changed: a link is known by its address, a text by when it was made. What the owner edited,
//! captured or threw away since then stays as it is.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use void_capture::{Bookmark, CaptureError, Captures};
use void_domain::digests::Digest;
use void_domain::ids::SpaceId;
use void_domain::knowledge::{
    Body, Details, Entity, EntityId, Fields, NotePath, PageDetails, RefDetails, RefUrl, Tags, Title,
};
use void_domain::limits::{PAGE_BYTES_MAX, SPACE_ENTITIES_MAX, TITLE_CHARS_MAX};
use void_store::{StoreError, Tx, pages, refs, spaces};

use super::create::NewEntity;
use super::update::EntityUpdate;
use super::writing::{WRITE_AT_ONCE_MAX, Write, live, write_many};
use super::{KnowledgeError, TextSource, may_write};
use crate::context::Ctx;
use crate::control::Control;

const FOLDER: &str = "Karakeep/";
/// What a bookmark is marked with that was put away there.
const ARCHIVED: &str = "archived";
/// How much of a digest tells texts apart that say no time.
const SHORT_DIGEST_CHARS: usize = 16;

#[derive(Debug, thiserror::Error)]
pub enum KarakeepError {
    #[error(transparent)]
    Capture(#[from] CaptureError),
    #[error(transparent)]
    Knowledge(#[from] KnowledgeError),
}

impl From<StoreError> for KarakeepError {
    fn from(error: StoreError) -> Self {
        Self::Knowledge(error.into())
    }
}

/// Whether an import writes, or says what it would write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportRun {
    Dry,
    Writing,
}

/// What became of the bookmarks of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KarakeepReport {
    pub created: u64,
    pub changed: u64,
    pub unchanged: u64,
    /// They differ, and the owner has edited or captured them here since.
    pub kept: u64,
    /// The owner threw them away here.
    pub thrown_away: u64,
    /// In the file more than once.
    pub repeated: u64,
    /// Files that Karakeep keeps elsewhere, and what has neither words nor an address.
    pub left_out: u64,
    /// Whether a text was shortened to its bound.
    pub is_cut: bool,
}

/// By what a bookmark is known again.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Ref(RefUrl),
    Page(NotePath),
}

struct ConvertedBookmark {
    key: Key,
    fields: Fields,
}

/// What is done with a bookmark.
enum Step {
    Create,
    Update {
        id: EntityId,
        base: u64,
        fields: Fields,
    },
    Same,
    Kept,
    ThrownAway,
}

pub async fn import_karakeep(
    control: &Control,
    captures: &Captures,
    ctx: &Ctx,
    (space, run): (SpaceId, ImportRun),
    file: &[u8],
) -> Result<KarakeepReport, KarakeepError> {
    may_write(ctx)?;
    let room = room(control, space).await?;
    let read = captures.karakeep(file).await?;
    let mut report = KarakeepReport {
        left_out: read.left_out,
        is_cut: read.cut,
        ..KarakeepReport::default()
    };
    let converted = converted(read.bookmarks, &mut report);
    let writes = plan(control, space, converted, &mut report).await?;
    let new = |is_ref: bool| {
        let is_new = |write: &&Write| match write {
            Write::Create(new) => matches!(new.fields.details, Details::Ref(_)) == is_ref,
            Write::Update(_) => false,
        };
        writes.iter().filter(is_new).count() as u64
    };
    if new(true) > room.refs || new(false) > room.pages {
        return Err(KnowledgeError::Full.into());
    }
    if run == ImportRun::Dry {
        return Ok(report);
    }
    let mut writes = writes.into_iter().peekable();
    while writes.peek().is_some() {
        let some = writes.by_ref().take(WRITE_AT_ONCE_MAX).collect();
        write_many(control, ctx, some).await?;
    }
    Ok(report)
}

/// How many more a space takes.
struct Room {
    refs: u64,
    pages: u64,
}

async fn room(control: &Control, space: SpaceId) -> Result<Room, KnowledgeError> {
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                if !spaces::is_there(tx, space).await? {
                    return Err(KnowledgeError::NotFound);
                }
                let counts = spaces::counts(tx, space).await?.unwrap_or_default();
                Ok(Room {
                    refs: SPACE_ENTITIES_MAX.saturating_sub(counts.refs),
                    pages: SPACE_ENTITIES_MAX.saturating_sub(counts.pages),
                })
            })
        })
        .await
}

/// Each bookmark once, as what it is to be here.
fn converted(bookmarks: Vec<Bookmark>, report: &mut KarakeepReport) -> Vec<ConvertedBookmark> {
    let mut seen: HashSet<Key> = HashSet::new();
    let mut of_time: HashMap<String, u32> = HashMap::new();
    let mut converted = Vec::with_capacity(bookmarks.len());
    for bookmark in bookmarks {
        let made = match bookmark.url.as_deref().map(RefUrl::parse) {
            Some(Ok(url)) => as_ref(url, bookmark),
            // An address that nothing here could show, and nothing beside it.
            Some(Err(_)) => None,
            None => as_page(bookmark, &mut of_time),
        };
        match made {
            None => report.left_out += 1,
            Some(one) if seen.insert(one.key.clone()) => converted.push(one),
            Some(_) => report.repeated += 1,
        }
    }
    converted
}

fn as_ref(url: RefUrl, bookmark: Bookmark) -> Option<ConvertedBookmark> {
    let tags = tags(&bookmark);
    let title = short_title(bookmark.title.as_deref()).or_else(|| short_title(Some(url.as_str())));
    let body = words(&bookmark);
    let details = RefDetails {
        project_id: None,
        url: url.clone(),
        tags,
    };
    Some(ConvertedBookmark {
        key: Key::Ref(url),
        fields: Fields {
            title: title?,
            body: body?,
            details: Details::Ref(details),
        },
    })
}

fn as_page(bookmark: Bookmark, of_time: &mut HashMap<String, u32>) -> Option<ConvertedBookmark> {
    let body = words(&bookmark)?;
    if body.is_empty() {
        return None;
    }
    let name = match bookmark.created_at_ms {
        Some(at) => at.to_string(),
        None => {
            let digest = Digest::of(body.as_str().as_bytes()).to_string();
            digest.chars().take(SHORT_DIGEST_CHARS).collect()
        }
    };
    // Of several at one time the order in the file tells them apart.
    let nth = of_time.entry(name.clone()).or_default();
    *nth += 1;
    let path = match *nth {
        1 => format!("{FOLDER}{name}.md"),
        nth => format!("{FOLDER}{name}-{nth}.md"),
    };
    let path = NotePath::parse(&path).ok()?;
    let first_line = body.as_str().lines().find(|line| !line.trim().is_empty());
    let title = short_title(bookmark.title.as_deref()).or_else(|| short_title(first_line))?;
    let details = PageDetails {
        project_id: None,
        tags: tags(&bookmark),
        path: Some(path.clone()),
    };
    Some(ConvertedBookmark {
        key: Key::Page(path),
        fields: Fields {
            title,
            body,
            details: Details::Page(details),
        },
    })
}

/// The text that was kept, and the note about it.
fn words(bookmark: &Bookmark) -> Option<Body> {
    let parts = [bookmark.text.as_deref(), bookmark.note.as_deref()];
    let mut text = parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n");
    text.truncate(text.floor_char_boundary(PAGE_BYTES_MAX));
    Body::new(text).ok()
}

fn short_title(text: Option<&str>) -> Option<Title> {
    let text = text?.chars().filter(|c| !c.is_control());
    let text: String = text.take(TITLE_CHARS_MAX).collect();
    Title::parse(&text).ok()
}

/// Their tags may have any characters; what a tag here may not have becomes a dash.
fn tags(bookmark: &Bookmark) -> Tags {
    let is_fit = |c: char| c.is_alphanumeric() || "-_/".contains(c);
    let fitting = |tag: &String| {
        let dashed: String = tag
            .chars()
            .map(|c| if is_fit(c) { c } else { '-' })
            .collect();
        dashed.trim_matches('-').to_owned()
    };
    let mut tags: Vec<String> = Vec::new();
    tags.extend(bookmark.archived.then(|| ARCHIVED.to_owned()));
    tags.extend(bookmark.tags.iter().map(fitting));
    Tags::of_what_fits(tags.iter().map(String::as_str))
}

/// What was imported before and thrown away, and the pages of earlier imports.
#[derive(Default)]
struct Before {
    deleted: HashSet<String>,
    pages: HashMap<String, EntityId>,
}

async fn plan(
    control: &Control,
    space: SpaceId,
    converted: Vec<ConvertedBookmark>,
    report: &mut KarakeepReport,
) -> Result<Vec<Write>, KnowledgeError> {
    let before = control
        .store
        .read(move |tx| Box::pin(before(tx, space)))
        .await?;
    let before = Arc::new(before);
    let mut writes = Vec::new();
    let mut rest = converted.into_iter().peekable();
    while rest.peek().is_some() {
        let some: Vec<ConvertedBookmark> = rest.by_ref().take(WRITE_AT_ONCE_MAX).collect();
        let before = Arc::clone(&before);
        let steps = control
            .store
            .read(move |tx| {
                Box::pin(async move {
                    let mut steps = Vec::with_capacity(some.len());
                    for one in some {
                        let step = step(tx, space, &one, &before).await?;
                        steps.push((one, step));
                    }
                    Ok::<_, KnowledgeError>(steps)
                })
            })
            .await?;
        for (one, step) in steps {
            writes.extend(count(space, one, step, report));
        }
    }
    Ok(writes)
}

async fn before(tx: &mut Tx, space: SpaceId) -> Result<Before, KnowledgeError> {
    let urls = refs::deleted_urls(tx, space).await?;
    let paths = pages::paths_below(tx, space, FOLDER).await?;
    let mut before = Before::default();
    before.deleted.extend(urls);
    for (path, id, is_deleted) in paths {
        match is_deleted {
            true => {
                before.deleted.insert(path);
            }
            false => {
                before.pages.insert(path, EntityId::Page(id));
            }
        }
    }
    Ok(before)
}

async fn step(
    tx: &mut Tx,
    space: SpaceId,
    converted: &ConvertedBookmark,
    before: &Before,
) -> Result<Step, KnowledgeError> {
    let (found, name) = match &converted.key {
        Key::Ref(url) => {
            let head = refs::find_by_url(tx, space, url).await?;
            (head.map(|head| head.id), url.as_str())
        }
        Key::Page(path) => (before.pages.get(path.as_str()).copied(), path.as_str()),
    };
    let current = match found {
        Some(id) => live(tx, id).await?,
        None => None,
    };
    Ok(match current {
        Some(current) => compare(&current, &converted.fields),
        None if before.deleted.contains(name) => Step::ThrownAway,
        None => Step::Create,
    })
}

/// Tags are added and none is taken away; a text is changed while it is still what an import wrote.
fn compare(current: &Entity, converted: &Fields) -> Step {
    let own = current.fields();
    let is_of_import = current.head.revision.origin == source(&converted.details).origin();
    let has_other_text = !own.has_text_of(converted);
    if has_other_text && !is_of_import {
        return Step::Kept;
    }
    let (own_tags, new_tags) = (own.details.tags(), converted.details.tags());
    let all = own_tags.zip(new_tags).map(|(own, new)| own.with(new));
    let all = all.and_then(|all| Tags::parse(all.iter()).ok());
    let mut details = current.head.details.clone();
    if let Some(all) = all {
        match &mut details {
            Details::Ref(kept) => kept.tags = all,
            Details::Page(page) => page.tags = all,
            Details::Space(_) | Details::Project | Details::Task(_) => {}
        }
    }
    let fields = Fields {
        title: converted.title.clone(),
        body: converted.body.clone(),
        details,
    };
    match fields == own {
        true => Step::Same,
        false => Step::Update {
            id: current.head.id,
            base: current.head.revision.number,
            fields,
        },
    }
}

/// A ref is somebody else's by what it is. A text without an address may have been copied from anywhere: it is foreign until the
/// owner answers for it.
const fn source(details: &Details) -> TextSource {
    match details {
        Details::Page(_) => TextSource::Capture,
        Details::Ref(_) | Details::Space(_) | Details::Project | Details::Task(_) => {
            TextSource::Import
        }
    }
}

fn count(
    space: SpaceId,
    converted: ConvertedBookmark,
    step: Step,
    report: &mut KarakeepReport,
) -> Option<Write> {
    let source = source(&converted.fields.details);
    let (counted, write) = match step {
        Step::Create => {
            let new = NewEntity {
                space_id: Some(space),
                fields: converted.fields,
                source,
                reason: None,
            };
            (&mut report.created, Some(Write::Create(new)))
        }
        Step::Update { id, base, fields } => {
            let update = EntityUpdate {
                id,
                base,
                fields,
                source,
                reason: None,
            };
            (&mut report.changed, Some(Write::Update(update)))
        }
        Step::Same => (&mut report.unchanged, None),
        Step::Kept => (&mut report.kept, None),
        Step::ThrownAway => (&mut report.thrown_away, None),
    };
    *counted += 1;
    write
}
