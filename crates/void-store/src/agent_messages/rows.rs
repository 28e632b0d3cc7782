//! Rows of `agent_messages` as messages. A state that cannot be is an error that names the row.

use void_domain::agent_messages::{
    AgentMessage, AgentMessageState, DeadReason, MessageContent, MessageText, OwnWake,
};
use void_domain::taint::Taint;
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::values::Row;

macro_rules! columns {
    () => {
        "id, sender, receiver, seq, message_key, kind, content, taint, sent_at, expires_at, state, deliveries, delivered_at, \
         ended_at, dead_reason, noticed_at"
    };
}
pub(super) use columns;

/// `[]` exactly if there is none.
pub(super) fn taint(taint: &Taint) -> Result<String, StoreError> {
    serde_json::to_string(taint).map_err(|error| StoreError::Internal(error.to_string()))
}

pub(super) fn message(row: &Row) -> Result<AgentMessage, StoreError> {
    let content = match row.text("kind")? {
        "text" => {
            MessageContent::Text(row.parsed("content", |text| MessageText::parse(text).ok())?)
        }
        "wake" => MessageContent::Wake(row.parsed("content", OwnWake::parse)?),
        _ => return Err(row.corrupt("an unknown kind")),
    };
    Ok(AgentMessage {
        id: row.parse("id")?,
        sender: row.parse("sender")?,
        receiver: row.parse("receiver")?,
        seq: row.count("seq")?,
        key: row.parse("message_key")?,
        content,
        taint: row.json("taint")?,
        sent_at: row.time("sent_at")?,
        expires_at: row.time("expires_at")?,
        state: state(row)?,
    })
}

fn state(row: &Row) -> Result<AgentMessageState, StoreError> {
    let deliveries = u32::try_from(row.count("deliveries")?)
        .map_err(|_| row.corrupt("it was handed out too often"))?;
    let delivered_at = row.opt_time("delivered_at")?;
    let ended_at = row.opt_time("ended_at")?;
    let why: Option<&str> = row.opt_text("dead_reason")?;
    let noticed_at: Option<Timestamp> = row.opt_time("noticed_at")?;
    match (row.text("state")?, delivered_at, ended_at, why, noticed_at) {
        ("waiting", None, None, None, None) if deliveries == 0 => Ok(AgentMessageState::Waiting),
        ("delivered", Some(last_at), None, None, None) if deliveries > 0 => {
            Ok(AgentMessageState::Delivered {
                deliveries,
                last_at,
            })
        }
        ("acknowledged", Some(_), Some(at), None, None) if deliveries > 0 => {
            Ok(AgentMessageState::Acknowledged { deliveries, at })
        }
        ("dead", _, Some(at), Some(why), noticed_at) => Ok(AgentMessageState::Dead {
            deliveries,
            at,
            why: DeadReason::parse(why).ok_or_else(|| row.corrupt("an unknown reason"))?,
            noticed_at,
        }),
        _ => Err(row.corrupt("a state that cannot be")),
    }
}
