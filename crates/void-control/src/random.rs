//! Random bytes, asked for in one place.

use void_domain::ids::{
    AgentMessageId, AlertId, MuteId, NotificationId, ProposalCode, ProposalId, QuestionId,
    ReminderId, RequestId, SessionId, TokenId,
};
use void_domain::questions::QuestionCode;
use void_domain::time::Timestamp;
use void_store::StoreError;

/// Without randomness there are no ids and no secrets, so there is no work either.
pub fn bytes<const N: usize>() -> Result<[u8; N], StoreError> {
    let mut bytes = [0; N];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(error) => Err(StoreError::Unavailable(format!(
            "the system gives no random bytes: {error}"
        ))),
    }
}

pub(crate) fn proposal_id(at: Timestamp) -> Result<ProposalId, StoreError> {
    Ok(ProposalId::new(at, bytes()?))
}

pub fn notification_id(at: Timestamp) -> Result<NotificationId, StoreError> {
    Ok(NotificationId::new(at, bytes()?))
}

pub(crate) fn alert_id(at: Timestamp) -> Result<AlertId, StoreError> {
    Ok(AlertId::new(at, bytes()?))
}

pub(crate) fn agent_message_id(at: Timestamp) -> Result<AgentMessageId, StoreError> {
    Ok(AgentMessageId::new(at, bytes()?))
}

pub(crate) fn mute_id(at: Timestamp) -> Result<MuteId, StoreError> {
    Ok(MuteId::new(at, bytes()?))
}

pub(crate) fn question_id(at: Timestamp) -> Result<QuestionId, StoreError> {
    Ok(QuestionId::new(at, bytes()?))
}

pub(crate) fn question_code() -> Result<QuestionCode, StoreError> {
    let random: [u8; ProposalCode::LENGTH_MIN] = bytes()?;
    Ok(QuestionCode::from_random(&random))
}

pub(crate) fn reminder_id(at: Timestamp) -> Result<ReminderId, StoreError> {
    Ok(ReminderId::new(at, bytes()?))
}

pub(crate) fn token_id(at: Timestamp) -> Result<TokenId, StoreError> {
    Ok(TokenId::new(at, bytes()?))
}

pub fn session_id(at: Timestamp) -> Result<SessionId, StoreError> {
    Ok(SessionId::new(at, bytes()?))
}

pub fn request_id(at: Timestamp) -> Result<RequestId, StoreError> {
    Ok(RequestId::new(at, bytes()?))
}

pub(crate) fn proposal_code(length: usize) -> Result<ProposalCode, StoreError> {
    let random: [u8; ProposalCode::LENGTH_MAX] = bytes()?;
    Ok(ProposalCode::from_random(
        random.get(..length).unwrap_or(&random),
    ))
}
