//! A small model of numbers that `scripts/embeddings/reference.py` makes too, and what can be wrong with files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::safetensors::{HEADER_BYTES_MAX, Weights};
use super::*;

const HIDDEN: usize = 8;
const INNER: usize = 16;
const LAYERS: usize = 2;
const WORDS: &str = "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\nc\nd\ne\nf\ng\n##x\n";

fn config() -> Value {
    json!({
        "model_type": "bert", "hidden_act": "gelu", "hidden_size": HIDDEN, "intermediate_size": INNER,
        "num_hidden_layers": LAYERS, "num_attention_heads": 2, "vocab_size": 12, "max_position_embeddings": 10,
        "type_vocab_size": 2, "layer_norm_eps": 1e-12,
    })
}

fn shapes() -> Vec<(String, Vec<usize>)> {
    let mut shapes = vec![
        (
            "embeddings.word_embeddings.weight".to_owned(),
            vec![12, HIDDEN],
        ),
        (
            "embeddings.position_embeddings.weight".to_owned(),
            vec![10, HIDDEN],
        ),
        (
            "embeddings.token_type_embeddings.weight".to_owned(),
            vec![2, HIDDEN],
        ),
        ("embeddings.LayerNorm.weight".to_owned(), vec![HIDDEN]),
        ("embeddings.LayerNorm.bias".to_owned(), vec![HIDDEN]),
    ];
    for layer in 0..LAYERS {
        let part = format!("encoder.layer.{layer}");
        for (name, outputs, inputs) in [
            ("attention.self.query", HIDDEN, HIDDEN),
            ("attention.self.key", HIDDEN, HIDDEN),
            ("attention.self.value", HIDDEN, HIDDEN),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", INNER, HIDDEN),
            ("output.dense", HIDDEN, INNER),
        ] {
            shapes.push((format!("{part}.{name}.weight"), vec![outputs, inputs]));
            shapes.push((format!("{part}.{name}.bias"), vec![outputs]));
        }
        for name in ["attention.output.LayerNorm", "output.LayerNorm"] {
            shapes.push((format!("{part}.{name}.weight"), vec![HIDDEN]));
            shapes.push((format!("{part}.{name}.bias"), vec![HIDDEN]));
        }
    }
    shapes
}

/// The header's entries and the numbers behind it.
struct SmallFile {
    header: BTreeMap<String, Value>,
    numbers: Vec<f32>,
}

impl SmallFile {
    fn new() -> Self {
        let mut header = BTreeMap::from([("__metadata__".to_owned(), json!({"format": "pt"}))]);
        let mut numbers = Vec::new();
        for (salt, (name, shape)) in shapes().into_iter().enumerate() {
            let start = numbers.len() * 4;
            let count: usize = shape.iter().product();
            let number = |at: usize| ((at * 7_919 + salt * 104_729) % 2_003) as f64 / 1_000.0 - 1.0;
            numbers.extend((0..count).map(|at| crate::vectors::narrowed(number(at))));
            let offsets = [start, numbers.len() * 4];
            let entry = json!({"dtype": "F32", "shape": shape, "data_offsets": offsets});
            header.insert(name, entry);
        }
        Self { header, numbers }
    }

    fn bytes(&self) -> Vec<u8> {
        let header = serde_json::to_vec(&self.header).unwrap();
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header);
        bytes.extend(self.numbers.iter().flat_map(|number| number.to_le_bytes()));
        bytes
    }
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("config.json"), config().to_string()).unwrap();
    fs::write(folder.path().join("vocab.txt"), WORDS).unwrap();
    fs::write(
        folder.path().join("model.safetensors"),
        SmallFile::new().bytes(),
    )
    .unwrap();
    folder
}

fn refused(folder: &Path) -> String {
    match LocalModel::open(folder) {
        Ok(_) => panic!("the model was opened"),
        Err(error) => error.to_string(),
    }
}

/// The folder with one file changed: what is said about it.
fn refused_with(file: &str, bytes: impl AsRef<[u8]>) -> String {
    let folder = folder();
    fs::create_dir_all(folder.path().join("1_Pooling")).unwrap();
    fs::write(folder.path().join(file), bytes).unwrap();
    refused(folder.path())
}

fn refused_weights(change: impl FnOnce(&mut SmallFile)) -> String {
    let mut file = SmallFile::new();
    change(&mut file);
    refused_with("model.safetensors", file.bytes())
}

#[test]
fn the_forward_pass_is_that_of_the_reference() {
    let folder = folder();
    let mut digest = files::FolderDigest::default();
    let architecture = Architecture::read(folder.path(), &mut digest).unwrap();
    let mut weights = Weights::open(folder.path(), &mut digest).unwrap();
    let encoder = Encoder::read(&mut weights, architecture).unwrap();
    let cases: Vec<(Vec<u32>, Vec<f32>)> =
        serde_json::from_str::<Vec<Value>>(include_str!("../../tests/it/reference/small.json"))
            .unwrap()
            .into_iter()
            .map(|case| {
                let tokens = serde_json::from_value(case["tokens"].clone()).unwrap();
                (
                    tokens,
                    serde_json::from_value(case["vector"].clone()).unwrap(),
                )
            })
            .collect();
    assert_eq!(cases.len(), 3);
    for (tokens, expected) in cases {
        let mut sum = vec![0.0; HIDDEN];
        encoder.add_tokens(&tokens, &mut sum).unwrap();
        let vector = Embedding::normalised(sum).unwrap();
        for (value, expected) in vector.as_slice().iter().zip(&expected) {
            assert!((value - expected).abs() < 5e-6, "{value} {expected}");
        }
    }
}

