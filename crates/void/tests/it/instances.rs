//! Several servers on one PostgreSQL database, each with a machine of its own, one of them killed in the
//! middle of runs over `local`, SSH and a node (I40): what lives is never recorded as ended, nothing
//! starts beside it, and `local` is settled by its own instance alone.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use void_domain::catalogue::{Catalogue, Lockout};
use void_domain::executions::Route;
use void_testkit::sshd::Sshd;
use void_testkit::{eventually_blocking, postgres_database};

use crate::doctor::{amiss, fine, pve::set, report};
use crate::lab::{Lab, Server, word};
use crate::nodes::stand::{NodeProcess, Stand, wait_until_here};

const NAMES: [&str; 3] = ["alpha", "beta", "gamma"];
/// Its machine is `local`.
const ALPHA: usize = 0;
/// The node polls there.
const GAMMA: usize = 2;
const ROUTES: [&str; 3] = ["local", "ssh", "node"];
/// Each round is one run per route.
const ROUNDS: usize = if cfg!(feature = "deep") { 67 } else { 3 };
/// Longer than a lease, so that the others look at what runs.
const WATCHED_FOR: Duration = Duration::from_millis(2_500);

/// For each route an action that waits for the test, and another one about the same service.
fn catalogue(sshd: &Sshd) -> Value {
    let at = |id: &str| match id.split('-').next() {
        Some("node") => json!({"kind": "restart_service", "node": "n1", "service": "on-node"}),
        Some("ssh") => json!({"kind": "service_restart", "host": "ct100", "service": "on-host"}),
        _ => json!({"kind": "service_restart", "host": "local", "service": "on-alpha"}),
    };
    let actions: Vec<Value> = ROUTES
        .iter()
        .flat_map(|route| ["slow", "twin"].map(|what| format!("{route}-{what}")))
        .map(|id| {
            let mut action = at(&id);
            action["id"] = json!(id);
            action["tier"] = json!("safe");
            action["cooldown_s"] = json!(0);
            action
        })
        .chain([json!({
            "id": "risky-one", "kind": "service_restart", "host": "local", "service": "other", "tier": "risky",
        })])
        .collect();
    json!({
        "hosts": {
            "local": {"address": "local", "instance": "alpha"},
            "ct100": {"address": "127.0.0.1", "port": sshd.port, "user": sshd.account(), "host_key": sshd.host_key},
        },
        "actions": actions,
    })
}

/// What a machine may run of a catalogue.
fn list(catalogue: &Value, host: &str, script: &Path, stop: &Path) -> String {
    let parsed = Catalogue::parse(&catalogue.to_string(), &Lockout::default()).unwrap();
    let is_there = |route: Route<'_>| match route {
        Route::Host(at) => at.name.as_str() == host,
        Route::Node(at) => at == host,
        Route::Proxmox(_) | Route::File => false,
    };
    let entries: Vec<Value> = parsed
        .actions()
        .filter(|action| is_there(action.route()))
        .map(|action| {
            json!({
                "id": action.id, "tier": action.tier, "def": action.exec_digest(),
                "argv": ["/bin/sh", script, action.id],
            })
        })
        .collect();
    json!({"version": 1, "host": host, "stop_file": stop, "entries": entries}).to_string()
}

/// An instance with a data folder and a machine of its own.
fn instance(name: &str, database: &str, catalogue: &Value) -> Stand {
    let mut lab = Lab::with(&json!({"hosts": {}, "actions": []}));
    lab.database_url = Some(database.to_owned());
    set(&mut lab, "VOID_INSTANCE", name);
    let settings = lab.data().join("void.toml");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, format!("{text}[limits]\nlease_s = 1\n")).unwrap();
    fs::write(lab.path("actions.json"), catalogue.to_string()).unwrap();
    let script = lab.path("effect.sh");
    fs::write(
        lab.path("list.json"),
        list(catalogue, "local", &script, &lab.path("stop")),
    )
    .unwrap();
    Stand { lab }
}

