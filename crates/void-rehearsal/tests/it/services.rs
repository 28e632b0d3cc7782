//! Services: started, asked, stopped, broken, killed, and never two of one name.

mod lab;

use std::ffi::OsString;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use void_rehearsal::services::{self, NAME_BYTES_MAX, START_TIME_MAX, ServiceError, ServiceKind};

use crate::lab::eventually;
use crate::processes::{self, is_running, kill, pid_of, session_of};
use crate::services::lab::Lab;

fn ask(port: u16, request: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(5)))
        .unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

fn is_refused(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_err()
}

#[test]
fn a_service_is_started_asked_restarted_and_stopped() {
    let lab = Lab::new();
    let port = lab.prepare("web", ServiceKind::Http);
    assert_eq!(services::port(lab.path(), "web").unwrap(), port);
    assert!(!lab.is_up("web") && is_refused(port));

    let at = format!("127.0.0.1:{port}");
    assert_eq!(
        lab.start("web").unwrap(),
        format!("web started, it answers on {at}")
    );
    assert!(lab.is_up("web"));
    assert_eq!(
        lab.start("web").unwrap(),
        format!("web already runs on {at}")
    );
    let first = pid_of(lab.path(), "web");
    assert_eq!(session_of(first), first);

    let answer = ask(port, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
    let body = "web is up (rehearsal)\n";
    assert!(
        answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with(body),
        "{answer}"
    );
    assert!(answer.contains(&format!("Content-Length: {}\r\n", body.len())));
    assert!(ask(port, "HEAD / HTTP/1.0\r\n\r\n").ends_with("\r\n\r\n"));

    assert_eq!(
        lab.restart("web").unwrap(),
        format!("web restarted, it answers on {at}")
    );
    let second = pid_of(lab.path(), "web");
    assert!(second != first && !is_running(first) && lab.is_up("web"));

    assert_eq!(services::stop(lab.path(), "web").unwrap(), "web stopped");
    assert!(!lab.is_up("web") && is_refused(port) && !is_running(second));
    assert_eq!(
        services::stop(lab.path(), "web").unwrap(),
        "web was not running"
    );
    lab.restart("web").unwrap();
    assert!(lab.is_up("web"));
}

#[test]
fn a_tcp_service_accepts() {
    let lab = Lab::new();
    let port = lab.prepare("dns", ServiceKind::Tcp);
    lab.start("dns").unwrap();
    assert!(lab.is_up("dns") && !is_refused(port));
    assert_eq!(ask(port, "anything"), "");
    services::stop(lab.path(), "dns").unwrap();
    assert!(is_refused(port));
}

#[test]
fn a_broken_service_stays_down_until_it_is_restarted() {
    let lab = Lab::new();
    let port = lab.prepare("web", ServiceKind::Http);
    lab.start("web").unwrap();
    let pid = pid_of(lab.path(), "web");
    let line = services::break_it(lab.path(), "web").unwrap();
    assert_eq!(line, "web is broken until it is restarted");
    assert!(!lab.is_up("web") && is_refused(port) && !is_running(pid));
    assert!(matches!(lab.start("web"), Err(ServiceError::Broken(_))));
    // Nor does its own process come up.
    let mut child = processes::spawn("service", &[lab.path(), Path::new("web")]);
    assert!(!child.wait().unwrap().success());
    lab.restart("web").unwrap();
    assert!(lab.is_up("web"));
    services::stop(lab.path(), "web").unwrap();
    lab.start("web").unwrap();
}

#[test]
fn a_killed_service_is_down_and_is_restarted() {
    let lab = Lab::new();
    let port = lab.prepare("web", ServiceKind::Http);
    lab.start("web").unwrap();
    for _ in 0..3 {
        kill(pid_of(lab.path(), "web"));
        eventually("its port to close", || is_refused(port).then_some(()));
        assert!(!lab.is_up("web"));
        lab.restart("web").unwrap();
        assert!(lab.is_up("web"));
    }
}

#[test]
fn a_process_id_that_was_given_again_is_left_alone() {
    let lab = Lab::new();
    lab.prepare("web", ServiceKind::Http);
    let somebody = std::process::id();
    for recorded in [
        format!("{somebody} 1\n"),
        format!("{somebody}"),
        "1 0\n".to_owned(),
        "x y\n".to_owned(),
    ] {
        fs::write(lab.path().join("web.lock"), recorded).unwrap();
        assert!(!lab.is_up("web"));
        assert_eq!(
            services::stop(lab.path(), "web").unwrap(),
            "web was not running"
        );
    }
    lab.restart("web").unwrap();
    assert!(lab.is_up("web"));
}

#[test]
fn names_are_checked() {
    let lab = Lab::new();
    let longest = "a".repeat(NAME_BYTES_MAX);
    for name in ["web-2", &longest] {
        lab.prepare(name, ServiceKind::Http);
    }
    let too_long = "a".repeat(NAME_BYTES_MAX + 1);
    for name in ["", "..", "a/b", "Web", "a b", &too_long] {
        assert!(
            matches!(lab.restart(name), Err(ServiceError::BadName(_))),
            "{name}"
        );
        assert!(!lab.is_up(name));
    }
    for result in [
        lab.start("none"),
        lab.restart("none"),
        services::stop(lab.path(), "none"),
        services::break_it(lab.path(), "none"),
    ] {
        let error = result.unwrap_err().to_string();
        assert_eq!(error, "there is no service `none` in this lab");
    }
    let left = fs::read_dir(lab.path()).unwrap().flatten();
    assert!(!left.into_iter().any(|entry| {
        let name = entry.file_name();
        name.to_string_lossy().starts_with("none")
    }));
}

#[test]
fn a_program_that_does_not_serve_is_an_error() {
    let lab = Lab::new();
    lab.prepare("web", ServiceKind::Http);
    let restart = |program: &str, args: &[&str]| {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        services::restart(lab.path(), "web", Path::new(program), &args).unwrap_err()
    };
    assert!(matches!(restart("/nowhere", &[]), ServiceError::Io(..)));
    assert!(matches!(
        restart("/bin/false", &[]),
        ServiceError::EndedAtOnce(_)
    ));
    let begun = Instant::now();
    let pid_file = lab.path().join("slow");
    let script = format!("echo $$ >{}; exec sleep 60", pid_file.display());
    let error = restart("/bin/sh", &["-c", &script]);
    assert_eq!(error.to_string(), "web does not answer after 5 s");
    assert!(begun.elapsed() >= START_TIME_MAX);
    let pid = fs::read_to_string(pid_file)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    eventually("it to be killed", || (!is_running(pid)).then_some(()));
}

#[test]
fn there_is_one_process_per_name() {
    let lab = Lab::new();
    lab.prepare("web", ServiceKind::Http);
    lab.start("web").unwrap();
    let pid = pid_of(lab.path(), "web");
    let mut second = processes::spawn("service", &[lab.path(), Path::new("web")]);
    assert!(!second.wait().unwrap().success());
    assert!(lab.is_up("web"));
    assert_eq!(pid_of(lab.path(), "web"), pid);
}

#[test]
fn restarts_at_the_same_time_leave_one_process() {
    let lab = Lab::new();
    lab.prepare("web", ServiceKind::Http);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| lab.restart("web").unwrap());
        }
    });
    assert!(lab.is_up("web"));
    let folder = lab.path().to_str().unwrap();
    let serving = fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(folder)
    });
    assert_eq!(serving.count(), 1);
}

#[test]
fn a_restart_by_a_process_of_its_own_leaves_its_pipes() {
    let lab = Lab::new();
    lab.prepare("web", ServiceKind::Http);
    lab.start("web").unwrap();
    let first = pid_of(lab.path(), "web");
    let child = processes::spawn("restart", &[lab.path(), Path::new("web")]);
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("web restarted, it answers on 127.0.0.1:"),
        "{said}"
    );
    assert!(lab.is_up("web") && !is_running(first));
}

#[test]
fn slow_and_silent_clients_do_not_block_others() {
    let lab = Lab::new();
    let port = lab.prepare("web", ServiceKind::Http);
    lab.start("web").unwrap();
    let silent: Vec<_> = (0..20)
        .map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap())
        .collect();
    assert!(lab.is_up("web"));
    let endless = "x".repeat(20_000);
    assert_eq!(ask(port, &endless), "");
    drop(silent);
}
