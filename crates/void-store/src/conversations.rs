//! The tables `conversations` and `messages`, and what agents have used up. At most one turn runs per
//! conversation; an index says so.

use serde::Serialize;
use void_domain::conversations::{Conversation, Message, Said, Turn, TurnState, Usage};
use void_domain::failures::AnyCode;
use void_domain::ids::{ConversationId, MessageId};
use void_domain::proposals::Failure;
use void_domain::taint::Taint;
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::queries::{Paged, Select};
use crate::tx::Tx;
use crate::values::{Page, Row, Value, int, values};

macro_rules! message_columns {
    () => {
        "id, conversation_id, seq, role, body, at, status, ended_at, brain, model, trace, usage, truth, \
         tainted_by, failure_code, failure_message, session"
    };
}

/// What a turn has become, behind two other values.
macro_rules! set_turn {
    () => {
        "status = $3, ended_at = $4, brain = $5, model = $6, trace = $7, usage = $8, truth = $9, tainted_by = $10, \
         failure_code = $11, failure_message = $12, session = $13"
    };
}

pub async fn insert(tx: &mut Tx, conversation: &Conversation) -> Result<(), StoreError> {
    let sql = "INSERT INTO conversations (id, agent, space_id, created_at) VALUES ($1, $2, $3, $4)";
    let row = values![
        conversation.id.to_string(),
        &conversation.agent,
        conversation.space_id.as_ref(),
        conversation.created_at,
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

pub async fn find(tx: &mut Tx, id: ConversationId) -> Result<Option<Conversation>, StoreError> {
    let sql = "SELECT id, agent, space_id, created_at FROM conversations WHERE id = $1";
    tx.find("conversations", sql, values![id.to_string()], conversation)
        .await
}

/// The newest conversation with an agent.
pub async fn newest_with(tx: &mut Tx, agent: &str) -> Result<Option<Conversation>, StoreError> {
    let sql = "SELECT id, agent, space_id, created_at FROM conversations WHERE agent = $1 \
        ORDER BY id DESC LIMIT 1";
    tx.find("conversations", sql, values![agent], conversation)
        .await
}

/// A conversation in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    pub id: ConversationId,
    pub created_at: Timestamp,
    pub message_count: u64,
    pub last_at: Timestamp,
    /// How it begins.
    pub words: String,
}

/// Conversations with an agent in which something was said, newest first.
pub async fn list_with(
    tx: &mut Tx,
    agent: &str,
    cursor: Option<ConversationId>,
    limit: u32,
) -> Result<Page<Summary>, StoreError> {
    let summaries = summaries(agent, cursor);
    summaries
        .page(tx, limit, |row| summary(row).map(Some))
        .await
}

fn summaries(agent: &str, cursor: Option<ConversationId>) -> Paged<'_> {
    const SUMMARIES: &str = "SELECT id, created_at, \
        (SELECT COUNT(*) FROM messages m WHERE m.conversation_id = conversations.id) AS message_count, \
        (SELECT MAX(m.at) FROM messages m WHERE m.conversation_id = conversations.id) AS last_at, \
        (SELECT substr(m.body, 1, 200) FROM messages m WHERE m.conversation_id = conversations.id \
        ORDER BY m.seq LIMIT 1) AS words FROM conversations";
    const HAS_MESSAGE: &str =
        "EXISTS (SELECT 1 FROM messages m WHERE m.conversation_id = conversations.id)";
    Select::new("conversations", SUMMARIES)
        .only_with("agent = ?", agent)
        .only(HAS_MESSAGE)
        .newest_first("id", cursor.map(|id| id.to_string()))
}

fn summary(row: &Row) -> Result<Summary, StoreError> {
    Ok(Summary {
        id: row.parse("id")?,
        created_at: row.time("created_at")?,
        message_count: row.count("message_count")?,
        last_at: row.time("last_at")?,
        words: row.opt_string("words")?.unwrap_or_default(),
    })
}

fn conversation(row: &Row) -> Result<Conversation, StoreError> {
    Ok(Conversation {
        id: row.parse("id")?,
        agent: row.string("agent")?,
        space_id: row.opt_string("space_id")?,
        created_at: row.time("created_at")?,
    })
}

/// The place of the next message.
pub async fn next_seq(tx: &mut Tx, id: ConversationId) -> Result<u64, StoreError> {
    let sql = "SELECT COALESCE(MAX(seq), 0) AS last FROM messages WHERE conversation_id = $1";
    let row = tx.one("messages", sql, values![id.to_string()]).await?;
    Ok(row
        .map_or(Ok(0), |row| row.count("last"))?
        .saturating_add(1))
}

