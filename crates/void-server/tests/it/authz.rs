//! Every row of the route table with every kind of caller (I20), and every way to an approval with
//! everybody who must not have it (I8, R-A4).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use void_access::sessions::{self, Proof, SessionOrigin};
use void_domain::secrets::Secret;
use void_server::Access;
use void_server::routes::{ROUTES, Route};
use void_testkit::eventually;

use crate::apps::{App, Setup, queue};
use crate::callers::{Caller, HttpResponse, Shows};
use crate::routes::entities;

const NOBODY: &str = "019a0000-0000-7000-8000-000000000000";

/// A harmless call of every operation: it names things that do not exist, or asks what changes
/// nothing, so what remains of the answer is whether the caller was let through.
fn sample(operation: &str) -> (String, Option<Value>, u16) {
    let zeros = "0".repeat(64);
    let decide = json!({"decision": "approve", "digest": zeros});
    let (path, body, status) = match operation {
        "runAction" => ("/api/actions/no-such/run".to_owned(), None, 404),
        "approvePending" => (format!("/api/actions/pending/{NOBODY}/approve"), None, 404),
        "rejectPending" => (format!("/api/actions/pending/{NOBODY}/reject"), None, 404),
        "proposeCatalogue" => ("/api/actions/patch".to_owned(), Some(json!({})), 422),
        "approvePendingChange" => (format!("/api/pending-changes/{NOBODY}/approve"), None, 404),
        "rejectPendingChange" => (format!("/api/pending-changes/{NOBODY}/reject"), None, 404),
        "getProposal" => (format!("/api/proposals/{NOBODY}"), None, 404),
        "getCard" => (format!("/api/proposals/{NOBODY}/card"), None, 404),
        "decideProposal" => (format!("/api/proposals/{NOBODY}/decide"), Some(decide), 404),
        "cancelProposal" => (format!("/api/proposals/{NOBODY}/cancel"), None, 404),
        "settleProposal" => {
            let body = json!({"outcome": "failed"});
            (format!("/api/proposals/{NOBODY}/settle"), Some(body), 404)
        }
        "getAuditEntry" => ("/api/audit/1".to_owned(), None, 200),
        "freeze" => ("/api/freeze".to_owned(), Some(json!({"for_s": 0})), 422),
        "createToken" => ("/api/tokens".to_owned(), Some(json!({})), 422),
        "revokeToken" => (format!("/api/tokens/{NOBODY}"), None, 404),
        "clearToken" => {
            let body = json!({"taint": []});
            (format!("/api/tokens/{NOBODY}/clear"), Some(body), 404)
        }
        "openSession" => ("/api/session".to_owned(), Some(json!({"token": 5})), 422),
        "confirmSession" => (
            "/api/session/confirm".to_owned(),
            Some(json!({"token": 5})),
            422,
        ),
        // By an address there are no passkeys.
        "challengeSession" => ("/api/session/challenge".to_owned(), None, 409),
        "challengePasskey" => ("/api/passkeys/challenge".to_owned(), None, 409),
        "registerPasskey" => ("/api/passkeys".to_owned(), Some(json!({})), 422),
        "removePasskey" => (format!("/api/passkeys/{NOBODY}"), None, 404),
        "revokeSession" => (format!("/api/sessions/{NOBODY}"), None, 404),
        "setPassword" => ("/api/password".to_owned(), Some(json!({})), 422),
        "removePassword" => ("/api/password".to_owned(), None, 404),
        "checkHost" => ("/api/hosts/no-such/check".to_owned(), None, 404),
        "trustHost" => ("/api/hosts/no-such/trust".to_owned(), None, 404),
        "callTools" => {
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
            ("/mcp".to_owned(), Some(body), 200)
        }
        // Without asking for the connection there is nothing to get.
        "openTools" => ("/mcp".to_owned(), None, 405),
        "pairChannel" => ("/api/notifications/pair".to_owned(), Some(json!({})), 422),
        "unpairChannel" => ("/api/notifications/pairs/telegram:1".to_owned(), None, 404),
        "testNotifications" => {
            let body = json!({"target": "nowhere"});
            ("/api/notifications/test".to_owned(), Some(body), 422)
        }
        "retryNotification" => (
            format!("/api/notifications/failed/{NOBODY}/retry"),
            None,
            404,
        ),
        "actOnNotification" => {
            let body = json!({"token": 5});
            ("/api/notifications/act".to_owned(), Some(body), 422)
        }
        "mute" => ("/api/mutes".to_owned(), Some(json!({})), 422),
        "unmute" => (format!("/api/mutes/{NOBODY}"), None, 404),
        "inviteNode" => ("/api/nodes".to_owned(), Some(json!({})), 422),
        "approveNode" => {
            let body = json!({"fingerprint": zeros});
            ("/api/nodes/no-such/approve".to_owned(), Some(body), 404)
        }
        "confirmQuarantined" => {
            let body = json!({"kind": "token", "id": NOBODY});
            ("/api/quarantine/confirm".to_owned(), Some(body), 404)
        }
        "removeQuarantined" => {
            let body = json!({"kind": "token", "id": NOBODY});
            ("/api/quarantine/remove".to_owned(), Some(body), 404)
        }
        "removeNode" => ("/api/nodes/no-such".to_owned(), None, 404),
        "joinNode" => ("/api/node/join".to_owned(), Some(json!({})), 422),
        "pollNode" => ("/api/node/poll".to_owned(), Some(json!({})), 422),
        "reportNode" => ("/api/node/report".to_owned(), Some(json!({})), 200),
        "getService" => ("/api/services/no-such".to_owned(), None, 404),
        "listConversations" => ("/api/agents/no-such/conversations".to_owned(), None, 404),
        "getRights" => ("/api/agents/no-such/can".to_owned(), None, 404),
        // Here no tree was opened, so nobody is moved.
        "moveAgent" => {
            let body = json!({"parent": "root"});
            ("/api/agents/sentinel/move".to_owned(), Some(body), 409)
        }
        "getAgentConversation" | "beginAgentConversation" => {
            ("/api/agents/no-such/conversation".to_owned(), None, 404)
        }
        "getAgentProcess" => ("/api/agents/no-such/process".to_owned(), None, 404),
        "startAgent" => ("/api/agents/no-such/start".to_owned(), None, 404),
        "stopAgent" => ("/api/agents/no-such/stop".to_owned(), None, 404),
        "restartAgent" => ("/api/agents/no-such/restart".to_owned(), None, 404),
        "createAgent" => ("/api/agents".to_owned(), Some(json!({})), 422),
        // Here no tree was opened, so nobody has a config.
        "getAgentConfig" => ("/api/agents/no-such/config".to_owned(), None, 409),
        "applyAgentConfig" => {
            let body = json!({"commit": "a".repeat(40)});
            let path = "/api/agents/no-such/config/apply".to_owned();
            (path, Some(body), 409)
        }
        "getAgentLogs" => ("/api/agents/no-such/logs".to_owned(), None, 404),
        "sayToLittleBlue" => {
            let body = json!({"text": ""});
            ("/api/little-blue/turn".to_owned(), Some(body), 422)
        }
        "listMessages" | "say" => (format!("/api/conversations/{NOBODY}/messages"), None, 404),
        "streamTurn" => (format!("/api/conversations/{NOBODY}/stream"), None, 404),
        "stopTurn" => (format!("/api/conversations/{NOBODY}/stop"), None, 404),
        "retryTurn" => (format!("/api/conversations/{NOBODY}/retry"), None, 404),
        "forwardMessage" => {
            let path = "/gateway/anthropic/v1/messages".to_owned();
            (path, Some(json!({"messages": []})), 404)
        }
        "forwardTokenCount" => {
            let path = "/gateway/anthropic/v1/messages/count_tokens".to_owned();
            (path, Some(json!({"messages": []})), 404)
        }
        "listBridgeMoves" => ("/api/bridge/moves?wait=0".to_owned(), None, 200),
        "listPendingChanges" | "listMutes" | "listNotifications" | "listNodes" | "listActions"
        | "listPending" | "listRecent" | "listProposals" | "getInbox" | "streamEvents"
        | "listAudit" | "exportAudit" | "getFreeze" | "thaw" | "listTokens" | "getSession"
        | "closeSession" | "listHosts" | "listServices" | "getLab" | "listBackups"
        | "createBackup" | "getStatus" | "getOpenapi" | "isAlive" | "isReady" | "getHealth"
        | "getMetrics" | "listAgents" | "getLittleBlue" | "getBridge" | "getHome"
        | "verifyAudit" | "getDoctor" | "getLogin" | "listPasskeys" | "listSessions"
        | "createSetupLink" | "listQuarantine" | "getTopology" => {
            let route = ROUTES.iter().find(|route| route.operation == operation);
            (route.unwrap().path.to_owned(), None, 200)
        }
        "decideDrafts" => (
            "/api/pending-changes/decide".to_owned(),
            Some(json!({"decision": "reject"})),
            422,
        ),
        "approveEdited" => {
            let body = json!({"digest": zeros, "fields": {"title": "x"}});
            let path = format!("/api/proposals/{NOBODY}/approve-edited");
            (path, Some(body), 404)
        }
        "askAgain" => (format!("/api/proposals/{NOBODY}/again"), None, 404),
        "getAction" => ("/api/actions/no-such".to_owned(), None, 404),
        "draftChange" => (format!("/api/spaces/{NOBODY}/drafts"), Some(json!({})), 422),
        "getSpaceConversation" => (format!("/api/spaces/{NOBODY}/conversation"), None, 404),
        "search" => ("/api/search?q=stop".to_owned(), None, 200),
        "listAttachedConversations" => (format!("/api/conversations?space={NOBODY}"), None, 200),
        "attachConversation" => ("/api/conversations".to_owned(), Some(json!({})), 422),
        "exportConversation" => (format!("/api/conversations/{NOBODY}/export"), None, 404),
        "deleteConversation" => (format!("/api/conversations/{NOBODY}"), None, 404),
        "getAttachment" | "deleteAttachment" => (format!("/api/attachments/{NOBODY}"), None, 404),
        "getAttachmentContent" => (format!("/api/attachments/{NOBODY}/content"), None, 404),
        "undeleteAttachment" => (format!("/api/attachments/{NOBODY}/undelete"), None, 404),
        of_an_entity
            if ROUTES
                .iter()
                .any(|route| is_of_an_entity(route, of_an_entity)) =>
        {
            return entity_sample(of_an_entity);
        }
        untested => panic!("the route {untested} has no sample here: give it one"),
    };
    (path, body, status)
}

