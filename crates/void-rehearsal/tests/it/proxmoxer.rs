//! Faithfulness: the PyPI package `proxmoxer`, which people use against real clusters, drives every
//! endpoint. What it is asked and expects is in `proxmoxer/drive.py`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use void_rehearsal::proxmox::{Fault, Guest, ProxmoxServer};

use crate::lab;

const REQUIREMENTS: &str = "\
proxmoxer==2.3.0
requests==2.34.2
certifi==2026.10.18
charset-normalizer==3.5.2
idna==3.20
urllib3==2.8.0
";

#[test]
fn proxmoxer_finds_a_proxmox() {
    let mut config = lab::config();
    config.guests.extend([
        Guest::lxc(109, "z", "backed-up").locked("backup"),
        Guest::qemu(106, "z", "deaf").running().ignoring_shutdown(),
    ]);
    let server = ProxmoxServer::start(config).unwrap();
    server.faults().always(
        Fault::storage_offline("nas"),
        "/nodes/y/lxc/201/status/reboot",
    );
    server
        .faults()
        .always(Fault::ServerError("broken".to_owned()), "/nodes/y/status");
    server
        .faults()
        .always(Fault::ProxyLost, "/nodes/y/lxc/201/status/stop");
    let folder = tempfile::tempdir().unwrap();
    let authority = folder.path().join("pve-root-ca.pem");
    fs::write(&authority, server.ca_pem()).unwrap();
    let output = Command::new(python())
        .args(["-I", "-B"])
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/it/proxmoxer/drive.py"
        ))
        .arg(server.port().to_string())
        .arg(&authority)
        .arg(lab::SECRET)
        .env_clear()
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.ends_with("every endpoint answered as Proxmox does\n"),
        "{said}"
    );
    // 108 started and stopped, 105 started, 104 shut down, 107 rebooted, 106 stopped, 201 stopped.
    assert_eq!(server.effects().len(), 7, "{:#?}", server.effects());
}

/// The interpreter of a virtual environment that is made once per target folder.
fn python() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (folder, done) = (target.join("proxmoxer"), target.join("proxmoxer.done"));
    let interpreter = folder.join("bin/python3");
    let turn = File::create(target.join("proxmoxer.lock")).unwrap();
    turn.lock().unwrap();
    if fs::read_to_string(&done).is_ok_and(|made| made == REQUIREMENTS) && works(&interpreter) {
        return interpreter;
    }
    let _ = fs::remove_dir_all(&folder);
    let made = Command::new("python3")
        .args(["-m", "venv"])
        .arg(&folder)
        .output();
    let made = made.expect("python3 starts: install the Debian packages python3 and python3-venv");
    assert!(
        made.status.success(),
        "python3 -m venv failed: install the Debian package python3-venv (scripts/test does that)\n{}",
        text(&made)
    );
    let requirements = folder.join("requirements.txt");
    fs::write(&requirements, REQUIREMENTS).unwrap();
    let installed = Command::new(&interpreter)
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--requirement",
        ])
        .arg(&requirements)
        .output()
        .unwrap();
    assert!(
        installed.status.success(),
        "pip could not install proxmoxer; it needs PyPI (or PIP_INDEX_URL) the first time\n{}",
        text(&installed)
    );
    fs::write(&done, REQUIREMENTS).unwrap();
    interpreter
}

/// Not so after the system's Python became another one.
fn works(interpreter: &Path) -> bool {
    let tried = Command::new(interpreter)
        .args(["-I", "-B", "-c", "import proxmoxer, requests"])
        .output();
    tried.is_ok_and(|output| output.status.success())
}

fn text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!(
        "{}{}",
        String::from_utf8_lossy(out),
        String::from_utf8_lossy(err)
    )
}
