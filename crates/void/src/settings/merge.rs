//! Flag over environment over file over default, for every row of the table; an agent's own table over the
//! variables that are the defaults of all agents.

use std::path::{Path, PathBuf};

use void_domain::failures::FailureCode;

use super::agent_names::AgentNames;
use super::brains::BrainKind;
use super::environment::Environment;
use super::file::File;
use super::problems::Problems;
use super::rows::{Fallback, Kind, Name, Row, Variable};
use super::secrets::Reference;
use super::sources::{Source, Sourced};
use super::table::{self, CONFIG_FILE, DATA_FOLDER};
use super::values::{FromValue, Raw, Value};
use crate::exit::CommandError;

/// Flags of the command line that set something.
#[derive(Default, Clone)]
pub(crate) struct Flags {
    pub config: Option<PathBuf>,
    pub data: Option<PathBuf>,
    pub listen: Option<String>,
    pub actions: Option<PathBuf>,
    pub replace_catalogue: bool,
}

impl Flags {
    fn get(&self, flag: &str) -> Option<Raw> {
        let path = |path: &Option<PathBuf>| path.clone().map(Raw::Path);
        match flag {
            "--config" => path(&self.config),
            "--data" => path(&self.data),
            "--actions" => path(&self.actions),
            "--listen" => self.listen.clone().map(Raw::Text),
            _ => None,
        }
    }
}

/// One setting with its value.
#[derive(Clone)]
struct MergedValue {
    key: String,
    row: &'static Row,
    value: Option<Value>,
    source: Source,
}

/// All settings with their values, in the order of the table.
#[derive(Clone)]
pub(super) struct Values(Vec<MergedValue>);

/// A line of `void config show`.
pub(crate) struct ShownValue {
    pub name: String,
    pub value: String,
    pub source: Source,
}

impl Values {
    /// Reads everything, or says everything that is wrong.
    pub(super) fn read(flags: &Flags, environment: &Environment) -> Result<Self, CommandError> {
        Self::read_of(flags, environment, None)
    }

    /// The same as if the file held no other settings than these, whatever it says.
    pub(super) fn read_only(
        flags: &Flags,
        environment: &Environment,
        keys: &[&str],
    ) -> Result<Self, CommandError> {
        Self::read_of(flags, environment, Some(keys))
    }

    fn read_of(
        flags: &Flags,
        environment: &Environment,
        only: Option<&[&str]>,
    ) -> Result<Self, CommandError> {
        let mut reader = Reader {
            flags,
            environment,
            only,
            file: File::default(),
            data: PathBuf::new(),
            values: Self(Vec::new()),
            problems: Problems::default(),
        };
        reader.files()?;
        let read_already = [DATA_FOLDER.key, CONFIG_FILE.key];
        let rows = table::rows().filter(|row| !read_already.contains(&row.key));
        let mut settings: Vec<(Name, &Row)> = rows
            .flat_map(|row| {
                let names = row
                    .names(reader.file.agents(), |list| reader.file.list_len(list))
                    .into_iter();
                names.map(move |name| (name, row))
            })
            .collect();
        // What is there several times comes together: all of one agent, then all of the next.
        settings.sort_by_key(|(name, _)| name.table.clone());
        for (name, row) in settings {
            reader.read(name.key, row);
        }
        reader.problems.into_result()?;
        Ok(reader.values)
    }

    /// Everybody whom `agents.NAME.…` stands for.
    pub(super) fn agents(&self) -> impl Iterator<Item = &str> {
        let keys = self.0.iter().map(|entry| entry.key.as_str());
        keys.filter_map(|key| key.strip_prefix("agents.")?.strip_suffix(".brain"))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.0.iter().any(|entry| entry.key == key)
    }

    /// A setting that may be absent. One that has no row, or is of another kind, is a mistake of ours and never
    /// taken for one that is not set.
    pub(super) fn find<T: FromValue>(&self, key: &str) -> Result<Sourced<Option<T>>, CommandError> {
        let mistake = || {
            let message = format!("the setting {key} is not as the code expects it");
            CommandError::failed(FailureCode::Internal, message)
        };
        let entry = self.0.iter().find(|entry| entry.key == key);
        let entry = entry.ok_or_else(mistake)?;
        let value = match &entry.value {
            None => None,
            Some(value) => Some(T::from_value(value).ok_or_else(mistake)?),
        };
        let source = entry.source.clone();
        Ok(Sourced { value, source })
    }

