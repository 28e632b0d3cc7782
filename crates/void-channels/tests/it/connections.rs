//! Shared connections: few of them, none that is not ours, none that stays.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::Path;

use serde_json::json;
use void_channels::{Channel as _, Evidence, Outcome};
use void_domain::freezes::FreezeSwitch;
use void_testkit::processes::{Signal, processes_about, signal};
use void_testkit::sshd::Sshd;

use crate::lab::{Lab, Listed, channels, done, failed, usual, wait_until, within};

/// As many actions as this, each with an argv of its own.
fn numbered(count: usize) -> Vec<Listed> {
    let argv = |n: usize| {
        json!([
            "/bin/sh",
            "-c",
            "sleep 0.2; \"$0\" \"$1\"",
            "@/effect",
            format!("n{n}")
        ])
    };
    (0..count)
        .map(|n| Listed::risky(&format!("act-{n}"), argv(n)))
        .collect()
}

async fn run_all_at_once(lab: &Lab, count: usize) -> Vec<Outcome> {
    let tasks: Vec<_> = (0..count)
        .map(|n| lab.start(&lab.running(&format!("act-{n}"), &json!({}))))
        .collect();
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(within(60, task).await.unwrap());
    }
    outcomes
}

/// With the limits that Debian's sshd has by itself: 10 sessions per connection, 10 logins at once.
#[tokio::test(flavor = "multi_thread")]
async fn thirty_at_once_share_a_few_connections() {
    let lab = Lab::new(&numbered(30));
    for outcome in run_all_at_once(&lab, 30).await {
        done(outcome);
    }
    let effects: BTreeSet<String> = lab.effects().into_iter().collect();
    let expected: BTreeSet<String> = (0..30).map(|n| format!("@/effect|n{n}|")).collect();
    assert_eq!((effects, lab.effects().len()), (expected, 30));
    assert!(
        (1..=4).contains(&lab.sshd.logins()),
        "{}",
        lab.sshd.logins()
    );
    assert!(lab.masters().len() <= 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_at_once_and_all_that_follow_share_one_connection() {
    let lab = Lab::new(&numbered(8));
    for _ in 0..3 {
        for outcome in run_all_at_once(&lab, 8).await {
            done(outcome);
        }
    }
    assert_eq!((lab.sshd.logins(), lab.effects().len()), (1, 24));
}

/// A host that takes fewer sessions refuses the rest, and that is known to have sent nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_takes_fewer_sessions_is_asked_again() {
    let sshd = Sshd::with_options(&["MaxSessions=2"]);
    let lab = Lab::behind(sshd, &numbered(8));
    for outcome in run_all_at_once(&lab, 8).await {
        done(outcome);
    }
    lab.wait_until_quiet().await;
    assert_eq!(lab.effects().len(), 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_behind_but_the_idle_connection() {
    let lab = Lab::new(&numbered(8));
    for outcome in run_all_at_once(&lab, 8).await {
        done(outcome);
    }
    failed(
        {
            lab.sshd.write("stop", "", 0o644);
            lab.run("act-0").await
        },
        "stopped_on_host",
    );
    let left = processes_about(lab.client.path());
    let [master] = &left[..] else {
        panic!("one connection: {left:?}");
    };
    // It ends by itself when it has had nothing to do for a minute, whatever becomes of us.
    assert!(master.line.contains("ControlPersist=60"), "{master:?}");
    assert!(master.line.contains("-N -f"), "{master:?}");
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(lab.run_folder()).unwrap() {
        let entry = entry.unwrap();
        let metadata = fs::symlink_metadata(entry.path()).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o077, 0, "{entry:?}");
        let name = entry.file_name().into_string().unwrap();
        names.insert(if metadata.file_type().is_socket() {
            "a socket".to_owned()
        } else {
            name.split_once('.').unwrap().0.to_owned()
        });
    }
    assert_eq!(
        names,
        BTreeSet::from(["a socket".to_owned(), "keys".to_owned()])
    );
    let beside: BTreeSet<String> = fs::read_dir(lab.client.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(beside, BTreeSet::from(["run".to_owned()]));
    // When the connection ends, its socket goes with it.
    lab.sshd.cut();
    wait_until("the connection to end", || {
        processes_about(lab.client.path()).is_empty()
    })
    .await;
    let sockets = fs::read_dir(lab.run_folder()).unwrap().flatten();
    let sockets = sockets.filter(|entry| entry.file_type().unwrap().is_socket());
    assert_eq!(sockets.count(), 0);
}

/// The process that held the connection ends between the look at its socket and the question: `ssh` finds
/// nobody, tries a connection of its own, and has no key for it. A question can be asked twice.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_over_a_connection_that_just_ended_is_asked_again() {
    let lab = Lab::new(&usual());
    let running = lab.running("stop-it", &json!({}));
    done(lab.execute(&running).await);
    for master in lab.masters() {
        signal(master.pid, Signal::KILL);
    }
    let sockets = fs::read_dir(lab.run_folder()).unwrap().flatten();
    let mut sockets = sockets.filter(|entry| entry.file_type().unwrap().is_socket());
    let socket = sockets.next().unwrap().path();
    fs::remove_file(&socket).unwrap();
    // Somebody accepts, and whoever speaks is cut off.
    let listener = tokio::net::UnixListener::bind(&socket).unwrap();
    let accepting = tokio::spawn(async move { while listener.accept().await.is_ok() {} });
    let evidence = lab.settle(&running).await;
    accepting.abort();
    assert!(matches!(evidence, Evidence::Done { .. }), "{evidence:?}");
    assert_eq!((lab.effects().len(), lab.sshd.logins()), (1, 2));
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "deep"), ignore = "deep run")]
async fn an_idle_connection_ends_after_a_minute() {
    let lab = Lab::new(&usual());
    done(lab.run("stop-it").await);
    let [master] = &lab.masters()[..] else {
        panic!("one connection");
    };
    let begun = std::time::Instant::now();
    while void_testkit::processes::is_running(master.pid) {
        assert!(begun.elapsed().as_secs() < 90);
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    }
    assert!(begun.elapsed().as_secs() >= 50);
    assert!(processes_about(lab.client.path()).is_empty());
    done(lab.run("start-it").await);
}

