//! What entities are found by: written with them, gone with them, and the same on both engines.

use std::collections::BTreeMap;
use std::time::Instant;

use void_domain::ids::SpaceId;
use void_domain::knowledge::ranking::{Ranked, RankedText, rank, rarity};
use void_domain::knowledge::{
    Details, Entity, EntityId, PageDetails, RefDetails, RefUrl, SearchQuery, SearchTerm, Tags,
    TaskDetails,
};
use void_domain::limits::{SEARCH_CANDIDATES_MAX, SEARCH_RARITY_MAX};
use void_domain::time::Timestamp;
use void_store::entities::Undeleted;
use void_store::search::{self, Candidate};
use void_store::{Store, StoreError, entities};
use void_testkit::proposals::NOW;

use crate::engines;
use crate::entities::{at, entity, insert, on, page, space, space_id, update};

async fn candidates(store: &Store, query: &str, space: Option<SpaceId>) -> Vec<Candidate> {
    let query = SearchQuery::parse(query).unwrap();
    let found: Result<_, StoreError> = store
        .read(move |tx| Box::pin(async move { search::candidates(tx, &query, space).await }))
        .await;
    found.unwrap()
}

/// The titles of what has the words, sorted.
async fn titles(store: &Store, query: &str) -> Vec<String> {
    let found = candidates(store, query, None).await;
    let mut titles: Vec<String> = found.into_iter().map(|one| one.title).collect();
    titles.sort();
    titles
}

