//! `void provision ssh`: the list, key line, sudoers lines and commands of one host.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::json;
use void_act::{Arg, CountSpec, Entry, LIST_VERSION, List, ParamRef, sudo_command};
use void_domain::actors::ActorKind;
use void_domain::catalogue::{Action, Catalogue, ParamSpec, Tier};
use void_domain::executions::{ActionKind, Guest};
use void_domain::failures::FailureCode;
use void_domain::hosts::{Host, HostName, Reach};
use void_domain::policy;
use void_domain::text;

use super::scripts::Script;
use crate::catalogue;
use crate::commands::{Session, quoted};
use crate::exit::{CommandError, Exit};
use crate::output::Output;

/// Where the Debian package has it, and where a copy goes if there is no package.
const PACKAGED: &str = "/usr/bin/void-act";
const COPIED: &str = "/usr/local/bin/void-act";
const SUDOERS: &str = "void-act";
/// Where an owner's own programs for node kinds are expected on a host.
const OWN_PROGRAMS: &str = "/usr/local/lib/void-act";

pub(super) fn run(session: &Session<'_>, host: &str) -> Result<Exit, CommandError> {
    let catalogue = catalogue::load(&session.settings)?;
    let plan = SshPlan::new(&catalogue, host, session.settings.ssh_key.value.as_deref())?;
    if session.output.json {
        session.output.value(json!({
            "host": plan.host.name,
            "list": plan.list,
            "authorized_keys": {"packaged": plan.key_line(PACKAGED), "copied": plan.key_line(COPIED)},
            "sudoers": plan.sudoers,
            "commands": plan.commands,
        }));
    } else {
        session.output.line(plan.script(session.output));
    }
    Ok(Exit::Done)
}

struct SshPlan {
    host: Host,
    user: String,
    list: List,
    key: String,
    sudoers: Vec<String>,
    commands: Vec<String>,
}

impl SshPlan {
    fn new(catalogue: &Catalogue, name: &str, key: Option<&Path>) -> Result<Self, CommandError> {
        let known = HostName::parse(name).and_then(|name| catalogue.host(&name));
        let Some(host) = known else {
            let near = text::nearest(name, catalogue.hosts().map(|host| host.name.as_str()));
            let problem = CommandError::new(
                FailureCode::NotFound,
                format!("the catalogue has no host \"{}\"", text::escaped(name)),
            );
            return Err(match near {
                Some(near) => problem.next(format!("did you mean {near}?")),
                None => problem.next("void hosts ls"),
            });
        };
        let user = match &host.reach {
            Reach::Ssh(ssh) => ssh.user.clone(),
            Reach::Local => {
                let message = "this machine is reached without SSH";
                return Err(CommandError::usage(message).next("void provision local"));
            }
        };
        let key = public_key(key)?;
        let entries = catalogue
            .actions_on(&host.name)
            .map(|action| entry(action))
            .collect::<Result<Vec<_>, _>>()?;
        let sudoers = sudoers_lines(&user, &entries);
        let list = List {
            version: LIST_VERSION,
            host: host.name.to_string(),
            stop_file: PathBuf::from("/etc/void-act/stop"),
            entries,
        };
        let commands = commands(&user);
        Ok(Self {
            host: host.clone(),
            user,
            list,
            key,
            sudoers,
            commands,
        })
    }

    /// The key starts this program, whatever else is asked for.
    fn key_line(&self, program: &str) -> String {
        format!("restrict,command=\"{program}\" {}", self.key)
    }

    fn script(&self, output: &Output) -> String {
        let (name, user) = (&self.host.name, &self.user);
        let home = PathBuf::from(format!("/var/lib/{user}"));
        let mut script = Script::new(&format!(
            "For {name}: install the package void-act there, or copy void-act of this release beside this; then run it there as root.\n# Made from the catalogue; run it again after every change of it."
        ));
        script.step("installing void-act");
        let mut commands = self.commands.iter();
        if let Some(install) = commands.next() {
            script.line(install);
        }
        script.step("making the account");
        for command in commands {
            script.line(command);
        }
        script.step("writing the list");
        script.list(Path::new(void_act::LIST_PATH), &self.list);
        script.step("writing the sudoers lines");
        script.sudoers(SUDOERS, &self.sudoers);
        script.step("writing the key line");
        let ssh = home.join(".ssh");
        script.line(format!(
            "install -d -m 0755 -o root -g root {}",
            ssh.display()
        ));
        let key_line = format!(
            "printf 'restrict,command=\"%s\" %s\\n' \"$act\" {}",
            quoted(&self.key)
        );
        script.file_from(&ssh.join("authorized_keys"), "0644", &key_line);
        script.step("having void-act check the list");
        script.line("\"$act\" --check");
        script.step("reading the host key");
        script.line("ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub");
        let trust = output.typed(&format!("void hosts trust {name} --fingerprint SHA256:…"));
        script.done(&format!(
            "Done: {name} has void-act, its list and its key line. Next, where Void is, if that fingerprint is the same: {trust}"
        ))
    }
}