pub async fn append(tx: &mut Tx, message: &Message) -> Result<(), StoreError> {
    let sql = concat!(
        "INSERT INTO messages (",
        message_columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)"
    );
    let (role, cells) = match &message.said {
        Said::ByOwner => ("user", Cells::default()),
        Said::ByAgent(turn) => ("assistant", Cells::of(turn)),
    };
    let mut row = values![
        message.id.to_string(),
        message.conversation_id.to_string(),
        int(message.seq),
        role,
        &message.body,
        message.at,
    ]
    .to_vec();
    row.extend(cells.values());
    tx.execute(sql, &row).await?;
    Ok(())
}

/// Writes what became of a turn, if it still runs. `false`: somebody ended it before.
pub async fn end_turn(
    tx: &mut Tx,
    id: MessageId,
    body: &str,
    turn: &Turn,
) -> Result<bool, StoreError> {
    let sql = concat!(
        "UPDATE messages SET body = $2, ",
        set_turn!(),
        " WHERE id = $1 AND status = 'running'"
    );
    let mut row = values![id.to_string(), body].to_vec();
    row.extend(Cells::of(turn).values());
    Ok(tx.execute(sql, &row).await? == 1)
}

/// Writes what a turn has read so far, if it still runs. `false`: it is over.
pub async fn mark_tainted(tx: &mut Tx, id: MessageId, taint: &Taint) -> Result<bool, StoreError> {
    let sql = "UPDATE messages SET tainted_by = $2 WHERE id = $1 AND status = 'running'";
    Ok(tx
        .execute(sql, values![id.to_string(), json(taint)])
        .await?
        == 1)
}

/// Takes a turn that failed or was stopped up again. `false`: it is neither.
pub async fn begin_again(
    tx: &mut Tx,
    id: MessageId,
    at: Timestamp,
    turn: &Turn,
) -> Result<bool, StoreError> {
    let sql = concat!(
        "UPDATE messages SET body = '', at = $2, ",
        set_turn!(),
        " WHERE id = $1 AND status IN ('failed', 'stopped')"
    );
    let mut row = values![id.to_string(), at].to_vec();
    row.extend(Cells::of(turn).values());
    Ok(tx.execute(sql, &row).await? == 1)
}

pub async fn find_message(tx: &mut Tx, id: MessageId) -> Result<Option<Message>, StoreError> {
    let sql = concat!(
        "SELECT ",
        message_columns!(),
        " FROM messages WHERE id = $1"
    );
    tx.find("messages", sql, values![id.to_string()], message)
        .await
}

