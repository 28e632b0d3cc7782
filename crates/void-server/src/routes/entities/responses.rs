//! How an entity is told: with its text, what it names and what names it; in a list without any of these.

use void_api::attachments::AttachmentResponse;
use void_api::entities::{
    BacklinkResponse, DraftOrigin, EntityHeadResponse, EntityLinksResponse, LinkResponse,
};
use void_api::entity_responses::EntityResponse;
use void_api::markdown::Block;
use void_api::pages::{PageHeadResponse, PageResponse};
use void_api::projects::{ProjectHeadResponse, ProjectResponse};
use void_api::refs::{RefHeadResponse, RefResponse};
use void_api::spaces::{SpaceHeadResponse, SpaceResponse};
use void_api::tasks::{TaskHeadResponse, TaskResponse};
use void_control::knowledge::{self, EntityLinks, KnowledgeError, ResolvedLink, SpaceCounts};
use void_control::lanes::work_away;
use void_control::{Control, Ctx, StoreError, token_taints};
use void_domain::ids::ProjectId;
use void_domain::knowledge::{
    Attachment, Details, Entity, EntityHead, EntityId, EntityKind, FrontMatter, LinkTarget, Links,
    Origin, RefDetails, Revision, Tags, TaskDetails,
};
use void_domain::taint::Taint;

use super::knowledge_error;
use super::page_links::{Meaning, Meant, with_page_links};
use crate::app::App;
use crate::errors::ApiError;
use crate::markdown;
use crate::routes::attachments;

/// What of a text is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::routes) enum Shown {
    AsText,
    WithBlocks,
}

/// An entity with its text, and with what it names and what names it now.
pub(in crate::routes) async fn respond(
    app: &App,
    ctx: &Ctx,
    entity: Entity,
    shown: Shown,
) -> Result<EntityResponse, ApiError> {
    let (control, id) = (app.control(), entity.head.id);
    let found = links(control, ctx, id).await?;
    let linked = found.links.iter().filter_map(link_source);
    let named = found.backlinks.iter().chain([&entity.head]);
    let sources = linked.chain(named.filter_map(EntityHead::taint_source));
    mark_reader(control, ctx, sources).await?;
    let counts = counts(app, ctx, id).await?;
    let (blocks, entity, found) = match shown {
        Shown::AsText => (None, entity, found),
        Shown::WithBlocks => work_away(move || with_blocks(entity, found)).await?,
    };
    let links = links_response(found);
    let body = entity.body.as_str().to_owned();
    let all_tags = entity.head.details.tags().cloned().unwrap_or_default();
    let all_tags = all_tags.with(&FrontMatter::of(&body).tags);
    let head = head_response(entity.head);
    Ok(match head {
        HeadResponse::Space(head) => EntityResponse::Space(Box::new(SpaceResponse {
            head,
            body,
            blocks,
            links,
            project_count: counts.projects,
            page_count: counts.pages,
            task_count: counts.tasks,
            ref_count: counts.refs,
        })),
        HeadResponse::Project(head) => EntityResponse::Project(Box::new(ProjectResponse {
            head,
            body,
            blocks,
            links,
        })),
        HeadResponse::Page(mut head) => {
            // A list does not read the texts that more tags stand in.
            head.tags = words(&all_tags);
            EntityResponse::Page(Box::new(PageResponse {
                head,
                body,
                blocks,
                links,
            }))
        }
        HeadResponse::Task(head) => EntityResponse::Task(Box::new(TaskResponse {
            head,
            body,
            blocks,
            links,
        })),
        HeadResponse::Ref(head) => EntityResponse::Ref(Box::new(RefResponse {
            head,
            body,
            blocks,
            links,
            source: source(app, ctx, id).await?,
        })),
    })
}

/// Reads its text, which may be long.
fn with_blocks(entity: Entity, found: EntityLinks) -> (Option<Vec<Block>>, Entity, EntityLinks) {
    let text = with_page_links(shown_text(&entity), &meant(&entity, &found.links));
    (Some(markdown::read(&text)), entity, found)
}

