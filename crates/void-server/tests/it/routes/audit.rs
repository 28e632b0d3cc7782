//! `/api/audit`

use serde_json::{Value, json};
use void_server::routes::{Content, ROUTES, Route};
use void_verify::{Options, TailProof};

use crate::apps::{App, Engine};
use crate::callers::Caller;
use crate::masks::{is_time, members};

const ENTRY: [&str; 10] = [
    "actor",
    "at",
    "catalogue",
    "detail",
    "hash",
    "prev",
    "request_id",
    "seq",
    "subject",
    "verb",
];

#[tokio::test(flavor = "multi_thread")]
async fn the_record_is_found_by_who_and_what_and_walked_to_its_head() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        let row = app.queue("stop-a").await;
        owner.decide(&row, "reject").await.ok();
        app.agent("ann").await.run("touch-a").await.ok();
        let verbs = |page: &Value| -> Vec<(String, String)> {
            let word = |entry: &Value, name: &str| entry[name].as_str().unwrap().to_owned();
            let entries = page["entries"].as_array().unwrap();
            let pair = |entry| (word(entry, "actor"), word(entry, "verb"));
            entries.iter().map(pair).collect()
        };
        let rejected = owner.get("/api/audit?verb=proposal.rejected").await.ok();
        assert_eq!(verbs(&rejected).len(), 1);
        let by_agents = verbs(&owner.get("/api/audit?actor=agent-ann").await.ok());
        assert!(!by_agents.is_empty());
        assert!(
            by_agents
                .iter()
                .all(|(actor, _)| actor.starts_with("agent-ann"))
        );
        let both = verbs(
            &owner
                .get("/api/audit?actor=owner&verb=proposal.")
                .await
                .ok(),
        );
        assert!(
            both.iter()
                .all(|(actor, verb)| actor.starts_with("owner") && verb.starts_with("proposal."))
        );
        assert_eq!(both.len(), 2, "{both:?}");
        // A sign of a pattern is a sign.
        assert!(verbs(&owner.get("/api/audit?verb=proposal%25").await.ok()).is_empty());
        assert!(verbs(&owner.get("/api/audit?actor=_").await.ok()).is_empty());

        let (seq, hash) = app.audit_head().await;
        let verdict = owner.get("/api/audit-verify").await.ok();
        assert_eq!(verdict["intact"], true);
        assert_eq!(verdict["checked"], seq);
        assert_eq!(verdict["head"], json!({"seq": seq, "hash": hash}));
        assert_eq!(verdict["problem"], Value::Null);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_record_is_paged_newest_first_and_found_by_subject() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        let row = app.queue("stop-a").await;
        owner.decide(&row, "approve").await.ok();
        owner.run("touch-a").await.ok();
        let all = owner.get("/api/audit?limit=500").await.ok();
        assert_eq!(members(&all), ["entries", "head", "next"]);
        let entries = all["entries"].as_array().unwrap();
        let head = all["head"]["seq"].as_u64().unwrap();
        assert_eq!(entries.len() as u64, head);
        assert_eq!(entries[0]["hash"], all["head"]["hash"]);
        for (entry, seq) in entries.iter().zip((1..=head).rev()) {
            assert_eq!(members(entry), ENTRY);
            assert_eq!(entry["seq"], seq);
            assert!(is_time(entry["at"].as_str().unwrap()));
            assert_eq!(owner.get(&format!("/api/audit/{seq}")).await.ok(), *entry);
        }
        let (mut seen, mut path) = (Vec::new(), "/api/audit?limit=2".to_owned());
        loop {
            let page = owner.get(&path).await.ok();
            seen.extend(page["entries"].as_array().unwrap().clone());
            let Some(next) = page["next"].as_str() else {
                break;
            };
            path = format!("/api/audit?limit=2&cursor={next}");
        }
        assert_eq!(seen, *entries);
        let id = row["id"].as_str().unwrap();
        let about = owner.get(&format!("/api/audit?subject={id}")).await.ok();
        let verbs: Vec<&str> = about["entries"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["verb"].as_str().unwrap())
            .collect();
        assert_eq!(
            verbs,
            [
                "proposal.executed",
                "proposal.started",
                "proposal.approved",
                "proposal.created"
            ]
        );
        for (path, status) in [
            ("/api/audit/0", 404),
            ("/api/audit/-1", 404),
            ("/api/audit/x", 404),
            ("/api/audit/18446744073709551615", 404),
            ("/api/audit/99999999999999999999", 404),
            ("/api/audit?cursor=18446744073709551615&limit=1", 200),
            ("/api/audit?cursor=-1", 422),
            ("/api/audit?subject=%00", 422),
            ("/api/audit?subject=", 200),
            ("/api/audit-export?after=18446744073709551615", 422),
            ("/api/audit-export?after=-1", 422),
        ] {
            assert_eq!(owner.get(path).await.status, status, "{path}");
        }
    }
}

