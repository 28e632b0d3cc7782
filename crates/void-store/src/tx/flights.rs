//! A flight: use cases of one batch that run at the same time in the writer's one transaction on PostgreSQL.
//!
//! None of them has the connection. A use case leaves its statement here and waits; when all of them wait, the
//! pilot ([`crate::postgres`]) sends what they ask for, equal statements as one with arrays, and hands out the
//! answers. So a batch costs as many round trips as its longest use case.
//!
//! They do not see each other's writes in an order that they could rely on, so nobody shares: before a use
//! case judges by something that others may change, it takes the [`ConflictKey`] of that. Whoever comes second has
//! written nothing yet; it is stopped, and begins anew when all that ran beside it are done. On SQLite, and in
//! a batch that runs one by one, keys cost nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use void_domain::actors::ActorKind;
use void_domain::digests::Digest;
use void_domain::facts::{Fact, NewFact};
use void_domain::ids::{ActionId, ProposalCode, ProposalId, RequesterId};
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::heads::Heads;
use crate::values::{Row, Value};

/// What a use case judges by and others may change.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ConflictKey {
    /// Its row, what the record says of it, its messages and buttons.
    Proposal(ProposalId),
    /// What is under way on a target, by one of its spellings.
    Target(String),
    /// When an action was started.
    Starts(ActionId),
    /// Whether somebody waits for the same already.
    Request(Whose, Digest),
    Code(ProposalCode),
    /// How many safe runs somebody has had.
    SafeRuns(Whose),
    /// How many of somebody's proposals wait.
    OpenOf(Whose),
    /// How many proposals wait.
    Open,
    /// What somebody was refused before.
    Refusals(String),
    /// How much was approved from a chat.
    ChatApprovals,
}

/// A requester, whatever its name.
pub type Whose = (ActorKind, Option<RequesterId>);

/// A statement that waits to be sent.
pub(crate) struct Asked {
    pub sql: &'static str,
    pub values: Vec<Value<'static>>,
    pub want: Want,
    pub answer: oneshot::Sender<StatementReply>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Want {
    /// How many rows it changed.
    Count,
    /// The rows of this table.
    Rows(&'static str),
}

#[derive(Debug, Clone)]
pub(crate) enum StatementReply {
    Count(u64),
    Rows(Vec<Row>),
}

/// What the use cases of a flight share.
pub(crate) struct Board {
    pub heads: Heads,
    /// The head of what the table `facts` has; later entries are in `entries`.
    pub stored_seq: u64,
    /// Sealed, and not stored yet.
    pub entries: Vec<Fact>,
    pub asked: Vec<Asked>,
    /// Who took what since the last pause; a use case is its number.
    keys: HashMap<ConflictKey, usize>,
    /// Answers that no use case of a flight can change, by their statement.
    fixed: HashMap<&'static str, Vec<Row>>,
    /// How many use cases the flight has.
    size: u64,
}

#[derive(Clone)]
pub(crate) struct Flight(Arc<Mutex<Board>>);

impl Flight {
    pub(crate) fn new(heads: Heads, size: usize) -> Self {
        Self(Arc::new(Mutex::new(Board {
            heads,
            stored_seq: heads.audit_seq,
            entries: Vec::new(),
            asked: Vec::new(),
            keys: HashMap::new(),
            fixed: HashMap::new(),
            size: size as u64,
        })))
    }

    pub(crate) fn board(&self) -> MutexGuard<'_, Board> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn know(&self, sql: &'static str, rows: Vec<Row>) {
        self.board().fixed.insert(sql, rows);
    }

    /// Nobody runs: what was written is seen by whoever begins now.
    pub(crate) fn pause(&self) {
        self.board().keys.clear();
    }

    pub(crate) fn take_asked(&self) -> Vec<Asked> {
        std::mem::take(&mut self.board().asked)
    }

    /// The entries that are to be stored.
    pub(crate) fn take_entries(&self) -> Vec<Fact> {
        let mut board = self.board();
        board.stored_seq = board.heads.audit_seq;
        std::mem::take(&mut board.entries)
    }
}

/// One use case of a flight.
pub(crate) struct FlightTx {
    flight: Flight,
    number: usize,
    pub wrote: bool,
    /// It came second: it is stopped and begins anew.
    pub is_second: bool,
}

impl FlightTx {
    pub(crate) const fn new(flight: Flight, number: usize) -> Self {
        Self {
            flight,
            number,
            wrote: false,
            is_second: false,
        }
    }

    pub(crate) fn heads(&self) -> Heads {
        self.flight.board().heads
    }

    pub(crate) fn change_heads(&mut self, change: impl FnOnce(&mut Heads)) {
        self.wrote = true;
        change(&mut self.flight.board().heads);
    }

    /// Up to where the table `facts` is the record.
    pub(crate) fn stored_seq(&self) -> u64 {
        self.flight.board().stored_seq
    }

    pub(crate) fn size(&self) -> u64 {
        self.flight.board().size
    }

