use super::*;
use crate::corpora::{Corpus, CorpusShape};

fn vectors(dimensions: usize, count: usize) -> Vec<Embedding> {
    let shape = CorpusShape {
        dimensions,
        ..CorpusShape::texts(count)
    };
    Corpus::new(shape, 3).chunks().map(Result::unwrap).collect()
}

/// What an estimate leaves out: the same for all chunks of a query.
fn constant(coder: &Coder, query: &Embedding) -> f32 {
    dot(query.as_slice(), coder.centre())
}

#[test]
fn estimates_are_near_the_products_and_not_too_high_or_low_on_average() {
    for dimensions in [100, 256, 384, 385, 512, 768, 1_024, 1_536] {
        let vectors = vectors(dimensions, 600);
        for coder in [
            Coder::new(dimensions).unwrap(),
            Coder::centred(&vectors).unwrap(),
        ] {
            let query = &vectors[0];
            let coded = coder.query(query).unwrap();
            let errors: Vec<f32> = vectors[1..]
                .iter()
                .map(|vector| {
                    let estimate = coded.estimate(&coder.encode(vector).unwrap());
                    estimate + constant(&coder, query) - query.cosine(vector).unwrap()
                })
                .collect();
            let mean = errors.iter().sum::<f32>() / errors.len() as f32;
            let spread =
                errors.iter().map(|error| error * error).sum::<f32>() / errors.len() as f32;
            // Wider vectors keep a part of their dimensions: what all chunks have in common is estimated a
            // little too high or low, for all of them alike.
            let (mean_max, allowed) = if dimensions <= 400 {
                (0.02, 0.05)
            } else {
                (0.06, 0.08)
            };
            assert!(mean.abs() < mean_max, "{dimensions} {mean}");
            assert!(spread.sqrt() < allowed, "{dimensions} {}", spread.sqrt());
        }
    }
}

#[test]
fn the_centre_itself_is_estimated_by_its_offset() {
    let vector = Embedding::normalised(vec![1.0; 384]).unwrap();
    let coder = Coder::with_centre(vector.as_slice().to_vec()).unwrap();
    let code = coder.encode(&vector).unwrap();
    assert_eq!(code.scale.value(), 0.0);
    assert_eq!(coder.query(&vector).unwrap().estimate(&code), 0.0);
}

#[test]
fn a_code_is_52_bytes_and_comes_back() {
    let vectors = vectors(384, 50);
    let coder = Coder::centred(&vectors).unwrap();
    for vector in &vectors {
        let code = coder.encode(vector).unwrap();
        let bytes = code.to_bytes();
        assert_eq!(bytes.len(), 52);
        assert_eq!(Code::from_bytes(&bytes), Some(code));
    }
    let mut bytes = coder.encode(&vectors[0]).unwrap().to_bytes();
    assert_eq!(Code::from_bytes(&bytes[1..]), None);
    assert_eq!(Code::from_bytes(&[]), None);
    bytes[48..50].copy_from_slice(&0x7fc0_u16.to_le_bytes());
    assert_eq!(Code::from_bytes(&bytes), None, "a factor that is no number");
}

/// A stored centre makes the codes that were stored with it.
#[test]
fn a_coder_is_its_centre() {
    let vectors = vectors(384, 50);
    let coder = Coder::centred(&vectors).unwrap();
    let again = Coder::with_centre(coder.centre().to_vec()).unwrap();
    for vector in &vectors {
        assert_eq!(again.encode(vector), coder.encode(vector));
    }
}

#[test]
fn vectors_of_another_model_get_no_code() {
    let coder = Coder::new(384).unwrap();
    let other = Embedding::normalised(vec![1.0; 385]).unwrap();
    let error = DimensionsDiffer {
        expected: 384,
        found: 385,
    };
    assert_eq!(coder.encode(&other), Err(error));
    assert_eq!(coder.query(&other).map(|_| ()), Err(error));
}

#[test]
fn a_centre_is_checked() {
    assert!(Coder::new(0).is_err());
    assert!(Coder::new(DIMENSIONS_MAX).is_ok());
    assert!(Coder::new(DIMENSIONS_MAX + 1).is_err());
    assert!(Coder::with_centre(vec![f32::NAN]).is_err());
    assert!(Coder::centred([]).is_err());
}
