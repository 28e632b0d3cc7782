//! The pilot of a flight ([`crate::tx::flights`]): lets use cases run until all of them wait for the server, sends
//! what they ask for in one go, and hands out the answers.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::task::Poll;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, poll_fn, try_join_all};
use tokio::sync::oneshot;
use tokio::task::unconstrained;

use crate::errors::StoreError;
use crate::facts;
use crate::tx::flights::{Asked, Flight, FlightTx, StatementReply, Want};
use crate::tx::{Engine, PostgresTx, Tx};
use crate::values::Value;
use crate::writer::{Done, Job};

/// How often all that are left run together. Whoever came second every time runs alone then: a crowd that is about
/// one thing would begin anew as often as it is large.
const ROUNDS_TOGETHER_MAX: usize = 4;

/// Runs all of them. `Err`: nobody's writes may be kept, and nobody was answered.
pub(super) async fn fly(
    connection: &PostgresTx,
    flight: &Flight,
    jobs: &mut [Box<dyn Job>],
) -> Result<Vec<Done>, StoreError> {
    let mut done = Vec::with_capacity(jobs.len());
    let mut waits = vec![true; jobs.len()];
    let mut rounds = 0;
    while waits.contains(&true) {
        if rounds > 0 {
            store_entries(connection, flight).await?;
            flight.pause();
        }
        rounds += 1;
        let together = if rounds <= ROUNDS_TOGETHER_MAX {
            usize::MAX
        } else {
            1
        };
        let due = jobs.iter_mut().enumerate().zip(&waits);
        let due = due.filter(|(_, waits)| **waits).take(together);
        let (numbers, running): (Vec<usize>, Vec<_>) = due
            .map(|((number, job), _)| (number, run(flight, number, job)))
            .unzip();
        for (number, ended) in numbers
            .into_iter()
            .zip(lockstep(connection, flight, running).await?)
        {
            if ended.is_second && !ended.wrote {
                continue;
            }
            if let Some(place) = waits.get_mut(number) {
                *place = false;
            }
            match ended.done {
                Some(ran) if !ended.is_second && (ran.keep || !ended.wrote) => done.push(ran),
                // Its caller is told that it did not finish, when it is dropped.
                None if !ended.wrote => tracing::error!("a use case panicked"),
                _ => return Err(failed_after_writing()),
            }
        }
    }
    Ok(done)
}

/// Only its own writes are to be rolled back, which takes a savepoint.
fn failed_after_writing() -> StoreError {
    StoreError::Internal("a use case failed after it had written".to_owned())
}

/// How a use case ended.
struct Ended {
    /// `None`: it panicked.
    done: Option<Done>,
    wrote: bool,
    is_second: bool,
}

fn run<'j>(flight: &Flight, number: usize, job: &'j mut Box<dyn Job>) -> BoxFuture<'j, Ended> {
    let own = FlightTx::new(flight.clone(), number);
    // All of them are polled in one task: its budget would let only the first so many see their answers.
    Box::pin(unconstrained(async move {
        let mut tx = Tx::new(Engine::Flight(own));
        let ran = AssertUnwindSafe(job.run(&mut tx)).catch_unwind().await;
        let (wrote, is_second) = match tx.engine() {
            Engine::Flight(own) => (own.wrote, own.is_second),
            Engine::Sqlite(_) | Engine::Postgres(_) => (true, false),
        };
        Ended {
            done: ran.ok(),
            wrote,
            is_second,
        }
    }))
}

/// How each of them ended, in their order.
async fn lockstep(
    connection: &PostgresTx,
    flight: &Flight,
    running: Vec<BoxFuture<'_, Ended>>,
) -> Result<Vec<Ended>, StoreError> {
    let mut steps: Vec<Step<'_>> = running.into_iter().map(Step::Runs).collect();
    loop {
        let asked = poll_fn(|cx| {
            let mut all_ended = true;
            for step in &mut steps {
                if let Step::Runs(future) = step {
                    match future.poll_unpin(cx) {
                        Poll::Ready(ended) => *step = Step::Ended(ended),
                        Poll::Pending => all_ended = false,
                    }
                }
            }
            let asked = flight.take_asked();
            if asked.is_empty() && !all_ended {
                return Poll::Pending;
            }
            Poll::Ready(asked)
        })
        .await;
        if asked.is_empty() {
            break;
        }
        send(connection, asked).await?;
    }
    let ended = steps.into_iter().filter_map(|step| match step {
        Step::Ended(ended) => Some(ended),
        Step::Runs(_) => None,
    });
    Ok(ended.collect())
}

enum Step<'j> {
    Runs(BoxFuture<'j, Ended>),
    Ended(Ended),
}

/// Equal statements of several use cases.
struct Group {
    sql: &'static str,
    want: Want,
    sets: Vec<Vec<Value<'static>>>,
    /// Who waits for the answer to each set.
    waiting: Vec<Vec<oneshot::Sender<StatementReply>>>,
    /// Where in `sets` the values of a question stand. Its own: a position says nothing in another group.
    places: HashMap<Vec<Value<'static>>, usize>,
}

impl Group {
    fn new(sql: &'static str, want: Want) -> Self {
        Self {
            sql,
            want,
            sets: Vec::new(),
            waiting: Vec::new(),
            places: HashMap::new(),
        }
    }

