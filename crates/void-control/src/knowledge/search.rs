//! The search: one function for the API, the command line, the palette and the tools. It finds what the owner keeps by its
//! text, and services, actions, agents and proposals by their names. It writes nothing.
//!
//! What could have been written by a stranger says so (`foreign`); whoever may not be tainted takes
//! [`SearchHit::without_foreign_text`]. Whoever may not read what the owner keeps finds the lab alone.

mod lab_names;
mod meaning;
mod texts;

use tokio::time::timeout;
use void_domain::actors::Actor;
use void_domain::capabilities::Capability;
use void_domain::ids::SpaceId;
use void_domain::knowledge::snippets::{marked, snippet};
use void_domain::knowledge::{
    Details, Entity, EntityId, InvalidQuery, NO_EMBEDDINGS, SearchKind, SearchQuery, SnippetSpan,
};
use void_domain::limits::{SEARCH_RESULTS_MAX, SEARCH_TIME_MAX};
use void_domain::time::Timestamp;
use void_embeddings::chunks::Chunks;
use void_store::{StoreError, Tx, spaces};

use super::writing::live;
use super::{KnowledgeError, may_read};
use crate::context::Ctx;
use crate::control::Control;
use crate::embeddings::Near;

#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error(transparent)]
    Query(#[from] InvalidQuery),
    #[error("this is not where a search goes on")]
    Cursor,
    #[error("the search took longer than {} seconds", SEARCH_TIME_MAX.as_secs())]
    TooSlow,
    #[error(transparent)]
    Knowledge(#[from] KnowledgeError),
}

impl From<StoreError> for SearchError {
    fn from(error: StoreError) -> Self {
        Self::Knowledge(KnowledgeError::Store(error))
    }
}

#[derive(Debug, Clone, Default)]
pub struct SearchRequest {
    /// As somebody typed it.
    pub query: String,
    pub within: SearchWithin,
    /// Only of this kind, whatever kinds the query names.
    pub kind: Option<SearchKind>,
    pub cursor: Option<String>,
    /// Up to [`SEARCH_RESULTS_MAX`].
    pub limit: u32,
}

/// Where is looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SearchWithin {
    #[default]
    Everywhere,
    /// What is in the lab is in no space.
    Space(SpaceId),
    SpaceAndLab(SpaceId),
}

impl SearchWithin {
    const fn space_id(self) -> Option<SpaceId> {
        match self {
            Self::Everywhere => None,
            Self::Space(id) | Self::SpaceAndLab(id) => Some(id),
        }
    }

    const fn has_lab(self) -> bool {
        match self {
            Self::Everywhere | Self::SpaceAndLab(_) => true,
            Self::Space(_) => false,
        }
    }
}

/// How the results were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchMode {
    /// By words and by meaning.
    Hybrid,
    /// By words alone.
    Text,
}

impl SearchMode {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Text => "text",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct SearchResults {
    pub mode: SearchMode,
    /// Why nothing was found by meaning, or not all.
    pub why: Option<String>,
    pub hits: Vec<SearchHit>,
    pub next: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchHit {
    pub kind: SearchKind,
    pub id: String,
    pub space_id: Option<SpaceId>,
    pub title: String,
    /// The words of the title that were looked for are marked, as in the snippet.
    pub title_spans: Vec<SnippetSpan>,
    pub snippet: Vec<SnippetSpan>,
    pub score: u64,
    /// Of a task, a service, an action or a proposal: how it stands.
    pub state: Option<&'static str>,
    /// When its text was written, or when it was last looked at or asked for.
    pub at: Option<Timestamp>,
    /// What a reader of its text is tainted by, if a stranger could have written it.
    pub foreign: Option<String>,
}

impl SearchHit {
    pub const fn is_foreign(&self) -> bool {
        self.foreign.is_some()
    }

    /// The same for whoever must not read what a stranger wrote: of that, its kind and its id.
    #[must_use]
    pub fn without_foreign_text(self) -> Self {
        match self.is_foreign() {
            false => self,
            true => Self {
                title: String::new(),
                title_spans: Vec::new(),
                snippet: Vec::new(),
                ..self
            },
        }
    }
}

/// A result before it is shown. The order is the order of the results: the best first, and of equals by kind and id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RankedHit {
    score: u64,
    kind: SearchKind,
    id: String,
    found: FoundBy,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum FoundBy {
    /// The chunk is the one that is near, of what was found by meaning alone.
    Entity(EntityId, Option<u16>),
    Named(NamedHit),
}

/// Something of the lab.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct NamedHit {
    title: String,
    state: Option<&'static str>,
    at: Option<Timestamp>,
    foreign: Option<String>,
}

impl RankedHit {
    fn key(&self) -> (std::cmp::Reverse<u64>, SearchKind, &str) {
        (std::cmp::Reverse(self.score), self.kind, &self.id)
    }