#[test]
fn a_text_of_several_windows_is_the_mean_of_them() {
    let model = LocalModel::open(folder().path()).unwrap();
    // Ten positions: eight words a window.
    let (first, second) = ("a b c d e f g a", "b b c");
    let mut sum = vec![0.0; HIDDEN];
    for window in [first, second] {
        let tokens = model.tokenizer.windows(window);
        assert_eq!(tokens.len(), 1);
        model.encoder.add_tokens(&tokens[0], &mut sum).unwrap();
    }
    let expected = Embedding::normalised(sum).unwrap();
    assert_eq!(model.embed(&format!("{first} {second}")).unwrap(), expected);
    assert_ne!(model.embed(first).unwrap(), expected);
}

#[test]
fn both_files_of_words_give_the_same_vectors() {
    let folder = folder();
    let before = LocalModel::open(folder.path()).unwrap();
    fs::remove_file(folder.path().join("vocab.txt")).unwrap();
    assert!(refused(folder.path()).contains("tokenizer.json cannot be read"));
    let words: BTreeMap<&str, usize> = WORDS.lines().zip(0..).collect();
    let file = json!({"version": "1.0", "model": {"type": "WordPiece", "vocab": words}});
    fs::write(folder.path().join("tokenizer.json"), file.to_string()).unwrap();
    let after = LocalModel::open(folder.path()).unwrap();
    let text = "A bx, cxx g?";
    assert_eq!(before.embed(text).unwrap(), after.embed(text).unwrap());
    assert_ne!(before.fingerprint(), after.fingerprint());
}

#[test]
fn a_fingerprint_is_of_the_whole_folder() {
    let of = |folder: &TempDir| {
        LocalModel::open(folder.path())
            .unwrap()
            .fingerprint()
            .to_owned()
    };
    let same = of(&folder());
    assert_eq!(same, of(&folder()));
    assert_eq!(same.len(), 16);
    let other = folder();
    let mut file = SmallFile::new();
    *file.numbers.last_mut().unwrap() += 0.5;
    fs::write(other.path().join("model.safetensors"), file.bytes()).unwrap();
    assert_ne!(same, of(&other));
}

#[test]
fn files_that_are_missing_are_named() {
    for file in ["config.json", "model.safetensors"] {
        let folder = folder();
        fs::remove_file(folder.path().join(file)).unwrap();
        assert!(refused(folder.path()).starts_with(&format!("{file} cannot be read")));
    }
    let folder = folder();
    fs::remove_file(folder.path().join("config.json")).unwrap();
    fs::create_dir(folder.path().join("config.json")).unwrap();
    assert!(refused(folder.path()).starts_with("config.json cannot be read"));
}

#[test]
fn a_short_file_is_refused_wherever_it_ends() {
    let whole = SmallFile::new().bytes();
    let header_end =
        8 + usize::try_from(u64::from_le_bytes(whole[..8].try_into().unwrap())).unwrap();
    for end in [
        0,
        1,
        7,
        8,
        9,
        header_end - 1,
        header_end,
        header_end + 3,
        whole.len() - 4,
        whole.len() - 1,
    ] {
        let words = refused_with("model.safetensors", &whole[..end]);
        assert!(
            words.contains("ends") || words.contains("stand outside"),
            "{end} {words}"
        );
    }
}

