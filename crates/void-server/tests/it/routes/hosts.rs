//! `/api/hosts`

use std::fs;

use serde_json::{Value, json};
use void_testkit::sshd::Sshd;

use crate::apps::{App, Setup};
use crate::masks::masked;

#[tokio::test(flavor = "multi_thread")]
async fn the_machines_of_the_catalogue_are_listed_and_asked() {
    let app = App::start().await;
    let owner = app.owner();
    let hosts = owner.get("/api/hosts").await.ok();
    assert_eq!(
        hosts,
        json!({"hosts": [
            {"name": "far", "address": "127.0.0.1", "port": 9, "user": "voidact", "pinned": false, "trusted": [], "actions": 1},
            {"name": "local", "address": "local", "port": null, "user": null, "pinned": false, "trusted": [], "actions": 15},
        ]})
    );
    let check = owner.post_nothing("/api/hosts/local/check").await.ok();
    let expected = json!({
        "name": "local", "reachable": true, "list": "<hash>", "version": env!("CARGO_PKG_VERSION"),
        "stopped": false, "drift": null, "cannot": {}, "error": null,
    });
    assert_eq!(masked(&check), expected);
    fs::write(app.lab.path().join("stop"), "").unwrap();
    assert_eq!(
        owner.post_nothing("/api/hosts/local/check").await.ok()["stopped"],
        true
    );
    fs::remove_file(app.lab.path().join("stop")).unwrap();

    let far = owner.post_nothing("/api/hosts/far/check").await.ok();
    assert_eq!(
        (&far["reachable"], &far["list"]),
        (&json!(false), &Value::Null)
    );
    assert!(far["error"]["code"].is_string() && far["error"]["message"].is_string());
    for unknown in ["nope", "..", "%00", "-o", "LOCAL"] {
        owner
            .post_nothing(&format!("/api/hosts/{unknown}/check"))
            .await
            .error(404, "not_found");
        let body = json!({"fingerprint": format!("SHA256:{}", "A".repeat(43))});
        owner
            .post(&format!("/api/hosts/{unknown}/trust"), body)
            .await
            .error(404, "not_found");
    }
    let local = owner
        .post("/api/hosts/local/trust", json!({"fingerprint": "SHA256:x"}))
        .await;
    local.error(409, "not_needed");
    for fingerprint in ["", "SHA256:", "MD5:aa", "SHA256:short", &"A".repeat(50)] {
        let body = json!({"fingerprint": fingerprint});
        owner
            .post("/api/hosts/far/trust", body)
            .await
            .error(422, "invalid");
    }
    let body = json!({"fingerprint": format!("SHA256:{}", "A".repeat(43))});
    let error = owner
        .post("/api/hosts/far/trust", body)
        .await
        .error(409, "host_key_mismatch");
    assert!(error["message"].as_str().unwrap().contains("no key"));
    assert_eq!(app.audited("host.trusted").await.len(), 0);
}

/// Against a real sshd: the key that is shown is trusted when its fingerprint is named, no other.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_trusted_by_its_fingerprint() {
    let sshd = tokio::task::spawn_blocking(Sshd::start).await.unwrap();
    let setup = Setup::default();
    let file = setup.lab.catalogue_file();
    let text = fs::read_to_string(&file).unwrap();
    fs::write(
        &file,
        text.replace("\"port\": 9,", &format!("\"port\": {},", sshd.port)),
    )
    .unwrap();
    let app = setup.start().await;
    let owner = app.owner();
    let other = json!({"fingerprint": format!("SHA256:{}", "A".repeat(43))});
    let error = owner
        .post("/api/hosts/far/trust", other)
        .await
        .error(409, "host_key_mismatch");
    let message = error["message"].as_str().unwrap();
    let shown = message
        .split_whitespace()
        .find(|word| word.starts_with("SHA256:"));
    let shown = shown.unwrap().trim_end_matches(',').to_owned();
    assert_eq!(
        owner.get("/api/hosts").await.ok()["hosts"][0]["trusted"],
        json!([])
    );
    let trusted = owner
        .post("/api/hosts/far/trust", json!({"fingerprint": shown}))
        .await
        .ok();
    assert_eq!(trusted, json!({"name": "far", "fingerprint": shown}));
    assert_eq!(
        owner.get("/api/hosts").await.ok()["hosts"][0]["trusted"],
        json!([shown])
    );
    let recorded = app.audited("host.trusted").await;
    assert_eq!(
        (recorded.len(), recorded[0].subject.as_deref()),
        (1, Some("far"))
    );
}
