//! What a draft changes, word by word, as its card has it.

use void_api::cards::{DifferencePartResponse, DifferenceResponse};
use void_control::lanes::work_away;
use void_domain::changes::differences::{self, DifferencePart, WordDifference};
use void_domain::proposals::Proposal;

use crate::errors::ApiError;
use crate::routes::revisions::{grain_word, span_response};

/// Comparing long texts takes a processor for a while, so it is done away from the threads that serve everybody.
pub(super) async fn of(proposal: &Proposal) -> Result<Option<DifferenceResponse>, ApiError> {
    let Some(change) = proposal.subject.change().cloned() else {
        return Ok(None);
    };
    Ok(work_away(move || differences::difference(&change).map(response)).await?)
}

/// What differs between two texts, the same way.
pub(super) async fn between(
    old: String,
    new: String,
) -> Result<Option<DifferenceResponse>, ApiError> {
    Ok(work_away(move || differences::between(&old, &new).map(response)).await?)
}

fn response(difference: WordDifference) -> DifferenceResponse {
    let hidden = difference.hidings.iter();
    DifferenceResponse {
        words_added: difference.words_added as u64,
        words_removed: difference.words_removed as u64,
        places: difference.places as u64,
        hidden: hidden.map(|hiding| hiding.words().to_owned()).collect(),
        parts: difference.parts.into_iter().map(part_response).collect(),
    }
}

fn part_response(part: DifferencePart) -> DifferencePartResponse {
    DifferencePartResponse {
        line: part.line as u64,
        grain: grain_word(part.grain),
        spans: part.spans.into_iter().map(span_response).collect(),
    }
}
