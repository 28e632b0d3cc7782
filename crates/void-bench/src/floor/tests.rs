//! The floor is only a floor if every answer is a row of its own, found by one index, with an audit row a step.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use void_testkit::{eventually, free_port};

use super::FILE;
use crate::load::{Crowd, Operation};

const CLIENTS: usize = 8;
/// What the crowd does in one go.
const ROUND: Duration = Duration::from_millis(100);

fn number(file: &Path, sql: &str) -> usize {
    let connection = Connection::open(file).unwrap();
    let found: i64 = connection.query_row(sql, [], |row| row.get(0)).unwrap();
    usize::try_from(found).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_is_a_row_and_every_step_an_audit_row() {
    let folder = tempfile::tempdir().unwrap();
    let (path, port) = (folder.path().to_owned(), free_port());
    let served = tokio::spawn(async move { super::serve(&path, port).await });
    let mut crowd = eventually("the floor to listen", || async {
        let address = ([127, 0, 0, 1], port).into();
        Crowd::open(address, CLIENTS).await.ok()
    })
    .await;
    crowd.round(Operation::Run, ROUND).await.unwrap();
    crowd.round(Operation::Queue, ROUND).await.unwrap();
    while crowd.answers.approve * 2 < crowd.answers.queue {
        crowd.round(Operation::Approve, ROUND / 20).await.unwrap();
    }
    let answers = crowd.answers;
    served.abort();
    assert!(answers.run > 0 && answers.approve > 0, "{answers:?}");
    let file = folder.path().join(FILE);
    let of = |sql: &str| number(&file, sql);
    assert_eq!(
        of("SELECT COUNT(*) FROM wishes"),
        answers.run + answers.queue
    );
    assert_eq!(
        of("SELECT COUNT(*) FROM wishes WHERE status = 'executed' AND result IS NOT NULL"),
        answers.run + answers.approve
    );
    // A safe wish and a decision are claimed and then ended; a risky wish is queued.
    assert_eq!(
        of("SELECT COUNT(*) FROM audit"),
        2 * answers.run + answers.queue + 2 * answers.approve
    );
    // Nothing of Void's store is in its way.
    assert_eq!(
        of("SELECT COUNT(*) FROM sqlite_schema WHERE type = 'table'"),
        2
    );
    assert_eq!(
        of("SELECT COUNT(*) FROM sqlite_schema WHERE type = 'index'"),
        1
    );
}

/// Its updates are guarded as Void's are.
#[test]
fn what_cannot_be_claimed_is_not_answered() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let writer = super::writer::Writer::start(&folder.path().join(FILE)).unwrap();
        assert!(
            !writer
                .write(super::rows::Step::Claim("nobody".to_owned()))
                .await
        );
    });
}
