//! The agents of these settings: each persona with its brain, its budget and its prices.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use void_agent::agents::Agent;
use void_agent::brains::{
    AnthropicBrain, BaseUrl, Brain, BrainConfig, BuiltinBrain, ClaudeBrain, ClaudeConfig,
    ClaudeLogin, Http, InvalidBrain, OllamaBrain, OpenAiBrain, Patience, SEARCH_PATH, SILENCE_MAX,
};
use void_agent::gateway::Gateway;
use void_agent::personas::Persona;
use void_agent::turns::ProcessAgents;
use void_control::agents::ResidentsError;
use void_control::tree::TreePlaces;
use void_control::{Control, agents, tree};
use void_domain::agents::AgentName;
use void_domain::failures::FailureCode;
use void_domain::secrets::Secret;

use crate::exit::{CommandError, Exit};
use crate::personas;
use crate::settings::{AgentSettings, BrainKind, Environment, Settings};

/// Everybody who talks here. `listening` is where programs that they start reach this server.
pub(crate) fn load(
    settings: &Settings,
    environment: &Environment,
    listening: SocketAddr,
) -> Result<Vec<Agent>, CommandError> {
    let mut maker = Maker {
        settings,
        environment,
        listening,
        http: None,
    };
    let mut agents = Vec::new();
    for persona in personas::load(&settings.data.value)?.iter() {
        let slug = persona.slug.as_str();
        let Some(wanted) = settings.agents.get(slug) else {
            let message = format!("the persona {slug} came while the settings were read");
            return Err(CommandError::config(message).next("start again"));
        };
        let (brain, gateway) = maker.brain(persona, wanted)?;
        let kind = wanted.brain.value.as_str();
        agents.push(Agent {
            gateway,
            daily_tokens: wanted.daily_tokens.value,
            prices: wanted.prices,
            ..Agent::new(Arc::clone(persona), kind, brain)
        });
    }
    Ok(agents)
}

/// With what agents think that have a process of their own: each as its table says, and by rules whoever came after the
/// settings were read.
pub(crate) fn of_processes(
    settings: &Settings,
    environment: &Environment,
    listening: SocketAddr,
) -> Result<ProcessAgents, CommandError> {
    let mut maker = Maker {
        settings,
        environment,
        listening,
        http: None,
    };
    let personas = personas::load(&settings.data.value)?;
    let mut agents: BTreeMap<AgentName, Arc<Agent>> = BTreeMap::new();
    for (slug, wanted) in &settings.agents {
        let Ok(name) = slug.parse::<AgentName>() else {
            continue;
        };
        if personas.get(slug).is_some() {
            continue;
        }
        let (brain, gateway) = maker.brain(&Persona::of_process(&name), wanted)?;
        let agent = Agent {
            gateway,
            daily_tokens: wanted.daily_tokens.value,
            prices: wanted.prices,
            ..Agent::of_process(&name, wanted.brain.value.as_str(), brain)
        };
        agents.insert(name, Arc::new(agent));
    }
    Ok(Arc::new(move |name: &AgentName| match agents.get(name) {
        Some(agent) => Arc::clone(agent),
        None => Arc::new(Agent::of_process(name, "builtin", Arc::new(BuiltinBrain))),
    }))
}

/// Lets everybody live here whose name is not taken for that of another agent.
pub(crate) async fn admit(control: &Control, residents: &[Agent]) -> Result<(), CommandError> {
    let names: Vec<AgentName> = residents
        .iter()
        .map(|agent| agent.persona.slug.clone())
        .collect();
    let admitted = agents::admit_residents(control, &names).await;
    admitted.map_err(|error| match error {
        ResidentsError::Store(error) => crate::compose::store_problem(error),
        ResidentsError::Refused { .. } => {
            CommandError::exiting(Exit::Config, FailureCode::NameTaken, error.to_string())
                .next("give its file another name")
        }
    })
}