const TRIES: usize = 5;

struct Cluster {
    sshd: Sshd,
    instances: Vec<Stand>,
    servers: Vec<Server>,
    _node: NodeProcess,
}

impl Cluster {
    fn new() -> Self {
        let sshd = Sshd::start();
        // Whoever runs it leaves a line when it begins and when it ends; what is slow waits for the test.
        let script = format!(
            "#!/bin/sh\ncd {marks} || exit 1\necho x >> begun-$1\n\
             case $1 in *-slow) while [ ! -e go ]; do sleep 0.02; done ;; esac\necho x >> done-$1\n",
            marks = sshd.work().display()
        );
        let on_host = sshd.install("effect.sh", &script);
        let catalogue = catalogue(&sshd);
        let of_host = list(&catalogue, "ct100", &on_host, &sshd.path("stop"));
        sshd.write("list.json", &of_host, 0o644);
        let database = postgres_database();
        let instances: Vec<Stand> = NAMES
            .iter()
            .map(|name| {
                let mut stand = instance(name, &database, &catalogue);
                fs::write(stand.lab.path("effect.sh"), &script).unwrap();
                set(
                    &mut stand.lab,
                    "ACTIONS_SSH_KEY",
                    sshd.key.to_str().unwrap(),
                );
                stand
            })
            .collect();
        let servers: Vec<Server> = instances.iter().map(|stand| stand.lab.serve(&[])).collect();
        let gamma = &instances[GAMMA];
        gamma.admit(&servers[GAMMA], "n1", gamma.lab.address);
        let of_node = list(
            &catalogue,
            "n1",
            &gamma.lab.path("effect.sh"),
            &gamma.lab.path("n1.stop"),
        );
        fs::write(gamma.list("n1"), of_node).unwrap();
        fs::set_permissions(gamma.list("n1"), fs::Permissions::from_mode(0o644)).unwrap();
        let node = gamma.run("n1");
        wait_until_here(&servers[GAMMA], "n1");
        Self {
            sshd,
            instances,
            servers,
            _node: node,
        }
    }

    fn count(&self, mark: &str) -> usize {
        let text = fs::read_to_string(self.sshd.work().join(mark)).unwrap_or_default();
        text.lines().count()
    }

    fn logs(&self) -> String {
        let logs = self.instances.iter().map(|stand| stand.lab.log());
        logs.collect::<Vec<_>>().join("\n---\n")
    }

    /// Begins an action at an instance without waiting for its end.
    fn begin(&self, at: usize, action: &str) -> String {
        let path = format!("/api/actions/{action}/run?wait=0");
        let (status, run) = self.servers[at].call("POST", &path, None);
        assert_eq!(status, 200, "{action} at {}: {run}", NAMES[at]);
        word(&run, "action_row_id").to_owned()
    }

    fn status(&self, at: usize, id: &str) -> String {
        let (_, row) = self.servers[at].call("GET", &format!("/api/proposals/{id}"), None);
        word(&row, "status").to_owned()
    }

    fn ends(&self, at: usize, id: &str, context: &str) {
        eventually_blocking(&format!("{context}: its end"), || {
            let status = self.status(at, id);
            assert!(
                matches!(
                    status.as_str(),
                    "approved" | "running" | "unknown" | "executed"
                ),
                "{context}: it happened and is {status}\n{}",
                self.logs()
            );
            (status == "executed").then_some(())
        });
    }

    /// Runs it to its end. On a busy machine a lease of a second may be over before the ticket is sent; then another
    /// instance has made sure that it never runs, and it is asked for again.
    fn runs(&self, at: usize, action: &str, times: usize, context: &str) {
        let done = format!("done-{action}");
        for _ in 0..TRIES {
            let id = self.begin(at, action);
            let status = eventually_blocking(&format!("{context}: {action} to end"), || {
                let status = self.status(at, &id);
                matches!(status.as_str(), "executed" | "failed").then_some(status)
            });
            let is_done = self.count(&done) == times;
            assert_eq!(
                is_done,
                status == "executed",
                "{context}: {action} is {status}"
            );
            if is_done {
                return;
            }
        }
        panic!("{context}: {action} never ran\n{}", self.logs());
    }