/// What it names and what names it.
async fn links(control: &Control, ctx: &Ctx, id: EntityId) -> Result<EntityLinks, ApiError> {
    match knowledge::linked(control, ctx, id).await {
        Ok(found) => Ok(found),
        // It was thrown away in between.
        Err(KnowledgeError::NotFound) => Ok(EntityLinks {
            links: Vec::new(),
            backlinks: Vec::new(),
            is_cut: false,
        }),
        Err(error) => Err(knowledge_error(error, id.kind())),
    }
}

/// What a reader of a link is marked by: a title of a stranger's is a stranger's text, and so is what a page of the web is
/// called as a file.
fn link_source(link: &ResolvedLink) -> Option<String> {
    match link {
        ResolvedLink::To(head) => head.taint_source(),
        ResolvedLink::ToFile(file) => file_source(file),
        ResolvedLink::Nothing(_) | ResolvedLink::Several(..) => None,
    }
}

pub(in crate::routes) fn file_source(file: &Attachment) -> Option<String> {
    file.ref_id.map(|id| format!("{}:{id}", EntityKind::Ref))
}

/// Marks the token of whoever is told of these, before they are told.
pub(in crate::routes) async fn mark_reader(
    control: &Control,
    ctx: &Ctx,
    sources: impl Iterator<Item = String>,
) -> Result<(), StoreError> {
    let mut given = Taint::clean();
    given.unite(&Taint::from_sources(sources.collect()));
    token_taints::mark(control, ctx, &given).await
}

/// The file that a ref was made from.
async fn source(
    app: &App,
    ctx: &Ctx,
    id: EntityId,
) -> Result<Option<AttachmentResponse>, ApiError> {
    let EntityId::Ref(kept) = id else {
        return Ok(None);
    };
    let found = knowledge::ref_source(app.control(), ctx, kept).await;
    let found = found.map_err(|error| knowledge_error(error, id.kind()))?;
    Ok(found.as_ref().map(attachments::response))
}

/// How much is in a space; in everything else there is nothing.
async fn counts(app: &App, ctx: &Ctx, id: EntityId) -> Result<SpaceCounts, ApiError> {
    let EntityId::Space(space) = id else {
        return Ok(SpaceCounts::default());
    };
    match knowledge::space_counts(app.control(), ctx, space).await {
        Ok(counts) => Ok(counts),
        Err(KnowledgeError::NotFound) => Ok(SpaceCounts::default()),
        Err(error) => Err(knowledge_error(error, id.kind())),
    }
}

/// What the targets of a text mean, as far as each means one thing.
fn meant(entity: &Entity, links: &[ResolvedLink]) -> Meant {
    let named = Links::of(entity.body.as_str());
    // They were looked up in this order.
    let pairs = named.targets().into_iter().zip(links);
    pairs
        .filter_map(|(target, link)| match link {
            ResolvedLink::To(head) => Some((target.clone(), Meaning::Entity(head.id))),
            ResolvedLink::ToFile(file) => Some((target.clone(), Meaning::File(file.id))),
            ResolvedLink::Nothing(_) | ResolvedLink::Several(..) => None,
        })
        .collect()
}

/// The head of a page is for programs.
fn shown_text(entity: &Entity) -> &str {
    let text = entity.body.as_str();
    match entity.head.id {
        EntityId::Page(_) => text.get(FrontMatter::of(text).end..).unwrap_or(text),
        EntityId::Space(_) | EntityId::Project(_) | EntityId::Task(_) | EntityId::Ref(_) => text,
    }
}

/// One of a list, of whichever kind.
pub(in crate::routes) enum HeadResponse {
    Space(SpaceHeadResponse),
    Project(ProjectHeadResponse),
    Page(PageHeadResponse),
    Task(TaskHeadResponse),
    Ref(RefHeadResponse),
}

pub(in crate::routes) fn head_response(head: EntityHead) -> HeadResponse {
    let entity = common_response(&head);
    match head.details {
        Details::Space(space) => HeadResponse::Space(SpaceHeadResponse {
            entity,
            agent: space.agent.map(|name| name.to_string()),
        }),
        Details::Project => HeadResponse::Project(ProjectHeadResponse { entity }),
        Details::Page(page) => HeadResponse::Page(PageHeadResponse {
            entity,
            project_id: project(page.project_id),
            tags: words(&page.tags),
            path: page.path.map(|path| path.to_string()),
        }),
        Details::Task(task) => HeadResponse::Task(task_head(entity, &task)),
        Details::Ref(kept) => HeadResponse::Ref(ref_head(entity, &kept)),
    }
}

