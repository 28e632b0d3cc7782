//! `/api/passkeys`, and what passkeys open

use std::time::Duration;

use serde_json::{Value, json};
use void_control::Clock;
use void_testkit::authenticators::Authenticator;

use crate::apps::{App, Engine, Setup};
use crate::callers::{Caller, HttpResponse, Shows};
use crate::instances::pair_at;
use crate::masks::{is_time, members};
use crate::sse::Listener;

/// A challenge that nobody made.
const ANOTHER: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
type Lie = fn(&mut Authenticator);

const FRESH: Duration = Duration::from_secs(5 * 60);

/// A browser on a page of this machine, with the cookies that it was given.
struct Browser<'a> {
    app: &'a App,
    host: String,
    origin: String,
    cookie: Option<String>,
}

impl<'a> Browser<'a> {
    fn local(app: &'a App) -> Self {
        let host = format!("localhost:{}", app.address.port());
        Self::at(app, &host, &format!("http://{host}"))
    }

    fn at(app: &'a App, host: &str, origin: &str) -> Self {
        Self {
            app,
            host: host.to_owned(),
            origin: origin.to_owned(),
            cookie: None,
        }
    }

    async fn signed_in(app: &'a App) -> Self {
        let mut browser = Self::local(app);
        let answer = browser.open(json!({"token": app.owner_token()})).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        browser
    }

    fn caller(&self) -> Caller {
        let mut headers = vec![("host", self.host.clone()), ("origin", self.origin.clone())];
        headers.extend(self.cookie.clone().map(|cookie| ("cookie", cookie)));
        self.app.caller(Shows::Headers(headers))
    }

    fn authenticator(&self, seed: u8) -> Authenticator {
        Authenticator::new(seed, &self.origin)
    }

    async fn open(&mut self, proof: Value) -> HttpResponse {
        let answer = self.caller().post("/api/session", proof).await;
        if let Some(cookie) = answer.headers.get("set-cookie") {
            let cookie = cookie.to_str().unwrap().split(';').next().unwrap();
            self.app.secrets.add(cookie.split_once('=').unwrap().1);
            self.cookie = Some(cookie.to_owned());
        }
        answer
    }

    async fn ask(&self, path: &str) -> (Value, Value) {
        let asked = self.caller().post_nothing(path).await.ok();
        assert_eq!(members(&asked), ["challenge", "options"]);
        (asked["challenge"].clone(), asked["options"].clone())
    }

    async fn register(&self, authenticator: &mut Authenticator) -> HttpResponse {
        let (challenge, options) = self.ask("/api/passkeys/challenge").await;
        let credential = authenticator.create(&options);
        self.keep(&challenge, credential).await
    }

    async fn keep(&self, challenge: &Value, credential: Value) -> HttpResponse {
        let body = json!({"challenge": challenge, "name": "phone", "credential": credential});
        self.caller().post("/api/passkeys", body).await
    }

    /// What proves, by this authenticator, who is behind the page.
    async fn proof(&self, authenticator: &mut Authenticator) -> Value {
        let (challenge, options) = self.ask("/api/session/challenge").await;
        let credential = authenticator.get(&options);
        json!({"passkey": {"challenge": challenge, "credential": credential}})
    }

