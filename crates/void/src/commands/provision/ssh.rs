//! `void provision ssh`: the list, key line, sudoers lines and commands of one host.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::json;
use void_act::{Arg, Entry, LIST_VERSION, List, ParamRef};
use void_domain::catalogue::{Action, ActionKind, Catalogue, Guest, ParamSpec, Tier};
use void_domain::hosts::{Host, HostName, Reach, SshAddress};
use void_domain::text;

use crate::catalogue;
use crate::commands::Session;
use crate::exit::{Exit, Problem};

const PROGRAM: &str = "/usr/local/bin/void-act";
/// Where an owner's own programs for node kinds are expected on a host.
const OWN_PROGRAMS: &str = "/usr/local/lib/void-act";

pub(super) fn run(session: &Session<'_>, host: &str) -> Result<Exit, Problem> {
    let catalogue = catalogue::load(&session.settings)?;
    let plan = Plan::new(&catalogue, host, session.settings.ssh_key.value.as_deref())?;
    if session.output.json {
        session.output.value(json!({
            "host": plan.host.name,
            "list": plan.list,
            "authorized_keys": plan.authorized_keys,
            "sudoers": plan.sudoers,
            "commands": plan.commands,
        }));
    } else {
        session.output.line(plan.script());
    }
    Ok(Exit::Done)
}

struct Plan {
    host: Host,
    user: String,
    list: List,
    authorized_keys: String,
    sudoers: Vec<String>,
    commands: Vec<String>,
}

impl Plan {
    fn new(catalogue: &Catalogue, name: &str, key: Option<&Path>) -> Result<Self, Problem> {
        let known = HostName::parse(name).and_then(|name| catalogue.host(&name));
        let Some(host) = known else {
            let near = text::nearest(name, catalogue.hosts().map(|host| host.name.as_str()));
            let problem = Problem::new(
                Exit::NotFound,
                "not_found",
                format!("the catalogue has no host \"{}\"", text::escaped(name)),
            );
            return Err(match near {
                Some(near) => problem.next(format!("did you mean {near}?")),
                None => problem.next("void hosts ls"),
            });
        };
        let user = match &host.reach {
            Reach::Ssh(ssh) => ssh.user.clone(),
            Reach::Local => SshAddress::USER.to_owned(),
        };
        let entries = catalogue
            .actions_on(&host.name)
            .map(|action| entry(action))
            .collect::<Result<Vec<_>, _>>()?;
        let mut sudoers: Vec<String> = entries
            .iter()
            .filter_map(|entry| sudoers_line(&user, entry))
            .collect();
        sudoers.dedup();
        let list = List {
            version: LIST_VERSION,
            host: host.name.to_string(),
            stop_file: PathBuf::from("/etc/void-act/stop"),
            entries,
        };
        let authorized_keys = format!("restrict,command=\"{PROGRAM}\" {}", public_key(key));
        let commands = commands(host, &user);
        Ok(Self {
            host: host.clone(),
            user,
            list,
            authorized_keys,
            sudoers,
            commands,
        })
    }

    /// One text to paste on the host as root. Here-documents are quoted, so nothing in them expands.
    fn script(&self) -> String {
        let list = serde_json::to_string_pretty(&self.list).unwrap_or_default();
        let sudoers = self.sudoers.join("\n");
        let mut text = format!(
            "# For {}: run this there as root. Made from the catalogue; run it again after every change of it.\n",
            self.host.name
        );
        for command in &self.commands {
            text.push_str(command);
            text.push('\n');
        }
        let home = format!("/var/lib/{}", self.user);
        text.push_str(&format!("\ninstall -d -m 0755 -o root -g root /etc/void-act\ncat > /etc/void-act/list.json <<'VOID'\n{list}\nVOID\nchmod 0644 /etc/void-act/list.json\n"));
        if !sudoers.is_empty() {
            text.push_str(&format!("\ncat > /etc/sudoers.d/void-act <<'VOID'\n{sudoers}\nVOID\nchmod 0440 /etc/sudoers.d/void-act\nvisudo -cf /etc/sudoers.d/void-act\n"));
        }
        if matches!(self.host.reach, Reach::Ssh(_)) {
            text.push_str(&format!("\ninstall -d -m 0755 -o root -g root {home}/.ssh\ncat > {home}/.ssh/authorized_keys <<'VOID'\n{}\nVOID\nchmod 0644 {home}/.ssh/authorized_keys\n", self.authorized_keys));
        }
        text.push_str(&format!("\n{PROGRAM} --check\n\n# Compare this fingerprint, then on Void's machine: void hosts trust {} --fingerprint SHA256:…\nssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub", self.host.name));
        text
    }
}

