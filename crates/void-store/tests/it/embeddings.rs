//! Vectors of documents: they go with the text that they are of, and are the same on both engines.

use void_domain::knowledge::Deletion;
use void_store::embeddings::{self, ASKED_AT_ONCE, ChunkId, StoredModel};
use void_store::{Store, StoreError, entities};

use crate::engines;
use crate::entities::{at, insert, on, page, space, update};

async fn numbers(store: &Store, is_embedded: bool) -> Vec<u64> {
    let found: Result<Vec<u64>, StoreError> = store
        .read(move |tx| {
            Box::pin(async move {
                let mut numbers = Vec::new();
                match is_embedded {
                    true => embeddings::each_embedded(tx, |one| numbers.push(one)).await?,
                    false => embeddings::each_document(tx, |one| numbers.push(one)).await?,
                }
                numbers.sort_unstable();
                Ok(numbers)
            })
        })
        .await;
    found.unwrap()
}

fn chunk(number: u64, chunk: u16) -> ChunkId {
    ChunkId { number, chunk }
}

/// A document with so many vectors, each of which says which one it is.
async fn put(store: &Store, number: u64, chunks: u16) {
    let vectors: Vec<(ChunkId, Vec<u8>)> = (0..chunks)
        .map(|at| (chunk(number, at), vec![u8::try_from(at % 256).unwrap(); 8]))
        .collect();
    on!(store, |tx| embeddings::put_vectors(tx, &vectors));
    let codes = vec![7_u8; 52 * usize::from(chunks)];
    let count = u64::from(chunks);
    on!(store, |tx| embeddings::put_codes(
        tx,
        number,
        1,
        (count, &codes)
    ));
}

async fn vectors(store: &Store, chunks: Vec<ChunkId>) -> Vec<(ChunkId, Vec<u8>)> {
    let mut found = on!(store, |tx| embeddings::vectors(tx, &chunks));
    found.sort();
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_are_there_until_their_text_is_another_one() {
    for engine in engines::both().await {
        let store = &engine.store;
        insert(store, &space(1)).await;
        let first = page(1, "Fence", "wooden");
        insert(store, &first).await;
        insert(store, &page(2, "Pump", "water")).await;
        let all = numbers(store, false).await;
        assert_eq!(all.len(), 3, "{}", engine.name);
        let places = {
            let all = all.clone();
            on!(store, |tx| embeddings::places(tx, &all))
        };
        let place = |id| places.iter().find(|place| place.id == id).unwrap();
        let fence = place(first.head.id).number;
        let pump = place(page(2, "Pump", "").head.id).number;
        put(store, fence, 3).await;
        put(store, pump, 1).await;
        // More than one statement asks for, of which nearly all are not there.
        let mut asked: Vec<ChunkId> = (0..500).map(|at| chunk(fence, at)).collect();
        assert!(asked.len() > ASKED_AT_ONCE);
        asked.push(chunk(pump, 0));
        let found = vectors(store, asked.clone()).await;
        assert_eq!(found.len(), 4, "{}: {found:?}", engine.name);
        assert!(found.contains(&(chunk(fence, 2), vec![2; 8])));
        assert_eq!(vectors(store, Vec::new()).await, []);
        let coded = on!(store, |tx| embeddings::coded(tx, 0));
        assert_eq!(coded.len(), 2);
        assert!(coded[0].place.number < coded[1].place.number && coded[0].coding == 1);

        // A new revision, although its document may have the same number.
        let mut second = first.clone();
        second.head.revision.number = 2;
        second.head.revision.at = at(9);
        assert!(update(store, 1, &second).await);
        let found = vectors(store, asked.clone()).await;
        assert_eq!(found, [(chunk(pump, 0), vec![0; 8])]);
        assert_eq!(numbers(store, true).await, [pump]);
        let deletion = Deletion {
            at: at(10),
            by: "owner-web".to_owned(),
        };
        let gone = page(2, "Pump", "water").head;
        assert!(on!(store, |tx| entities::delete(tx, &gone, &deletion)));
        assert_eq!(vectors(store, asked).await, []);
        // What has no document has no vectors.
        let lost: Result<(), StoreError> = store
            .write(move |tx| {
                Box::pin(
                    async move { embeddings::put_vectors(tx, &[(chunk(9_999, 0), vec![1])]).await },
                )
            })
            .await;
        assert!(lost.is_err());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_model_is_known_and_forgotten_before_its_vectors() {
    for engine in engines::both().await {
        let store = &engine.store;
        insert(store, &space(1)).await;
        insert(store, &page(1, "Fence", "wooden")).await;
        assert_eq!(on!(store, |tx| embeddings::model(tx)), None);
        let mut model = StoredModel {
            identity: "ollama:x".to_owned(),
            coding: 1,
            centre: vec![0; 16],
            centred_on: 0,
        };
        for coding in [1, 2] {
            model.coding = coding;
            let stored = model.clone();
            on!(store, |tx| embeddings::set_model(tx, &stored));
            assert_eq!(on!(store, |tx| embeddings::model(tx)), Some(model.clone()));
        }
        for number in numbers(store, false).await {
            put(store, number, 2).await;
        }
        on!(store, |tx| embeddings::forget_model(tx));
        assert_eq!(on!(store, |tx| embeddings::model(tx)), None);
        let mut rounds = 0;
        while on!(store, |tx| embeddings::forget_some(tx, 1)) > 0 {
            rounds += 1;
        }
        assert_eq!(rounds, 4, "a little at a time");
        assert_eq!(numbers(store, true).await, [] as [u64; 0]);
    }
}
