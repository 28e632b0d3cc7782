//! `/api/quarantine`. What a restored copy puts there is tried in `void`'s `restore`.

use serde_json::json;

use crate::apps::App;
use crate::callers::Shows;

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_confirmed_that_is_not_in_quarantine() {
    let app = App::start().await;
    let owner = app.owner();
    let listed = owner.get("/api/quarantine").await.ok();
    assert_eq!(listed, json!({"quarantined": []}));
    let unknown = json!({"kind": "token", "id": "01a1e67e-d8fb-7ab8-9dca-7d5ea05d0a13"});
    for path in ["/api/quarantine/confirm", "/api/quarantine/remove"] {
        let refused = owner.post(path, unknown.clone()).await;
        assert_eq!(refused.status, 404, "{path}: {}", refused.text);
        let refused = owner.post(path, json!({"kind": "all", "id": "x"})).await;
        assert_eq!(refused.status, 422, "{path}: {}", refused.text);
        let stranger = app.caller(Shows::Nothing).post(path, unknown.clone()).await;
        assert_eq!(stranger.status, 401, "{path}");
    }
}
