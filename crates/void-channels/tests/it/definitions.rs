//! What runs is what was approved (I2): definitions that change between the steps of a proposal's
//! life, on either side and on the way.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::sync::Arc;

use serde_json::{Value, json};
use void_channels::Evidence;
use void_domain::catalogue::{Catalogue, Lockout};
use void_domain::digests::Digest;
use void_domain::freezes::FreezeSwitch;
use void_domain::ids::ActionId;
use void_domain::permits::Permit;
use void_domain::proposals::Proposal;

use crate::lab::{HOST, Lab, done, failed, usual, within};

/// What a change of the host's list leads to.
enum Leads {
    /// It ran the argv that the list had at that moment: the host decides what runs.
    Ran(&'static str),
    Refused(&'static str),
}

type Change = fn(&Lab, &mut Value);

fn changes() -> Vec<(&'static str, Change, Leads)> {
    use Leads::{Ran, Refused};
    vec![
        ("nothing", |_, _| {}, Ran("stop")),
        (
            "argv",
            |_, list| list["entries"][0]["argv"][1] = json!("edited"),
            Ran("edited"),
        ),
        (
            "tier",
            |_, list| list["entries"][0]["tier"] = json!("safe"),
            Ran("stop"),
        ),
        (
            "brakes",
            |_, list| list["entries"][0]["timeout_s"] = json!(7),
            Ran("stop"),
        ),
        (
            "order",
            |_, list| list["entries"].as_array_mut().unwrap().reverse(),
            Ran("stop"),
        ),
        (
            "def",
            |_, list| list["entries"][0]["def"] = json!("0".repeat(64)),
            Refused("drift"),
        ),
        (
            "def of the other",
            |_, list| {
                list["entries"][0]["def"] = list["entries"][1]["def"].clone();
            },
            Refused("drift"),
        ),
        (
            "no def",
            |_, list| _ = list["entries"][0].as_object_mut().unwrap().remove("def"),
            Refused("drift"),
        ),
        (
            "upper case",
            |_, list| {
                let def = list["entries"][0]["def"].as_str().unwrap().to_uppercase();
                list["entries"][0]["def"] = json!(def);
            },
            Refused("refused_by_host"),
        ),
        (
            "id",
            |_, list| list["entries"][0]["id"] = json!("renamed"),
            Refused("drift"),
        ),
        (
            "swapped",
            |_, list| {
                list["entries"][0]["id"] = json!("start-it");
                list["entries"][1]["id"] = json!("stop-it");
            },
            Refused("drift"),
        ),
        (
            "gone",
            |_, list| _ = list["entries"].as_array_mut().unwrap().remove(0),
            Refused("drift"),
        ),
        (
            "empty",
            |_, list| list["entries"] = json!([]),
            Refused("drift"),
        ),
        (
            "signed",
            |_, list| list["entries"][0]["signed"] = json!(true),
            Refused("refused_by_host"),
        ),
        (
            "parameter",
            |_, list| {
                list["entries"][0]["params"] =
                    json!({"n": {"type": "integer", "min": 0, "max": 1}});
            },
            Refused("refused_by_host"),
        ),
        (
            "twice",
            |_, list| {
                let entry = list["entries"][0].clone();
                list["entries"].as_array_mut().unwrap().push(entry);
            },
            Refused("refused_by_host"),
        ),
        (
            "version",
            |_, list| list["version"] = json!(2),
            Refused("refused_by_host"),
        ),
        (
            "unknown key",
            |_, list| list["more"] = json!(1),
            Refused("refused_by_host"),
        ),
        (
            "garbage",
            |_, list| *list = json!("garbage"),
            Refused("refused_by_host"),
        ),
        (
            "null",
            |_, list| *list = Value::Null,
            Refused("refused_by_host"),
        ),
    ]
}

/// Changes of the file itself, with the list in it as it was.
type FileChange = (&'static str, fn(&Lab));

fn file_changes() -> Vec<FileChange> {
    vec![
        ("missing", |lab| {
            fs::remove_file(lab.sshd.path("list.json")).unwrap();
        }),
        ("writable", |lab| {
            let mode = fs::Permissions::from_mode(0o666);
            fs::set_permissions(lab.sshd.path("list.json"), mode).unwrap();
        }),
        ("unreadable", |lab| {
            let mode = fs::Permissions::from_mode(0o600);
            fs::set_permissions(lab.sshd.path("list.json"), mode).unwrap();
        }),
        ("the account's", |lab| {
            chown(lab.sshd.path("list.json"), Some(65534), None).unwrap();
        }),
        ("a link", |lab| {
            let (list, real) = (lab.sshd.path("list.json"), lab.sshd.path("real.json"));
            fs::rename(&list, &real).unwrap();
            std::os::unix::fs::symlink(real, list).unwrap();
        }),
        ("a folder", |lab| {
            fs::remove_file(lab.sshd.path("list.json")).unwrap();
            fs::create_dir(lab.sshd.path("list.json")).unwrap();
        }),
        ("half", |lab| {
            let text = fs::read_to_string(lab.sshd.path("list.json")).unwrap();
            lab.sshd.write("list.json", &text[..text.len() / 2], 0o644);
        }),
        ("the folder writable", |lab| {
            let mode = fs::Permissions::from_mode(0o777);
            fs::set_permissions(lab.sshd.folder(), mode).unwrap();
        }),
    ]
}

/// The list changes after it was looked at and before the ticket is judged.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_changes_between_question_and_ticket_is_judged_as_it_is() {
    let lab = Lab::new(&usual());
    let gate = lab.hold("stop-it*").await;
    let (mut effects, mut arrivals) = (Vec::new(), 0);
    for (name, change, leads) in changes() {
        lab.write_list(&lab.list(&usual()));
        let mut task = lab.start(&lab.running("stop-it", &json!({})));
        arrivals += 1;
        lab.wait_for_arrivals(arrivals).await;
        let mut list = lab.list(&usual());
        change(&lab, &mut list);
        lab.write_list(&list);
        lab.release(&gate);
        // The ticket named the list as it was; where the new one fits as well, it comes once more.
        let outcome = loop {
            tokio::select! {
                outcome = within(20, &mut task) => break outcome.unwrap(),
                () = lab.wait_for_arrivals(arrivals + 1) => {
                    arrivals += 1;
                    lab.release(&gate);
                }
            }
        };
        match leads {
            Leads::Ran(word) => {
                done(outcome);
                effects.push(format!("@/effect|{word}|"));
            }
            Leads::Refused(code) => _ = failed(outcome, code),
        }
        assert_eq!(lab.effects(), effects, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_file_that_is_tampered_with_refuses_everything() {
    for between in [true, false] {
        let lab = Lab::new(&usual());
        let gate = lab.hold(if between { "stop-it*" } else { "nothing" }).await;
        let mut arrivals = 0;
        for (name, change) in file_changes() {
            let running = lab.running("stop-it", &json!({}));
            let outcome = if between {
                let task = lab.start(&running);
                arrivals += 1;
                lab.wait_for_arrivals(arrivals).await;
                change(&lab);
                lab.release(&gate);
                within(20, task).await.unwrap()
            } else {
                change(&lab);
                lab.execute(&running).await
            };
            let failure = failed(outcome, "refused_by_host");
            assert!(
                failure.message.contains("list.json") || name == "half",
                "{failure:?}"
            );
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(lab.sshd.folder(), mode).unwrap();
            let _ = fs::remove_dir(lab.sshd.path("list.json"));
            lab.write_list(&lab.list(&usual()));
        }
        assert_eq!(lab.effects(), [""; 0]);
        done(
            lab.start(&lab.running("start-it", &json!({})))
                .await
                .unwrap(),
        );
    }
}

/// What has run stays what it was, whatever the list says by then.
#[tokio::test(flavor = "multi_thread")]
async fn what_has_run_is_answered_from_the_journal_whatever_the_list_says() {
    let lab = Lab::new(&usual());
    let running = lab.running("stop-it", &json!({}));
    let first = done(lab.execute(&running).await);
    for (name, change, _) in changes() {
        let mut list = lab.list(&usual());
        change(&lab, &mut list);
        lab.write_list(&list);
        match lab.settle(&running).await {
            Evidence::Done { result } => assert_eq!(result["exit"], first["exit"], "{name}"),
            // An unusable list answers no question either; that is no evidence, not another one.
            Evidence::None(failure) => assert_eq!(failure.code, "refused_by_host", "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
    assert_eq!(lab.effects().len(), 1);
}

fn definition() -> Value {
    json!({
        "hosts": {
            HOST: {"address": "127.0.0.1", "port": 2222, "user": "voidact", "host_key": key('A')},
            "other": {"address": "127.0.0.1", "port": 2222, "user": "voidact", "host_key": key('A')},
        },
        "actions": [
            {
                "id": "scale-it", "label": "Scale it", "kind": "scale", "node": HOST, "service": "grafana",
                "via": "host", "tier": "risky", "risk": "guarded", "verify": {"service": "grafana"},
                "inverse": "back", "cooldown_s": 10, "max_per_hour": 5, "timeout_s": 30, "expires_s": 600,
                "agents": ["blue"], "params": {"n": {"type": "integer", "min": 0, "max": 5}},
            },
            {"id": "back", "label": "Back", "kind": "rollback", "node": HOST, "service": "grafana", "via": "host", "tier": "risky"},
        ],
    })
}

fn key(letter: char) -> String {
    format!(
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{}",
        letter.to_string().repeat(43)
    )
}

fn parsed(text: &str) -> Catalogue {
    Catalogue::parse(text, &Lockout::default()).unwrap()
}

/// Would this catalogue's action be let run for that proposal?
fn permits(catalogue: &Catalogue, running: &Proposal) -> bool {
    let id = ActionId::parse("scale-it").unwrap();
    let action = catalogue.get(&id).unwrap();
    let Ok(params) = action.params.check(running.subject.params()) else {
        return false;
    };
    Permit::issue(
        running,
        Arc::clone(action),
        &params,
        FreezeSwitch::default(),
    )
    .is_some()
}

#[test]
fn no_permit_for_a_definition_that_differs_in_any_field() {
    let mut lab = Lab::new(&usual());
    lab.catalogue = parsed(&definition().to_string());
    let running = lab.running("scale-it", &json!({"n": 3}));
    assert!(permits(&lab.catalogue, &running));
    let edits = [
        ("/actions/0/label", json!("Scale it ")),
        ("/actions/0/label", json!("Scale іt")),
        ("/actions/0/kind", json!("deploy_service")),
        ("/actions/0/node", json!("other")),
        ("/actions/0/service", json!("prometheus")),
        ("/actions/0/risk", json!("critical")),
        ("/actions/0/verify/service", json!("prometheus")),
        ("/actions/0/cooldown_s", json!(11)),
        ("/actions/0/max_per_hour", json!(6)),
        ("/actions/0/timeout_s", json!(31)),
        ("/actions/0/expires_s", json!(601)),
        ("/actions/0/agents", json!(["blue", "red"])),
        ("/actions/0/params/n/min", json!(1)),
        ("/actions/0/params/n/max", json!(6)),
        ("/actions/0/params", json!({})),
        ("/hosts/lab/address", json!("127.0.0.2")),
        ("/hosts/lab/port", json!(2223)),
        ("/hosts/lab/user", json!("other")),
        ("/hosts/lab/host_key", json!(key('B'))),
    ];
    for (pointer, value) in edits {
        let mut edited = definition();
        *edited.pointer_mut(pointer).unwrap() = value;
        let catalogue = parsed(&edited.to_string());
        assert!(!permits(&catalogue, &running), "{pointer}");
    }
    for member in [
        "risk",
        "verify",
        "inverse",
        "cooldown_s",
        "max_per_hour",
        "timeout_s",
        "expires_s",
        "agents",
        "params",
    ] {
        let mut edited = definition();
        edited["actions"][0].as_object_mut().unwrap().remove(member);
        let same = permits(&parsed(&edited.to_string()), &running);
        // The definition is what is written, even where leaving it out means the same.
        assert!(!same, "{member}");
    }
    // Another catalogue's text for the same meaning is the same definition.
    let pretty = serde_json::to_string_pretty(&definition()).unwrap();
    assert!(permits(
        &parsed(&pretty.replace("Scale it", "\\u0053cale it")),
        &running
    ));
}

#[test]
fn no_permit_for_a_stored_row_that_was_edited() {
    let mut lab = Lab::new(&usual());
    lab.catalogue = parsed(&definition().to_string());
    let running = lab.running("scale-it", &json!({"n": 3}));
    let edits: [fn(&mut Proposal); 5] = [
        |row| row.subject.action_mut().unwrap().params = json!({"n": 4}),
        |row| row.subject.action_mut().unwrap().params = json!({}),
        |row| row.subject.digest = Digest::of(b"another"),
        |row| row.subject.action_mut().unwrap().exec_digest = Digest::of(b"another"),
        |row| row.subject.action_mut().unwrap().action_id = ActionId::parse("back").unwrap(),
    ];
    for edit in edits {
        let mut edited = running.clone();
        edit(&mut edited);
        assert!(!permits(&lab.catalogue, &edited), "{edited:?}");
    }
}