fn is_of_an_entity(route: &Route, operation: &str) -> bool {
    route.operation == operation && entities::is_about_one(route)
}

/// Of something that is not there, or with a body in which everything is missing.
fn entity_sample(operation: &str) -> (String, Option<Value>, u16) {
    let route = ROUTES.iter().find(|route| route.operation == operation);
    let route = route.unwrap();
    let path = route.path.replace("{id}", NOBODY).replace("{number}", "1");
    match (route.request.is_some(), route.path) {
        (true, _) => (path, Some(json!({})), 422),
        (false, "/api/spaces") => (path, None, 200),
        (false, _) => (path, None, 404),
    }
}

/// What a credential is worth, apart from where it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Worth {
    Nothing,
    /// It is shown and is no good: an error everywhere.
    Bad,
    Owner,
    Viewer,
    /// With these capabilities.
    Agent(&'static [&'static str]),
    Node,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Passes,
    Unauthenticated,
    OwnerOnly,
    Forbidden,
}

/// The rule, written a second time.
fn verdict(access: Access, worth: Worth) -> Verdict {
    use Verdict::{Forbidden, OwnerOnly, Passes, Unauthenticated};
    let readers = [Access::Local, Access::Read];
    let passes = match worth {
        Worth::Bad => return Unauthenticated,
        // Every test calls from this machine.
        Worth::Nothing if matches!(access, Access::Public | Access::Local) => return Passes,
        Worth::Nothing => return Unauthenticated,
        // A model that holds the owner's token would be the owner.
        Worth::Owner => !matches!(access, Access::Tools | Access::Turn | Access::Node),
        Worth::Viewer => access == Access::Public || readers.contains(&access),
        Worth::Agent(has) => match access {
            Access::Public => true,
            Access::Local | Access::Read | Access::Tools => ["read", "act", "suggest"]
                .iter()
                .any(|one| has.contains(one)),
            Access::Knowledge => has.contains(&"read") || has.contains(&"suggest"),
            Access::Act => has.contains(&"act"),
            Access::Suggest => has.contains(&"suggest"),
            Access::Withdraw => has.contains(&"act") || has.contains(&"suggest"),
            Access::Audit => has.contains(&"audit.read"),
            Access::Owner | Access::OwnerRecent | Access::Turn | Access::Node | Access::Process => {
                false
            }
        },
        Worth::Node => matches!(access, Access::Public | Access::Node),
    };
    match (passes, access) {
        (true, _) => Passes,
        (false, Access::Owner | Access::OwnerRecent) => OwnerOnly,
        (false, _) => Forbidden,
    }
}

