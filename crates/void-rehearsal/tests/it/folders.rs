//! A lab's folder: private, locked while the lab lives, gone with it, and swept after a kill.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use void_rehearsal::folder;
use void_rehearsal::services::{self, ServiceKind};

use crate::lab::eventually;
use crate::processes::{self, as_process, is_running, pid_of};

#[test]
fn a_folder_is_private_and_locked() {
    let base = tempfile::tempdir().unwrap();
    let base = base.path().join("new/labs");
    let (one, two) = (
        folder::create(&base).unwrap(),
        folder::create(&base).unwrap(),
    );
    assert_ne!(one.path(), two.path());
    for path in [one.path(), &base] {
        assert_eq!(
            fs::metadata(path).unwrap().permissions().mode() & 0o777,
            0o700
        );
    }
    let alive = File::open(one.path().join("alive")).unwrap();
    assert!(matches!(alive.try_lock(), Err(TryLockError::WouldBlock)));
    let path = one.path().to_owned();
    drop(one);
    assert!(!path.exists() && two.path().exists());
    assert!(alive.try_lock().is_ok());
}

#[test]
fn dropping_a_folder_ends_its_services() {
    let base = tempfile::tempdir().unwrap();
    let lab = folder::create(base.path()).unwrap();
    let (program, args) = as_process("service");
    let names = ["one", "two", "three"];
    for name in names {
        services::prepare(lab.path(), name, ServiceKind::Http).unwrap();
        services::start(lab.path(), name, &program, &args).unwrap();
    }
    let pids = names.map(|name| pid_of(lab.path(), name));
    assert!(pids.into_iter().all(is_running));
    let path = lab.path().to_owned();
    drop(lab);
    assert!(!pids.into_iter().any(is_running) && !path.exists());
}

#[test]
fn sweeping_removes_what_is_nobodys_and_nothing_else() {
    let base = tempfile::tempdir().unwrap();
    let base = base.path();
    assert_eq!(folder::sweep(&base.join("none")).unwrap(), 0);
    let living = folder::create(base).unwrap();
    for name in ["lab-1-2-3", "lab-without-alive", "other"] {
        fs::create_dir(base.join(name)).unwrap();
    }
    fs::write(base.join("lab-1-2-3/alive"), "").unwrap();
    fs::write(base.join("lab-file"), "").unwrap();
    symlink(base.join("other"), base.join("lab-link")).unwrap();
    // One whose lock cannot be looked at.
    fs::create_dir(base.join("lab-0-0-0")).unwrap();
    symlink("alive", base.join("lab-0-0-0/alive")).unwrap();
    assert_eq!(folder::sweep(base).unwrap(), 2);
    assert!(living.path().exists());
    let kept: Vec<bool> = [
        "other",
        "lab-file",
        "lab-link",
        "lab-0-0-0",
        "lab-1-2-3",
        "lab-without-alive",
    ]
    .map(|name| base.join(name).symlink_metadata().is_ok())
    .to_vec();
    assert_eq!(kept, [true, true, true, true, false, false]);
    assert_eq!(folder::sweep(base).unwrap(), 0);
}

#[test]
fn a_folder_is_not_removed_while_others_are_swept() {
    let base = tempfile::tempdir().unwrap();
    let lab = folder::create(base.path()).unwrap();
    let alive = lab.path().join("alive");
    let sweeping = File::open(base.path().join(".lock")).unwrap();
    sweeping.lock().unwrap();
    let (sender, receiver) = mpsc::channel();
    let removing = std::thread::spawn(move || {
        drop(lab);
        sender.send(()).unwrap();
    });
    assert!(receiver.recv_timeout(Duration::from_millis(200)).is_err());
    assert!(alive.exists());
    drop(sweeping);
    removing.join().unwrap();
    assert!(!alive.exists());
}

#[test]
fn nothing_survives_the_kill_of_a_lab() {
    let base = tempfile::tempdir().unwrap();
    let mut lab = processes::spawn("lab", &[base.path()]);
    let folder: PathBuf = eventually("the lab", || {
        fs::read_to_string(base.path().join("ready"))
            .ok()
            .filter(|path| !path.is_empty())
    })
    .into();
    let pids = ["web", "dns", "mail"].map(|name| pid_of(&folder, name));
    assert!(pids.into_iter().all(is_running));
    assert!(services::is_up(&folder, "web"));
    assert_eq!(folder::sweep(base.path()).unwrap(), 0);

    lab.kill().unwrap();
    lab.wait().unwrap();
    eventually("the services to end", || {
        (!pids.into_iter().any(is_running)).then_some(())
    });
    assert!(folder.exists());

    // Nothing can be started in a lab that is gone.
    let (program, args) = as_process("service");
    assert!(services::restart(&folder, "web", &program, &args).is_err());
    assert_eq!(folder::sweep(base.path()).unwrap(), 1);
    assert!(!folder.exists());
}

#[test]
fn the_base_goes_with_the_last_lab_and_with_nothing_else_in_it() {
    let outside = tempfile::tempdir().unwrap();
    let base = outside.path().join("labs");
    let (one, two) = (
        folder::create(&base).unwrap(),
        folder::create(&base).unwrap(),
    );
    drop(one);
    assert!(base.exists(), "another lab is in it");
    drop(two);
    assert!(!base.exists());
    let lab = folder::create(&base).unwrap();
    fs::write(base.join("notes"), "somebody's").unwrap();
    drop(lab);
    assert_eq!(
        fs::read_to_string(base.join("notes")).unwrap(),
        "somebody's"
    );
}

/// Whoever comes while the last one leaves finds a base, or makes one.
#[test]
fn labs_come_and_go_at_the_same_time() {
    const AT_ONCE: usize = 4;
    const ROUNDS: usize = 25;
    let outside = tempfile::tempdir().unwrap();
    let base = outside.path().join("labs");
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    folder::sweep(&base).unwrap();
                    let lab = folder::create(&base).unwrap();
                    assert!(lab.path().join("alive").exists());
                }
            });
        }
    });
    assert!(!base.exists());
}
