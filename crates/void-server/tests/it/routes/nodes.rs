//! `/api/nodes`

use serde_json::json;

use crate::apps::App;
use crate::sse::Listener;

/// What a machine shows; made from nothing secret.
pub(super) fn fingerprint(of: u8) -> String {
    vec![format!("{of:02X}"); 32].join(":")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_is_invited_asks_waits_and_is_let_in() {
    let app = App::start().await;
    let (owner, anonymous) = (app.owner(), app.anonymous());
    let mut listener = Listener::open(&owner).await;
    let invited = owner.post("/api/nodes", json!({"name": "n1"})).await.ok();
    app.secrets.add(invited["token"].as_str().unwrap());
    assert_eq!(listener.next().await.unwrap().event, "node.changed");
    let ask = |token: &serde_json::Value, of: u8| {
        let body = json!({"token": token, "fingerprint": fingerprint(of), "version": "9.9.9"});
        anonymous.post("/api/node/join", body)
    };
    let asked = ask(&invited["token"], 7).await.ok();
    assert_eq!(
        (&asked["name"], &asked["state"]),
        (&json!("n1"), &json!("waiting"))
    );
    // Asking again is looking; another machine with the same token is turned away.
    assert_eq!(ask(&invited["token"], 7).await.ok(), asked);
    ask(&invited["token"], 8)
        .await
        .error(409, "already_decided");
    ask(&json!("void_join_made-up"), 7)
        .await
        .error(403, "forbidden");
    let inbox = owner.get("/api/inbox").await.ok();
    assert_eq!(inbox["counts"]["join"], 1);
    let item = &inbox["items"][0];
    assert_eq!(
        (
            &item["kind"],
            &item["name"],
            &item["fingerprint"],
            &item["version"]
        ),
        (
            &json!("join"),
            &json!("n1"),
            &json!(fingerprint(7)),
            &json!("9.9.9")
        )
    );
    let approve = |of: u8| {
        owner.post(
            "/api/nodes/n1/approve",
            json!({"fingerprint": fingerprint(of)}),
        )
    };
    approve(8).await.error(409, "changed");
    assert_eq!(approve(7).await.ok()["state"], "joined");
    approve(7).await.error(409, "already_decided");
    let node = owner.get("/api/nodes").await.ok()["nodes"][0].clone();
    assert_eq!(
        (&node["state"], &node["here"], &node["skew"]),
        (&json!("joined"), &json!(false), &json!("newer"))
    );
    owner
        .post("/api/nodes", json!({"name": "n1"}))
        .await
        .error(409, "name_taken");
    assert_eq!(
        owner.delete("/api/nodes/n1").await.ok(),
        json!({"removed": true, "was": "joined"})
    );
    owner.delete("/api/nodes/n1").await.error(404, "not_found");
    ask(&invited["token"], 7).await.error(403, "forbidden");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invitation_ends_after_an_hour_and_a_later_one_replaces_it() {
    let app = App::with_clock().await;
    let owner = app.owner();
    let invite =
        || async { owner.post("/api/nodes", json!({"name": "n1"})).await.ok()["token"].clone() };
    let ask = |token: serde_json::Value| {
        let body = json!({"token": token, "fingerprint": fingerprint(1)});
        let anonymous = app.anonymous();
        async move { anonymous.post("/api/node/join", body).await }
    };
    let (first, second) = (invite().await, invite().await);
    ask(first).await.error(403, "forbidden");
    app.pass(std::time::Duration::from_secs(60 * 60));
    ask(second).await.error(403, "forbidden");
    assert_eq!(owner.delete("/api/nodes/n1").await.ok()["was"], "invited");
    for name in ["", "N1", "-n", "a b", &"n".repeat(64)] {
        owner
            .post("/api/nodes", json!({ "name": name }))
            .await
            .error(422, "invalid");
    }
}
