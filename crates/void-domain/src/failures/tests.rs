use std::collections::BTreeSet;

use super::*;

#[test]
fn every_code_is_a_word_of_its_own_and_reads_back() {
    let words: BTreeSet<&str> = FailureCode::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(words.len(), FailureCode::ALL.len());
    for code in FailureCode::ALL {
        let word = code.as_str();
        let is_word = |c: char| c.is_ascii_lowercase() || c == '_';
        assert!(!word.is_empty() && word.chars().all(is_word), "{word}");
        assert!(!code.meaning().contains('|') && !code.meaning().is_empty());
        assert_eq!(AnyCode::read(word), AnyCode::Known(*code));
    }
}

/// What an older database or a newer server says is neither lost nor taken for something else.
#[test]
fn a_word_of_another_version_is_passed_on_as_it_is() {
    for word in ["postponed", "", "Frozen", "frozen ", "drift\u{202e}"] {
        let code = AnyCode::read(word);
        assert_eq!(code.known(), None);
        assert_eq!(code.as_str(), word);
        let value = serde_json::to_value(&code).unwrap();
        assert_eq!(value, word);
        assert_eq!(serde_json::from_value::<AnyCode>(value).unwrap(), code);
        assert!(FailureCode::ALL.iter().all(|known| code != *known));
    }
}

/// What CONTRACTS promises, to the letter.
#[test]
fn the_codes_of_the_contract_have_their_status() {
    let promised = [
        (401, "unauthenticated"),
        (403, "owner_only forbidden"),
        (404, "unknown_action not_found"),
        (
            409,
            "already_decided changed frozen cooling_down cap_reached busy expired",
        ),
        (422, "invalid"),
        (429, "rate_limited"),
    ];
    for (status, words) in promised {
        for word in words.split(' ') {
            let code = FailureCode::parse(word).unwrap();
            assert_eq!(code.http(), Some(status), "{word}");
        }
    }
    assert!(FailureCode::parse("host_key_unknown").is_some());
}

/// A script that knows the status alone comes to the same end, but for what the status cannot say.
#[test]
fn the_exit_of_an_answer_follows_its_status() {
    for code in FailureCode::ALL {
        let Some(status) = code.http() else {
            continue;
        };
        let by_status = match status {
            401 | 403 => Exit::NotAllowed,
            404 => Exit::NotFound,
            409 | 429 => Exit::Refused,
            422 => Exit::Usage,
            503 => Exit::Unreachable,
            _ => Exit::Failed,
        };
        let expected = match code {
            FailureCode::UnknownAction => Exit::Refused,
            FailureCode::AlreadyDecided | FailureCode::Expired => Exit::Rejected,
            FailureCode::Unreachable => Exit::Unreachable,
            _ => by_status,
        };
        assert_eq!(code.exit(), expected, "{code}");
    }
}

#[test]
fn exits_are_numbers_of_their_own() {
    let numbers: BTreeSet<u8> = Exit::ALL.map(Exit::number).into();
    assert_eq!(numbers.len(), Exit::ALL.len());
}
