//! Which brain each agent thinks with, as which model, within which budget.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use void_agent::agents::Prices;
use void_agent::personas::Personas;
use void_domain::agents::AgentName;
use void_domain::text;

use super::{Environment, Reference, Source, Sourced};
use crate::exit::Problem;

const KINDS: [BrainKind; 5] = [
    BrainKind::Builtin,
    BrainKind::Anthropic,
    BrainKind::OpenAi,
    BrainKind::Ollama,
    BrainKind::Claude,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BrainKind {
    Builtin,
    Anthropic,
    OpenAi,
    Ollama,
    Claude,
}

impl BrainKind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Ollama => "ollama",
            Self::Claude => "claude",
        }
    }

    /// Where its key and its address come from, beside the file.
    const fn variables(self) -> (Option<&'static str>, Option<&'static str>) {
        match self {
            Self::Builtin => (None, None),
            Self::Anthropic | Self::Claude => {
                (Some("ANTHROPIC_API_KEY"), Some("ANTHROPIC_BASE_URL"))
            }
            Self::OpenAi => (Some("OPENAI_API_KEY"), Some("OPENAI_BASE_URL")),
            Self::Ollama => (None, Some("OLLAMA_HOST")),
        }
    }

    fn parse(text: &str, setting: &str) -> Result<Self, Problem> {
        let found = KINDS.into_iter().find(|kind| kind.as_str() == text);
        found.ok_or_else(|| {
            let known = KINDS.map(Self::as_str).join(", ");
            let text = text::escaped(text::cut(text, 40));
            Problem::config(format!(
                "{setting}: \"{text}\" is no brain; known are {known}"
            ))
        })
    }
}

#[derive(Debug, Clone)]
pub(crate) struct AgentSettings {
    pub brain: Sourced<BrainKind>,
    pub model: Sourced<Option<String>>,
    pub key: Sourced<Option<Reference>>,
    pub base_url: Sourced<Option<String>>,
    pub daily_tokens: Sourced<Option<u64>>,
    pub prices: Sourced<Prices>,
}

/// The `claude` program.
#[derive(Debug, Clone)]
pub(crate) struct ClaudeSettings {
    pub program: Sourced<PathBuf>,
    pub home: Sourced<Option<PathBuf>>,
}

/// `[agents.NAME]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct AgentTable {
    brain: Option<String>,
    model: Option<String>,
    key: Option<String>,
    base_url: Option<String>,
    daily_tokens: Option<u64>,
    prices: Option<PriceTable>,
}

/// Dollars per million tokens.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct PriceTable {
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
}

/// `[claude]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ClaudeTable {
    program: Option<PathBuf>,
    home: Option<PathBuf>,
}

/// Everybody who talks here by name: whoever comes with Void, and of the owner's personas those that have a
/// table of their own.
pub(super) fn merge(
    mut tables: BTreeMap<String, AgentTable>,
    data: &Path,
    environment: &Environment,
) -> Result<BTreeMap<String, AgentSettings>, Problem> {
    let mut agents = BTreeMap::new();
    let builtin = Personas::builtin().map_err(|error| Problem::config(error.to_string()))?;
    let builtin: Vec<&str> = builtin.iter().map(|one| one.slug.as_str()).collect();
    for slug in &builtin {
        let table = tables.remove(*slug).unwrap_or_default();
        agents.insert((*slug).to_owned(), agent(slug, table, environment)?);
    }
    for (name, table) in tables {
        if !may_have_persona(&name, data) {
            let near = text::nearest(&name, builtin.iter().copied());
            let near = near.map(|near| format!("; did you mean {near}?"));
            let unknown = text::escaped(text::cut(&name, 64));
            return Err(Problem::config(format!(
                "[agents.{unknown}]: there is no such agent{}",
                near.unwrap_or_default()
            )));
        }
        let settings = agent(&name, table, environment)?;
        agents.insert(name, settings);
    }
    Ok(agents)
}