    /// The status of a login by this authenticator.
    async fn log_in(&mut self, authenticator: &mut Authenticator) -> u16 {
        let proof = self.proof(authenticator).await;
        self.open(proof).await.status
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passkey_is_made_used_and_removed() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = Browser::signed_in(&app).await;
        let mut phone = owner.authenticator(1);
        let looks = async || owner.caller().get("/api/login").await.ok();
        assert_eq!(looks().await["methods"]["passkey"], false);
        let (challenge, options) = owner.ask("/api/passkeys/challenge").await;
        assert_eq!(options["rp"], json!({"id": "localhost", "name": "Void"}));
        let wanted = &options["authenticatorSelection"];
        assert_eq!(wanted["residentKey"], "preferred");
        assert_eq!(wanted["userVerification"], "required");
        assert_eq!(options["attestation"], "none");
        let made = owner.keep(&challenge, phone.create(&options)).await.ok();
        assert_eq!(members(&made), ["created_at", "id", "last_used_at", "name"]);
        assert_eq!(
            (&made["name"], &made["last_used_at"]),
            (&json!("phone"), &Value::Null)
        );
        assert_eq!(looks().await["methods"]["passkey"], true);
        assert_eq!(looks().await["is_set_up"], true);

        let mut browser = Browser::local(&app);
        assert_eq!(browser.log_in(&mut phone).await, 200);
        let who = browser.caller().get("/api/session").await.ok();
        assert_eq!(who["session"]["method"], "passkey");
        let listed = browser.caller().get("/api/passkeys").await.ok();
        let listed = listed["passkeys"].as_array().unwrap();
        assert_eq!((listed.len(), &listed[0]["id"]), (1, &made["id"]));
        assert!(is_time(listed[0]["last_used_at"].as_str().unwrap()));

        // A second one belongs to the same owner, and the first is not made twice.
        let (challenge, again) = browser.ask("/api/passkeys/challenge").await;
        assert_eq!(again["user"]["id"], options["user"]["id"]);
        assert_eq!(again["excludeCredentials"].as_array().unwrap().len(), 1);
        let twin = browser.keep(&challenge, phone.create(&again)).await;
        twin.error(422, "invalid");
        let mut stick = browser.authenticator(2);
        browser.register(&mut stick).await.ok();
        let mut other = Browser::local(&app);
        assert_eq!(other.log_in(&mut stick).await, 200);

        let path = format!("/api/passkeys/{}", made["id"].as_str().unwrap());
        let removed = browser.caller().delete(&path).await.ok();
        assert_eq!(removed, json!({"removed": true}));
        browser.caller().delete(&path).await.error(404, "not_found");
        assert_eq!(Browser::local(&app).log_in(&mut phone).await, 401);
        browser.caller().get("/api/session").await.ok();
        assert_eq!(app.audited("passkey.registered").await.len(), 2);
        assert_eq!(app.audited("passkey.removed").await.len(), 1);
        let opened = app.audited("session.opened").await;
        let by_passkey =
            |entry: &&void_domain::facts::Fact| entry.detail.contains(r#""method":"passkey""#);
        assert_eq!(opened.iter().filter(by_passkey).count(), 2);
    }
}

/// Every lie of an authenticator or of the page that it is on, alone.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_asked_or_not_by_us_opens_nothing() {
    let app = App::with_clock().await;
    let owner = Browser::signed_in(&app).await;
    let mut honest = owner.authenticator(1);
    owner.register(&mut honest).await.ok();
    let lies: [(&str, Lie); 8] = [
        ("another origin", |it| {
            it.origin = "http://evil.example".into();
        }),
        ("another port", |it| it.origin = "http://localhost:1".into()),
        ("another scheme", |it| {
            it.origin = it.origin.replace("http:", "https:");
        }),
        ("another site", |it| {
            it.relying_party = Some("evil.example".into());
        }),
        ("another challenge", |it| {
            it.challenge = Some(ANOTHER.into());
        }),
        ("nobody recognised", |it| it.verifies_user = false),
        ("a counter that stands still", |it| it.counter -= 1),
        ("a counter that starts again", |it| it.counter = 0),
    ];
    for (what, lie) in lies {
        // The brake is about how many, not about what.
        app.pass(Duration::from_secs(60));
        assert_eq!(
            Browser::local(&app).log_in(&mut honest).await,
            200,
            "{what}"
        );
        let mut liar = honest.clone();
        lie(&mut liar);
        assert_eq!(Browser::local(&app).log_in(&mut liar).await, 401, "{what}");
    }
    // Somebody else's key under the same name.
    app.pass(Duration::from_secs(60));
    let mut stranger = owner.authenticator(9);
    assert_eq!(Browser::local(&app).log_in(&mut stranger).await, 401);
    let proof = Browser::local(&app).proof(&mut stranger).await;
    let mut forged = proof.clone();
    let own = honest.get(&json!({"rpId": "localhost", "challenge": ""}));
    for name in ["id", "rawId"] {
        forged["passkey"]["credential"][name] = own[name].clone();
    }
    assert_eq!(Browser::local(&app).open(forged).await.status, 401);
    for shape in [json!({}), json!({"id": 5}), json!({"response": []})] {
        let (challenge, _) = Browser::local(&app).ask("/api/session/challenge").await;
        let body = json!({"passkey": {"challenge": challenge, "credential": shape}});
        let answer = Browser::local(&app).open(body).await;
        answer.error(401, "unauthenticated");
    }
    let made_up = json!({"passkey": {"challenge": "x", "credential": {}}});
    let answer = Browser::local(&app).open(made_up).await;
    answer.error(401, "unauthenticated");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lie_makes_no_passkey() {
    let app = App::with_clock().await;
    let owner = Browser::signed_in(&app).await;
    let lies: [Lie; 4] = [
        |it| it.origin = "http://evil.example".into(),
        |it| it.relying_party = Some("evil.example".into()),
        |it| it.challenge = Some(ANOTHER.into()),
        |it| it.verifies_user = false,
    ];
    for lie in lies {
        let mut liar = owner.authenticator(1);
        lie(&mut liar);
        owner.register(&mut liar).await.error(422, "invalid");
    }
    for name in ["", "  ", &"x".repeat(65), "a\u{202e}b", "a\nb"] {
        let (challenge, options) = owner.ask("/api/passkeys/challenge").await;
        let credential = owner.authenticator(1).create(&options);
        let body = json!({"challenge": challenge, "name": name, "credential": credential});
        let answer = owner.caller().post("/api/passkeys", body).await;
        answer.error(422, "invalid");
    }
    let listed = owner.caller().get("/api/passkeys").await.ok();
    assert_eq!(listed, json!({"passkeys": []}));
}

/// A challenge is answered once, in time, for what it was made for and by whom.
#[tokio::test(flavor = "multi_thread")]
async fn a_challenge_is_good_once_in_time_and_for_its_purpose() {
    for engine in Engine::both().await {
        let app = Setup {
            engine,
            clock: Clock::manual(Clock::system().now()),
            ..Setup::default()
        };
        let app = app.start().await;
        let owner = Browser::signed_in(&app).await;
        let other = Browser::signed_in(&app).await;
        let mut phone = owner.authenticator(1);
        owner.register(&mut phone).await.ok();
        let confirm = async |by: &Browser<'_>, proof: Value| {
            let answer = by.caller().post("/api/session/confirm", proof).await;
            answer.status
        };
        let mut stranger = Browser::local(&app);
        let proof = stranger.proof(&mut phone).await;
        assert_eq!(stranger.open(proof.clone()).await.status, 200);
        assert_eq!(stranger.open(proof).await.status, 401, "replayed");
        // Late by a moment.
        let proof = Browser::local(&app).proof(&mut phone).await;
        app.pass(FRESH);
        assert_eq!(Browser::local(&app).open(proof).await.status, 401, "late");
        // Made for a login, for another session, and for this one.
        let proof = Browser::local(&app).proof(&mut phone).await;
        assert_eq!(confirm(&owner, proof).await, 401, "a login's");
        let proof = other.proof(&mut phone).await;
        assert_eq!(confirm(&owner, proof).await, 401, "another session's");
        let proof = owner.proof(&mut phone).await;
        assert_eq!(Browser::local(&app).open(proof).await.status, 401);
        let proof = owner.proof(&mut phone).await;
        assert_eq!(confirm(&owner, proof.clone()).await, 200);
        assert_eq!(confirm(&owner, proof).await, 401, "replayed");
        // What one session asked for is not given to another.
        let (challenge, options) = owner.ask("/api/passkeys/challenge").await;
        let credential = owner.authenticator(2).create(&options);
        let answer = other.keep(&challenge, credential.clone()).await;
        answer.error(422, "invalid");
        let answer = owner.keep(&challenge, credential).await;
        answer.error(422, "invalid");
    }
}

