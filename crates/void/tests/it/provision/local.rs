//! `"host": "local"` for an ordinary user who does what Void prints, with real sudo, and a machine reached by a real
//! sshd without PAM.

use std::fs;
use std::path::Path;

use serde_json::json;
use void_testkit::{free_port, programs};

use super::machines::Machine;
use crate::lab::VOID;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn action(id: &str, host: &str, service: &str, tier: &str) -> serde_json::Value {
    json!({"id": id, "kind": "service_restart", "host": host, "service": service, "tier": tier, "cooldown_s": 0})
}

/// Everything a person types, as the account that runs Void; the answers go into files.
const OLIVIA: &str = r#"
useradd -M -d "$W/home" olivia
install -d -o olivia -m 0700 "$W/home" "$W/home/data"
olivia="setpriv --reuid=olivia --regid=olivia --clear-groups env -i PATH=/usr/bin:/bin VOID_DATA=$W/home/data \
  VOID_LISTEN=127.0.0.1:$PORT ACTIONS_CONFIG=$W/actions.json SERVICES_CONFIG="
as() { $olivia "$@"; }
# Not by the function, which would leave the server behind when it is ended.
$olivia "$W/void" serve >"$W/log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; wait $server' EXIT
for i in $(seq 300); do as "$W/void" status >/dev/null 2>&1 && break; sleep 0.1; done
ask() { name=$1; shift; code=0; as "$W/void" "$@" >"$W/$name" 2>&1 || code=$?; echo "exit $code" >>"$W/$name"; }
"#;

