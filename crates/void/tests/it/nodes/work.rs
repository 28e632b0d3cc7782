//! What a node does: typed parameters as whole words, rollbacks to what it recorded, progress, drift, restarts.

use std::fs;

use serde_json::{Value, json};
use void_testkit::{eventually_blocking, postgres_database};

use super::stand::{Stand, catalogue, nodes, row, rows_at_rest, run_to_end, wait_until_here};
use crate::doctor::{amiss, fine, report};
use crate::lab::{Server, word};

fn joined() -> (Stand, Server, super::stand::NodeProcess) {
    let stand = Stand::new();
    let server = stand.lab.serve(&[]);
    stand.admit(&server, "n1", stand.lab.address);
    let node = stand.run("n1");
    wait_until_here(&server, "n1");
    (stand, server, node)
}

#[test]
fn parameters_are_whole_words_and_a_rollback_returns_to_the_record() {
    let (stand, server, _node) = joined();
    let nothing = run_to_end(&server, "rollback-web", &json!({}));
    assert_eq!(
        nothing["error"]["code"],
        json!("nothing_to_return_to"),
        "{nothing:#}"
    );
    let deploy = |image: &str| run_to_end(&server, "deploy-web", &json!({ "image": image }));
    let hostile = "img:1; touch /tmp/x $(id) `id` '\"";
    for image in [hostile, "img:2"] {
        let row = deploy(image);
        assert_eq!(word(&row, "status"), "executed", "{row:#}");
    }
    let back = run_to_end(&server, "rollback-web", &json!({}));
    assert_eq!(word(&back, "status"), "executed", "{back:#}");
    let scaled = run_to_end(&server, "scale-web", &json!({"replicas": 3}));
    assert_eq!(word(&scaled, "status"), "executed", "{scaled:#}");
    assert_eq!(
        stand.effects(),
        [
            format!("deploy-web [{hostile}] env="),
            "deploy-web [img:2] env=".to_owned(),
            format!("rollback-web [{hostile}] env="),
            "scale-web env=3".to_owned(),
        ]
    );
    let outside = json!({"params": {"replicas": 6}});
    let (status, _) = server.call("POST", "/api/actions/scale-web/run", Some(&outside));
    assert_eq!(status, 422);
}

/// A service that answers says nothing about how many copies there are.
#[test]
fn a_scale_is_verified_by_how_many_copies_run() {
    let (stand, server, _node) = joined();
    let scale = |wanted: u32, running: &str| {
        fs::write(stand.lab.path("running"), running).unwrap();
        let row = run_to_end(&server, "scale-web", &json!({"replicas": wanted}));
        assert_eq!(word(&row, "status"), "executed", "{row:#}");
        let id = word(&row, "id").to_owned();
        eventually_blocking("the check to end", || {
            let row = self::row(&server, &id);
            (!row["verification"].is_null()).then_some(row)
        })
    };
    for (wanted, running, outcome) in [
        (3, "3", "verified"),
        (3, "2", "failed"),
        (3, "4", "failed"),
        (0, "0", "verified"),
        (1, "many", "unverified"),
    ] {
        let row = scale(wanted, running);
        assert_eq!(
            word(&row, "verification"),
            outcome,
            "{wanted}, {running}: {row:#}"
        );
        let replicas = match running.parse::<u32>() {
            Ok(running) => json!({"wanted": wanted, "running": running}),
            Err(_) => Value::Null,
        };
        assert_eq!(row["result"]["check"]["replicas"], replicas, "{row:#}");
    }
}