    pub(crate) fn take_key(&mut self, key: ConflictKey) -> Result<(), StoreError> {
        self.assert_first()?;
        let mut board = self.flight.board();
        match board.keys.get(&key) {
            Some(holder) if *holder != self.number => {
                // It has done nothing, so what it holds is free again.
                board.keys.retain(|_, holder| *holder != self.number);
                drop(board);
                self.is_second = true;
                Err(second())
            }
            Some(_) => Ok(()),
            None => {
                board.keys.insert(key, self.number);
                Ok(())
            }
        }
    }

    /// What the table says of this subject is all that the record says; otherwise the use case begins anew.
    pub(crate) fn assert_stored(&mut self, subject: &str) -> Result<(), StoreError> {
        let board = self.flight.board();
        let mut subjects = board.entries.iter().map(|entry| &entry.subject);
        let is_stored = !subjects.any(|other| other.as_deref() == Some(subject));
        drop(board);
        if is_stored {
            return Ok(());
        }
        self.is_second = true;
        Err(second())
    }

    /// Adds an entry at the head of the chain. It is stored when the flight pauses or ends.
    pub(crate) fn append(&mut self, at: Timestamp, draft: NewFact) -> Result<Fact, StoreError> {
        self.assert_first()?;
        let mut board = self.flight.board();
        let (next, prev) = (board.heads.audit_seq + 1, board.heads.audit_hash);
        let entry = Fact::seal(draft, next, at, prev)
            .map_err(|error| StoreError::Internal(error.to_string()))?;
        board.heads.audit_seq = entry.seq;
        board.heads.audit_hash = entry.hash;
        board.entries.push(entry.clone());
        drop(board);
        self.wrote = true;
        Ok(entry)
    }

    pub(crate) async fn execute(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<u64, StoreError> {
        self.wrote = true;
        match self.ask(sql, values, Want::Count).await? {
            StatementReply::Count(count) => Ok(count),
            StatementReply::Rows(_) => Err(lost()),
        }
    }

    pub(crate) async fn query(
        &mut self,
        table: &'static str,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        match self.ask(sql, values, Want::Rows(table)).await? {
            StatementReply::Rows(rows) => Ok(rows),
            StatementReply::Count(_) => Err(lost()),
        }
    }

    /// The answer of a statement that nothing in a flight can change, if it is known.
    pub(crate) fn fixed(&self, sql: &'static str) -> Option<Vec<Row>> {
        self.flight.board().fixed.get(sql).cloned()
    }

    async fn ask(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
        want: Want,
    ) -> Result<StatementReply, StoreError> {
        self.assert_first()?;
        let (answer, answered) = oneshot::channel();
        let values = values.iter().cloned().map(Value::into_owned).collect();
        self.flight.board().asked.push(Asked {
            sql,
            values,
            want,
            answer,
        });
        answered.await.map_err(|_| lost())
    }

    fn assert_first(&self) -> Result<(), StoreError> {
        if self.is_second {
            Err(second())
        } else {
            Ok(())
        }
    }
}

/// Never an answer: whoever gets it begins anew.
fn second() -> StoreError {
    StoreError::Internal("another use case of the batch is about the same".to_owned())
}

fn lost() -> StoreError {
    StoreError::Internal("a statement was not answered".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flight() -> Flight {
        let heads = Heads {
            audit_seq: 7,
            audit_hash: Digest::of(b"7"),
            told_after: 0,
            numbered_from: 0,
            open_proposals: 0,
        };
        Flight::new(heads, 3)
    }

    #[test]
    fn whoever_comes_second_holds_nothing_and_asks_nothing_until_the_pause() {
        let flight = flight();
        let of = |number| FlightTx::new(flight.clone(), number);
        let (mut first, mut second, mut third) = (of(0), of(1), of(2));
        let target = |name: &str| ConflictKey::Target(name.to_owned());
        first.take_key(target("a")).unwrap();
        first.take_key(target("a")).unwrap();
        second.take_key(target("b")).unwrap();
        assert!(second.take_key(target("a")).is_err());
        assert!(second.is_second && !second.wrote);
        assert!(second.take_key(target("c")).is_err(), "it is stopped");
        third.take_key(target("b")).unwrap();
        assert!(flight.take_asked().is_empty());

        flight.pause();
        of(1).take_key(target("a")).unwrap();
    }

    #[test]
    fn entries_follow_each_other_and_are_not_looked_for_in_the_table() {
        let flight = flight();
        let draft = |subject: &str| NewFact {
            request_id: None,
            actor: "system".to_owned(),
            verb: "test",
            subject: Some(subject.to_owned()),
            detail: serde_json::json!({}),
            catalogue: None,
            audience: None,
        };
        let (mut first, mut second) = (
            FlightTx::new(flight.clone(), 0),
            FlightTx::new(flight.clone(), 1),
        );
        let at = Timestamp::from_ms(1);
        let one = first.append(at, draft("a")).unwrap();
        let two = second.append(at, draft("b")).unwrap();
        assert_eq!((one.seq, two.seq, two.prev), (8, 9, one.hash));
        assert_eq!((first.heads().audit_seq, first.stored_seq()), (9, 7));
        assert!(second.assert_stored("c").is_ok());
        assert!(second.assert_stored("a").is_err());

        assert_eq!(flight.take_entries(), [one, two]);
        assert_eq!(first.stored_seq(), 9);
        assert!(first.assert_stored("a").is_ok());
    }
}
