//! A full disk, a read-only folder, a damaged row or file, a second process: a clear error each,
//! and nothing lost.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;
use serde_json::json;
use void_domain::facts::NewFact;
use void_store::proposals::ProposalFilter;
use void_store::{SqliteConfig, Store, StoreError, facts, installation, proposals};
use void_testkit::proposals::{NOW, pending};

use crate::engines;
use crate::migrations::release;

/// A small file system of its own, gone with the test.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(bytes: u32) -> Self {
        let folder = tempfile::tempdir().unwrap().keep();
        let size = format!("size={bytes}");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(&folder)
            .status()
            .unwrap();
        assert!(
            mounted.success(),
            "mounting needs root, as scripts/test has"
        );
        Self(folder)
    }

    fn fill(&self) {
        // dd stops when there is no room, which is the point.
        let _ = Command::new("dd")
            .args(["if=/dev/zero", "bs=4k"])
            .arg(format!("of={}", self.0.join("filler").display()))
            .output();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
        let _ = fs::remove_dir(&self.0);
    }
}

async fn note(store: &Store, bytes: usize) -> Result<u64, StoreError> {
    let draft = move || NewFact {
        request_id: None,
        actor: "system".into(),
        verb: "test",
        subject: None,
        detail: json!({"filler": "x".repeat(bytes)}),
        catalogue: None,
        audience: None,
    };
    store
        .write(move |tx| Box::pin(async move { Ok(facts::append(tx, NOW, draft()).await?.seq) }))
        .await
}

