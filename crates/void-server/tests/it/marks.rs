//! What a client outside has read marks its token in the store before it reads it (I17, I39): over every route and tool, after a
//! restart, on other instances, until the owner clears it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use void_control::proposals::{self, ProposeRequest, Proposed};
use void_control::{Control, Ctx, callers, token_taints};
use void_domain::ids::{ProposalId, TokenId};
use void_domain::limits::TAINT_SOURCES_MAX;
use void_domain::taint::Taint;

use crate::apps::{App, Engine, Holder, Setup, queue};
use crate::callers::{Caller, HttpResponse};
use crate::outputs::CANARY;
use crate::routes::entities::{id, new, new_space};

pub async fn captured(app: &App) -> Value {
    let space = new_space(&app.owner(), "Lab").await;
    let body = json!({"title": CANARY, "url": "https://example.org/a", "body": CANARY});
    new(&app.owner(), &space, "refs", body).await
}

async fn token_row(app: &App, id: &str) -> Value {
    let listed = app.owner().get("/api/tokens").await.ok();
    let tokens = listed["tokens"].as_array().unwrap().clone();
    tokens.into_iter().find(|token| token["id"] == id).unwrap()
}

pub async fn taint_of(app: &App, id: &str) -> Value {
    token_row(app, id).await["taint"].clone()
}

pub async fn clear(app: &App, id: &str, seen: &Value) -> HttpResponse {
    let path = format!("/api/tokens/{id}/clear");
    app.owner().post(&path, json!({"taint": seen})).await
}

async fn tool(caller: &Caller, name: &str, arguments: Value) -> HttpResponse {
    let params = json!({"name": name, "arguments": arguments});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    caller.post("/mcp?registry=companion", call).await
}

