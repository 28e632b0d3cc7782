//! From the text of `agent.toml` to the value. The first thing that is wrong ends it, with its line and its key.

use std::collections::BTreeSet;

use serde::Deserialize;
use toml::Spanned;

use super::{
    ACTIONS_MAX, AgentConfig, BrainKind, CONFIG_BYTES_MAX, COST_MICROS_PER_DAY_MAX, ConfigLimits,
    DailyBudget, MODEL_CHARS_MAX, SCHEDULE_CHARS_MAX, SCHEDULES_MAX, TOKENS_PER_DAY_MAX,
    TOOL_CHARS_MAX, TOOLS_MAX,
};
use crate::agents::{AgentName, judge_grant};
use crate::capabilities::{Capabilities, Capability};
use crate::ids::ActionId;
use crate::limits::{TURN_OUTPUT_TOKENS_MAX, TURN_TIME_MAX, TURN_TOOL_CALLS_MAX};
use crate::text;

/// How much of what stands there is repeated.
const TOLD_BYTES_MAX: usize = 80;

/// Why a text is no config: where, and what.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, {key}: {problem}")]
pub struct InvalidAgentConfig {
    pub line: usize,
    /// The key; `agent.toml` if it is about the whole file.
    pub key: String,
    pub problem: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawConfig {
    persona: Option<Spanned<String>>,
    brain: Spanned<String>,
    model: Option<Spanned<String>>,
    #[serde(default)]
    capabilities: Vec<Spanned<String>>,
    tools: Option<Vec<Spanned<String>>>,
    actions: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    schedule: Vec<Spanned<String>>,
    #[serde(default)]
    budget: RawBudget,
    #[serde(default)]
    limits: RawLimits,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBudget {
    tokens_per_day: Option<Spanned<u64>>,
    cost_micros_per_day: Option<Spanned<u64>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLimits {
    turn_tool_calls: Option<Spanned<u64>>,
    turn_seconds: Option<Spanned<u64>>,
    turn_output_tokens: Option<Spanned<u64>>,
}

impl AgentConfig {
    pub fn parse(text: &str) -> Result<Self, InvalidAgentConfig> {
        if text.len() > CONFIG_BYTES_MAX {
            return Err(InvalidAgentConfig {
                line: 1,
                key: super::CONFIG_FILE.to_owned(),
                problem: format!("it is longer than {CONFIG_BYTES_MAX} bytes"),
            });
        }
        let raw: RawConfig = toml::from_str(text).map_err(|error| located(text, &error))?;
        Reader(text).read(raw)
    }
}

struct Reader<'a>(&'a str);

impl Reader<'_> {
    fn read(&self, raw: RawConfig) -> Result<AgentConfig, InvalidAgentConfig> {
        let names = raw.capabilities;
        let capabilities: BTreeSet<Capability> =
            self.set("capabilities", names, Capability::ALL.len(), |name| {
                let known: Capability = name.parse().map_err(|_| {
                    let known: Vec<&str> = Capability::granted().map(Capability::as_str).collect();
                    format!(
                        "{} is no capability; known are {}",
                        told(name),
                        known.join(", ")
                    )
                })?;
                let alone: Capabilities = [known].into_iter().collect();
                judge_grant(&alone).map_err(|refusal| refusal.to_string())?;
                Ok(known)
            })?;
        let tools = raw.tools;
        let tools = tools.map(|tools| self.set("tools", tools, TOOLS_MAX, tool));
        let actions = raw.actions;
        let actions = actions.map(|actions| self.set("actions", actions, ACTIONS_MAX, action));
        Ok(AgentConfig {
            persona: self.optional("persona", raw.persona, |name| {
                let named = name.parse::<AgentName>();
                named.map_err(|_| {
                    "must be the name of a persona: 1 to 64 of a-z, 0-9 and -".to_owned()
                })
            })?,
            brain: self.value("brain", &raw.brain, brain)?,
            model: self.optional("model", raw.model, model)?,
            capabilities: capabilities.into_iter().collect(),
            tools: tools.transpose()?,
            actions: actions.transpose()?,
            schedule: self.set("schedule", raw.schedule, SCHEDULES_MAX, schedule)?,
            budget: DailyBudget {
                tokens: self.number(
                    "budget.tokens_per_day",
                    raw.budget.tokens_per_day,
                    TOKENS_PER_DAY_MAX,
                )?,
                cost_micros: self.number(
                    "budget.cost_micros_per_day",
                    raw.budget.cost_micros_per_day,
                    COST_MICROS_PER_DAY_MAX,
                )?,
            },
            limits: self.limits(raw.limits)?,
        })
    }

    /// What every turn may take is the most that one agent may be given.
    fn limits(&self, raw: RawLimits) -> Result<ConfigLimits, InvalidAgentConfig> {
        let small = |key: &'static str, value: Option<Spanned<u64>>, max: u64| {
            let number = self.number(key, value, max)?;
            Ok(number.and_then(|number| u32::try_from(number).ok()))
        };
        let calls = u64::try_from(TURN_TOOL_CALLS_MAX).unwrap_or(u64::MAX);
        Ok(ConfigLimits {
            turn_tool_calls: small("limits.turn_tool_calls", raw.turn_tool_calls, calls)?,
            turn_seconds: small(
                "limits.turn_seconds",
                raw.turn_seconds,
                TURN_TIME_MAX.as_secs(),
            )?,
            turn_output_tokens: small(
                "limits.turn_output_tokens",
                raw.turn_output_tokens,
                u64::from(TURN_OUTPUT_TOKENS_MAX),
            )?,
        })
    }

