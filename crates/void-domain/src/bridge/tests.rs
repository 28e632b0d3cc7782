use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::actors::{Actor, Surface};
use crate::catalogue::{Action, Catalogue, Lockout, Risk, Tier};
use crate::digests::Digest;
use crate::executions::Execution;
use crate::failures::FailureCode;
use crate::ids::{ActionId, ProposalCode, ProposalId};
use crate::proposals::{
    Cancellation, DisplayState, Failure, Joined, ProposedAction, Run, StartHold, Status, Subject,
    SubjectKind, Transition,
};
use crate::taint::Taint;
use crate::time::Timestamp;

const NOW: Timestamp = Timestamp::from_ms(1_800_000_000_999);
const RUN: Run = Run {
    started_at: NOW,
    ticket_expires_at: NOW,
    lease_until: NOW,
};

fn name(text: &str) -> InstanceId {
    InstanceId::parse(text).unwrap()
}

fn dropped() -> Value {
    json!({
        "action_id": "deploy-1", "service": "web", "node": "n1", "type": "deploy_service",
        "risk": "guarded", "status": "pending", "created_at": 1_700_000_000, "updated_at": 1_700_000_000,
        "details": {"image": "web:2", "reason": "new version", "diff": "- web:1\n+ web:2"},
        "transition_history": [{"from": null, "to": "pending", "timestamp": 1_700_000_000, "by": "system"}],
    })
}

fn parse(file: &Value) -> Result<Dropped, String> {
    Dropped::parse(file.to_string().as_bytes(), &name("deploy-1")).map_err(|problems| {
        let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
        said.join("\n")
    })
}

fn with(change: impl FnOnce(&mut Value)) -> Value {
    let mut file = dropped();
    change(&mut file);
    file
}

#[test]
fn names_cannot_be_paths_options_or_hidden() {
    for good in ["a", "0", "deploy-1", "A.b_c-d", &"x".repeat(128)] {
        let id = name(good);
        assert_eq!(InstanceId::from_file_name(&id.file_name()), Some(id));
    }
    for bad in [
        "",
        ".",
        "..",
        ".x",
        "-x",
        "_x",
        "a/b",
        "../a",
        "a\\b",
        "a b",
        "a\0b",
        "a\nb",
        "é",
        "e\u{301}",
        "a:b",
        "a*",
        "~a",
        "$a",
        &"x".repeat(129),
    ] {
        assert_eq!(InstanceId::parse(bad), None, "{bad:?}");
    }
    for bad in [
        "x",
        "x.JSON",
        ".json",
        "x.json.tmp",
        "../x.json",
        "x.json/",
        "x.json\0",
    ] {
        assert_eq!(InstanceId::from_file_name(bad), None, "{bad:?}");
    }
}

fn action(kind: &Value) -> Arc<Action> {
    let mut action = kind.clone();
    action["id"] = json!("it");
    let catalogue = json!({"hosts": {"n1": "10.0.0.1"}, "actions": [action]});
    let catalogue = Catalogue::parse(&catalogue.to_string(), &Lockout::default()).unwrap();
    Arc::clone(catalogue.actions().next().unwrap())
}

/// Only where nothing would run by it.
#[test]
fn an_image_is_only_a_word_where_a_restart_has_no_such_parameter() {
    let of = |kind: &str| with(|file| file["type"] = json!(kind));
    let params = |kind: &str, action: &Action| parse(&of(kind)).unwrap().params(action);
    let image = json!({"image": {"type": "pattern", "pattern": "^[a-z:0-9]+$", "max_len": 40}});
    let restart =
        json!({"kind": "restart_service", "node": "n1", "service": "web", "tier": "safe"});
    let mut declared = restart.clone();
    declared["params"] = image;
    let on_host =
        json!({"kind": "service_restart", "host": "n1", "service": "web", "tier": "safe"});
    for plain in [&restart, &on_host] {
        assert_eq!(
            params("restart_service", &action(plain)),
            json!({}),
            "{plain}"
        );
    }
    assert_eq!(
        params("restart_service", &action(&declared)),
        json!({"image": "web:2"})
    );
    for kind in ["deploy_service", "rollback", "scale"] {
        let other = json!({"kind": kind, "node": "n1", "service": "web", "tier": "risky"});
        assert_eq!(
            params(kind, &action(&other)),
            json!({"image": "web:2"}),
            "{kind}"
        );
    }
    let at = |bytes: usize| {
        parse(&with(|file| {
            file["details"]["image"] = json!("x".repeat(bytes));
        }))
    };
    assert!(at(1_024).is_ok());
    assert!(at(1_025).unwrap_err().contains("details.image"));
}