#[test]
fn a_header_has_a_largest_size() {
    let mut file = SmallFile::new();
    let bare = file.bytes().len() - file.numbers.len() * 4 - 8;
    // As long as may be, and a byte more.
    let filling = usize::try_from(HEADER_BYTES_MAX).unwrap() - bare - r#","__pad__":"""#.len();
    let fits = |filling: usize, file: &mut SmallFile| {
        file.header
            .insert("__pad__".to_owned(), json!("x".repeat(filling)));
        let folder = folder();
        fs::write(folder.path().join("model.safetensors"), file.bytes()).unwrap();
        LocalModel::open(folder.path())
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    assert_eq!(fits(filling, &mut file), Ok(()));
    assert!(
        fits(filling + 1, &mut file)
            .unwrap_err()
            .contains("header that is too large")
    );
    let mut lies = SmallFile::new().bytes();
    lies[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(refused_with("model.safetensors", lies).contains("header that is too large"));
}

#[test]
fn a_header_that_is_none_is_refused() {
    for header in ["", "x", "[]", "{", "null", "{\"a\":", "\u{1}", "7"] {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.bytes());
        let words = refused_with("model.safetensors", bytes);
        assert!(words.contains("not JSON"), "{header:?} {words}");
    }
    let deep = "[".repeat(100_000);
    let mut bytes = (deep.len() as u64).to_le_bytes().to_vec();
    bytes.extend(deep.bytes());
    assert!(refused_with("model.safetensors", bytes).contains("not JSON"));
}

#[test]
fn weights_that_do_not_fit_are_named() {
    const NAME: &str = "encoder.layer.1.output.dense.bias";
    type Change = (Value, &'static str);
    let changes: [Change; 9] = [
        (
            json!({"dtype": "F32", "shape": [HIDDEN + 1], "data_offsets": [0, 36]}),
            "shape",
        ),
        (
            json!({"dtype": "F32", "shape": [], "data_offsets": [0, 32]}),
            "shape",
        ),
        (
            json!({"dtype": "F32", "shape": [1, HIDDEN], "data_offsets": [0, 32]}),
            "shape",
        ),
        (
            json!({"dtype": "F16", "shape": [HIDDEN], "data_offsets": [0, 32]}),
            "32 bits",
        ),
        (
            json!({"dtype": "F32", "shape": [HIDDEN], "data_offsets": [0, 31]}),
            "wrong length",
        ),
        (
            json!({"dtype": "F32", "shape": [HIDDEN], "data_offsets": [32, 0]}),
            "wrong length",
        ),
        (
            json!({"dtype": "F32", "shape": [HIDDEN], "data_offsets": [u64::MAX - 32, u64::MAX]}),
            "outside",
        ),
        (
            json!({"dtype": "F32", "shape": [-1], "data_offsets": [0, 32]}),
            "missing",
        ),
        (json!("F32"), "missing"),
    ];
    for (entry, said) in changes {
        let words = refused_weights(|file| {
            file.header.insert(NAME.to_owned(), entry.clone());
        });
        assert!(
            words.contains(NAME) && words.contains(said),
            "{entry} {words}"
        );
    }
    let words = refused_weights(|file| {
        file.header.remove(NAME);
    });
    assert!(words.contains(NAME) && words.contains("missing"), "{words}");
}

#[test]
fn numbers_that_are_none_are_refused() {
    for number in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let words = refused_weights(|file| *file.numbers.last_mut().unwrap() = number);
        assert!(words.contains("not finite"), "{words}");
    }
}

/// Finite weights can still compute what is no number: an error, and no vector.
#[test]
fn a_model_that_overflows_gives_no_vector() {
    let mut file = SmallFile::new();
    file.numbers.iter_mut().for_each(|number| *number *= 1e38);
    let folder = folder();
    fs::write(folder.path().join("model.safetensors"), file.bytes()).unwrap();
    let model = LocalModel::open(folder.path()).unwrap();
    assert!(matches!(model.embed("a b"), Err(ModelError::Computed(_))));
}

#[test]
fn a_config_of_another_model_is_refused() {
    let with = |key: &str, value: Value| {
        let mut config = config();
        config[key] = value;
        config.to_string()
    };
    for (key, value, said) in [
        ("model_type", json!("t5"), "another kind"),
        ("hidden_act", json!("relu"), "another kind"),
        ("hidden_size", json!(0), "zero or larger"),
        ("hidden_size", json!(1_025), "zero or larger"),
        ("hidden_size", json!(-8), "not the JSON"),
        ("hidden_size", json!(1e30), "not the JSON"),
        ("num_hidden_layers", json!(25), "zero or larger"),
        ("vocab_size", json!(usize::MAX), "zero or larger"),
        ("num_attention_heads", json!(3), "do not divide"),
        ("num_attention_heads", json!(0), "zero or larger"),
        ("max_position_embeddings", json!(2), "no positions"),
        ("layer_norm_eps", json!(0.0), "epsilon"),
        ("layer_norm_eps", Value::Null, "not the JSON"),
        ("vocab_size", json!(11), "12 words"),
        ("vocab_size", json!(13), "shape"),
    ] {
        let words = refused_with("config.json", with(key, value.clone()));
        assert!(words.contains(said), "{key} {value} {words}");
    }
    assert!(refused_with("config.json", " ".repeat(100_000)).contains("more than 65536 bytes"));
    let cls = json!({"pooling_mode_mean_tokens": false, "pooling_mode_cls_token": true});
    assert!(refused_with("1_Pooling/config.json", cls.to_string()).contains("another pooling"));
}

#[test]
fn words_that_are_none_are_refused() {
    for (words, said) in [
        ("", "lacks"),
        ("[UNK]\n[CLS]\n", "lacks"),
        ("[UNK]\n[CLS]\n[SEP]\na\na\n", "not those from 0 on"),
    ] {
        assert!(refused_with("vocab.txt", words).contains(said), "{words:?}");
    }
    assert!(refused_with("vocab.txt", b"[UNK]\n\xff\n").contains("UTF-8"));
    assert!(refused_with("vocab.txt", "x\n".repeat(3 << 20)).contains("more than"));
}
