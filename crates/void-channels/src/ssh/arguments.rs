//! The arguments of `ssh`: all of them, so that nothing is left to anybody's configuration.

use std::ffi::OsString;
use std::path::Path;

use void_domain::hosts::{HostName, SshAddress};

const CONNECT_SECONDS: u64 = 10;
/// How long an idle connection is kept; it also bounds how long one outlives a killed server.
const PERSIST_SECONDS: u64 = 60;

/// The arguments that open a connection and leave it in the background.
pub(super) fn connecting(
    host: &HostName,
    address: &SshAddress,
    socket: &Path,
    key: &Path,
    known_hosts: &Path,
) -> Vec<OsString> {
    let options = [
        "ControlMaster=yes".to_owned(),
        format!("ControlPersist={PERSIST_SECONDS}"),
        format!("UserKnownHostsFile={}", known_hosts.display()),
        format!("IdentityFile={}", key.display()),
    ];
    arguments(&["-N", "-f"], &options, host, address, socket)
}

/// The arguments that send a command over an open connection. This `ssh` has no key and knows no
/// host: where the connection is gone it would otherwise make one of its own and send the command
/// once more.
pub(super) fn sending(host: &HostName, address: &SshAddress, socket: &Path) -> Vec<OsString> {
    let options = [
        "ControlMaster=no".to_owned(),
        "UserKnownHostsFile=/dev/null".to_owned(),
        "IdentityFile=none".to_owned(),
    ];
    arguments(&[], &options, host, address, socket)
}

fn arguments(
    flags: &[&str],
    options: &[String],
    host: &HostName,
    address: &SshAddress,
    socket: &Path,
) -> Vec<OsString> {
    let mut args: Vec<OsString> = ["-F", "none", "-T"].map(OsString::from).to_vec();
    args.extend(flags.iter().map(OsString::from));
    let fixed = [
        "BatchMode=yes".to_owned(),
        "IdentitiesOnly=yes".to_owned(),
        "PreferredAuthentications=publickey".to_owned(),
        "StrictHostKeyChecking=yes".to_owned(),
        "GlobalKnownHostsFile=/dev/null".to_owned(),
        format!("HostKeyAlias={host}"),
        "UpdateHostKeys=no".to_owned(),
        "VerifyHostKeyDNS=no".to_owned(),
        "CheckHostIP=no".to_owned(),
        "ClearAllForwardings=yes".to_owned(),
        "ForwardAgent=no".to_owned(),
        "ForwardX11=no".to_owned(),
        "PermitLocalCommand=no".to_owned(),
        "ProxyCommand=none".to_owned(),
        "ProxyJump=none".to_owned(),
        "CanonicalizeHostname=no".to_owned(),
        "AddKeysToAgent=no".to_owned(),
        "IdentityAgent=none".to_owned(),
        "EscapeChar=none".to_owned(),
        format!("ConnectTimeout={CONNECT_SECONDS}"),
        "ServerAliveInterval=10".to_owned(),
        "ServerAliveCountMax=2".to_owned(),
        "LogLevel=ERROR".to_owned(),
    ];
    for option in options.iter().chain(&fixed) {
        args.extend(["-o".into(), option.into()]);
    }
    args.extend(["-p".into(), address.port.to_string().into()]);
    args.extend(["-S".into(), socket.as_os_str().to_owned()]);
    // Whatever follows is a destination and a command, never an option.
    args.extend([
        "--".into(),
        format!("{}@{}", address.user, address.address).into(),
    ]);
    args
}
