//! Second writers at full speed: whoever is faster, nothing runs twice and nothing is lost.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use void_testkit::eventually_blocking;

use super::folder::{Bridge, PLACES};
use crate::lab::word;

/// An operator with a script and the owner on the web decide the same proposals at the same time.
#[test]
fn the_web_and_the_folder_race_and_each_proposal_is_decided_once() {
    const ROUNDS: usize = 25;
    let bridge = Bridge::with_decisions();
    let server = bridge.serve();
    let mut executed = 0;
    for round in 0..ROUNDS {
        let id = bridge.queue(&server, "risky-one");
        bridge.wait_for("pending", &id);
        let to = if round % 2 == 0 {
            "approved"
        } else {
            "rejected"
        };
        std::thread::scope(|scope| {
            scope.spawn(|| _ = fs::rename(bridge.path("pending", &id), bridge.path(to, &id)));
            scope.spawn(|| {
                let path = format!("/api/actions/pending/{id}/approve");
                let (status, row) = server.call("POST", &path, None);
                assert!(status == 200 || status == 409, "{status} {row}");
            });
        });
        let row = eventually_blocking("an end", || {
            let row = server.call("GET", &format!("/api/proposals/{id}"), None).1;
            matches!(word(&row, "status"), "executed" | "rejected").then_some(row)
        });
        let decided = row["transitions"].as_array().unwrap().iter();
        let decided = decided.filter(|step| matches!(word(step, "to"), "approved" | "rejected"));
        assert_eq!(decided.count(), 1, "{row}");
        let place = if word(&row, "status") == "executed" {
            "completed"
        } else {
            "rejected"
        };
        executed += usize::from(place == "completed");
        bridge.wait_for(place, &id);
        eventually_blocking("one place", || {
            let places = PLACES
                .into_iter()
                .filter(|place| bridge.path(place, &id).exists());
            (places.count() == 1).then_some(())
        });
    }
    assert_eq!(bridge.lab.effects().len(), executed);
}

/// Two executors fight over every offer; each is taken by one of them, once.
#[test]
fn two_executors_never_both_have_an_offer() {
    const OFFERS: usize = 20;
    let bridge = Bridge::new();
    let server = bridge.serve();
    let done = AtomicBool::new(false);
    let taken = AtomicUsize::new(0);
    let executor = || {
        while !done.load(Ordering::SeqCst) {
            for entry in fs::read_dir(bridge.dir().join("approved"))
                .unwrap()
                .flatten()
            {
                let name = entry.file_name();
                let running = bridge.dir().join("running").join(&name);
                if fs::rename(entry.path(), &running).is_ok() {
                    taken.fetch_add(1, Ordering::SeqCst);
                    let _ = fs::rename(&running, bridge.dir().join("completed").join(&name));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(executor);
        scope.spawn(executor);
        for _ in 0..OFFERS {
            let id = bridge.queue(&server, "deploy-db");
            let path = format!("/api/actions/pending/{id}/approve?wait=0");
            assert_eq!(server.call("POST", &path, None).0, 200);
            bridge.wait_for_status(&server, &id, "executed");
        }
        done.store(true, Ordering::SeqCst);
    });
    assert_eq!(taken.load(Ordering::SeqCst), OFFERS);
    bridge.settle(&server);
    assert_eq!(
        fs::read_dir(bridge.dir().join("completed"))
            .unwrap()
            .count(),
        OFFERS
    );
    assert!(bridge.lab.effects().is_empty());
}

const MOVES: usize = if cfg!(feature = "deep") {
    200_000
} else {
    5_000
};

/// An agent that throws the files around as fast as it can: with decisions off nothing is decided, and
/// when it stops every file is where the record says.
#[test]
fn an_agent_that_shuffles_files_at_full_speed_decides_nothing() {
    let bridge = Bridge::new();
    let server = bridge.serve();
    let ids: Vec<String> = ["risky-one", "critical-one", "deploy-db"]
        .iter()
        .map(|action| bridge.queue(&server, action))
        .collect();
    for id in &ids {
        bridge.wait_for("pending", id);
    }
    let mut moves = 0;
    let least = std::time::Instant::now() + std::time::Duration::from_secs(3);
    while moves < MOVES || std::time::Instant::now() < least {
        for id in &ids {
            for from in PLACES {
                for to in PLACES {
                    moves +=
                        usize::from(fs::rename(bridge.path(from, id), bridge.path(to, id)).is_ok());
                }
            }
        }
    }
    bridge.settle(&server);
    for id in &ids {
        bridge.wait_for("pending", id);
        bridge.assert_only_in("pending", id);
        let row = server.call("GET", &format!("/api/proposals/{id}"), None).1;
        assert_eq!(word(&row, "status"), "pending");
    }
    assert!(bridge.lab.effects().is_empty());
}

/// Many agents drop files at once; each becomes exactly one proposal or ends with a reason.
#[test]
fn many_writers_drop_files_at_once() {
    let bridge = Bridge::new();
    let server = bridge.serve();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let bridge = &bridge;
            scope.spawn(move || {
                for n in 0..10 {
                    let id = format!("w{writer}-{n}");
                    let mut wish = Bridge::wish(&id, "deploy_service", "n1", "web");
                    wish["details"]["image"] = format!("web:{writer}{n}").into();
                    bridge.drop_file(&wish);
                }
            });
        }
    });
    let rows = eventually_blocking("forty proposals", || {
        let rows = server.proposals();
        (rows.len() >= 40).then_some(rows)
    });
    assert_eq!(rows.len(), 40);
    bridge.settle(&server);
    let listing = bridge.listing();
    assert_eq!(listing.len(), 40, "{:?}", listing.keys());
    assert!(listing.keys().all(|name| name.starts_with("pending/w")));
    // The fifty that one agent may have open are the bound; the next ones are told.
    for n in 0..12 {
        let id = format!("more-{n}");
        let mut wish = Bridge::wish(&id, "deploy_service", "n1", "web");
        wish["details"]["image"] = format!("more:{n}").into();
        bridge.drop_file(&wish);
    }
    let refused = eventually_blocking("the bound", || {
        let found: Vec<_> = (0..12)
            .filter_map(|n| bridge.read("rejected", &format!("more-{n}")))
            .collect();
        (found.len() == 2).then_some(found)
    });
    assert_eq!(refused[0]["outcome"]["code"], "rate_limited");
}