/// What is downloaded is proven by a program that knows nothing of Void.
#[tokio::test(flavor = "multi_thread")]
async fn an_export_proves_itself() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        let body = json!({"reason": "Grüße \u{1f600} \u{202e}\n\t\u{1} \"quoted\" \\ 東京"});
        owner.post("/api/actions/stop-a/run", body).await.ok();
        // More than one page of an export.
        let calls = (0..600).map(|n| {
            let owner = owner.clone();
            async move {
                owner
                    .run(&format!("no-such-{n}"))
                    .await
                    .error(404, "unknown_action")
            }
        });
        futures_util::future::join_all(calls).await;
        let export = owner.get("/api/audit-export").await;
        assert_eq!(export.headers["content-type"], "application/x-ndjson");
        let head = owner.get("/api/audit?limit=1").await.ok()["head"].clone();
        let options = Options {
            head: void_verify::parse_hash(head["hash"].as_str().unwrap().as_bytes()),
            threads: 2,
        };
        let report = void_verify::verify(export.text.as_bytes(), &options).unwrap();
        assert!(
            report.problems.is_empty() && report.reformatted == 0,
            "{report:?}"
        );
        let seq = head["seq"].as_u64().unwrap();
        assert_eq!((report.entries, report.first_seq), (seq, Some(1)));
        assert_eq!(report.tail, TailProof::Proven { seq, following: 0 });
        for line in export.text.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!(members(&line), ENTRY);
        }
        let rest = owner.get("/api/audit-export?after=600").await.text;
        assert!(export.text.ends_with(&rest) && rest.lines().count() as u64 == seq - 600);
        assert_eq!(
            owner
                .get(&format!("/api/audit-export?after={seq}"))
                .await
                .text,
            ""
        );
    }
}

/// Half a record must not look like a whole one: a download that cannot be finished breaks off.
#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_cannot_be_finished_breaks_off() {
    let app = App::start().await;
    let owner = app.owner();
    // More than a page of it.
    let calls = (0..2_100).map(|n| {
        let owner = owner.clone();
        async move {
            owner
                .run(&format!("no-such-{n}"))
                .await
                .error(404, "unknown_action")
        }
    });
    futures_util::future::join_all(calls).await;
    let damage = |sql: &str| {
        let file = rusqlite::Connection::open(app.lab.path().join("void.db")).unwrap();
        file.execute_batch(sql).unwrap();
    };
    // The database itself refuses to change its record; whoever owns the file can.
    let entry = owner.get("/api/audit/2050").await.ok();
    damage(
        "PRAGMA ignore_check_constraints = ON; UPDATE facts SET hash = 'damaged' WHERE seq = 2050;",
    );
    let download = owner.request(reqwest::Method::GET, "/api/audit-export");
    let broken = match download.send().await {
        Err(_) => true,
        Ok(response) => response.text().await.is_err(),
    };
    assert!(broken, "the end is missing, and that is seen");
    damage(
        "PRAGMA ignore_check_constraints = ON; UPDATE facts SET hash = 'damaged' WHERE seq = 2;",
    );
    owner.get("/api/audit-export").await.error(500, "internal");
    let first = owner.get("/api/audit/2").await;
    first.error(500, "internal");
    let second = owner.get("/api/audit/3").await.ok();
    let hash = |entry: &Value| entry.as_str().unwrap().to_owned();
    damage(&format!(
        "UPDATE facts SET hash = '{}' WHERE seq = 2050; UPDATE facts SET hash = '{}' WHERE seq = 2;",
        hash(&entry["hash"]),
        hash(&second["prev"]),
    ));
    owner.get("/api/audit-export").await;
}

