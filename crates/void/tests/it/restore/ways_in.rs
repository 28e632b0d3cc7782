//! Every way in that is no token of an agent, over an older copy in its three ways back: a browser that is signed in, a
//! phone and a machine.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};
use void_testkit::telegram::BotApi;

use super::put_in_place_without_note;
use crate::lab::{Lab, OWNER, call, word};
use crate::notify::{sees, with_bot};

/// What somebody holds who was let in before the copy was made, or after it.
struct LetIn {
    copy: String,
    cookies: [String; 2],
    node: String,
}

/// The answer's first line and head, of a request with these headers.
fn asked(lab: &Lab, line: &str, headers: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(lab.address).unwrap();
    let request = format!(
        "{line} HTTP/1.1\r\nHost: {}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        lab.address,
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn sign_in(lab: &Lab) -> String {
    let body = json!({"token": OWNER}).to_string();
    let headers = "Content-Type: application/json\r\n";
    let answer = asked(lab, "POST /api/session", headers, &body);
    let set = answer.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("set-cookie").then_some(value)
    });
    let cookie = set.unwrap_or_else(|| panic!("{answer}"));
    cookie.split(';').next().unwrap().to_owned()
}

fn status_of(lab: &Lab, cookie: &str) -> String {
    let headers = format!("Cookie: {cookie}\r\n");
    let answer = asked(lab, "GET /api/inbox", &headers, "");
    answer.split(' ').nth(1).unwrap().to_owned()
}

fn polls(lab: &Lab, secret: &str) -> u16 {
    let body = json!({"session": {"generation": 1, "nonce": "x"}});
    call(lab.address, "POST", "/api/node/poll", secret, Some(&body))
        .unwrap()
        .0
}

fn reached(lab: &Lab) -> Option<bool> {
    let said = lab.void(&["notify", "test", "--json"]);
    let said: Value = serde_json::from_slice(&said.stdout).ok()?;
    said["results"][0]["sent"].as_bool()
}

fn let_in(lab: &Lab, api: &BotApi) -> LetIn {
    let settings = fs::read_to_string(lab.data().join("void.toml")).unwrap();
    let settings = settings.replace("enabled = false", "enabled = true");
    fs::write(lab.data().join("void.toml"), settings).unwrap();
    let mut server = lab.serve(&[]);
    let made = lab.json(&["notify", "pair", "telegram"], 0);
    let phone = api.phone(77);
    phone.open(word(&made, "link"));
    sees(&phone, "Paired");
    let body = json!({"kind": "node", "name": "n1"});
    let (status, made) = server.call("POST", "/api/tokens", Some(&body));
    assert_eq!(status, 200, "{made}");
    let node = word(&made, "token").to_owned();
    let before = sign_in(lab);
    let copy = word(&lab.json(&["backup", "create"], 0), "file").to_owned();
    let cookies = [before, sign_in(lab)];
    // All of it opens something now.
    for cookie in &cookies {
        assert_eq!(status_of(lab, cookie), "200");
    }
    assert_eq!(polls(lab, &node), 200);
    assert_eq!(reached(lab), Some(true));
    assert!(server.terminate().success());
    LetIn {
        copy,
        cookies,
        node,
    }
}

fn nobody_is_in(lab: &Lab, held: &LetIn) {
    let _server = lab.serve(&[]);
    for cookie in &held.cookies {
        assert_eq!(status_of(lab, cookie), "401");
    }
    assert_eq!(polls(lab, &held.node), 401);
    assert_ne!(
        reached(lab),
        Some(true),
        "a phone in quarantine is told nothing"
    );
    let listed = lab.json(&["quarantine", "ls"], 0);
    let listed = listed["quarantined"].as_array().unwrap();
    let of_kind = |kind: &str| {
        let found = listed.iter().find(|one| word(one, "kind") == kind);
        let found = found.unwrap_or_else(|| panic!("{kind} in {listed:?}"));
        word(found, "id").to_owned()
    };
    // The owner knows the phone and the machine, so they are let in again. No browser is: it signs in.
    for kind in ["pair", "token"] {
        lab.json(&["quarantine", "confirm", &of_kind(kind)], 0);
    }
    lab.json(&["thaw"], 0);
    assert_eq!(polls(lab, &held.node), 200);
    assert_eq!(reached(lab), Some(true));
    for cookie in &held.cookies {
        assert_eq!(status_of(lab, cookie), "401");
    }
    assert_eq!(status_of(lab, &sign_in(lab)), "200");
}

#[test]
fn a_restored_copy_lets_no_browser_phone_or_machine_in() {
    let api = BotApi::start();
    let lab = with_bot(&api);
    let held = let_in(&lab, &api);
    let restored = lab.json(&["backup", "restore", &held.copy, "--yes"], 0);
    // That of the copy; the later one is not in it.
    assert_eq!(restored["sessions_ended"], json!(1), "{restored}");
    nobody_is_in(&lab, &held);
}

#[test]
fn a_copy_put_in_place_by_hand_lets_no_browser_phone_or_machine_in() {
    let api = BotApi::start();
    let lab = with_bot(&api);
    let held = let_in(&lab, &api);
    for extension in ["db", "db-wal", "db-shm"] {
        let _ = fs::remove_file(lab.data().join("void").with_extension(extension));
    }
    fs::copy(&held.copy, lab.data().join("void.db")).unwrap();
    nobody_is_in(&lab, &held);
}

#[test]
fn an_old_copy_without_its_note_lets_no_browser_phone_or_machine_in() {
    let api = BotApi::start();
    let lab = with_bot(&api);
    let held = let_in(&lab, &api);
    put_in_place_without_note(&lab, &held.copy);
    nobody_is_in(&lab, &held);
}
