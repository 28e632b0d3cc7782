//! Beginning with what is stored: codes of this model are read, codes of another centre are made again from the vectors, and
//! vectors of another model are taken away before anything is compared.

use void_embeddings::embedders::Embedder;
use void_embeddings::index::{Code, Coder};
use void_embeddings::vectors::Embedding;
use void_store::StoreError;
use void_store::embeddings::{self, CodedDocument, StoredModel, put_codes};

use super::{Embeddings, HeldVectors, Trouble, dimensions};
use crate::control::Control;
use crate::parts::embeddings::{code_bytes, codes_of};

/// Rows that are forgotten in one transaction: others wait for it.
const FORGOTTEN_AT_ONCE: u32 = 256;

/// Searches can be answered as soon as what is stored was read, also while the server is down.
pub(super) async fn begin(
    control: &Control,
    embeddings: &Embeddings,
    embedder: &Embedder,
) -> Result<(), Trouble> {
    let identity = embedder.identity().unwrap_or_default();
    let read = control.store.read(|tx| Box::pin(embeddings::model(tx)));
    let stored = read.await?.filter(|model| model.identity == identity);
    if let Some(model) = stored
        && let Some(coder) = coder_of(&model)
    {
        // A server may have another model under the name by now. If it does not answer, that is seen when it does.
        if let Ok(dimensions) = dimensions(embedder).await
            && dimensions != coder.dimensions()
        {
            tracing::warn!("the embeddings model is another one now; all vectors are made again");
        } else {
            let held = load(control, coder, &model).await?;
            embeddings.change_held(|now| *now = Some(held));
            return Ok(());
        }
    }
    let dimensions = dimensions(embedder).await?;
    forget_all(control).await?;
    let coder = Coder::new(dimensions).map_err(Trouble::of_model)?;
    let model = StoredModel {
        identity,
        coding: 1,
        centre: centre_bytes(&coder),
        centred_on: 0,
    };
    store_model(control, &model).await?;
    let held = HeldVectors::new(coder, (model.coding, model.centred_on));
    embeddings.change_held(|now| *now = Some(held));
    Ok(())
}

/// First the model, then the vectors: whatever stops in between, vectors are never taken for another model's.
async fn forget_all(control: &Control) -> Result<(), StoreError> {
    let store = &control.store;
    store
        .write(|tx| Box::pin(embeddings::forget_model(tx)))
        .await?;
    loop {
        let forgotten = store
            .write(|tx| Box::pin(embeddings::forget_some(tx, FORGOTTEN_AT_ONCE)))
            .await?;
        if forgotten == 0 {
            return Ok(());
        }
    }
}

pub(super) async fn store_model(control: &Control, model: &StoredModel) -> Result<(), StoreError> {
    let model = model.clone();
    control
        .store
        .write(move |tx| Box::pin(async move { embeddings::set_model(tx, &model).await }))
        .await
}

/// All that is stored, with codes of this coder.
pub(super) async fn load(
    control: &Control,
    coder: Coder,
    model: &StoredModel,
) -> Result<HeldVectors, StoreError> {
    let mut held = HeldVectors::new(coder, (model.coding, model.centred_on));
    let mut after = 0;
    loop {
        let read = control
            .store
            .read(move |tx| Box::pin(embeddings::coded(tx, after)));
        let page = read.await?;
        let Some(last) = page.last() else {
            return Ok(held);
        };
        after = last.place.number;
        for document in page {
            let known = (document.coding == model.coding).then(|| codes_of(&document.codes));
            match known.flatten() {
                Some(codes) => held.put(&document.place, &codes),
                None => code_again(control, &mut held, &document).await?,
            }
        }
    }
}

/// What cannot be read is forgotten, and so made again.
async fn code_again(
    control: &Control,
    held: &mut HeldVectors,
    document: &CodedDocument,
) -> Result<(), StoreError> {
    let number = document.place.number;
    let read = control
        .store
        .read(move |tx| Box::pin(embeddings::vectors_of(tx, number)));
    let stored = read.await?;
    let codes: Option<Vec<Code>> = stored
        .iter()
        .map(|bytes| held.coder().encode(&vector(bytes)?).ok())
        .collect();
    let coding = held.coding;
    let codes = codes.filter(|codes| !codes.is_empty());
    let bytes = codes.as_ref().map(|codes| code_bytes(codes));
    let count = stored.len() as u64;
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                match bytes {
                    Some(bytes) => put_codes(tx, number, coding, (count, &bytes)).await,
                    None => embeddings::forget(tx, number).await,
                }
            })
        })
        .await?;
    if let Some(codes) = codes {
        held.put(&document.place, &codes);
    }
    Ok(())
}

pub(super) fn vector(bytes: &[u8]) -> Option<Embedding> {
    Embedding::from_bytes(bytes).ok()
}

pub(super) fn coder_of(model: &StoredModel) -> Option<Coder> {
    let (floats, rest) = model.centre.as_chunks::<4>();
    let centre = floats.iter().map(|float| f32::from_le_bytes(*float));
    let coder = Coder::with_centre(centre.collect()).ok();
    coder.filter(|_| rest.is_empty())
}

pub(super) fn centre_bytes(coder: &Coder) -> Vec<u8> {
    let centre = coder.centre().iter();
    centre.flat_map(|value| value.to_le_bytes()).collect()
}
