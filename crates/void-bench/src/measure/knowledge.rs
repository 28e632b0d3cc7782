//! What the owner keeps, beside the least that a database does for the same on the same seeded pages: searching, writing, saving and
//! listing on SQLite, each side in turn; and the search by vectors beside a scan of all of them.

mod raw;

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use void_control::knowledge::{
    self, EntityFilter, EntityUpdate, NewEntity, SearchRequest, SearchWithin, TextSource, Write,
};
use void_control::{Clock, Control, Ctx};
use void_domain::actors::{Actor, Surface};
use void_domain::capabilities::Capabilities;
use void_domain::ids::{RequestId, SpaceId};
use void_domain::knowledge::{
    Body, Details, Entity, EntityKind, Fields, PageDetails, SpaceDetails, Title,
};
use void_embeddings::corpora::CorpusShape;
use void_embeddings::speed;

use self::raw::Raw;
use crate::Outcome;
use crate::plan::Plan;
use crate::servers::folder_in;
use crate::statistics::{median, per_second, rounded};
use crate::subject::{self, Engine};

/// As many results as a page of them.
const RESULTS: u32 = 20;
const WORDS_PER_PAGE: usize = 120;
const VOCABULARY: u64 = 20_000;
const VECTOR_QUERIES: usize = 30;

pub(crate) async fn measure(plan: &Plan, place: &Path) -> Outcome<Value> {
    let folder = folder_in(place)?;
    let control = subject::control(&Engine::Sqlite, folder.path()).await?;
    let ctx = owner();
    let (space, empty) = (
        new_space(&control, &ctx).await?,
        new_space(&control, &ctx).await?,
    );
    let pages = Corpus::new(1).pages(plan.pages);
    let written = write(&control, &ctx, space, &pages).await?;
    let raw = Raw::filled(folder.path(), &pages)?;
    let searched = search(plan, &control, &ctx, &raw).await?;
    let saved = save(plan, &control, &ctx, (space, &raw)).await?;
    let listed = list(plan, &control, &ctx, [space, empty]).await?;
    let mut vectors = Vec::new();
    for chunks in plan.vector_chunks {
        vectors.push(compare_vectors(*chunks)?);
    }
    Ok(json!({
        "pages": plan.pages,
        "index_per_s": rounded(written),
        "search": searched,
        "save": saved,
        "list": listed,
        "vectors": vectors,
    }))
}

fn owner() -> Ctx {
    Ctx {
        token: None,
        actor: Actor::Owner {
            surface: Surface::Cli,
        },
        capabilities: Capabilities::none(),
        request_id: RequestId::new(Clock::system().now(), [1; 10]),
        authenticated_ago: None,
        is_from_outside: false,
    }
}

/// Words as texts have them: few of them often.
struct Corpus(u64);

impl Corpus {
    const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn word(&mut self) -> String {
        let (one, other) = (self.below(VOCABULARY), self.below(VOCABULARY));
        format!("w{}", one * other / VOCABULARY)
    }

    fn words(&mut self, count: usize) -> String {
        let words: Vec<String> = (0..count).map(|_| self.word()).collect();
        words.join(" ")
    }

    /// Title and text.
    fn pages(&mut self, count: usize) -> Vec<(String, String)> {
        (0..count)
            .map(|_| (self.words(4), self.words(WORDS_PER_PAGE)))
            .collect()
    }

    /// Two words that are somewhere.
    fn query(&mut self) -> String {
        format!("w{} w{}", 50 + self.below(2_000), 50 + self.below(2_000))
    }
}

fn fields(title: &str, body: &str, details: Details) -> Outcome<Fields> {
    Ok(Fields {
        title: Title::parse(title).map_err(|error| error.to_string())?,
        body: Body::parse(body).map_err(|error| error.to_string())?,
        details,
    })
}

fn new_page(space: SpaceId, (title, body): &(String, String)) -> Outcome<NewEntity> {
    Ok(NewEntity {
        space_id: Some(space),
        fields: fields(title, body, Details::Page(PageDetails::default()))?,
        source: TextSource::Owner,
        reason: None,
    })
}