#[test]
fn an_ordinary_user_follows_what_is_printed_and_it_works() {
    let machine = Machine::new();
    machine.copy(Path::new(VOID), "void");
    let catalogue = json!({"hosts": {}, "actions": [
        action("restart-caddy", "local", "caddy", "safe"),
        action("restart-wg", "local", "wg-quick@wg0:1.service", "risky"),
    ]});
    machine.write("actions.json", &catalogue.to_string(), 0o644);
    let script = format!(
        "PORT={}\n{OLIVIA}\n{}",
        free_port(),
        r#"
ask first run restart-caddy
ask before hosts check local
ask doctor-before doctor
as "$W/void" provision local >"$W/local.sh"
as "$W/void" provision local --json >"$W/plan.json"
# As the user it changes nothing, and says so.
as sh "$W/local.sh" >"$W/not-root" 2>&1; echo "exit $?" >>"$W/not-root"
sh "$W/local.sh" >"$W/installed" 2>&1; echo "exit $?" >>"$W/installed"
ask after hosts check local
ask second run restart-caddy
# The file is there, and sudo does not obey it: a later line wants a password.
echo 'olivia ALL=(ALL) ALL' > /etc/sudoers.d/zz-olivia; chmod 0440 /etc/sudoers.d/zz-olivia
ask overridden hosts check local
rm /etc/sudoers.d/zz-olivia
chmod 0666 /etc/sudoers.d/void-local
ask ignored hosts check local
chmod 0440 /etc/sudoers.d/void-local
# A list that no longer fits.
sed -i 's/"restart-wg"/"restart-old"/' /etc/void-act/list.json
as "$W/void" run restart-wg --json >"$W/queued.json" || true
code=$(sed -n 's/.*"code":"\([0-9A-Z]*\)".*/\1/p' "$W/queued.json" | head -1)
ask drift inbox approve "$code" --yes
sed -i 's/"restart-caddy"/"restart-none"/' /etc/void-act/list.json
ask drift-of-safe run restart-caddy
sh "$W/local.sh" >"$W/again" 2>&1; echo "exit $?" >>"$W/again"
ask doctor-after doctor
as sudo -n /usr/bin/systemctl restart nginx >"$W/other" 2>&1 || echo "exit $?" >>"$W/other"
"#
    );
    let ended = machine.run(&script);
    let said = format!(
        "{}{}{}",
        text(&ended.stdout),
        text(&ended.stderr),
        machine.read("log")
    );
    let read = |name: &str| machine.read(name);

    let first = read("first");
    let has_next = |said: &str| {
        said.lines()
            .any(|line| line == "  next: ./void provision local")
    };
    assert!(
        first.contains("void provision local prints what puts it right") && has_next(&first),
        "{first}{said}"
    );
    let before = read("before");
    assert!(
        before.contains("provision local") && before.contains("exit 10"),
        "{before}{said}"
    );
    let doctor = read("doctor-before");
    assert!(doctor.contains("next: ./void provision local"), "{doctor}");

    let not_root = read("not-root");
    assert!(
        not_root.contains("NOT done: ") && not_root.contains("has to be root"),
        "{not_root}"
    );
    let installed = read("installed");
    assert!(
        installed.contains("\nDone: this machine has its list"),
        "{installed}{said}"
    );
    assert!(installed.ends_with("exit 0\n"), "{installed}");

    let after = read("after");
    assert!(
        after.contains("all of it could run") && after.contains("exit 0"),
        "{after}{said}"
    );
    let second = read("second");
    assert!(second.contains("Ran, not confirmed"), "{second}{said}");
    assert_eq!(read("told"), "root: restart caddy\n", "once, and by root");

    let overridden = read("overridden");
    assert!(
        overridden.contains("a later line of sudoers overrides it"),
        "{overridden}"
    );
    assert!(overridden.contains("exit 1"), "{overridden}");
    let ignored = read("ignored");
    assert!(
        ignored.contains("restart-caddy cannot run: sudo does not allow"),
        "{ignored}"
    );
    assert!(
        ignored.contains("next: ") && ignored.contains("provision local"),
        "{ignored}"
    );

    let drift = read("drift");
    assert!(
        drift.contains("this action is not in the host's list"),
        "{drift}{}",
        read("queued.json")
    );
    assert!(
        drift.contains("drift: ")
            && drift.contains("void provision local prints what puts it right"),
        "{drift}"
    );
    assert!(has_next(&drift) && !drift.contains("doctor"), "{drift}");
    let drifted = read("drift-of-safe");
    assert!(
        drifted.contains("drift: ") && has_next(&drifted) && !drifted.contains("doctor"),
        "{drifted}"
    );
    assert!(read("again").ends_with("exit 0\n"), "{}", read("again"));
    let doctor = read("doctor-after");
    assert!(
        doctor.contains("local: reachable, its list is as the catalogue says and could run"),
        "{doctor}"
    );
    assert!(
        read("other").contains("a password is required"),
        "{}",
        read("other")
    );
    assert_eq!(read("told"), "root: restart caddy\n");
    // What the plan says is what was written.
    let plan: serde_json::Value = serde_json::from_str(&read("plan.json")).unwrap();
    assert_eq!(plan["account"], json!("olivia"));
    let lines: Vec<&str> = plan["sudoers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line.as_str().unwrap())
        .collect();
    let written = fs::read_to_string(machine.path("etc/sudoers.d/void-local")).unwrap();
    assert_eq!(written.lines().collect::<Vec<_>>(), lines);
}

/// As a service of the machine Void can gain no privilege, so sudo is of no use to it until its unit says otherwise.
#[test]
fn a_confined_service_is_told_why_sudo_does_not_work_and_the_script_lets_it() {
    let machine = Machine::new();
    machine.copy(Path::new(VOID), "void");
    let catalogue =
        json!({"hosts": {}, "actions": [action("restart-caddy", "local", "caddy", "safe")]});
    machine.write("actions.json", &catalogue.to_string(), 0o644);
    let script = format!(
        "PORT={}\n{}",
        free_port(),
        OLIVIA.replace("--clear-groups", "--clear-groups $confined")
    );
    let script = format!(
        "confined=--no-new-privs\n{script}\nconfined=\n{}",
        r#"
as "$W/void" provision local >"$W/local.sh"
sh "$W/local.sh" >"$W/without" 2>&1; echo "exit $?" >>"$W/without"
ask confined hosts check local
ls /etc/systemd/system/void.service.d >"$W/no-unit" 2>&1
mkdir -p /etc/systemd/system
printf '[Service]\nUser=somebody\n' > /etc/systemd/system/void.service
sh "$W/local.sh" >"$W/another" 2>&1
ls /etc/systemd/system/void.service.d >>"$W/no-unit" 2>&1
printf '[Service]\nUser=olivia\n' > /etc/systemd/system/void.service
sh "$W/local.sh" >"$W/installed" 2>&1; echo "exit $?" >>"$W/installed"
sh "$W/local.sh" >>"$W/installed" 2>&1; echo "exit $?" >>"$W/installed"
"#
    );
    let ended = machine.run(&script);
    let said = text(&ended.stderr) + &machine.read("log");
    let without = machine.read("without");
    assert!(without.ends_with("exit 0\n"), "{without}{said}");
    let confined = machine.read("confined");
    assert!(
        confined.contains("sudo cannot run /usr/bin/systemctl restart caddy: the unit of this process says NoNewPrivileges"),
        "{confined}{said}"
    );
    let none = machine.read("no-unit");
    assert_eq!(none.matches("No such file").count(), 2, "{none}");
    let installed = machine.read("installed");
    assert_eq!(
        installed.matches("systemctl restart void").count(),
        2,
        "{installed}"
    );
    assert_eq!(installed.matches("exit 0").count(), 2, "{installed}");
    let written = machine.path("etc/systemd/system/void.service.d/void-local.conf");
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/void-local.conf");
    assert_eq!(
        fs::read_to_string(written).unwrap(),
        fs::read_to_string(shipped).unwrap()
    );
    assert_eq!(
        machine.read("told"),
        "root: daemon-reload\nroot: daemon-reload\n"
    );
}

/// A script that fails says where, and leaves what was there.
#[test]
fn a_script_that_fails_says_what_and_changes_nothing_after_it() {
    let machine = Machine::new();
    machine.copy(Path::new(VOID), "void");
    let catalogue =
        json!({"hosts": {}, "actions": [action("restart-caddy", "local", "caddy", "safe")]});
    machine.write("actions.json", &catalogue.to_string(), 0o644);
    let script = r#"
export VOID_DATA="$W/data" ACTIONS_CONFIG="$W/actions.json"
useradd -M olivia; mkdir "$W/data"; chown olivia "$W/data"
"$W/void" provision local >"$W/local.sh" || exit 9
# The list of a machine that is reached by SSH is not overwritten.
mkdir /etc/void-act; echo '{"host":"ct100"}' >/etc/void-act/list.json
sh "$W/local.sh" >"$W/other-host" 2>&1; echo "exit $?" >>"$W/other-host"
cp /etc/void-act/list.json "$W/kept.json"; rm /etc/void-act/list.json
# sudoers lines that visudo refuses are never in force.
sed 's/NOPASSWD: /NOPASSWD: ,,/' "$W/local.sh" >"$W/broken.sh"
sh "$W/broken.sh" >"$W/refused" 2>&1; echo "exit $?" >>"$W/refused"
ls /etc/sudoers.d >"$W/sudoers"
sudo -n true && echo sudo works >>"$W/refused"
"$W/void" provision local --user nobody-there 2>"$W/unknown"; echo "exit $?" >>"$W/unknown"
"#;
    let ended = machine.run(script);
    let said = format!("{}{}", text(&ended.stdout), text(&ended.stderr));
    let other = machine.read("other-host");
    assert!(
        other.contains("is the list of another host"),
        "{other}{said}"
    );
    assert!(
        other.contains("NOT done: it failed while looking at the list"),
        "{other}"
    );
    assert!(
        other.ends_with("exit 1\n") && !other.contains("Done: "),
        "{other}"
    );
    assert_eq!(machine.read("kept.json"), "{\"host\":\"ct100\"}\n");
    let refused = machine.read("refused");
    assert!(
        refused.contains("NOT done: it failed while writing the sudoers lines"),
        "{refused}{said}"
    );
    assert!(refused.contains("sudo works"), "{refused}");
    assert!(
        !machine
            .read("sudoers")
            .lines()
            .any(|name| name == "void-local")
    );
    assert!(
        machine.read("unknown").contains("exit 5"),
        "{}",
        machine.read("unknown")
    );
}

/// useradd leaves an account locked, which an sshd without PAM turns away.
#[test]
fn a_printed_account_lets_the_key_in_where_there_is_no_pam() {
    let machine = Machine::new();
    machine.copy(Path::new(VOID), "void");
    machine.copy(programs::void_act(), "void-act");
    let port = free_port();
    let host = json!({"address": "127.0.0.1", "port": port, "user": "voidpam"});
    let catalogue = json!({"hosts": {"ct100": host}, "actions": [action("restart-caddy", "ct100", "caddy", "safe")]});
    machine.write("actions.json", &catalogue.to_string(), 0o644);
    let script = format!(
        "PORT={port}\n{}",
        r#"
export VOID_DATA="$W/data" ACTIONS_CONFIG="$W/actions.json" ACTIONS_SSH_KEY="$W/key"
mkdir -p /run/sshd "$W/data"
ssh-keygen -q -t ed25519 -N '' -f "$W/key"
rm -f /etc/ssh/ssh_host_ed25519_key*; ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key
"$W/void" provision ssh ct100 >"$W/ct100.sh" || exit 9
sh "$W/ct100.sh" >"$W/installed" 2>&1; echo "exit $?" >>"$W/installed"
getent shadow voidpam | cut -d: -f2 >"$W/password"
/usr/sbin/sshd -D -e -f /dev/null -p $PORT -o UsePAM=no -o ListenAddress=127.0.0.1 -o PidFile=none \
  -o HostKey=/etc/ssh/ssh_host_ed25519_key 2>"$W/sshd.log" &
server=$!
trap 'kill $server; wait $server' EXIT
into() { ssh -F /dev/null -i "$W/key" -p $PORT -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
  -o ConnectionAttempts=20 voidpam@127.0.0.1 "$@" 2>&1 || echo "exit $?"; }
into void-check >"$W/answer"
# What useradd alone leaves.
usermod -p '!' voidpam
into void-check >"$W/locked"
# What root locked on purpose stays locked.
usermod -p '!$6$abc$def' voidpam
sh "$W/ct100.sh" >"$W/again" 2>&1; echo "exit $?" >>"$W/again"
getent shadow voidpam | cut -d: -f2 >"$W/kept"
"#
    );
    let ended = machine.run(&script);
    let said = format!(
        "{}{}{}",
        text(&ended.stdout),
        text(&ended.stderr),
        machine.read("sshd.log")
    );
    let installed = machine.read("installed");
    assert!(
        installed.contains("\nDone: ct100 has void-act") && installed.ends_with("exit 0\n"),
        "{installed}{said}"
    );
    assert_eq!(machine.read("password"), "*\n");
    let answer = machine.read("answer");
    assert!(
        answer.contains("\"outcome\":\"done\"") && answer.contains("\"cannot\":{}"),
        "{answer}{said}"
    );
    assert!(
        !machine.read("locked").contains("outcome"),
        "{}",
        machine.read("locked")
    );
    assert!(
        machine.read("again").ends_with("exit 0\n"),
        "{}",
        machine.read("again")
    );
    assert_eq!(machine.read("kept"), "!$6$abc$def\n");
}

/// The Debian package has its program in `/usr/bin`; without a package a copy goes to `/usr/local/bin`.
#[test]
fn the_key_starts_the_void_act_that_is_there() {
    let machine = Machine::new();
    machine.copy(Path::new(VOID), "void");
    machine.copy(programs::void_act(), "release");
    let catalogue = json!({"hosts": {"ct100": {"address": "192.0.2.1", "user": "voidpkg"}},
        "actions": [action("restart-caddy", "ct100", "caddy", "safe")]});
    machine.write("actions.json", &catalogue.to_string(), 0o644);
    let script = r#"
export VOID_DATA="$W/data" ACTIONS_CONFIG="$W/actions.json" ACTIONS_SSH_KEY="$W/key"
mkdir "$W/data" "$W/layer"
mount -t tmpfs tmpfs "$W/layer"; mkdir "$W/layer/upper" "$W/layer/work"
mount -t overlay overlay -o "lowerdir=/usr/bin,upperdir=$W/layer/upper,workdir=$W/layer/work" /usr/bin
rm -f /usr/bin/void-act
ssh-keygen -q -t ed25519 -N '' -C 'a key of $act and '"'"'quotes' -f "$W/key"
rm -f /etc/ssh/ssh_host_ed25519_key*; ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key
"$W/void" provision ssh ct100 >"$W/ct100.sh" || exit 9
go() {
  sh "$W/ct100.sh" >"$W/$1" 2>&1; echo "exit $?" >>"$W/$1"
  getent passwd voidpkg | cut -d: -f7 >>"$W/$1"
  cat /var/lib/voidpkg/.ssh/authorized_keys >>"$W/$1" 2>/dev/null
}
go none
install -m 0755 release /usr/bin/void-act
go packaged
rm /usr/bin/void-act; cp release void-act
go copied
install -m 0755 release /usr/bin/void-act
go packaged-later
# An account that somebody gave a shell of its own keeps it.
usermod --shell /bin/sh voidpkg
go own-shell
# One with another home is somebody's: its keys are not replaced.
usermod --home /home/somebody voidpkg
go own-home
"#;
    let ended = machine.run(script);
    let said = format!("{}{}", text(&ended.stdout), text(&ended.stderr));
    let none = machine.read("none");
    assert!(
        none.contains("neither the package void-act nor")
            && none.contains("NOT done: it failed while installing void-act")
            && none.ends_with("exit 1\n"),
        "{none}{said}"
    );
    let key = machine.read("key.pub");
    for (name, program, shell) in [
        ("packaged", "/usr/bin/void-act", "/usr/bin/void-act"),
        (
            "copied",
            "/usr/local/bin/void-act",
            "/usr/local/bin/void-act",
        ),
        ("packaged-later", "/usr/bin/void-act", "/usr/bin/void-act"),
        ("own-shell", "/usr/bin/void-act", "/bin/sh"),
    ] {
        let seen = machine.read(name);
        let ending = format!("exit 0\n{shell}\nrestrict,command=\"{program}\" {key}");
        assert!(
            seen.contains("\nDone: ct100 has void-act") && seen.ends_with(&ending),
            "{name}: {seen}{said}"
        );
    }
    let own_home = machine.read("own-home");
    assert!(
        own_home.contains("voidpkg has a home of its own here")
            && own_home.contains("NOT done: it failed while making the account")
            && own_home.contains("exit 1\n"),
        "{own_home}{said}"
    );
}
