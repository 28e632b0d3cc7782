//! The tables `conversations` and `messages`, and what agents have used up. At most one turn runs per
//! conversation; an index says so.

mod searches;

use serde::Serialize;
use void_domain::conversations::{
    Conversation, ConversationSubject, Message, Said, SearchedWords, Turn, TurnState, Usage,
};
use void_domain::failures::AnyCode;
use void_domain::ids::{ConversationId, MessageId, SpaceId};
use void_domain::proposals::Failure;
use void_domain::taint::Taint;
use void_domain::time::Timestamp;

pub use self::searches::newest_with_words;
use self::searches::with_words;
use crate::errors::StoreError;
use crate::queries::{Paged, Select};
use crate::tx::Tx;
use crate::values::{Page, Row, Value, int, values};

macro_rules! message_columns {
    () => {
        "id, conversation_id, seq, role, body, at, status, ended_at, brain, model, trace, usage, truth, \
         tainted_by, failure_code, failure_message, session, causes"
    };
}

macro_rules! conversation_columns {
    () => {
        "id, agent, space_id, about_kind, about_id, created_at"
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
    let sql = "INSERT INTO conversations (id, agent, space_id, created_at, about_kind, about_id) \
        VALUES ($1, $2, $3, $4, $5, $6)";
    let about = conversation.about.as_ref();
    let row = values![
        conversation.id.to_string(),
        &conversation.agent,
        conversation.space_id.map(|id| id.to_string()),
        conversation.created_at,
        about.map(ConversationSubject::kind),
        about.map(ConversationSubject::id),
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

pub async fn find(tx: &mut Tx, id: ConversationId) -> Result<Option<Conversation>, StoreError> {
    let sql = concat!(
        "SELECT ",
        conversation_columns!(),
        " FROM conversations WHERE id = $1"
    );
    tx.find("conversations", sql, values![id.to_string()], conversation)
        .await
}

/// The newest conversation with an agent that belongs to no space and is about nothing in particular.
pub async fn newest_with(tx: &mut Tx, agent: &str) -> Result<Option<Conversation>, StoreError> {
    let sql = concat!(
        "SELECT ",
        conversation_columns!(),
        " FROM conversations WHERE agent = $1 AND space_id IS NULL AND about_kind IS NULL \
         ORDER BY id DESC LIMIT 1"
    );
    tx.find("conversations", sql, values![agent], conversation)
        .await
}

/// The conversation that goes on in a space with an agent beside whatever is looked at in it. An index lets there be one.
pub async fn ambient(
    tx: &mut Tx,
    space: SpaceId,
    agent: &str,
) -> Result<Option<Conversation>, StoreError> {
    let sql = concat!(
        "SELECT ",
        conversation_columns!(),
        " FROM conversations WHERE space_id = $1 AND agent = $2 AND about_kind IS NULL AND ended_at IS NULL"
    );
    let values = values![space.to_string(), agent];
    tx.find("conversations", sql, values, conversation).await
}

/// Another one may be the one that goes on. `false`: it is not there, or has ended before.
pub async fn end(tx: &mut Tx, id: ConversationId, at: Timestamp) -> Result<bool, StoreError> {
    let sql = "UPDATE conversations SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL";
    Ok(tx.execute(sql, values![id.to_string(), at]).await? == 1)
}

/// Takes a conversation away with all that was said in it. `false`: it is not there.
pub async fn delete(tx: &mut Tx, id: ConversationId) -> Result<bool, StoreError> {
    let messages = "DELETE FROM messages WHERE conversation_id = $1";
    tx.execute(messages, values![id.to_string()]).await?;
    let sql = "DELETE FROM conversations WHERE id = $1";
    Ok(tx.execute(sql, values![id.to_string()]).await? == 1)
}

/// A conversation in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    pub id: ConversationId,
    pub agent: String,
    pub about: Option<ConversationSubject>,
    pub created_at: Timestamp,
    pub message_count: u64,
    pub last_at: Timestamp,
    /// How it begins.
    pub words: String,
}

/// Conversations in which something was said, newest first: all of a space, what they are about or not.
pub async fn list_in(
    tx: &mut Tx,
    space: SpaceId,
    words: Option<&SearchedWords>,
    cursor: Option<ConversationId>,
    limit: u32,
) -> Result<Page<Summary>, StoreError> {
    with_words(said_in(), words)
        .only_with("space_id = ?", space.to_string())
        .newest_first("id", cursor.map(|id| id.to_string()))
        .page(tx, limit, |row| summary(row).map(Some))
        .await
}

/// The same, of those that are about this.
pub async fn list_about(
    tx: &mut Tx,
    about: &ConversationSubject,
    words: Option<&SearchedWords>,
    cursor: Option<ConversationId>,
    limit: u32,
) -> Result<Page<Summary>, StoreError> {
    with_words(said_in(), words)
        .only_with("about_kind = ?", about.kind())
        .only_with("about_id = ?", about.id())
        .newest_first("id", cursor.map(|id| id.to_string()))
        .page(tx, limit, |row| summary(row).map(Some))
        .await
}

/// The newest conversation with an agent about this.
pub async fn newest_about(
    tx: &mut Tx,
    agent: &str,
    about: &ConversationSubject,
) -> Result<Option<Conversation>, StoreError> {
    let sql = concat!(
        "SELECT ",
        conversation_columns!(),
        " FROM conversations WHERE about_kind = $1 AND about_id = $2 AND agent = $3 ORDER BY id DESC LIMIT 1"
    );
    let values = values![about.kind(), about.id(), agent];
    tx.find("conversations", sql, values, conversation).await
}

/// Conversations with an agent in which something was said, newest first; none of a space's.
pub async fn list_with(
    tx: &mut Tx,
    agent: &str,
    words: Option<&SearchedWords>,
    cursor: Option<ConversationId>,
    limit: u32,
) -> Result<Page<Summary>, StoreError> {
    summaries(agent, words, cursor)
        .page(tx, limit, |row| summary(row).map(Some))
        .await
}

fn summaries<'a>(
    agent: &'a str,
    words: Option<&SearchedWords>,
    cursor: Option<ConversationId>,
) -> Paged<'a> {
    with_words(said_in(), words)
        .only_with("agent = ?", agent)
        .only("space_id IS NULL AND about_kind IS NULL")
        .newest_first("id", cursor.map(|id| id.to_string()))
}

