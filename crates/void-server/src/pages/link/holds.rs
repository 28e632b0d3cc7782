//! What was put on a request from above, as the link page shows it.

use void_api::holds::HoldResponse;

use super::{escaped, quote};

/// Who put what on it, with their words marked as theirs.
pub(super) fn hold_html(hold: &HoldResponse) -> String {
    let sentence = escaped(&hold.sentence);
    match &hold.words {
        Some(said) => format!("{sentence} {}", quote(said, &escaped(&hold.words_of))),
        None => sentence,
    }
}
