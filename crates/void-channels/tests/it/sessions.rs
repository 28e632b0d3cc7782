//! What a session brings along, and that none of it reaches a listed command (SECURITY R-S2 to R-S4).
//! The plain `ssh` client with the restricted key, as a stolen key or an owned server would use it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use void_act::Outcome as Said;
use void_testkit::sshd::Sshd;

use crate::lab::{Lab, Listed, answer, done, failed, is_refused, usual};

/// The whole environment of a listed command.
pub(crate) const ENVIRONMENT: &str =
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n";

pub(crate) fn env_entry() -> Vec<Listed> {
    let mut listed = usual();
    listed.push(Listed::risky("env", json!(["/usr/bin/env"])));
    listed
}

#[tokio::test(flavor = "multi_thread")]
async fn r_s2_no_variable_of_the_client_reaches_the_command() {
    let lab = Lab::new(&env_entry());
    let evil = lab
        .sshd
        .install("evil", "#!/bin/sh\n\"${0%/*}/effect\" evil\n");
    let variables = [
        ("LC_ALL", "tr_TR.UTF-8"),
        ("LC_EVIL", "x"),
        ("LANG", "C"),
        ("TZ", ":/etc/passwd"),
        ("LD_PRELOAD", "/nonexistent.so"),
        ("LD_LIBRARY_PATH", "/nonexistent"),
        ("LD_AUDIT", "/nonexistent.so"),
        ("GLIBC_TUNABLES", "glibc.malloc.check=3"),
        ("MALLOC_CHECK_", "3"),
        ("IFS", "/"),
        ("PS4", "$(id)"),
        ("BASH_ENV", evil.to_str().unwrap()),
        ("ENV", evil.to_str().unwrap()),
        ("SHELLOPTS", "xtrace"),
        ("BASH_FUNC_env%%", "() { id; }"),
        ("PATH", "/nonexistent"),
        ("HOME", "/nonexistent"),
        ("SHELL", "/bin/false"),
        ("SSH_ORIGINAL_COMMAND", "start-it"),
        ("SSH_CONNECTION", "x"),
        ("SSH_CLIENT", "x"),
        ("SSH_TTY", "/dev/tty"),
        ("SSH_AUTH_SOCK", "/nonexistent"),
        ("DISPLAY", ":0"),
        ("TERM", "x"),
        ("SUDO_ASKPASS", evil.to_str().unwrap()),
        ("RUST_BACKTRACE", "full"),
        ("RUST_LOG", "trace"),
        ("PYTHONPATH", "/nonexistent"),
        ("EDITOR", "id"),
    ];
    let mut command = lab.ssh(&["-o", "SendEnv=*"]);
    command.env_clear().envs(variables);
    let output = command.arg(lab.command("env")).output().unwrap();
    let said = answer(&output);
    assert_eq!(said.outcome, Said::Done, "{output:?}");
    assert_eq!(said.stdout.as_deref(), Some(ENVIRONMENT));
    // By the client's own word too, and for every variable that could stand for a command.
    for (name, value) in variables {
        let option = format!("SetEnv={name}=\"{value}\"");
        let output = lab
            .shared(&["-o", &option])
            .arg(lab.command("env"))
            .output()
            .unwrap();
        assert_eq!(
            answer(&output).stdout.as_deref(),
            Some(ENVIRONMENT),
            "{name}"
        );
    }
    // Without a command the variable of that name is all there is. It is worth what a command is
    // worth: a risky action needs its ticket.
    for word in ["stop-it", "sh"] {
        let option = format!("SetEnv=SSH_ORIGINAL_COMMAND={word}");
        let output = lab.ssh(&["-T", "-o", &option]).output().unwrap();
        is_refused(&output);
    }
    // What root wrote into authorized_keys does not reach it either.
    let public = fs::read_to_string(lab.sshd.key.with_extension("pub")).unwrap();
    lab.sshd.authorize(&format!(
        "restrict,environment=\"LD_X=1\",environment=\"BASH_ENV={}\",command=\"{}\" {public}",
        evil.display(),
        lab.sshd.void_act()
    ));
    let output = lab.ssh(&[]).arg(lab.command("env")).output().unwrap();
    assert_eq!(answer(&output).stdout.as_deref(), Some(ENVIRONMENT));
    assert_eq!(lab.effects(), [""; 0]);
}