#[test]
fn an_image_that_is_only_a_word_stays_in_the_file_and_cannot_be_exchanged() {
    let details = DroppedDetails {
        image: Some("web:2".into()),
        ..DroppedDetails::default()
    };
    for by_file in [false, true] {
        let mut restart = proposal(by_file);
        restart.subject.action_mut().unwrap().params = json!({});
        restart.subject.action_mut().unwrap().definition["action"]["kind"] =
            json!("restart_service");
        restart.subject.action_mut().unwrap().execution =
            Execution::from_definition(restart.subject.definition());
        assert!(restart.subject.execution().is_some());
        let bytes = render(
            &name("a"),
            &restart,
            shown(&restart),
            &[],
            Some(&details),
            &[],
        )
        .bytes;
        let file: Value = serde_json::from_slice(&bytes).unwrap();
        // A foreign executor is handed no image that nobody approved.
        let (shown, told) = if by_file {
            ("", json!("web:2"))
        } else {
            ("web:2", Value::Null)
        };
        assert_eq!(
            (&file["details"]["image"], &file["void"]["image_said"]),
            (&json!(shown), &told)
        );
        assert!(
            file["void"]["words"]
                .as_str()
                .unwrap()
                .contains("nothing runs by it")
        );
        assert_eq!(file["void"]["binds"].get("params.image"), None);
        for (image, same) in [
            ("web:2", true),
            ("", true),
            ("web:3", false),
            ("evil:1", false),
        ] {
            let mut returned = file.clone();
            returned["details"]["image"] = json!(image);
            let bytes = returned.to_string();
            let read = Returned::read(bytes.as_bytes(), &name("a"), &restart, Some(&details));
            assert_eq!(
                matches!(read, Returned::Same { .. }),
                same,
                "{image}: {read:?}"
            );
            let unsaid = Returned::read(bytes.as_bytes(), &name("a"), &restart, None);
            assert_eq!(
                matches!(unsaid, Returned::Same { .. }),
                image.is_empty(),
                "{image}"
            );
        }
    }
}

#[test]
fn the_source_documents_file_is_read() {
    let read = parse(&dropped()).unwrap();
    assert_eq!(read.risk, Risk::Guarded);
    let deploy =
        action(&json!({"kind": "deploy_service", "node": "n1", "service": "web", "tier": "risky"}));
    assert_eq!(read.params(&deploy), json!({"image": "web:2"}));
    assert_eq!(read.details.reason.as_deref(), Some("new version"));
    let bare = with(|file| {
        let members = file.as_object_mut().unwrap();
        for optional in ["details", "transition_history", "updated_at"] {
            members.remove(optional);
        }
    });
    assert_eq!(parse(&bare).unwrap().params(&deploy), json!({}));
    let with_params = with(|file| file["details"]["params"] = json!({"replicas": 3}));
    let params = parse(&with_params).unwrap().params(&deploy);
    assert_eq!(params, json!({"image": "web:2", "replicas": 3}));
    assert_eq!(
        DroppedDetails::from_value(&read.details.to_value()),
        read.details
    );
}

