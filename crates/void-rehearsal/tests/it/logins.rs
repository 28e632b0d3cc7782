//! Logging in: who is refused, in which words, and how slowly.

use std::time::{Duration, Instant};

use serde_json::json;
use void_rehearsal::proxmox::{Acl, ProxmoxServer, Release, Token, User, roles};

use crate::client::Client;
use crate::lab::{self, ACTIONS, SECRET};

#[test]
fn a_refused_login_says_why_in_the_status_line_and_has_no_body() {
    let mut config = lab::config();
    let mut off = User::new("off@pve", Vec::new(), vec![Token::unseparated("t", SECRET)]);
    off.enabled = false;
    let mut old = Token::unseparated("old", SECRET);
    old.expires_at = Some(void_domain::time::Timestamp::from_ms(1_000));
    config.access.users[0].tokens.push(old);
    config.access.users.push(off);
    let server = ProxmoxServer::start(config).unwrap();
    let stranger = Client::stranger(&server);
    assert_eq!(stranger.get("/version").line(), "401 No ticket");
    for (header, why) in [
        ("Bearer abc", "No ticket"),
        ("PVEAPIToken=", "No ticket"),
        ("PVEAPIToken=nothing", "no tokenid specified"),
        (
            "PVEAPIToken=void@pve=x",
            "'void@pve' is not a valid token ID - not able to split into user and token parts",
        ),
        ("PVEAPIToken=who@pve!t=x", "no such user ('who@pve')"),
        (
            &format!("PVEAPIToken=off@pve!t={SECRET}"),
            "user 'off@pve' is disabled",
        ),
        (
            "PVEAPIToken=void@pve!t=x",
            "no such token 't' for user 'void@pve'",
        ),
        (
            &format!("PVEAPIToken=void@pve!old={SECRET}"),
            "token 'old' access expired",
        ),
        ("PVEAPIToken=void@pve!actions=x", "invalid token value!"),
    ] {
        let answer = stranger.clone().with_header(header).get("/nodes/z/lxc");
        assert_eq!(answer.line(), format!("401 {why}"), "{header}");
        assert_eq!(answer.body, b"", "{header}");
        assert_eq!(answer.header("connection").as_deref(), Some("close"));
    }
    // An unknown path is not told to strangers.
    assert_eq!(stranger.get("/nothing").line(), "401 No ticket");
}

#[test]
fn a_token_may_be_written_as_pve_reads_it() {
    let server = lab::server();
    let stranger = Client::stranger(&server);
    for header in [
        format!("PVEAPIToken={ACTIONS}={SECRET}"),
        format!("PVEAPIToken {ACTIONS}={SECRET}"),
        format!("PVEAPIToken=void%40pve!actions={SECRET}"),
        format!("Other=1; PVEAPIToken={ACTIONS}={SECRET}; more"),
    ] {
        let answer = stranger.clone().with_header(&header).get("/version");
        assert_eq!(answer.status, 200, "{header}");
    }
}

#[test]
fn later_releases_tell_nothing() {
    let mut config = lab::config();
    config.release = Release::V8_4_17;
    let server = ProxmoxServer::start(config).unwrap();
    let wrong = Client::new(&server, "void@pve!actions=x");
    assert_eq!(wrong.get("/version").line(), "401 Authentication failed!");
    assert_eq!(
        Client::stranger(&server).get("/version").line(),
        "401 No ticket"
    );
}

#[test]
fn a_refused_login_waits() {
    let mut config = lab::config();
    config.unauthorized_delay = Duration::from_millis(300);
    let server = ProxmoxServer::start(config).unwrap();
    let begun = Instant::now();
    Client::stranger(&server).get("/version");
    assert!(begun.elapsed() >= Duration::from_millis(300));
}

#[test]
fn no_tickets_are_given() {
    let server = lab::server();
    let stranger = Client::stranger(&server);
    let missing = stranger.post("/access/ticket", "username=root@pam");
    assert_eq!(missing.line(), "400 Parameter verification failed.");
    let refused = stranger.post("/access/ticket", "username=root@pam&password=x");
    assert_eq!(refused.line(), "401 authentication failure");
    assert_eq!(
        refused.json(),
        json!({"data": null, "message": "authentication failure\n"})
    );
    let token = lab::client(&server, ACTIONS);
    let refused = token.post("/access/ticket", "username=root@pam&password=x");
    assert_eq!(
        refused.line(),
        "403 Permission check failed (URI '/access/ticket' not available with API token, need proper ticket."
    );
}

#[test]
fn requests_are_counted_with_the_token_they_claimed() {
    let server = lab::server();
    lab::client(&server, ACTIONS).get("/nodes/z/lxc?_dc=12");
    Client::new(&server, "void@pve!actions=wrong").post("/nodes/z/lxc/107/status/stop", "");
    Client::stranger(&server).get("/version");
    let seen: Vec<_> = server
        .requests()
        .into_iter()
        .map(|one| (one.method, one.path, one.token))
        .collect();
    let actions = Some(ACTIONS.to_owned());
    assert_eq!(
        seen,
        [
            ("GET".to_owned(), "/nodes/z/lxc".to_owned(), actions.clone()),
            (
                "POST".to_owned(),
                "/nodes/z/lxc/107/status/stop".to_owned(),
                actions
            ),
            ("GET".to_owned(), "/version".to_owned(), None),
        ]
    );
    assert_eq!(server.request_count(), 3);
}

#[test]
fn access_can_be_changed_while_it_runs() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    assert_eq!(client.get("/version").status, 200);
    let mut access = lab::config().access;
    access.users[0].tokens[0].acl = vec![Acl::new("/", roles::NO_ACCESS)];
    server.set_access(access.clone());
    assert_eq!(client.get("/nodes/z/lxc").data(), json!([]));
    access.users[0].tokens.clear();
    server.set_access(access);
    assert_eq!(client.get("/version").status, 401);
}
