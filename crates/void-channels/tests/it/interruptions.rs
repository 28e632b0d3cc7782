//! Input that never ends, outputs that are closed, a hangup, and a host side that is not in order
//! (SECURITY R-S10 to R-S12).

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;
use void_act::Outcome as Said;
use void_testkit::processes::{Signal, signal};

use crate::lab::{Lab, Listed, answer, done, failed, usual, wait_until, within};

#[tokio::test(flavor = "multi_thread")]
async fn r_s10_a_flood_of_input_is_not_read() {
    let lab = Lab::new(&usual());
    let begun = Instant::now();
    let mut client = lab.ssh(&[]);
    client.arg(lab.command("stop-it")).stdin(Stdio::piped());
    client.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut client = client.spawn().unwrap();
    let mut stdin = client.stdin.take().unwrap();
    let flood = std::thread::spawn(move || {
        let chunk = vec![b'y'; 1 << 20];
        (0..100)
            .take_while(|_| stdin.write_all(&chunk).is_ok())
            .count()
    });
    let output = client.wait_with_output().unwrap();
    assert_eq!(answer(&output).outcome, Said::Done);
    let read = flood.join().unwrap();
    assert!(read < 100, "the client took all of it");
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(lab.effects(), ["@/effect|stop|"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn r_s10_closed_outputs_do_not_keep_it_from_its_end() {
    let lab = Lab::new(&usual());
    let command = lab.command("stop-it");
    // The client closes all it has before the host can answer; on the host they are closed at once.
    let mut client = lab.ssh(&[]);
    client
        .arg(&command)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = client.spawn().unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    child.wait().unwrap();
    lab.wait_for_effects(1).await;
    let again = answer(&lab.say(&command));
    assert_eq!((again.outcome, again.replayed), (Said::Done, true));
    let script = format!("#!/bin/sh\nexec {} <&- >&- 2>&-\n", lab.sshd.void_act());
    lab.force_script("closed", &script).await;
    let command = lab.command("start-it");
    let output = lab.say(&command);
    assert_eq!(output.stdout, b"");
    lab.wait_for_effects(2).await;
    lab.force(&lab.sshd.void_act()).await;
    wait_until("its end", || {
        let said = answer(&lab.say(&command));
        (said.outcome, said.replayed) == (Said::Done, true)
    })
    .await;
    assert_eq!(lab.effects(), ["@/effect|stop|", "@/effect|start|"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn r_s11_a_hangup_in_the_middle_changes_nothing() {
    let script = "\"$0\" begun; read _ < \"$1\"; \"$0\" ended";
    let argv = json!(["/bin/sh", "-c", script, "@/effect", "@/marks/gate"]);
    let lab = Lab::new(&[Listed::risky("stop-it", argv)]);
    let gate = lab.sshd.fifo("gate");
    let running = lab.running("stop-it", &json!({}));
    let task = lab.start(&running);
    lab.wait_for_effects(1).await;
    for process in lab.actors() {
        signal(process.pid, Signal::HUP);
        signal(process.pid, Signal::PIPE);
    }
    for process in lab.sshd.connections() {
        signal(process.pid, Signal::HUP);
    }
    lab.release(&gate);
    done(within(30, task).await.unwrap());
    assert_eq!(lab.effects(), ["@/effect|begun|", "@/effect|ended|"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn r_s12_a_host_side_that_is_not_in_order_refuses_in_words() {
    let lab = Lab::new(&usual());
    let program = lab.sshd.path("void-act");
    type Damage = fn(&Lab, &Path);
    let damages: [(&str, Damage, &str, &str); 6] = [
        (
            "missing",
            |_, program| fs::rename(program, program.with_extension("away")).unwrap(),
            "no_answer",
            "not found",
        ),
        (
            "not executable",
            |_, program| set_mode(program, 0o644),
            "no_answer",
            "Permission denied",
        ),
        (
            "list missing",
            |lab, _| fs::remove_file(lab.sshd.path("list.json")).unwrap(),
            "refused_by_host",
            "No such file",
        ),
        (
            "list unreadable",
            |lab, _| set_mode(&lab.sshd.path("list.json"), 0o600),
            "refused_by_host",
            "denied",
        ),
        (
            "list garbage",
            |lab, _| _ = lab.sshd.write("list.json", "garbage", 0o644),
            "refused_by_host",
            "JSON",
        ),
        (
            "state gone",
            |lab, _| fs::rename(lab.sshd.state(), lab.sshd.path("away")).unwrap(),
            "refused_by_host",
            "journal",
        ),
    ];
    for (name, damage, code, words) in damages {
        damage(&lab, &program);
        for id in ["stop-it", "start-it"] {
            let failure = failed(within(20, lab.run(id)).await, code);
            assert!(failure.message.contains(words), "{name}: {failure:?}");
        }
        let _ = fs::rename(program.with_extension("away"), &program);
        set_mode(&program, 0o755);
        let _ = fs::rename(lab.sshd.path("away"), lab.sshd.state());
        lab.write_list(&lab.list(&usual()));
    }
    assert_eq!(lab.effects(), [""; 0]);
    done(lab.run("stop-it").await);
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}