/// Begins to open the tree that these residents stand in.
pub(crate) fn open_tree(control: &Control, settings: &Settings, residents: &[Agent]) {
    let places = TreePlaces::of_data(&settings.data.value);
    let residents = residents.iter().map(|agent| {
        let persona = &agent.persona;
        (persona.slug.clone(), persona.capabilities.clone())
    });
    tree::start(control, places, residents.collect());
}

/// Makes Little Blue known by the token that scripts use for her, if there is one.
pub(crate) async fn introduce(
    control: &Control,
    settings: &Settings,
    environment: &Environment,
) -> Result<(), CommandError> {
    let Some(token) = little_blue_token(settings, environment)? else {
        return Ok(());
    };
    let personas = personas::load(&settings.data.value)?;
    let Some(persona) = personas.get("little-blue") else {
        return Ok(());
    };
    agents::give_resident_token(control, &persona.slug, &persona.capabilities, &token)
        .await
        .map_err(crate::compose::store_problem)
}

/// The token that scripts use for Little Blue, if there is one and it is fit.
pub(crate) fn little_blue_token(
    settings: &Settings,
    environment: &Environment,
) -> Result<Option<Secret>, CommandError> {
    let Some(reference) = &settings.little_blue_token.value else {
        return Ok(None);
    };
    let token = reference.resolve(environment, "LITTLEBLUE_TOKEN")?;
    crate::compose::check_token_length("LITTLEBLUE_TOKEN", &token)?;
    let owner = settings.stored_owner_token(environment)?;
    if owner.is_some_and(|owner| owner.expose() == token.expose()) {
        let message = "LITTLEBLUE_TOKEN is the owner's token: whoever has it would be the owner";
        return Err(CommandError::config(message).next("make another one: openssl rand -hex 32"));
    }
    Ok(Some(token))
}

type Mind = (Arc<dyn Brain>, Option<Gateway>);

struct Maker<'a> {
    settings: &'a Settings,
    environment: &'a Environment,
    listening: SocketAddr,
    /// Made for the first brain that needs it.
    http: Option<Http>,
}

