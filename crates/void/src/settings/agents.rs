//! Which brain each agent thinks with, as which model, within which budget.

use std::collections::BTreeMap;
use std::path::PathBuf;

use void_agent::agents::Prices;

use super::merge::Values;
use super::{BrainKind, Reference, Sourced};
use crate::exit::CommandError;

#[derive(Debug, Clone)]
pub(crate) struct AgentSettings {
    pub brain: Sourced<BrainKind>,
    pub model: Sourced<Option<String>>,
    pub key: Sourced<Option<Reference>>,
    pub base_url: Sourced<Option<String>>,
    pub daily_tokens: Sourced<Option<u64>>,
    pub prices: Prices,
}

/// The `claude` program.
#[derive(Debug, Clone)]
pub(crate) struct ClaudeSettings {
    pub program: Sourced<PathBuf>,
    pub home: Sourced<Option<PathBuf>>,
}

/// Everybody who talks here, by name.
pub(super) fn read(values: &Values) -> Result<BTreeMap<String, AgentSettings>, CommandError> {
    let agents = values.agents();
    agents
        .map(|slug| Ok((slug.to_owned(), agent(slug, values)?)))
        .collect()
}

fn agent(slug: &str, values: &Values) -> Result<AgentSettings, CommandError> {
    let name = |key: &str| format!("agents.{slug}.{key}");
    let price = |key: &str| {
        let price = values.get(&name(&format!("prices.{key}")));
        price.map(|price| price.value)
    };
    Ok(AgentSettings {
        brain: values.get(&name("brain"))?,
        model: values.find(&name("model"))?,
        key: values.find(&name("key"))?,
        base_url: values.find(&name("base_url"))?,
        daily_tokens: values.find(&name("daily_tokens"))?,
        prices: Prices {
            input: price("input")?,
            output: price("output")?,
            cache_read: price("cache_read")?,
            cache_write: price("cache_write")?,
        },
    })
}

pub(super) fn claude(values: &Values) -> Result<ClaudeSettings, CommandError> {
    Ok(ClaudeSettings {
        program: values.get("claude.program")?,
        home: values.find("claude.home")?,
    })
}