    fn cursor(&self, mode: SearchMode) -> String {
        let mark = match mode {
            SearchMode::Hybrid => HYBRID,
            SearchMode::Text => "",
        };
        format!("{mark}{}-{}-{}", self.score, self.kind, self.id)
    }
}

/// What a cursor begins with where results were found by meaning too: scores of both ways are not compared.
const HYBRID: &str = "h";

/// Where the page before this one ended.
#[derive(Debug, Clone)]
struct SearchCursor {
    mode: SearchMode,
    score: u64,
    kind: SearchKind,
    id: String,
}

impl SearchCursor {
    fn parse(text: &str) -> Result<Self, SearchError> {
        let (mode, text) = match text.strip_prefix(HYBRID) {
            Some(rest) => (SearchMode::Hybrid, rest),
            None => (SearchMode::Text, text),
        };
        let mut parts = text.splitn(3, '-');
        let mut next = || parts.next().ok_or(SearchError::Cursor);
        Ok(Self {
            mode,
            score: next()?.parse().map_err(|_| SearchError::Cursor)?,
            kind: SearchKind::parse(next()?).ok_or(SearchError::Cursor)?,
            id: next()?.to_owned(),
        })
    }

    fn key(&self) -> (std::cmp::Reverse<u64>, SearchKind, &str) {
        (std::cmp::Reverse(self.score), self.kind, &self.id)
    }
}

/// What a caller may find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Findable {
    Everything,
    Lab,
}

/// Whoever may look at the lab finds it by name, and whoever may read what the owner keeps finds that too.
fn findable(ctx: &Ctx) -> Result<Findable, KnowledgeError> {
    match (may_read(ctx), &ctx.actor) {
        (Ok(()), _) => Ok(Findable::Everything),
        (Err(_), Actor::Viewer { .. }) => Ok(Findable::Lab),
        (Err(_), Actor::Agent { .. }) if ctx.capabilities.has(Capability::Act) => Ok(Findable::Lab),
        (Err(error), _) => Err(error),
    }
}

pub async fn search(
    control: &Control,
    ctx: &Ctx,
    request: SearchRequest,
) -> Result<SearchResults, SearchError> {
    let findable = findable(ctx)?;
    let mut query = SearchQuery::parse(&request.query)?;
    let cursor = request
        .cursor
        .as_deref()
        .map(SearchCursor::parse)
        .transpose()?;
    let within = request.within;
    if !within.has_lab() && findable == Findable::Lab {
        return Err(KnowledgeError::Forbidden.into());
    }
    // A kind that the caller asks for beside the query is no reason to list all of it.
    if query.is_empty() || request.kind.is_some_and(|kind| !query.may_be(kind)) {
        return Ok(SearchResults::nothing(control));
    }
    if let Some(kind) = request.kind {
        query.kinds = vec![kind];
    }
    // What began by words alone goes on so.
    let near = match cursor.as_ref().map(|cursor| cursor.mode) {
        None | Some(SearchMode::Hybrid) if findable == Findable::Everything => {
            meaning::near(control, ctx, &query, within).await?
        }
        None | Some(SearchMode::Hybrid | SearchMode::Text) => Err(None),
    };
    let (near, why) = match near {
        Ok(near) => (Some(near), None),
        Err(_)
            if cursor
                .as_ref()
                .is_some_and(|cursor| cursor.mode == SearchMode::Hybrid) =>
        {
            return Err(SearchError::Cursor);
        }
        Err(why) => (None, why),
    };
    let not_yet = near.as_ref().map_or(0, |near| near.not_yet);
    let mode = near
        .as_ref()
        .map_or(SearchMode::Text, |_| SearchMode::Hybrid);
    let search = Search {
        query,
        within,
        findable,
        cursor,
        near,
        limit: request.limit.clamp(1, SEARCH_RESULTS_MAX) as usize,
    };
    // The reader goes on until its statement ends, which is bounded; its caller does not wait for it.
    let Ok(found) = timeout(control.bounds.limits.search_time, search.run(control, ctx)).await
    else {
        return Err(SearchError::TooSlow);
    };
    let (hits, next) = found?;
    let still = (not_yet > 0).then(|| format!("{not_yet} texts have no vectors yet"));
    Ok(SearchResults {
        mode,
        why: why.or(still),
        hits,
        next,
    })
}

impl SearchResults {
    fn nothing(control: &Control) -> Self {
        let is_off = control.embeddings.is_none();
        Self {
            mode: SearchMode::Text,
            why: is_off.then(|| NO_EMBEDDINGS.to_owned()),
            hits: Vec::new(),
            next: None,
        }
    }
}

