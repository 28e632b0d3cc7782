//! An agent process does not outlive the server, however that ends.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, test_kill_process};

use crate::houses::{House, PROGRAM};

const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn a_confined_process_ends_when_its_server_is_killed() {
    let house = House::of_one_user();
    let script = "exec 3<&0; \"$0\" waits <&3 & echo $!; wait";
    let mut server = Command::new("/bin/sh")
        .args(["-c", script, PROGRAM])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut plan = house.plan();
    plan.server_process = server.id();
    let mut stdin = server.stdin.take().unwrap();
    stdin.write_all(house.orders(&plan).as_bytes()).unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let agent: i32 = lines.next().unwrap().unwrap().parse().unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "confined");
    let agent = Pid::from_raw(agent).unwrap();
    assert!(test_kill_process(agent).is_ok());
    server.kill().unwrap();
    server.wait().unwrap();
    // Standard input is still open: it was not that. Its end closes the pipe that it wrote to.
    assert!(lines.next().is_none());
    let begun = Instant::now();
    while is_running(agent) {
        assert!(begun.elapsed() < PATIENCE, "it lives on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn is_running(process: Pid) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    status.is_ok_and(|status| !status.contains(") Z "))
}

#[test]
fn a_process_whose_server_is_gone_already_confines_nothing() {
    let house = House::of_one_user();
    let mut plan = house.plan();
    plan.server_process = 1;
    let said = house.said(&["escape", "9"], &plan);
    assert_eq!(
        said,
        "not confined: the server that it belongs to is gone\n"
    );
}