#[test]
fn what_a_run_says_is_seen_while_it_runs_and_kept() {
    let (stand, server, _node) = joined();
    let (_, run) = server.call("POST", "/api/actions/slow-web/run?wait=0", None);
    let id = word(&run, "action_row_id");
    let said = eventually_blocking("the first lines", || {
        let row = row(&server, id);
        let lines = row["result"]["progress"].as_array()?.len();
        (lines == 2).then_some(row)
    });
    assert_eq!(word(&said, "status"), "running");
    stand.let_go();
    let ended = rows_at_rest(&server).pop().unwrap();
    assert_eq!(word(&ended, "status"), "executed");
    let mut lines: Vec<&str> = ended["result"]["progress"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    lines.sort_unstable();
    assert_eq!(lines, ["first", "last", "second"]);
    assert_eq!(ended["result"]["host"], json!("n1"));
}

/// The list is the machine's: what is not in it, or was made for another definition, does not run.
#[test]
fn drift_and_a_stop_file_and_an_open_list_are_refused() {
    let (stand, server, _node) = joined();
    let mut changed = catalogue();
    changed["actions"][0]["risk"] = json!("guarded");
    changed["actions"][0]["tier"] = json!("risky");
    stand.write_list("n1", &changed);
    let refused = run_to_end(&server, "restart-web", &json!({}));
    assert_eq!(refused["error"]["code"], json!("drift"), "{refused:#}");
    stand.write_list("n1", &catalogue());
    fs::write(stand.lab.path("n1.stop"), "").unwrap();
    let stopped = run_to_end(&server, "restart-web", &json!({}));
    assert_eq!(
        stopped["error"]["code"],
        json!("stopped_on_host"),
        "{stopped:#}"
    );
    fs::remove_file(stand.lab.path("n1.stop")).unwrap();
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(stand.list("n1"), fs::Permissions::from_mode(0o666)).unwrap();
    let open = run_to_end(&server, "restart-web", &json!({}));
    assert_eq!(word(&open, "status"), "failed", "{open:#}");
    assert!(stand.effects().is_empty());
}

#[test]
fn frozen_nothing_goes_out_to_a_node() {
    let (stand, server, _node) = joined();
    server.call("POST", "/api/freeze", Some(&json!({"reason": "hands off"})));
    let (status, answer) = server.call("POST", "/api/actions/restart-web/run", None);
    assert_eq!((status, &answer["error"]["code"]), (409, &json!("frozen")));
    server.call("DELETE", "/api/freeze", None);
    let row = run_to_end(&server, "restart-web", &json!({}));
    assert_eq!(
        (word(&row, "status"), stand.count("restart-web")),
        ("executed", 1)
    );
}

/// What is well is not worried about, and what is not is named with the next command.
#[test]
fn the_doctor_and_the_list_name_what_is_wrong_with_a_node_and_nothing_else() {
    let (stand, server, mut node) = joined();
    let found = report(&stand.lab);
    fine(&found, "node");
    let listed = String::from_utf8(stand.lab.void(&["node", "ls"]).stdout).unwrap();
    let line = listed.lines().find(|line| line.starts_with("n1")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words[..3], ["n1", "joined", "now"], "{line}");
    assert_eq!(words.len(), 4, "{line}");
    node.kill();
    eventually_blocking("it to be away", || {
        (nodes(&server)[0]["here"] == json!(false)).then_some(())
    });
    let found = amiss(&report(&stand.lab), "node");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (word(&found[0], "message"), word(&found[0], "next")),
        ("n1: away", "systemctl status void-node, on that machine")
    );
}

#[test]
fn a_node_that_is_away_gets_nothing_later() {
    let (stand, server, mut node) = joined();
    node.kill();
    eventually_blocking("it to be away", || {
        (nodes(&server)[0]["here"] == json!(false)).then_some(())
    });
    let (_, run) = server.call("POST", "/api/actions/restart-web/run?wait=60", None);
    assert_eq!(run["status"], json!("failed"), "{run}");
    assert_eq!(run["error"]["code"], json!("unreachable"), "{run}");
    let _node = stand.run("n1");
    wait_until_here(&server, "n1");
    let other = run_to_end(&server, "scale-web", &json!({"replicas": 1}));
    assert_eq!(word(&other, "status"), "executed");
    assert_eq!(stand.count("restart-web"), 0);
}

#[test]
fn a_server_that_restarts_finds_out_what_became_of_a_run() {
    for end_while_away in [true, false] {
        let (stand, mut server, _node) = joined();
        server.call("POST", "/api/actions/slow-web/run?wait=0", None);
        eventually_blocking("it to run", || {
            let row = server.proposals().pop()?;
            row_says(&server, &row).then_some(())
        });
        server.kill();
        if end_while_away {
            stand.let_go();
            eventually_blocking("the effect", || {
                (stand.count("slow-web") == 1).then_some(())
            });
        }
        let server = stand.lab.serve(&[]);
        stand.let_go();
        let rows = rows_at_rest(&server);
        super::stand::check_truth(&stand, &rows, "after the restart");
        assert_eq!(word(&rows[0], "status"), "executed", "{:#}", rows[0]);
    }
}

fn row_says(server: &Server, of: &Value) -> bool {
    row(server, word(of, "id"))["result"]["progress"].is_array()
}

/// Two instances: the node polls at one, the wish comes to the other.
#[test]
fn any_instance_may_serve_a_nodes_poll() {
    let mut stand = Stand::new();
    stand.lab.database_url = Some(postgres_database());
    let one = stand.lab.serve(&[]);
    let mut other = Stand::new();
    other.lab.database_url = stand.lab.database_url.clone();
    fs::copy(
        stand.lab.path("actions.json"),
        other.lab.path("actions.json"),
    )
    .unwrap();
    let two = other.lab.serve(&[]);
    stand.admit(&one, "n1", stand.lab.address);
    let mut node = stand.run("n1");
    wait_until_here(&one, "n1");
    for (number, server) in [(1, &two), (2, &one), (3, &two)] {
        let row = run_to_end(server, "restart-web", &json!({}));
        assert_eq!(
            word(&row, "status"),
            "executed",
            "{row:#}\n{}",
            stand.lab.log()
        );
        assert_eq!(stand.count("restart-web"), number);
    }
    node.kill();
    eventually_blocking("it to be gone", || {
        (nodes(&two).first()?["here"] == json!(false)).then_some(())
    });
    let row = run_to_end(&two, "restart-web", &json!({}));
    assert_eq!(word(&row, "status"), "failed", "{row:#}");
    assert_eq!(stand.count("restart-web"), 3);
}
