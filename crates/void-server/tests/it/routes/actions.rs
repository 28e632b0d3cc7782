//! `/api/actions`

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use void_domain::proposals::DisplayState;

use crate::apps::{App, Engine, queue};
use crate::callers::Shows;
use crate::masks::{is_time, masked, members};

/// As CONTRACTS lists them.
pub const ROW: [&str; 28] = [
    "action_id",
    "agent_id",
    "code",
    "count",
    "created_at",
    "digest",
    "display_state",
    "error",
    "expires_at",
    "holds",
    "id",
    "joined",
    "label",
    "params",
    "reason",
    "requested_by",
    "resolved_at",
    "resolved_by",
    "result",
    "revision",
    "risk",
    "status",
    "subject",
    "taint",
    "tier",
    "transitions",
    "verification",
    "words_left_out",
];

/// The row has its members, its times are times, and its status is its last step.
pub fn assert_row(row: &Value) {
    assert_eq!(members(row), ROW);
    assert_eq!(members(&row["requested_by"]), ["id", "kind", "name"]);
    let shown = row["display_state"].as_str().and_then(DisplayState::parse);
    assert!(shown.is_some(), "{}", row["display_state"]);
    for name in ["created_at", "expires_at", "resolved_at"] {
        let time = &row[name];
        let good = time.as_str().map_or(time.is_null(), is_time);
        assert!(good, "{name}: {time}");
    }
    let steps = row["transitions"].as_array().unwrap();
    for (step, before) in steps
        .iter()
        .zip([None].into_iter().chain(steps.iter().map(Some)))
    {
        assert_eq!(members(step), ["at", "by", "from", "to"]);
        assert!(is_time(step["at"].as_str().unwrap()));
        assert_eq!(
            step["from"],
            before.map_or(Value::Null, |before| before["to"].clone())
        );
    }
    assert_eq!(steps.last().unwrap()["to"], row["status"], "{row}");
    if !row["error"].is_null() {
        assert_eq!(members(&row["error"]), ["code", "message"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_catalogue_is_shown_with_its_digests() {
    let app = App::start().await;
    let list = app.owner().get("/api/actions").await.ok();
    assert_eq!(members(&list), ["actions", "catalogue"]);
    let catalogue = app.lab.catalogue();
    assert_eq!(
        list["actions"].as_array().unwrap().len(),
        catalogue.actions().len()
    );
    assert_eq!(
        list["catalogue"],
        json!({
            "digest": catalogue.digest(),
            "commit": "0123456789abcdef0123456789abcdef01234567",
            "warnings": [],
        })
    );
    let find = |id: &str| {
        let mut actions = list["actions"].as_array().unwrap().iter();
        actions.find(|action| action["id"] == id).unwrap().clone()
    };
    assert_eq!(
        masked(&find("cool-a")),
        json!({
            "id": "cool-a", "label": "Cooling a", "kind": "service_restart", "tier": "safe",
            "risk": "nominal", "raised": null, "target": "host:local/c1", "host": "local",
            "node": null, "service": "c1", "vmid": null, "guest": null, "kindPath": null, "via": "host", "op": null, "params": {}, "verify": null,
            "checked_by": "Nothing looks afterwards; it will end as “not confirmed”.",
            "inverse": null, "cooldown_s": 60, "agent_cooldown_s": 60, "max_per_hour": null, "timeout_s": 120,
            "expires_s": 86400, "agents": null, "digest": "<hash>", "exec_digest": "<hash>",
        })
    );
    let guest = find("start-ct9");
    assert_eq!(
        (&guest["node"], &guest["vmid"], &guest["op"]),
        (&json!("z"), &json!(109), &json!("start"))
    );
    assert_eq!(
        (&guest["guest"], &guest["kindPath"], &guest["via"]),
        (&json!("lxc"), &json!("lxc"), &json!("proxmox"))
    );
    assert_eq!(find("scale-a")["via"], "host");
    let scale = find("scale-a");
    assert_eq!(
        scale["params"]["zone"],
        json!({"type": "enum", "values": ["north", "south"]})
    );
    assert_eq!(find("only-blue")["agents"], json!(["blue"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_safe_action_runs_at_once_and_answers_with_its_result() {
    let app = App::start().await;
    let answer = app.owner().run("touch-a").await.ok();
    let id = answer["action_row_id"].as_str().unwrap();
    assert_eq!(
        masked(&answer),
        json!({
            "executed": true,
            "action_row_id": "<id>",
            "result": {"host": "local", "exit": 0, "stdout": "done: touch-a\n", "stderr": "", "replayed": false, "list": "<hash>"},
        })
    );
    let row = app.row(id).await;
    assert_row(&row);
    assert_eq!(
        masked(&row),
        json!({
            "id": "<id>", "code": "<code>", "subject": "action", "action_id": "touch-a", "label": "Touch a", "params": {},
            "tier": "safe", "risk": "nominal", "status": "executed", "display_state": "unconfirmed", "digest": "<hash>", "reason": null,
            "requested_by": {"kind": "owner", "id": null, "name": "owner"}, "agent_id": null,
            "resolved_by": row["resolved_by"], "result": masked(&answer["result"]), "error": null,
            "verification": "unverified", "count": 1, "created_at": "<time>", "expires_at": "<time>",
            "resolved_at": "<time>", "joined": [], "words_left_out": 0, "revision": 0, "taint": [],
            "transitions": [
                {"from": null, "to": "approved", "at": "<time>", "by": "policy"},
                {"from": "approved", "to": "running", "at": "<time>", "by": row["transitions"][1]["by"]},
                {"from": "running", "to": "executed", "at": "<time>", "by": "system"},
            ],
        })
    );
    assert_eq!(app.lab.effects(), [("touch-a".to_owned(), 1)].into());
    // A body, no body and an empty object mean the same.
    for body in [
        json!({}),
        json!({"params": null}),
        json!({"params": {}, "reason": null}),
    ] {
        let again = app
            .owner()
            .post("/api/actions/touch-a/run", body)
            .await
            .ok();
        assert_eq!(again["executed"], true);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_risky_action_waits_and_the_same_request_joins_it() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let (owner, blue, red) = (app.owner(), app.agent("blue").await, app.agent("red").await);
        let body = json!({"reason": "it \"hangs\"\u{202e}\n"});
        let queued = blue.post("/api/actions/stop-a/run", body).await.ok();
        assert_eq!(
            masked(&queued),
            json!({"queued": true, "action_row_id": "<id>"})
        );
        let again = blue
            .post("/api/actions/stop-a/run", json!({"reason": "again"}))
            .await
            .ok();
        assert_eq!(again, queued);
        let others = red.run("stop-a").await.ok();
        assert_ne!(others["action_row_id"], queued["action_row_id"]);
        let row = app.row(queued["action_row_id"].as_str().unwrap()).await;
        assert_row(&row);
        assert_eq!(
            (row["count"].as_u64(), row["agent_id"].is_string()),
            (Some(2), true)
        );
        assert_eq!(row["reason"], "it \"hangs\"\u{202e}\n");
        assert_eq!(row["requested_by"]["name"], "blue");
        assert_eq!(row["transitions"].as_array().unwrap().len(), 1);

        let waiting = owner.get("/api/actions/pending").await.ok();
        assert_eq!(members(&waiting), ["next", "pending"]);
        let pending = waiting["pending"].as_array().unwrap();
        assert_eq!(pending.first(), Some(&row), "oldest first");
        assert_eq!(pending.len(), 2);
        let page = owner.get("/api/actions/pending?limit=1").await.ok();
        assert_eq!(page["next"], row["id"]);
        let path = format!(
            "/api/actions/pending?limit=1&cursor={}",
            row["id"].as_str().unwrap()
        );
        let rest = owner.get(&path).await.ok();
        assert_eq!(
            (&rest["pending"][0], &rest["next"]),
            (&pending[1], &Value::Null)
        );
        // Words came after the first ones: a yes that does not say which it saw is for the first.
        assert_eq!(row["revision"], 1);
        let id = row["id"].as_str().unwrap();
        let decide = format!("/api/proposals/{id}/decide");
        let yes = |revision: Value| json!({"decision": "approve", "digest": row["digest"], "revision": revision});
        for (path, body) in [
            (
                decide.clone(),
                json!({"decision": "approve", "digest": row["digest"]}),
            ),
            (decide.clone(), yes(json!(0))),
            (format!("/api/actions/pending/{id}/approve"), json!({})),
        ] {
            owner.post(&path, body).await.error(409, "changed");
        }
        assert_eq!(app.lab.effect_count(), 0);
        owner.post(&decide, yes(json!(1))).await.ok();
        assert_eq!(app.lab.effect_count(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_action_that_fails_says_why() {
    let app = App::start().await;
    let answer = app.owner().run("fail-a").await.ok();
    assert_eq!(
        masked(&answer),
        json!({
            "executed": false, "status": "failed", "action_row_id": "<id>",
            "error": {"code": "command_failed", "message": "the command on local ended with 3"},
        })
    );
    let row = app.row(answer["action_row_id"].as_str().unwrap()).await;
    assert_row(&row);
    assert_eq!(row["error"], answer["error"]);
    assert_eq!(
        (
            row["result"]["stderr"].as_str(),
            row["verification"].is_null()
        ),
        (Some("no such unit\n"), true)
    );
    assert_eq!(app.lab.effects(), [("fail-a".to_owned(), 1)].into());

    // What is not connected fails without an effect.
    for (action, code) in [
        ("reach-far", "host_key_unknown"),
        ("start-ct9", "not_configured"),
    ] {
        let answer = app.owner().run(action).await.ok();
        assert_eq!(
            (&answer["executed"], &answer["status"]),
            (&json!(false), &json!("failed")),
            "{answer}"
        );
        let seen = answer["error"]["code"].as_str().unwrap();
        assert!(seen == code || action == "reach-far", "{answer}");
    }
    assert_eq!(app.lab.effect_count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_has_to_wait_and_nobody_waits_longer_than_they_said() {
    let app = App::start().await;
    let (owner, agent) = (app.owner(), app.agent("blue").await);
    let start = Instant::now();
    let answer = owner
        .post_nothing("/api/actions/slow-a/run?wait=0")
        .await
        .ok();
    assert_eq!(
        masked(&answer),
        json!({"executed": false, "status": "running", "action_row_id": "<id>"})
    );
    let id = answer["action_row_id"].as_str().unwrap();
    // The target is taken: what is safe is refused, what is approved waits for its turn.
    let busy = agent.post_nothing("/api/actions/slow-b/run?wait=0").await;
    let error = busy.error(409, "busy");
    assert_row(&error["row"]);
    assert_eq!(error["row"]["status"], "refused");
    assert_eq!(error["row"]["error"]["code"], "busy");
    let risky = queue(&agent, "slow-stop").await;
    let path = format!(
        "/api/actions/pending/{}/approve?wait=1",
        risky["id"].as_str().unwrap()
    );
    let waits = owner.post_nothing(&path).await.ok();
    assert_row(&waits);
    assert_eq!(waits["status"], "approved");
    assert!(start.elapsed() >= Duration::from_secs(1) && start.elapsed() < Duration::from_secs(20));
    app.lab.release();
    assert_eq!(app.ended(id).await["status"], "executed");
    assert_eq!(
        app.ended(risky["id"].as_str().unwrap()).await["status"],
        "executed"
    );
    assert_eq!(
        app.lab.effects(),
        [("slow-a".to_owned(), 1), ("slow-stop".to_owned(), 1)].into()
    );
}

/// A client that goes away changes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_on_when_its_caller_has_gone() {
    let app = App::start().await;
    let owner = app.owner();
    let mut connection = crate::raw::Connection::open(app.address).await;
    let bearer = format!("Bearer {}", app.owner_token());
    let host = app.address.to_string();
    let lines = [("host", host.as_str()), ("authorization", &bearer)];
    connection
        .write(&crate::raw::request(
            "POST /api/actions/slow-a/run",
            &lines,
            "",
        ))
        .await;
    let running = void_testkit::eventually("it to run", || async {
        let page = owner.get("/api/proposals?status=running").await.ok();
        page["proposals"].get(0).cloned()
    })
    .await;
    drop(connection);
    app.lab.release();
    assert_eq!(
        app.ended(running["id"].as_str().unwrap()).await["status"],
        "executed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_action_is_refused_with_the_one_that_was_meant() {
    let app = App::start().await;
    let answer = app.owner().run("tuoch-a").await;
    assert_eq!(
        answer.json(),
        json!({"error": {
            "code": "unknown_action",
            "message": "there is no action \"tuoch-a\" in the catalogue",
            "hint": "did you mean touch-a?",
        }})
    );
    let far = app
        .owner()
        .run("something-else-entirely")
        .await
        .error(404, "unknown_action");
    assert_eq!(far["hint"], "void actions ls shows what there is");
    for odd in [
        "%2d-help",
        "void-list",
        "TOUCH-A",
        "touch-a%00",
        "touch-a%0a",
        "%ff",
        "..%2f",
        "a%20b",
    ] {
        let answer = app.owner().run(odd).await;
        assert_eq!(answer.status, 404, "{odd}: {}", answer.text);
        assert!(!answer.text.contains(['\0', '\u{1b}']), "{odd}");
    }
    let recorded = app.audited("proposal.invalid").await;
    assert!(recorded.len() >= 8, "{}", recorded.len());
    assert_eq!(app.proposal_count().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn parameters_that_do_not_fit_are_named_one_by_one() {
    let app = App::start().await;
    let owner = app.owner();
    let path = "/api/actions/scale-a/run";
    let answer = owner
        .post(
            path,
            json!({"params": {"replicas": 1.5, "zone": "west", "extra": 1}}),
        )
        .await;
    assert_eq!(
        answer.json(),
        json!({"error": {
            "code": "invalid",
            "message": "params.extra is not a parameter of this action; params.image is required; \
                params.replicas must be a whole number from 0 to 1000000; params.zone must be one of north, south",
            "fields": {
                "params.extra": "is not a parameter of this action",
                "params.image": "is required",
                "params.replicas": "must be a whole number from 0 to 1000000",
                "params.zone": "must be one of north, south",
            },
        }})
    );
    assert_eq!(answer.status, 422);
    for params in [json!([]), json!("x"), json!(5), json!(true), json!([{}])] {
        let answer = owner.post(path, json!({"params": params})).await;
        let error = answer.error(422, "invalid");
        assert_eq!(error["message"], "params must be an object", "{error}");
        assert_eq!(error["fields"], json!({"params": "must be an object"}));
    }
    for params in [
        json!({"replicas": -1, "zone": "north", "image": "a"}),
        json!({"replicas": 1_000_001, "zone": "north", "image": "a"}),
        json!({"replicas": "1", "zone": "north", "image": "a"}),
        json!({"replicas": 1, "zone": "north", "image": "-a"}),
        json!({"replicas": 1, "zone": "north", "image": "a; id"}),
        json!({"replicas": 1, "zone": "north", "image": "a\nb"}),
        json!({"replicas": 1, "zone": "north\u{0}", "image": "a"}),
        json!({"Replicas": 1, "zone": "north", "image": "a"}),
    ] {
        let answer = owner.post(path, json!({"params": params})).await;
        let error = answer.error(422, "invalid");
        assert!(!error["fields"].as_object().unwrap().is_empty());
    }
    let none = owner
        .post("/api/actions/touch-a/run", json!({"params": {"x": 1}}))
        .await;
    none.error(422, "invalid");
    let good = json!({"params": {"replicas": 3, "zone": "south", "image": "nginx:1.2"}});
    let queued = owner.post(path, good.clone()).await.ok();
    let row = app.row(queued["action_row_id"].as_str().unwrap()).await;
    assert_eq!(row["params"], good["params"]);
    // Other parameters are another request, with another digest.
    let other = json!({"params": {"replicas": 4, "zone": "south", "image": "nginx:1.2"}});
    let queued = owner.post(path, other).await.ok();
    let second = app.row(queued["action_row_id"].as_str().unwrap()).await;
    assert_ne!(second["digest"], row["digest"]);
    assert_eq!(
        owner.decide(&row, "approve").await.ok()["status"],
        "executed"
    );
    assert_eq!(app.lab.effect_count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn cooldowns_caps_and_names_hold_back_and_are_recorded() {
    let app = App::with_clock().await;
    let (owner, red) = (app.owner(), app.agent("red").await);
    assert_eq!(owner.run("cool-a").await.ok()["executed"], true);
    let error = owner.run("cool-a").await.error(409, "cooling_down");
    assert_row(&error["row"]);
    assert_eq!(
        (&error["row"]["status"], &error["row"]["error"]["code"]),
        (&json!("refused"), &json!("cooling_down"))
    );
    app.pass(Duration::from_secs(61));
    assert_eq!(owner.run("cool-a").await.ok()["executed"], true);

    for _ in 0..2 {
        assert_eq!(owner.run("cap-a").await.ok()["executed"], true);
    }
    let error = owner.run("cap-a").await.error(409, "cap_reached");
    assert_eq!(error["row"]["status"], "refused");
    app.pass(Duration::from_secs(3_601));
    assert_eq!(owner.run("cap-a").await.ok()["executed"], true);

    // Approving is held back in the same way, and the row still waits.
    let first = app.queue("cool-stop").await;
    assert_eq!(
        owner.decide(&first, "approve").await.ok()["status"],
        "executed"
    );
    let second = app.queue("cool-stop").await;
    let error = owner
        .decide(&second, "approve")
        .await
        .error(409, "cooling_down");
    assert_row(&error["row"]);
    assert_eq!(error["row"]["status"], "pending");
    assert_eq!(app.audited("decision.refused").await.len(), 1);

    let error = red.run("only-blue").await.error(403, "forbidden");
    assert_eq!(error["row"]["status"], "refused");
    let blue = app.agent("blue").await;
    assert_eq!(blue.run("only-blue").await.ok()["executed"], true);
    assert_eq!(app.audited("proposal.refused").await.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn approve_and_reject_answer_with_the_row() {
    let app = App::start().await;
    let owner = app.owner();
    let row = app.queue("stop-a").await;
    let path = format!(
        "/api/actions/pending/{}/approve",
        row["id"].as_str().unwrap()
    );
    let approved = owner
        .post(&path, json!({"digest": row["digest"], "reason": "go"}))
        .await
        .ok();
    assert_row(&approved);
    assert_eq!(
        (&approved["status"], &approved["verification"]),
        (&json!("executed"), &json!("unverified"))
    );
    let by: Vec<&str> = approved["transitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["to"].as_str().unwrap())
        .collect();
    assert_eq!(by, ["pending", "approved", "running", "executed"]);
    assert_eq!(approved["transitions"][1]["by"], "owner-api");

    let row = app.queue("stop-b").await;
    let path = format!(
        "/api/actions/pending/{}/reject",
        row["code"].as_str().unwrap()
    );
    let rejected = owner.post(&path, json!({"reason": "not now"})).await.ok();
    assert_row(&rejected);
    assert_eq!(rejected["status"], "rejected");
    assert_eq!(
        rejected["error"],
        json!({"code": "rejected", "message": "not now"})
    );
    assert_eq!(rejected["resolved_by"], "owner-api");

    // Which of the owner's hands it was stands on the record.
    let bearer = format!("Bearer {}", app.owner_token());
    let cli = app.caller(Shows::Headers(vec![
        ("authorization", bearer),
        ("x-void-surface", "cli".to_owned()),
    ]));
    let by_cli = cli.decide(&app.queue("stop-b").await, "reject").await.ok();
    assert_eq!(by_cli["resolved_by"], "owner-cli");

    let recent = owner.get("/api/actions/recent").await.ok();
    assert_eq!(recent, json!({"recent": [by_cli, rejected, approved]}));
    let one = owner.get("/api/actions/recent?limit=1").await.ok();
    assert_eq!(one["recent"].as_array().unwrap().len(), 1);
    assert_eq!(
        owner.get("/api/actions/pending").await.ok(),
        json!({"pending": [], "next": null})
    );
    assert_eq!(app.lab.effects(), [("stop-a".to_owned(), 1)].into());
}

/// A row and its steps are read in one look: they never contradict each other.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_never_contradicts_its_own_steps() {
    let app = App::start().await;
    let owner = app.owner();
    for _ in 0..20 {
        let row = app.queue("stop-a").await;
        let path = format!(
            "/api/actions/pending/{}/approve?wait=0",
            row["id"].as_str().unwrap()
        );
        let body = json!({"digest": row["digest"]});
        let (approved, second, shown) = tokio::join!(
            owner.post(&path, body.clone()),
            owner.post(&path, body),
            owner.get("/api/inbox"),
        );
        for answer in [approved, second] {
            let json = answer.json();
            assert_row(if answer.status == 200 {
                &json
            } else {
                &json["error"]["row"]
            });
        }
        for item in shown.ok()["items"].as_array().unwrap() {
            let mut row = item.clone();
            row.as_object_mut().unwrap().remove("kind");
            assert_row(&row);
        }
        app.ended(row["id"].as_str().unwrap()).await;
    }
    assert_eq!(app.lab.effect_count(), 20);
}

/// At whatever moment a caller hangs up, what was claimed for it is carried out.
#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_hangs_up_at_any_moment_leaves_nothing_undone() {
    const TRIES: u64 = 60;
    let app = App::start().await;
    let bearer = format!("Bearer {}", app.owner_token());
    let host = app.address.to_string();
    let lines = [("host", host.as_str()), ("authorization", &bearer)];
    for n in 0..TRIES {
        let mut connection = crate::raw::Connection::open(app.address).await;
        let line = "POST /api/actions/touch-a/run";
        connection
            .write(&crate::raw::request(line, &lines, ""))
            .await;
        tokio::time::sleep(Duration::from_micros(n * 100)).await;
        drop(connection);
        void_testkit::eventually("the target to be free", || async {
            let page = app.owner().get("/api/proposals?status=running").await.ok();
            let running = page["proposals"].as_array().unwrap().len();
            (running == 0).then_some(())
        })
        .await;
    }
}
