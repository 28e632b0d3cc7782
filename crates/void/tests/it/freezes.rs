//! The stop switch under load (I30): nothing starts later than a second after it, and it survives a
//! restart.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::lab::{Lab, OWNER, call};

const ACTIONS: usize = 100;

fn catalogue() -> Value {
    let action = |n: usize| json!({"id": format!("safe-{n}"), "kind": "service_restart", "host": "local", "service": format!("s{n}"), "tier": "safe", "cooldown_s": 0});
    json!({"hosts": {}, "actions": (0..ACTIONS).map(action).collect::<Vec<_>>()})
}

#[test]
fn nothing_starts_later_than_a_second_after_the_switch() {
    let lab = Lab::with(&catalogue());
    // Every effect leaves the moment at which it happened, in nanoseconds.
    fs::write(
        lab.path("effect.sh"),
        format!("date +%s%N >> {}\n", lab.path("effects").display()),
    )
    .unwrap();
    let mut server = lab.serve(&[]);
    let address = lab.address;
    let runs: Vec<_> = (0..ACTIONS)
        .map(|n| {
            std::thread::spawn(move || {
                call(
                    address,
                    "POST",
                    &format!("/api/actions/safe-{n}/run"),
                    OWNER,
                    None,
                )
            })
        })
        .collect();
    let (status, frozen) = call(address, "POST", "/api/freeze", OWNER, None).unwrap();
    assert_eq!((status, frozen["frozen"].as_bool()), (200, Some(true)));
    let switched = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let answers: Vec<(u16, Value)> = runs
        .into_iter()
        .map(|run| run.join().unwrap().unwrap())
        .collect();
    let limit = (switched + Duration::from_secs(1)).as_nanos();
    let effects: Vec<u128> = lab
        .effects()
        .iter()
        .map(|line| line.parse().unwrap())
        .collect();
    let late = effects.iter().filter(|at| **at > limit).count();
    assert_eq!(late, 0, "{late} of {} started too late", effects.len());

    // Every caller heard the truth: as many executions as effects, the rest refused or not sent.
    let executed = answers
        .iter()
        .filter(|(_, answer)| answer["executed"] == json!(true))
        .count();
    assert_eq!(executed, effects.len());
    for (status, answer) in &answers {
        let code = answer["error"]["code"].as_str();
        assert!(
            *status == 200 && (answer["executed"] == json!(true) || code == Some("frozen"))
                || *status == 409 && code == Some("frozen"),
            "{status} {answer}"
        );
    }

    server.kill();
    drop(server);
    let server = lab.serve(&[]);
    let (status, answer) = server.call("POST", "/api/actions/safe-1/run", None);
    assert_eq!(
        (status, answer["error"]["code"].as_str()),
        (409, Some("frozen")),
        "it survives a restart"
    );
    assert_eq!(lab.effects().len(), effects.len());
}
