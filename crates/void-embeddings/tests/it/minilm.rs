//! All-MiniLM-L6-v2 itself, beside what `scripts/embeddings/reference.py` computed of the same weights: tokens by
//! Hugging Face's tokenizers, the forward pass by numpy in 64 bits.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use serde::Deserialize;
use void_embeddings::chunks::estimate_tokens;
use void_embeddings::embedders::{Embedder, EmbeddingError, LocalEmbedder};
use void_embeddings::local::LocalModel;

use crate::servers::PATIENCE;

/// Numbers of 32 bits over six layers; measured is a tenth of it.
const ERROR_MAX: f32 = 2e-6;

#[derive(Deserialize)]
struct Case {
    text: String,
    tokens: Vec<u32>,
    vector: Vec<f32>,
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("reference/minilm.json")).unwrap()
}

/// The folder of `scripts/minilm`. Where CI is set, a test that did not run is a fault.
#[allow(clippy::disallowed_methods, reason = "where tests find the weights")]
fn folder() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let folder = set("VOID_TEST_MINILM").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: VOID_TEST_MINILM is not set; scripts/minilm prints the folder");
        assert!(
            set("CI").is_none(),
            "VOID_TEST_MINILM is not set, and this is CI"
        );
    }
    folder
}

fn model() -> Option<&'static LocalModel> {
    static MODEL: OnceLock<Option<LocalModel>> = OnceLock::new();
    let open = || folder().map(|folder| LocalModel::open(&folder).unwrap());
    MODEL.get_or_init(open).as_ref()
}

#[test]
fn vectors_are_those_of_the_reference() {
    let Some(model) = model() else { return };
    assert_eq!(model.dimensions(), 384);
    let cases = cases();
    assert!(cases.len() >= 10);
    for case in cases {
        let vector = model.embed(&case.text).unwrap();
        let pairs = vector.as_slice().iter().zip(&case.vector);
        let error = pairs
            .map(|(value, expected)| (value - expected).abs())
            .fold(0.0, f32::max);
        assert!(
            error < ERROR_MAX,
            "{error} {:?} {:?}",
            case.text,
            case.tokens
        );
        assert_eq!(vector.dimensions(), case.vector.len());
    }
}

#[test]
fn related_sentences_are_near_and_others_are_far() {
    let Some(model) = model() else { return };
    let [cat, kitten, report] = [0, 1, 2].map(|at| model.embed(&cases()[at].text).unwrap());
    let related = cat.cosine(&kitten).unwrap();
    let unrelated = cat.cosine(&report).unwrap();
    assert!((related - 0.655).abs() < 0.001, "{related}");
    assert!((unrelated - 0.012).abs() < 0.001, "{unrelated}");
}

/// What chunks are cut by is near what the model counts, for texts in the languages of this model.
#[test]
fn tokens_are_estimated_well_enough() {
    for case in cases() {
        let counted = case.tokens.len() - 2;
        let estimated = estimate_tokens(&case.text);
        let (least, most) = (counted / 2, 2 * counted + 2);
        assert!(
            (least..=most).contains(&estimated),
            "{estimated} {counted} {}",
            case.text
        );
    }
}

#[test]
fn a_text_of_any_length_gets_a_vector() {
    let Some(model) = model() else { return };
    let long = "Restart the proxy, then look at its log. ".repeat(50);
    let vector = model.embed(&long).unwrap();
    let part = model
        .embed("Restart the proxy, then look at its log.")
        .unwrap();
    assert!(vector.cosine(&part).unwrap() > 0.6);
    let endless = long.repeat(100);
    let more = model.embed(&endless).unwrap();
    assert!(more.cosine(&part).unwrap() > 0.6);
}

#[tokio::test]
async fn a_model_in_process_is_an_embedder() {
    let Some(folder) = folder() else { return };
    let embedder = Embedder::Local(LocalEmbedder::new(LocalModel::open(&folder).unwrap()));
    let identity = embedder.identity().unwrap();
    assert!(
        identity.starts_with("local:") && identity.len() == 22,
        "{identity}"
    );
    let texts: Vec<String> = cases().into_iter().take(3).map(|case| case.text).collect();
    let vectors = embedder.embed(&texts, PATIENCE).await.unwrap();
    assert_eq!(vectors.len(), 3);
    assert_eq!(vectors[2], model().unwrap().embed(&texts[2]).unwrap());
    let patience = Duration::from_nanos(1);
    let late = embedder.embed(&texts, patience).await;
    assert_eq!(late, Err(EmbeddingError::TimedOut(patience)));
}