/// Each hostile file is refused, and the reason names what is wrong with it.
#[test]
fn hostile_files_are_refused_with_a_reason() {
    let mut cases: Vec<(Vec<u8>, &str)> = vec![
        (Vec::new(), "not valid JSON"),
        (b"{".to_vec(), "not valid JSON"),
        (b"[]".to_vec(), "expected an object"),
        (b"null".to_vec(), "expected an object"),
        (b"\xff\xfe{}".to_vec(), "not UTF-8"),
        (b"\xef\xbb\xbf{}".to_vec(), "not valid JSON"),
        (vec![b' '; FILE_BYTES_MAX + 1], "larger than"),
        ("[".repeat(60_000).into_bytes(), "nested deeper"),
        (b"{}{}".to_vec(), "after the end"),
    ];
    let half = dropped().to_string();
    cases.push((half.as_bytes()[..half.len() / 2].to_vec(), "not valid JSON"));
    let doubled = half.replacen("{", "{\"risk\":\"nominal\",", 1);
    cases.push((doubled.into_bytes(), "risk"));
    let changes: Vec<(Value, &str)> = vec![
        (with(|f| f["action_id"] = json!("deploy-2")), "action_id"),
        (with(|f| f["action_id"] = json!("../deploy-1")), "action_id"),
        (with(|f| f["action_id"] = json!(1)), "action_id"),
        (
            with(|f| _ = f.as_object_mut().unwrap().remove("action_id")),
            "action_id",
        ),
        (with(|f| f["type"] = json!("exec")), "type"),
        (with(|f| f["type"] = json!("guest_power")), "type"),
        (
            with(|f| _ = f.as_object_mut().unwrap().remove("type")),
            "type",
        ),
        (with(|f| f["risk"] = json!("none")), "risk"),
        (with(|f| f["risk"] = Value::Null), "risk"),
        (with(|f| f["status"] = json!("approved")), "status"),
        (with(|f| f["status"] = json!("completed")), "status"),
        (with(|f| f["created_at"] = json!("now")), "created_at"),
        (with(|f| f["created_at"] = json!(-1)), "created_at"),
        (
            with(|f| f["updated_at"] = json!(9_999_999_999_999_i64)),
            "updated_at",
        ),
        (with(|f| f["node"] = json!(["n1"])), "node"),
        (with(|f| f["details"] = json!("image")), "details"),
        (
            with(|f| f["details"]["image"] = json!({"a": 1})),
            "details.image",
        ),
        (with(|f| f["details"]["command"] = json!("rm")), "command"),
        (
            with(|f| f["details"]["params"] = json!([1])),
            "details.params",
        ),
        (
            with(|f| f["details"]["reason"] = json!("x".repeat(4097))),
            "details.reason",
        ),
        (
            with(|f| f["transition_history"] = json!({})),
            "transition_history",
        ),
        (
            with(|f| f["transition_history"] = json!(["x"])),
            "transition_history",
        ),
        (
            with(|f| f["transition_history"] = json!(vec![json!({}); 1001])),
            "transition_history",
        ),
        (with(|f| f["approved_by"] = json!("owner")), "approved_by"),
        (with(|f| f["void"] = json!({})), "void"),
    ];
    cases.extend(
        changes
            .into_iter()
            .map(|(file, why)| (file.to_string().into_bytes(), why)),
    );
    assert!(cases.len() >= 30);
    for (bytes, why) in cases {
        let problems = Dropped::parse(&bytes, &name("deploy-1")).unwrap_err();
        let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
        assert!(
            said.join("\n").contains(why),
            "{shown}: {said:?} should name {why}"
        );
    }
}

#[test]
fn an_action_is_found_by_type_node_and_service_or_not_at_all() {
    let catalogue = json!({"hosts": {"ct100": "10.0.0.1"}, "actions": [
        {"id": "deploy-web", "kind": "deploy_service", "node": "n1", "service": "web", "tier": "risky"},
        {"id": "restart-web", "kind": "restart_service", "node": "n1", "service": "web", "tier": "safe", "via": "file"},
        {"id": "restart-caddy", "kind": "service_restart", "host": "ct100", "service": "caddy", "tier": "safe"},
        {"id": "twin-a", "kind": "rollback", "node": "n1", "service": "twin", "tier": "risky"},
        {"id": "twin-b", "kind": "rollback", "node": "n1", "service": "twin", "tier": "risky"},
        {"id": "stop-ct107", "kind": "guest_power", "node": "z", "vmid": 107, "op": "stop", "tier": "risky"},
    ]});
    let catalogue = Catalogue::parse(&catalogue.to_string(), &Lockout::default()).unwrap();
    let find = |kind: &str, node: &str, service: &str| {
        let subject = FileSubject {
            kind: kind.to_owned(),
            node: node.to_owned(),
            service: service.to_owned(),
        };
        subject.find(&catalogue).map(|action| action.id.to_string())
    };
    assert_eq!(find("deploy_service", "n1", "web").unwrap(), "deploy-web");
    assert_eq!(find("restart_service", "n1", "web").unwrap(), "restart-web");
    assert_eq!(
        find("restart_service", "ct100", "caddy").unwrap(),
        "restart-caddy"
    );
    for (kind, node, service) in [
        ("scale", "n1", "web"),
        ("deploy_service", "N1", "web"),
        ("deploy_service", "n1", "web "),
        ("guest_power", "z", "lxc-107"),
        ("service_restart", "ct100", "caddy"),
        ("", "", ""),
    ] {
        assert_eq!(
            find(kind, node, service),
            Err(NoAction::Unknown),
            "{kind} {node} {service}"
        );
    }
    assert!(matches!(
        find("rollback", "n1", "twin"),
        Err(NoAction::Ambiguous(..))
    ));
}