/// A restart of Void, or a second one on the same folder, has connections of its own.
#[tokio::test(flavor = "multi_thread")]
async fn two_instances_do_not_take_each_others_connections() {
    let lab = Lab::new(&usual());
    let other = channels(&lab.catalogue, &lab.sshd, lab.client.path());
    let run_other = async || {
        let running = lab.running("start-it", &json!({}));
        done(
            other
                .execute(lab.permit(&running, FreezeSwitch::default()))
                .await,
        );
    };
    done(lab.run("stop-it").await);
    let first = lab.masters();
    run_other().await;
    assert_eq!((lab.masters().len(), lab.sshd.logins()), (2, 2));
    // The end of one, clean or not, leaves the other alone.
    signal(first[0].pid, Signal::TERM);
    wait_until("it to end", || lab.masters().len() == 1).await;
    run_other().await;
    assert_eq!(lab.sshd.logins(), 2);
    done(lab.run("stop-it").await);
    assert_eq!((lab.masters().len(), lab.sshd.logins()), (2, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_is_gone_is_opened_anew() {
    let lab = Lab::new(&usual());
    for (logins, end) in [Signal::TERM, Signal::KILL].into_iter().enumerate() {
        done(lab.run("stop-it").await);
        assert_eq!(lab.sshd.logins(), logins + 1);
        for master in lab.masters() {
            signal(master.pid, end);
        }
        wait_until("it to end", || lab.masters().is_empty()).await;
    }
    done(lab.run("stop-it").await);
    // Cut without anybody noticing yet: the question is asked twice, the ticket goes out once.
    for _ in 0..5 {
        lab.sshd.cut();
        done(lab.run("stop-it").await);
    }
    assert_eq!(lab.effects().len(), 8);
}

/// A connection whose process answers no more costs one question, not every one.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_hangs_is_left_for_a_new_one() {
    let lab = Lab::new(&usual());
    done(lab.run("stop-it").await);
    let [master] = &lab.masters()[..] else {
        panic!("one connection");
    };
    signal(master.pid, Signal::STOP);
    failed(within(40, lab.run("stop-it")).await, "timeout");
    done(within(5, lab.run("stop-it")).await);
    assert_eq!((lab.sshd.logins(), lab.effects().len()), (2, 2));
    signal(master.pid, Signal::KILL);
    signal(master.pid, Signal::CONT);
}

/// What belongs to the account that Void runs as is neither read nor written.
#[tokio::test(flavor = "multi_thread")]
async fn the_servers_own_ssh_files_are_left_alone() {
    let home = Path::new("/root/.ssh");
    let before = home.exists().then(|| fs::read_dir(home).unwrap().count());
    let lab = Lab::new(&usual());
    done(lab.run("stop-it").await);
    let after = home.exists().then(|| fs::read_dir(home).unwrap().count());
    assert_eq!(before, after);
}