    /// What lives is not recorded as ended, and nothing starts beside it, whoever is asked.
    fn check_alive(&self, survivors: &[usize], routes: &[&str], ids: &[String], context: &str) {
        for &at in survivors {
            for (route, id) in routes.iter().zip(ids) {
                let status = self.status(at, id);
                assert!(
                    matches!(status.as_str(), "running" | "unknown"),
                    "{context}: {route} lives and is {status} at {}\n{}",
                    NAMES[at],
                    self.logs()
                );
                let path = format!("/api/actions/{route}-twin/run?wait=0");
                let (refused, answer) = self.servers[at].call("POST", &path, None);
                assert_eq!(
                    (refused, word(&answer["error"], "code")),
                    (409, "busy"),
                    "{context}: {route} at {}: {answer}",
                    NAMES[at]
                );
            }
        }
    }
}

/// `asked` begins all three runs, `killed` goes in the middle of them.
fn round(cluster: &mut Cluster, number: usize, asked: usize, killed: usize) {
    let context = format!(
        "round {number}, asked {}, killed {}",
        NAMES[asked], NAMES[killed]
    );
    let go = cluster.sshd.work().join("go");
    let ids = ROUTES.map(|route| cluster.begin(asked, &format!("{route}-slow")));
    for route in ROUTES {
        eventually_blocking(&format!("{context}: {route} to begin"), || {
            (cluster.count(&format!("begun-{route}-slow")) == number).then_some(())
        });
    }
    cluster.servers[killed].kill();
    let survivors: Vec<usize> = (0..NAMES.len()).filter(|at| *at != killed).collect();
    let begin = Instant::now();
    while begin.elapsed() < WATCHED_FOR {
        cluster.check_alive(&survivors, &ROUTES, &ids, &context);
        std::thread::sleep(Duration::from_millis(250));
    }
    fs::write(&go, "").unwrap();
    for route in ROUTES {
        eventually_blocking(&format!("{context}: {route} to be done"), || {
            (cluster.count(&format!("done-{route}-slow")) == number).then_some(())
        });
    }
    // Whoever is left settles what anybody can ask about.
    let at = survivors[number % survivors.len()];
    for (route, id) in ROUTES.iter().zip(&ids) {
        let is_settled_by_others = match *route {
            "local" => killed != ALPHA,
            "node" => killed != GAMMA,
            _ => true,
        };
        if is_settled_by_others {
            cluster.ends(at, id, &format!("{context}: {route}"));
        }
    }
    if killed == ALPHA {
        // Their own journals have never seen it, and they do not ask them.
        cluster.check_alive(&survivors, &ROUTES[..1], &ids[..1], &context);
    }
    cluster.servers[killed] = cluster.instances[killed].lab.serve(&[]);
    wait_until_here(&cluster.servers[GAMMA], "n1");
    for (route, id) in ROUTES.iter().zip(&ids) {
        cluster.ends(killed, id, &format!("{context}: {route} after the restart"));
        let begun = cluster.count(&format!("begun-{route}-slow"));
        let beside = cluster.count(&format!("begun-{route}-twin"));
        assert_eq!((begun, beside), (number, number - 1), "{context}: {route}");
    }
    // The target is free again, once.
    for route in ROUTES {
        cluster.runs(asked, &format!("{route}-twin"), number, &context);
    }
    fs::remove_file(go).unwrap();
}