/// With nothing in its way.
fn shown(proposal: &Proposal) -> DisplayState {
    DisplayState::of(proposal, StartHold::Nothing)
}

fn proposal(by_file: bool) -> Proposal {
    let mut definition =
        json!({"action": {"kind": "deploy_service", "node": "n1", "service": "web"}, "host": null});
    if by_file {
        definition["action"]["via"] = json!("file");
    }
    Proposal {
        id: ProposalId::new(NOW, [1; 10]),
        code: ProposalCode::from_random(&[1, 2, 3, 4]),
        subject: Subject {
            label: "Deploy".into(),
            tier: Tier::Risky,
            risk: Risk::Guarded,
            target: "node:n1/web".into(),
            digest: Digest::of(b"d"),
            kind: SubjectKind::Action(ProposedAction {
                action_id: ActionId::parse("deploy-web").unwrap(),
                execution: Some(Execution::from_definition(&definition).unwrap()),
                definition,
                params: json!({"image": "web:2", "replicas": 3}),
                exec_digest: Digest::of(b"e"),
            }),
        },
        requested_by: Actor::Owner {
            surface: Surface::Cli,
        }
        .requester(),
        reason: Some("because".into()),
        diff: None,
        taint: Taint::clean(),
        count: 1,
        joined: Joined::default(),
        revision: 0,
        created_at: NOW,
        expires_at: Timestamp::from_ms(1_800_000_900_000),
        state: State::Pending,
    }
}

fn in_state(status: Status, by_file: bool) -> Proposal {
    let pending = || proposal(by_file);
    let approved = || pending().approve("owner-web", NOW).unwrap().proposal;
    let running = || approved().start(RUN).unwrap().proposal;
    let failure = || Failure::new(FailureCode::Locked, "message");
    match status {
        Status::Pending => pending(),
        Status::Approved => approved(),
        Status::Running => running(),
        Status::Executed => {
            running()
                .succeed(NOW, "system", json!({}))
                .unwrap()
                .proposal
        }
        Status::Failed => running().fail(NOW, "system", failure()).unwrap().proposal,
        Status::Unknown => running().mark_unknown(NOW, failure()).unwrap().proposal,
        Status::Rejected => pending().reject("owner-cli", NOW, None).unwrap().proposal,
        Status::Expired => pending().expire(NOW).unwrap().proposal,
        Status::Cancelled => {
            pending()
                .cancel("owner-cli", NOW, Cancellation::Withdrawn)
                .unwrap()
                .proposal
        }
        Status::Refused => Proposal {
            state: State::Refused {
                at: NOW,
                failure: failure(),
            },
            ..pending()
        },
    }
}

fn step(from: Option<Status>, to: Status, by: &str) -> Transition {
    Transition {
        from,
        to,
        at: NOW,
        by: by.to_owned(),
    }
}

