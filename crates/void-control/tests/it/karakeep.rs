//! An export of Karakeep that is cut off between two of its batches, or whose space fills up on the way: what was written stays,
//! and the same file once more brings the rest, nothing twice.

use serde_json::json;
use void_capture::{
    Allowances, Captures, Extractor, FetchPatience, Fetcher, Isolation, SystemResolver,
};
use void_control::knowledge::{
    self, EntityFilter, ImportRun, KarakeepError, KarakeepReport, KnowledgeError, WRITE_AT_ONCE_MAX,
};
use void_domain::ids::SpaceId;
use void_domain::knowledge::EntityKind;
use void_domain::limits::SPACE_ENTITIES_MAX;
use void_testkit::programs::capture_confined;

use crate::callers::owner;
use crate::planes::{Engine, Plane};

stories!(
    an_import_that_is_cut_off_between_batches_is_finished_by_the_same_file,
    a_space_that_fills_up_on_the_way_keeps_what_was_written,
);

/// More than are written at once, and less than twice as many.
const BOOKMARKS: usize = WRITE_AT_ONCE_MAX + 20;

fn file() -> Vec<u8> {
    let bookmarks: Vec<_> = (0..BOOKMARKS)
        .map(|n| {
            json!({"createdAt": 1_714_560_000 + n, "title": format!("Page {n}"), "tags": [],
                "content": {"type": "link", "url": format!("https://example.org/{n}")}})
        })
        .collect();
    json!({"bookmarks": bookmarks}).to_string().into_bytes()
}

fn captures() -> Captures {
    let nothing = Allowances::parse(&[] as &[String]).unwrap();
    let resolver = std::sync::Arc::new(SystemResolver);
    let fetcher = Fetcher::of_this_machine(nothing, resolver, FetchPatience::default());
    let program = capture_confined().to_owned();
    let extractor = Extractor {
        isolation: Isolation::Full,
        ..Extractor::new(program, vec!["extract".into()])
    };
    Captures::new(fetcher, extractor)
}

impl Plane {
    async fn karakeep(&self, space: SpaceId) -> Result<KarakeepReport, KarakeepError> {
        self.inside(async move |control, _| {
            let run = (space, ImportRun::Writing);
            knowledge::import_karakeep(&control, &captures(), &owner(), run, &file()).await
        })
        .await
    }

    async fn refs(&self, space: SpaceId) -> usize {
        let filter = EntityFilter::within(space, EntityKind::Ref);
        let listed = self.inside(async move |control, _| {
            let all = u32::try_from(2 * BOOKMARKS).unwrap();
            knowledge::list(&control, &owner(), filter, None, all).await
        });
        listed.await.unwrap().items.len()
    }

    /// After so many refs each further one does this.
    fn after_refs(&self, count: usize, sqlite: &str, postgres: &str) {
        match &self.engine {
            Engine::Sqlite => self.edit(&format!(
                "CREATE TRIGGER cut AFTER INSERT ON refs WHEN (SELECT COUNT(*) FROM refs) > {count} \
                 BEGIN {sqlite}; END"
            )),
            Engine::Postgres(_) => self.edit(&format!(
                "CREATE FUNCTION cut() RETURNS trigger AS $$ BEGIN \
                 IF (SELECT COUNT(*) FROM refs) > {count} THEN {postgres}; END IF; RETURN NEW; END $$ LANGUAGE plpgsql; \
                 CREATE TRIGGER cut AFTER INSERT ON refs FOR EACH ROW EXECUTE FUNCTION cut()"
            )),
        }
    }

    fn as_before(&self) {
        match &self.engine {
            Engine::Sqlite => self.edit("DROP TRIGGER cut"),
            Engine::Postgres(_) => self.edit("DROP TRIGGER cut ON refs; DROP FUNCTION cut()"),
        }
    }
}

async fn an_import_that_is_cut_off_between_batches_is_finished_by_the_same_file(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    plane.after_refs(
        WRITE_AT_ONCE_MAX,
        "SELECT RAISE(ABORT, 'cut off')",
        "RAISE EXCEPTION 'cut off'",
    );
    let cut = plane.karakeep(space).await;
    assert!(cut.is_err(), "{cut:?}");
    assert_eq!(plane.refs(space).await, WRITE_AT_ONCE_MAX, "whole batches");
    plane.as_before();
    let report = plane.karakeep(space).await.unwrap();
    let expected = [BOOKMARKS - WRITE_AT_ONCE_MAX, WRITE_AT_ONCE_MAX].map(|count| count as u64);
    assert_eq!([report.created, report.unchanged], expected, "{report:?}");
    assert_eq!(plane.refs(space).await, BOOKMARKS, "nothing twice");
    let again = plane.karakeep(space).await.unwrap();
    assert_eq!((again.created, again.changed), (0, 0), "{again:?}");
}

async fn a_space_that_fills_up_on_the_way_keeps_what_was_written(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let fill = format!("UPDATE spaces SET ref_count = {SPACE_ENTITIES_MAX}");
    plane.after_refs(WRITE_AT_ONCE_MAX - 1, &fill, &fill);
    let full = plane.karakeep(space).await.unwrap_err();
    assert!(
        matches!(full, KarakeepError::Knowledge(KnowledgeError::Full)),
        "{full:?}"
    );
    assert_eq!(plane.refs(space).await, WRITE_AT_ONCE_MAX);
    plane.as_before();
    // Said before anything is written, as long as there is no room.
    let full = plane.karakeep(space).await.unwrap_err();
    assert!(
        matches!(full, KarakeepError::Knowledge(KnowledgeError::Full)),
        "{full:?}"
    );
    plane.edit(&format!(
        "UPDATE spaces SET ref_count = {WRITE_AT_ONCE_MAX}"
    ));
    let report = plane.karakeep(space).await.unwrap();
    assert_eq!(report.created, (BOOKMARKS - WRITE_AT_ONCE_MAX) as u64);
    assert_eq!(plane.refs(space).await, BOOKMARKS);
}