fn said_in<'a>() -> Select<'a> {
    const SUMMARIES: &str = "SELECT id, agent, about_kind, about_id, created_at, \
        (SELECT COUNT(*) FROM messages m WHERE m.conversation_id = conversations.id) AS message_count, \
        (SELECT MAX(m.at) FROM messages m WHERE m.conversation_id = conversations.id) AS last_at, \
        (SELECT substr(m.body, 1, 200) FROM messages m WHERE m.conversation_id = conversations.id \
        ORDER BY m.seq LIMIT 1) AS words FROM conversations";
    const HAS_MESSAGE: &str =
        "EXISTS (SELECT 1 FROM messages m WHERE m.conversation_id = conversations.id)";
    Select::new("conversations", SUMMARIES).only(HAS_MESSAGE)
}

fn summary(row: &Row) -> Result<Summary, StoreError> {
    Ok(Summary {
        id: row.parse("id")?,
        agent: row.string("agent")?,
        about: about(row)?,
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
        space_id: row.opt_parse("space_id")?,
        about: about(row)?,
        created_at: row.time("created_at")?,
    })
}

fn about(row: &Row) -> Result<Option<ConversationSubject>, StoreError> {
    let (Some(kind), Some(id)) = (row.opt_text("about_kind")?, row.opt_text("about_id")?) else {
        return Ok(None);
    };
    match ConversationSubject::parse(kind, id) {
        Some(about) => Ok(Some(about)),
        None => Err(row.corrupt("what it is about is nothing that there is")),
    }
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
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)"
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
    row.push(causes(&message.said).into());
    tx.execute(sql, &row).await?;
    Ok(())
}

/// What began a turn never changes, so no end of it writes this.
fn causes(said: &Said) -> Option<String> {
    match said {
        Said::ByAgent(turn) if !turn.causes.is_empty() => json(&turn.causes),
        Said::ByAgent(_) | Said::ByOwner => None,
    }
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

/// The turn of an agent that runs, in whichever conversation.
pub async fn running_of(tx: &mut Tx, agent: &str) -> Result<Option<Message>, StoreError> {
    let sql = concat!(
        "SELECT ",
        message_columns!(),
        " FROM messages WHERE status = 'running' AND conversation_id IN \
         (SELECT id FROM conversations WHERE agent = $1) ORDER BY id LIMIT 1"
    );
    tx.find("messages", sql, values![agent], message).await
}

/// How many turns of an agent began since then that nobody spoke to.
pub async fn count_begun_since(
    tx: &mut Tx,
    agent: &str,
    since: Timestamp,
) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) AS turns FROM messages WHERE causes IS NOT NULL AND at > $2 AND conversation_id IN \
        (SELECT id FROM conversations WHERE agent = $1)";
    let row = tx.one("messages", sql, values![agent, since]).await?;
    row.map_or(Ok(0), |row| row.count("turns"))
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
pub(crate) fn json(value: &impl Serialize) -> Option<String> {
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
        causes: row.opt_json("causes")?.unwrap_or_default(),
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
            let plan = plan(summaries("blue", None, cursor));
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
