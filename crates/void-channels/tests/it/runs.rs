//! A permit's way to the machine and back: exactly the listed argv, once, and an answer that says so.
//! The same by SSH and on the machine itself.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use void_channels::Evidence;
use void_domain::digests::Digest;
use void_domain::freezes::FreezeSwitch;
use void_domain::permits::Ticket;
use void_testkit::processes::processes_about;

use crate::lab::{HOST, Lab, Listed, done, failed, usual};

/// Both ways to reach `void-act`; what is tested must hold for each.
const WAYS: [&str; 2] = [HOST, "local"];

#[tokio::test(flavor = "multi_thread")]
async fn safe_and_risky_run_exactly_the_listed_argv_once() {
    for way in WAYS {
        let hostile = ["t w o", "$HOME", "-x", "", "`id`;$(id)|'\"\\", "é", "--"];
        let argv = |first: &str| json!([&["@/effect", first][..], &hostile].concat());
        let lab = Lab::new(&[
            Listed::safe("start-it", argv("start")).on(way),
            Listed::risky("stop-it", argv("stop")).on(way),
        ]);
        done(lab.run("start-it").await);
        done(lab.run("stop-it").await);
        let line = |first: &str| format!("@/effect|{first}|{}|", hostile.join("|"));
        assert_eq!(lab.effects(), [line("start"), line("stop")], "{way}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_says_where_how_it_ended_and_what_it_printed() {
    for way in WAYS {
        let lab = Lab::new(&[
            Listed::risky("say", json!(["/bin/sh", "-c", "echo out; echo err >&2"])).on(way),
            Listed::risky("fail", json!(["/bin/sh", "-c", "echo half; exit 3"])).on(way),
            Listed::risky("missing", json!(["/nonexistent"])).on(way),
        ]);
        let list = std::fs::read(lab.sshd.path("list.json")).unwrap();
        let expected = |exit: Value, stdout: &str, stderr: &str| {
            json!({
                "host": way,
                "exit": exit,
                "stdout": stdout,
                "stderr": stderr,
                "replayed": false,
                "list": Digest::of(&list),
            })
        };
        let result = done(lab.run("say").await);
        assert_eq!(result, expected(json!(0), "out\n", "err\n"));
        let failure = failed(lab.run("fail").await, "command_failed");
        assert_eq!(failure.result, Some(expected(json!(3), "half\n", "")));
        assert!(failure.message.contains("ended with 3"), "{failure:?}");
        let failure = failed(lab.run("missing").await, "command_failed");
        assert_eq!(failure.result.unwrap()["exit"], Value::Null);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn parameters_become_whole_argv_elements() {
    for way in WAYS {
        let replicas = json!({"type": "integer", "min": -5, "max": 5});
        let image = json!({"type": "pattern", "pattern": "^[ -~é]+$", "max_len": 64});
        let mode = json!({"type": "enum", "values": ["fast", "t w o"]});
        let listed = Listed::risky(
            "scale-it",
            json!(["@/effect", "--", {"param": "replicas"}, {"param": "image"}, "x", {"param": "mode"}]),
        )
        .params(json!({"replicas": replicas, "image": image, "mode": mode}))
        .on(way);
        let lab = Lab::new(&[listed]);
        let hostile = "a b;$(touch x) `id` 'q' \"é\" %h ${HOME} *";
        let running = lab.running(
            "scale-it",
            &json!({"replicas": -3, "image": hostile, "mode": "t w o"}),
        );
        done(lab.execute(&running).await);
        assert_eq!(
            lab.effects(),
            [format!("@/effect|--|-3|{hostile}|x|t w o|")],
            "{way}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn parameters_that_do_not_fit_a_ticket_are_not_sent() {
    let long = json!({"type": "pattern", "pattern": "^x+$", "max_len": 1024});
    let names = ["a", "b", "c", "d"];
    let params: serde_json::Map<_, _> = names
        .map(|n| (n.to_owned(), long.clone()))
        .into_iter()
        .collect();
    let lab = Lab::new(&[Listed::risky("scale-it", json!(["@/effect"])).params(params.into())]);
    let text = "x".repeat(1024);
    let running = lab.running(
        "scale-it",
        &json!({"a": text, "b": text, "c": text, "d": text}),
    );
    failed(lab.execute(&running).await, "bad_ticket");
    assert_eq!(lab.effects(), [""; 0]);
    assert!(!lab.sshd.state().join("journal").exists());
}

/// Whatever made two permits of one proposal, the host runs it once and answers the second from its
/// journal.
#[tokio::test(flavor = "multi_thread")]
async fn a_second_permit_of_one_proposal_gets_the_first_answer() {
    for way in WAYS {
        let argv = json!(["/bin/sh", "-c", "\"$0\" once; date +%N", "@/effect"]);
        let lab = Lab::new(&[Listed::risky("stop-it", argv).on(way)]);
        let running = lab.running("stop-it", &json!({}));
        let first = done(lab.execute(&running).await);
        let mut second = done(lab.execute(&running).await);
        assert_eq!(second["replayed"], json!(true));
        second["replayed"] = json!(false);
        assert_eq!(first, second);
        assert_eq!(lab.effects().len(), 1, "{way}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_change_nothing() {
    for way in WAYS {
        let listed: Vec<Listed> = usual().into_iter().map(|one| one.on(way)).collect();
        let lab = Lab::new(&listed);
        let running = lab.running("stop-it", &json!({}));
        let ticket = Ticket::of(&running).unwrap();
        let host = running.subject.host().unwrap();
        let list = lab.channels.probe().list(host).await.unwrap();
        assert_eq!(list.entries.len(), 2);
        assert!(!list.stopped);
        assert_eq!(lab.channels.probe().drift(&host.name, &list), None);
        let Evidence::None(failure) = lab.channels.probe().ticket(host, &ticket).await else {
            panic!("nothing was sent");
        };
        assert_eq!(failure.code, "unseen");
        // Looking did not settle it: it may still run.
        done(lab.execute(&running).await);
        let Evidence::Done { result } = lab.channels.probe().ticket(host, &ticket).await else {
            panic!("it is done");
        };
        assert_eq!(result["replayed"], json!(true));
        assert_eq!(lab.effects().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_action_over_its_time_is_ended_and_reported() {
    for way in WAYS {
        let script = "\"$0\" begun; cat \"$1\" & cat \"$1\"";
        let argv = json!(["/bin/sh", "-c", script, "@/effect", "@/marks/gate"]);
        let lab = Lab::new(&[Listed::risky("stop-it", argv).timeout_s(1).on(way)]);
        let gate = lab.sshd.fifo("gate");
        let begun = Instant::now();
        let failure = failed(lab.run("stop-it").await, "command_failed");
        assert!(begun.elapsed() < Duration::from_secs(10), "{way}");
        let stderr = failure.result.unwrap()["stderr"].to_string();
        assert!(stderr.contains("time limit of 1 s"), "{stderr}");
        assert_eq!(lab.effects(), ["@/effect|begun|"]);
        let left = processes_about(&gate);
        assert!(left.is_empty(), "{way}: {left:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_channel_serves_is_refused() {
    let text = json!({"actions": [
        {"id": "stop-ct", "label": "x", "kind": "guest_power", "node": "z", "vmid": 107, "op": "stop", "tier": "risky"},
        {"id": "scale-node", "label": "x", "kind": "rollback", "node": "n1", "service": "g", "tier": "risky"},
        {"id": "by-file", "label": "x", "kind": "rollback", "node": "n1", "service": "g", "tier": "risky", "via": "file"},
    ]});
    let mut lab = Lab::new(&usual());
    lab.catalogue =
        void_domain::catalogue::Catalogue::parse(&text.to_string(), &Default::default()).unwrap();
    for (id, failure, evidence) in [
        // Proxmox' task list could tell, if it were connected.
        ("stop-ct", "not_configured", "not_configured"),
        // A node could, if it came.
        ("scale-node", "unreachable", "unreachable"),
        ("by-file", "not_configured", "no_evidence"),
    ] {
        let running = lab.running(id, &json!({}));
        let permit = lab.permit(&running, FreezeSwitch::default());
        let outcome = void_channels::Channel::execute(&*lab.channels, permit).await;
        failed(outcome, failure);
        let Evidence::None(failure) = lab.settle(&running).await else {
            panic!("there is nobody to ask");
        };
        assert_eq!(failure.code, evidence, "{id}");
    }
}
