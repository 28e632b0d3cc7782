//! What is done with every kind of entity alike, through each of its own paths: reading, throwing away, taking back,
//! answering for its text. One of each kind in a space, and what is done with it, also serve the matrix of callers.

use serde_json::{Value, json};
use void_server::routes::{ROUTES, Route};

use crate::apps::{App, Engine};
use crate::callers::Caller;
use crate::sse::Listener;

/// What stands in every text of [`Kept`], and in no answer for somebody who may not read it.
pub const WORDS: &str = "marmalade";
pub const NOUNS: [&str; 5] = ["spaces", "projects", "pages", "tasks", "refs"];

/// Whether a route is about a space or something in it, other than conversations and drafts.
pub fn is_about_one(route: &Route) -> bool {
    let noun = route.path.strip_prefix("/api/").unwrap_or_default();
    let noun = noun.split('/').next().unwrap();
    let others = [
        "draftChange",
        "getSpaceConversation",
        "beginSpaceConversation",
    ];
    let is_other = others.contains(&route.operation);
    NOUNS.contains(&noun) && !is_other
}

pub fn id(value: &Value) -> &str {
    value["id"].as_str().unwrap()
}

pub async fn new_space(owner: &Caller, title: &str) -> String {
    let space = owner.post("/api/spaces", json!({"title": title})).await;
    id(&space.ok()).to_owned()
}

/// Makes something in a space and says what it became.
pub async fn new(owner: &Caller, space: &str, noun: &str, body: Value) -> Value {
    let path = format!("/api/spaces/{space}/{noun}");
    owner.post(&path, body).await.ok()
}

/// What is new of this kind says at least this.
pub fn least(noun: &str) -> Value {
    match noun {
        "refs" => json!({"title": WORDS, "url": "https://example.org/a", "body": WORDS}),
        _ => json!({"title": WORDS, "body": WORDS}),
    }
}

/// A space with one of each kind in it.
pub struct Kept {
    pub space: String,
    /// By noun.
    pub ids: Vec<(&'static str, String)>,
}

impl Kept {
    pub async fn new(app: &App) -> Self {
        let owner = app.owner();
        let space = owner.post("/api/spaces", least("spaces")).await.ok();
        let space = id(&space).to_owned();
        let mut ids = vec![("spaces", space.clone())];
        for noun in &NOUNS[1..] {
            let made = new(&owner, &space, noun, least(noun)).await;
            ids.push((noun, id(&made).to_owned()));
        }
        Self { space, ids }
    }

    fn id_of(&self, noun: &str) -> &str {
        let found = self.ids.iter().find(|(known, _)| *known == noun);
        &found.unwrap().1
    }

    /// A call of this route that would do something, if the caller may.
    pub fn call(&self, route: &Route) -> (String, Option<Value>) {
        let noun = route.path["/api/".len()..].split('/').next().unwrap();
        let path = route
            .path
            .replace("{id}", self.id_of(noun))
            .replace("{number}", "1");
        let last = path.rsplit('/').next().unwrap();
        let body = match (route.method, last) {
            ("PUT" | "PATCH", _) => json!({"base_revision": 1, "title": "stolen"}),
            ("POST", "vouch" | "restore") => json!({"revision": 1}),
            ("POST", "preview") => json!({"text": WORDS}),
            ("POST", "import-plan" | "export-plan" | "export") => json!({"files": []}),
            ("POST", "import") => {
                json!({"steps": [{"step": "put", "path": "stolen.md", "text": WORDS}]})
            }
            ("POST", noun) if NOUNS.contains(&noun) => least(noun),
            _ => return (path, None),
        };
        (path, Some(body))
    }

