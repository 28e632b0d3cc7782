//! How a conversation, its messages and their turns are told.

use void_api::conversations::{
    ConversationAbout, ExportedConversation, ExportedMessage, MessageResponse, StepResponse,
    TruthItemResponse, TruthResponse, TurnFailure, TurnResponse, UsageResponse,
};
use void_control::conversations::Exported;
use void_domain::agent_turns::BegunBy;
use void_domain::conversations::{
    ConversationSubject, Message, Said, Step, Truth, TruthItem, Turn, TurnState, Usage,
};

use crate::markdown;

pub(super) fn exported_response(exported: Exported) -> ExportedConversation {
    let conversation = exported.conversation;
    ExportedConversation {
        conversation_id: conversation.id.to_string(),
        agent: conversation.agent,
        space_id: conversation.space_id.map(|id| id.to_string()),
        about: conversation.about.as_ref().map(about),
        created_at: conversation.created_at.to_string(),
        messages: exported
            .messages
            .into_iter()
            .map(exported_message)
            .collect(),
    }
}

pub(super) fn about(subject: &ConversationSubject) -> ConversationAbout {
    ConversationAbout {
        kind: subject.kind().into(),
        id: subject.id(),
    }
}

fn exported_message(message: Message) -> ExportedMessage {
    let (role, turn) = match message.said {
        Said::ByOwner => ("user", None),
        Said::ByAgent(turn) => ("assistant", Some(turn_response(*turn))),
    };
    ExportedMessage {
        id: message.id.to_string(),
        seq: message.seq,
        role: role.into(),
        body: message.body,
        created_at: message.at.to_string(),
        turn,
    }
}

pub(super) fn message_response(message: Message) -> MessageResponse {
    let (role, turn) = match message.said {
        Said::ByOwner => ("user", None),
        Said::ByAgent(turn) => ("assistant", Some(turn_response(*turn))),
    };
    MessageResponse {
        id: message.id.to_string(),
        conversation_id: message.conversation_id.to_string(),
        seq: message.seq,
        role: role.into(),
        blocks: markdown::read(&message.body),
        body: message.body,
        created_at: message.at.to_string(),
        turn,
    }
}

fn turn_response(turn: Turn) -> TurnResponse {
    let status = turn.state.as_str();
    let (ended_at, error) = match turn.state {
        TurnState::Running => (None, None),
        TurnState::Done { at } | TurnState::Stopped { at } => (Some(at), None),
        TurnState::Failed { at, failure } => {
            let (code, message) = (failure.code.to_string(), failure.message);
            (Some(at), Some(TurnFailure { code, message }))
        }
    };
    TurnResponse {
        status: status.into(),
        ended_at: ended_at.map(|at| at.to_string()),
        brain: turn.brain,
        model: turn.model,
        trace: turn.trace.into_iter().map(step_response).collect(),
        usage: usage_response(turn.usage),
        truth_line: turn.truth.line(),
        truth: truth_response(turn.truth),
        tainted_by: turn.tainted_by.sources().to_vec(),
        begun_by: turn.causes.iter().map(BegunBy::told).collect(),
        error,
    }
}

fn step_response(step: Step) -> StepResponse {
    StepResponse {
        tool: step.tool,
        args_summary: step.args_summary,
        status: step.status,
        took_ms: step.took_ms,
        result: step.result,
        proposal_id: step.proposal_id.map(|id| id.to_string()),
        draft_summary: step.draft_summary,
    }
}

fn usage_response(usage: Usage) -> UsageResponse {
    UsageResponse {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cache_read_tokens: usage.cache_read_tokens,
        cache_write_tokens: usage.cache_write_tokens,
        cost_micros: usage.cost_micros,
    }
}

fn truth_response(truth: Truth) -> TruthResponse {
    let items = |items: Vec<TruthItem>| items.into_iter().map(truth_item_response).collect();
    TruthResponse {
        ran: items(truth.ran),
        waits: items(truth.waits),
        refused: items(truth.refused),
        unverified: items(truth.unverified),
        before: truth.before.map(|before| Box::new(truth_response(*before))),
    }
}

fn truth_item_response(item: TruthItem) -> TruthItemResponse {
    TruthItemResponse {
        id: item.id,
        code: item.code,
        action_id: item.action_id,
        label: item.label,
        status: item.status,
        reason: item.reason.map(|code| code.to_string()),
    }
}
