//! The agents of these settings: each persona with its brain, its budget and its prices.

use std::sync::Arc;

use void_agent::agents::Agent;
use void_agent::brains::{
    AnthropicBrain, BaseUrl, Brain, BrainConfig, BuiltinBrain, Http, InvalidBrain, OllamaBrain,
    OpenAiBrain, Patience,
};
use void_agent::personas::PERSONAS;
use void_control::{Control, tokens};

use crate::exit::Problem;
use crate::settings::{AgentSettings, BrainKind, Environment, Settings};

const ANTHROPIC_URL: &str = "https://api.anthropic.com";
const ANTHROPIC_MODEL: &str = "claude-sonnet-4-5";
const OPENAI_URL: &str = "https://api.openai.com/v1";
const OLLAMA_HOST: &str = "127.0.0.1";

/// Everybody who talks here.
pub(crate) fn load(settings: &Settings, environment: &Environment) -> Result<Vec<Agent>, Problem> {
    let mut maker = Maker {
        environment,
        http: None,
    };
    let mut agents = Vec::new();
    for persona in &PERSONAS {
        let Some(wanted) = settings.agents.get(persona.slug) else {
            continue;
        };
        let brain = maker.brain(persona.slug, wanted)?;
        let kind = wanted.brain.value.as_str();
        agents.push(Agent {
            daily_tokens: wanted.daily_tokens.value,
            prices: wanted.prices.value,
            ..Agent::new(persona, kind, brain)
        });
    }
    Ok(agents)
}

/// Makes Little Blue known by the token that scripts use for her, if there is one.
pub(crate) async fn introduce(
    control: &Control,
    settings: &Settings,
    environment: &Environment,
) -> Result<(), Problem> {
    let Some(reference) = &settings.little_blue_token.value else {
        return Ok(());
    };
    let token = reference.resolve(environment, "LITTLEBLUE_TOKEN")?;
    let Some(persona) = PERSONAS
        .iter()
        .find(|persona| persona.slug == "little-blue")
    else {
        return Ok(());
    };
    tokens::give_resident_token(control, persona.slug, persona.capabilities, &token)
        .await
        .map_err(crate::compose::store_problem)
}

struct Maker<'a> {
    environment: &'a Environment,
    /// Made for the first brain that needs it.
    http: Option<Http>,
}

impl Maker<'_> {
    fn brain(&mut self, slug: &str, wanted: &AgentSettings) -> Result<Arc<dyn Brain>, Problem> {
        let invalid = |error: InvalidBrain| Problem::config(format!("agents.{slug}: {error}"));
        Ok(match wanted.brain.value {
            BrainKind::Builtin => Arc::new(BuiltinBrain),
            BrainKind::Anthropic => {
                let base = base(wanted, ANTHROPIC_URL, BaseUrl::parse).map_err(invalid)?;
                let config = self.config(slug, wanted, base, Some(ANTHROPIC_MODEL))?;
                if config.key.is_none() {
                    return Err(Problem::config(format!(
                        "{slug} thinks with anthropic and has no key"
                    ))
                    .next("set ANTHROPIC_API_KEY, or key = \"file:PATH\" in its table"));
                }
                Arc::new(AnthropicBrain::new(config).map_err(invalid)?)
            }
            BrainKind::OpenAi => {
                let base = base(wanted, OPENAI_URL, BaseUrl::parse).map_err(invalid)?;
                let config = self.config(slug, wanted, base, None)?;
                Arc::new(OpenAiBrain::new(config).map_err(invalid)?)
            }
            BrainKind::Ollama => {
                let base =
                    base(wanted, OLLAMA_HOST, BaseUrl::parse_ollama_host).map_err(invalid)?;
                let config = self.config(slug, wanted, base, None)?;
                Arc::new(OllamaBrain::new(config).map_err(invalid)?)
            }
            BrainKind::Claude => {
                return Err(Problem::config(format!("{slug}: claude is not there yet")));
            }
        })
    }

    fn config(
        &mut self,
        slug: &str,
        wanted: &AgentSettings,
        base: BaseUrl,
        model: Option<&str>,
    ) -> Result<BrainConfig, Problem> {
        let Some(model) = wanted.model.value.as_deref().or(model) else {
            let kind = wanted.brain.value.as_str();
            return Err(
                Problem::config(format!("{slug} thinks with {kind} and has no model"))
                    .next("set VOID_MODEL, or model in its table"),
            );
        };
        let setting = format!("agents.{slug}.key");
        let key = wanted.key.value.as_ref();
        let key = key.map(|key| key.resolve(self.environment, &setting));
        Ok(BrainConfig {
            http: self.http()?,
            base,
            key: key.transpose()?,
            model: model.to_owned(),
            patience: Patience::new(random),
        })
    }

    fn http(&mut self) -> Result<Http, Problem> {
        if let Some(http) = &self.http {
            return Ok(http.clone());
        }
        let made = Http::new().map_err(|error| Problem::failed("internal", error.to_string()))?;
        self.http = Some(made.clone());
        Ok(made)
    }
}

fn base(
    wanted: &AgentSettings,
    default: &str,
    parse: fn(&str) -> Result<BaseUrl, InvalidBrain>,
) -> Result<BaseUrl, InvalidBrain> {
    parse(wanted.base_url.value.as_deref().unwrap_or(default))
}

/// Only spreads retries; without randomness they come all at once.
fn random() -> u64 {
    let mut bytes = [0; 8];
    match getrandom::fill(&mut bytes) {
        Ok(()) => u64::from_le_bytes(bytes),
        Err(_) => 0,
    }
}