/// Whether there is a file for it, or whoever asks may not look: the command line reads the same settings as
/// the server and need not be able to read its data.
fn may_have_persona(name: &str, data: &Path) -> bool {
    let file = crate::personas::folder(data).join(format!("{name}.toml"));
    name.parse::<AgentName>().is_ok() && file.try_exists().unwrap_or(true)
}

impl AgentSettings {
    /// Of somebody who has no table.
    pub(crate) fn without_table(slug: &str, environment: &Environment) -> Result<Self, Problem> {
        agent(slug, AgentTable::default(), environment)
    }
}

fn agent(
    slug: &str,
    table: AgentTable,
    environment: &Environment,
) -> Result<AgentSettings, Problem> {
    let name = |key: &str| format!("agents.{slug}.{key}");
    let brain = text_of(environment, Some("VOID_BRAIN"), table.brain);
    let kind = match &brain.value {
        Some(text) => BrainKind::parse(text, &name("brain"))?,
        None => BrainKind::Builtin,
    };
    let (key_variable, url_variable) = kind.variables();
    let key = match key_variable.filter(|variable| environment.value(variable).is_some()) {
        // The file is more exact than a variable that other programs read as well.
        Some(variable) if table.key.is_none() => Sourced {
            value: Some(Reference::Environment(variable.to_owned())),
            source: Source::Environment(variable),
        },
        _ => Sourced {
            source: file_or_default(table.key.is_some()),
            value: table
                .key
                .map(|text| Reference::parse(&text, &name("key")))
                .transpose()?,
        },
    };
    Ok(AgentSettings {
        brain: Sourced {
            value: kind,
            source: brain.source,
        },
        model: text_of(environment, Some("VOID_MODEL"), table.model),
        key,
        base_url: text_of(environment, url_variable, table.base_url),
        daily_tokens: Sourced {
            source: file_or_default(table.daily_tokens.is_some()),
            value: table.daily_tokens,
        },
        prices: Sourced {
            source: file_or_default(table.prices.is_some()),
            value: prices(table.prices.unwrap_or_default(), &name("prices"))?,
        },
    })
}

fn prices(table: PriceTable, setting: &str) -> Result<Prices, Problem> {
    let micros = |dollars: f64| {
        if !(0.0..=1_000_000.0).contains(&dollars) {
            let message = format!("{setting}: a price is 0 or more dollars per million tokens");
            return Err(Problem::config(message));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and 10^12"
        )]
        Ok((dollars * 1_000_000.0).round() as u64)
    };
    Ok(Prices {
        input: micros(table.input)?,
        output: micros(table.output)?,
        cache_read: micros(table.cache_read)?,
        cache_write: micros(table.cache_write)?,
    })
}

pub(super) fn claude(table: ClaudeTable, environment: &Environment) -> ClaudeSettings {
    let path = |variable, file: Option<PathBuf>| match environment.value(variable) {
        Some(value) => Sourced {
            value: Some(PathBuf::from(value)),
            source: Source::Environment(variable),
        },
        None => Sourced {
            source: file_or_default(file.is_some()),
            value: file,
        },
    };
    let program = path("CLAUDE_EXE", table.program);
    ClaudeSettings {
        program: Sourced {
            value: program.value.unwrap_or_else(|| PathBuf::from("claude")),
            source: program.source,
        },
        home: path("VOID_CLAUDE_HOME", table.home),
    }
}

fn text_of(
    environment: &Environment,
    variable: Option<&'static str>,
    file: Option<String>,
) -> Sourced<Option<String>> {
    let found = variable.and_then(|name| environment.value(name).map(|value| (name, value)));
    match found {
        Some((name, value)) => Sourced {
            value: Some(value.to_owned()),
            source: Source::Environment(name),
        },
        None => Sourced {
            source: file_or_default(file.is_some()),
            value: file,
        },
    }
}

const fn file_or_default(given: bool) -> Source {
    if given { Source::File } else { Source::Default }
}
