//! The database refuses a row that no state of a proposal can be, on both engines.

use rusqlite::Connection;
use void_domain::proposals::Status;
use void_testkit::proposals::pending;

use crate::engines;
use crate::proposals::insert;

/// What of a row a state needs or forbids.
const PARTS: [&str; 6] = [
    "approved_by = 'owner-cli', approved_at = 1",
    "started_at = 1, ticket_expires_at = 2, lease_until = 2",
    "ended_by = 'system', ended_at = 3",
    "result = '{}'",
    "failure_code = 'failed', failure_message = 'x'",
    "verification = 'verified', verified_at = 4, verification_detail = '{}'",
];
const WITHOUT: [&str; 6] = [
    "approved_by = NULL, approved_at = NULL",
    "started_at = NULL, ticket_expires_at = NULL, lease_until = NULL",
    "ended_by = NULL, ended_at = NULL",
    "result = NULL",
    "failure_code = NULL, failure_message = NULL",
    "verification = NULL, verified_at = NULL, verification_detail = NULL",
];

fn update(status: &str, has: [bool; 6]) -> String {
    let set: Vec<&str> = (0..6)
        .map(|part| {
            if has[part] {
                PARTS[part]
            } else {
                WITHOUT[part]
            }
        })
        .collect();
    format!(
        "UPDATE proposals SET status = '{status}', {}",
        set.join(", ")
    )
}

/// Written from what the states hold, not from the migration.
fn can_exist(status: Status, has: [bool; 6]) -> bool {
    let [approved, started, ended, result, failed, checked] = has;
    let ran = approved && started && ended;
    match status {
        Status::Pending => !approved && !started && !ended && !result && !failed && !checked,
        Status::Approved => approved && !started && !ended && !result && !failed && !checked,
        Status::Running => approved && started && !ended && !result && !failed && !checked,
        Status::Executed => ran && result && !failed,
        Status::Failed | Status::Unknown => ran && failed && !checked,
        Status::Rejected => !approved && !started && ended && !checked,
        Status::Refused => !approved && !started && ended && failed && !checked,
        Status::Cancelled => !started && ended && failed && !checked,
        Status::Expired => !started && ended && !checked,
    }
}

const STATES: [Status; 10] = [
    Status::Pending,
    Status::Approved,
    Status::Running,
    Status::Executed,
    Status::Failed,
    Status::Unknown,
    Status::Rejected,
    Status::Refused,
    Status::Cancelled,
    Status::Expired,
];

/// Every statement with whether it is to be taken.
fn every_row() -> Vec<(String, bool)> {
    let mut rows = vec![(update("odd", [false; 6]), false)];
    for status in STATES {
        for number in 0..64_u32 {
            let has = std::array::from_fn(|part| number & (1 << part) != 0);
            rows.push((update(status.as_str(), has), can_exist(status, has)));
        }
    }
    rows.extend([
        ("UPDATE proposals SET tier = 'odd'".to_owned(), false),
        ("UPDATE proposals SET risk = 'odd'".to_owned(), false),
        ("UPDATE proposals SET subject = 'odd'".to_owned(), false),
        (
            "UPDATE proposals SET requester_kind = 'odd'".to_owned(),
            false,
        ),
        ("UPDATE proposals SET approved_at = 1".to_owned(), false),
    ]);
    rows
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_no_state_can_be_is_refused() {
    let sqlite = engines::sqlite().await;
    insert(&sqlite.store, pending(1)).await;
    let db = Connection::open(sqlite.folder.path().join("void.db")).unwrap();
    let start = update("pending", [false; 6]);
    let mut taken = 0;
    for (sql, is_taken) in every_row() {
        assert_eq!(db.execute_batch(&sql).is_ok(), is_taken, "sqlite: {sql}");
        db.execute_batch(&start).unwrap();
        taken += usize::from(is_taken);
    }
    assert_eq!(taken, 27, "as many rows can exist");
    let Some(postgres) = engines::postgres().await else {
        return;
    };
    insert(&postgres.store, pending(1)).await;
    let url = postgres.url.as_ref().unwrap();
    let connected = tokio_postgres::connect(url, tokio_postgres::NoTls).await;
    let (client, connection) = connected.unwrap();
    tokio::spawn(connection);
    for (sql, is_taken) in every_row() {
        let done = client.batch_execute(&sql).await;
        assert_eq!(done.is_ok(), is_taken, "postgres: {sql}: {done:?}");
        client.batch_execute(&start).await.unwrap();
    }
}