impl Maker<'_> {
    /// The brain, and the way to the model if it needs one beside it.
    fn brain(&mut self, persona: &Persona, wanted: &AgentSettings) -> Result<Mind, CommandError> {
        let slug = persona.slug.as_str();
        let invalid = |error: InvalidBrain| CommandError::config(format!("agents.{slug}: {error}"));
        let brain: Arc<dyn Brain> = match wanted.brain.value {
            BrainKind::Builtin => Arc::new(BuiltinBrain),
            BrainKind::Anthropic => {
                let config = self.anthropic(slug, wanted)?;
                Arc::new(AnthropicBrain::new(config).map_err(invalid)?)
            }
            BrainKind::OpenAi => {
                let base = base(wanted, BaseUrl::parse).map_err(invalid)?;
                let config = self.config(slug, wanted, base)?;
                Arc::new(OpenAiBrain::new(config).map_err(invalid)?)
            }
            BrainKind::Ollama => {
                let base = base(wanted, BaseUrl::parse_ollama_host).map_err(invalid)?;
                let config = self.config(slug, wanted, base)?;
                Arc::new(OllamaBrain::new(config).map_err(invalid)?)
            }
            BrainKind::Claude => return self.claude(persona, wanted),
        };
        Ok((brain, None))
    }

    /// With a subscription it needs no key; otherwise the key stays here, behind the gateway.
    fn claude(&mut self, persona: &Persona, wanted: &AgentSettings) -> Result<Mind, CommandError> {
        let slug = persona.slug.as_str();
        let invalid = |error: InvalidBrain| CommandError::config(format!("agents.{slug}: {error}"));
        let program = &self.settings.claude;
        let (login, gateway) = match &program.home.value {
            Some(home) => (ClaudeLogin::Subscription { home: home.clone() }, None),
            None => {
                let gateway = Gateway::new(self.anthropic(slug, wanted)?).map_err(invalid)?;
                (ClaudeLogin::Gateway, Some(gateway))
            }
        };
        let void_program = std::env::current_exe().map_err(|error| {
            CommandError::failed(
                FailureCode::Internal,
                format!("Void does not know where it is: {error}"),
            )
        })?;
        let api_url = format!("http://{}", reached_at(self.listening));
        let brain = ClaudeBrain::new(ClaudeConfig {
            program: program.program.value.clone(),
            search_path: SEARCH_PATH.into(),
            void_program,
            api_url: BaseUrl::parse(&api_url).map_err(invalid)?,
            model: model(slug, wanted)?,
            work_folder: self.settings.data.value.join("claude").join(slug),
            login,
            silence_max: SILENCE_MAX,
        });
        Ok((Arc::new(brain.map_err(invalid)?), gateway))
    }

    /// Anthropic's API with a key.
    fn anthropic(
        &mut self,
        slug: &str,
        wanted: &AgentSettings,
    ) -> Result<BrainConfig, CommandError> {
        let base = base(wanted, BaseUrl::parse)
            .map_err(|error| CommandError::config(format!("agents.{slug}: {error}")))?;
        let config = self.config(slug, wanted, base)?;
        if config.key.is_none() {
            let kind = wanted.brain.value.as_str();
            return Err(
                CommandError::config(format!("{slug} thinks with {kind} and has no key"))
                    .next("set ANTHROPIC_API_KEY, or key = \"file:PATH\" in its table"),
            );
        }
        Ok(config)
    }

    fn config(
        &mut self,
        slug: &str,
        wanted: &AgentSettings,
        base: BaseUrl,
    ) -> Result<BrainConfig, CommandError> {
        let model = model(slug, wanted)?;
        let setting = format!("agents.{slug}.key");
        let key = wanted.key.value.as_ref();
        let key = key.map(|key| key.resolve(self.environment, &setting));
        Ok(BrainConfig {
            http: self.http()?,
            base,
            key: key.transpose()?,
            model,
            patience: Patience::new(random),
        })
    }

    fn http(&mut self) -> Result<Http, CommandError> {
        if let Some(http) = &self.http {
            return Ok(http.clone());
        }
        let made = Http::new()
            .map_err(|error| CommandError::failed(FailureCode::Internal, error.to_string()))?;
        self.http = Some(made.clone());
        Ok(made)
    }
}

/// Who listens everywhere is reached on this machine.
pub(crate) fn reached_at(listening: SocketAddr) -> SocketAddr {
    let address = match listening.ip() {
        IpAddr::V4(address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(address) if address.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        address => address,
    };
    SocketAddr::new(address, listening.port())
}

fn base(
    wanted: &AgentSettings,
    parse: fn(&str) -> Result<BaseUrl, InvalidBrain>,
) -> Result<BaseUrl, InvalidBrain> {
    parse(wanted.base_url.value.as_deref().unwrap_or_default())
}

fn model(slug: &str, wanted: &AgentSettings) -> Result<String, CommandError> {
    wanted.model.value.clone().ok_or_else(|| {
        let kind = wanted.brain.value.as_str();
        CommandError::config(format!("{slug} thinks with {kind} and has no model"))
            .next("set VOID_MODEL, or model in its table")
    })
}

/// Only spreads retries; without randomness they come all at once.
fn random() -> u64 {
    let mut bytes = [0; 8];
    match getrandom::fill(&mut bytes) {
        Ok(()) => u64::from_le_bytes(bytes),
        Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_listens_everywhere_is_reached_here() {
        for (listening, reached) in [
            ("127.0.0.1:3000", "127.0.0.1:3000"),
            ("0.0.0.0:3000", "127.0.0.1:3000"),
            ("[::]:80", "[::1]:80"),
            ("192.168.1.9:3000", "192.168.1.9:3000"),
        ] {
            let listening = listening.parse().unwrap();
            assert_eq!(reached_at(listening).to_string(), reached);
        }
    }
}
