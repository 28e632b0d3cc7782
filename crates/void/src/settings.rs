//! Settings: flag over environment over file over default, each with its source. Secrets are
//! references, resolved here and held by type.

mod agents;
mod file;
mod notify;
mod secrets;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use void_control::Limits;
use void_domain::budgets::{Rate, TokenBudgets};
use void_domain::catalogue::Lockout;
use void_domain::instances::InstanceName;
use void_domain::limits;
use void_domain::secrets::Secret;

pub(crate) use self::agents::{AgentSettings, BrainKind, ClaudeSettings};
use self::file::FileSettings;
pub(crate) use self::notify::NotifySettings;
pub(crate) use self::secrets::Reference;
use crate::cli::Cli;
use crate::exit::Problem;

/// Where Void listens unless it is told otherwise.
const PORT: u16 = 3000;

/// The environment, read once.
#[derive(Clone)]
pub(crate) struct Environment {
    variables: BTreeMap<String, String>,
    original_command: Option<OsString>,
}

impl Environment {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the environment"
    )]
    pub(crate) fn of_process() -> Self {
        let text = |(name, value): (OsString, OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self {
            variables: std::env::vars_os().filter_map(text).collect(),
            original_command: std::env::var_os("SSH_ORIGINAL_COMMAND"),
        }
    }

    /// Nothing from outside.
    pub(crate) const fn empty() -> Self {
        Self {
            variables: BTreeMap::new(),
            original_command: None,
        }
    }

    #[cfg(test)]
    pub(crate) fn of(variables: &[(&str, &str)]) -> Self {
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        Self {
            variables,
            original_command: None,
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// Set and not empty.
    fn value(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    pub(crate) fn original_command(&self) -> Option<OsString> {
        self.original_command.clone()
    }
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Flag(&'static str),
    Environment(&'static str),
    File,
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => write!(f, "flag {name}"),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::File => f.write_str("settings file"),
            Self::Default => f.write_str("default"),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Sourced<T> {
    pub value: T,
    pub source: Source,
}

#[derive(Clone)]
pub(crate) struct Settings {
    pub config_file: Sourced<PathBuf>,
    pub data: Sourced<PathBuf>,
    pub listen: Sourced<SocketAddr>,
    /// What this instance is called; `None` is the name that its data folder keeps.
    pub instance: Sourced<Option<InstanceName>>,
    /// Start although another instance has another catalogue.
    pub replace_catalogue: bool,
    pub public_url: Sourced<Option<String>>,
    pub allowed_hosts: Sourced<Vec<String>>,
    pub actions: Sourced<PathBuf>,
    pub services: Sourced<PathBuf>,
    pub proxmox: ProxmoxSettings,
    pub database_url: Sourced<Option<Reference>>,
    pub database_ca_file: Sourced<Option<PathBuf>>,
    pub owner_token: Sourced<Option<Reference>>,
    pub ssh_key: Sourced<Option<PathBuf>>,
    pub ssh_program: Sourced<PathBuf>,
    pub ssh_run_folder: Sourced<PathBuf>,
    pub known_hosts: Sourced<PathBuf>,
    pub local_program: Sourced<Option<PathBuf>>,
    pub local_list: Sourced<PathBuf>,
    pub local_state: Sourced<PathBuf>,
    pub local_trust_own_list: Sourced<bool>,
    pub backups: Sourced<bool>,
    pub backups_folder: Sourced<PathBuf>,
    pub bridge_folder: Sourced<Option<PathBuf>>,
    pub bridge_decisions: Sourced<bool>,
    pub limits: Sourced<Limits>,
    pub agents: BTreeMap<String, AgentSettings>,
    pub claude: ClaudeSettings,
    pub little_blue_token: Sourced<Option<Reference>>,
    pub notify: NotifySettings,
    pub lockout: Sourced<Lockout>,
    pub lockout_entries: Vec<String>,
}

#[derive(Clone)]
pub(crate) struct ProxmoxSettings {
    pub url: Sourced<Option<String>>,
    pub token: Sourced<Option<Reference>>,
    pub fingerprint: Sourced<Option<String>>,
    pub ca_file: Sourced<Option<PathBuf>>,
}

/// What one token may use up, as far as the file says so; a burst is ten seconds' worth, or a minute's.
fn token_budgets(file: &file::LimitSettings) -> TokenBudgets {
    let mut budgets = TokenBudgets::default();
    if let Some(per_s) = file.token_requests_per_s {
        budgets.requests = Rate::per_second(per_s, per_s.saturating_mul(10));
    }
    if let Some(per_minute) = file.token_rows_per_minute {
        budgets.rows = Rate {
            per_minute,
            burst: per_minute,
        };
    }
    budgets.streams = file.token_streams.unwrap_or(budgets.streams);
    budgets
}

/// Flags of commands that override a setting.
#[derive(Default)]
pub(crate) struct Flags {
    pub listen: Option<String>,
    pub actions: Option<PathBuf>,
    pub replace_catalogue: bool,
}

/// What is wrong, all of it: whoever corrects one setting should not have to come back for the next.
#[derive(Default)]
pub(crate) struct Wrong(Vec<Problem>);

impl Wrong {
    pub(crate) fn keep<T>(&mut self, read: Result<T, Problem>) -> Option<T> {
        read.map_err(|problem| self.0.push(problem)).ok()
    }

    pub(crate) fn first(&self) -> Option<&Problem> {
        self.0.first()
    }

    /// One problem as it is; several as one with a line for each.
    pub(crate) fn into_problem(mut self) -> Problem {
        if self.0.len() == 1
            && let Some(one) = self.0.pop()
        {
            return one;
        }
        let lines: Vec<String> = self.0.iter().map(Self::line).collect();
        Problem::config(format!(
            "{} things are wrong:\n{}",
            lines.len(),
            lines.join("\n")
        ))
    }

    fn line(problem: &Problem) -> String {
        match &problem.next {
            Some(next) => format!("  {} (next: {next})", problem.message),
            None => format!("  {}", problem.message),
        }
    }
}

impl Settings {
    pub(crate) fn load(
        cli: &Cli,
        flags: Flags,
        environment: &Environment,
    ) -> Result<Self, Problem> {
        let data = data_folder(cli, environment)?;
        let config_file = match &cli.config {
            Some(path) => Sourced {
                value: path.clone(),
                source: Source::Flag("--config"),
            },
            None => Sourced {
                value: data.value.join("void.toml"),
                source: Source::Default,
            },
        };
        let file = FileSettings::read(&config_file.value, config_file.source != Source::Default)?;
        Self::merge(data, config_file, file, flags, environment)
    }

    fn merge(
        data: Sourced<PathBuf>,
        config_file: Sourced<PathBuf>,
        file: FileSettings,
        flags: Flags,
        environment: &Environment,
    ) -> Result<Self, Problem> {
        let beside = config_file
            .value
            .parent()
            .map(Path::to_owned)
            .unwrap_or_default();
        let path = |environment_name: Option<&'static str>,
                    from_file: Option<PathBuf>,
                    default: PathBuf| {
            if let Some(name) = environment_name
                && let Some(value) = environment.value(name)
            {
                return Sourced {
                    value: PathBuf::from(value),
                    source: Source::Environment(name),
                };
            }
            match from_file {
                Some(value) => Sourced {
                    value: beside.join(value),
                    source: Source::File,
                },
                None => Sourced {
                    value: default,
                    source: Source::Default,
                },
            }
        };
        let folder = data.value.clone();
        let mut wrong = Wrong::default();
        let lockout = Lockout::parse(&file.own.guests, &file.own.hosts, &file.own.protected)
            .map_err(|error| Problem::config(format!("{}: {error}", config_file.value.display())));
        let lockout = wrong.keep(lockout);
        let own_given = !(file.own.guests.is_empty()
            && file.own.hosts.is_empty()
            && file.own.protected.is_empty());
        let lockout_entries = [file.own.guests, file.own.hosts, file.own.protected].concat();
        let file_or_default = |given: bool| if given { Source::File } else { Source::Default };
        let defaults = Limits::default();
        let limits = Limits {
            open_proposals: file
                .limits
                .open_proposals
                .unwrap_or(defaults.open_proposals),
            open_proposals_per_agent: file
                .limits
                .open_proposals_per_agent
                .unwrap_or(defaults.open_proposals_per_agent),
            safe_runs_per_agent_hour: wrong
                .keep(safe_runs(file.limits.safe_runs_per_agent_hour))
                .unwrap_or_default(),
            retention: wrong
                .keep(file.retention.read().map_err(Problem::config))
                .unwrap_or_default(),
            lease: file
                .limits
                .lease_s
                .map_or(defaults.lease, Duration::from_secs),
            verify_within: file
                .limits
                .verify_within_s
                .map_or(defaults.verify_within, Duration::from_secs),
            token_budgets: token_budgets(&file.limits),
        };
        let listen = wrong.keep(listen(flags.listen, file.listen, environment));
        let instance = wrong.keep(instance(environment, file.instance));
        let mut secret = |name, from_file, setting| {
            let none = Sourced {
                value: None,
                source: Source::Default,
            };
            let read = wrong.keep(reference(environment, name, from_file, setting));
            read.unwrap_or(none)
        };
        let proxmox_token = secret("PROXMOX_API_TOKEN", file.proxmox.token, "proxmox.token");
        let database_url = secret("VOID_DATABASE_URL", file.database.url, "database.url");
        let owner_token = secret("OWNER_TOKEN", file.owner_token, "owner_token");
        let little_blue_token = secret("LITTLEBLUE_TOKEN", None, "little_blue_token");
        let agents = wrong.keep(agents::merge(file.agents, &data.value, environment));
        let notify = wrong.keep(notify::merge(file.notify, environment));
        let (Some(lockout), Some(listen), Some(instance), Some(agents), Some(notify), None) =
            (lockout, listen, instance, agents, notify, wrong.first())
        else {
            return Err(wrong.into_problem());
        };
        Ok(Self {
            listen,
            instance,
            replace_catalogue: flags.replace_catalogue,
            public_url: optional(environment, "VOID_PUBLIC_URL", file.public_url),
            allowed_hosts: Sourced {
                source: file_or_default(!file.allowed_hosts.is_empty()),
                value: file.allowed_hosts,
            },
            actions: match flags.actions {
                Some(value) => Sourced {
                    value,
                    source: Source::Flag("--actions"),
                },
                None => path(
                    Some("ACTIONS_CONFIG"),
                    file.actions,
                    folder.join("actions.json"),
                ),
            },
            services: path(
                Some("SERVICES_CONFIG"),
                file.services,
                folder.join("services.json"),
            ),
            proxmox: ProxmoxSettings {
                url: optional(environment, "PROXMOX_API_URL", file.proxmox.url),
                token: proxmox_token,
                fingerprint: optional(environment, "PROXMOX_FINGERPRINT", file.proxmox.fingerprint),
                ca_file: given(path(
                    Some("PROXMOX_CA_FILE"),
                    file.proxmox.ca_file,
                    PathBuf::new(),
                )),
            },
            database_url,
            database_ca_file: Sourced {
                source: file_or_default(file.database.ca_file.is_some()),
                value: file.database.ca_file.map(|path| beside.join(path)),
            },
            owner_token,
            ssh_key: given(path(Some("ACTIONS_SSH_KEY"), file.ssh.key, PathBuf::new())),
            ssh_program: path(None, file.ssh.program, PathBuf::from("/usr/bin/ssh")),
            ssh_run_folder: path(None, file.ssh.run_folder, folder.join("run")),
            known_hosts: path(
                Some("VOID_KNOWN_HOSTS"),
                file.ssh.known_hosts,
                folder.join("known_hosts"),
            ),
            local_program: Sourced {
                source: file_or_default(file.local.program.is_some()),
                value: file.local.program.map(|path| beside.join(path)),
            },
            local_list: path(None, file.local.list, PathBuf::from(void_act::LIST_PATH)),
            local_state: path(None, file.local.state, folder.join("void-act")),
            local_trust_own_list: Sourced {
                source: file_or_default(file.local.trust_own_list.is_some()),
                value: file.local.trust_own_list.unwrap_or(false),
            },
            backups: Sourced {
                source: file_or_default(file.backups.enabled.is_some()),
                value: file.backups.enabled.unwrap_or(true),
            },
            backups_folder: path(None, file.backups.folder, folder.join("backups")),
            bridge_folder: given(path(
                Some("VOID_BRIDGE_DIR"),
                file.bridge.dir,
                PathBuf::new(),
            )),
            bridge_decisions: Sourced {
                source: file_or_default(file.bridge.decisions.is_some()),
                value: file.bridge.decisions.unwrap_or(false),
            },
            limits: Sourced {
                source: file_or_default(
                    file.limits.open_proposals.is_some()
                        || file.limits.open_proposals_per_agent.is_some()
                        || file.limits.safe_runs_per_agent_hour.is_some()
                        || file.limits.lease_s.is_some()
                        || file.limits.verify_within_s.is_some()
                        || token_budgets(&file.limits) != defaults.token_budgets,
                ),
                value: limits,
            },
            agents,
            claude: agents::claude(file.claude, environment),
            little_blue_token,
            notify,
            lockout: Sourced {
                value: lockout,
                source: file_or_default(own_given),
            },
            lockout_entries,
            config_file,
            data,
        })
    }

    /// How far the record had come, noted beside the database.
    pub(crate) fn witness_file(&self) -> PathBuf {
        self.data.value.join("witness.json")
    }

    pub(crate) fn database_file(&self) -> PathBuf {
        self.data.value.join("void.db")
    }

    pub(crate) fn owner_token_file(&self) -> PathBuf {
        self.data.value.join("owner.token")
    }

    /// Where the owner's token is, in words for people.
    pub(crate) fn owner_token_source(&self) -> String {
        match &self.owner_token.value {
            Some(Reference::Environment(name)) => name.clone(),
            Some(reference) => reference.to_string(),
            None => self.owner_token_file().display().to_string(),
        }
    }

    /// The owner's token: from the setting, or from the file that the server wrote.
    pub(crate) fn stored_owner_token(
        &self,
        environment: &Environment,
    ) -> Result<Option<Secret>, Problem> {
        if let Some(reference) = &self.owner_token.value {
            return reference.resolve(environment, "owner_token").map(Some);
        }
        match std::fs::read_to_string(self.owner_token_file()) {
            Ok(text) => Ok(Some(Secret::new(text.trim()))),
            Err(_) => Ok(None),
        }
    }
}

fn data_folder(cli: &Cli, environment: &Environment) -> Result<Sourced<PathBuf>, Problem> {
    if let Some(path) = &cli.data {
        return Ok(Sourced {
            value: absolute(path)?,
            source: Source::Flag("--data"),
        });
    }
    if let Some(path) = environment.value("VOID_DATA") {
        return Ok(Sourced {
            value: absolute(Path::new(path))?,
            source: Source::Environment("VOID_DATA"),
        });
    }
    let base = match (
        environment.value("XDG_DATA_HOME"),
        environment.value("HOME"),
    ) {
        (Some(base), _) => PathBuf::from(base),
        (None, Some(home)) => Path::new(home).join(".local/share"),
        (None, None) => {
            return Err(
                Problem::config("there is no home folder to keep data in").next("set VOID_DATA")
            );
        }
    };
    Ok(Sourced {
        value: base.join("void"),
        source: Source::Default,
    })
}

fn absolute(path: &Path) -> Result<PathBuf, Problem> {
    std::path::absolute(path)
        .map_err(|error| Problem::config(format!("{}: {error}", path.display())))
}

fn listen(
    flag: Option<String>,
    file: Option<String>,
    environment: &Environment,
) -> Result<Sourced<SocketAddr>, Problem> {
    let (text, source) = match (flag, environment.value("VOID_LISTEN"), file) {
        (Some(text), _, _) => (text, Source::Flag("--listen")),
        (None, Some(text), _) => (text.to_owned(), Source::Environment("VOID_LISTEN")),
        (None, None, Some(text)) => (text, Source::File),
        (None, None, None) => (Ipv4Addr::LOCALHOST.to_string(), Source::Default),
    };
    match listen_address(&text) {
        Some(value) => Ok(Sourced { value, source }),
        None => Err(Problem::config(format!(
            "listen ({source}): \"{text}\" is not an address, such as 127.0.0.1:{PORT}"
        ))),
    }
}

/// An address with a port, or without one for the usual port.
pub(crate) fn listen_address(text: &str) -> Option<SocketAddr> {
    let address = |text: &str| text.parse::<IpAddr>().ok();
    let bare = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    let bare = address(bare.unwrap_or(text)).map(|address| SocketAddr::new(address, PORT));
    text.parse().ok().or(bare)
}

fn safe_runs(given: Option<u32>) -> Result<u32, Problem> {
    let max = limits::SAFE_RUNS_PER_AGENT_HOUR_MAX;
    match given {
        None => Ok(limits::SAFE_RUNS_PER_AGENT_HOUR),
        Some(runs) if (1..=max).contains(&runs) => Ok(runs),
        Some(_) => Err(Problem::config(format!(
            "limits.safe_runs_per_agent_hour must be 1 to {max}"
        ))
        .next("for an agent that runs nothing by itself, leave out its capability act")),
    }
}

fn instance(
    environment: &Environment,
    file: Option<String>,
) -> Result<Sourced<Option<InstanceName>>, Problem> {
    let Sourced { value, source } = optional(environment, "VOID_INSTANCE", file);
    let value = match value {
        None => None,
        Some(text) => Some(InstanceName::parse(&text).ok_or_else(|| {
            Problem::config(format!(
                "instance ({source}): \"{text}\" is not a name of 1 to 64 of a-z, 0-9 and -"
            ))
        })?),
    };
    Ok(Sourced { value, source })
}

/// An empty path is none.
fn given(path: Sourced<PathBuf>) -> Sourced<Option<PathBuf>> {
    Sourced {
        value: Some(path.value).filter(|path| !path.as_os_str().is_empty()),
        source: path.source,
    }
}

fn optional(
    environment: &Environment,
    name: &'static str,
    file: Option<String>,
) -> Sourced<Option<String>> {
    match (environment.value(name), file) {
        (Some(value), _) => Sourced {
            value: Some(value.to_owned()),
            source: Source::Environment(name),
        },
        (None, Some(value)) => Sourced {
            value: Some(value),
            source: Source::File,
        },
        (None, None) => Sourced {
            value: None,
            source: Source::Default,
        },
    }
}

/// The environment may hold the secret itself; the file may only point at one.
fn reference(
    environment: &Environment,
    name: &'static str,
    file: Option<String>,
    setting: &'static str,
) -> Result<Sourced<Option<Reference>>, Problem> {
    if environment.value(name).is_some() {
        let value = Some(Reference::Environment(name.to_owned()));
        return Ok(Sourced {
            value,
            source: Source::Environment(name),
        });
    }
    match file {
        Some(text) => {
            let value = Some(Reference::parse(&text, setting)?);
            Ok(Sourced {
                value,
                source: Source::File,
            })
        }
        None => Ok(Sourced {
            value: None,
            source: Source::Default,
        }),
    }
}
