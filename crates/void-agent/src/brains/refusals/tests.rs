use reqwest::header::HeaderValue;
use serde_json::json;

use super::*;

const THEIR_NOW: (&str, &str) = ("date", "Sat, 01 Nov 2025 12:26:40 GMT");
const UNTIL: (&str, &str) = ("retry-after", "Sat, 01 Nov 2025 12:27:10 GMT");

fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    let pairs = pairs.iter().map(|(name, value)| {
        let name = reqwest::header::HeaderName::from_static(name);
        (name, HeaderValue::from_static(value))
    });
    pairs.collect()
}

#[test]
fn a_pause_is_read_in_every_form() {
    let asked = |pairs| pause_asked(&headers(pairs)).map(|pause| pause.as_millis());
    assert_eq!(asked(&[("retry-after", "7")]), Some(7_000));
    assert_eq!(asked(&[("retry-after", " 0.5 ")]), Some(500));
    assert_eq!(asked(&[("retry-after", "-1")]), None);
    assert_eq!(asked(&[("retry-after", "soon")]), None);
    assert_eq!(asked(&[("retry-after", "NaN")]), None);
    assert_eq!(asked(&[]), None);
    assert_eq!(asked(&[THEIR_NOW, UNTIL]), Some(30_000));
    assert_eq!(
        asked(&[UNTIL]),
        None,
        "without their clock it means nothing"
    );
}

#[test]
fn errors_are_read_in_every_shape() {
    let said = ProviderError::of(
        &json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    );
    assert_eq!(said.kind(), BrainErrorKind::Overloaded);
    assert_eq!(said.message.as_deref(), Some("Overloaded"));
    for (value, kind) in [
        (json!({"error": "boom"}), BrainErrorKind::Failed),
        (json!({"detail": "no"}), BrainErrorKind::Failed),
        (
            json!({"code": 400, "message": "no"}),
            BrainErrorKind::RequestRefused,
        ),
        (
            json!({"error": {"code": 503, "message": "Loading model"}}),
            BrainErrorKind::Overloaded,
        ),
        (json!({"error": {"code": 200}}), BrainErrorKind::Failed),
        (
            json!({"error": {"type": "exceed_context_size_error", "code": 400}}),
            BrainErrorKind::PromptTooLong,
        ),
        (
            json!({"error": {"type": "insufficient_quota"}}),
            BrainErrorKind::OutOfCredit,
        ),
        (
            json!({"error": {"type": "made_up"}}),
            BrainErrorKind::Failed,
        ),
        (json!(["odd"]), BrainErrorKind::Failed),
        (json!(null), BrainErrorKind::Failed),
    ] {
        assert_eq!(ProviderError::of(&value).kind(), kind, "{value}");
    }
}

#[test]
fn words_that_repeat_the_key_are_withheld() {
    let key = Some(Secret::new("sk-test-0123456789abcdef"));
    for said in ["key sk-test-0123456789abcdef!", "…t-0123456789a…"] {
        let shown = presentable(said, &key);
        assert!(!shown.contains("0123"), "{shown}");
    }
    assert_eq!(presentable(" sk-test\u{202e} ", &key), "sk-test\\u{202e}");
    assert!(presentable("ab", &Some(Secret::new("ab"))).contains("not shown"));
    assert_eq!(presentable("ab", &Some(Secret::new(""))), "ab");
    let long = format!(
        "{}sk-test-0123456789abcdef",
        "x".repeat(WORDS_BYTES_MAX - 14)
    );
    assert!(
        presentable(&long, &key).contains("not shown"),
        "cut comes after"
    );
}