/// The first one says where void-act is, as `$act`.
fn commands(user: &str) -> Vec<String> {
    let home = format!("/var/lib/{user}");
    vec![
        format!(
            "act={PACKAGED}
if [ ! -x \"$act\" ]; then
  [ -f void-act ] || {{ echo 'here is neither the package void-act nor, in this folder, a copy of void-act' >&2; exit 1; }}
  act={COPIED}
  install -m 0755 -o root -g root void-act \"$act\"
fi"
        ),
        format!(
            "id -u {user} >/dev/null 2>&1 || useradd --system --home-dir {home} --no-create-home --shell \"$act\" {user}"
        ),
        // Its keys are written whole: whoever else signs in with that account would be locked out.
        format!(
            "[ \"$(getent passwd {user} | cut -d: -f6)\" = {home} ] || {{ echo 'the account {user} has a home of its own here, not {home}: \
             Void wants an account that is its alone; write another \"user\" for this host into the catalogue' >&2; exit 1; }}"
        ),
        // The one of these that is gone may have been its shell, which starts the forced command.
        format!(
            "case \"$(getent passwd {user} | cut -d: -f7)\" in {PACKAGED}|{COPIED}) usermod --shell \"$act\" {user} ;; esac"
        ),
        // An account that was never given a password begins with ! and is locked; an sshd without PAM turns that
        // away. With * no password fits either, and the key works. What root locked on purpose stays locked.
        format!(
            "case \"$(getent shadow {user} | cut -d: -f2)\" in '!'|'!!'|'!*') usermod -p '*' {user} ;; esac"
        ),
        format!("install -d -m 0755 -o root -g root {home}"),
        format!(
            "install -d -m 0700 -o {user} -g \"$(id -g {user})\" {}",
            void_act::STATE_DIR
        ),
    ]
}

pub(super) fn entry(action: &Action) -> Result<Entry, CommandError> {
    let argv = match &action.execution.kind {
        ActionKind::ServiceRestart { service, .. } => fixed(&[
            "/usr/bin/sudo",
            "-n",
            "/usr/bin/systemctl",
            "restart",
            service,
        ]),
        ActionKind::GuestPower { power, .. } => {
            let program = match power.guest {
                Guest::Lxc => "/usr/sbin/pct",
                Guest::Qemu => "/usr/sbin/qm",
            };
            fixed(&[
                "/usr/bin/sudo",
                "-n",
                program,
                power.op.as_str(),
                &power.vmid.to_string(),
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
    let id = void_act::ActionId::parse(action.id.as_str()).ok_or_else(|| no_id(action))?;
    Ok(Entry {
        id,
        argv,
        tier: match action.tier {
            Tier::Safe => void_act::Tier::Safe,
            Tier::Risky => void_act::Tier::Risky,
        },
        def: Some(action.exec_digest().to_string()),
        // A written one holds for every ticket. The default does not bind the owner, and the host cannot
        // tell whose ticket it sees: there it holds for whoever comes without one.
        cooldown_s: action
            .cooldown
            .filter(|cooldown| !cooldown.is_zero())
            .and_then(|cooldown| number(cooldown.as_secs())),
        bare_cooldown_s: match action.cooldown {
            None => policy::cooldown(None, action.tier, ActorKind::Agent)
                .and_then(|cooldown| number(cooldown.as_secs())),
            Some(_) => None,
        },
        max_per_hour: action.max_per_hour,
        max_per_day: None,
        timeout_s: number(action.execution.timeout.as_secs()),
        params: action
            .params
            .iter()
            .map(|(name, spec)| (name.to_owned(), param(spec)))
            .collect::<BTreeMap<_, _>>(),
        env: BTreeMap::new(),
        record: None,
        count: (action.execution.replicas_param.as_ref())
            .and_then(|param| count(action, OWN_PROGRAMS, param)),
        signed: false,
    })
}

fn no_id(action: &Action) -> CommandError {
    let message = format!("{} is no id for a host", action.id);
    CommandError::failed(FailureCode::Internal, message)
}

/// Looks how many copies run once a `scale` has run.
pub(super) fn count(action: &Action, programs: &str, param: &str) -> Option<CountSpec> {
    let ActionKind::OnNode { service, .. } = &action.execution.kind else {
        return None;
    };
    Some(CountSpec {
        argv: vec![format!("{programs}/running"), service.clone()],
        param: param.to_owned(),
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

/// Exactly these argvs without a password, for exactly this account.
pub(super) fn sudoers_lines(user: &str, entries: &[Entry]) -> Vec<String> {
    let line = |entry: &Entry| {
        // In sudoers, these mean something; a backslash takes that away.
        let escaped = |word: &str| {
            word.replace('\\', "\\\\")
                .replace(':', "\\:")
                .replace(',', "\\,")
                .replace('=', "\\=")
        };
        let command: Vec<String> = sudo_command(entry)?.into_iter().map(escaped).collect();
        Some(format!("{user} ALL=(root) NOPASSWD: {}", command.join(" ")))
    };
    let lines: BTreeSet<String> = entries.iter().filter_map(line).collect();
    lines.into_iter().collect()
}

/// The public half of the key that Void connects with. Without one the account would be open to nobody.
fn public_key(key: Option<&Path>) -> Result<String, CommandError> {
    let make = "ssh-keygen -t ed25519 -N '' -f FILE, then key = \"FILE\" under [ssh] in void.toml, and void reload";
    let Some(key) = key else {
        return Err(CommandError::config("there is no key that Void could come with").next(make));
    };
    let mut file = key.as_os_str().to_owned();
    file.push(".pub");
    let file = PathBuf::from(file);
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let line = text.lines().next().unwrap_or_default().trim();
    let kinds = ["ssh-", "ecdsa-", "sk-ssh-", "sk-ecdsa-"];
    let is_key = kinds.iter().any(|kind| line.starts_with(kind)) && line.contains(' ');
    if is_key && !line.chars().any(char::is_control) {
        return Ok(line.to_owned());
    }
    let (key, file) = (key.display().to_string(), file.display().to_string());
    let problem = CommandError::config(format!("{file} is no public key"));
    Err(if Path::new(&key).exists() {
        problem.next(format!(
            "ssh-keygen -y -f {} > {}",
            quoted(&key),
            quoted(&file)
        ))
    } else {
        problem.next(make)
    })
}
