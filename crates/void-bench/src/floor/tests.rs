//! The floor is only a floor if it writes what Void writes.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use void_testkit::{eventually, free_port};

use crate::load::{Crowd, Operation};
use crate::subject::{self, Engine};

const TABLES: [&str; 2] = ["proposals", "facts"];
const CLIENTS: usize = 8;
/// How much longer or shorter the floor's rows of a table may be.
const BYTES_APART_MAX: f64 = 0.1;

/// Rows and bytes per operation and table; `server.started` is not part of any.
fn written(file: &Path, operations: usize) -> Vec<(f64, f64)> {
    let connection = Connection::open(file).unwrap();
    let of = |table: &str| {
        let names = format!(
            "SELECT group_concat('COALESCE(length(' || name || '), 0)', ' + ') FROM pragma_table_info('{table}')"
        );
        let lengths: String = connection.query_row(&names, [], |row| row.get(0)).unwrap();
        let own = if table == "facts" {
            "verb LIKE 'proposal.%'"
        } else {
            "TRUE"
        };
        let sql = format!("SELECT COUNT(*), SUM({lengths}) FROM {table} WHERE {own}");
        let (rows, bytes): (f64, f64) = connection
            .query_row(&sql, [], |row| {
                Ok((row.get::<_, i64>(0)? as f64, row.get::<_, i64>(1)? as f64))
            })
            .unwrap();
        (rows / operations as f64, bytes / rows)
    };
    TABLES.map(of).to_vec()
}

async fn crowd(port: u16) -> Crowd {
    let address = ([127, 0, 0, 1], port).into();
    eventually("the server to listen", || async {
        Crowd::open(address, CLIENTS).await.ok()
    })
    .await
}

/// Works until something has been done, and says how often.
async fn work(crowd: &mut Crowd, operation: Operation) -> usize {
    crowd
        .round(operation, Duration::from_millis(100))
        .await
        .unwrap()
        .answers
}

#[tokio::test(flavor = "multi_thread")]
async fn the_floor_writes_what_void_writes() {
    for operation in [Operation::Queue, Operation::Run, Operation::Approve] {
        let (void, floor) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (void_path, floor_path) = (void.path().to_owned(), floor.path().to_owned());
        let ports = (free_port(), free_port());
        let served = [
            tokio::spawn(async move { subject::serve(&Engine::Sqlite, &void_path, ports.0).await }),
            tokio::spawn(async move { super::serve(&floor_path, ports.1).await }),
        ];
        let mut per_operation = Vec::new();
        for (port, folder) in [(ports.0, void.path()), (ports.1, floor.path())] {
            let mut crowd = crowd(port).await;
            if operation == Operation::Approve {
                // Until everything that waits is approved.
                work(&mut crowd, Operation::Queue).await;
                while work(&mut crowd, Operation::Approve).await > 0 {}
            } else {
                work(&mut crowd, operation).await;
            }
            let answers = crowd.answers;
            let done = answers.run + answers.queue;
            assert!(done > 0);
            per_operation.push(written(&folder.join("void.db"), done));
        }
        for task in served {
            task.abort();
        }
        let of_floor = per_operation.pop().unwrap();
        let of_void = per_operation.pop().unwrap();
        for (table, (void, floor)) in TABLES.iter().zip(of_void.iter().zip(&of_floor)) {
            let what = format!(
                "{table} of {}: Void {void:?}, floor {floor:?}",
                operation.as_str()
            );
            println!("{what}");
            assert!((void.0 - floor.0).abs() < 1e-9, "{what}");
            assert!((floor.1 / void.1 - 1.0).abs() < BYTES_APART_MAX, "{what}");
        }
    }
}