async fn new_space(control: &Control, ctx: &Ctx) -> Outcome<SpaceId> {
    let new = NewEntity {
        space_id: None,
        fields: fields("Measured", "", Details::Space(SpaceDetails::default()))?,
        source: TextSource::Owner,
        reason: None,
    };
    Ok(knowledge::create(control, ctx, new).await?.head.space_id)
}

/// Pages a second, as an import writes them: found by their words when it ends.
async fn write(
    control: &Control,
    ctx: &Ctx,
    space: SpaceId,
    pages: &[(String, String)],
) -> Outcome<f64> {
    let begun = Instant::now();
    for some in pages.chunks(knowledge::WRITE_AT_ONCE_MAX) {
        let new: Outcome<Vec<Write>> = some
            .iter()
            .map(|page| Ok(Write::Create(new_page(space, page)?)))
            .collect();
        knowledge::write_many(control, ctx, new?).await?;
    }
    Ok(per_second(pages.len(), begun.elapsed()))
}

async fn search(plan: &Plan, control: &Control, ctx: &Ctx, raw: &Raw) -> Outcome<Value> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut queries = Corpus::new(2);
    for _ in 0..plan.list_calls {
        let query = queries.query();
        let request = SearchRequest {
            query: query.clone(),
            within: SearchWithin::Everywhere,
            kind: Some(EntityKind::Page.into()),
            cursor: None,
            limit: RESULTS,
        };
        let begun = Instant::now();
        knowledge::search(control, ctx, request).await?;
        ours.push(begun.elapsed());
        let begun = Instant::now();
        raw.search(&query, RESULTS)?;
        theirs.push(begun.elapsed());
    }
    Ok(beside(ours, theirs))
}

async fn save(
    plan: &Plan,
    control: &Control,
    ctx: &Ctx,
    (space, raw): (SpaceId, &Raw),
) -> Outcome<Value> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut texts = Corpus::new(3);
    let title = ("One that is edited".to_owned(), String::new());
    let mut page: Entity = knowledge::create(control, ctx, new_page(space, &title)?).await?;
    for _ in 0..plan.list_calls {
        let body = texts.words(WORDS_PER_PAGE);
        let update = EntityUpdate {
            id: page.head.id,
            base: page.head.revision.number,
            fields: fields(&title.0, &body, Details::Page(PageDetails::default()))?,
            source: TextSource::Owner,
            reason: None,
        };
        let begun = Instant::now();
        page = knowledge::update(control, ctx, update).await?;
        ours.push(begun.elapsed());
        let begun = Instant::now();
        raw.commit(&body)?;
        theirs.push(begun.elapsed());
    }
    Ok(beside(ours, theirs))
}

/// The list of a full space beside that of an empty one.
async fn list(plan: &Plan, control: &Control, ctx: &Ctx, spaces: [SpaceId; 2]) -> Outcome<Value> {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..plan.list_calls {
        for (space, times) in spaces.into_iter().zip(&mut times) {
            let filter = EntityFilter::within(space, EntityKind::Page);
            let begun = Instant::now();
            knowledge::list(control, ctx, filter, None, RESULTS).await?;
            times.push(begun.elapsed());
        }
    }
    let [full, empty] = times;
    Ok(beside(full, empty))
}

/// The middle of both, and how many times the other one ours takes.
fn beside(ours: Vec<Duration>, theirs: Vec<Duration>) -> Value {
    let middle = |times: Vec<Duration>| median(times.iter().map(Duration::as_secs_f64)) * 1_000.0;
    let (ours, theirs) = (middle(ours), middle(theirs));
    json!({
        "p50_ms": rounded(ours),
        "floor_p50_ms": rounded(theirs),
        "ratio": rounded(ours / theirs.max(1e-6)),
    })
}

fn compare_vectors(chunks: usize) -> Outcome<Value> {
    let found = speed::measure(CorpusShape::texts(chunks), VECTOR_QUERIES, &computed)?;
    Ok(json!({
        "chunks": chunks,
        "ratio": rounded(found.ratio()),
        "recall": found.recall,
        "bytes_per_chunk": rounded(found.bytes_per_chunk),
    }))
}

/// What this thread computed: a busy machine makes neither side look slower.
fn computed() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}
