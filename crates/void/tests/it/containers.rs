//! `void serve` as the first process of a process namespace, as in a container without an init.

mod recipes;

use std::fs;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use void_testkit::eventually_blocking;

use crate::lab::{Lab, VOID, call};

/// A namespace with the server in it; the kernel ends all of it with its first process, and that with `unshare`.
struct Container {
    unshare: Child,
    first: u32,
}

impl Container {
    fn serve(lab: &Lab) -> Self {
        let serve = lab.command();
        let environment = serve
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?)));
        let unshare = Command::new("/usr/bin/unshare")
            .args(["--pid", "--fork", "--mount-proc", "--kill-child"])
            .args([VOID, "serve"])
            .env_clear()
            .envs(environment)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(lab.path("log")).unwrap())
            .spawn()
            .unwrap();
        let mut container = Self { unshare, first: 0 };
        eventually_blocking("the server in its namespace to answer", || {
            let ended = container.unshare.try_wait().unwrap();
            assert!(ended.is_none(), "{}", log(lab));
            is_ready(lab).then_some(())
        });
        container.first = children(container.unshare.id())[0];
        container
    }

    /// Starts processes whose parent ends at once, and which end themselves when somebody writes to `fifo`.
    fn orphan(&self, fifo: &str, count: usize) {
        let one = format!("cat {fifo} > /dev/null & ");
        let left = Command::new("/usr/bin/nsenter")
            .args(["--target", &self.first.to_string(), "--pid"])
            .args(["/bin/sh", "-c", &one.repeat(count)])
            .stdin(Stdio::null())
            .status()
            .unwrap();
        assert!(left.success());
    }

    fn tell(&self, signal: Signal) {
        let first = Pid::from_raw(i32::try_from(self.first).unwrap()).unwrap();
        kill_process(first, signal).unwrap();
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let _ = self.unshare.kill();
        let _ = self.unshare.wait();
    }
}

fn is_ready(lab: &Lab) -> bool {
    let answer = call(lab.address, "GET", "/readyz", "", None);
    answer.is_some_and(|(status, _)| status == 200)
}

fn log(lab: &Lab) -> String {
    fs::read_to_string(lab.path("log")).unwrap_or_default()
}

/// Also those that have ended and that nobody has asked for yet.
fn children(parent: u32) -> Vec<u32> {
    let parent = format!("PPid:\t{parent}");
    let is_child = |pid: &u32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        status.lines().any(|line| line == parent)
    };
    let names = fs::read_dir("/proc").unwrap();
    let names = names.filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    names
        .filter_map(|name| name.parse().ok())
        .filter(is_child)
        .collect()
}

#[test]
fn who_has_no_parent_any_more_leaves_nothing_behind_in_a_container() {
    let lab = Lab::new();
    let mut container = Container::serve(&lab);
    let server = children(container.first);
    let fifo = lab.path("fifo");
    let made = Command::new("/usr/bin/mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    for _ in 0..2 {
        container.orphan(fifo.to_str().unwrap(), 3);
        eventually_blocking("the orphans to have the first process as parent", || {
            (children(container.first).len() == server.len() + 3).then_some(())
        });
        // One that comes to read later than the others needs a writer of its own.
        eventually_blocking("nothing to be left of them", || {
            drop(fs::OpenOptions::new().read(true).write(true).open(&fifo));
            (children(container.first) == server).then_some(())
        });
    }
    container.tell(Signal::HUP);
    eventually_blocking("the next server to answer", || {
        let starts = log(&lab).matches(" ready ").count();
        (starts == 2 && is_ready(&lab)).then_some(())
    });
    assert_eq!(children(container.first), server);
    container.tell(Signal::TERM);
    let ended = eventually_blocking("the namespace to end with the server", || {
        container.unshare.try_wait().unwrap()
    });
    assert_eq!(ended.code(), Some(0), "{}", log(&lab));
    assert_eq!(log(&lab).matches("stopping:").count(), 1);
    assert!(!log(&lab).contains("told again"));
}

/// A server that is killed ends its container with the code of a shell, for who starts it again.
#[test]
fn a_container_ends_with_the_code_of_its_server() {
    let lab = Lab::new();
    let mut container = Container::serve(&lab);
    let [server] = children(container.first)[..] else {
        panic!("one server: {:?}", children(container.first));
    };
    let server = Pid::from_raw(i32::try_from(server).unwrap()).unwrap();
    kill_process(server, Signal::KILL).unwrap();
    let ended = eventually_blocking("the namespace to end with the server", || {
        container.unshare.try_wait().unwrap()
    });
    assert_eq!(ended.code(), Some(137), "{}", log(&lab));
}
