//! The real server, killed with SIGKILL at every named point of a proposal's life, before and after,
//! each time it is reached. After the restart nothing is lost, nothing has happened twice, and every
//! row says what really happened; effects are counted outside Void.

mod bridge;
mod knowledge;
mod tree;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use void_rehearsal::proxmox::{
    Access, Acl, Guest, Node, ProxmoxConfig, ProxmoxServer, TaskDurations, Token, User,
};
use void_testkit::telegram::BotApi;
use void_testkit::{eventually_blocking, postgres_database};

use crate::lab::{Lab, Server, word};
use crate::nodes::stand::{NodeProcess, Stand};

/// The points of a proposal's life; the bridge's, the tree's and those of drafts of knowledge have plays of their own.
fn points_of_proposals() -> impl Iterator<Item = String> {
    let elsewhere = ["bridge.", "tree.", "draft."];
    let is_elsewhere = move |point: &String| elsewhere.iter().any(|of| point.starts_with(of));
    points()
        .into_iter()
        .filter(move |point| !is_elsewhere(point))
}

/// Every `fail_point!("…")` in the sources: a new point is covered the moment it is written.
fn points() -> BTreeSet<String> {
    fn collect(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let names = text
                    .split("fail_point!(\"")
                    .skip(1)
                    .filter_map(|rest| rest.split('"').next());
                found.extend(names.map(str::to_owned));
            }
        }
    }
    let mut found = BTreeSet::new();
    for name in [
        "void-store",
        "void-channels",
        "void-control",
        "void-bridge",
        "void-notify",
    ] {
        collect(
            &Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("..")
                .join(name)
                .join("src"),
            &mut found,
        );
    }
    found
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Engine {
    Sqlite,
    Postgres,
}

/// What a client was told before the server went away.
#[derive(Default, Debug)]
struct Told {
    queued: Option<String>,
    executed: Vec<String>,
    /// An answer did not come: the server is gone, or about to be.
    cut_off: bool,
}

/// A safe run, then a risky one queued and approved. Stops at the first sign that the server is gone.
fn play(server: &Server) -> Told {
    let mut told = Told::default();
    let cut_off = |told| Told {
        cut_off: true,
        ..told
    };
    let Some((_, run)) = server.try_call("POST", "/api/actions/safe-one/run", None) else {
        return cut_off(told);
    };
    if run["executed"] == json!(true) {
        told.executed.push(word(&run, "action_row_id").to_owned());
    }
    let Some((_, queued)) = server.try_call("POST", "/api/actions/risky-one/run", None) else {
        return cut_off(told);
    };
    if queued["queued"] != json!(true) {
        return told;
    }
    let id = word(&queued, "action_row_id").to_owned();
    told.queued = Some(id.clone());
    match server.try_call("POST", &format!("/api/actions/pending/{id}/approve"), None) {
        None => return cut_off(told),
        Some((200, row)) if row["status"] == json!("executed") => told.executed.push(id),
        Some(_) => {}
    }
    told
}

/// A slow run, and an approval for the same target that has to wait until it ends.
fn play_busy(lab: &Lab, server: &Server) -> Told {
    let mut told = Told::default();
    let slow = server.try_call("POST", "/api/actions/slow-one/run?wait=0", None);
    let queued = server.try_call("POST", "/api/actions/waiting-one/run", None);
    if let (Some(_), Some((_, queued))) = (slow, queued) {
        let id = word(&queued, "action_row_id").to_owned();
        let path = format!("/api/actions/pending/{id}/approve?wait=0");
        let approved = server.try_call("POST", &path, None);
        told.queued = Some(id.clone());
        fs::write(lab.path("go"), "").unwrap();
        if approved.is_some_and(|(status, row)| status == 200 && row["status"] == json!("approved"))
        {
            let end = || server.try_call("GET", &format!("/api/proposals/{id}"), None);
            eventually_blocking(
                "the waiting one to run, or the server to go",
                || match end() {
                    None => Some(()),
                    Some((_, row)) => (row["status"] == json!("executed")).then_some(()),
                },
            );
        }
    }
    fs::write(lab.path("go"), "").unwrap();
    told.cut_off = server.try_call("GET", "/readyz", None).is_none();
    told
}

fn busy_catalogue() -> Value {
    let action = |id: &str, tier: &str| json!({"id": id, "kind": "service_restart", "host": "local", "service": "shared", "tier": tier, "cooldown_s": 0});
    json!({"hosts": {}, "actions": [action("slow-one", "safe"), action("waiting-one", "risky")]})
}

