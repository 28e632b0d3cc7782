//! Reasons not to run, told apart by their codes. Each is known to have sent nothing.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use void_channels::{Channel as _, SshConfig};
use void_domain::freezes::FreezeSwitch;
use void_testkit::free_port;
use void_testkit::sshd::Sshd;

use crate::lab::{
    HOST, Lab, Listed, address, channels_with, done, failed, local_config, now, ssh_config, usual,
    within,
};

/// Nothing reached the host, or at least its journal.
fn nothing_ran(lab: &Lab) {
    assert_eq!(lab.effects(), [""; 0]);
    assert!(!lab.sshd.state().join("journal").exists());
}

async fn with_config(lab: &Lab, change: impl FnOnce(&mut SshConfig)) -> void_channels::Outcome {
    let mut config = ssh_config(&lab.sshd, lab.client.path());
    change(&mut config);
    let channels = channels_with(&lab.catalogue, config, local_config(&lab.sshd)).unwrap();
    let running = lab.running("stop-it", &json!({}));
    let outcome = channels.execute(lab.permit(&running, FreezeSwitch::default()));
    within(5, outcome).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_host_is_named_at_once() {
    let mut lab = Lab::new(&usual());
    lab.sshd.stop();
    let failure = failed(within(5, lab.run("stop-it")).await, "unreachable");
    assert!(failure.message.contains("lab (127.0.0.1)"), "{failure:?}");
    assert!(failure.message.contains("refused"), "{failure:?}");
    // Also when a connection was open before.
    lab.sshd.restart();
    done(lab.run("start-it").await);
    lab.sshd.stop();
    failed(within(5, lab.run("stop-it")).await, "unreachable");
    assert_eq!(lab.effects().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_the_host_does_not_know_is_refused() {
    let (lab, other) = (Lab::new(&usual()), Sshd::start());
    let outcome = with_config(&lab, |config| config.key = Some(other.key.clone())).await;
    let failure = failed(outcome, "auth_refused");
    assert!(failure.message.contains("voidact"), "{failure:?}");
    let mut elsewhere = address(&lab.sshd, Some(&lab.sshd.host_key));
    elsewhere["user"] = json!("nobody");
    let lab = lab.with_hosts(&usual(), &json!({HOST: elsewhere}));
    failed(lab.run("stop-it").await, "auth_refused");
    nothing_ran(&lab);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_missing_on_our_side_is_said_without_asking_the_host() {
    let lab = Lab::new(&usual());
    let open = lab.client.path().join("open_key");
    fs::copy(&lab.sshd.key, &open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o644)).unwrap();
    let garbage = lab.client.path().join("garbage_key");
    fs::write(&garbage, "not a key\n").unwrap();
    fs::set_permissions(&garbage, fs::Permissions::from_mode(0o600)).unwrap();
    let locked = lab.client.path().join("locked_key");
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "a passphrase", "-f"])
        .arg(&locked)
        .status();
    assert!(made.unwrap().success());
    type Change = fn(&mut SshConfig, &std::path::Path);
    let cases: [(Change, &str); 7] = [
        (|config, _| config.key = None, "the server has no SSH key"),
        (
            |config, folder| config.key = Some(folder.join("none")),
            "is not there",
        ),
        (
            |config, folder| config.key = Some(folder.to_owned()),
            "is not there",
        ),
        (
            |config, folder| config.key = Some(folder.join("open_key")),
            "too open",
        ),
        (
            |config, folder| config.key = Some(folder.join("garbage_key")),
            "does not take",
        ),
        (
            |config, _| config.program = "/nonexistent/ssh".into(),
            "cannot be started",
        ),
        (
            |config, folder| config.run_folder = folder.join("none"),
            "cannot be written",
        ),
    ];
    for (change, words) in cases {
        let outcome = with_config(&lab, |config| change(config, lab.client.path())).await;
        let failure = failed(outcome, "not_configured");
        assert!(failure.message.contains(words), "{failure:?}");
    }
    let outcome = with_config(&lab, |config| config.key = Some(locked)).await;
    failed(outcome, "auth_refused");
    assert_eq!(lab.sshd.logins(), 0);
    nothing_ran(&lab);
}

#[tokio::test(flavor = "multi_thread")]
async fn something_else_at_the_port_is_unreachable() {
    let lab = Lab::new(&usual());
    let listen = || TcpListener::bind(("127.0.0.1", free_port())).unwrap();
    let (silent, garbage) = (listen(), listen());
    let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
    let (to_silent, to_garbage) = (port(&silent), port(&garbage));
    std::thread::spawn(move || {
        for stream in garbage.incoming().flatten() {
            let mut stream = stream;
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            let _ = stream.read(&mut [0; 64]);
        }
    });
    for (port, seconds) in [(to_garbage, 5), (to_silent, 20)] {
        let mut elsewhere = address(&lab.sshd, Some(&lab.sshd.host_key));
        elsewhere["port"] = json!(port);
        let catalogue = crate::lab::catalogue(&usual(), &json!({HOST: elsewhere}));
        let channels = crate::lab::channels(&catalogue, &lab.sshd, lab.client.path());
        let host = catalogue.host(&lab.host().name).unwrap();
        let begun = Instant::now();
        let failure = channels.probe().list(host).await.unwrap_err();
        assert_eq!(failure.code, "unreachable", "{failure:?}");
        assert!(
            begun.elapsed() < Duration::from_secs(seconds),
            "{failure:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn drift_refuses_risky_and_leaves_the_rest_alone() {
    let listed = [
        Listed::risky("stop-it", json!(["@/effect", "stop"])),
        Listed::safe("start-it", json!(["@/effect", "start"])),
        Listed::safe("other", json!(["@/effect", "other"])),
    ];
    let lab = Lab::new(&listed);
    let whole = lab.list(&listed);
    let without = |index: usize| {
        let mut list = whole.clone();
        list["entries"].as_array_mut().unwrap().remove(index);
        list
    };
    let with_def = |index: usize, def: Value| {
        let mut list = whole.clone();
        list["entries"][index]["def"] = def;
        list
    };
    let another = json!("0".repeat(64));
    let cases = [
        (without(0), "no entry stop-it", None),
        (
            with_def(0, another.clone()),
            "entry stop-it was made for another",
            None,
        ),
        (
            with_def(0, Value::Null),
            "entry stop-it was made for another",
            None,
        ),
        (without(1), "no entry start-it", Some("start-it")),
        (
            with_def(1, another.clone()),
            "entry start-it was",
            Some("start-it"),
        ),
        // Nothing is wrong with what is asked for, but the list is not the one we know.
        (without(2), "no entry other", None),
        (
            with_def(2, another),
            "entry other was made for another",
            None,
        ),
    ];
    let mut started = 0;
    for (list, words, safe_drifts) in cases {
        lab.write_list(&list);
        let failure = failed(lab.run("stop-it").await, "drift");
        assert!(failure.message.contains(words), "{failure:?}");
        match safe_drifts {
            Some(id) => _ = failed(lab.run(id).await, "drift"),
            None => {
                done(lab.run("start-it").await);
                started += 1;
            }
        }
        assert_eq!(lab.effects().len(), started);
    }
    // More on the host than in the catalogue is the host's business.
    lab.write_list(&whole);
    let extra = json!({"id": "more", "argv": ["/bin/true"], "tier": "risky"});
    let mut list = whole.clone();
    list["entries"].as_array_mut().unwrap().push(extra);
    lab.write_list(&list);
    done(lab.run("stop-it").await);
    assert_eq!(lab.effects().len(), started + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stop_file_holds_everything_back() {
    let lab = Lab::new(&usual());
    let stop = lab.sshd.write("stop", "", 0o644);
    for id in ["stop-it", "start-it"] {
        let failure = failed(lab.run(id).await, "stopped_on_host");
        assert!(failure.message.contains("nothing was sent"), "{failure:?}");
    }
    nothing_ran(&lab);
    fs::remove_file(stop).unwrap();
    done(lab.run("stop-it").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_brake_that_is_pulled_before_the_first_byte_stops_it() {
    let lab = Lab::new(&usual());
    let freeze_switch = FreezeSwitch::default();
    freeze_switch.pull();
    for id in ["stop-it", "start-it"] {
        let running = lab.running(id, &json!({}));
        let outcome = lab
            .channels
            .execute(lab.permit(&running, freeze_switch.clone()));
        failed(outcome.await, "frozen");
    }
    nothing_ran(&lab);
    // Also while a host that is not known yet is still being asked.
    let lab = Lab::new(&usual());
    let gate = lab.hold("void-list").await;
    freeze_switch.release();
    let running = lab.running("stop-it", &json!({}));
    let permit = lab.permit(&running, freeze_switch.clone());
    let channels = std::sync::Arc::clone(&lab.channels);
    let task = tokio::spawn(async move { channels.execute(permit).await });
    lab.wait_for_arrivals(1).await;
    freeze_switch.pull();
    lab.release(&gate);
    failed(task.await.unwrap(), "frozen");
    nothing_ran(&lab);
}

/// A stop file that comes between the question and the ticket is the host's to see.
#[tokio::test(flavor = "multi_thread")]
async fn a_stop_file_that_comes_late_is_still_seen() {
    let lab = Lab::new(&usual());
    let gate = lab.hold("stop-it*").await;
    let task = lab.start(&lab.running("stop-it", &json!({})));
    lab.wait_for_arrivals(1).await;
    lab.sshd.write("stop", "", 0o644);
    lab.release(&gate);
    failed(task.await.unwrap(), "stopped_on_host");
    nothing_ran(&lab);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_hosts_own_brakes_are_told_in_its_words() {
    let lab = Lab::new(&usual());
    let mut list = lab.list(&usual());
    list["entries"][0]["cooldown_s"] = json!(3600);
    list["entries"][1]["max_per_hour"] = json!(1);
    lab.write_list(&list);
    for (id, words) in [("stop-it", "between runs"), ("start-it", "runs per hour")] {
        done(lab.run(id).await);
        let failure = failed(lab.run(id).await, "refused_by_host");
        assert!(failure.message.contains(words), "{failure:?}");
    }
    let mut late = lab.running("stop-it", &json!({}));
    if let void_domain::proposals::State::Running { run, .. } = &mut late.state {
        run.ticket_expires_at = now();
    }
    let failure = failed(lab.execute(&late).await, "refused_by_host");
    assert!(failure.message.contains("expired"), "{failure:?}");
    assert_eq!(lab.effects().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_local_program_that_is_missing_is_said() {
    let lab = Lab::new(&[Listed::risky("stop-it", json!(["@/effect"])).on("local")]);
    let mut local = local_config(&lab.sshd);
    local.program = "/nonexistent/void".into();
    let ssh = ssh_config(&lab.sshd, lab.client.path());
    let channels = channels_with(&lab.catalogue, ssh, local).unwrap();
    let running = lab.running("stop-it", &json!({}));
    let outcome = channels.execute(lab.permit(&running, FreezeSwitch::default()));
    failed(outcome.await, "not_configured");
    nothing_ran(&lab);
}
