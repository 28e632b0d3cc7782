//! How a request stands, in one line: the words of its state, and what there is to say to them.

use void_api::cards::CardResponse;
use void_domain::proposals::DisplayState;

use super::{filled, words};

pub(super) fn state_words(card: &CardResponse, is_owner: bool) -> String {
    let row = &card.row;
    let by = row.resolved_by.as_deref().unwrap_or(words::THE_SYSTEM);
    let is_by_owner = by == "owner" || by.starts_with("owner-");
    let by = if is_by_owner { words::THE_OWNER } else { by };
    let error = row
        .error
        .as_ref()
        .map_or("", |error| error.message.as_str());
    let Some(shown) = DisplayState::parse(&row.display_state) else {
        return row.display_state.to_string();
    };
    let more = match shown {
        DisplayState::Waiting
        | DisplayState::Starting
        | DisplayState::WaitsForTarget
        | DisplayState::HeldByFreeze
        | DisplayState::HeldFromAbove
        | DisplayState::Running
        | DisplayState::BeingChecked
        | DisplayState::Verified
        | DisplayState::CheckFailed
        | DisplayState::Unconfirmed => return shown.words().to_owned(),
        DisplayState::Failed | DisplayState::Withdrawn | DisplayState::Refused => words::STATE_WHY,
        DisplayState::Unknown => words::STATE_DOUBT,
        DisplayState::Expired | DisplayState::Lapsed => words::STATE_NOTHING_RAN,
        DisplayState::Rejected if !is_owner || !is_by_owner => words::STATE_BY,
        DisplayState::Rejected if error.is_empty() => words::STATE_NO,
        DisplayState::Rejected => words::STATE_NO_WHY,
    };
    let said = filled(more, "state", shown.words());
    // One of the two at most, so that nothing is filled into what somebody wrote.
    let (name, value) = match more.contains("{name}") {
        true => ("name", by),
        false => ("why", error),
    };
    filled(&said, name, value)
}