/// A search that may be done.
struct Search {
    query: SearchQuery,
    within: SearchWithin,
    findable: Findable,
    cursor: Option<SearchCursor>,
    near: Option<Near>,
    limit: usize,
}

/// A page, and where it ended.
type Shown = (Vec<SearchHit>, Option<String>);

impl Search {
    async fn run(self, control: &Control, ctx: &Ctx) -> Result<Shown, KnowledgeError> {
        let named = match self.within.has_lab() {
            true => lab_names::find(control, &self.query),
            false => Vec::new(),
        };
        let (residents, ctx) = (control.in_force.resident_names(), ctx.clone());
        let this = control.clone();
        control
            .store
            .read(move |tx| {
                Box::pin(async move {
                    if let Some(space) = self.within.space_id()
                        && !spaces::is_there(tx, space).await?
                    {
                        return Err(KnowledgeError::NotFound);
                    }
                    let mut named = named;
                    if self.within.has_lab() {
                        let stored =
                            lab_names::find_stored(tx, &self.query, residents, (&this, &ctx))
                                .await?;
                        named.extend(stored);
                    }
                    Ok(self.page(tx, named).await?)
                })
            })
            .await
    }

    async fn page(self, tx: &mut Tx, named: Vec<RankedHit>) -> Result<Shown, StoreError> {
        let mut ranked = match self.findable {
            Findable::Everything => texts::rank(tx, &self.query, self.within.space_id()).await?,
            Findable::Lab => Vec::new(),
        };
        ranked.extend(named);
        ranked.sort_unstable_by(|a, b| a.key().cmp(&b.key()));
        let mut mode = SearchMode::Text;
        if let Some(near) = &self.near {
            ranked = meaning::fused(tx, &self.query, near, ranked).await?;
            mode = SearchMode::Hybrid;
        }
        if let Some(cursor) = self.cursor {
            ranked.retain(|hit| hit.key() > cursor.key());
        }
        shown(tx, &self.query, ranked, (self.limit, mode)).await
    }
}

/// The first of them with their titles and snippets, read as they are now.
async fn shown(
    tx: &mut Tx,
    query: &SearchQuery,
    ranked: Vec<RankedHit>,
    (limit, mode): (usize, SearchMode),
) -> Result<Shown, StoreError> {
    let is_more = ranked.len() > limit;
    let mut next = None;
    let mut hits = Vec::with_capacity(limit.min(ranked.len()));
    for hit in ranked.into_iter().take(limit) {
        next = Some(hit.cursor(mode));
        hits.extend(show(tx, query, hit).await?);
    }
    Ok((hits, next.filter(|_| is_more)))
}

async fn show(
    tx: &mut Tx,
    query: &SearchQuery,
    hit: RankedHit,
) -> Result<Option<SearchHit>, StoreError> {
    let RankedHit {
        score,
        kind,
        id,
        found,
    } = hit;
    let mut snippets = Vec::new();
    let (space_id, named) = match found {
        FoundBy::Named(named) => (None, named),
        FoundBy::Entity(id, chunk) => {
            let Some(entity) = live(tx, id).await? else {
                return Ok(None);
            };
            snippets = snippet(place_of(entity.body.as_str(), chunk), query);
            (Some(entity.head.space_id), named_entity(&entity))
        }
    };
    Ok(Some(SearchHit {
        kind,
        id,
        space_id,
        title_spans: marked(&named.title, query),
        title: named.title,
        snippet: snippets,
        score,
        state: named.state,
        at: named.at,
        foreign: named.foreign,
    }))
}

/// The chunk that is near, of what does not have the words, without what it repeats; otherwise the whole text.
fn place_of(body: &str, chunk: Option<u16>) -> &str {
    let Some(chunk) = chunk.map(usize::from) else {
        return body;
    };
    let ranges = Chunks::of(body).ranges;
    let before = chunk.checked_sub(1).and_then(|before| ranges.get(before));
    let near = ranges.get(chunk).and_then(|near| {
        let begin = before.map_or(near.start, |before| before.end.max(near.start));
        body.get(begin..near.end)
    });
    near.unwrap_or(body)
}

fn named_entity(entity: &Entity) -> NamedHit {
    let head = &entity.head;
    NamedHit {
        title: head.title.to_string(),
        state: match &head.details {
            Details::Task(task) => Some(task.state.as_str()),
            Details::Space(_) | Details::Project | Details::Page(_) | Details::Ref(_) => None,
        },
        at: Some(head.revision.at),
        foreign: head.taint_source(),
    }
}
