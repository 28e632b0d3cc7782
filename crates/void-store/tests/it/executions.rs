//! Rows of the version before executions: a database that it left behind when it was killed, with one risky request of
//! each kind, two of which ran. Each has the execution that its action has today, and the same digests.

use std::path::Path;

use rusqlite::Connection;
use void_domain::catalogue::{Catalogue, Lockout};
use void_domain::executions::{Execution, Route};
use void_domain::proposals::{Proposal, Status};
use void_store::proposals::{self, ProposalFilter};
use void_store::{SqliteConfig, Store};

const DATABASE: &str = include_str!("fixtures/before_executions.sql");
const CATALOGUE: &str = include_str!("fixtures/before_executions.json");

async fn open(folder: &Path, edit: &str) -> Vec<Proposal> {
    let path = folder.join("void.db");
    let db = Connection::open(&path).unwrap();
    db.execute_batch(DATABASE).unwrap();
    db.execute_batch(edit).unwrap();
    drop(db);
    let store = Store::open_sqlite(SqliteConfig::new(&path)).await.unwrap();
    let page = store
        .read(|tx| Box::pin(proposals::list(tx, ProposalFilter::default(), None, 100)))
        .await
        .unwrap();
    page.items
        .into_iter()
        .map(|stored| stored.proposal)
        .collect()
}

fn channel(execution: &Execution) -> String {
    match execution.route() {
        Route::Host(host) => format!("host {}", host.name),
        Route::Proxmox(power) => format!("{} {}", power.op.as_str(), power.guest_name()),
        Route::Node(node) => format!("node {node}"),
        Route::File => "file".to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_row_of_the_version_before_has_its_execution() {
    let folder = tempfile::tempdir().unwrap();
    let rows = open(folder.path(), "").await;
    let catalogue = Catalogue::parse(CATALOGUE, &Lockout::default()).unwrap();
    assert_eq!(rows.len(), catalogue.actions().len());
    let mut seen = Vec::new();
    for row in &rows {
        let subject = &row.subject;
        let action = catalogue.get(subject.action_id().unwrap()).unwrap();
        let params = action.params.check(subject.params()).unwrap();
        assert_eq!(subject.execution(), Some(&action.execution));
        assert_eq!(*subject.definition(), *action.definition());
        assert_eq!(subject.digest, action.digest_with(&params).unwrap());
        assert_eq!(subject.action().unwrap().exec_digest, action.exec_digest());
        seen.push((action.id.to_string(), channel(&action.execution)));
    }
    seen.sort();
    let expected = [
        ("deploy-shop", "node n1"),
        ("reboot-vm200", "reboot VM 200"),
        ("restart-nas", "host nas"),
        ("restart-shop", "node n1"),
        ("restart-web", "host local"),
        ("rollback-shop", "file"),
        ("scale-shop", "host nas"),
        ("shutdown-ct110", "host pve2"),
        ("stop-ct107", "stop CT 107"),
    ];
    let expected = expected.map(|(id, channel)| (id.to_owned(), channel.to_owned()));
    assert_eq!(seen, expected);
    let running = rows.iter().filter(|row| row.status() == Status::Running);
    assert_eq!(running.count(), 2);
    let of = |id: &str| {
        let row = rows
            .iter()
            .find(|row| row.subject.action_id().unwrap().as_str() == id);
        row.unwrap().subject.execution().unwrap()
    };
    let web = of("restart-web");
    assert_eq!(
        (web.timeout.as_secs(), web.verify.as_deref()),
        (300, Some("web"))
    );
    assert_eq!(of("scale-shop").replicas_param.as_deref(), Some("copies"));
}

/// It is listed, with everything that it says, and does nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_whose_definition_was_damaged_is_listed_without_an_execution() {
    for damage in [
        r#"json_set(definition, '$.action.node', 'z/../y')"#,
        r#"json_set(definition, '$.action.vmid', '107')"#,
        r#"json_remove(definition, '$.action.op')"#,
        r#"json_set(definition, '$.host', json('{"name":"nas","address":"nas.example"}'))"#,
        "'{}'",
        "'[]'",
        "'null'",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let edit =
            format!("UPDATE proposals SET definition = {damage} WHERE action_id = 'stop-ct107';");
        for row in open(folder.path(), &edit).await {
            let is_damaged = row.subject.action_id().unwrap().as_str() == "stop-ct107";
            assert_eq!(row.subject.execution().is_none(), is_damaged, "{damage}");
        }
    }
}