/// The row that a run became, as the owner sees it, and whether it ran at once.
async fn run(app: &App, caller: &Caller, action: &str) -> (Value, bool) {
    let path = format!("/api/actions/{action}/run");
    let answer = caller
        .post(&path, json!({"reason": "as it says"}))
        .await
        .ok();
    let row = app.row(answer["action_row_id"].as_str().unwrap()).await;
    (row, answer["executed"] == true)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_has_read_a_capture_waits_until_the_owner_clears_it() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let kept = captured(&app).await;
        let source = json!([format!("ref:{}", id(&kept))]);
        let Holder { id: token, caller } = app.holder("agent", "red", &["read", "act"]).await;
        assert!(run(&app, &caller, "touch-a").await.1, "it has read nothing");
        let path = format!("/api/refs/{}", id(&kept));
        let read = caller.get(&path).await.ok();
        assert_eq!(read["body"], CANARY, "it is not withheld");
        assert_eq!(taint_of(&app, &token).await, source);
        let (row, ran) = run(&app, &caller, "touch-a").await;
        assert_eq!(
            (ran, &row["status"], &row["taint"]),
            (false, &json!("pending"), &source)
        );
        let card = format!("/api/proposals/{}/card", id(&row));
        assert_eq!(app.owner().get(&card).await.ok()["read_before"], source);
        // Its own row tells it nothing of what it said since.
        let seen = caller
            .get(&format!("/api/proposals/{}", id(&row)))
            .await
            .ok();
        assert_eq!(
            (&seen["reason"], &seen["left_out"]["bytes"]),
            (&Value::Null, &json!(10))
        );
        caller.get(&path).await.ok();
        assert_eq!(
            app.audited("token.tainted").await.len(),
            1,
            "the same again is not news"
        );
        for (seen, code, status) in [
            (json!([]), "changed", 409),
            (json!(["ref:another"]), "changed", 409),
            (Value::Null, "invalid", 422),
        ] {
            clear(&app, &token, &seen).await.error(status, code);
        }
        let own = json!({"taint": source});
        let own = caller
            .post(&format!("/api/tokens/{token}/clear"), own)
            .await;
        own.error(403, "owner_only");
        assert_eq!(
            taint_of(&app, &token).await,
            source,
            "nothing was cleared so far"
        );
        clear(&app, &token, &source).await.ok();
        clear(&app, &token, &source).await.error(409, "not_needed");
        assert_eq!(app.audited("token.cleared").await.len(), 1);
        assert_eq!(token_row(&app, &token).await["tainted_at"], Value::Null);
        assert!(
            run(&app, &caller, "touch-b").await.1,
            "the owner answers for it"
        );
        assert_eq!(
            app.row(id(&row)).await["taint"],
            source,
            "what waits keeps its mark"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn over_mcp_the_same_reads_mark_the_same_token() {
    let app = App::start().await;
    let kept = captured(&app).await;
    let holder = app
        .holder("agent", "red", &["read", "act", "suggest"])
        .await;
    let (token, caller) = (holder.id, holder.caller);
    let other = app
        .holder("agent", "red", &["read", "act", "suggest"])
        .await;
    let found = tool(&caller, "search", json!({"query": "canary"})).await;
    assert!(
        !found.text.contains(CANARY),
        "what only turns up is not told: {}",
        found.text
    );
    assert_eq!(taint_of(&app, &token).await, json!([]));
    let read = tool(&caller, "read", json!({"kind": "ref", "id": id(&kept)})).await;
    assert!(read.text.contains(CANARY), "{}", read.text);
    let source = json!([format!("ref:{}", id(&kept))]);
    assert_eq!(taint_of(&app, &token).await, source);
    let (row, ran) = run(&app, &caller, "touch-a").await;
    assert_eq!((ran, &row["taint"]), (false, &source));
    let propose = json!({"name": "propose_action", "arguments": {"action_id": "touch-b"}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": propose});
    let queued = caller.post("/mcp", call).await.ok();
    assert_eq!(
        queued["result"]["structuredContent"]["outcome"], "queued",
        "{queued}"
    );
    // The owner gave the same agent another token, which has read nothing.
    assert_eq!(taint_of(&app, &other.id).await, json!([]));
    assert!(run(&app, &other.caller, "touch-a").await.1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_joins_brings_what_its_token_has_read_since() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let (first, second) = (captured(&app).await, captured(&app).await);
        let holder = app.holder("agent", "red", &["read", "act"]).await;
        let read = async |kept: &Value| {
            holder
                .caller
                .get(&format!("/api/refs/{}", id(kept)))
                .await
                .ok();
            format!("ref:{}", id(kept))
        };
        let clean = queue(&holder.caller, "stop-a").await;
        assert_eq!(clean["taint"], json!([]));
        let first = read(&first).await;
        let (joined, _) = run(&app, &holder.caller, "stop-a").await;
        assert_eq!(
            (&joined["id"], &joined["taint"]),
            (&clean["id"], &json!([first]))
        );
        let second = read(&second).await;
        let (joined, _) = run(&app, &holder.caller, "stop-a").await;
        assert_eq!(
            (&joined["id"], &joined["taint"]),
            (&clean["id"], &json!([first, second]))
        );
        // What was cleared does not wash the row.
        let taint = taint_of(&app, &holder.id).await;
        clear(&app, &holder.id, &taint).await.ok();
        let (joined, _) = run(&app, &holder.caller, "stop-a").await;
        assert_eq!(joined["taint"], json!([first, second]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mark_holds_on_the_other_instance_and_after_a_restart() {
    let engine = Engine::postgres().await;
    let lab = Arc::new(crate::labs::Lab::new());
    let instance = |name| Setup {
        instance: Some(name),
        engine: engine.clone(),
        lab: Arc::clone(&lab),
        owner_token: "the-owner-of-two-instances-0123456789".to_owned(),
        ..Setup::default()
    };
    let (here, there) = (
        instance("alpha").start().await,
        instance("beta").start().await,
    );
    let kept = captured(&here).await;
    let holder = here.holder("agent", "red", &["read", "act"]).await;
    let on_the_other = there.caller(holder.caller.shows.clone());
    // It is remembered as it was.
    on_the_other.get("/api/actions").await.ok();
    holder
        .caller
        .get(&format!("/api/refs/{}", id(&kept)))
        .await
        .ok();
    let (row, ran) = run(&there, &on_the_other, "touch-b").await;
    assert_eq!((ran, &row["status"]), (false, &json!("pending")));
    drop((here, there));
    let again = instance("alpha").start().await;
    let caller = again.caller(holder.caller.shows.clone());
    let (row, ran) = run(&again, &caller, "touch-a").await;
    assert_eq!((ran, &row["status"]), (false, &json!("pending")));
}

/// Reads and runs at once: whatever ran was asked for before the text was there.
#[tokio::test(flavor = "multi_thread")]
async fn no_run_that_follows_a_read_is_judged_without_it() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let kept = captured(&app).await;
        let path = format!("/api/refs/{}", id(&kept));
        for round in 0..8 {
            let holder = app
                .holder("agent", &format!("red-{round}"), &["read", "act"])
                .await;
            let caller = &holder.caller;
            let follow = async {
                assert!(caller.get(&path).await.text.contains(CANARY));
                run(&app, caller, "touch-a").await
            };
            let (followed, beside, _) =
                tokio::join!(follow, caller.run("touch-b"), caller.get(&path));
            assert_eq!(followed.0["status"], "pending", "{}", followed.0);
            assert_eq!(beside.status, 200, "{}", beside.text);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_marked_token_drafts_is_marked_until_the_owner_vouches() {
    let app = App::start().await;
    let kept = captured(&app).await;
    let space = kept["space_id"].as_str().unwrap();
    let Holder { id: token, caller } = app.holder("agent", "red", &["suggest"]).await;
    caller.get(&format!("/api/refs/{}", id(&kept))).await.ok();
    let draft =
        json!({"entity": "page", "op": "create", "fields": {"title": "Note", "body": CANARY}});
    let row = caller
        .post(&format!("/api/spaces/{space}/drafts"), draft)
        .await
        .ok();
    assert_eq!(
        (&row["change"]["diff"], &row["taint"]),
        (&json!(""), &taint_of(&app, &token).await)
    );
    let shown = app.row(id(&row)).await;
    assert!(shown["change"]["diff"].as_str().unwrap().contains(CANARY));
    app.owner().decide(&shown, "approve").await.ok();
    let page = app.row(id(&row)).await;
    assert_eq!(page["status"], "executed", "{page}");
    let pages = app
        .owner()
        .get(&format!("/api/spaces/{space}/pages"))
        .await
        .ok();
    assert_eq!(pages["pages"][0]["foreign"], true);
    let path = format!("/api/pages/{}", id(&pages["pages"][0]));
    // Whoever drafts against its text is marked before it is told whether an edit finds its place.
    let guesser = app.holder("agent", "guess", &["suggest"]).await;
    let edits = json!([{"find": "no such words", "replace": "x"}]);
    let guess =
        json!({"entity": "page", "op": "update", "id": id(&pages["pages"][0]), "edits": edits});
    let guess = guesser
        .caller
        .post(&format!("/api/spaces/{space}/drafts"), guess)
        .await;
    guess.error(422, "invalid");
    assert_ne!(taint_of(&app, &guesser.id).await, json!([]));
    app.owner()
        .post(&format!("{path}/vouch"), json!({"revision": 1}))
        .await
        .ok();
    let reader = app.holder("agent", "late", &["read"]).await;
    assert_eq!(reader.caller.get(&path).await.ok()["body"], CANARY);
    assert_eq!(
        taint_of(&app, &reader.id).await,
        json!([]),
        "the owner answers for it"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_space_that_a_stranger_named_marks_what_is_drafted_in_it() {
    let app = App::start().await;
    let kept = captured(&app).await;
    let space = kept["space_id"].as_str().unwrap();
    let drafts = format!("/api/spaces/{space}/drafts");
    let red = app.holder("agent", "red", &["suggest"]).await.caller;
    red.get(&format!("/api/refs/{}", id(&kept))).await.ok();
    let name = json!({"entity": "space", "op": "update", "id": space, "fields": {"title": CANARY}});
    let name = red.post(&drafts, name).await.ok();
    let name = app.row(id(&name)).await;
    app.owner().decide(&name, "approve").await.ok();

    let Holder { id: token, caller } = app.holder("agent", "blank", &["act", "suggest"]).await;
    let source = json!([format!("space:{space}")]);
    let page = json!({"entity": "page", "op": "create", "fields": {"title": "Mine"}});
    let row = caller.post(&drafts, page).await.ok();
    assert_eq!(row["taint"], source, "{row}");
    let path = format!("/api/proposals/{}", id(&row));
    for answer in [row, caller.get(&path).await.ok()] {
        assert!(!answer.to_string().contains(CANARY), "{answer}");
    }
    assert_eq!(taint_of(&app, &token).await, json!([]));
    let shown = app.owner().get(&path).await.ok();
    assert_eq!(shown["change"]["about"]["space"], CANARY, "{shown}");
    // The tool tells what its card says, and marks.
    let page = json!({"entity": "page", "op": "create", "space_id": space,
        "fields": {"title": "Another"}, "reason": "a test"});
    let told = tool(&caller, "propose_change", page).await;
    assert!(told.text.contains(CANARY), "{}", told.text);
    assert_eq!(taint_of(&app, &token).await, source);
    assert!(!run(&app, &caller, "touch-a").await.1);
}

async fn ctx_of(app: &App, caller: &Caller) -> Ctx {
    let shown = caller.shows.headers()[0].1.clone();
    let text = shown.strip_prefix("Bearer ").unwrap();
    let found = callers::by_bearer(&app.control, text, false).await;
    let request_id = callers::new_request_id(&app.control).unwrap();
    found.unwrap().unwrap().ctx(request_id)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_reads_without_end_is_marked_by_a_bounded_number_of_sources() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let holder = app.holder("agent", "red", &["read", "act"]).await;
        let ctx = ctx_of(&app, &holder.caller).await;
        for n in 0..TAINT_SOURCES_MAX + 8 {
            let given = Taint::from_sources(vec![format!("ref:{n}")]);
            token_taints::mark(&app.control, &ctx, &given)
                .await
                .unwrap();
        }
        let marked = taint_of(&app, &holder.id).await;
        let marked = marked.as_array().unwrap();
        assert_eq!(marked.len(), TAINT_SOURCES_MAX + 1);
        assert!(marked.contains(&json!(Taint::MORE)), "{marked:?}");
        let entries = app.audited("token.tainted").await.len();
        assert_eq!(entries, TAINT_SOURCES_MAX + 1);
        assert!(!run(&app, &holder.caller, "touch-a").await.1);
    }
}

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

struct Player {
    agent: &'static str,
    token: TokenId,
    ctx: Ctx,
    /// What it has been given, as this test knows it.
    read: BTreeSet<String>,
}

const SEQUENCES: u32 = 1_000;

/// I39: reads, requests, joins and clearings of four tokens of two agents, in any order.
#[tokio::test(flavor = "multi_thread")]
async fn no_sequence_of_reads_requests_and_clearings_loses_a_mark() {
    let app = App::start().await;
    let control = &app.control;
    let owner = ctx_of(&app, &app.owner()).await;
    let mut players = Vec::new();
    for agent in ["red", "red", "blue", "blue"] {
        let holder = app.holder("agent", agent, &["read", "act"]).await;
        let mut ctx = ctx_of(&app, &holder.caller).await;
        // Its budgets are tested elsewhere.
        ctx.is_from_outside = false;
        let (token, read) = (holder.id.parse().unwrap(), BTreeSet::new());
        players.push(Player {
            agent,
            token,
            ctx,
            read,
        });
    }
    let (mut dice, mut waits, mut ran) = (Dice(20_261_119), BTreeMap::new(), 0_u32);
    for _ in 0..SEQUENCES {
        for _ in 0..6 {
            let player = &mut players[usize::try_from(dice.below(4)).unwrap()];
            match dice.below(8) {
                0 | 1 => {
                    let source = format!("ref:{}", dice.below(5));
                    let given = Taint::from_sources(vec![source.clone()]);
                    token_taints::mark(control, &player.ctx, &given)
                        .await
                        .unwrap();
                    player.read.insert(source);
                }
                2 if !player.read.is_empty() => {
                    let seen = player.read.iter().cloned().collect();
                    token_taints::clear(control, &owner, player.token, seen)
                        .await
                        .unwrap();
                    player.read.clear();
                }
                _ => {
                    let safe = dice.below(8) == 0;
                    ran += u32::from(asks(control, player, safe, &mut waits).await);
                }
            }
        }
        if dice.below(4) == 0
            && let Some((_, (id, _))) = waits.pop_first()
        {
            proposals::cancel(control, &owner, id).await.unwrap();
        }
    }
    assert!(ran > 20, "{ran}");
}

/// What waits, by who asked and for which action, and all that whoever asked for it had read.
type Waits = BTreeMap<(&'static str, &'static str), (ProposalId, BTreeSet<String>)>;

/// Whether it ran.
async fn asks(control: &Control, player: &Player, safe: bool, waits: &mut Waits) -> bool {
    let action = if safe { "touch-a" } else { "stop-a" };
    let key = (player.agent, action);
    let wanted = ProposeRequest {
        action_id: action.to_owned(),
        params: Value::Null,
        reason: None,
        diff: None,
        taint: Taint::clean(),
    };
    let proposed = proposals::propose(control, &player.ctx, wanted).await;
    match proposed.unwrap() {
        Proposed::Started(run) => {
            assert!(safe && player.read.is_empty(), "{key:?} {:?}", player.read);
            let ended = proposals::wait_for_end(control, run.id, Duration::from_secs(30)).await;
            ended.unwrap();
            true
        }
        Proposed::Queued(row) => {
            let (_, all) = waits
                .entry(key)
                .or_insert_with(|| (row.id, BTreeSet::new()));
            all.extend(player.read.iter().cloned());
            let told: BTreeSet<String> = row.taint.sources().iter().cloned().collect();
            assert_eq!(&told, all, "{key:?}");
            assert!(!safe || !player.read.is_empty());
            false
        }
        Proposed::Refused(refusal, _) => panic!("{refusal:?}"),
    }
}