#[test]
fn an_instance_that_is_killed_in_mid_run_leaves_the_truth_to_whoever_knows_it() {
    let mut cluster = Cluster::new();
    for number in 1..=ROUNDS {
        // Every pair of who is asked and who is killed; in the short run whoever is asked is killed.
        let killed = (number - 1) % NAMES.len();
        let asked = (killed + (number - 1) / NAMES.len()) % NAMES.len();
        round(&mut cluster, number, asked, killed);
    }
    let lab = &cluster.instances[ALPHA].lab;
    let verified = lab.void(&["audit", "verify"]);
    assert!(
        verified.status.success(),
        "{}",
        String::from_utf8_lossy(&verified.stdout)
    );
}

/// Two without runs: a database, a catalogue in which `local` is alpha's.
fn pair() -> (Lab, Lab) {
    let catalogue = json!({
        "hosts": {"local": {"address": "local", "instance": "alpha"}},
        "actions": [{"id": "risky-one", "kind": "service_restart", "host": "local", "service": "other", "tier": "risky"}],
    });
    let database = postgres_database();
    let [alpha, beta] = ["alpha", "beta"].map(|name| instance(name, &database, &catalogue).lab);
    (alpha, beta)
}

#[test]
fn another_or_an_empty_catalogue_does_not_start_beside_a_live_instance_unless_told_to() {
    let (alpha, beta) = pair();
    let mut server = alpha.serve(&[]);
    let (_, queued) = server.call("POST", "/api/actions/risky-one/run", None);
    let waits = |server: &Server| {
        let path = format!("/api/proposals/{}", word(&queued, "action_row_id"));
        word(&server.call("GET", &path, None).1, "status").to_owned()
    };
    let empty = json!({"hosts": {}, "actions": []});
    let other = json!({"hosts": {}, "actions": [
        {"id": "x", "kind": "service_restart", "host": "local", "service": "x", "tier": "safe"},
    ]});
    for catalogue in [&empty, &other] {
        fs::write(beta.path("actions.json"), catalogue.to_string()).unwrap();
        let mut refused = beta.serve(&[]);
        let ended = refused.has_ended().expect("it does not start");
        assert!(!ended.success());
        let log = beta.log();
        assert!(
            log.contains("alpha works on this database with another catalogue"),
            "{log}"
        );
        assert!(log.contains("--replace-catalogue"), "{log}");
        assert_eq!(waits(&server), "pending");
    }
    // Killed a moment ago, it may be there: what waits for it is not withdrawn behind its back.
    server.kill();
    let mut refused = beta.serve(&[]);
    assert!(refused.has_ended().is_some());
    drop(server);
    let server = alpha.serve(&[]);
    assert_eq!(waits(&server), "pending");
    let told = beta.start(&["serve", "--replace-catalogue"]);
    eventually_blocking("it to start", || {
        let answer = crate::lab::call(beta.address, "GET", "/readyz", "", None)?;
        (answer.0 == 200).then_some(())
    });
    assert_eq!(waits(&server), "pending", "alpha would still run it");
    drop(told);
}

/// A reload reads the catalogue anew, so it has to ask the others as a start does.
#[test]
fn a_reload_to_a_catalogue_that_another_instance_does_not_have_changes_nothing() {
    let (alpha, beta) = pair();
    let (mut server, beside) = (alpha.serve(&[]), beta.serve(&[]));
    let (_, queued) = beside.call("POST", "/api/actions/risky-one/run", None);
    let path = format!("/api/proposals/{}", word(&queued, "action_row_id"));
    let unchanged = |server: &Server| {
        let (_, actions) = server.call("GET", "/api/actions", None);
        let actions = actions["actions"].as_array().unwrap().clone();
        let (_, row) = server.call("GET", &path, None);
        actions.len() == 1 && word(&actions[0], "id") == "risky-one" && row["status"] == "pending"
    };
    let good = fs::read_to_string(alpha.path("actions.json")).unwrap();
    let other = json!({"hosts": {}, "actions": []});
    fs::write(alpha.path("actions.json"), other.to_string()).unwrap();
    let said = alpha.void(&["reload"]);
    assert!(!said.status.success(), "{said:?}");
    let told = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(
        told.contains("beta works on this database with another catalogue"),
        "{told}"
    );
    assert!(server.has_ended().is_none());
    assert!(unchanged(&server) && unchanged(&beside));
    // The same file is no other catalogue: both agree, and it reloads beside the other.
    fs::write(alpha.path("actions.json"), good).unwrap();
    let said = alpha.void(&["reload"]);
    assert!(said.status.success(), "{said:?}");
    assert!(unchanged(&server) && unchanged(&beside));
}

