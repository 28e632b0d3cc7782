//! Tools of agents that stand in the tree: a child below oneself, a commit of a descendant's config, other commits of
//! pinned inputs. None of them puts anything in force: what comes of each waits for the owner, whoever calls it.

use std::future::Future;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use void_control::agent_configs::{
    self, AgentConfigError, ApplyCommitRequest, InitConfigRequest, InputSchemes, RequestNotes,
    UpdateInputsRequest, WriteConfigRequest,
};
use void_control::proposals::Proposed;
use void_domain::agent_configs::CommitId;
use void_domain::agents::AgentName;
use void_domain::capabilities::Capability;
use void_domain::failures::FailureCode;
use void_domain::meta_locks::{InputKind, InputUrl, PinnedInput};
use void_domain::proposals::Proposal;

use super::{Call, Effect, Outcome, RunningTool, Tool, ToolError, schema, written_schema};

pub(super) static REQUEST_INIT_CONFIG: Tool = Tool {
    name: "request_init_config",
    title: "Ask for a child",
    description: "Asks for a new agent below yourself, with its first agent.toml: brain (builtin, anthropic, openai, ollama or \
        claude), persona, model, capabilities, tools, actions, schedule, [budget] tokens_per_day and cost_micros_per_day, \
        [limits]. It may have at most what you have. It waits for the owner, and there is no such agent before that.",
    needs: &[Capability::Spawn],
    effect: Effect::Drafts,
    arguments: schema::<InitArguments>,
    result: written_schema::<AskedResult>,
    run: init,
};

pub(super) static WRITE_CONFIG: Tool = Tool {
    name: "write_config",
    title: "Write a descendant's config",
    description: "Puts a commit with this agent.toml into the config repository of an agent below you, on a branch of your own, \
        and says its id. Nothing changes by it: request_apply_commit asks for it to be applied.",
    needs: &[Capability::Spawn],
    effect: Effect::Drafts,
    arguments: schema::<WriteArguments>,
    result: written_schema::<WrittenResult>,
    run: write,
};

pub(super) static REQUEST_APPLY_COMMIT: Tool = Tool {
    name: "request_apply_commit",
    title: "Ask for a commit to be applied",
    description: "Asks that one commit of the config of an agent below you is applied, by its whole id; never of your own \
        config. The owner sees what it changes and says yes or no. Asked for is not applied: say that it waits.",
    needs: &[Capability::Spawn],
    effect: Effect::Drafts,
    arguments: schema::<ApplyArguments>,
    result: written_schema::<AskedResult>,
    run: apply,
};

