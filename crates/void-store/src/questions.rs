//! The table `questions`. A question moves once, and the guard is in the statement that moves it.

use void_domain::agents::AgentName;
use void_domain::ids::QuestionId;
use void_domain::questions::{
    Question, QuestionCancellation, QuestionCode, QuestionParty, QuestionReply, QuestionState,
    QuestionWords,
};
use void_domain::taint::Taint;
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::queries::Select;
use crate::tx::Tx;
use crate::values::{Page, Row, values};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, code, asker_kind, asker_name, asker_id, asked_kind, asked_name, text, options, taint, asked_at, \
             expires_at, status, reply, reply_option, reply_taint, ended_by, ended_at, why FROM questions",
            $rest
        )
    };
}

const TABLE: &str = "questions";

pub async fn insert(tx: &mut Tx, question: &Question) -> Result<(), StoreError> {
    let sql = "INSERT INTO questions (id, code, asker_kind, asker_name, asker_id, asked_kind, asked_name, text, options, taint, \
        asked_at, expires_at, status) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 'open')";
    let row = values![
        question.id.to_string(),
        question.code.to_string(),
        question.asker.kind(),
        question.asker.agent().map(AgentName::as_str),
        question.asker_id.map(|id| id.to_string()),
        question.asked.kind(),
        question.asked.agent().map(AgentName::as_str),
        question.words.text(),
        written(&question.words.options())?,
        written(&question.taint)?,
        question.asked_at,
        question.expires_at,
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

/// Writes how an open question ended. `false`: somebody else ended it meanwhile.
pub async fn end(tx: &mut Tx, question: &Question) -> Result<bool, StoreError> {
    let sql = "UPDATE questions SET status = $2, reply = $3, reply_option = $4, reply_taint = $5, ended_by = $6, ended_at = $7, \
        why = $8 WHERE id = $1 AND status = 'open'";
    let (reply, by, at, why) = match &question.state {
        QuestionState::Open => return Ok(false),
        QuestionState::Answered {
            by,
            reply,
            taint,
            at,
        } => (Some((reply, taint)), Some(by.as_str()), *at, None),
        QuestionState::Cancelled { by, why, at } => {
            (None, Some(by.as_str()), *at, Some(why.as_str()))
        }
        QuestionState::Expired { at } => (None, None, *at, None),
    };
    let taint = reply.map(|(_, taint)| written(taint)).transpose()?;
    let row = values![
        question.id.to_string(),
        question.state.as_str(),
        reply.map(|(reply, _)| reply.text.as_str()),
        reply.and_then(|(reply, _)| reply.option).map(i64::from),
        taint,
        by,
        at,
        why,
    ];
    Ok(tx.execute(sql, row).await? == 1)
}

pub async fn find(tx: &mut Tx, id: QuestionId) -> Result<Option<Question>, StoreError> {
    let sql = select!(" WHERE id = $1");
    tx.find(TABLE, sql, values![id.to_string()], question).await
}

/// The open one of this code, or the newest that had it.
pub async fn find_by_code(
    tx: &mut Tx,
    code: &QuestionCode,
) -> Result<Option<Question>, StoreError> {
    let sql = select!(
        " WHERE code = $1 ORDER BY CASE WHEN status = 'open' THEN 0 ELSE 1 END, id DESC LIMIT 1"
    );
    tx.find(TABLE, sql, values![code.to_string()], question)
        .await
}

/// Newest first.
pub async fn list(
    tx: &mut Tx,
    open_only: bool,
    before: Option<QuestionId>,
    limit: u32,
) -> Result<Page<Question>, StoreError> {
    let all = Select::new(TABLE, select!(""));
    let listed = match open_only {
        true => all.only("status = 'open'"),
        false => all,
    };
    let before = before.map(|id| id.to_string());
    listed
        .newest_first("id", before)
        .page(tx, limit, |row| question(row).map(Some))
        .await
}

/// What waits for the owner, oldest first.
pub async fn list_open_to_owner(tx: &mut Tx, limit: u32) -> Result<Vec<Question>, StoreError> {
    let sql = select!(" WHERE status = 'open' AND asked_kind = 'owner' ORDER BY id LIMIT $1");
    tx.read(TABLE, sql, values![i64::from(limit)], question)
        .await
}

pub async fn count_open_to_owner(tx: &mut Tx) -> Result<u64, StoreError> {
    let sql =
        "SELECT COUNT(*) AS total FROM questions WHERE status = 'open' AND asked_kind = 'owner'";
    tx.count(TABLE, sql, &[]).await
}

/// Open ones that an agent asked or was asked, oldest first.
pub async fn list_open_of(
    tx: &mut Tx,
    agent: &AgentName,
    limit: u32,
) -> Result<Vec<Question>, StoreError> {
    let sql = select!(
        " WHERE status = 'open' AND (asker_name = $1 OR asked_name = $1) ORDER BY id LIMIT $2"
    );
    let values = values![agent.as_str(), i64::from(limit)];
    tx.read(TABLE, sql, values, question).await
}

/// What an agent asked and what was answered since, newest first.
pub async fn list_answered_of(
    tx: &mut Tx,
    asker: &AgentName,
    since: Timestamp,
    limit: u32,
) -> Result<Vec<Question>, StoreError> {
    let sql = select!(
        " WHERE status = 'answered' AND asker_name = $1 AND ended_at >= $2 ORDER BY ended_at DESC, id DESC LIMIT $3"
    );
    let values = values![asker.as_str(), since, i64::from(limit)];
    tx.read(TABLE, sql, values, question).await
}

/// Every open one, oldest first.
pub async fn list_open(tx: &mut Tx, limit: u32) -> Result<Vec<Question>, StoreError> {
    let sql = select!(" WHERE status = 'open' ORDER BY id LIMIT $1");
    tx.read(TABLE, sql, values![i64::from(limit)], question)
        .await
}

/// Open ones whose time is over.
pub async fn list_overdue(
    tx: &mut Tx,
    now: Timestamp,
    limit: u32,
) -> Result<Vec<QuestionId>, StoreError> {
    let sql = "SELECT id FROM questions WHERE status = 'open' AND expires_at <= $1 ORDER BY expires_at LIMIT $2";
    let values = values![now, i64::from(limit)];
    tx.read(TABLE, sql, values, |row| row.parse("id")).await
}

/// How much of a party is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuestionCounts {
    /// Open ones that it asked.
    pub asked: u64,
    /// Open ones that it was asked.
    pub to_answer: u64,
}

pub async fn count_open_of(
    tx: &mut Tx,
    party: &QuestionParty,
) -> Result<QuestionCounts, StoreError> {
    let asked = "SELECT COUNT(*) AS total FROM questions WHERE status = 'open' AND asker_kind = $1 AND COALESCE(asker_name, '') = $2";
    let to_answer = "SELECT COUNT(*) AS total FROM questions WHERE status = 'open' AND asked_kind = $1 AND COALESCE(asked_name, '') = $2";
    let values = values![party.kind(), party.agent().map_or("", AgentName::as_str)];
    Ok(QuestionCounts {
        asked: tx.count(TABLE, asked, values).await?,
        to_answer: tx.count(TABLE, to_answer, values).await?,
    })
}

/// How many an agent asked since, whatever became of them.
pub async fn count_asked_since(
    tx: &mut Tx,
    asker: &AgentName,
    since: Timestamp,
) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) AS total FROM questions WHERE asker_name = $1 AND asked_at > $2";
    tx.count(TABLE, sql, values![asker.as_str(), since]).await
}