fn commands(host: &Host, user: &str) -> Vec<String> {
    let home = format!("/var/lib/{user}");
    let mut commands = Vec::new();
    if matches!(host.reach, Reach::Ssh(_)) {
        commands.push(format!("install -m 0755 -o root -g root void-act {PROGRAM}   # the binary of this release, copied here before"));
        commands.push(format!("id -u {user} >/dev/null 2>&1 || useradd --system --home-dir {home} --no-create-home --shell {PROGRAM} {user}"));
        commands.push(format!("install -d -m 0755 -o root -g root {home}"));
    }
    commands.push(format!(
        "install -d -m 0700 -o {user} -g {user} {}",
        void_act::STATE_DIR
    ));
    commands
}

pub(super) fn entry(action: &Action) -> Result<Entry, Problem> {
    let argv = match &action.kind {
        ActionKind::ServiceRestart { service, .. } => fixed(&[
            "/usr/bin/sudo",
            "-n",
            "/usr/bin/systemctl",
            "restart",
            service,
        ]),
        ActionKind::GuestPower {
            vmid, guest, op, ..
        } => {
            let program = match guest {
                Guest::Lxc => "/usr/sbin/pct",
                Guest::Qemu => "/usr/sbin/qm",
            };
            fixed(&[
                "/usr/bin/sudo",
                "-n",
                program,
                op.as_str(),
                &vmid.to_string(),
            ])
        }
        ActionKind::OnNode { op, service, .. } => {
            let mut argv = fixed(&[&format!("{OWN_PROGRAMS}/{}", op.as_str()), service]);
            argv.extend(action.params.iter().map(|(name, _)| {
                Arg::Param(ParamRef {
                    param: name.to_owned(),
                })
            }));
            argv
        }
    };
    let number = |seconds: u64| u32::try_from(seconds).ok();
    let id = void_act::ActionId::parse(action.id.as_str())
        .ok_or_else(|| Problem::failed("internal", format!("{} is no id for a host", action.id)))?;
    Ok(Entry {
        id,
        argv,
        tier: match action.tier {
            Tier::Safe => void_act::Tier::Safe,
            Tier::Risky => void_act::Tier::Risky,
        },
        def: Some(action.exec_digest().to_string()),
        cooldown_s: action
            .cooldown
            .and_then(|cooldown| number(cooldown.as_secs())),
        max_per_hour: action.max_per_hour,
        max_per_day: None,
        timeout_s: number(action.timeout.as_secs()),
        params: action
            .params
            .iter()
            .map(|(name, spec)| (name.to_owned(), param(spec)))
            .collect::<BTreeMap<_, _>>(),
        env: BTreeMap::new(),
        record: None,
        signed: false,
    })
}

pub(super) fn fixed(words: &[&str]) -> Vec<Arg> {
    words
        .iter()
        .map(|word| Arg::Fixed((*word).to_owned()))
        .collect()
}

fn param(spec: &ParamSpec) -> void_act::ParamSpec {
    match spec {
        ParamSpec::Integer { min, max } => void_act::ParamSpec::Integer {
            min: *min,
            max: *max,
        },
        ParamSpec::Enum { values } => void_act::ParamSpec::Enum {
            values: values.clone(),
        },
        ParamSpec::Pattern { pattern, max_len } => void_act::ParamSpec::Pattern {
            pattern: pattern.clone(),
            max_len: *max_len,
        },
    }
}

/// Exactly this argv without a password, for exactly this account.
fn sudoers_line(user: &str, entry: &Entry) -> Option<String> {
    let words: Option<Vec<&str>> = entry
        .argv
        .iter()
        .map(|arg| match arg {
            Arg::Fixed(word) => Some(word.as_str()),
            Arg::Param(_) | Arg::Recorded(_) => None,
        })
        .collect();
    match words?.as_slice() {
        ["/usr/bin/sudo", "-n", command @ ..] => {
            // In sudoers, these mean something; a backslash takes that away.
            let escaped: Vec<String> = command
                .iter()
                .map(|word| {
                    word.replace('\\', "\\\\")
                        .replace([':'], "\\:")
                        .replace(',', "\\,")
                        .replace('=', "\\=")
                })
                .collect();
            Some(format!("{user} ALL=(root) NOPASSWD: {}", escaped.join(" ")))
        }
        _ => None,
    }
}

fn public_key(key: Option<&Path>) -> String {
    let file = key.map(|key| {
        let mut name = key.as_os_str().to_owned();
        name.push(".pub");
        PathBuf::from(name)
    });
    let text = file
        .and_then(|file| std::fs::read_to_string(file).ok())
        .unwrap_or_default();
    match text.lines().next() {
        Some(line) if line.starts_with("ssh-") || line.starts_with("ecdsa-") => line.trim().to_owned(),
        _ => "ssh-ed25519 AAAA… (make a key: ssh-keygen -t ed25519 -N '' -f FILE, and set ACTIONS_SSH_KEY=FILE)".to_owned(),
    }
}