fn task_head(entity: EntityHeadResponse, task: &TaskDetails) -> TaskHeadResponse {
    TaskHeadResponse {
        entity,
        project_id: project(task.project_id),
        state: task.state.as_str().into(),
        due: task.due.map(|day| day.to_string()),
        tags: words(&task.tags),
    }
}

fn ref_head(entity: EntityHeadResponse, kept: &RefDetails) -> RefHeadResponse {
    RefHeadResponse {
        entity,
        project_id: project(kept.project_id),
        url: kept.url.to_string(),
        tags: words(&kept.tags),
    }
}

fn project(id: Option<ProjectId>) -> Option<String> {
    id.map(|id| id.to_string())
}

pub(in crate::routes) fn words(tags: &Tags) -> Vec<String> {
    tags.iter().map(str::to_owned).collect()
}

fn common_response(head: &EntityHead) -> EntityHeadResponse {
    let Revision {
        number,
        at,
        by,
        origin,
        vouched,
        reason: _,
    } = &head.revision;
    EntityHeadResponse {
        kind: head.id.kind().as_str().into(),
        id: head.id.to_string(),
        space_id: head.space_id.to_string(),
        title: head.title.to_string(),
        revision: *number,
        origin: origin.as_str().into(),
        draft: draft_origin(origin),
        foreign: head.is_foreign(),
        vouched_at: vouched.as_ref().map(|vouched| vouched.at.to_string()),
        vouched_by: vouched.as_ref().map(|vouched| vouched.by.clone()),
        created_at: head.created_at.to_string(),
        updated_at: at.to_string(),
        updated_by: by.clone(),
        deleted_at: head.deleted.as_ref().map(|gone| gone.at.to_string()),
        deleted_by: head.deleted.as_ref().map(|gone| gone.by.clone()),
    }
}

/// Of an agent's draft, whose it was and what it had read.
pub(in crate::routes) fn draft_origin(origin: &Origin) -> Option<DraftOrigin> {
    match origin {
        Origin::Draft {
            proposal,
            agent,
            taint,
        } => Some(DraftOrigin {
            proposal_id: proposal.to_string(),
            agent: agent.clone(),
            taint: taint.sources().to_vec(),
        }),
        Origin::Owner | Origin::Import | Origin::Capture => None,
    }
}

fn links_response(found: EntityLinks) -> EntityLinksResponse {
    EntityLinksResponse {
        links: found.links.into_iter().map(link_response).collect(),
        backlinks: found.backlinks.iter().map(backlink_response).collect(),
        links_cut: found.is_cut,
    }
}

fn link_response(link: ResolvedLink) -> LinkResponse {
    let named = |target| match target {
        LinkTarget::Title(title) => (None, Some(title)),
        LinkTarget::Entity(id) => (Some(id), None),
    };
    let (found, (id, title), candidates) = match link {
        ResolvedLink::ToFile(file) => return file_link_response(&file),
        ResolvedLink::To(head) => {
            let title = head.title.to_string();
            ("one", (Some(head.id), Some(title)), Vec::new())
        }
        ResolvedLink::Nothing(target) => ("none", named(target), Vec::new()),
        ResolvedLink::Several(target, pages) => {
            let pages = pages.iter().map(ToString::to_string);
            ("several", named(target), pages.collect())
        }
    };
    LinkResponse {
        found: found.into(),
        kind: id.map(|id| id.kind().as_str().into()),
        id: id.map(|id| id.to_string()),
        title,
        candidates,
    }
}

fn file_link_response(file: &Attachment) -> LinkResponse {
    LinkResponse {
        found: "one".into(),
        kind: Some("attachment".into()),
        id: Some(file.id.to_string()),
        title: Some(file.name.to_string()),
        candidates: Vec::new(),
    }
}

fn backlink_response(head: &EntityHead) -> BacklinkResponse {
    BacklinkResponse {
        kind: head.id.kind().as_str().into(),
        id: head.id.to_string(),
        title: head.title.to_string(),
    }
}