/// The messages before a place, newest first.
pub async fn list_before(
    tx: &mut Tx,
    id: ConversationId,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<Message>, StoreError> {
    Ok(page_before(tx, id, before, limit).await?.items)
}

/// The same as a page. Whether there are older ones is looked up and not reckoned from numbers, because
/// old messages are not kept.
pub async fn page_before(
    tx: &mut Tx,
    id: ConversationId,
    before: Option<u64>,
    limit: u32,
) -> Result<Page<Message>, StoreError> {
    const MESSAGES: &str = concat!("SELECT ", message_columns!(), " FROM messages");
    Select::new("messages", MESSAGES)
        .only_with("conversation_id = ?", id.to_string())
        .newest_first("seq", before.map(int))
        .page(tx, limit, |row| message(row).map(Some))
        .await
}

/// The turn that runs in a conversation.
pub async fn running_in(tx: &mut Tx, id: ConversationId) -> Result<Option<Message>, StoreError> {
    let sql = concat!(
        "SELECT ",
        message_columns!(),
        " FROM messages WHERE conversation_id = $1 AND status = 'running'"
    );
    tx.find("messages", sql, values![id.to_string()], message)
        .await
}

/// Every turn that runs, oldest first.
pub async fn list_running(tx: &mut Tx, limit: u32) -> Result<Vec<Message>, StoreError> {
    let sql = concat!(
        "SELECT ",
        message_columns!(),
        " FROM messages WHERE status = 'running' ORDER BY id LIMIT $1"
    );
    tx.read("messages", sql, values![i64::from(limit)], message)
        .await
}

/// Adds to what an agent used on a day.
pub async fn add_usage(
    tx: &mut Tx,
    agent: &str,
    day: i64,
    usage: &Usage,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO agent_usage (agent, day, tokens, cost_micros) VALUES ($1, $2, $3, $4) \
        ON CONFLICT (agent, day) DO UPDATE SET tokens = agent_usage.tokens + excluded.tokens, \
        cost_micros = agent_usage.cost_micros + excluded.cost_micros";
    let row = values![
        agent,
        day,
        int(usage.total_tokens()),
        int(usage.cost_micros)
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

/// Tokens and cost of an agent on a day.
pub async fn usage_on(tx: &mut Tx, agent: &str, day: i64) -> Result<(u64, u64), StoreError> {
    let sql = "SELECT tokens, cost_micros FROM agent_usage WHERE agent = $1 AND day = $2";
    let row = tx.one("agent_usage", sql, values![agent, day]).await?;
    row.map_or(Ok((0, 0)), |row| {
        Ok((row.count("tokens")?, row.count("cost_micros")?))
    })
}

/// The columns that only an agent's message fills.
#[derive(Default)]
struct Cells {
    status: Option<&'static str>,
    ended_at: Option<Timestamp>,
    brain: Option<String>,
    model: Option<String>,
    trace: Option<String>,
    usage: Option<String>,
    truth: Option<String>,
    tainted_by: Option<String>,
    failure_code: Option<String>,
    failure_message: Option<String>,
    session: Option<String>,
}

impl Cells {
    fn of(turn: &Turn) -> Self {
        let (ended_at, failure) = match &turn.state {
            TurnState::Running => (None, None),
            TurnState::Done { at } | TurnState::Stopped { at } => (Some(*at), None),
            TurnState::Failed { at, failure } => (Some(*at), Some(failure)),
        };
        Self {
            status: Some(turn.state.as_str()),
            ended_at,
            brain: Some(turn.brain.clone()),
            model: Some(turn.model.clone()),
            trace: json(&turn.trace),
            usage: json(&turn.usage),
            truth: json(&turn.truth),
            tainted_by: json(&turn.tainted_by),
            failure_code: failure.map(|failure| failure.code.to_string()),
            failure_message: failure.map(|failure| failure.message.clone()),
            session: turn.session.clone(),
        }
    }
}

impl<'a> Cells {
    /// In the order of `message_columns` and of `set_turn`.
    fn values(self) -> [Value<'a>; 11] {
        [
            self.status.into(),
            self.ended_at.into(),
            self.brain.into(),
            self.model.into(),
            self.trace.into(),
            self.usage.into(),
            self.truth.into(),
            self.tainted_by.into(),
            self.failure_code.into(),
            self.failure_message.into(),
            self.session.into(),
        ]
    }
}

/// Our own types, which always have a JSON form.
fn json(value: &impl Serialize) -> Option<String> {
    serde_json::to_string(value).ok()
}

fn message(row: &Row) -> Result<Message, StoreError> {
    let said = match row.text("role")? {
        "user" => Said::ByOwner,
        "assistant" => Said::ByAgent(Box::new(turn(row)?)),
        other => return Err(row.corrupt(format!("role {other}"))),
    };
    Ok(Message {
        id: row.parse("id")?,
        conversation_id: row.parse("conversation_id")?,
        seq: row.count("seq")?,
        body: row.string("body")?,
        at: row.time("at")?,
        said,
    })
}

fn turn(row: &Row) -> Result<Turn, StoreError> {
    let ended = || {
        row.opt_time("ended_at")?
            .ok_or_else(|| row.corrupt("an end without its time"))
    };
    let state = match row.text("status")? {
        "running" => TurnState::Running,
        "done" => TurnState::Done { at: ended()? },
        "stopped" => TurnState::Stopped { at: ended()? },
        "failed" => TurnState::Failed {
            at: ended()?,
            failure: Failure::new(
                AnyCode::read(row.text("failure_code")?),
                row.text("failure_message")?,
            ),
        },
        other => return Err(row.corrupt(format!("status {other}"))),
    };
    Ok(Turn {
        state,
        brain: row.string("brain")?,
        model: row.string("model")?,
        trace: row.json("trace")?,
        usage: row.json("usage")?,
        truth: row.json("truth")?,
        tainted_by: row.json("tainted_by")?,
        session: row.opt_string("session")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queries::plan;

    /// A page reads its own conversations and not all that there ever were.
    #[test]
    fn a_page_of_conversations_sorts_nothing() {
        let id = "01999999-0000-7000-8000-000000000001".parse().unwrap();
        for cursor in [None, Some(id)] {
            let plan = plan(summaries("blue", cursor));
            assert!(
                plan.iter()
                    .any(|step| step.contains("conversations_by_agent (agent=?"))
            );
            assert!(
                !plan.iter().any(|step| step.contains("TEMP B-TREE")),
                "{plan:?}"
            );
        }
    }
}
