//! An agent that talks here: a persona, a brain, an identity of its own and a budget.

use std::sync::Arc;

use void_control::{Control, Ctx, StoreError, agent_turns, agents};
use void_domain::agents::AgentName;
use void_domain::conversations::Usage;

use crate::brains::{Brain, BuiltinBrain};
use crate::gateway::Gateway;
use crate::personas::{InvalidPersona, Persona, Personas};

pub struct Agent {
    pub persona: Arc<Persona>,
    pub brain: Arc<dyn Brain>,
    /// builtin, anthropic, openai, ollama or claude.
    pub brain_name: String,
    /// For a brain whose program must not have the key.
    pub gateway: Option<Gateway>,
    pub daily_tokens: Option<u64>,
    pub prices: Prices,
    /// It has a process of its own, in which the loop of its turns runs; otherwise it lives in the server.
    pub is_process: bool,
}

/// Millionths of a dollar per million tokens, as the owner set them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Prices {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

impl Prices {
    pub fn with_cost(self, usage: Usage) -> Usage {
        let part = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let sum = part(usage.input_tokens, self.input)
            + part(usage.output_tokens, self.output)
            + part(usage.cache_read_tokens, self.cache_read)
            + part(usage.cache_write_tokens, self.cache_write);
        Usage {
            cost_micros: u64::try_from(sum / 1_000_000).unwrap_or(u64::MAX),
            ..usage
        }
    }
}

/// Everybody who comes with Void, with the brain that needs nothing.
pub fn builtin() -> Result<Vec<Agent>, InvalidPersona> {
    let brain: Arc<dyn Brain> = Arc::new(BuiltinBrain);
    let agent = |persona| Agent::new(persona, "builtin", Arc::clone(&brain));
    Ok(Personas::builtin()?.iter().cloned().map(agent).collect())
}

impl Agent {
    /// An agent that thinks with this brain, without a budget.
    pub fn new(persona: Arc<Persona>, brain_name: &str, brain: Arc<dyn Brain>) -> Self {
        Self {
            persona,
            brain,
            brain_name: brain_name.to_owned(),
            gateway: None,
            daily_tokens: None,
            prices: Prices::default(),
            is_process: false,
        }
    }

    /// One with a process of its own, by its name in the tree.
    pub fn of_process(name: &AgentName, brain_name: &str, brain: Arc<dyn Brain>) -> Self {
        let persona = Arc::new(Persona::of_process(name));
        Self {
            is_process: true,
            ..Self::new(persona, brain_name, brain)
        }
    }

    /// In whose name it acts now. `None` if it was withdrawn.
    pub async fn ctx(&self, control: &Control) -> Result<Option<Ctx>, StoreError> {
        let slug = &self.persona.slug;
        match self.is_process {
            true => agent_turns::ctx(control, slug).await,
            false => agents::resident_ctx(control, slug, &self.persona.capabilities).await,
        }
    }

    /// Who it is, once it has acted or was talked to.
    pub async fn identity(
        &self,
        control: &Control,
    ) -> Result<Option<void_domain::agents::Agent>, StoreError> {
        agents::find(control, &self.persona.slug).await
    }

    pub fn system_prompt(&self, control: &Control, ctx: &Ctx) -> String {
        let place = self.is_process.then(|| {
            let place = agent_turns::place(control, &self.persona.slug);
            place.unwrap_or_default()
        });
        self.persona.prompt_at(&ctx.capabilities, place.as_ref())
    }
}