    /// Everything of it, as the owner sees it.
    pub async fn seen(&self, app: &App) -> Vec<Value> {
        let mut seen = Vec::new();
        for (noun, id) in &self.ids {
            let path = format!("/api/{noun}/{id}");
            seen.push(app.owner().get(&path).await.ok());
            seen.push(app.owner().get(&format!("{path}/revisions")).await.ok());
        }
        for noun in &NOUNS[1..] {
            let path = format!("/api/spaces/{}/{noun}", self.space);
            seen.push(app.owner().get(&path).await.ok());
        }
        seen.push(app.owner().get("/api/spaces").await.ok());
        seen
    }
}

/// Every operation of every kind, each answer held against the document by whoever calls.
#[tokio::test(flavor = "multi_thread")]
async fn each_of_the_five_is_made_changed_thrown_away_and_taken_back() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        let space = new_space(&owner, "Lab").await;
        for noun in NOUNS {
            let list = match noun {
                "spaces" => "/api/spaces".to_owned(),
                noun => format!("/api/spaces/{space}/{noun}"),
            };
            let made = owner.post(&list, least(noun)).await.ok();
            let kind = &noun[..noun.len() - 1];
            assert_eq!(
                (&made["revision"], &made["kind"]),
                (&json!(1), &json!(kind))
            );
            let one = format!("/api/{noun}/{}", id(&made));
            assert_eq!(owner.get(&one).await.ok(), made);
            assert_eq!(owner.get(&list).await.ok()[noun][0]["id"], made["id"]);
            change_and_go_back(&owner, noun, &one).await;
            throw_away_and_take_back(&owner, &one).await;
            if noun != "refs" {
                // What the owner wrote needs nobody's word.
                let vouched = owner
                    .post(&format!("{one}/vouch"), json!({"revision": 3}))
                    .await;
                vouched.error(409, "not_needed");
            }
        }
    }
}

async fn change_and_go_back(owner: &Caller, noun: &str, one: &str) {
    let change = json!({"base_revision": 1, "body": "other words", "reason": "a test"});
    let method = if noun == "spaces" { "PATCH" } else { "PUT" };
    let changed = owner
        .send(method.parse().unwrap(), one, Some(change))
        .await
        .ok();
    assert_eq!(
        (&changed["revision"], &changed["body"]),
        (&json!(2), &json!("other words"))
    );
    let listed = owner.get(&format!("{one}/revisions")).await.ok();
    assert_eq!(listed["revisions"][0]["reason"], "a test");
    assert_eq!(
        owner.get(&format!("{one}/revisions/1")).await.ok()["body"],
        WORDS
    );
    let diff = owner.get(&format!("{one}/diff")).await.ok();
    let ends = (&diff["from"]["revision"], &diff["to"]["revision"]);
    assert_eq!(ends, (&json!(1), &json!(2)));
    let restore = json!({"revision": 1, "base_revision": 2});
    let restored = owner.post(&format!("{one}/restore"), restore).await.ok();
    assert_eq!(
        (&restored["revision"], &restored["body"]),
        (&json!(3), &json!(WORDS))
    );
}

async fn throw_away_and_take_back(owner: &Caller, one: &str) {
    let gone = owner.delete(&format!("{one}?base_revision=3")).await.ok();
    let undo = format!("{one}/undelete");
    assert_eq!(gone["undo"], undo);
    owner.get(one).await.error(404, "not_found");
    owner.delete(one).await.error(404, "not_found");
    let back = owner.post_nothing(&undo).await.ok();
    assert_eq!(
        (&back["body"], &back["deleted_at"]),
        (&json!(WORDS), &Value::Null)
    );
    // Taken back twice is taken back once.
    assert_eq!(owner.post_nothing(&undo).await.ok(), back);
}

/// The story above calls each of these; an operation that is new has to come into it.
#[test]
fn every_operation_of_the_five_is_one_that_is_tested() {
    let known = [
        "",
        "revisions",
        "revisions/{number}",
        "diff",
        "restore",
        "undelete",
        "vouch",
        // These have a story of their own, in `vault_files.rs`.
        "vault/import-plan",
        "vault/import",
        "vault/export-plan",
        "vault/export",
        "runbook",
        // In `previews.rs`.
        "preview",
        // Files that are sent: `attachments.rs` and `imports.rs`.
        "attachments",
        "refs/file",
        "import/karakeep",
    ];
    for route in ROUTES.iter().filter(|route| is_about_one(route)) {
        let path = &route.path["/api/".len()..];
        let (noun, rest) = path.split_once('/').unwrap_or((path, ""));
        let rest = rest
            .strip_prefix("{id}")
            .unwrap_or(rest)
            .trim_start_matches('/');
        let is_list = noun == "spaces" && NOUNS[1..].contains(&rest);
        assert!(known.contains(&rest) || is_list, "{}", route.path);
    }
}