    /// A setting that has a default.
    pub(super) fn get<T: FromValue>(&self, key: &str) -> Result<Sourced<T>, CommandError> {
        let Sourced { value, source } = self.find(key)?;
        let value = value.ok_or_else(|| {
            CommandError::failed(
                FailureCode::Internal,
                format!("the setting {key} has no default"),
            )
        })?;
        Ok(Sourced { value, source })
    }

    /// A number whose row keeps it small.
    pub(super) fn small(&self, key: &str) -> Result<Sourced<u32>, CommandError> {
        let Sourced { value, source } = self.get::<u64>(key)?;
        let value = u32::try_from(value)
            .map_err(|_| CommandError::config(format!("{key} must be at most {}", u32::MAX)))?;
        Ok(Sourced { value, source })
    }

    /// A list; one that is not set is empty.
    pub(super) fn list<T>(&self, key: &str) -> Result<Vec<T>, CommandError>
    where
        Vec<T>: FromValue,
    {
        Ok(self.find(key)?.value.unwrap_or_default())
    }

    /// Secrets as where they are, never as what they are.
    pub(super) fn shown(&self) -> impl Iterator<Item = ShownValue> {
        self.0.iter().map(|entry| ShownValue {
            name: entry.key.clone(),
            value: match (&entry.value, entry.row.fallback) {
                (Some(value), _) => value.to_string(),
                (None, Fallback::Nothing(words)) => words.to_owned(),
                (None, _) => "-".to_owned(),
            },
            source: entry.source.clone(),
        })
    }

    /// Every secret that is set, with the name of its setting.
    pub(super) fn secrets(&self) -> impl Iterator<Item = (&str, &Reference)> {
        self.0.iter().filter_map(|entry| match &entry.value {
            Some(Value::Secret(reference)) => Some((entry.key.as_str(), reference)),
            _ => None,
        })
    }
}

struct Reader<'a> {
    flags: &'a Flags,
    environment: &'a Environment,
    /// What counts, where not everything does.
    only: Option<&'a [&'a str]>,
    file: File,
    data: PathBuf,
    values: Values,
    problems: Problems,
}

