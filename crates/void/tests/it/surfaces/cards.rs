//! I35 and I39: whoever can say yes has seen everything that the yes binds, on every surface that the server
//! renders, and what was asked for again is the strictest of both.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::json;

use super::*;
use crate::lab::{Lab, OWNER};

const EVIL: &str = "registry.evil.example/backdoor:1";
const LYING: &str = "-image: grafana/grafana:11.2.0\n+image: grafana/grafana:11.2.1";
pub(super) const ALL: [Surface; 5] = [
    Surface::Api,
    Surface::Cli,
    Surface::Telegram,
    Surface::Ntfy,
    Surface::File,
];

impl Stage {
    pub(super) fn link_page(&self, code: &str) -> String {
        let mut stream = TcpStream::connect(self.bridge.lab.address).unwrap();
        let (host, token) = (self.bridge.lab.address, OWNER);
        write!(
            stream,
            "GET /inbox/{code} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).unwrap();
        page.replace("&quot;", "\"")
    }

    pub(super) fn on_phone(&self, row: &Value, says: &str) -> void_testkit::telegram::Message {
        let code = word(row, "code");
        eventually_blocking("the phone to say it", || {
            let messages = self.phone().messages().into_iter().rev();
            let mut about = messages.filter(|message| message.text.contains(code));
            about.find(|message| message.text.contains(says))
        })
    }

    pub(super) fn pushed(&self, row: &Value, says: &str) -> Value {
        let code = word(row, "code");
        eventually_blocking("the push to say it", || {
            let bodies = self.receiver.bodies().into_iter().rev();
            let mut about = bodies.filter(|body| word(body, "message").contains(code));
            about.find(|body| word(body, "message").contains(says))
        })
    }

    pub(super) fn file(&self, id: &str, says: &str) -> Value {
        eventually_blocking("the file to say it", || {
            let text = fs::read_to_string(self.bridge.path("pending", id)).ok()?;
            text.contains(says)
                .then(|| serde_json::from_str(&text).ok())?
        })
    }

    pub(super) fn shown_by_cli(&self, code: &str) -> String {
        String::from_utf8(self.bridge.lab.void(&["inbox", "show", code]).stdout).unwrap()
    }
}

pub(super) fn labels(push: &Value) -> Vec<String> {
    let actions = push["actions"].as_array().cloned().unwrap_or_default();
    let label = |action: &Value| word(action, "label").to_owned();
    actions.iter().map(label).collect()
}

/// The attack: an image of somebody else's, and a diff that tells of another one.
#[test]
fn every_bound_value_is_on_every_surface_that_approves() {
    let stage = Stage::set(ALL);
    let agent = stage.bridge.lab.json(
        &[
            "token", "new", "--kind", "agent", "--name", "nightly", "--cap", "act",
        ],
        0,
    );
    let body = json!({"params": {"image": EVIL}, "reason": "a new version", "diff": LYING});
    let address = stage.bridge.lab.address;
    let path = "/api/actions/deploy-grafana/run";
    let (status, queued) = call(address, "POST", path, word(&agent, "token"), Some(&body)).unwrap();
    assert_eq!(status, 200, "{queued}");
    let row = stage.row(word(&queued, "action_row_id"));
    let (id, code) = (word(&row, "id"), word(&row, "code"));
    let card = stage
        .server
        .call("GET", &format!("/api/proposals/{id}/card"), None)
        .1;
    let effect = format!("deploys grafana with image {EVIL} on n1");
    assert_eq!(card["consequence"], effect.as_str());
    let bound = card["bound"].as_array().unwrap();
    // What the digest binds, from the catalogue and not from the card.
    let mut expected = vec![
        EVIL,
        "deploy-grafana",
        "deploy_service",
        "n1",
        "grafana",
        "risky",
        "guarded",
        "file",
        "77",
        "9",
        "^[a-z0-9./:-]{1,90}$",
        word(&row, "digest"),
    ];
    for value in &expected {
        let named = bound.iter().any(|bound| word(bound, "value") == *value);
        assert!(named, "{value} is missing in {card}");
    }
    // How it will be known that it worked is said before the yes too.
    let afterwards = word(&card, "checked_by");
    assert_eq!(
        afterwards,
        "Nothing looks afterwards; it will end as “not confirmed”."
    );
    expected.push(afterwards);
    expected.extend(bound.iter().map(|bound| word(bound, "value")));
    let message = stage.on_phone(&row, EVIL);
    let push = stage.pushed(&row, EVIL);
    let file = stage.file(id, EVIL);
    assert!(message.labels().iter().any(|label| label == "Approve…"));
    assert!(labels(&push).contains(&"Approve".to_owned()), "{push}");
    assert_eq!(file["details"]["diff"], LYING);
    let file = file.to_string();
    let surfaces = [
        ("link page", stage.link_page(code)),
        ("command line", stage.shown_by_cli(code)),
        ("telegram", message.text.clone()),
        (
            "ntfy",
            format!("{}\n{}", word(&push, "title"), word(&push, "message")),
        ),
        ("file", file.replace("\\\"", "\"")),
    ];
    for (surface, text) in &surfaces {
        for value in expected.iter().chain([&effect.as_str()]) {
            assert!(
                text.contains(value),
                "{surface} does not say {value}: {text}"
            );
        }
        let mark = "words of nightly, not checked";
        assert!(text.to_lowercase().contains(mark), "{surface}: {text}");
        for line in LYING.lines() {
            assert!(text.contains(line), "{surface}: {line}: {text}");
        }
    }
    // Nothing of it is in a fold of the page.
    let page = &surfaces[0].1;
    let before_folds = page.split("<details").next().unwrap();
    assert!(expected.iter().all(|value| before_folds.contains(value)));
}

/// An agent's text that draws rows of a card is one element in quotes wherever a yes is given, and its pieces below
/// each other are marked in a terminal.
#[test]
fn no_value_and_no_words_draw_rows_of_a_card() {
    let bridge = Bridge::with_decisions();
    let catalogue = bridge.lab.path("actions.json");
    let mut all: Value = serde_json::from_str(&fs::read_to_string(&catalogue).unwrap()).unwrap();
    let image = json!({"image": {"type": "pattern", "pattern": "^.*$", "max_len": 400}});
    let actions = all["actions"].as_array_mut().unwrap();
    actions.push(
        json!({"id": "deploy-free", "label": "Deploy", "kind": "deploy_service", "node": "n1",
        "service": "web", "tier": "risky", "via": "file", "params": image}),
    );
    fs::write(&catalogue, all.to_string()).unwrap();
    let stage = Stage::set_on(bridge, ALL);
    let agent = [
        "token", "new", "--kind", "agent", "--name", "forger", "--cap", "act",
    ];
    let agent = stage.bridge.lab.json(&agent, 0);
    for value in drawing_rows() {
        // What the words would have below the card's own names.
        let reason = format!(
            "fine\"{}expires      tomorrow{}id           000",
            " ".repeat(55),
            " ".repeat(48)
        );
        let body = json!({"params": {"image": value}, "reason": reason});
        let address = stage.bridge.lab.address;
        let path = "/api/actions/deploy-free/run";
        let (status, queued) =
            call(address, "POST", path, word(&agent, "token"), Some(&body)).unwrap();
        assert_eq!(status, 200, "{queued}");
        let row = stage.row(word(&queued, "action_row_id"));
        let (id, code) = (word(&row, "id"), word(&row, "code"));
        let card = stage
            .server
            .call("GET", &format!("/api/proposals/{id}/card"), None)
            .1;
        let chosen = word(&card["bound"][0], "value");
        assert!(
            chosen.starts_with("\"nginx:1.2") && !chosen.contains("  "),
            "{card}"
        );
        assert!(
            chosen.ends_with('"') && !chosen.contains('\u{a0}'),
            "{card}"
        );
        let message = stage.on_phone(&row, "With image: ");
        let push = stage.pushed(&row, "With image: ");
        let file = stage.file(id, "params.image");
        assert_eq!(file["details"]["image"], value.as_str());
        assert_eq!(file["void"]["binds"]["params.image"], chosen);
        let page = stage.link_page(code).replace("&#39;", "'");
        for text in [&message.text, word(&push, "message")] {
            let line = format!("With image: {chosen}");
            assert!(text.lines().any(|shown| shown == line), "{line}: {text}");
            let says = text.lines().find(|line| line.starts_with("forger says: "));
            assert!(
                says.is_some_and(|says| says.contains("\"fine\\\"  \\u{20}")),
                "{text}"
            );
        }
        assert!(page.contains(&format!("<code>{chosen}</code>")), "{page}");
        is_marked_on_a_terminal(&stage, code, chosen);
    }
}

/// Values that would draw rows of the card at the columns of a terminal, or close what they stand in.
fn drawing_rows() -> [String; 4] {
    let gap = |blank: &str, count: usize| blank.repeat(count);
    [
        format!(
            "nginx:1.2{}action: harmless{}risk: nominal",
            gap(" ", 50),
            gap(" ", 42)
        ),
        format!(
            "nginx:1.2{} action: harmless{} risk: nominal",
            gap("\u{a0}", 49),
            gap("\u{2003}", 42)
        ),
        format!(
            "nginx:1.2\\u{{{}action: harmless{}risk: nominal}} ",
            gap(" ", 60),
            gap("z ", 30)
        ),
        "nginx:1.2\" · risk nominal · tier safe · \"".to_owned(),
    ]
}

/// Every row of the card that is neither named at its beginning nor one of the bound values is behind a mark.
fn is_marked_on_a_terminal(stage: &Stage, code: &str, chosen: &str) {
    const VALUES_AT: usize = 15;
    let shown = stage.bridge.lab.on_terminal(&["inbox", "show", code], 80);
    let lines: Vec<&str> = shown
        .lines()
        .map(|line| line.trim_end_matches('\r'))
        .collect();
    let bound = lines
        .iter()
        .position(|line| line.starts_with("  binds        image: "));
    let bound = bound.unwrap_or_else(|| panic!("{shown}"));
    let after = lines[bound + 1..].iter();
    let pieces: Vec<&str> =
        (after.map_while(|line| line.get(VALUES_AT..)?.strip_prefix("| "))).collect();
    let first = lines[bound].split_once("image: ").unwrap().1;
    let whole = [&[first], pieces.as_slice()].concat().concat();
    let letters = |text: &str| text.replace(' ', "");
    assert_eq!(letters(&whole), letters(chosen), "{shown}");
    for line in &lines {
        assert!(line.chars().count() <= 80, "{line}: {shown}");
        let said = line.trim_start();
        for forged in ["action: harmless", "risk: nominal", "id           000"] {
            assert!(!said.starts_with(forged), "{line}: {shown}");
        }
    }
    let ends = lines
        .iter()
        .filter(|line| line.trim_start().starts_with("expires "));
    assert_eq!(ends.count(), 1, "Void's own: {shown}");
}

/// `propose_action` takes a wish without a reason, and whoever decides reads that there is none.
#[test]
fn a_proposal_without_a_reason_says_that_none_was_given() {
    let stage = Stage::set(ALL);
    let agent = stage.bridge.lab.json(
        &[
            "token", "new", "--kind", "agent", "--name", "terse", "--cap", "act",
        ],
        0,
    );
    let wish = json!({"name": "propose_action", "arguments": {"action_id": "deploy-grafana", "params": {"image": "grafana:1"}}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": wish});
    let address = stage.bridge.lab.address;
    let (status, told) = call(address, "POST", "/mcp", word(&agent, "token"), Some(&body)).unwrap();
    assert_eq!(status, 200, "{told}");
    let result = &told["result"]["structuredContent"];
    assert_eq!(word(result, "outcome"), "queued", "{told}");
    let row = stage.row(word(result, "proposal_id"));
    assert_eq!(row["reason"], Value::Null, "{row}");
    let code = word(&row, "code");
    let shown = stage.shown_by_cli(code);
    assert!(shown.contains("  reason       none was given\n"), "{shown}");
    assert!(!shown.contains("their words"), "{shown}");
    let page = stage.link_page(code);
    assert!(page.contains("No reason was given."), "{page}");
    // Nobody said it, so it is nobody's words.
    assert!(!page.contains("<q>No reason"), "{page}");
}

/// I39: a tainted, critical twin does not disappear in a clean one, and buttons of before no longer approve.
#[test]
fn a_twin_that_is_critical_makes_what_waits_critical_everywhere() {
    let stage = Stage::set(ALL);
    let mut wish = Bridge::wish("first", "deploy_service", "n1", "grafana");
    wish["details"] =
        json!({"image": "grafana:1", "reason": "a new version", "diff": "+image: grafana:1"});
    stage.bridge.drop_file(&wish);
    let row = eventually_blocking("the wish to wait", || {
        let all = stage.server.proposals();
        all.into_iter().find(|row| word(row, "status") == "pending")
    });
    let (id, code) = (word(&row, "id"), word(&row, "code"));
    assert_eq!(
        (word(&row, "risk"), &row["taint"]),
        ("guarded", &json!(["file:first"]))
    );
    let message = stage.on_phone(&row, "risk guarded");
    let push = stage.pushed(&row, "risk guarded");
    let actions = push["actions"].as_array().unwrap();
    let approve = actions.iter().find(|action| action["label"] == "Approve");
    let approve: Value = serde_json::from_str(word(approve.unwrap(), "body")).unwrap();
    let (_, ask) = (message.buttons().into_iter())
        .find(|(label, _)| label == "Approve…")
        .unwrap();
    // The file as it was when somebody read it.
    let read = stage.file("first", "\"revision\": 0");

    let mut twin = Bridge::wish("second", "deploy_service", "n1", "grafana");
    twin["risk"] = json!("critical");
    twin["details"] =
        json!({"image": "grafana:1", "reason": "do it now", "diff": "+image: another"});
    stage.bridge.drop_file(&twin);
    let risen = eventually_blocking("the risk to rise", || {
        let row = stage.row(id);
        (row["revision"] == 1).then_some(row)
    });
    assert_eq!(
        (word(&risen, "risk"), word(&risen, "tier")),
        ("critical", "risky")
    );
    assert_eq!(risen["taint"], json!(["file:first", "file:second"]));
    let shown = stage.shown_by_cli(code);
    let taint = "  had read     file:first, file:second   content of others\n";
    assert!(shown.contains(taint), "{shown}");
    assert_eq!(risen["joined"][0]["reason"], "do it now");
    assert_eq!(risen["joined"][0]["diff"], "+image: another");
    assert_eq!(
        (word(&risen, "digest"), &risen["count"]),
        (word(&row, "digest"), &json!(2))
    );

    // Nothing that was handed out before approves any more.
    let address = stage.bridge.lab.address;
    let (status, told) = call(
        address,
        "POST",
        "/api/notifications/act",
        "",
        Some(&approve),
    )
    .unwrap();
    assert_eq!(
        (status, &told["error"]["code"]),
        (409, &json!("changed")),
        "{told}"
    );
    stage.phone().send_tap(message.id, &ask);
    let seen = json!({"decision": "approve", "digest": row["digest"], "revision": 0});
    let path = format!("/api/proposals/{id}/decide");
    let (status, told) = stage.server.call("POST", &path, Some(&seen));
    assert_eq!(
        (status, &told["error"]["code"]),
        (409, &json!("changed")),
        "{told}"
    );
    let refused = stage.bridge.lab.void(&["inbox", "approve", code, "--yes"]);
    assert!(!refused.status.success(), "{refused:?}");
    let _ = fs::remove_file(stage.bridge.path("pending", "first"));
    stage.bridge.write("approved", "first", &read);
    stage.bridge.settle(&stage.server);

    // The messages are the new ones, without an approval.
    let message = stage.on_phone(&row, "risk critical");
    let push = stage.pushed(&row, "risk critical");
    assert!(
        message
            .labels()
            .iter()
            .all(|label| !label.starts_with("Approve") && !label.starts_with("Yes"))
    );
    assert!(!labels(&push).contains(&"Approve".to_owned()), "{push}");
    let file = stage.file("first", "\"revision\": 1").to_string();
    let shown = [
        message.text.clone(),
        word(&push, "message").to_owned(),
        file,
        stage.shown_by_cli(code),
        stage.link_page(code),
    ];
    for text in &shown {
        for said in [
            "a new version",
            "do it now",
            "+image: another",
            "file:first",
            "file:second",
            "critical",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
    }
    assert_eq!(stage.row(id)["status"], "pending");
    // The record has what each brought.
    let path = "/api/audit?verb=proposal.joined";
    let entries = stage.server.call("GET", path, None).1;
    let detail = &entries["entries"][0]["detail"];
    assert_eq!(
        (&detail["reason"], &detail["asked_risk"]),
        (&json!("do it now"), &json!("critical")),
        "{entries}"
    );
    assert_eq!(
        (&detail["asked_taint"], &detail["diff"]),
        (&json!(["file:second"]), &json!("+image: another"))
    );
    // Whoever has read it all can still say yes.
    let digest = word(&row, "digest");
    let approved = stage
        .bridge
        .lab
        .void(&["inbox", "approve", code, "--digest", digest, "--wait", "0"]);
    assert!(stage.row(id)["resolved_by"] == "owner-cli", "{approved:?}");
}

/// The catalogue with an action more, whose label says nothing of it.
fn with_one_more(loaded: &str) -> String {
    let mut catalogue: Value = serde_json::from_str(loaded).unwrap();
    let actions = catalogue["actions"].as_array_mut().unwrap();
    let mut sneaky = actions[0].clone();
    sneaky["id"] = json!("sneaky");
    sneaky["label"] = json!("Nothing to see");
    actions.push(sneaky);
    format!("{catalogue:#}\n")
}

/// A change of what is allowed: every line of it where a yes can be given, and no Approve where none can.
#[test]
fn every_line_of_a_change_is_on_every_surface_that_approves() {
    let stage = Stage::set(ALL);
    let lab = &stage.bridge.lab;
    let loaded = fs::read_to_string(lab.path("actions.json")).unwrap();
    let new = lab.path("new.json");
    fs::write(&new, with_one_more(&loaded)).unwrap();
    let row = lab.json(
        &[
            "actions",
            "propose",
            new.to_str().unwrap(),
            "--reason",
            "tidying up",
        ],
        7,
    );
    let (id, code) = (word(&row, "id"), word(&row, "code"));
    let diff = word(&row["change"], "diff");
    let summary = row["change"]["summary"][0].as_str().unwrap().to_owned();
    assert!(summary.contains("sneaky"), "{row}");
    let whole = [
        ("link page", stage.link_page(code)),
        ("command line", stage.shown_by_cli(code)),
    ];
    for (surface, text) in &whole {
        let text = text.split("<details").next().unwrap();
        let lines = diff.lines().map(str::trim_end);
        for line in lines.chain([summary.as_str(), word(&row, "digest")]) {
            assert!(text.contains(line), "{surface} does not say {line}: {text}");
        }
    }
    // Here it can be read and rejected; a yes needs a place where all of it is seen.
    let message = stage.on_phone(&row, &summary);
    assert!(
        !message
            .labels()
            .iter()
            .any(|label| label.contains("Approve")),
        "{message:?}"
    );
    let push = stage.pushed(&row, &summary);
    assert!(!labels(&push).contains(&"Approve".to_owned()), "{push}");
    let file = stage.file(id, "sneaky");
    assert_eq!(file["void"]["change"]["diff"], diff);
    assert_eq!(
        fs::read_to_string(lab.path("actions.json")).unwrap(),
        loaded
    );
    // With the digest, on the command line.
    let done = lab.json(
        &[
            "inbox",
            "approve",
            code,
            "--digest",
            word(&row, "digest"),
            "--yes",
        ],
        0,
    );
    assert_eq!(
        (word(&done, "status"), word(&done, "verification")),
        ("executed", "verified")
    );
    let beside = fs::read_to_string(lab.path("actions.json.proposed")).unwrap();
    assert_eq!(beside, fs::read_to_string(&new).unwrap());
}

/// Lines that differ in nothing but what ends them unseen do not look the same in a terminal.
#[test]
fn what_ends_a_line_unseen_is_seen_in_the_terminal() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let loaded = fs::read_to_string(lab.path("actions.json")).unwrap();
    let new = lab.path("new.json");
    fs::write(&new, format!("{loaded}  \n")).unwrap();
    let file = new.to_str().unwrap();
    let code = word(&lab.json(&["actions", "propose", file], 7), "code").to_owned();
    for args in [&["inbox", "show", &code][..], &["actions", "propose", file]] {
        let shown = String::from_utf8(lab.void(args).stdout).unwrap();
        let line = shown.lines().find(|line| line.contains("| +{")).unwrap();
        assert!(line.ends_with("}··"), "{shown}");
        assert!(
            shown.contains("· is a blank at the end of a line"),
            "{shown}"
        );
    }
}