fn written<T: serde::Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Internal(error.to_string()))
}

fn question(row: &Row) -> Result<Question, StoreError> {
    let party = |kind: &str, name: &str| match (row.text(kind)?, row.opt_text(name)?) {
        ("owner", None) => Ok(QuestionParty::Owner),
        ("agent", Some(_)) => Ok(QuestionParty::Agent(row.parse(name)?)),
        _ => Err(row.corrupt("nobody asks or is asked")),
    };
    let options: Vec<String> = row.json("options")?;
    let words = QuestionWords::new(row.text("text")?, options);
    Ok(Question {
        id: row.parse("id")?,
        code: row.parsed("code", QuestionCode::parse)?,
        asker: party("asker_kind", "asker_name")?,
        asker_id: row.opt_parse("asker_id")?,
        asked: party("asked_kind", "asked_name")?,
        words: words.map_err(|error| row.corrupt(error))?,
        taint: row.json("taint")?,
        asked_at: row.time("asked_at")?,
        expires_at: row.time("expires_at")?,
        state: state(row)?,
    })
}

/// The whole tuple, or a row that cannot exist.
fn state(row: &Row) -> Result<QuestionState, StoreError> {
    let reply = row.opt_string("reply")?;
    let taint: Option<Taint> = row.opt_json("reply_taint")?;
    let (by, at) = (row.opt_string("ended_by")?, row.opt_time("ended_at")?);
    let option = row.opt_int("reply_option")?;
    match (
        row.text("status")?,
        reply,
        taint,
        by,
        at,
        row.opt_text("why")?,
    ) {
        ("open", None, None, None, None, None) => Ok(QuestionState::Open),
        ("answered", Some(text), Some(taint), Some(by), Some(at), None) => {
            let option = option.map(u8::try_from).transpose();
            Ok(QuestionState::Answered {
                by,
                reply: QuestionReply {
                    text,
                    option: option.map_err(|_| row.corrupt("no option has this number"))?,
                },
                taint,
                at,
            })
        }
        ("cancelled", None, None, Some(by), Some(at), Some(_)) => Ok(QuestionState::Cancelled {
            by,
            why: row.parsed("why", QuestionCancellation::parse)?,
            at,
        }),
        ("expired", None, None, None, Some(at), None) => Ok(QuestionState::Expired { at }),
        _ => Err(row.corrupt("a state that no question has")),
    }
}