pub(super) static REQUEST_UPDATE_META_INPUTS: Tool = Tool {
    name: "request_update_meta_inputs",
    title: "Ask for other pinned inputs",
    description: "Asks that sources (persona packs, tool packs, catalogue sources) are pinned to other commits: each by name, \
        kind, https or ssh address and whole commit id, or by name with gone. It waits for the owner, and fetches nothing.",
    needs: &[Capability::MetaUpdate],
    effect: Effect::Drafts,
    arguments: schema::<InputsArguments>,
    result: written_schema::<AskedResult>,
    run: update_inputs,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct InitArguments {
    /// 1 to 64 of a-z, 0-9 and -; nobody has or had one that reads like it.
    name: String,
    /// The text of its agent.toml.
    config: String,
    /// Why, in one or two sentences; the owner reads it as your words.
    reason: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteArguments {
    /// An agent below you.
    agent: String,
    /// The whole text of its agent.toml.
    config: String,
    /// What the commit says, in one line.
    message: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ApplyArguments {
    /// An agent below you.
    agent: String,
    /// The whole id of a commit of its config repository, which a branch of it has.
    commit: String,
    /// Why, in one or two sentences; the owner reads it as your words.
    reason: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct InputsArguments {
    inputs: Vec<InputArguments>,
    /// Why, in one or two sentences; the owner reads it as your words.
    reason: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct InputArguments {
    /// 1 to 64 of a-z, 0-9 and -.
    name: String,
    #[serde(default)]
    kind: Option<KindWord>,
    /// https://HOST/PATH or ssh://[USER@]HOST/PATH.
    #[serde(default)]
    url: Option<String>,
    /// The whole id of a commit.
    #[serde(default)]
    commit: Option<String>,
    /// It is pinned no longer.
    #[serde(default)]
    gone: bool,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum KindWord {
    PersonaPack,
    ToolPack,
    CatalogueSource,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AskedResult {
    /// The id of the proposal that waits.
    pending_change_id: String,
    /// What people call it.
    code: String,
    /// What a yes changes, in Void's words.
    summary: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct WrittenResult {
    /// The id of the commit; nothing is applied by it.
    commit: String,
}

fn init(mut call: Call) -> RunningTool {
    Box::pin(async move {
        let arguments: InitArguments = call.arguments()?;
        let request = InitConfigRequest {
            name: agent(&arguments.name)?,
            parent: None,
            config: arguments.config,
            notes: notes(&call, arguments.reason),
        };
        let (control, ctx) = (call.control.clone(), call.ctx.clone());
        ask(&call, async move {
            agent_configs::request_init_config(&control, &ctx, request).await
        })
        .await
    })
}

fn apply(mut call: Call) -> RunningTool {
    Box::pin(async move {
        let arguments: ApplyArguments = call.arguments()?;
        let request = ApplyCommitRequest {
            agent: agent(&arguments.agent)?,
            commit: commit(&arguments.commit)?,
            notes: notes(&call, arguments.reason),
        };
        let (control, ctx) = (call.control.clone(), call.ctx.clone());
        ask(&call, async move {
            agent_configs::request_apply_commit(&control, &ctx, request).await
        })
        .await
    })
}

fn update_inputs(mut call: Call) -> RunningTool {
    Box::pin(async move {
        let arguments: InputsArguments = call.arguments()?;
        let inputs = arguments.inputs.into_iter().map(input);
        let request = UpdateInputsRequest {
            inputs: inputs.collect::<Result<_, ToolError>>()?,
            // What is on this machine is the owner's to name.
            schemes: InputSchemes::Remote,
            notes: notes(&call, arguments.reason),
        };
        let (control, ctx) = (call.control.clone(), call.ctx.clone());
        ask(&call, async move {
            agent_configs::request_update_meta_inputs(&control, &ctx, request).await
        })
        .await
    })
}

fn write(mut call: Call) -> RunningTool {
    Box::pin(async move {
        let arguments: WriteArguments = call.arguments()?;
        let request = WriteConfigRequest {
            agent: agent(&arguments.agent)?,
            config: arguments.config,
            message: arguments.message,
        };
        let (control, ctx) = (call.control.clone(), call.ctx.clone());
        let writing = call
            .notes
            .making(async move { agent_configs::write_config(&control, &ctx, request).await });
        let written = writing.await?.map_err(told)?;
        Ok(Outcome::of(json!(WrittenResult {
            commit: written.to_string(),
        })))
    })
}

fn notes(call: &Call, reason: String) -> RequestNotes {
    RequestNotes {
        reason: Some(reason),
        taint: call.taint.clone(),
        turn: call.scope.turn,
    }
}

fn agent(name: &str) -> Result<AgentName, ToolError> {
    name.parse()
        .map_err(|error: void_domain::agents::InvalidAgentName| invalid(error.to_string()))
}

fn commit(id: &str) -> Result<CommitId, ToolError> {
    CommitId::parse(id).map_err(|error| invalid(error.to_string()))
}

fn input(said: InputArguments) -> Result<(String, Option<PinnedInput>), ToolError> {
    let pinned = match (said.gone, said.kind, said.url, said.commit) {
        (true, None, None, None) => None,
        (false, Some(kind), Some(url), Some(id)) => Some(PinnedInput {
            kind: match kind {
                KindWord::PersonaPack => InputKind::PersonaPack,
                KindWord::ToolPack => InputKind::ToolPack,
                KindWord::CatalogueSource => InputKind::CatalogueSource,
            },
            url: InputUrl::parse(&url).map_err(|error| invalid(format!("url {error}")))?,
            commit: commit(&id)?,
        }),
        _ => {
            let said = "an input has kind, url and commit, or gone alone";
            return Err(invalid(said));
        }
    };
    Ok((said.name, pinned))
}

fn invalid(said: impl Into<String>) -> ToolError {
    ToolError::new(FailureCode::Invalid, said)
}

/// Goes to its end whoever still waits for it, and its proposal is noted.
async fn ask(
    call: &Call,
    asking: impl Future<Output = Result<Proposed, AgentConfigError>> + Send + 'static,
) -> Result<Outcome, ToolError> {
    let notes = call.notes.clone();
    let asked = call.notes.making(async move {
        let proposed = asking.await;
        if let Ok(Proposed::Queued(made) | Proposed::Started(made) | Proposed::Refused(_, made)) =
            &proposed
        {
            notes.add(made.id);
        }
        proposed
    });
    match asked.await?.map_err(told)? {
        Proposed::Queued(made) | Proposed::Started(made) => Ok(waits(&made)),
        Proposed::Refused(refusal, made) => Ok(Outcome {
            value: json!({"reason": refusal.code().as_str(), "meaning": refusal.message(),
                "code": made.code.to_string()})
            .into(),
            proposal: Some(made.id),
            is_denied: true,
            ..Outcome::default()
        }),
    }
}

fn waits(made: &Proposal) -> Outcome {
    let change = made.subject.change();
    let result = AskedResult {
        pending_change_id: made.id.to_string(),
        code: made.code.to_string(),
        summary: change
            .map(|change| change.summary.clone())
            .unwrap_or_default(),
    };
    Outcome {
        value: json!(result).into(),
        proposal: Some(made.id),
        draft_summary: Some(made.subject.label.clone()),
        ..Outcome::default()
    }
}

fn told(error: AgentConfigError) -> ToolError {
    let (code, message) = (error.code(), error.to_string());
    match error {
        AgentConfigError::Store(error) => error.into(),
        AgentConfigError::TooManyRows(error) => {
            let wait_s = error.retry_after.as_secs().saturating_add(1);
            ToolError::new(code, format!("{message}; try again in {wait_s} s"))
        }
        _ => ToolError::new(code, message),
    }
}
