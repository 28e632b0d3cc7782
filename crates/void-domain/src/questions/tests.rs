use std::time::Duration;

use super::*;

const NOW: Timestamp = Timestamp::from_ms(1_762_000_000_000);

fn words(text: &str, options: &[&str]) -> Result<QuestionWords, InvalidQuestion> {
    let options = options.iter().map(|&option| option.to_owned()).collect();
    QuestionWords::new(text, options)
}

fn question(state: QuestionState) -> Question {
    Question {
        id: QuestionId::new(NOW, [1; 10]),
        code: QuestionCode::from_random(&[1, 2, 3, 4]),
        asker: QuestionParty::parse("alice").unwrap(),
        asker_id: None,
        asked: QuestionParty::Owner,
        words: words("Which disk?", &["sda", "sdb"]).unwrap(),
        taint: Taint::clean(),
        asked_at: NOW,
        expires_at: NOW.plus(EXPIRES_AFTER_DEFAULT),
        state,
    }
}

fn reply() -> QuestionReply {
    QuestionReply {
        text: "sda".to_owned(),
        option: Some(1),
    }
}

fn states() -> Vec<QuestionState> {
    let by = "owner-web".to_owned();
    vec![
        QuestionState::Open,
        QuestionState::Answered {
            by: by.clone(),
            reply: reply(),
            taint: Taint::clean(),
            at: NOW,
        },
        QuestionState::Cancelled {
            by,
            why: QuestionCancellation::Withdrawn,
            at: NOW,
        },
        QuestionState::Expired { at: NOW },
    ]
}

/// Every state × every transition, in time and late.
#[test]
fn a_question_ends_once_and_only_in_time() {
    let (in_time, late) = (
        NOW.plus(EXPIRES_AFTER_DEFAULT)
            .minus(Duration::from_millis(1)),
        NOW.plus(EXPIRES_AFTER_DEFAULT),
    );
    for state in states() {
        for now in [in_time, late] {
            let is_open = state.is_open();
            let answered = question(state.clone()).answer("x", reply(), Taint::clean(), now);
            let why = QuestionCancellation::Withdrawn;
            let cancelled = question(state.clone()).cancel("x", why, now);
            let expired = question(state.clone()).expire(now);
            let may_end = is_open && now == in_time;
            assert_eq!(answered.is_ok(), may_end, "{state:?}");
            assert_eq!(cancelled.is_ok(), may_end, "{state:?}");
            assert_eq!(expired.is_ok(), is_open && now == late, "{state:?}");
            let over = match is_open {
                true => "expired",
                false => state.as_str(),
            };
            if !may_end {
                assert_eq!(answered.unwrap_err(), QuestionOver(over));
            }
        }
    }
}

#[test]
fn what_is_asked_is_bounded_and_options_can_be_told_apart() {
    let long = "x".repeat(TEXT_BYTES_MAX);
    assert!(words(&long, &[]).is_ok());
    assert!(words(&format!(" {long} "), &[]).is_ok());
    for bad in [
        "",
        " \n",
        &format!("{long}x"),
        &"é".repeat(TEXT_BYTES_MAX / 2 + 1),
    ] {
        assert_eq!(words(bad, &[]), Err(InvalidQuestion::Text));
    }
    let eight = ["a", "b", "c", "d", "e", "f", "g", "h"];
    assert!(words("?", &eight).is_ok());
    let nine = [&eight[..], &["k"]].concat();
    assert_eq!(words("?", &nine), Err(InvalidQuestion::Options));
    let fits = "x".repeat(OPTION_CHARS_MAX);
    assert!(words("?", &[&fits]).is_ok());
    for bad in [
        &["".to_owned()][..],
        &["x".repeat(OPTION_CHARS_MAX + 1)],
        &["a\nb".to_owned()],
        &[" a".to_owned()],
        &["a\u{202e}b".to_owned()],
        &["yes".to_owned(), "yes".to_owned()],
        // The second begins with a Cyrillic letter.
        &["a".to_owned(), "\u{430}".to_owned()],
    ] {
        let found = QuestionWords::new("?", bad.to_vec());
        assert_eq!(found, Err(InvalidQuestion::Option), "{bad:?}");
    }
}

#[test]
fn an_expiry_is_within_its_bounds() {
    let ms = Duration::from_millis(1);
    for (wanted, expected) in [
        (None, Ok(EXPIRES_AFTER_DEFAULT)),
        (Some(EXPIRES_AFTER_MIN), Ok(EXPIRES_AFTER_MIN)),
        (Some(EXPIRES_AFTER_MAX), Ok(EXPIRES_AFTER_MAX)),
        (Some(EXPIRES_AFTER_MIN - ms), Err(InvalidQuestion::Expiry)),
        (Some(EXPIRES_AFTER_MAX + ms), Err(InvalidQuestion::Expiry)),
    ] {
        assert_eq!(expires_after(wanted), expected, "{wanted:?}");
    }
}

#[test]
fn an_answer_is_an_option_or_words() {
    let asked = question(QuestionState::Open);
    assert_eq!(asked.reply(ReplyChoice::Option(1)), Ok(reply()));
    let said = |text: &str| asked.reply(ReplyChoice::Words(text.to_owned()));
    assert_eq!(said(" sda "), Ok(reply()));
    assert_eq!(said("neither").unwrap().option, None);
    for number in [0, 3, 255] {
        let refused = asked.reply(ReplyChoice::Option(number));
        assert_eq!(refused, Err(InvalidQuestion::NoSuchOption));
    }
    assert!(said(&"x".repeat(REPLY_BYTES_MAX)).is_ok());
    for bad in ["", " ", &"x".repeat(REPLY_BYTES_MAX + 1)] {
        assert_eq!(said(bad), Err(InvalidQuestion::Reply));
    }
}

#[test]
fn a_code_is_no_proposals_code() {
    let code = QuestionCode::from_random(&[0, 1, 33, 255]);
    assert_eq!(code.to_string(), "Q-011Z");
    assert_eq!(QuestionCode::parse("q-oilz"), Some(code));
    for bad in ["", "Q-", "011Z", "Q011Z", "Q-7F3", "Q-7F 3", "Q-Q-011Z"] {
        assert_eq!(QuestionCode::parse(bad), None, "{bad}");
    }
    assert_eq!(ProposalCode::parse("Q-011Z"), None);
}
