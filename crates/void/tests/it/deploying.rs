//! What deploy/ ships: the scripts that make Void a service, the units, and the recipes for proxies, with the real
//! programs.

mod confinement;
mod units;

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use void_testkit::processes::signal;
use void_testkit::tls::Identity;
use void_testkit::{eventually_blocking, free_port};

use crate::lab::{Lab, VOID, catalogue};

fn recipe(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
    fs::read_to_string(path.join(name)).unwrap()
}

/// Runs what `void service` prints in a folder of its own.
fn piped_to_shell(args: &[&str], root: &Path, program: Option<&str>) -> Output {
    let script = Command::new(VOID)
        .arg("service")
        .args(args)
        .env_clear()
        .output()
        .unwrap();
    assert!(script.status.success(), "{script:?}");
    let mut shell = Command::new("/bin/sh")
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", "/home/owner")
        .env("DESTDIR", root)
        .envs(program.map(|program| ("VOID_PROGRAM", program)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = shell.stdin.take().unwrap();
    input.write_all(&script.stdout).unwrap();
    drop(input);
    shell.wait_with_output().unwrap()
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_service_is_installed_twice_and_removed_and_the_data_stays() {
    let root = tempfile::tempdir().unwrap();
    let unit = root.path().join("etc/systemd/system/void.service");
    for _ in 0..2 {
        let told = said(&piped_to_shell(&["install"], root.path(), None));
        assert!(
            told.contains("unit /etc/systemd/system/void.service: written"),
            "{told}"
        );
        assert!(told.contains("done."), "{told}");
        let text = fs::read_to_string(&unit).unwrap();
        assert!(
            text.contains("ExecStart=/usr/local/bin/void serve"),
            "{text}"
        );
        assert!(!text.contains("@UNIT@"), "{text}");
    }
    let program = fs::read(root.path().join("usr/local/bin/void")).unwrap();
    assert_eq!(program.len() as u64, fs::metadata(VOID).unwrap().len());
    let data = root.path().join("var/lib/void");
    fs::write(data.join("void.db"), "the record").unwrap();
    for _ in 0..2 {
        said(&piped_to_shell(&["uninstall"], root.path(), None));
        assert!(!unit.exists());
        assert!(data.join("void.db").exists());
    }
}

#[test]
fn a_program_that_is_not_there_installs_nothing() {
    let root = tempfile::tempdir().unwrap();
    for args in [&["install"][..], &["install", "--user"]] {
        let ended = piped_to_shell(args, root.path(), Some("/nowhere/void"));
        assert!(!ended.status.success());
        let told = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(
            told.contains("not found") && told.contains("failed while"),
            "{told}"
        );
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_unit_of_ones_own_account_names_the_program_where_it_is() {
    let root = tempfile::tempdir().unwrap();
    let unit = root
        .path()
        .join("home/owner/.config/systemd/user/void.service");
    said(&piped_to_shell(&["install", "--user"], root.path(), None));
    let text = fs::read_to_string(&unit).unwrap();
    assert!(text.contains(&format!("ExecStart={VOID} serve")), "{text}");
    // A path that a unit would read as something else is refused, not written.
    let odd = root.path().join("my void");
    fs::copy("/bin/true", &odd).unwrap();
    let ended = piped_to_shell(&["install", "--user"], root.path(), odd.to_str());
    assert!(!ended.status.success());
    assert_eq!(fs::read_to_string(&unit).unwrap(), text);
    said(&piped_to_shell(&["uninstall", "--user"], root.path(), None));
    assert!(!unit.exists());
}

/// systemd's own opinion of the units: no unknown word, and little that is left open.
#[test]
fn the_units_are_valid_and_the_servers_is_confined() {
    let root = tempfile::tempdir().unwrap();
    let units = root.path().join("etc/systemd/system");
    for folder in ["etc/systemd/system", "usr/bin", "usr/local/bin"] {
        fs::create_dir_all(root.path().join(folder)).unwrap();
    }
    for program in ["usr/bin/void", "usr/local/bin/void"] {
        fs::copy("/bin/true", root.path().join(program)).unwrap();
    }
    let analyze = |args: &[&str]| {
        let mut command = Command::new("systemd-analyze");
        command
            .args(args)
            .env("SYSTEMD_COLORS", "0")
            .output()
            .unwrap()
    };
    for name in ["void.service", "void-node.service"] {
        let text = recipe(name).replace("network-online.target", "basic.target");
        fs::write(units.join(name), text).unwrap();
        let path = units.join(name);
        // What is not in this folder is not the unit's fault: targets and folders of a whole system.
        let judged = analyze(&["verify", "--recursive-errors=no", path.to_str().unwrap()]);
        let told = String::from_utf8_lossy(&judged.stderr).into_owned();
        let ours: Vec<&str> = told
            .lines()
            .filter(|line| line.contains("void") && !line.contains("is not executable"))
            .collect();
        assert!(ours.is_empty(), "{name}: {ours:?}");
    }
    let path = units.join("void.service");
    let judged = analyze(&[
        "security",
        "--offline=true",
        "--threshold=25",
        path.to_str().unwrap(),
    ]);
    assert!(
        judged.status.success(),
        "{}",
        String::from_utf8_lossy(&judged.stdout)
    );
}

#[test]
fn systemd_is_told_when_it_is_ready_when_it_reloads_and_when_it_stops() {
    let lab = Lab::new();
    let path = lab.path("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let heard = || {
        let mut buffer = [0; 64];
        let length = socket.recv(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    };
    let mut server = lab.serve(&[("NOTIFY_SOCKET", path.to_str().unwrap())]);
    assert_eq!(heard(), "READY=1");
    // With files that nobody could start with nothing changes, and no reload is told of.
    fs::write(lab.path("actions.json"), "{").unwrap();
    signal(server.pid(), Signal::HUP);
    eventually_blocking("the reload to be refused", || {
        lab.log().contains("not reloaded").then_some(())
    });
    lab.write_catalogue(&catalogue());
    signal(server.pid(), Signal::HUP);
    assert_eq!(heard(), "RELOADING=1");
    // From the next process, which has the number of the one before.
    assert_eq!(heard(), "READY=1");
    assert!(server.has_ended().is_none());
    assert!(server.terminate().success());
    assert_eq!(heard(), "STOPPING=1");
}

struct Proxy {
    child: Child,
    port: u16,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // By a signal that it can pass on to its own children.
        let _ = Command::new("kill")
            .arg(self.child.id().to_string())
            .status();
        let _ = self.child.wait();
    }
}

fn files(lab: &Lab) -> (PathBuf, PathBuf, PathBuf) {
    let identity = Identity::new();
    let write = |name: &str, text: &str| {
        let path = lab.path(name);
        fs::write(&path, text).unwrap();
        path
    };
    (
        write("authority.pem", &identity.authority_pem),
        write("certificate.pem", &identity.certificate_pem),
        write("key.pem", &identity.key_pem),
    )
}

fn start(lab: &Lab, program: &str, args: &[&str], port: u16) -> Proxy {
    let child = Command::new(program)
        .args(args)
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("HOME", lab.path("home"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(lab.path("proxy.log")).unwrap())
        .spawn();
    let child = child.unwrap_or_else(|error| match error.kind() {
        ErrorKind::NotFound => panic!("{program} is not installed: scripts/test installs it"),
        _ => panic!("{program}: {error}"),
    });
    Proxy { child, port }
}

/// The recipe as it is shipped, with the names and places of this test.
fn nginx(lab: &Lab) -> Proxy {
    let port = free_port();
    let (_, certificate, key) = files(lab);
    let site = recipe("proxies/nginx.conf")
        .replace("void.example.com.pem", "\u{1}")
        .replace("void.example.com.key", "\u{2}")
        .replace("/etc/ssl/\u{1}", certificate.to_str().unwrap())
        .replace("/etc/ssl/\u{2}", key.to_str().unwrap())
        .replace("void.example.com", "localhost")
        .replace("listen 443 ssl", &format!("listen 127.0.0.1:{port} ssl"))
        .replace("127.0.0.1:3000", &lab.address.to_string());
    let folder = lab.path("nginx");
    fs::create_dir(&folder).unwrap();
    let all = format!(
        "daemon off; worker_processes 1; pid {0}/pid; error_log stderr;\nevents {{}}\nhttp {{ access_log off; \
         client_body_temp_path {0}/a; proxy_temp_path {0}/b; fastcgi_temp_path {0}/c; uwsgi_temp_path {0}/d; \
         scgi_temp_path {0}/e;\n{site}\n}}\n",
        folder.display()
    );
    let path = folder.join("nginx.conf");
    fs::write(&path, all).unwrap();
    start(lab, "nginx", &["-c", path.to_str().unwrap()], port)
}

fn caddy(lab: &Lab) -> Proxy {
    let port = free_port();
    let (_, certificate, key) = files(lab);
    let site = recipe("proxies/Caddyfile")
        .replace("public_url = \"https://void.example.com\"", "public_url")
        .replace(
            "void.example.com {",
            &format!(
                "https://localhost:{port} {{\n\tbind 127.0.0.1\n\ttls {} {}",
                certificate.display(),
                key.display()
            ),
        )
        .replace("127.0.0.1:3000", &lab.address.to_string());
    let all = format!("{{\n\tadmin off\n\tauto_https disable_redirects\n}}\n{site}");
    let path = lab.path("Caddyfile");
    fs::write(&path, all).unwrap();
    let config = path.to_str().unwrap();
    start(
        lab,
        "caddy",
        &["run", "--adapter", "caddyfile", "--config", config],
        port,
    )
}

/// Events come through as they happen, and a decision goes the other way, over TLS and the recipe as shipped.
fn works_through(make: fn(&Lab) -> Proxy) {
    let mut lab = Lab::new();
    let proxy = make(&lab);
    let url = format!("https://localhost:{}", proxy.port);
    let _server = lab.serve(&[("VOID_PUBLIC_URL", &url)]);
    let authority = lab.path("authority.pem").display().to_string();
    lab.environment
        .push(("SSL_CERT_FILE".to_owned(), authority));
    let log = || fs::read_to_string(lab.path("proxy.log")).unwrap_or_default();
    eventually_blocking("the proxy to pass requests on", || {
        let asked = lab.void(&["--url", &url, "status", "--json"]);
        asked.status.success().then_some(())
    });
    let following = lab.start(&["--url", &url, "--json", "inbox", "watch"]);
    // The stream is open when something that happens now is heard.
    let heard = |kind: &str| following.lines().iter().any(|line| line.contains(kind));
    eventually_blocking(&format!("events through the proxy {}", log()), || {
        lab.void(&["--url", &url, "freeze", "--reason", "a try"]);
        lab.void(&["--url", &url, "thaw"]);
        heard("freeze.changed").then_some(())
    });
    let asked = lab.json(&["--url", &url, "--json", "run", "risky-one"], 7);
    let id = asked["action_row_id"].as_str().unwrap().to_owned();
    eventually_blocking("the request through the proxy", || {
        heard("proposal.created").then_some(())
    });
    let ended = lab.json(
        &["--url", &url, "--json", "inbox", "approve", &id, "--yes"],
        9,
    );
    assert_eq!(ended["status"], json!("executed"), "{ended}");
    eventually_blocking("the outcome through the proxy", || {
        heard("proposal.executed").then_some(())
    });
    // It has not been held back by the proxy until the stream ended: it is still open.
    assert_eq!(lab.effects(), ["risky-one"]);
}

#[test]
fn streams_and_decisions_come_through_nginx() {
    works_through(nginx);
}

#[test]
fn streams_and_decisions_come_through_caddy() {
    works_through(caddy);
}