impl Reader<'_> {
    /// The data folder, and the file that may be in it.
    fn files(&mut self) -> Result<(), CommandError> {
        let is_set = self.what_is_set(&DATA_FOLDER, DATA_FOLDER.key).is_some();
        self.data = match default_data_folder(self.environment) {
            Some(folder) => folder,
            None if is_set => PathBuf::new(),
            None => {
                let message = "there is no home folder to keep data in";
                return Err(CommandError::config(message).next("set VOID_DATA"));
            }
        };
        self.read(DATA_FOLDER.key.to_owned(), &DATA_FOLDER);
        let data = self.values.get::<PathBuf>(DATA_FOLDER.key)?.value;
        self.data = std::path::absolute(&data)
            .map_err(|error| CommandError::config(format!("{}: {error}", data.display())))?;
        if let Some(entry) = self.values.0.last_mut() {
            entry.value = Some(Value::Path(self.data.clone()));
        }
        self.read(CONFIG_FILE.key.to_owned(), &CONFIG_FILE);
        let Sourced { value, source } = self.values.get::<PathBuf>(CONFIG_FILE.key)?;
        self.file = File::read(
            &value,
            source != Source::Default,
            AgentNames::of(&self.data)?,
            &mut self.problems,
        )?;
        if let Some(keys) = self.only {
            self.file.keep(keys);
            self.problems.keep_of(keys);
        }
        Ok(())
    }

    fn read(&mut self, key: String, row: &'static Row) {
        let line = self.file.get(&key).map(|entry| entry.line);
        let (source, value) = self.value(&key, row);
        // What the file says is checked also where something else counts: a secret may be written there plainly.
        let unused = self.file.get(&key).filter(|_| source != Source::File);
        if let Some(Err(message)) = unused.map(|entry| row.kind.parse(&entry.raw, &key)) {
            let problem = self.problem(&Source::File, &key, &message);
            self.problems.push(Some(&key), line, problem);
        }
        let value = value.unwrap_or_else(|problem| {
            let line = line.filter(|_| source == Source::File);
            self.problems.push(Some(&key), line, problem);
            None
        });
        self.values.0.push(MergedValue {
            key,
            row,
            value,
            source,
        });
    }

    fn value(&self, key: &str, row: &Row) -> (Source, Result<Option<Value>, CommandError>) {
        let parse = |raw: &Raw| row.kind.parse(raw, key);
        if let Some((source, raw)) = self.what_is_set(row, key) {
            let value = match (&source, row.kind) {
                // A variable may hold the secret itself.
                (Source::Environment(name), Kind::Secret) => {
                    Ok(Value::Secret(Reference::Environment((*name).to_owned())))
                }
                (Source::File, Kind::Path) => parse(&raw).map(|value| self.beside_file(value)),
                _ => parse(&raw),
            };
            let value = value.map_err(|message| self.problem(&source, key, &message));
            return (source, value.map(Some));
        }
        let raw = match row.fallback {
            Fallback::Nothing(_) => None,
            Fallback::Text(text) => Some(Raw::Text(text.to_owned())),
            Fallback::Number(number) => i64::try_from(number).ok().map(Raw::Whole),
            Fallback::Bool(value) => Some(Raw::Bool(value)),
            Fallback::InData(name) => Some(Raw::Path(self.data.join(name))),
            Fallback::DataFolder => Some(Raw::Path(self.data.clone())),
            Fallback::OfBrain(of) => of(self.brain(key)).map(|text| Raw::Text(text.to_owned())),
            Fallback::Required => {
                let problem = CommandError::config(format!("{key} is missing"));
                return (Source::Default, Err(problem));
            }
        };
        let value = raw.map(|raw| parse(&raw)).transpose();
        (Source::Default, value.map_err(CommandError::config))
    }

    /// What is set by anybody: by a flag, in the environment, in the file.
    fn what_is_set(&self, row: &Row, key: &str) -> Option<(Source, Raw)> {
        let flag = || {
            let flag = row.flag?;
            Some((Source::Flag(flag), self.flags.get(flag)?))
        };
        let variable = |name: &'static str| {
            let text = self.environment.value(name)?;
            Some((Source::Environment(name), Raw::Text(text.to_owned())))
        };
        let file = || Some((Source::File, self.file.get(key)?.raw.clone()));
        match row.variable {
            Variable::None => flag().or_else(file),
            Variable::OverFile(name) => flag().or_else(|| variable(name)).or_else(file),
            Variable::UnderFile(name) => file().or_else(|| variable(name)),
            Variable::OfBrain(of) => file().or_else(|| variable(of(self.brain(key))?)),
        }
    }

    /// What the agent of this setting thinks with; its row comes before those that go by it.
    fn brain(&self, key: &str) -> BrainKind {
        let agent = key.split('.').nth(1).unwrap_or_default();
        let brain = self.values.find(&format!("agents.{agent}.brain"));
        let brain = brain.ok().and_then(|brain| brain.value);
        brain.unwrap_or(BrainKind::Builtin)
    }

    fn beside_file(&self, value: Value) -> Value {
        match value {
            Value::Path(path) => Value::Path(self.file.folder().join(path)),
            other => other,
        }
    }

    fn problem(&self, source: &Source, key: &str, message: &str) -> CommandError {
        match (source, self.file.get(key)) {
            (Source::File, Some(entry)) => self.file.problem(entry.line, message),
            (Source::Flag(name) | Source::Environment(name), _) => {
                CommandError::config(format!("{name}: {message}"))
            }
            (Source::File | Source::Default, _) => CommandError::config(message),
        }
    }
}

fn default_data_folder(environment: &Environment) -> Option<PathBuf> {
    let base = match environment.value("XDG_DATA_HOME") {
        Some(base) => PathBuf::from(base),
        None => Path::new(environment.value("HOME")?).join(".local/share"),
    };
    Some(base.join("void"))
}