/// Who was slower is shown what is there now, whatever they were about to do; nothing of theirs is stored.
#[tokio::test(flavor = "multi_thread")]
async fn a_moved_base_is_a_conflict_with_what_is_there_now() {
    let app = App::start().await;
    let (owner, kept) = (app.owner(), Kept::new(&app).await);
    for (noun, id) in &kept.ids {
        let one = format!("/api/{noun}/{id}");
        let method = if *noun == "spaces" { "PATCH" } else { "PUT" };
        let put = async |body: Value| owner.send(method.parse().unwrap(), &one, Some(body)).await;
        let faster = put(json!({"base_revision": 1, "body": "faster"}))
            .await
            .ok();
        let slower = put(json!({"base_revision": 1, "body": "slower"})).await;
        for refused in [
            slower,
            owner.delete(&format!("{one}?base_revision=1")).await,
            owner
                .post(
                    &format!("{one}/restore"),
                    json!({"revision": 1, "base_revision": 1}),
                )
                .await,
            put(json!({"base_revision": 7, "body": "from the future"})).await,
        ] {
            let error = refused.error(409, "changed");
            assert_eq!(error["row"], faster, "{noun}");
        }
        // The same words again change nothing, and make no revision.
        let same = put(json!({"base_revision": 2, "body": "faster"}))
            .await
            .ok();
        assert_eq!(same["revision"], 2);
        for missing in [
            json!({"body": "x"}),
            json!({"base_revision": null, "body": "x"}),
        ] {
            let error = put(missing).await.error(422, "invalid");
            assert!(error["fields"]["base_revision"].is_string(), "{error}");
        }
        assert_eq!(owner.get(&one).await.ok(), faster);
    }
}

/// An id of another kind, of nothing, or that is none, is nothing; and it is said of which kind there is none.
#[tokio::test(flavor = "multi_thread")]
async fn an_id_is_of_its_own_kind() {
    let app = App::start().await;
    let (owner, kept) = (app.owner(), Kept::new(&app).await);
    for (noun, id) in &kept.ids {
        for other in NOUNS.into_iter().filter(|other| other != noun) {
            let error = owner
                .get(&format!("/api/{other}/{id}"))
                .await
                .error(404, "not_found");
            let kind = &other[..other.len() - 1];
            assert_eq!(error["message"], format!("there is no such {kind}"));
        }
        for wrong in [
            "x",
            "..",
            "%00",
            &id.to_uppercase(),
            &format!("{id}0"),
            "%2e%2e%2fspaces",
        ] {
            let answer = owner.get(&format!("/api/{noun}/{wrong}")).await;
            assert_eq!(answer.status, 404, "{wrong}: {}", answer.text);
        }
        for wrong in ["0", "99", "-1", "x", "18446744073709551616"] {
            let answer = owner
                .get(&format!("/api/{noun}/{id}/revisions/{wrong}"))
                .await;
            answer.error(404, "not_found");
        }
    }
}

/// Each write is one event for the owner, without a word of the text; nobody else hears of it.
#[tokio::test(flavor = "multi_thread")]
async fn each_write_is_an_event_without_words() {
    let app = App::start().await;
    let (owner, reader) = (
        app.owner(),
        app.holder("agent", "reader", &["read", "suggest"]).await,
    );
    let mut heard = Listener::open(&owner).await;
    let mut others = Listener::open(&reader.caller).await;
    let space = new_space(&owner, WORDS).await;
    let page = new(&owner, &space, "pages", least("pages")).await;
    let one = format!("/api/pages/{}", id(&page));
    owner
        .put(&one, json!({"base_revision": 1, "title": "Other"}))
        .await
        .ok();
    owner.delete(&one).await.ok();
    owner.post_nothing(&format!("{one}/undelete")).await.ok();
    let expected = [
        "page.created",
        "page.changed",
        "page.deleted",
        "page.restored",
    ];
    for what in expected {
        let event = heard.wait_for("page.changed").await;
        assert_eq!(
            (&event.data["what"], &event.data["id"]),
            (&json!(what), &page["id"])
        );
        assert_eq!(event.data["space_id"], space.as_str());
        crate::openapi::assert_event(&event.event, &event.data);
        assert!(!event.data.to_string().contains(WORDS), "{event:?}");
    }
    // The next thing that the agent hears is its own.
    let draft = json!({"entity": "page", "op": "delete", "id": id(&page)});
    let draft = reader
        .caller
        .post(&format!("/api/spaces/{space}/drafts"), draft)
        .await
        .ok();
    let first = others.next().await.unwrap();
    assert_eq!(
        (first.event.as_str(), &first.data["id"]),
        ("proposal.created", &draft["id"])
    );
}