/// A guest is started; Proxmox counts what really happened, and its status is the check.
fn play_guest(server: &Server) -> Told {
    let mut told = Told::default();
    match server.try_call("POST", "/api/actions/start-ct107/run", None) {
        None => told.cut_off = true,
        Some((_, run)) if run["executed"] == json!(true) => {
            told.executed.push(word(&run, "action_row_id").to_owned());
        }
        Some(_) => {}
    }
    // The answer may overtake the kill: whoever waits is woken by the commit itself.
    for _ in 0..20 {
        if told.cut_off || server.try_call("GET", "/readyz", None).is_none() {
            told.cut_off = true;
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    told
}

const PHONE: i64 = 4_711;

/// The owner's phone is told that something waits, and then how it ended; whoever is cut off in
/// between sees the same in the end.
fn play_phone(server: &Server, api: &BotApi) -> Told {
    let mut told = Told::default();
    let is_gone = || server.try_call("GET", "/readyz", None).is_none();
    let sees = |words: &str| {
        let messages = api.phone(PHONE).messages();
        messages.iter().any(|message| message.text.contains(words))
    };
    let wait = |words: &str| {
        eventually_blocking("the phone to show it, or the server to go", || {
            (sees(words) || is_gone()).then_some(())
        });
    };
    if let Some((_, queued)) = server.try_call("POST", "/api/actions/risky-one/run", None) {
        let id = word(&queued, "action_row_id").to_owned();
        told.queued = Some(id.clone());
        wait("RISKY · Label of risky-one");
        let path = format!("/api/actions/pending/{id}/approve");
        if let Some((200, row)) = server.try_call("POST", &path, None)
            && row["status"] == json!("executed")
        {
            told.executed.push(id);
            wait("RAN, NOT CONFIRMED · Label of risky-one");
        }
    }
    // What was sent is noted right behind it.
    for _ in 0..40 {
        if is_gone() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    told.cut_off = is_gone();
    told
}

/// After the restart the phone shows how it stands, in a message that has the right buttons.
fn check_phone(lab: &Lab, chosen: &str, api: &BotApi) {
    let server = lab.serve(&[]);
    let Some(row) = server
        .proposals()
        .into_iter()
        .find(|row| word(row, "action_id") == "risky-one")
    else {
        return;
    };
    let expected = match word(&row, "status") {
        "pending" => "RISKY",
        "executed" => "RAN, NOT CONFIRMED",
        // Killed between the claim and the start: nothing ran, as `check_after_restart` has seen.
        "failed" => "FAILED",
        other => panic!("{chosen}: {other}"),
    };
    eventually_blocking(&format!("{chosen}: the phone to show {expected}"), || {
        let messages = api.phone(PHONE).messages();
        let newest = messages
            .iter()
            .rev()
            .find(|message| message.text.contains(word(&row, "code")))?;
        newest.text.starts_with(expected).then_some(())
    });
    // Each of the two kills may have come between sending and noting, and left a copy.
    let messages = api.phone(PHONE).messages().into_iter();
    let copies = messages.filter(|message| message.text.contains(word(&row, "code")));
    let copies = copies.count();
    assert!((1..=3).contains(&copies), "{chosen}: {copies} messages");
}

fn guest_catalogue() -> Value {
    json!({"hosts": {}, "actions": [
        {"id": "start-ct107", "kind": "guest_power", "node": "pve1", "vmid": 107, "op": "start", "tier": "safe"},
    ]})
}

fn cluster() -> ProxmoxServer {
    let acl = vec![Acl::new("/vms/107", &["VM.Audit", "VM.PowerMgmt"])];
    let token = Token::separated("crash", "secret-of-a-test", acl.clone());
    let access = Access {
        users: vec![User::new("void@pve", acl, vec![token])],
        pools: Vec::new(),
    };
    let guest = Guest::lxc(107, "pve1", "iventoy");
    let mut config = ProxmoxConfig::new(vec![Node::online("pve1")], vec![guest], access);
    config.durations = TaskDurations::all(Duration::from_millis(50));
    ProxmoxServer::start(config).unwrap()
}

/// A machine that dials out does something; it stays there while the server goes and comes back.
fn play_node(server: &Server) -> Told {
    let mut told = Told::default();
    match server.try_call("POST", "/api/actions/restart-web/run", None) {
        None => told.cut_off = true,
        Some((_, run)) if run["executed"] == json!(true) => {
            told.executed.push(word(&run, "action_row_id").to_owned());
        }
        Some(_) => {}
    }
    told
}

/// An installation whose node has its secret already.
fn node_stand(engine: Engine) -> (Lab, NodeProcess) {
    let mut stand = Stand::new();
    stand.lab.database_url = (engine == Engine::Postgres).then(postgres_database);
    let server = stand.lab.serve(&[]);
    stand.admit(&server, "n1", stand.lab.address);
    drop(server);
    let node = stand.run("n1");
    (stand.lab, node)
}

/// Whether the process was killed at the point; the checks have passed if this returns.
fn killed_at(engine: Engine, point: &str, occurrence: u32) -> bool {
    // Only a start that had to wait passes here.
    let busy = point.starts_with("start.");
    let guest = point.starts_with("proxmox.") || point.starts_with("verify.");
    let phone = point.starts_with("notify.");
    let proxmox = guest.then(cluster);
    let api = phone.then(BotApi::start);
    let with_node = point.starts_with("node.");
    let mut node = None;
    let mut lab = match &proxmox {
        None if with_node => {
            let (lab, process) = node_stand(engine);
            node = Some(process);
            lab
        }
        Some(proxmox) => {
            let mut lab = Lab::with(&guest_catalogue());
            lab.environment = [
                ("PROXMOX_API_URL", proxmox.url()),
                (
                    "PROXMOX_API_TOKEN",
                    "void@pve!crash=secret-of-a-test".to_owned(),
                ),
                ("PROXMOX_FINGERPRINT", proxmox.fingerprint()),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec();
            lab
        }
        None if busy => Lab::with(&busy_catalogue()),
        None => Lab::new(),
    };
    if let Some(api) = &api {
        api.phone(PHONE).say("/start");
        lab.environment = [
            ("TELEGRAM_API_URL", api.url()),
            (
                "TELEGRAM_BOT_TOKEN",
                void_testkit::telegram::TOKEN.to_owned(),
            ),
            ("TELEGRAM_ALLOWED_USERS", PHONE.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec();
    }
    if engine == Engine::Postgres {
        lab.database_url.get_or_insert_with(postgres_database);
        // Another instance's run is left alone until its lease is over; here that is soon.
        let settings = lab.data().join("void.toml");
        let text = fs::read_to_string(&settings).unwrap();
        fs::write(
            &settings,
            format!("{text}[limits]\nlease_s = 1\nverify_within_s = 1\n"),
        )
        .unwrap();
    }
    let chosen = format!("{point}#{occurrence}");
    let mut server = lab.serve(&[("VOID_FAILPOINT", &chosen)]);
    let told = match server.has_ended() {
        Some(_) => Told::default(),
        None if busy => play_busy(&lab, &server),
        None if guest => play_guest(&server),
        None if with_node => play_node(&server),
        None => match &api {
            Some(api) => play_phone(&server, api),
            None => play(&server),
        },
    };
    if told.cut_off {
        eventually_blocking("the killed server to be gone", || server.has_ended());
    }
    let killed = match server.has_ended() {
        Some(status) => {
            assert_eq!(status.signal(), Some(9), "{chosen}: {}", lab.log());
            true
        }
        None => {
            server.kill();
            false
        }
    };
    drop(server);
    // The effects of a guest's power are those that Proxmox counted.
    let started = || match &proxmox {
        Some(proxmox) => vec!["start-ct107".to_owned(); proxmox.effects().len()],
        None => lab
            .effects()
            .iter()
            .map(|line| line.split(' ').next().unwrap_or_default().to_owned())
            .collect(),
    };
    check_after_restart(&lab, &chosen, &told, started);
    if let Some(api) = &api {
        check_phone(&lab, &chosen, api);
    }
    drop(node);
    killed
}

fn check_after_restart(lab: &Lab, chosen: &str, told: &Told, effects: impl Fn() -> Vec<String>) {
    let mut server = lab.serve(&[]);
    assert!(
        server.has_ended().is_none(),
        "{chosen}: it does not start again: {}",
        lab.log()
    );
    let rows = eventually_blocking("every row to come to rest", || {
        let rows = server.proposals();
        let moving = rows
            .iter()
            .any(|row| match (word(row, "status"), &row["verification"]) {
                ("running" | "approved", _) => true,
                ("executed", checked) => checked.is_null(),
                _ => false,
            });
        (!moving).then_some(rows)
    });
    let effects = effects();
    for action in [
        "safe-one",
        "risky-one",
        "slow-one",
        "waiting-one",
        "start-ct107",
        "restart-web",
    ] {
        let happened = effects.iter().filter(|effect| *effect == action).count();
        assert!(
            happened <= 1,
            "{chosen}: {action} happened {happened} times"
        );
        let of_action: Vec<&Value> = rows
            .iter()
            .filter(|row| word(row, "action_id") == action)
            .collect();
        assert!(of_action.len() <= 1, "{chosen}: {of_action:?}");
        let status = of_action.first().map_or("none", |row| word(row, "status"));
        let truthful = match status {
            "executed" => happened == 1,
            "failed" | "pending" | "none" => happened == 0,
            // A request to Proxmox may be under way for minutes; until then nobody can know.
            "unknown" => chosen.starts_with("proxmox.") && happened == 0,
            _ => false,
        };
        assert!(
            truthful,
            "{chosen}: {action} is {status} and happened {happened} times: {of_action:#?}"
        );
    }
    // What a client was told is still so.
    let find = |id: &String| {
        rows.iter()
            .find(|row| word(row, "id") == id)
            .unwrap_or_else(|| panic!("{chosen}: {id} is lost"))
    };
    told.queued.iter().for_each(|id| _ = find(id));
    for id in &told.executed {
        assert_eq!(
            word(find(id), "status"),
            "executed",
            "{chosen}: {id} was reported as executed"
        );
    }
    check_record(lab, chosen, &rows);
}

/// Every state change is on the record, and the chain holds from its first entry.
fn check_record(lab: &Lab, chosen: &str, rows: &[Value]) {
    let export = lab.path("audit.jsonl");
    let written = lab.void(&["audit", "export", export.to_str().unwrap()]);
    assert!(
        written.status.success(),
        "{chosen}: {}",
        String::from_utf8_lossy(&written.stderr)
    );
    let verified = lab.void(&["audit", "verify", export.to_str().unwrap()]);
    assert!(
        verified.status.success(),
        "{chosen}: {}",
        String::from_utf8_lossy(&verified.stdout)
    );
    let entries: Vec<Value> = fs::read_to_string(&export)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for row in rows {
        let checks = entries.iter().filter(|entry| {
            word(entry, "verb") == "proposal.verified" && word(entry, "subject") == word(row, "id")
        });
        // What is stored with its decision is checked by being there.
        let is_looked_at =
            row["action_id"] == "start-ct107" || row["change"]["target"] == "knowledge";
        let had_sign = is_looked_at && row["status"] == "executed";
        assert_eq!(checks.count(), usize::from(had_sign), "{chosen}: {row}");
        for step in row["transitions"].as_array().unwrap() {
            let verb = match word(step, "to") {
                "running" => "proposal.started".to_owned(),
                "pending" => "proposal.created".to_owned(),
                other => format!("proposal.{other}"),
            };
            let recorded = entries.iter().any(|entry| {
                word(entry, "verb") == verb && word(entry, "subject") == word(row, "id")
            });
            assert!(
                recorded,
                "{chosen}: {verb} of {} is not on the record",
                word(row, "id")
            );
        }
    }
}

fn every_point(engine: Engine, points: &[String], occurrences_max: u32) -> usize {
    let mut kills = 0;
    for point in points {
        let mut reached = false;
        for occurrence in 1..=occurrences_max {
            if !killed_at(engine, point, occurrence) {
                break;
            }
            reached = true;
            kills += 1;
        }
        assert!(reached, "{point} is never reached");
    }
    kills
}

#[test]
fn points_come_in_pairs() {
    let points = points();
    assert!(points.len() >= 22, "{points:?}");
    for point in &points {
        let twin = match (point.strip_suffix(".before"), point.strip_suffix(".after")) {
            (Some(stem), None) => format!("{stem}.after"),
            (None, Some(stem)) => format!("{stem}.before"),
            _ => panic!("{point} says neither before nor after"),
        };
        assert!(points.contains(&twin), "{point} has no {twin}");
    }
}

/// Split in two so that both cores work.
#[test]
fn killed_anywhere_on_sqlite_nothing_is_lost_or_doubled_first_half() {
    let points: Vec<String> = points_of_proposals().step_by(2).collect();
    assert!(every_point(Engine::Sqlite, &points, 24) >= 15);
}

#[test]
fn killed_anywhere_on_sqlite_nothing_is_lost_or_doubled_second_half() {
    let points: Vec<String> = points_of_proposals().skip(1).step_by(2).collect();
    assert!(every_point(Engine::Sqlite, &points, 24) >= 15);
}

#[test]
fn killed_anywhere_on_postgres_nothing_is_lost_or_doubled() {
    let points: Vec<String> = points_of_proposals()
        .filter(|point| !point.starts_with("store."))
        .collect();
    assert!(every_point(Engine::Postgres, &points, 2) >= 15);
}

/// A binary that people get has none of this: neither the names nor the switch.
#[test]
fn the_release_binary_has_no_fail_points() {
    let Ok(path) = std::env::var("VOID_RELEASE_BINARY") else {
        panic!("run this through scripts/test, which builds the release binary first");
    };
    let bytes = fs::read(&path).unwrap();
    // The standard library's own search, which is quick in a debug build too.
    let text = String::from_utf8_lossy(&bytes);
    let holds = |part: &str| text.contains(part);
    assert!(holds("proposal.approved"), "{path} does not look like void");
    for point in points() {
        assert!(!holds(&point), "{path} holds the fail point {point}");
    }
    assert!(!holds("VOID_FAILPOINT"));
}