    /// What is read twice is asked for once; what writes is done as often as it was asked for.
    fn add(&mut self, values: Vec<Value<'static>>, answer: oneshot::Sender<StatementReply>) {
        if self.want != Want::Count {
            let place = *self.places.entry(values.clone()).or_insert(self.sets.len());
            if let Some(waiting) = self.waiting.get_mut(place) {
                waiting.push(answer);
                return;
            }
        }
        self.sets.push(values);
        self.waiting.push(vec![answer]);
    }

    /// The answers to `sets`, in their order.
    fn hand_out(self, replies: Vec<StatementReply>) {
        for (mut waiting, reply) in self.waiting.into_iter().zip(replies) {
            let last = waiting.pop();
            for answer in waiting {
                // Whoever is gone has panicked.
                let _ = answer.send(reply.clone());
            }
            if let Some(answer) = last {
                let _ = answer.send(reply);
            }
        }
    }
}

/// Nobody depends on the order of what is sent in one go: whoever would has the key or waits.
async fn send(connection: &PostgresTx, asked: Vec<Asked>) -> Result<(), StoreError> {
    let sending = groups(asked).into_iter().map(|group| async move {
        let replies = connection.many(group.sql, group.want, &group.sets).await?;
        group.hand_out(replies);
        Ok::<_, StoreError>(())
    });
    try_join_all(sending).await.map(drop)
}

/// In the order in which they were first asked for. Statements are equal by their text: a constant may lie at several
/// addresses, one for each part of the program that the compiler made by itself.
fn groups(asked: Vec<Asked>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for Asked {
        sql,
        values,
        want,
        answer,
    } in asked
    {
        let same = |group: &&mut Group| group.want == want && group.sql == sql;
        if let Some(group) = groups.iter_mut().find(same) {
            group.add(values, answer);
            continue;
        }
        let mut group = Group::new(sql, want);
        group.add(values, answer);
        groups.push(group);
    }
    groups
}

/// What was sealed since the last time is in the table: whoever begins now may look it up.
async fn store_entries(connection: &PostgresTx, flight: &Flight) -> Result<(), StoreError> {
    let entries = flight.take_entries();
    let rows = facts::sealed_rows(&entries);
    connection
        .many(facts::INSERT_SEALED, Want::Count, &rows)
        .await
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQL: &str = "SELECT name FROM agents WHERE id = $1";

    /// The same text at an address of its own.
    fn elsewhere() -> &'static str {
        SQL.to_owned().leak()
    }

    struct Question {
        id: i64,
        want: Want,
        answered: oneshot::Receiver<StatementReply>,
    }

    fn ask(questions: &[(&'static str, Want, i64)]) -> (Vec<Asked>, Vec<Question>) {
        let ask = |&(sql, want, id): &(&'static str, Want, i64)| {
            let (answer, answered) = oneshot::channel();
            let values = vec![Value::from(id)];
            let asked = Asked {
                sql,
                values,
                want,
                answer,
            };
            (asked, Question { id, want, answered })
        };
        questions.iter().map(ask).unzip()
    }

    /// Answers each set with its own value, and looks whether everybody was told about what they asked for.
    fn answer_all(groups: Vec<Group>, questions: Vec<Question>) {
        for group in groups {
            let id = |set: &Vec<Value<'_>>| match set[..] {
                [Value::Int(id)] => StatementReply::Count(u64::try_from(id).unwrap()),
                _ => panic!("nobody asked for this: {set:?}"),
            };
            let replies = group.sets.iter().map(id).collect();
            group.hand_out(replies);
        }
        for Question {
            id,
            want,
            mut answered,
        } in questions
        {
            match answered.try_recv() {
                Ok(StatementReply::Count(told)) => {
                    assert_eq!(told, u64::try_from(id).unwrap(), "{want:?}");
                }
                other => panic!("{id} {want:?}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_text_at_two_addresses_is_one_statement_and_nobody_gets_the_answer_of_another() {
        let (here, there) = (elsewhere(), elsewhere());
        assert!(
            !std::ptr::eq(here, there),
            "the test is about two addresses"
        );
        let rows = Want::Rows("agents");
        let (asked, questions) = ask(&[
            (here, rows, 1),
            (here, rows, 2),
            (there, rows, 3),
            (there, rows, 2),
            (there, rows, 1),
            (here, rows, 3),
            (there, rows, 4),
        ]);
        let groups = groups(asked);
        let sizes: Vec<usize> = groups.iter().map(|group| group.sets.len()).collect();
        assert_eq!(sizes, [4], "what is read twice is asked for once");
        answer_all(groups, questions);
    }

    /// Rows are read as rows of a table: the same text for another table is another question.
    #[test]
    fn a_text_that_is_wanted_in_two_ways_is_two_statements_with_answers_of_their_own() {
        let (agents, others) = (Want::Rows("agents"), Want::Rows("others"));
        let (asked, questions) = ask(&[
            (SQL, agents, 1),
            (SQL, agents, 2),
            (SQL, others, 3),
            (SQL, others, 2),
            (SQL, others, 1),
        ]);
        let groups = groups(asked);
        let sizes: Vec<usize> = groups.iter().map(|group| group.sets.len()).collect();
        assert_eq!(sizes, [2, 3]);
        answer_all(groups, questions);
    }

    #[test]
    fn what_writes_is_done_as_often_as_it_was_asked_for() {
        let (here, there) = (elsewhere(), elsewhere());
        let (asked, questions) = ask(&[(here, Want::Count, 1), (there, Want::Count, 1)]);
        let groups = groups(asked);
        let sizes: Vec<usize> = groups.iter().map(|group| group.sets.len()).collect();
        assert_eq!(sizes, [2]);
        answer_all(groups, questions);
    }
}