async fn close(store: &Store) -> Result<u64, StoreError> {
    store
        .write_closing(|tx| Box::pin(installation::raise_epoch(tx)))
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_refuses_new_work_and_still_closes_what_is_open() {
    let disk = SmallDisk::mount(12 * 1024 * 1024);
    let config = SqliteConfig {
        path: disk.0.join("void.db"),
        low_water_bytes: 512 * 1024,
    };
    let store = Store::open_sqlite(config).await.unwrap();
    let mut acknowledged = 0;
    for _ in 0..10 {
        acknowledged = note(&store, 100).await.unwrap();
    }
    disk.fill();
    assert_eq!(note(&store, 100).await, Err(StoreError::DiskFull));
    // The first try may find the disk full and give the reserve back; then there is room.
    let mut closed = close(&store).await;
    for _ in 0..3 {
        if closed.is_ok() {
            break;
        }
        assert_eq!(closed, Err(StoreError::DiskFull));
        closed = close(&store).await;
    }
    closed.unwrap();
    let seen = store
        .read(|tx| Box::pin(async move { Ok::<_, StoreError>(facts::head(tx).await?.0) }))
        .await;
    assert_eq!(
        seen,
        Ok(acknowledged),
        "reading goes on, and nothing acknowledged is gone"
    );

    fs::remove_file(disk.0.join("filler")).unwrap();
    assert_eq!(
        note(&store, 100).await,
        Ok(acknowledged + 1),
        "there is room again"
    );
    drop(store);
    release(&disk.0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_fills_up_in_the_middle_loses_nothing_that_was_acknowledged() {
    let disk = SmallDisk::mount(6 * 1024 * 1024);
    // No warning level: SQLite itself runs into the end of the disk.
    let config = SqliteConfig {
        path: disk.0.join("void.db"),
        low_water_bytes: 0,
    };
    let store = Store::open_sqlite(config.clone()).await.unwrap();
    let mut acknowledged = 0;
    let error = loop {
        match note(&store, 30_000).await {
            Ok(seq) => acknowledged = seq,
            Err(error) => break error,
        }
    };
    assert_eq!(error, StoreError::DiskFull);
    drop(store);
    release(&disk.0).await;
    let _ = fs::remove_file(disk.0.join("void.reserve"));
    let checked = void_store::backups::check(&config.path).unwrap();
    assert!(
        checked.audit_seq >= acknowledged,
        "{} of {acknowledged}",
        checked.audit_seq
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("missing/void.db");
    let refused = Store::open_sqlite(SqliteConfig::new(&inside)).await.err();
    assert!(
        matches!(&refused, Some(StoreError::ReadOnly(text)) if text.contains("missing")),
        "{refused:?}"
    );

    // Root ignores permission bits, so the folder is on a file system mounted read-only.
    let disk = SmallDisk::mount(4 * 1024 * 1024);
    drop(
        Store::open_sqlite(SqliteConfig {
            path: disk.0.join("void.db"),
            low_water_bytes: 0,
        })
        .await
        .unwrap(),
    );
    release(&disk.0).await;
    assert!(
        Command::new("mount")
            .args(["-o", "remount,ro"])
            .arg(&disk.0)
            .status()
            .unwrap()
            .success()
    );
    let refused = Store::open_sqlite(SqliteConfig::new(disk.0.join("void.db")))
        .await
        .err();
    assert!(
        matches!(
            refused,
            Some(StoreError::ReadOnly(_) | StoreError::Unavailable(_))
        ),
        "{refused:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_process_is_told_that_the_folder_is_taken() {
    let engine = engines::sqlite().await;
    let again = Store::open_sqlite(SqliteConfig::new(engine.folder.path().join("void.db"))).await;
    assert_eq!(again.err(), Some(StoreError::InUse));
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_and_truncated_files_are_not_opened_as_empty_ones() {
    let engine = engines::sqlite().await;
    for n in 0..50 {
        let created = pending(n);
        engine
            .store
            .write(move |tx| Box::pin(async move { proposals::insert(tx, 1, &created).await }))
            .await
            .unwrap();
    }
    let copy = engine.folder.path().join("copy.db");
    void_store::backups::create(&engine.store, &copy)
        .await
        .unwrap();
    let whole = fs::read(&copy).unwrap();
    for (name, bytes) in [
        ("garbage", vec![b'x'; 8192]),
        ("truncated", whole[..whole.len() / 2].to_vec()),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("void.db");
        fs::write(&path, &bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let checked = void_store::backups::check(&path);
        assert!(checked.is_err(), "{name}: {checked:?}");
        if name == "garbage" {
            let opened = Store::open_sqlite(SqliteConfig::new(&path)).await.err();
            assert!(
                matches!(opened, Some(StoreError::Corrupt { .. })),
                "{name}: {opened:?}"
            );
            assert_eq!(
                fs::read(&path).unwrap(),
                bytes,
                "{name}: the evidence was touched"
            );
        }
    }
}

/// Each edit makes a row that no proposal can be.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_cannot_exist_is_named_and_nothing_is_guessed() {
    let edits = [
        "tier = 'harmless'",
        "risk = 'none'",
        "status = 'done'",
        "digest = 'x'",
        "exec_digest = upper(exec_digest)",
        "definition = '{'",
        "params = 'null x'",
        "taint = '{}'",
        "action_id = '-rf'",
        "code = 'U'",
        "requester_kind = 'root'",
        "requester_id = '../etc'",
        "asked_count = -1",
        "status = 'running'",
        "status = 'approved'",
        "approved_by = 'x', approved_at = 1",
        "started_at = 1",
        "status = 'executed'",
        "status = 'cancelled', ended_by = 'x', ended_at = 1, failure_code = 'y', failure_message = 'z'",
    ];
    for edit in edits {
        let engine = engines::sqlite().await;
        let created = pending(1);
        let id = created.proposal.id;
        engine
            .store
            .write(move |tx| Box::pin(async move { proposals::insert(tx, 1, &created).await }))
            .await
            .unwrap();
        tamper(
            &engine.folder.path().join("void.db"),
            &format!("UPDATE proposals SET {edit}"),
        );
        let found = engine
            .store
            .read(move |tx| Box::pin(proposals::find(tx, id)))
            .await;
        assert!(
            matches!(&found, Err(StoreError::Corrupt { table: "proposals", id: named, .. }) if *named == id.to_string()),
            "{edit}: {found:?}"
        );
    }
}

/// What is wrong is said by the name of its column; the others are listed, and a page that ends with a damaged row is
/// continued behind it.
#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_row_is_left_out_of_a_list_and_ends_no_page() {
    let engine = engines::sqlite().await;
    let ids: Vec<_> = (0..5).map(|n| pending(n).proposal.id).collect();
    for n in 0..5 {
        let created = pending(n);
        let inserted = engine
            .store
            .write(move |tx| Box::pin(async move { proposals::insert(tx, 1, &created).await }));
        inserted.await.unwrap();
    }
    let path = engine.folder.path().join("void.db");
    let edit = format!(
        "UPDATE proposals SET tier = 'harmless' WHERE id = '{}'",
        ids[3]
    );
    tamper(&path, &edit);
    let damaged = ids[3];
    let found = engine
        .store
        .read(move |tx| Box::pin(proposals::find(tx, damaged)));
    let what = "column tier does not hold what it should";
    assert_eq!(
        found.await,
        Err(StoreError::corrupt("proposals", damaged, what))
    );
    let (mut seen, mut cursor) = (Vec::new(), None);
    for page in 0..3 {
        let filter = ProposalFilter::default();
        let listed = engine
            .store
            .read(move |tx| Box::pin(proposals::list(tx, filter, cursor, 2)));
        let listed = listed.await.unwrap();
        seen.extend(listed.items.iter().map(|stored| stored.proposal.id));
        assert_eq!(listed.next.is_some(), page < 2);
        cursor = listed.next.map(|next| next.parse().unwrap());
    }
    assert_eq!(seen, [ids[4], ids[2], ids[1], ids[0]]);
}

/// As an intruder with the file would: constraints off.
fn tamper(path: &Path, sql: &str) {
    let db = Connection::open(path).unwrap();
    db.execute_batch("PRAGMA ignore_check_constraints = ON")
        .unwrap();
    db.execute_batch(sql).unwrap();
}