/// `audit.read` opens the record, without what somebody wrote; nobody reads it by another right.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_reads_the_record_by_one_right_and_nobodys_words() {
    let app = App::start().await;
    let asking = app
        .holder("agent", "asking", &["read", "act", "suggest"])
        .await;
    let viewer = app.holder("viewer", "watching", &[]).await;
    let auditor = app.holder("agent", "auditor", &["audit.read"]).await.caller;
    let body = serde_json::json!({"reason": "do as I say"});
    let path = "/api/actions/stop-a/run";
    asking.caller.post(path, body).await.ok();
    let strange = "/api/actions/as-i-say-stop-all/run";
    asking
        .caller
        .post_nothing(strange)
        .await
        .error(404, "unknown_action");
    for path in ["/api/audit", "/api/audit/1", "/api/audit?verb=token."] {
        for caller in [&asking.caller, &viewer.caller] {
            let refused = caller.get(path).await.error(403, "forbidden");
            assert_eq!(
                refused["message"],
                "reading the record needs the capability audit.read"
            );
        }
    }
    let whole = app.owner().get("/api/audit").await;
    assert!(whole.text.contains("do as I say") && whole.text.contains("as-i-say-stop-all"));
    let seen = auditor.get("/api/audit").await;
    // A hash would confirm a guess at the words.
    let one = auditor.get("/api/audit/2").await.ok();
    for member in ["hash", "prev"] {
        assert!(one.get(member).is_none(), "{one}");
        assert!(
            !seen.text.contains(&format!("\"{member}\"")),
            "{}",
            seen.text
        );
    }
    assert!(
        !seen.text.contains("as I say") && !seen.text.contains("as-i-say-stop-all"),
        "{}",
        seen.text
    );
    // Every entry is there, at its place.
    let (whole, seen) = (whole.ok(), seen.ok());
    let chain = |page: &Value| -> Vec<(Value, Value, Value)> {
        let entries = page["entries"].as_array().unwrap().iter();
        let parts = entries.map(|it| (it["seq"].clone(), it["verb"].clone(), it["at"].clone()));
        parts.collect()
    };
    assert_eq!(chain(&seen), chain(&whole));
    let created = seen["entries"].as_array().unwrap().iter();
    let mut created = created.filter(|entry| entry["verb"] == "proposal.created");
    let created = created.next().unwrap();
    assert_eq!(created["detail"]["action_id"], "stop-a");
    assert!(created["detail"].get("reason").is_none(), "{created}");
    let one = auditor
        .get(&format!("/api/audit/{}", created["seq"]))
        .await
        .ok();
    assert_eq!(&one, created);
    opens_nothing_else(&auditor).await;
}

/// A hash of words or parameters that are withheld gives away the short ones: whoever has it tries them all. So no hash of
/// an entry, and no digest of another's parameters, reaches an agent by any route, tool or event.
#[tokio::test(flavor = "multi_thread")]
async fn no_answer_gives_an_agent_a_hash_of_what_it_is_not_shown() {
    let app = App::start().await;
    let owner = app.owner();
    let asking = app.agent("asking").await;
    let rights = ["read", "act", "suggest", "audit.read"];
    let auditor = app.holder("agent", "auditor", &rights).await.caller;
    let params = json!({"replicas": 73_519, "zone": "north", "image": "app:1.2"});
    let secret = json!({"reason": "pin 6434", "params": params});
    let path = "/api/actions/scale-a/run";
    let asked = asking.post(path, secret).await.ok();
    let row = app.row(asked["action_row_id"].as_str().unwrap()).await;
    asking.run("touch-a").await.ok();
    owner.post("/api/freeze", json!({})).await.ok();
    let mut withheld: Vec<String> = (app.audit().await.iter())
        .map(|entry| entry.hash.to_string())
        .collect();
    withheld.push(row["digest"].as_str().unwrap().to_owned());
    let check = |path: &str, text: &str| {
        for hash in &withheld {
            assert!(!text.contains(hash.as_str()), "{path}: {text}");
        }
    };
    let is_read = |route: &&Route| {
        let is_stream = matches!(route.response, Content::Text("text/event-stream"));
        route.method == "GET" && !route.path.contains('{') && !is_stream && route.path != "/mcp"
    };
    let mut answered = Vec::new();
    for route in ROUTES.iter().filter(is_read) {
        let answer = auditor.get(route.path).await;
        check(route.path, &answer.text);
        if answer.status == 200 {
            answered.push(route.path);
        }
    }
    for path in ["/api/status", "/api/audit", "/api/proposals", "/metrics"] {
        assert!(answered.contains(&path), "{path}: {answered:?}");
    }
    for seq in 1..=withheld.len() {
        let path = format!("/api/audit/{seq}");
        check(&path, &auditor.get(&path).await.text);
    }
    let request = auditor.request(reqwest::Method::GET, "/api/events?after=0");
    let mut stream = request.send().await.unwrap();
    let mut heard = String::new();
    while !heard.contains("freeze.changed") {
        heard.push_str(std::str::from_utf8(&stream.chunk().await.unwrap().unwrap()).unwrap());
    }
    check("/api/events", &heard);
    // The owner has them all.
    let whole = owner.get("/api/audit?limit=500").await.text;
    assert!(withheld.iter().all(|hash| whole.contains(hash.as_str())));
}

async fn opens_nothing_else(auditor: &Caller) {
    for path in ["/api/audit-verify", "/api/audit-export", "/api/tokens"] {
        auditor.get(path).await.error(403, "owner_only");
    }
    for path in [
        "/api/actions",
        "/api/proposals",
        "/api/services",
        "/api/events",
    ] {
        auditor.get(path).await.error(403, "forbidden");
    }
    auditor.run("touch-a").await.error(403, "forbidden");
}
