//! Processes that end, will not end, or leave somebody behind.

use std::fs;

use void_supervise::{Cgroups, Ending, LOG_BYTES_MAX, ProcessState};

use crate::hosts::{TOKEN, TestHost, cgroups, makes_cgroups, runs, scope, supervisor, until};

#[tokio::test]
async fn a_process_that_crashes_is_started_again_and_given_up() {
    let host = TestHost::new(1);
    let agents = supervisor(&host, vec!["crashes"], cgroups());
    agents.start("alice").await.unwrap();
    let given_up = ProcessState::GivenUp { failures: 3 };
    until("it is given up", || host.told("alice").contains(&given_up)).await;
    let told = host.told("alice");
    let crashes: Vec<&ProcessState> = told
        .iter()
        .filter(|state| {
            matches!(
                state,
                ProcessState::Crashed { .. } | ProcessState::GivenUp { .. }
            )
        })
        .collect();
    let expected = [
        ProcessState::Crashed { failures: 1 },
        ProcessState::Crashed { failures: 2 },
        given_up.clone(),
    ];
    assert_eq!(crashes, expected.iter().collect::<Vec<_>>());
    let status = agents.status("alice");
    assert_eq!(
        (status.state, status.ending, status.pid),
        (given_up, Some(Ending::Exit(3)), None)
    );
    // Somebody starts it: it begins anew.
    agents.start("alice").await.unwrap();
    until("it has crashed again", || {
        host.told("alice").len() > told.len() + 2
    })
    .await;
    assert!(host.told("alice")[told.len()..].contains(&ProcessState::Crashed { failures: 1 }));
    agents.stop("alice").await.unwrap();
    assert_eq!(agents.status("alice").state, ProcessState::Stopped);
    agents.end().await;
}

#[tokio::test]
async fn who_cannot_be_started_is_given_up_and_says_why() {
    let host = TestHost::new(1);
    let agents = supervisor(&host, vec!["agent", "run"], None);
    agents.start("nobody").await.unwrap();
    until("it is given up", || {
        matches!(agents.status("nobody").state, ProcessState::GivenUp { .. })
    })
    .await;
    let ending = agents.status("nobody").ending.unwrap();
    assert_eq!(
        ending.to_string(),
        "it could not be started: there is no such agent"
    );
    agents.stop("nobody").await.unwrap();
    agents.end().await;
}

#[tokio::test]
async fn nothing_survives_a_stop_not_even_who_left_group_and_session() {
    let host = TestHost::new(1);
    if !makes_cgroups() {
        eprintln!("these tests cannot make a control group");
        return;
    }
    let file = host.path("orphan");
    let leaked: &'static str = Box::leak(file.display().to_string().into_boxed_str());
    let agents = supervisor(&host, vec!["clings", leaked], cgroups());
    agents.start("alice").await.unwrap();
    until("it left somebody", || {
        fs::read_to_string(&file).is_ok_and(|text| !text.is_empty())
    })
    .await;
    let orphan: u32 = fs::read_to_string(&file).unwrap().parse().unwrap();
    let pid = agents.status("alice").pid.unwrap();
    assert!(runs(orphan) && runs(pid));
    agents.stop("alice").await.unwrap();
    assert!(!runs(orphan) && !runs(pid));
    agents.end().await;
}

#[tokio::test]
async fn what_an_earlier_server_left_ends_before_anything_begins() {
    let host = TestHost::new(1);
    if !makes_cgroups() {
        eprintln!("these tests cannot make a control group");
        return;
    }
    let scope = scope();
    let left = Cgroups::of_this_process(&scope);
    let file = host.path("orphan");
    let leaked: &'static str = Box::leak(file.display().to_string().into_boxed_str());
    let agents = supervisor(&host, vec!["clings", leaked], left);
    agents.start("alice").await.unwrap();
    until("it left somebody", || {
        fs::read_to_string(&file).is_ok_and(|text| !text.is_empty())
    })
    .await;
    let orphan: u32 = fs::read_to_string(&file).unwrap().parse().unwrap();
    assert!(runs(orphan));
    // As a server that was killed leaves it: nobody saw to its end.
    assert!(Cgroups::of_this_process(&scope).is_some());
    until("it is gone", || !runs(orphan)).await;
    agents.end().await;
}

#[tokio::test]
async fn who_says_nothing_or_nonsense_is_ended() {
    for (words, ending) in [("silent", Ending::Silent), ("babbles", Ending::Garbled)] {
        let host = TestHost::new(1);
        let agents = supervisor(&host, vec![words], None);
        agents.start("alice").await.unwrap();
        until("it is noticed", || {
            agents.status("alice").ending.as_ref() == Some(&ending)
        })
        .await;
        agents.stop("alice").await.unwrap();
        agents.end().await;
    }
}

#[tokio::test]
async fn the_log_of_a_process_has_no_token_and_a_bound() {
    let host = TestHost::new(1);
    let agents = supervisor(&host, vec!["leaks"], None);
    agents.start("alice").await.unwrap();
    until("it wrote", || host.log("alice").len() == 2).await;
    agents.stop("alice").await.unwrap();
    let log = host.log("alice");
    assert_eq!(log[0].text, "my token is [secret]");
    assert!(
        !fs::read_to_string(host.path("alice").join("log"))
            .unwrap()
            .contains(TOKEN)
    );
    agents.end().await;
    let agents = supervisor(&host, vec!["floods"], None);
    agents.start("bob").await.unwrap();
    let size = || {
        let file =
            |name: &str| fs::metadata(host.path("bob").join(name)).map_or(0, |file| file.len());
        file("log") + file("log.before")
    };
    until("it has filled it", || size() > LOG_BYTES_MAX / 2).await;
    assert!(size() <= LOG_BYTES_MAX);
    // It never reads and never rests, and is stopped all the same.
    agents.stop("bob").await.unwrap();
    agents.end().await;
}