/// I8: an old session asks again, and a passkey answers.
#[tokio::test(flavor = "multi_thread")]
async fn a_passkey_confirms_a_stale_session_before_something_critical() {
    let app = App::with_clock().await;
    let owner = Browser::signed_in(&app).await;
    let mut phone = owner.authenticator(1);
    owner.register(&mut phone).await.ok();
    app.pass(FRESH + Duration::from_millis(1));
    let critical = app.queue("stop-all").await;
    let approve = async || owner.caller().decide(&critical, "approve").await;
    approve().await.error(403, "fresh_login_needed");
    let path = "/api/passkeys/challenge";
    let asked = owner.caller().post_nothing(path).await;
    asked.error(403, "fresh_login_needed");
    let listed = owner.caller().get("/api/passkeys").await.ok();
    let path = format!(
        "/api/passkeys/{}",
        listed["passkeys"][0]["id"].as_str().unwrap()
    );
    let removed = owner.caller().delete(&path).await;
    removed.error(403, "fresh_login_needed");
    let proof = owner.proof(&mut phone).await;
    let confirmed = owner.caller().post("/api/session/confirm", proof).await;
    confirmed.ok();
    assert_eq!(approve().await.ok()["status"], "executed");
    // The owner's token is a proof of its own where no session is needed.
    app.owner().delete(&path).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn passkeys_belong_to_a_name_and_to_no_other() {
    let app = Setup {
        public_url: Some("https://void.example"),
        allowed_hosts: vec!["nas.lan".to_owned()],
        ..Setup::default()
    };
    let app = app.start().await;
    let port = app.address.port();
    let sign_in = async |host: &str, origin: &str| {
        let mut browser = Browser::at(&app, host, origin);
        browser.open(json!({"token": app.owner_token()})).await;
        browser
    };
    for (host, origin) in [
        (
            format!("127.0.0.1:{port}"),
            format!("http://127.0.0.1:{port}"),
        ),
        ("nas.lan".to_owned(), "https://nas.lan".to_owned()),
    ] {
        let browser = sign_in(&host, &origin).await;
        let path = "/api/passkeys/challenge";
        let error = browser.caller().post_nothing(path).await;
        let error = error.error(409, "passkeys_unavailable");
        assert!(error["hint"].as_str().unwrap().contains("localhost"));
    }
    app.owner()
        .post_nothing("/api/passkeys/challenge")
        .await
        .error(403, "session_needed");
    let named = sign_in("void.example", "https://void.example").await;
    let mut phone = named.authenticator(1);
    named.register(&mut phone).await.ok();
    let login = async |browser: &Browser<'_>| {
        let login = browser.caller().get("/api/login").await.ok();
        (
            login["methods"]["passkey"].clone(),
            login["is_set_up"].clone(),
        )
    };
    assert_eq!(login(&named).await, (json!(true), json!(true)));
    // A page's own read has no origin.
    let mut reading = named.caller();
    reading.shows = Shows::Headers(vec![("host", "void.example".into())]);
    let login_by_name = reading.get("/api/login").await.ok();
    assert_eq!(login_by_name["methods"]["passkey"], true);
    let local = Browser::local(&app);
    assert_eq!(login(&local).await, (json!(false), json!(true)));
    let path = "/api/session/challenge";
    let asked = local.caller().post_nothing(path).await;
    asked.error(409, "passkeys_unavailable");
    let mut fresh = Browser::at(&app, "void.example", "https://void.example");
    assert_eq!(fresh.log_in(&mut phone).await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn asking_is_slowed_down_for_strangers() {
    let app = App::with_clock().await;
    let owner = Browser::signed_in(&app).await;
    owner.register(&mut owner.authenticator(1)).await.ok();
    let ask = async |browser: &Browser<'_>| {
        let asked = browser
            .caller()
            .post_nothing("/api/session/challenge")
            .await;
        asked.status
    };
    let stranger = Browser::local(&app);
    for n in 0..52 {
        let expected = if n < 50 { 200 } else { 429 };
        assert_eq!(ask(&stranger).await, expected, "{n}");
    }
    assert_eq!(ask(&owner).await, 200, "who is signed in is no stranger");
    app.pass(Duration::from_secs(60));
    assert_eq!(ask(&stranger).await, 200);
}

/// Whoever is behind one name may be asked by one instance and answer to another.
#[tokio::test(flavor = "multi_thread")]
async fn any_instance_takes_the_answer_to_a_challenge_and_takes_it_once() {
    let (one, two) = pair_at(Some("https://void.example")).await;
    let at = |app| Browser::at(app, "void.example", "https://void.example");
    let mut owner = at(&one);
    owner.open(json!({"token": one.owner_token()})).await;
    let mut phone = owner.authenticator(1);
    owner.register(&mut phone).await.ok();
    let proof = at(&one).proof(&mut phone).await;
    let mut browser = at(&two);
    assert_eq!(browser.open(proof.clone()).await.status, 200);
    assert_eq!(at(&one).open(proof).await.status, 401, "replayed");
    // And a session that is cut off at one ends at the other.
    let who = browser.caller().get("/api/session").await.ok();
    let mut stream = Listener::open(&browser.caller()).await;
    let path = format!("/api/sessions/{}", who["session"]["id"].as_str().unwrap());
    owner.caller().delete(&path).await.ok();
    assert_eq!(stream.next().await, None);
    let gone = browser.caller().get("/api/session").await;
    gone.error(401, "unauthenticated");
}
