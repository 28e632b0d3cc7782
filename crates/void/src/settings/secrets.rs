//! Secrets are not written into settings; settings say where they are.

use std::fmt;
use std::path::{Path, PathBuf};

use void_domain::secrets::Secret;

use super::Environment;
use super::secret_programs::SecretProgram;
use crate::exit::CommandError;

pub(super) const SECRET_BYTES_MAX: u64 = 64 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reference {
    /// `env:NAME`
    Environment(String),
    /// `file:PATH`
    File(PathBuf),
    /// `credential:NAME`, from systemd
    Credential(String),
    /// `exec:PROGRAM WORD…`
    Program(SecretProgram),
    /// A database address without a password holds nothing secret.
    PlainAddress(String),
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment(name) => write!(f, "env:{name}"),
            Self::File(path) => write!(f, "file:{}", path.display()),
            Self::Credential(name) => write!(f, "credential:{name}"),
            Self::Program(program) => program.fmt(f),
            Self::PlainAddress(address) => f.write_str(address),
        }
    }
}

impl Reference {
    pub(crate) fn parse(text: &str, setting: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("env", name)) if !name.is_empty() => Ok(Self::Environment(name.to_owned())),
            Some(("file", path)) if !path.is_empty() => Ok(Self::File(PathBuf::from(path))),
            Some(("credential", name)) if is_credential_name(name) => {
                Ok(Self::Credential(name.to_owned()))
            }
            Some(("exec", command)) => SecretProgram::parse(command)
                .map(Self::Program)
                .map_err(|problem| format!("{setting}: exec: {problem}")),
            Some(("postgres" | "postgresql", rest))
                if setting == "database.url" && !has_password(rest) =>
            {
                Ok(Self::PlainAddress(text.to_owned()))
            }
            // The text is not repeated: it may be the secret itself.
            _ => Err(format!(
                "{setting} must say where the secret is: env:NAME, file:PATH, credential:NAME or exec:PROGRAM"
            )),
        }
    }

    pub(crate) fn resolve(
        &self,
        environment: &Environment,
        setting: &str,
    ) -> Result<Secret, CommandError> {
        match self {
            Self::PlainAddress(address) => Ok(Secret::new(address.clone())),
            Self::Environment(name) => match environment.value(name) {
                Some(value) => Ok(Secret::new(value)),
                None => Err(CommandError::config(format!(
                    "{setting} points at the variable {name}, which is not set"
                ))),
            },
            Self::File(path) => read(path, setting),
            Self::Program(program) => program.ask(environment).map_err(|problem| {
                CommandError::config(format!("{setting} comes from {program}: {problem}"))
            }),
            Self::Credential(name) => match environment.value("CREDENTIALS_DIRECTORY") {
                Some(folder) => read(&Path::new(folder).join(name), setting),
                None => Err(CommandError::config(format!(
                    "{setting} points at the credential {name}, but systemd gave no credentials"
                ))),
            },
        }
    }
}

fn is_credential_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains('/')
}

/// `//user:password@host/…`, or a password among the options.
fn has_password(rest: &str) -> bool {
    let authority = rest
        .trim_start_matches('/')
        .split('/')
        .next()
        .unwrap_or_default();
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    user.is_some_and(|user| user.contains(':')) || rest.contains("password=")
}

fn read(path: &Path, setting: &str) -> Result<Secret, CommandError> {
    let problem = |what: &str| {
        CommandError::config(format!("{setting} points at {}: {what}", path.display()))
    };
    let metadata = std::fs::metadata(path).map_err(|error| problem(&error.to_string()))?;
    if metadata.len() > SECRET_BYTES_MAX {
        return Err(problem("it is too large for a secret"));
    }
    let text = std::fs::read_to_string(path).map_err(|error| problem(&error.to_string()))?;
    match text.trim() {
        "" => Err(problem("it is empty")),
        secret => Ok(Secret::new(secret)),
    }
}