    fn wrong(&self, key: &str, at: usize, problem: String) -> InvalidAgentConfig {
        InvalidAgentConfig {
            line: line_at(self.0, at),
            key: key.to_owned(),
            problem,
        }
    }

    fn value<T>(
        &self,
        key: &str,
        value: &Spanned<String>,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, InvalidAgentConfig> {
        let parsed = parse(value.get_ref());
        parsed.map_err(|problem| self.wrong(key, value.span().start, problem))
    }

    fn optional<T>(
        &self,
        key: &str,
        value: Option<Spanned<String>>,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, InvalidAgentConfig> {
        let value = value.map(|value| self.value(key, &value, parse));
        value.transpose()
    }

    /// What stands there twice was meant to be something else.
    fn set<T: Ord>(
        &self,
        key: &str,
        values: Vec<Spanned<String>>,
        max: usize,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<BTreeSet<T>, InvalidAgentConfig> {
        let mut all = BTreeSet::new();
        for value in values {
            let at = value.span().start;
            if all.len() >= max {
                return Err(self.wrong(key, at, format!("there are more than {max}")));
            }
            if !all.insert(self.value(key, &value, &parse)?) {
                let problem = format!("{} stands there twice", told(value.get_ref()));
                return Err(self.wrong(key, at, problem));
            }
        }
        Ok(all)
    }

    fn number(
        &self,
        key: &str,
        value: Option<Spanned<u64>>,
        max: u64,
    ) -> Result<Option<u64>, InvalidAgentConfig> {
        let Some(value) = value else {
            return Ok(None);
        };
        match (1..=max).contains(value.get_ref()) {
            true => Ok(Some(*value.get_ref())),
            false => {
                let problem = format!("must be from 1 to {max}");
                Err(self.wrong(key, value.span().start, problem))
            }
        }
    }
}

fn told(value: &str) -> String {
    text::value_in_quotes(text::cut(value, TOLD_BYTES_MAX))
}

fn brain(name: &str) -> Result<BrainKind, String> {
    let found = BrainKind::ALL.into_iter().find(|one| one.as_str() == name);
    found.ok_or_else(|| {
        let all = BrainKind::ALL.map(BrainKind::as_str).join(", ");
        format!("{} is no brain; known are {all}", told(name))
    })
}

fn model(name: &str) -> Result<String, String> {
    let fits = (1..=MODEL_CHARS_MAX).contains(&name.chars().count());
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:@".contains(letter);
    match fits && name.chars().all(is_plain) {
        true => Ok(name.to_owned()),
        false => Err(format!(
            "must be 1 to {MODEL_CHARS_MAX} of a-z, A-Z, 0-9 and -_./:@"
        )),
    }
}

fn tool(name: &str) -> Result<String, String> {
    let fits = (1..=TOOL_CHARS_MAX).contains(&name.len());
    match fits
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    {
        true => Ok(name.to_owned()),
        false => Err(format!(
            "a tool's name is 1 to {TOOL_CHARS_MAX} of a-z and _"
        )),
    }
}

fn action(id: &str) -> Result<ActionId, String> {
    ActionId::parse(id).map_err(|error| error.to_string())
}

/// Kept as it is written: five fields, with nothing in them that could be something else than cron's.
fn schedule(cron: &str) -> Result<String, String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "*/,- ".contains(letter);
    let is_short = cron.len() <= SCHEDULE_CHARS_MAX;
    let fields = cron.split(' ').filter(|field| !field.is_empty()).count();
    let is_trimmed = !cron.starts_with(' ') && !cron.ends_with(' ') && !cron.contains("  ");
    match is_short && is_trimmed && fields == 5 && cron.chars().all(is_plain) {
        true => Ok(cron.to_owned()),
        false => {
            Err("must be the five fields of cron, one blank between each: \"0 6 * * *\"".to_owned())
        }
    }
}

fn line_at(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    1 + before.matches('\n').count()
}

/// What is no TOML, or has an unknown key or a value of another type. The key is that of the line; nothing else of what
/// stands there is repeated.
fn located(text: &str, error: &toml::de::Error) -> InvalidAgentConfig {
    let at = error.span().map_or(0, |span| span.start);
    let line = line_at(text, at);
    let stands = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    let (before, _) = stands.split_once('=').unwrap_or((stands, ""));
    let key = before.trim().trim_matches(['[', ']', '"']).trim();
    let message = error.message().lines().next().unwrap_or_default();
    InvalidAgentConfig {
        line,
        key: match key.is_empty() {
            true => super::CONFIG_FILE.to_owned(),
            false => text::escaped(text::cut(key, TOLD_BYTES_MAX)),
        },
        problem: text::escaped(text::cut(&text::without_rust_words(message), 300)),
    }
}