async fn documents(store: &Store, word: &str) -> u64 {
    let term = SearchTerm::Word(word.to_owned());
    let counted: Result<_, StoreError> = store
        .read(move |tx| Box::pin(async move { search::count_documents(tx, &term).await }))
        .await;
    counted.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_is_found_by_its_words_and_no_others() {
    for engine in engines::both().await {
        let store = &engine.store;
        insert(store, &space(1)).await;
        let tags = |tag: &str| Tags::parse([tag]).unwrap();
        let tagged = Details::Page(PageDetails {
            tags: tags("Net/DNS"),
            ..PageDetails::default()
        });
        insert(
            store,
            &entity(1, "Café", "Größe der Straße 192.168.1.1", tagged),
        )
        .await;
        let task = Details::Task(TaskDetails {
            tags: tags("netz"),
            ..TaskDetails::default()
        });
        insert(store, &entity(2, "Buy a switch", "", task)).await;
        let kept = Details::Ref(RefDetails {
            project_id: None,
            url: RefUrl::parse("https://wiki.example.org/zfs").unwrap(),
            tags: Tags::default(),
        });
        insert(
            store,
            &entity(3, "Somebody's page", "1 2 168 kind page net", kept),
        )
        .await;
        insert(store, &entity(4, "Garden", "日本語", Details::Project)).await;
        for (query, expected) in [
            ("cafe", vec!["Café"]),
            ("CAFÉ grosse", vec!["Café"]),
            ("strasse", vec!["Café"]),
            ("stra*", vec!["Café"]),
            ("caf", vec![]),
            ("cafe switch", vec![]),
            // The index knows no order: it has all of a phrase's words, and the rank tells the rest.
            ("\"168 1\"", vec!["Café", "Somebody's page"]),
            ("switch kind:task", vec!["Buy a switch"]),
            ("switch kind:page", vec![]),
            ("switch kind:service", vec![]),
            ("tag:net", vec!["Café"]),
            ("tag:net/dns", vec!["Café"]),
            ("tag:dns", vec![]),
            ("dns", vec!["Café"]),
            ("net*", vec!["Buy a switch", "Café", "Somebody's page"]),
            ("net* -tag:netz", vec!["Café", "Somebody's page"]),
            ("net* -switch -so*", vec!["Café"]),
            ("net* -kind:page -kind:ref", vec!["Buy a switch"]),
            ("zfs", vec!["Somebody's page"]),
            ("本", vec!["Garden"]),
            ("kind:space", vec!["Lab"]),
            ("kind:page kind:project", vec!["Café", "Garden"]),
            ("-cafe", vec![]),
        ] {
            assert_eq!(
                titles(store, query).await,
                expected,
                "{}: {query}",
                engine.name
            );
        }
        let here = candidates(store, "cafe", Some(space_id(1))).await;
        assert_eq!((here.len(), here[0].space_id), (1, space_id(1)));
        assert_eq!(candidates(store, "cafe", Some(space_id(2))).await, []);
    }
}

/// What was a query to either engine is words here.
#[tokio::test(flavor = "multi_thread")]
async fn no_text_is_an_expression_of_the_engine() {
    for engine in engines::both().await {
        let store = &engine.store;
        insert(store, &space(1)).await;
        insert(store, &page(1, "Fence", "the body")).await;
        for text in [
            "fence' OR '1'='1",
            "body\" OR \"x",
            "NEAR(the body, 1)",
            "lexemes : fence",
            "fence NOT zebra",
            "^fence",
            "{lexemes} : x",
            "the <-> body <2> fence",
            "fence:*A & !zebra",
            "fence\0body",
            "\\",
            "'",
            "\"\"\"",
            "a\u{202e}b",
            "tag:a'b\"c\\d*",
            "=fence %page @space #tag",
            "(((((((((((((((",
            "\u{fdfa}\u{fdfa}",
        ] {
            let found = candidates(store, text, None).await;
            let is_words = matches!(text, "^fence" | "=fence %page @space #tag" | "fence\0body");
            assert!(found.is_empty() || is_words, "{}: {text:?}", engine.name);
        }
        // Words of a page are no kinds, tags or spaces.
        insert(store, &page(2, "Forged", "%ref #secret @x =fence")).await;
        assert_eq!(titles(store, "kind:ref").await, [""; 0]);
        assert_eq!(titles(store, "tag:secret").await, [""; 0]);
        assert_eq!(titles(store, "fence").await, ["Fence", "Forged"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entity_is_found_by_its_newest_revision_and_not_while_it_is_away() {
    for engine in engines::both().await {
        let store = &engine.store;
        insert(store, &space(1)).await;
        let first = page(1, "Fence", "wooden");
        insert(store, &first).await;
        let mut second = first.clone();
        second.head.revision.number = 2;
        second.head.revision.at = at(9);
        second.body = void_domain::knowledge::Body::parse("metal").unwrap();
        assert!(update(store, 1, &second).await);
        assert_eq!(titles(store, "wooden").await, [""; 0], "{}", engine.name);
        assert_eq!(titles(store, "metal").await, ["Fence"]);
        // Somebody who lost changes nothing.
        let mut late = first.clone();
        late.body = void_domain::knowledge::Body::parse("plastic").unwrap();
        assert!(!update(store, 1, &late).await);
        assert_eq!(titles(store, "plastic").await, [""; 0]);

        let deletion = void_domain::knowledge::Deletion {
            at: at(10),
            by: "owner-web".to_owned(),
        };
        let (head, away) = (second.head.clone(), deletion.clone());
        assert!(on!(store, |tx| entities::delete(tx, &head, &away)));
        assert_eq!(titles(store, "metal").await, [""; 0]);
        assert_eq!(documents(store, "metal").await, 0);
        let found = second.head.id;
        let found = on!(store, |tx| entities::find_head(tx, found)).unwrap();
        let back = on!(store, |tx| entities::undelete(tx, &found));
        assert_eq!(back, Undeleted::Yes);
        assert_eq!(titles(store, "metal").await, ["Fence"]);
        assert_eq!(documents(store, "metal").await, 1);

        // What is in a space that is away is away with it.
        let (head, away) = (space(1).head, deletion);
        assert!(on!(store, |tx| entities::delete(tx, &head, &away)));
        assert_eq!(titles(store, "metal").await, [""; 0]);
        assert_eq!(titles(store, "lab").await, [""; 0]);
    }
}

/// A write that is rolled back leaves nothing that could be found.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_committed_is_not_found() {
    for engine in engines::both().await {
        let store = &engine.store;
        insert(store, &space(1)).await;
        let lost = page(1, "Lost", "nowhere");
        let done: Result<(), StoreError> = store
            .write(move |tx| {
                Box::pin(async move {
                    assert!(entities::insert(tx, &lost).await?);
                    Err(StoreError::Internal("no".to_owned()))
                })
            })
            .await;
        assert!(done.is_err());
        assert_eq!(titles(store, "nowhere").await, [""; 0], "{}", engine.name);
        assert_eq!(documents(store, "nowhere").await, 0);
    }
}

/// So many numbers, the same each time.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    /// Small numbers are frequent, as words are.
    fn word(&mut self) -> String {
        const BEGIN: [&str; 12] = [
            "ba", "ce", "dö", "fü", "ga", "hé", "ji", "ko", "lu", "mà", "ni", "pø",
        ];
        let rank = self.below(60).min(self.below(60)) * self.below(60) / 8;
        format!(
            "{}{}{}",
            BEGIN[rank % 12],
            BEGIN[rank / 12 % 12],
            ["r", "n", "st"][rank % 3]
        )
    }

    fn text(&mut self, words: usize) -> String {
        let words: Vec<String> = (0..words).map(|_| self.word()).collect();
        words.join(" ")
    }

    fn query(&mut self) -> String {
        let (one, other) = (self.word(), self.word());
        match self.below(8) {
            0 | 1 => one,
            2 => format!("{one} {other}"),
            3 => format!("\"{one} {other}\""),
            4 => format!("{}*", one.chars().take(3).collect::<String>()),
            5 => format!("{one} -{other}"),
            6 => format!("{one} tag:t{} kind:page", self.below(4)),
            _ => one.to_uppercase(),
        }
    }
}

fn corpus(count: u32) -> Vec<Entity> {
    let mut seeded = Seeded(11);
    (0..count)
        .map(|n| {
            let (title, words) = (1 + seeded.below(4), 5 + seeded.below(120));
            let details = Details::Page(PageDetails {
                tags: Tags::parse([&*format!("t{}", seeded.below(4))]).unwrap(),
                ..PageDetails::default()
            });
            let mut made = entity(0, &seeded.text(title), &seeded.text(words), details);
            let mut random = [0; 10];
            random[..4].copy_from_slice(&n.to_be_bytes());
            made.head.id = EntityId::new(made.head.id.kind(), NOW, random);
            made
        })
        .collect()
}

async fn fill(store: &Store, pages: &[Entity]) {
    insert(store, &space(1)).await;
    for some in pages.chunks(200) {
        let some = some.to_vec();
        let done: Result<(), StoreError> = store
            .write(move |tx| {
                Box::pin(async move {
                    for page in &some {
                        assert!(entities::insert(tx, page).await?);
                    }
                    Ok(())
                })
            })
            .await;
        done.unwrap();
    }
}

/// What a search shows, in its order.
async fn ranked(store: &Store, text: &str) -> Vec<(u64, EntityId)> {
    let query = SearchQuery::parse(text).unwrap();
    let mut rarities = Vec::new();
    for term in query.wanted.clone() {
        let counted: Result<_, StoreError> = store
            .read(move |tx| Box::pin(async move { search::count_documents(tx, &term).await }))
            .await;
        rarities.push(rarity(counted.unwrap()));
    }
    let mut found = Vec::new();
    for one in candidates(store, text, None).await {
        let (title, text) = (&*one.title, &one.words);
        match rank(&query, &rarities, RankedText { title, text }) {
            Ranked::Score(score) => found.push((score, one.id)),
            Ranked::No => {}
            Ranked::Unknown => panic!("no text of these is that long"),
        }
    }
    found.sort_unstable_by_key(|(score, id)| (std::cmp::Reverse(*score), *id));
    found
}

/// 2,000 pages and 200 queries: the same results in the same order.
#[tokio::test(flavor = "multi_thread")]
async fn both_engines_find_the_same_in_the_same_order() {
    let pages = corpus(2_000);
    let sqlite = engines::sqlite().await;
    fill(&sqlite.store, &pages).await;
    let mut seeded = Seeded(23);
    let queries: Vec<String> = (0..200).map(|_| seeded.query()).collect();
    let mut answers = BTreeMap::new();
    for query in &queries {
        answers.insert(query, ranked(&sqlite.store, query).await);
    }
    let found = answers.values().filter(|found| !found.is_empty()).count();
    assert!(found > 100, "{found}");
    let most = answers.values().map(Vec::len).max().unwrap();
    assert!(most >= SEARCH_CANDIDATES_MAX as usize, "{most}");
    let Some(postgres) = engines::postgres().await else {
        return;
    };
    fill(&postgres.store, &pages).await;
    for (query, expected) in answers {
        assert_eq!(ranked(&postgres.store, query).await, expected, "{query}");
    }
}

/// Of more than are looked at the newest are, and any that says it in its title.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_looked_at_is_bounded_and_no_title_is_lost() {
    for engine in engines::both().await {
        let store = &engine.store;
        let made = |n: u32, title: &str| {
            let mut made = page(0, title, "fence");
            let mut random = [0; 10];
            random[..4].copy_from_slice(&n.to_be_bytes());
            made.head.id = EntityId::new(made.head.id.kind(), Timestamp::from_ms(1), random);
            made
        };
        let mut pages = vec![made(0, "Fence"), made(1, "Oldest")];
        pages.extend((2..=SEARCH_RARITY_MAX + 2).map(|n| made(n, "Other")));
        fill(store, &pages).await;
        let found = candidates(store, "fence", None).await;
        assert_eq!(
            found.len(),
            SEARCH_CANDIDATES_MAX as usize + 1,
            "{}",
            engine.name
        );
        let has = |title: &str| found.iter().any(|one| one.title == title);
        assert!(has("Fence") && !has("Oldest"));
        assert!(
            found
                .iter()
                .any(|one| one.id == pages.last().unwrap().head.id)
        );
        assert_eq!(
            documents(store, "fence").await,
            u64::from(SEARCH_RARITY_MAX)
        );
        assert_eq!(documents(store, "oldest").await, 1);
    }
}

/// Pages of ordinary length are indexed far faster than they are written; measured apart in `void-bench`.
#[tokio::test(flavor = "multi_thread")]
async fn indexing_is_no_burden() {
    let engine = engines::sqlite().await;
    let mut seeded = Seeded(5);
    let text = seeded.text(65);
    let pages: Vec<Entity> = corpus(1_000)
        .into_iter()
        .map(|mut page| {
            page.body = void_domain::knowledge::Body::parse(&text).unwrap();
            page
        })
        .collect();
    insert(&engine.store, &space(1)).await;
    let begun = Instant::now();
    let count = pages.len();
    let done: Result<(), StoreError> = engine
        .store
        .write(move |tx| {
            Box::pin(async move {
                for page in &pages {
                    search::replace(tx, page).await?;
                }
                Ok(())
            })
        })
        .await;
    done.unwrap();
    let took = begun.elapsed();
    eprintln!("{count} pages indexed in {took:?}");
    assert_eq!(documents(&engine.store, "no-such-word").await, 0);
    // A debug build on a busy machine, so the bound is a generous one.
    assert!(took.as_secs() < 30, "{took:?}");
}
