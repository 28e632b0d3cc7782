//! Settings: flag over environment over file over default, each with its source. Every setting is one row of
//! `table.rs`; this file gives the values their types. Secrets are references, resolved where they are used.

mod agent_names;
mod agents;
mod brains;
mod captures;
mod docs;
mod embeddings;
mod environment;
mod file;
mod limits;
mod merge;
mod notify;
mod problems;
mod processes;
mod rows;
mod secret_programs;
mod secrets;
mod sources;
mod table;
#[cfg(test)]
mod tests;
mod values;
mod variables;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use void_control::Limits;
use void_domain::catalogue::Lockout;
use void_domain::instances::InstanceName;
use void_domain::secrets::Secret;

pub(crate) use self::agents::{AgentSettings, ClaudeSettings};
pub(crate) use self::brains::BrainKind;
pub(crate) use self::captures::CaptureSettings;
pub(crate) use self::docs::page;
pub(crate) use self::embeddings::EmbeddingsSettings;
pub(crate) use self::environment::Environment;
use self::merge::Values;
pub(crate) use self::merge::{Flags, ShownValue};
pub(crate) use self::notify::NotifySettings;
pub(crate) use self::problems::Problems;
pub(crate) use self::processes::{DriverSettings, ProcessSettings};
pub(crate) use self::secrets::Reference;
pub(crate) use self::sources::{Source, Sourced};
pub(crate) use self::values::listen_address;
pub(crate) use self::variables::warnings;
use crate::exit::CommandError;

/// Where a server is, and who asks.
const TO_ASK: [&str; 2] = ["listen", "owner_token"];

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
    pub allowed_hosts: Vec<String>,
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
    pub embeddings: EmbeddingsSettings,
    pub limits: Limits,
    pub agents: BTreeMap<String, AgentSettings>,
    pub claude: ClaudeSettings,
    pub little_blue_token: Sourced<Option<Reference>>,
    pub notify: NotifySettings,
    pub captures: CaptureSettings,
    pub processes: ProcessSettings,
    pub lockout: Lockout,
    values: Values,
}

#[derive(Clone)]
pub(crate) struct ProxmoxSettings {
    pub url: Sourced<Option<String>>,
    pub token: Sourced<Option<Reference>>,
    pub fingerprint: Sourced<Option<String>>,
    pub ca_file: Sourced<Option<PathBuf>>,
}

impl Settings {
    pub(crate) fn load(flags: &Flags, environment: &Environment) -> Result<Self, CommandError> {
        Self::of(flags, Values::read(flags, environment)?)
    }

    /// What a command needs that only talks to a server; what is wrong with the rest of the file is passed over.
    pub(crate) fn load_to_ask(
        flags: &Flags,
        environment: &Environment,
    ) -> Result<Self, CommandError> {
        Self::of(flags, Values::read_only(flags, environment, &TO_ASK)?)
    }

    fn of(flags: &Flags, values: Values) -> Result<Self, CommandError> {
        Ok(Self {
            config_file: values.get("config_file")?,
            data: values.get("data")?,
            listen: values.get("listen")?,
            instance: values.find("instance")?,
            replace_catalogue: flags.replace_catalogue,
            public_url: values.find("public_url")?,
            allowed_hosts: values.list("allowed_hosts")?,
            actions: values.get("actions")?,
            services: values.get("services")?,
            proxmox: ProxmoxSettings {
                url: values.find("proxmox.url")?,
                token: values.find("proxmox.token")?,
                fingerprint: values.find("proxmox.fingerprint")?,
                ca_file: values.find("proxmox.ca_file")?,
            },
            database_url: values.find("database.url")?,
            database_ca_file: values.find("database.ca_file")?,
            owner_token: values.find("owner_token")?,
            ssh_key: values.find("ssh.key")?,
            ssh_program: values.get("ssh.program")?,
            ssh_run_folder: values.get("ssh.run_folder")?,
            known_hosts: values.get("ssh.known_hosts")?,
            local_program: values.find("local.program")?,
            local_list: values.get("local.list")?,
            local_state: values.get("local.state")?,
            local_trust_own_list: values.get("local.trust_own_list")?,
            backups: values.get("backups.enabled")?,
            backups_folder: values.get("backups.folder")?,
            bridge_folder: values.find("bridge.dir")?,
            bridge_decisions: values.get("bridge.decisions")?,
            embeddings: embeddings::read(&values)?,
            limits: limits::read(&values)?,
            agents: agents::read(&values)?,
            claude: agents::claude(&values)?,
            little_blue_token: values.find("little_blue_token")?,
            notify: notify::read(&values)?,
            captures: captures::read(&values)?,
            processes: processes::read(&values)?,
            lockout: lockout(&values)?,
            values,
        })
    }

    /// Every setting, as people see it.
    pub(crate) fn shown(&self) -> impl Iterator<Item = ShownValue> {
        self.values.shown()
    }

    /// Whether every secret that is set can be had.
    pub(crate) fn check_secrets(&self, environment: &Environment, problems: &mut Problems) {
        for (setting, reference) in self.values.secrets() {
            problems.keep(reference.resolve(environment, setting));
        }
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
    ) -> Result<Option<Secret>, CommandError> {
        if let Some(reference) = &self.owner_token.value {
            return reference.resolve(environment, "owner_token").map(Some);
        }
        match std::fs::read_to_string(self.owner_token_file()) {
            Ok(text) => Ok(Some(Secret::new(text.trim()))),
            Err(_) => Ok(None),
        }
    }
}

/// `[self]`: where Void lives, and what must stay up for the owner to reach it.
fn lockout(values: &Values) -> Result<Lockout, CommandError> {
    let guests: Vec<String> = values.list("self.guests")?;
    let (hosts, protected) = (values.list("self.hosts")?, values.list("self.protected")?);
    Lockout::parse(&guests, &hosts, &protected)
        .map_err(|error| CommandError::config(error.to_string()))
}