struct Principal {
    name: &'static str,
    caller: Caller,
    worth: Worth,
}

async fn cookie(app: &App) -> Shows {
    let id = void_control::callers::new_request_id(&app.control).unwrap();
    let proof = Proof::Token(Secret::new(app.owner_token()));
    let place = SessionOrigin {
        device: "a test".to_owned(),
        address: "127.0.0.1".to_owned(),
    };
    let Ok(opened) = sessions::open(&app.owner_access, id, &proof, place).await else {
        panic!("the owner's token opens a session")
    };
    let cookie = opened.cookie.expose();
    app.secrets.add(cookie);
    Shows::Cookie(format!("void_session={cookie}"))
}

/// Everybody who may turn up. The clock of the app is a manual one.
async fn principals(app: &App) -> Vec<Principal> {
    let outlived = cookie(app).await;
    app.pass(Duration::from_secs(31 * 24 * 60 * 60));
    let ended = cookie(app).await;
    assert_eq!(
        app.caller(ended.clone())
            .delete("/api/session")
            .await
            .status,
        200
    );
    let revoked = app.holder("agent", "gone", &["act"]).await;
    app.owner()
        .delete(&format!("/api/tokens/{}", revoked.id))
        .await
        .ok();
    let all: &'static [&'static str] = &[
        "read",
        "act",
        "suggest",
        "audit.read",
        "spawn",
        "meta.read",
        "meta.update",
    ];
    let most: &'static [&'static str] = &[
        "read",
        "act",
        "suggest",
        "spawn",
        "meta.read",
        "meta.update",
    ];
    let other: &'static [&'static str] = &["spawn", "meta.read", "meta.update"];
    let bearer = format!("Bearer {}", app.owner_token());
    let headers = |lines: &[(&'static str, &str)]| {
        let lines = lines
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()));
        Shows::Headers(lines.collect())
    };
    let mut principals = Vec::new();
    let mut add = |name, caller, worth| {
        principals.push(Principal {
            name,
            caller,
            worth,
        });
    };
    for (kind, name, capabilities, worth) in [
        (
            "viewer",
            "viewer",
            &[] as &'static [&'static str],
            Worth::Viewer,
        ),
        ("viewer", "viewer-with-all", all, Worth::Viewer),
        ("node", "node", &[], Worth::Node),
        ("node", "node-with-all", all, Worth::Node),
    ] {
        add(
            name,
            app.holder(kind, name, capabilities).await.caller,
            worth,
        );
    }
    for (name, has) in [
        ("agent-reading", &["read"] as &'static [&'static str]),
        ("agent-without-any", &[]),
        ("agent-with-others", other),
        ("agent-acting", &["act"]),
        ("agent-suggesting", &["suggest"]),
        ("agent-with-most", most),
        ("agent-with-all", all),
        ("agent-auditing", &["audit.read"]),
    ] {
        let caller = app.holder("agent", name, has).await.caller;
        add(name, caller, Worth::Agent(has));
    }
    for (name, shows, worth) in [
        ("nobody", Shows::Nothing, Worth::Nothing),
        ("an ended session", ended, Worth::Nothing),
        ("a session that is over", outlived, Worth::Nothing),
        (
            "a made-up cookie",
            Shows::Cookie("void_session=AAAAAAAA".into()),
            Worth::Nothing,
        ),
        (
            "garbage",
            Shows::Bearer("void_agent_garbage".into()),
            Worth::Bad,
        ),
        (
            "an empty token",
            headers(&[("authorization", "Bearer ")]),
            Worth::Bad,
        ),
        (
            "another scheme",
            headers(&[("authorization", "Basic b3duZXI6eA==")]),
            Worth::Bad,
        ),
        (
            "no scheme",
            headers(&[("authorization", app.owner_token())]),
            Worth::Bad,
        ),
        (
            "a token that is too long",
            Shows::Bearer("x".repeat(4_000)),
            Worth::Bad,
        ),
        (
            "two headers, the first one good",
            headers(&[("authorization", &bearer), ("authorization", "Bearer x")]),
            Worth::Bad,
        ),
        (
            "two headers, both good",
            headers(&[("authorization", &bearer), ("authorization", &bearer)]),
            Worth::Bad,
        ),
        (
            "the owner's bearer",
            Shows::Bearer(app.owner_token().to_owned()),
            Worth::Owner,
        ),
        (
            "the owner's command line",
            headers(&[("authorization", &bearer), ("x-void-surface", "cli")]),
            Worth::Owner,
        ),
        ("the owner's browser", cookie(app).await, Worth::Owner),
    ] {
        add(name, app.caller(shows), worth);
    }
    add("a revoked token", revoked.caller, Worth::Bad);
    principals
}