/// Files of the account's home that shells and sshd read at a login.
fn write_home(lab: &Lab) {
    let home = lab.sshd.path("home");
    fs::create_dir(home.join(".ssh")).unwrap();
    let trace = |name: &str| format!("\"{}\" {name}\n", lab.sshd.path("effect").display());
    for name in [
        ".bashrc",
        ".profile",
        ".bash_profile",
        ".bash_login",
        ".shrc",
        ".ssh/rc",
    ] {
        let path = home.join(name);
        fs::write(&path, trace(name)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let environment = format!(
        "BASH_ENV={0}\nENV={0}\nLD_X=1\n",
        home.join(".shrc").display()
    );
    fs::write(home.join(".ssh/environment"), environment).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn r_s3_files_of_the_accounts_home_are_not_read() {
    let lab = Lab::behind(Sshd::with_home("/bin/sh"), &env_entry());
    write_home(&lab);
    let result = done(lab.run("env").await);
    assert_eq!(result["stdout"], json!(ENVIRONMENT));
    done(lab.run("stop-it").await);
    is_refused(&lab.say("sh"));
    is_refused(&lab.ssh(&["-T"]).output().unwrap());
    assert_eq!(lab.effects(), ["@/effect|stop|"]);
}

/// Why the account's shell is not bash: it reads `.bashrc` for sshd. Even then the listed command is
/// what it is, and an answer that is not only ours is no answer.
#[tokio::test(flavor = "multi_thread")]
async fn r_s3_a_shell_that_reads_its_files_changes_no_command() {
    let lab = Lab::behind(Sshd::with_home("/bin/bash"), &env_entry());
    write_home(&lab);
    let result = done(lab.run("env").await);
    assert_eq!(result["stdout"], json!(ENVIRONMENT));
    let mut others = lab.effects();
    assert!(
        others.contains(&"@/effect|.bashrc|".to_owned()),
        "{others:?}"
    );
    others.retain(|line| !line.contains(".bashrc") && !line.contains(".shrc"));
    assert_eq!(others, [""; 0]);
    let noisy = lab.sshd.path("home/.bashrc");
    fs::write(noisy, "echo '{\"v\":1,\"outcome\":\"done\"}'\n").unwrap();
    failed(lab.run("stop-it").await, "no_answer");
    assert!(!lab.effects().contains(&"@/effect|stop|".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn r_s4_file_transfer_and_subsystems_are_refused() {
    let lab = Lab::new(&usual());
    let secret = lab.sshd.write("secret", "secret", 0o644);
    for subsystem in ["sftp", "netconf", "stop-it", "void-list"] {
        let output = lab.ssh(&["-s"]).arg(subsystem).output().unwrap();
        assert!(!output.status.success(), "{output:?}");
        assert!(!output.stdout.windows(6).any(|part| part == b"secret"));
    }
    let copy = lab.client.path().join("copy");
    let remote = |path: &Path| format!("{}@127.0.0.1:{}", lab.sshd.account(), path.display());
    let upload = lab.sshd.work().join("upload");
    fs::write(lab.client.path().join("evil"), "evil").unwrap();
    let evil = lab.client.path().join("evil").display().to_string();
    for old in [true, false] {
        let transfers = [
            (remote(&secret), copy.display().to_string()),
            (evil.clone(), remote(&upload)),
        ];
        for (from, to) in transfers {
            let mut scp = Command::new("/usr/bin/scp");
            if old {
                scp.arg("-O");
            }
            let output = scp
                .args(plain_options(&lab, "-P"))
                .args([from, to])
                .output()
                .unwrap();
            assert!(!output.status.success(), "{output:?}");
        }
    }
    let mut sftp = Command::new("/usr/bin/sftp");
    let batch = lab.client.path().join("batch");
    fs::write(
        &batch,
        format!("get {} {}\n", secret.display(), copy.display()),
    )
    .unwrap();
    sftp.args(plain_options(&lab, "-P")).arg("-b").arg(&batch);
    let output = sftp
        .arg(format!("{}@127.0.0.1", lab.sshd.account()))
        .output()
        .unwrap();
    assert!(!output.status.success(), "{output:?}");
    assert!(!copy.exists() && !upload.exists());
    assert_eq!(lab.effects(), [""; 0]);
}

/// For the relatives of `ssh`, which spell the port otherwise.
fn plain_options(lab: &Lab, port: &str) -> Vec<String> {
    let _ = lab.ssh(&[]);
    let known = lab.client.path().join("plain_known_hosts");
    let words = [
        "-F",
        "none",
        "-o",
        "BatchMode=yes",
        "-o",
        "IdentitiesOnly=yes",
        "-o",
        "HostKeyAlias=lab",
        "-o",
        &format!("UserKnownHostsFile={}", known.display()),
        "-i",
        lab.sshd.key.to_str().unwrap(),
        port,
        &lab.sshd.port.to_string(),
    ];
    words.map(str::to_owned).to_vec()
}