#[test]
fn a_file_has_the_source_documents_shape() {
    let history = [
        step(None, Status::Pending, "agent-file"),
        step(Some(Status::Pending), Status::Approved, "owner-web"),
        step(Some(Status::Approved), Status::Running, "system"),
        step(Some(Status::Running), Status::Unknown, "system"),
    ];
    let note = Note {
        from: StatusFolder::Rejected,
        to: StatusFolder::Running,
        at_ms: NOW.as_ms(),
        note: "already approved".to_owned(),
    };
    let unknown = in_state(Status::Unknown, true);
    let details = DroppedDetails {
        diff: Some("-a".into()),
        ..DroppedDetails::default()
    };
    let bytes = render(
        &name("deploy-1"),
        &unknown,
        shown(&unknown),
        &history,
        Some(&details),
        &[note],
    )
    .bytes;
    let text = String::from_utf8(bytes).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(file["action_id"], "deploy-1");
    assert_eq!(
        (&file["type"], &file["node"], &file["service"]),
        (&json!("deploy_service"), &json!("n1"), &json!("web"))
    );
    assert_eq!(file["status"], "running");
    assert_eq!(file["created_at"], 1_800_000_000);
    assert_eq!(
        file["details"],
        json!({"image": "web:2", "reason": "because", "diff": "-a", "params": {"replicas": 3}})
    );
    let by: Vec<&str> = file["transition_history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["by"].as_str().unwrap())
        .collect();
    assert_eq!(by, ["file", "webui", "system", "system", "system"]);
    assert_eq!(file["transition_history"][0]["from"], Value::Null);
    assert_eq!(file["outcome"]["status"], "unknown");
    // The seed's members come first and in its order.
    let order = [
        "action_id",
        "service",
        "node",
        "type",
        "risk",
        "status",
        "created_at",
        "updated_at",
        "details",
        "transition_history",
    ];
    let places: Vec<usize> = order
        .iter()
        .map(|member| text.find(&format!("\n  \"{member}\"")).unwrap())
        .collect();
    assert!(places.is_sorted(), "{text}");
}

#[test]
fn actors_are_spelled_as_the_source_documents_do() {
    for (record, file) in [
        ("owner-web", "webui"),
        ("owner-cli", "cli"),
        ("owner-api", "api"),
        ("owner-file", "file"),
        ("owner-telegram-12345", "operator-tg-12345"),
        ("system", "system"),
        ("policy", "system"),
        ("agent-file", "file"),
        ("agent-little-blue", "agent-little-blue"),
    ] {
        let history = [step(None, Status::Pending, record)];
        let bytes = render(
            &name("a"),
            &proposal(false),
            DisplayState::Waiting,
            &history,
            None,
            &[],
        )
        .bytes;
        let written: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(written["transition_history"][0]["by"], file);
    }
}

/// However long the words are, a file of ours can be read again.
#[test]
fn a_rendered_file_is_never_too_large_to_read() {
    let mut long = in_state(Status::Executed, true);
    long.reason = Some("\u{1}".repeat(4096));
    if let State::Executed { result, .. } = &mut long.state {
        *result = json!({"result": "\u{1}".repeat(60_000)});
    }
    let details = DroppedDetails {
        diff: Some("\u{1}".repeat(60_000)),
        ..DroppedDetails::default()
    };
    let bytes = render(&name("a"), &long, shown(&long), &[], Some(&details), &[]).bytes;
    assert!(bytes.len() <= FILE_BYTES_MAX, "{}", bytes.len());
    assert!(matches!(
        Returned::read(&bytes, &name("a"), &long, Some(&details)),
        Returned::Same { .. }
    ));
}

/// One that cannot be read again would be set aside and written again, for as long as it waits.
#[test]
fn a_rendered_file_is_read_as_what_it_is_about() {
    for params in [
        json!({}),
        json!({"image": ""}),
        json!({"image": "", "replicas": 0}),
        json!({"image": "web:2"}),
        json!({"image": " "}),
    ] {
        for by_file in [true, false] {
            let mut asked = proposal(by_file);
            asked.subject.action_mut().unwrap().params = params.clone();
            let bytes = render(&name("a"), &asked, shown(&asked), &[], None, &[]).bytes;
            let read = Returned::read(&bytes, &name("a"), &asked, None);
            assert!(matches!(read, Returned::Same { .. }), "{params}: {read:?}");
        }
    }
}

#[test]
fn what_would_run_cannot_be_edited() {
    let pending = proposal(true);
    let bytes = render(&name("a"), &pending, shown(&pending), &[], None, &[]).bytes;
    let original: Value = serde_json::from_slice(&bytes).unwrap();
    let read =
        |file: &Value| Returned::read(file.to_string().as_bytes(), &name("a"), &pending, None);
    let digest = Some(pending.subject.digest);
    assert!(matches!(read(&original), Returned::Same { digest: found, .. } if found == digest));
    let harmless: [fn(&mut Value); 5] = [
        |f| f["status"] = json!("approved"),
        |f| f["updated_at"] = json!(1),
        |f| f["transition_history"] = json!([]),
        |f| f["claimed_by"] = json!("stability-agent"),
        |f| f["result"] = json!({"exit": 0}),
    ];
    for change in harmless {
        let mut file = original.clone();
        change(&mut file);
        assert!(matches!(read(&file), Returned::Same { .. }), "{file}");
    }
    let harmful: [fn(&mut Value); 9] = [
        |f| f["action_id"] = json!("b"),
        |f| f["type"] = json!("rollback"),
        |f| f["node"] = json!("n2"),
        |f| f["service"] = json!("db"),
        |f| f["details"]["image"] = json!("evil:1"),
        |f| f["details"]["params"]["replicas"] = json!(4),
        |f| f["details"]["params"]["more"] = json!(1),
        |f| f["void"]["digest"] = json!("0".repeat(64)),
        |f| f["void"]["digest"] = json!("x"),
    ];
    for change in harmful {
        let mut file = original.clone();
        change(&mut file);
        assert!(matches!(read(&file), Returned::Changed(_)), "{file}");
    }
    for bytes in [&b""[..], b"[]", b"{", b"\xff"] {
        assert!(matches!(
            Returned::read(bytes, &name("a"), &pending, None),
            Returned::Changed(_)
        ));
    }
}

/// The whole table: no place makes anything run but through a decision, a claim or a report, each only
/// from the state in which it can be true.
#[test]
fn a_place_tells_only_what_the_record_allows() {
    for status in Status::ALL {
        for by_file in [false, true] {
            for offered in [false, true] {
                let proposal = in_state(status, by_file);
                for place in StatusFolder::ALL {
                    let said = Move::read(&proposal, offered, place);
                    let case = format!(
                        "{} by_file={by_file} offered={offered} in {place}: {said:?}",
                        status.as_str()
                    );
                    let home = place == StatusFolder::of(&proposal, offered);
                    assert_eq!(said == Move::None, home, "{case}");
                    match said {
                        Move::Claim => assert!(by_file && status == Status::Approved, "{case}"),
                        Move::Done | Move::Failed => {
                            assert!(
                                by_file && matches!(status, Status::Running | Status::Unknown),
                                "{case}"
                            );
                        }
                        Move::Approve => assert_ne!(place, StatusFolder::Rejected, "{case}"),
                        Move::Reject => assert_eq!(place, StatusFolder::Rejected, "{case}"),
                        Move::None | Move::Follow | Move::PutBack(_) => {}
                    }
                    if status == Status::Pending && !home {
                        let judged =
                            matches!(said, Move::Approve | Move::Reject | Move::PutBack(_));
                        assert!(judged, "{case}");
                    }
                }
            }
        }
    }
}

/// A foreign executor runs what it finds in `approved/`: nothing is there but what it may have.
#[test]
fn only_offers_belong_into_approved() {
    for status in Status::ALL {
        for by_file in [false, true] {
            let home = StatusFolder::of(&in_state(status, by_file), false);
            assert_ne!(home, StatusFolder::Approved, "{}", status.as_str());
        }
    }
    assert_eq!(
        StatusFolder::of(&in_state(Status::Approved, true), true),
        StatusFolder::Approved
    );
    assert_eq!(
        StatusFolder::of(&in_state(Status::Expired, true), true),
        StatusFolder::Rejected
    );
    assert_eq!(
        StatusFolder::of(&in_state(Status::Cancelled, true), false),
        StatusFolder::Rejected
    );
    assert_eq!(
        StatusFolder::of(&in_state(Status::Unknown, true), false),
        StatusFolder::Running
    );
    assert_eq!(
        StatusFolder::of(&in_state(Status::Executed, false), false),
        StatusFolder::Completed
    );
}