async fn call(app: &App, route: &Route, method: Method, principal: &Principal) -> HttpResponse {
    let (path, body, _) = sample(route.operation);
    let mut caller = principal.caller.clone();
    if route.operation == "closeSession" && principal.name == "the owner's browser" {
        // It would end the session that the other rows still need.
        caller.shows = cookie(app).await;
    }
    if route.operation == "streamEvents" {
        // Its body has no end.
        let response = caller.request(method, &path).send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = if status == 200 {
            String::new()
        } else {
            response.text().await.unwrap()
        };
        return HttpResponse {
            status,
            headers,
            text,
        };
    }
    // Without a good credential one address asks more often here than it may at once.
    let (caller, path, body) = (&caller, &path, &body);
    eventually("the turn of this address", || {
        let method = method.clone();
        async move {
            let answer = caller.send(method, path, body.clone()).await;
            (answer.status != 429).then_some(answer)
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_lets_through_whom_its_rule_names_and_nobody_else() {
    let app = App::with_clock().await;
    let catalogue = app.owner().get("/api/actions").await.ok();
    let file = fs::read(app.lab.catalogue_file()).unwrap();
    let (mut pairs, mut refused) = (0, BTreeMap::<String, usize>::new());
    let principals = principals(&app).await;
    // Wrong tokens are on the record once in ten minutes, with their number; this is the one of these.
    let stranger = app.caller(Shows::Bearer("nobody".to_owned()));
    stranger.get("/api/status").await;
    assert_eq!(app.audited("token.refused").await.len(), 1);
    for principal in principals {
        for route in ROUTES {
            let method: Method = route.method.parse().unwrap();
            let reads = method == Method::GET;
            let before = app.audit_head().await;
            let answer = call(&app, route, method, &principal).await;
            let expected = verdict(route.access, principal.worth);
            let who = format!("{} as {}: {}", route.operation, principal.name, answer.text);
            match expected {
                Verdict::Passes => {
                    let (_, _, mut status) = sample(route.operation);
                    let in_a_browser = ["closeSession", "challengePasskey", "setPassword"];
                    let is_browser = principal.name.ends_with("browser");
                    if in_a_browser.contains(&route.operation) && !is_browser {
                        answer.error(403, "session_needed");
                        status = 403;
                    }
                    assert_eq!(answer.status, status, "{who}");
                }
                Verdict::Unauthenticated => {
                    answer.error(401, "unauthenticated");
                    assert_eq!(answer.headers["www-authenticate"], "Bearer", "{who}");
                }
                Verdict::OwnerOnly => _ = answer.error(403, "owner_only"),
                Verdict::Forbidden => _ = answer.error(403, "forbidden"),
            }
            // Who is known and tries to change what they may not is on the record; nobody else is.
            let recorded = app.audit_head().await.0 - before.0;
            match expected {
                Verdict::OwnerOnly | Verdict::Forbidden if !reads => {
                    assert_eq!(recorded, 1, "{who}");
                    *refused.entry(route.operation.to_owned()).or_default() += 1;
                }
                Verdict::Passes => {}
                _ => assert_eq!(recorded, 0, "{who}"),
            }
            if reads {
                let head = call(&app, route, Method::HEAD, &principal).await;
                assert_eq!(head.status, answer.status, "HEAD {who}");
                assert_eq!(head.text, "", "HEAD {who}");
            }
            pairs += 1;
        }
    }
    assert_eq!(pairs, ROUTES.len() * 27);
    let mut recorded = BTreeMap::<String, usize>::new();
    for entry in app.audited("access.refused").await {
        let detail: Value = serde_json::from_str(&entry.detail).unwrap();
        *recorded
            .entry(detail["what"].as_str().unwrap().to_owned())
            .or_default() += 1;
    }
    assert_eq!(recorded, refused);
    // I14: after all of this the catalogue is what it was.
    assert_eq!(app.owner().get("/api/actions").await.ok(), catalogue);
    assert_eq!(fs::read(app.lab.catalogue_file()).unwrap(), file);
    assert_eq!((app.proposal_count().await, app.lab.effect_count()), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_but_the_owner_reaches_an_approval() {
    let app = App::with_clock().await;
    let everybody = principals(&app).await;
    let agent = app.agent("blue").await;
    let by_owner = app.queue("stop-a").await;
    let by_agent = queue(&agent, "stop-b").await;
    let before: Vec<Value> = vec![by_owner.clone(), by_agent.clone()];
    let mut tries = 0;
    let mut others: Vec<&Principal> = everybody.iter().collect();
    others.retain(|principal| principal.worth != Worth::Owner);
    let requester = Principal {
        name: "who asked",
        caller: agent,
        worth: Worth::Agent(&["act"]),
    };
    others.push(&requester);
    for principal in others {
        for row in &before {
            for key in [row["id"].as_str().unwrap(), row["code"].as_str().unwrap()] {
                for (path, body) in ways_to_approve(key, &row["digest"]) {
                    for method in [Method::POST, Method::GET, Method::PUT, Method::PATCH] {
                        let answer = principal.caller.send(method, &path, body.clone()).await;
                        let refused = matches!(answer.status, 401 | 403 | 404 | 405);
                        assert!(refused, "{} {path}: {}", principal.name, answer.text);
                        tries += 1;
                    }
                }
            }
        }
    }
    assert!(tries > 2_000, "{tries}");
    for row in &before {
        assert_eq!(app.row(row["id"].as_str().unwrap()).await, *row);
    }
    assert_eq!(app.lab.effect_count(), 0);
    for row in &before {
        let answer = app.owner().decide(row, "approve").await.ok();
        assert_eq!(answer["status"], "executed");
    }
    assert_eq!(app.lab.effect_count(), 2);
}

fn ways_to_approve(key: &str, digest: &Value) -> Vec<(String, Option<Value>)> {
    let decide = |extra: Value| {
        let mut body = json!({"decision": "approve", "digest": digest});
        body.as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        Some(body)
    };
    vec![
        (format!("/api/actions/pending/{key}/approve"), None),
        (
            format!("/api/actions/pending/{key}/approve?wait=0"),
            Some(json!({"digest": digest})),
        ),
        (format!("/api/proposals/{key}/decide"), decide(json!({}))),
        (
            format!("/api/proposals/{key}/decide"),
            decide(json!({"reason": "/approve"})),
        ),
        (
            format!("/api/proposals/{key}/decide"),
            decide(json!({"by": "owner-cli"})),
        ),
        (
            format!("/api/proposals/{key}/settle"),
            Some(json!({"outcome": "executed"})),
        ),
    ]
}

/// I20 and I36: what the owner keeps is written by the owner alone, whatever the route and whatever the token may; and who may
/// not read it hears nothing of it either.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_but_the_owner_writes_what_the_owner_keeps() {
    let app = App::with_clock().await;
    let everybody = principals(&app).await;
    let kept = entities::Kept::new(&app).await;
    let before = kept.seen(&app).await;
    let mut writes = 0;
    for principal in &everybody {
        for route in ROUTES.iter().filter(|route| entities::is_about_one(route)) {
            if principal.worth == Worth::Owner {
                continue;
            }
            let (path, body) = kept.call(route);
            let method: Method = route.method.parse().unwrap();
            let answer = principal.caller.send(method.clone(), &path, body).await;
            let may_read = verdict(route.access, principal.worth) == Verdict::Passes;
            let who = format!("{} as {}: {}", route.operation, principal.name, answer.text);
            match (may_read, method == Method::GET) {
                (true, is_read) => {
                    assert!(is_read, "only reading is for others: {who}");
                    assert_eq!(answer.status, 200, "{who}");
                }
                (false, is_read) => {
                    assert!(matches!(answer.status, 401 | 403), "{who}");
                    assert!(!answer.text.contains(entities::WORDS), "{who}");
                    writes += usize::from(!is_read);
                }
            }
        }
    }
    assert!(writes > 500, "{writes}");
    assert_eq!(kept.seen(&app).await, before);
    assert_eq!(app.proposal_count().await, 0);
}

/// R-A5 and R-C13: what a caller says about itself or about the action is not believed.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_in_a_request_makes_a_risky_action_safe_or_an_agent_the_owner() {
    let app = App::start().await;
    let agent = app.agent("blue").await;
    for body in [
        json!({"tier": "safe"}),
        json!({"risk": "nominal"}),
        json!({"params": {"tier": "safe"}}),
        json!({"approved": true}),
        json!({"requested_by": {"kind": "owner", "id": null, "name": "owner"}}),
        json!({"actor": "owner-cli"}),
        json!({"capabilities": ["act", "approve"]}),
    ] {
        let answer = agent.post("/api/actions/stop-a/run", body.clone()).await;
        assert_eq!(answer.status, 422, "{body}: {}", answer.text);
    }
    let token = agent.shows.headers()[0].1.clone();
    let pretender = app.caller(Shows::Headers(vec![
        ("authorization", token),
        ("x-void-surface", "cli".into()),
        ("x-void-actor", "owner".into()),
        ("x-forwarded-user", "owner".into()),
        ("cookie", "void_session=owner".into()),
    ]));
    assert_eq!(pretender.get("/api/session").await.ok()["kind"], "agent");
    let row = queue(&pretender, "stop-a").await;
    assert_eq!(
        (&row["requested_by"]["kind"], &row["status"]),
        (&json!("agent"), &json!("pending"))
    );
    pretender
        .decide(&row, "approve")
        .await
        .error(403, "owner_only");
    assert_eq!(app.lab.effect_count(), 0);
}

/// I14: what is on the disk is read at a start and never again.
#[tokio::test(flavor = "multi_thread")]
async fn a_catalogue_that_is_edited_while_the_server_runs_changes_nothing() {
    let app = App::start().await;
    let owner = app.owner();
    let before = owner.get("/api/actions").await.ok();
    let waiting = app.queue("stop-a").await;
    let text = fs::read_to_string(app.lab.catalogue_file()).unwrap();
    let edited = text
        .replace(
            "\"service\": \"r1\", \"tier\": \"risky\"",
            "\"service\": \"r1\", \"tier\": \"safe\"",
        )
        .replace("touch-a", "touch-z");
    assert_ne!(edited, text);
    fs::write(app.lab.catalogue_file(), edited).unwrap();
    assert_eq!(owner.get("/api/actions").await.ok(), before);
    assert_eq!(owner.run("stop-a").await.ok()["queued"], true);
    owner.run("touch-z").await.error(404, "unknown_action");
    assert_eq!(owner.run("touch-a").await.ok()["executed"], true);
    fs::remove_file(app.lab.catalogue_file()).unwrap();
    assert_eq!(
        owner.decide(&waiting, "approve").await.ok()["status"],
        "executed"
    );
    let digest = before["catalogue"]["digest"].as_str().unwrap();
    for entry in app.audit().await {
        assert_eq!(entry.catalogue.as_deref(), Some(digest), "{}", entry.verb);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_in_the_table_does_not_exist() {
    let app = App::start().await;
    let owner = app.owner();
    let known: Vec<&str> = ROUTES.iter().map(|route| route.path).collect();
    for method in [
        "GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND",
    ] {
        for path in &known {
            let listed = ROUTES
                .iter()
                .any(|route| route.path == *path && route.method == method);
            if listed {
                continue;
            }
            let path = path.replace(['{', '}'], "x");
            let answer = owner.send(method.parse().unwrap(), &path, None).await;
            // A word in the place of an id may be a path of its own.
            let missing = matches!(answer.code().as_str(), "method_not_allowed" | "not_found");
            assert!(missing, "{method} {path}: {}", answer.text);
            if answer.status == 405 {
                let allowed = answer.headers["allow"].to_str().unwrap();
                assert!(
                    !allowed.split(',').any(|allowed| allowed == method),
                    "{allowed}"
                );
            }
        }
    }
    for path in [
        "/ui/",
        "/inbox",
        "/api",
        "/api/",
        "/api/actions/",
        "//api/actions",
        "/api//actions",
        "/API/actions",
        "/api/actions/touch-a/",
        "/api/actions/touch-a/run/",
        "/api/actions/%2e%2e/run",
        "/api/proposals/x/approve",
        "/api/services/",
        "/index.html",
        "/.git/config",
        "/api/actions/pending/a/b/approve",
        "/api/audit/1/2",
        "/debug",
        "/api/void.db",
        "/api/events/",
        "/healthz/",
        "/api/openapi.json/..",
        "/api/tokens/a/b",
    ] {
        let answer = owner.get(path).await;
        assert!(
            matches!(answer.status, 404 | 405),
            "{path}: {}",
            answer.text
        );
    }
    assert_eq!(app.proposal_count().await, 0);
}

/// The table is the only way in: one place adds routes, and it adds what the table holds.
#[test]
fn no_handler_is_reachable_past_the_table() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let table = fs::read_to_string(source.join("routes.rs")).unwrap();
    let mut rows = 0;
    let mut files = vec![source.clone()];
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(&source).unwrap().display().to_string();
        let adds = [
            ".route(",
            ".route_service(",
            ".nest(",
            ".nest_service(",
            ".merge(",
            "on_service(",
        ];
        let found: Vec<&str> = adds.into_iter().filter(|add| text.contains(add)).collect();
        let expected: &[&str] = if name == "router.rs" {
            &[".route("]
        } else {
            &[]
        };
        assert_eq!(found, expected, "{name}");
        let fallbacks = if name == "router.rs" { 1 } else { 0 };
        assert_eq!(text.matches(".fallback(").count(), fallbacks, "{name}");
        let Some(module) = name
            .strip_prefix("routes/")
            .and_then(|name| name.strip_suffix(".rs"))
        else {
            continue;
        };
        let has_rows = text.contains("pub(super) const ROUTES: &[Route]");
        assert_eq!(
            has_rows,
            table.contains(&format!(" {module}::ROUTES,")),
            "{name}"
        );
        for function in text.split("pub(crate) async fn ").skip(1) {
            let (function, rest) = function.split_once('(').unwrap();
            let arguments = rest.split_once("->").unwrap().0;
            // What takes no extractor is called by handlers and is none.
            if arguments.contains("control: &Control") {
                continue;
            }
            let uses = ["get", "post", "put", "patch", "delete"]
                .map(|method| {
                    text.matches(&format!("handler: || {method}({function}),"))
                        .count()
                })
                .iter()
                .sum::<usize>();
            assert!(uses >= 1, "{module}::{function} is in no row");
            rows += uses;
        }
    }
    assert_eq!(rows, ROUTES.len());
}

/// A program on this machine may scrape; what a proxy passes on, or another machine sends, may not.
#[tokio::test(flavor = "multi_thread")]
async fn being_on_this_machine_is_not_something_a_caller_can_say() {
    let setup = Setup {
        listen: ([0, 0, 0, 0], 0).into(),
        ..Setup::default()
    };
    let app = setup.start().await;
    let mut caller = app.anonymous();
    caller.address.set_ip([127, 0, 0, 1].into());
    assert_eq!(caller.get("/metrics").await.status, 200);
    for header in ["forwarded", "x-forwarded-for", "x-real-ip", "via"] {
        let mut passed_on = caller.clone();
        passed_on.shows = Shows::Headers(vec![(header, "127.0.0.1".into())]);
        passed_on
            .get("/metrics")
            .await
            .error(401, "unauthenticated");
    }
    // Sends nothing; asks only which address this machine would use towards others.
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    let outside = socket
        .connect("192.0.2.1:9")
        .and_then(|()| socket.local_addr());
    if let Ok(outside) = outside
        && !outside.ip().is_loopback()
    {
        caller.address.set_ip(outside.ip());
        assert_eq!(
            caller.get("/healthz").await.status,
            200,
            "addressed as it is"
        );
        caller.get("/metrics").await.error(401, "unauthenticated");
    }
}

/// A browser that was left open, or its stolen cookie, gains nothing that outlives it.
#[tokio::test(flavor = "multi_thread")]
async fn a_stale_session_makes_nothing_that_lasts() {
    let app = App::with_clock().await;
    let session = app.session().await;
    let routes: Vec<&Route> = ROUTES
        .iter()
        .filter(|route| route.access == Access::OwnerRecent)
        .collect();
    let operations: Vec<&str> = routes.iter().map(|route| route.operation).collect();
    for lasting in [
        "createToken",
        "pairChannel",
        "inviteNode",
        "approveNode",
        "trustHost",
        "thaw",
        "settleProposal",
        "revokeToken",
        "clearToken",
        "revokeSession",
        "removeNode",
        "unpairChannel",
        "mute",
        "confirmQuarantined",
        "removeQuarantined",
    ] {
        assert!(operations.contains(&lasting), "{lasting}");
    }
    let call = async |route: &Route| {
        let (path, body, expected) = sample(route.operation);
        let method = Method::from_bytes(route.method.as_bytes()).unwrap();
        let mut request = session.request(method, &path);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (status, answer.text().await.unwrap(), expected)
    };
    for route in &routes {
        let (status, text, expected) = call(route).await;
        assert_eq!(status, expected, "{} while it is fresh: {text}", route.path);
    }
    app.pass(Duration::from_secs(5 * 60) + Duration::from_millis(1));
    for route in &routes {
        let (status, text, _) = call(route).await;
        assert_eq!(status, 403, "{}: {text}", route.path);
        assert!(text.contains("fresh_login_needed"), "{text}");
    }
    let proof = json!({"token": app.owner_token()});
    session.post("/api/session/confirm", proof).await.ok();
    for route in &routes {
        let (status, text, expected) = call(route).await;
        assert_eq!(status, expected, "{} confirmed: {text}", route.path);
    }
}
