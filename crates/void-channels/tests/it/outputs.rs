//! What machines print: bounded, drained, and never a reason to hang.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use void_domain::limits::CHANNEL_OUTPUT_BYTES_MAX;

use crate::lab::{HOST, Lab, Listed, done, failed, usual, within};

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_on_both_outputs_is_cut_and_drained() {
    for way in [HOST, "local"] {
        let flood = "yes '0123456789' | head -c 50000000 & yes '\u{e9}' | head -c 50000000 >&2; wait; \"$0\" end";
        let argv = json!(["/bin/sh", "-c", flood, "@/effect"]);
        let lab = Lab::new(&[Listed::risky("stop-it", argv).on(way)]);
        let result = within(60, async { done(lab.run("stop-it").await) }).await;
        for name in ["stdout", "stderr"] {
            let kept = result[name].as_str().unwrap().len();
            let bound = CHANNEL_OUTPUT_BYTES_MAX / 2..=CHANNEL_OUTPUT_BYTES_MAX;
            assert!(bound.contains(&kept), "{way} {name}: {kept}");
        }
        // It was not stopped by a full pipe.
        assert_eq!(lab.effects(), ["@/effect|end|"]);
    }
}

/// Bytes that grow when they are written as JSON still fit into an answer.
#[tokio::test(flavor = "multi_thread")]
async fn control_bytes_and_broken_text_come_through() {
    let script = "head -c 40000 /dev/zero; head -c 40000 /dev/zero | tr '\\0' '\\377' >&2";
    for way in [HOST, "local"] {
        let argv = json!(["/bin/sh", "-c", script]);
        let lab = Lab::new(&[Listed::risky("stop-it", argv).on(way)]);
        // More than a pipe holds is still in it when the program ends.
        for _ in 0..5 {
            let result = done(lab.run("stop-it").await);
            assert_eq!(result["stdout"].as_str().unwrap(), "\0".repeat(32 << 10));
            let stderr = result["stderr"].as_str().unwrap();
            assert!(stderr.len() <= CHANNEL_OUTPUT_BYTES_MAX);
            assert!(stderr.chars().all(|c| c == char::REPLACEMENT_CHARACTER));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grandchild_that_keeps_the_pipes_does_not_hold_up_the_answer() {
    for way in [HOST, "local"] {
        let argv = json!(["/bin/sh", "-c", "cat \"$0\" & echo started", "@/marks/gate"]);
        let lab = Lab::new(&[Listed::risky("stop-it", argv).on(way)]);
        lab.sshd.fifo("gate");
        let begun = Instant::now();
        let result = done(lab.run("stop-it").await);
        assert_eq!(result["stdout"], json!("started\n"));
        assert!(begun.elapsed() < Duration::from_secs(8), "{way}");
    }
}

/// What answers in the place of `void-act` floods, lies or is silent; nothing was sent to it.
#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_does_not_speak_as_void_act_is_refused() {
    let lab = Lab::new(&usual());
    let cases = [
        (
            "flood",
            "#!/bin/sh\nyes | head -c 50000000\nyes | head -c 50000000 >&2\n",
        ),
        ("silent", "#!/bin/sh\nexit 0\n"),
        ("words", "#!/bin/sh\necho 'Welcome!'\n"),
        (
            "lines",
            "#!/bin/sh\n\"${0%/*}/void-act\" --list \"${0%/*}/list.json\" --state \"${0%/*}/state\"; echo more\n",
        ),
        (
            "nested",
            "#!/bin/sh\nhead -c 400000 /dev/zero | tr '\\0' '['\n",
        ),
        (
            "half",
            "#!/bin/sh\nprintf '{\"v\":1,\"id\":\"void-list\",'\n",
        ),
        ("killed", "#!/bin/sh\nkill -9 $$\n"),
    ];
    for (name, script) in cases {
        lab.force_script(name, script).await;
        let begun = Instant::now();
        let failure = failed(lab.run("stop-it").await, "no_answer");
        assert!(failure.message.contains("void-act"), "{name}: {failure:?}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{name}");
    }
    // Well-formed, and still not what was asked for.
    let digest = "0".repeat(64);
    let whole = json!({"v": 1, "id": "void-list", "ticket": null, "outcome": "done", "replayed": false, "list": digest, "defs": {}, "stopped": false});
    for (name, value) in [
        ("v", json!(2)),
        ("outcome", json!("started")),
        ("list", Value::Null),
        ("defs", Value::Null),
        ("stopped", Value::Null),
    ] {
        let mut answer = whole.clone();
        answer[name] = value;
        lab.force_script("answer", &format!("#!/bin/sh\necho '{answer}'\n"))
            .await;
        failed(lab.run("start-it").await, "bad_answer");
    }
    assert_eq!(lab.effects(), [""; 0]);
}
