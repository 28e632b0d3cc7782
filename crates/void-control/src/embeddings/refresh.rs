//! Makes vectors of what has none yet, beside everything else, and takes them away with the texts. What is made is stored at once,
//! so a restart goes on where it was. It looks when something was written, and not more often than a twentieth of the time.

mod codes;
mod making;

use std::time::Duration;

use tokio::time::Instant;
use void_embeddings::embedders::Embedder;
use void_embeddings::index::Coder;
use void_store::embeddings::{self, StoredModel};

use self::codes::{begin, load};
use crate::control::Control;
use crate::parts::embeddings::{Embeddings, HeldVectors, NumberSet, Trouble};

/// After a change, before it looks: several changes come one after the other.
const PAUSE_MIN: Duration = Duration::from_secs(1);
/// A look that takes long is not repeated soon.
const PAUSE_PER_LOOK: u32 = 20;
/// After trouble; twice as long each time.
const RETRY_MIN: Duration = Duration::from_secs(2);
const RETRY_MAX: Duration = Duration::from_secs(300);
/// Texts that get their vectors together.
const DOCUMENTS_AT_ONCE: usize = 16;
/// With so many chunks the first centre is made, and another one when there are so many times as many.
const CENTRE_CHUNKS_MIN: u64 = 64;
const CENTRE_GROWTH: u64 = 8;
/// The centre is the mean of so many vectors.
const CENTRE_SAMPLE: u32 = 1_024;

/// Costs nothing where no vectors are wanted.
pub(crate) fn start(control: &Control) {
    if control.embeddings.is_none() {
        return;
    }
    let control = control.clone();
    tokio::spawn(async move {
        let mut stopping = control.process.stopping.subscribe();
        tokio::select! {
            () = run(&control) => {}
            _ = stopping.wait_for(|stop| *stop) => {}
        }
    });
}

async fn run(control: &Control) {
    let Some(embeddings) = &control.embeddings else {
        return;
    };
    let mut committed = control.store.committed();
    let mut retry = RETRY_MIN;
    loop {
        let began = Instant::now();
        committed.mark_unchanged();
        match pass(control, embeddings).await {
            Ok(()) => {
                retry = RETRY_MIN;
                embeddings.progress().trouble = None;
                let looked = began.elapsed();
                if committed.changed().await.is_err() {
                    return;
                }
                tokio::time::sleep(PAUSE_MIN.max(looked * PAUSE_PER_LOOK).min(RETRY_MAX)).await;
            }
            Err(trouble) => {
                let code = trouble.code.as_str();
                tracing::warn!(code, message = %trouble.message, "vectors are made later");
                embeddings.progress().trouble = Some(trouble);
                tokio::time::sleep(retry).await;
                retry = (retry * 2).min(RETRY_MAX);
            }
        }
    }
}

/// Until everything has vectors that can have some.
async fn pass(control: &Control, embeddings: &Embeddings) -> Result<(), Trouble> {
    let embedder = embeddings.open().await?;
    if embeddings.with_held(|held| held.is_none()) {
        begin(control, embeddings, embedder).await?;
    }
    embeddings.progress().absent = NumberSet::default();
    loop {
        let todo = look(control, embeddings).await?;
        let mut made = 0;
        for numbers in todo.chunks(DOCUMENTS_AT_ONCE) {
            made += making::make(control, embeddings, embedder, numbers).await?;
            centre_again(control, embeddings).await?;
        }
        if made == 0 {
            return Ok(());
        }
    }
}

/// Follows what was taken away and what another instance has made. The documents that have no vectors.
async fn look(control: &Control, embeddings: &Embeddings) -> Result<Vec<u64>, Trouble> {
    let (all, stored) = control
        .store
        .read(|tx| {
            Box::pin(async move {
                let (mut all, mut stored) = (NumberSet::default(), NumberSet::default());
                embeddings::each_document(tx, |number| all.insert(number)).await?;
                embeddings::each_embedded(tx, |number| stored.insert(number)).await?;
                Ok::<_, void_store::StoreError>((all, stored))
            })
        })
        .await?;
    let (gone, new) = embeddings.with_held(|held| {
        held.map_or_else(Default::default, |held| {
            let here = &held.documents;
            (here.without(&[&stored]), stored.without(&[here]))
        })
    });
    embeddings.change_held(|held| {
        let held = held.iter_mut();
        held.for_each(|held| gone.iter().for_each(|number| held.remove(*number)));
    });
    if !new.is_empty() {
        // Another instance made them.
        let coded = embeddings.with_held(|held| held.map(|held| (held.coding, held.centred_on)));
        if let Some(coded) = coded {
            reload(control, embeddings, coded).await?;
        }
    }
    let mut progress = embeddings.progress();
    let todo = all.without(&[&stored, &progress.skipped, &progress.absent]);
    progress.total = all.len() as u64;
    progress.done = stored.len() as u64;
    progress.trouble = None;
    Ok(todo)
}

async fn reload(
    control: &Control,
    embeddings: &Embeddings,
    coded: (u64, u64),
) -> Result<(), Trouble> {
    let model = control
        .store
        .read(|tx| Box::pin(embeddings::model(tx)))
        .await?;
    let Some(model) = model.filter(|model| model.coding >= coded.0) else {
        return Ok(());
    };
    let Some(coder) = codes::coder_of(&model) else {
        return Ok(());
    };
    let held = load(control, coder, &model).await?;
    embeddings.change_held(|now| *now = Some(held));
    Ok(())
}

/// Makes all codes anew around the middle of the vectors, when there are many more than when it was last done. Searches go on with
/// the codes that there are until then.
async fn centre_again(control: &Control, embeddings: &Embeddings) -> Result<(), Trouble> {
    let looked = embeddings.with_held(|held| {
        held.map(|held| (held.chunk_count() as u64, held.centred_on, held.coding))
    });
    let Some((chunks, centred_on, coding)) = looked else {
        return Ok(());
    };
    if chunks < CENTRE_CHUNKS_MIN.max(centred_on.saturating_mul(CENTRE_GROWTH)) {
        return Ok(());
    }
    let sample = control
        .store
        .read(|tx| Box::pin(embeddings::newest_vectors(tx, CENTRE_SAMPLE)))
        .await?;
    let sample: Vec<_> = sample
        .iter()
        .filter_map(|bytes| codes::vector(bytes))
        .collect();
    let Ok(coder) = Coder::centred(&sample) else {
        return Ok(());
    };
    let stored = control
        .store
        .read(|tx| Box::pin(embeddings::model(tx)))
        .await?;
    // Another instance, or another model.
    let Some(stored) = stored.filter(|stored| stored.coding == coding) else {
        return Ok(());
    };
    let model = StoredModel {
        coding: coding.saturating_add(1),
        centre: codes::centre_bytes(&coder),
        centred_on: chunks,
        ..stored
    };
    codes::store_model(control, &model).await?;
    let held = load(control, coder, &model).await?;
    embeddings.change_held(|now| *now = Some(held));
    Ok(())
}

/// The first vector that a model makes says how many dimensions it has.
async fn dimensions(embedder: &Embedder) -> Result<usize, Trouble> {
    let probe = ["void".to_owned()];
    let made = embedder.embed(&probe, making::MAKING_TIME_MAX).await?;
    let dimensions = made
        .first()
        .map(void_embeddings::vectors::Embedding::dimensions);
    dimensions.ok_or_else(|| Trouble::of_model("it made no vector"))
}