/// What answers on this machine is not what the catalogue means.
#[test]
fn local_of_another_instance_is_not_asked() {
    let (alpha, beta) = pair();
    // Asked, each would have something to say about its list.
    for lab in [&alpha, &beta] {
        fs::write(lab.path("list.json"), "{}").unwrap();
    }
    let mut server = alpha.serve(&[]);
    let _other = beta.serve(&[]);
    let own = alpha.json(&["hosts", "check", "local"], 10);
    assert_ne!(word(&own["error"], "code"), "other_instance", "{own}");
    assert_eq!(amiss(&report(&alpha), "host").len(), 1);
    let not_asked = beta.json(&["hosts", "check", "local"], 10);
    assert_eq!(
        word(&not_asked["error"], "code"),
        "other_instance",
        "{not_asked}"
    );
    assert!(
        word(&not_asked["error"], "message").contains("alpha"),
        "{not_asked}"
    );
    fine(&report(&beta), "host");
    // Gone, it is named with what to do.
    server.terminate();
    let away = beta.json(&["hosts", "check", "local"], 10);
    assert_eq!(word(&away["error"], "code"), "instance_away", "{away}");
    let found = amiss(&report(&beta), "host");
    assert!(
        word(&found[0], "message").contains("alpha, which is away"),
        "{found:?}"
    );
}

/// A machine is cloned with its data folder: the clone is refused by name, and whoever was killed or reloads, and is no
/// clone, is back at once.
#[test]
fn a_cloned_data_folder_is_refused_and_its_original_comes_back_at_once() {
    const BACK_WITHIN: Duration = Duration::from_secs(10);
    let (alpha, _) = pair();
    let mut server = alpha.serve(&[]);
    let clone = {
        let database = alpha.database_url.clone().unwrap();
        let catalogue = fs::read_to_string(alpha.path("actions.json")).unwrap();
        instance(
            "alpha",
            &database,
            &serde_json::from_str(&catalogue).unwrap(),
        )
        .lab
    };
    let file = "instance.json";
    fs::copy(alpha.data().join(file), clone.data().join(file)).unwrap();
    let mut refused = clone.serve(&[]);
    let ended = refused.has_ended().expect("it does not start");
    assert!(!ended.success());
    let log = clone.log();
    assert!(
        log.contains("another process works under the id of this instance (alpha)"),
        "{log}"
    );
    assert!(log.contains("delete instance.json"), "{log}");
    let (_, status) = server.call("GET", "/api/status", None);
    assert_eq!(status["displaced"], json!(false));
    // A crash, and again.
    for _ in 0..3 {
        server.kill();
        let begin = Instant::now();
        server = alpha.serve(&[]);
        assert!(server.has_ended().is_none(), "{}", alpha.log());
        assert!(begin.elapsed() < BACK_WITHIN, "{:?}", begin.elapsed());
    }
    let begin = Instant::now();
    assert!(alpha.void(&["reload"]).status.success(), "{}", alpha.log());
    assert!(begin.elapsed() < BACK_WITHIN, "{:?}", begin.elapsed());
    // An instance of its own is welcome.
    fs::remove_file(clone.data().join(file)).unwrap();
    let mut clone = clone;
    set(&mut clone, "VOID_INSTANCE", "clone");
    let mut started = clone.serve(&[]);
    assert!(started.has_ended().is_none(), "{}", clone.log());
}
