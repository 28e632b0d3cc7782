use super::*;

const T0: u64 = 1_800_000_000_000;

fn begun(n: u64) -> Begun {
    let at = Moment {
        wall_ms: T0 + n,
        boot: "b".to_owned(),
        up_ms: n,
    };
    Begun { at, recorded: None }
}

fn now(n: u64) -> Moment {
    begun(n).at
}

fn count(path: &Path) -> usize {
    Starts::read(path).unwrap().moments().count()
}

#[test]
fn what_is_taken_back_or_torn_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let mut locked = LockedStarts::lock(&path).unwrap();
    locked.add(&begun(1), Lasts::PowerCut).unwrap();
    drop(locked);
    let mut locked = LockedStarts::lock(&path).unwrap();
    locked.add(&begun(2), Lasts::Crash).unwrap();
    assert_eq!(count(&path), 2);
    locked.take_back();
    drop(locked);
    assert_eq!(count(&path), 1);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, [&whole[..], b"{\"at\":"].concat()).unwrap();
    assert_eq!(count(&path), 1);
    let mut locked = LockedStarts::lock(&path).unwrap();
    locked.add(&begun(3), Lasts::PowerCut).unwrap();
    drop(locked);
    assert_eq!(count(&path), 2);
    fs::write(&path, [b"#\n", &whole[..]].concat()).unwrap();
    assert!(matches!(Starts::read(&path), Err(Fault::Damaged)));
    assert!(matches!(LockedStarts::lock(&path), Err(Fault::Damaged)));
}

#[test]
fn only_what_a_cap_could_ask_for_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let fill = |counts: u64| {
        let lines: Vec<Vec<u8>> = (0..counts).map(|n| line_of(&begun(n))).collect();
        let _ = fs::remove_file(&path);
        files::open_private(OpenOptions::new().write(true).create(true), &path)
            .unwrap()
            .write_all(&lines.concat())
            .unwrap();
    };
    let compacted = |cap: usize, at: u64| {
        let mut locked = LockedStarts::lock(&path).unwrap();
        locked.compact(cap, &now(at)).unwrap();
        locked.add(&begun(at), Lasts::PowerCut).unwrap();
        drop(locked);
        count(&path)
    };
    fill(512);
    assert_eq!(compacted(1, 1000), 513);
    assert_eq!(compacted(1, 1000), 257);
    fill(2000);
    assert_eq!(compacted(1500, 3000), 2001);
    assert_eq!(compacted(900, 3000), 901);
    // A day later only the last one counts, for a cooldown that is longer.
    fill(2000);
    assert_eq!(compacted(900, 2000 + DAY_MS), 2);
}

/// Who waits for the lock of a file that is replaced meanwhile must not count in the old one.
#[test]
fn waiting_for_a_file_that_is_replaced_ends_at_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let path = path.clone();
            thread::spawn(move || {
                for n in 0..100 {
                    // On a loaded machine its turn may take longer than a run would wait.
                    let mut locked = loop {
                        match LockedStarts::lock(&path) {
                            Err(Fault::Busy) => {}
                            other => break other.unwrap(),
                        }
                    };
                    locked.compact(300, &now(n)).unwrap();
                    locked.add(&begun(n), Lasts::Crash).unwrap();
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    // 800 starts with a compaction to 300 at 601.
    assert_eq!(count(&path), 300 + 800 - 601);
}
