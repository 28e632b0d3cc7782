//! What else a client may ask of a connection: forwardings, a terminal, a second command (SECURITY R-S5
//! to R-S7). The key gives none of it.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::json;
use void_act::Outcome as Said;
use void_testkit::{eventually_blocking, free_port};

use crate::lab::{Lab, Listed, answer, is_refused, usual, wait_until};
use crate::sessions::{ENVIRONMENT, env_entry};

/// A forced command that notes what it was given before it becomes `void-act`.
async fn note_session(lab: &Lab) -> PathBuf {
    let notes = lab.sshd.work().join("notes");
    let script = format!(
        "#!/bin/sh\n{{ env; tty; ls -l /proc/$$/fd; }} >> {} 2>&1\nexec {}\n",
        notes.display(),
        lab.sshd.void_act()
    );
    lab.force_script("noting", &script).await;
    notes
}

/// Something that counts who connects to it.
struct Target {
    listener: TcpListener,
}

impl Target {
    fn new() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", free_port())).unwrap();
        listener.set_nonblocking(true).unwrap();
        Self { listener }
    }

    fn port(&self) -> u16 {
        self.listener.local_addr().unwrap().port()
    }

    fn was_reached(&self) -> bool {
        self.listener.accept().is_ok()
    }
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Connects through a forwarding of the client; the other end must close without having connected.
fn is_shut(port: u16, target: &Target) {
    let mut stream = eventually_blocking("the client to listen", || {
        TcpStream::connect(("127.0.0.1", port)).ok()
    });
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    // A SOCKS client's first words; to a plain forwarding they are as good as any.
    let greeting = [5, 1, 0];
    let request = [
        &[5, 1, 0, 1, 127, 0, 0, 1][..],
        &target.port().to_be_bytes(),
    ]
    .concat();
    let _ = stream
        .write_all(&greeting)
        .and_then(|()| stream.write_all(&request));
    let mut said = Vec::new();
    let _ = stream.read_to_end(&mut said);
    assert!(said.len() <= 2 || said.get(3) != Some(&0), "{said:?}");
    assert!(!target.was_reached());
}

#[tokio::test(flavor = "multi_thread")]
async fn r_s5_no_forwarding_of_any_kind() {
    let lab = Lab::new(&usual());
    let target = Target::new();
    let to = format!("127.0.0.1:{}", target.port());
    for flag in ["-L", "-D"] {
        let port = free_port();
        let words = if flag == "-L" {
            format!("{port}:{to}")
        } else {
            port.to_string()
        };
        let mut client = lab.ssh(&["-N", flag, &words]);
        let _client = Killed(
            client
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap(),
        );
        is_shut(port, &target);
    }
    let output = lab.ssh(&["-W", &to]).output().unwrap();
    assert_eq!(output.status.code(), Some(255), "{output:?}");
    let stop = ["-N", "-o", "ExitOnForwardFailure=yes"];
    let socket = lab.sshd.work().join("socket").display().to_string();
    for remote in [
        format!("{}:{to}", free_port()),
        format!("{socket}:{to}"),
        "0".to_owned(),
    ] {
        let output = lab
            .ssh(&[&stop[..], &["-R", &remote]].concat())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(255), "{remote}: {output:?}");
    }
    // A device of ours is made before the host is asked, and goes with the client.
    let output = lab
        .ssh(&[&stop[..], &["-w", "any:any"]].concat())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(255), "{output:?}");
    assert!(!target.was_reached() && !Path::new(&socket).exists());
    // The server would: it is the key's `restrict` that keeps it from it.
    let public = fs::read_to_string(lab.sshd.key.with_extension("pub")).unwrap();
    lab.sshd
        .authorize(&format!("command=\"{}\" {public}", lab.sshd.void_act()));
    let port = free_port();
    let mut client = lab.ssh(&["-N", "-L", &format!("{port}:{to}")]);
    let _client = Killed(
        client
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    wait_until("the target", || {
        TcpStream::connect(("127.0.0.1", port)).is_ok() && target.was_reached()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r_s5_neither_agent_nor_display_is_forwarded() {
    let lab = Lab::new(&env_entry());
    let notes = note_session(&lab).await;
    let agent = lab.client.path().join("agent");
    let mut keeper = Command::new("/usr/bin/ssh-agent");
    keeper.args(["-D", "-a"]).arg(&agent).stdout(Stdio::null());
    let _keeper = Killed(keeper.spawn().unwrap());
    wait_until("the agent", || agent.exists()).await;
    let mut command = lab.ssh(&["-A", "-Y"]);
    command
        .env("SSH_AUTH_SOCK", &agent)
        .env("DISPLAY", "127.0.0.1:0");
    let output = command.arg(lab.command("env")).output().unwrap();
    assert_eq!(answer(&output).stdout.as_deref(), Some(ENVIRONMENT));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("X11 forwarding request failed"), "{said}");
    let notes = fs::read_to_string(notes).unwrap();
    for name in ["SSH_AUTH_SOCK=", "DISPLAY="] {
        assert!(!notes.contains(name), "{notes}");
    }
    // An agent that is asked for and not allowed leaves no socket behind.
    assert!(!notes.contains("/tmp/ssh-"), "{notes}");
}

#[tokio::test(flavor = "multi_thread")]
async fn r_s6_there_is_no_terminal() {
    let mut listed = usual();
    listed.push(Listed::risky("tty", json!(["/usr/bin/tty"])));
    let lab = Lab::new(&listed);
    let notes = note_session(&lab).await;
    let command = lab.command("tty");
    let output = lab.ssh(&["-tt"]).arg(&command).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("PTY allocation request failed"), "{said}");
    // The client gives up on that; whether the host had begun by then, it had no terminal.
    let answer = answer(&lab.say(&command));
    assert_eq!(answer.outcome, Said::Failed);
    assert_eq!(answer.stdout.as_deref(), Some("not a tty\n"));
    let notes = fs::read_to_string(notes).unwrap();
    assert!(
        notes.contains("not a tty") && !notes.contains("/dev/pts"),
        "{notes}"
    );
    // A shell on a terminal is what a person would try first.
    let output = lab.ssh(&["-tt"]).output().unwrap();
    assert!(!output.status.success(), "{output:?}");
    is_refused(&lab.ssh(&["-T"]).output().unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn r_s7_every_command_on_a_shared_connection_is_forced() {
    let lab = Lab::new(&usual());
    let target = Target::new();
    done_by(&lab, "stop-it");
    for word in ["sh", "bash -i", "cat /etc/passwd", "", "internal-sftp"] {
        is_refused(&lab.say(word));
    }
    done_by(&lab, "start-it");
    // Requests to the process that holds the connection are requests to the host.
    let path = format!("ControlPath={}", lab.client.path().join("plain").display());
    let port = free_port();
    let forward = format!("{port}:127.0.0.1:{}", target.port());
    let output = lab
        .ssh(&["-o", &path, "-O", "forward", "-L", &forward])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    is_shut(port, &target);
    let remote = format!("{}:127.0.0.1:{}", free_port(), target.port());
    let output = lab
        .ssh(&["-o", &path, "-O", "forward", "-R", &remote])
        .output()
        .unwrap();
    assert!(!output.status.success(), "{output:?}");
    assert_eq!(lab.sshd.logins(), 1);
    assert_eq!(lab.effects(), ["@/effect|stop|", "@/effect|start|"]);
}

fn done_by(lab: &Lab, id: &str) {
    let output = lab.say(&lab.command(id));
    assert_eq!(answer(&output).outcome, Said::Done, "{output:?}");
}
