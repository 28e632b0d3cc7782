//! Answers that are no: told apart, in words for people.

use std::time::Duration;

use void_agent::brains::{BrainErrorKind as Kind, Patience, Retry};
use void_testkit::models::{Format, Script};

use crate::talk::{error_of, patience};

fn never_again() -> Patience {
    Patience {
        retries_max: 0,
        ..patience()
    }
}

#[tokio::test]
async fn every_status_has_its_meaning() {
    let again = Retry::After(Duration::ZERO);
    for format in Format::ALL {
        for (status, kind, retry) in [
            (400, Kind::RequestRefused, Retry::Never),
            (401, Kind::KeyRefused, Retry::Never),
            (402, Kind::OutOfCredit, Retry::Never),
            (403, Kind::Forbidden, Retry::Never),
            (404, Kind::NotFound, Retry::Never),
            (408, Kind::Failed, again),
            (413, Kind::PromptTooLong, Retry::Never),
            (422, Kind::RequestRefused, Retry::Never),
            (429, Kind::RateLimited, again),
            (500, Kind::Failed, again),
            (502, Kind::Failed, again),
            (503, Kind::Overloaded, again),
            (504, Kind::Failed, again),
            (529, Kind::Overloaded, again),
            (301, Kind::BadAnswer, Retry::Never),
            (999, Kind::BadAnswer, Retry::Never),
        ] {
            let scripts = [Script::status(status)];
            let (error, events, asked) = error_of(format, scripts, never_again()).await;
            assert_eq!(
                (error.kind, error.retry),
                (kind, retry),
                "{format:?} {status}"
            );
            assert!(error.message.contains(&status.to_string()), "{error}");
            assert!(error.code().as_str().starts_with("brain_"), "{error:?}");
            assert_eq!((events.len(), asked), (0, 1));
        }
    }
}

#[tokio::test]
async fn a_refusal_without_sense_is_still_one() {
    for format in Format::ALL {
        for body in ["", "<html>", "[]", "null", "{\"error\":7}", "\u{0}"] {
            let scripts = [Script::status(500).body(body)];
            let (error, _, _) = error_of(format, scripts, never_again()).await;
            assert_eq!(error.kind, Kind::Failed, "{format:?} {body}");
        }
    }
}

#[tokio::test]
async fn a_huge_refusal_is_cut_and_escaped() {
    for format in Format::ALL {
        let message = format!("no\u{1b}[2J\u{202e} {}", "x".repeat(200_000));
        let scripts = [Script::status(400).refusing("invalid_request_error", &message)];
        let (error, _, _) = error_of(format, scripts, never_again()).await;
        assert_eq!(error.kind, Kind::RequestRefused, "{format:?}");
        assert!(error.message.len() < 600, "{}", error.message.len());
        assert!(!error.message.contains('\u{1b}'), "{error}");
    }
}

#[tokio::test]
async fn the_words_of_the_server_are_passed_on() {
    for format in Format::ALL {
        let script =
            Script::status(400).refusing("invalid_request_error", "tools: not with this model");
        let (error, _, _) = error_of(format, [script], never_again()).await;
        assert!(error.message.contains("not with this model"), "{error}");
        assert!(error.message.contains("127.0.0.1"), "{error}");
    }
}

#[tokio::test]
async fn money_and_length_are_told_apart_from_other_refusals() {
    for (format, status, name, message, kind) in [
        (
            Format::Anthropic,
            400,
            "invalid_request_error",
            "prompt is too long: 208310 tokens > 200000 maximum",
            Kind::PromptTooLong,
        ),
        (
            Format::Anthropic,
            413,
            "request_too_large",
            "Request exceeds the maximum size",
            Kind::PromptTooLong,
        ),
        (
            Format::Anthropic,
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the API",
            Kind::OutOfCredit,
        ),
        (
            Format::OpenAi,
            400,
            "context_length_exceeded",
            "This model's maximum context length is 8192 tokens",
            Kind::PromptTooLong,
        ),
        (
            Format::OpenAi,
            400,
            "exceed_context_size_error",
            "the request exceeds the available context size",
            Kind::PromptTooLong,
        ),
        (
            Format::OpenAi,
            429,
            "insufficient_quota",
            "You exceeded your current quota",
            Kind::OutOfCredit,
        ),
    ] {
        let scripts = [Script::status(status).refusing(name, message)];
        let (error, _, asked) = error_of(format, scripts, patience()).await;
        assert_eq!(error.kind, kind, "{name}");
        assert_eq!((error.retry, asked), (Retry::Never, 1), "{name}");
    }
}

#[tokio::test]
async fn a_wrong_address_is_not_taken_for_a_missing_model() {
    for format in Format::ALL {
        let scripts = [Script::status(404).body("404 page not found")];
        let (error, _, _) = error_of(format, scripts, patience()).await;
        assert_eq!((error.kind, error.retry), (Kind::BadAnswer, Retry::Never));
        assert!(error.message.contains("right one"), "{error}");
        assert!(!error.message.contains("pull"), "{error}");
    }
}
