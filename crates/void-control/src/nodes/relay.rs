//! Several instances: a command waits here, and its node polls at another one. It travels through the database; the
//! update that marks it as handed over decides who hands it over, once.

use std::time::Duration;

use serde_json::{Value, json};
use void_channels::{Command, Reported, command_of_run, is_question, run_command};
use void_domain::digests::Digest;
use void_domain::executions::Route;
use void_domain::failures::{AnyCode, FailureCode};
use void_domain::ids::ProposalId;
use void_domain::permits::Ticket;
use void_domain::proposals::{Failure, Status};
use void_store::nodes::{self, StrandedCommand};
use void_store::proposals::Stored;
use void_store::{StoreError, Tx, proposals};

use super::record;
use crate::control::Control;
use crate::proposals::{current_definition, on_record};

const LOOK_EVERY: Duration = Duration::from_millis(250);
const STRANDED_MAX: u32 = 100;
/// How long the other instances have to hand it over.
const HAND_OVER_WITHIN: Duration = Duration::from_secs(10);
/// Whatever is older belongs to nobody any more.
const KEPT_FOR: Duration = Duration::from_secs(2 * 60 * 60);

pub(crate) fn start(control: &Control) {
    if control.store.is_sqlite() {
        return;
    }
    let control = control.clone();
    tokio::spawn(async move {
        let mut stopping = control.process.stopping.subscribe();
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                _ = stopping.wait_for(|stop| *stop) => return,
            }
            for (node, command) in control.runs.channels.nodes().strand() {
                tokio::spawn(send(control.clone(), node, command));
            }
            if let Err(error) = hand_over(&control).await {
                tracing::warn!(%error, "commands for nodes could not be passed between instances");
            }
        }
    });
}

/// Follows one command to its end at whichever instance.
async fn send(control: Control, node: String, command: Command) {
    let id = command.id.clone();
    let reported = match follow(&control, &node, command).await {
        Ok(reported) => reported,
        // It may have been handed over meanwhile.
        Err(error) => Reported::Lost(Failure::new(FailureCode::Unavailable, error.to_string())),
    };
    control
        .runs
        .channels
        .nodes()
        .report(&node, &id, Vec::new(), Some(reported));
}

async fn follow(control: &Control, node: &str, command: Command) -> Result<Reported, StoreError> {
    let at = control.clock.now();
    let (id, limit) = (command.id.clone(), command.limit);
    let stranded = StrandedCommand {
        id: command.id,
        node: node.to_owned(),
        command: command.command,
        limit: command.limit,
        is_run: command.is_run,
    };
    control
        .store
        .write(move |tx| Box::pin(async move { nodes::strand(tx, &stranded, at).await }))
        .await?;
    let mut waited = Duration::ZERO;
    while waited < limit {
        tokio::time::sleep(LOOK_EVERY).await;
        waited += LOOK_EVERY;
        let wanted = id.clone();
        let seen = control
            .store
            .read(move |tx| Box::pin(async move { nodes::look_at_stranded(tx, &wanted).await }))
            .await?;
        match seen {
            Some((true, Some(answer))) => {
                clear(control, Some(id)).await?;
                return Ok(read(&answer));
            }
            Some((false, _)) if waited >= HAND_OVER_WITHIN => {
                let job = id.clone();
                let won = write(control, move |tx| {
                    Box::pin(async move { nodes::withdraw_stranded(tx, &job).await })
                });
                if won.await? {
                    let message = format!("{node} did not come for it; nothing was sent");
                    return Ok(Reported::NotSent(Failure::new(
                        FailureCode::Unreachable,
                        message,
                    )));
                }
            }
            Some((true | false, _)) => {}
            None => break,
        }
    }
    let message = format!("{node} did not report in time");
    Ok(Reported::Lost(Failure::new(FailureCode::Timeout, message)))
}

async fn write<T: Send + 'static>(
    control: &Control,
    job: impl for<'t> FnOnce(&'t mut Tx) -> void_store::BoxFuture<'t, Result<T, StoreError>>
    + Send
    + 'static,
) -> Result<T, StoreError> {
    control.store.write(job).await
}

async fn clear(control: &Control, id: Option<String>) -> Result<(), StoreError> {
    let before = control.clock.now().minus(KEPT_FOR);
    write(control, move |tx| {
        Box::pin(async move { nodes::clear_stranded(tx, id.as_deref(), before).await })
    })
    .await
}

/// Takes what other instances left for the nodes that poll here.
async fn hand_over(control: &Control) -> Result<(), StoreError> {
    let here = control.runs.channels.nodes().here();
    if here.is_empty() {
        return Ok(());
    }
    let stranded = control
        .store
        .read(|tx| Box::pin(nodes::list_stranded(tx, STRANDED_MAX)))
        .await?;
    for command in stranded {
        if !here.contains(&command.node) {
            continue;
        }
        let (this, job) = (control.clone(), command.clone());
        let won = write(control, move |tx| {
            Box::pin(async move { take(tx, &this, &job).await })
        });
        if won.await? {
            tokio::spawn(carry(control.clone(), command));
        }
    }
    Ok(())
}

/// Whether we are the one who hands it over. A row alone starts nothing: whoever can write to the database could
/// have put it there.
async fn take(
    tx: &mut Tx,
    control: &Control,
    command: &StrandedCommand,
) -> Result<bool, StoreError> {
    let at = control.clock.now();
    if is_wanted(tx, control, command).await? {
        return nodes::take_stranded(tx, &command.id, at).await;
    }
    if nodes::withdraw_stranded(tx, &command.id).await? {
        tracing::error!(
            node = command.node,
            "a command for it was in the database that no run on the record asks for: it was not handed over"
        );
        let context = control.context(&control.system_ctx()?);
        let detail = json!({"command": Digest::of(command.command.as_bytes())});
        record(
            tx,
            &context,
            at,
            "node.command_refused",
            &command.node,
            detail,
        )
        .await?;
    }
    Ok(false)
}

/// A question, or the very command of a run that the record knows and that belongs to this node.
async fn is_wanted(
    tx: &mut Tx,
    control: &Control,
    command: &StrandedCommand,
) -> Result<bool, StoreError> {
    if !command.is_run {
        return Ok(is_question(&command.command));
    }
    let id = command.id.strip_prefix(&command_of_run(""));
    let Some(id) = id.and_then(|id| id.parse::<ProposalId>().ok()) else {
        return Ok(false);
    };
    let Some(Stored { proposal, .. }) = proposals::find(tx, id).await? else {
        return Ok(false);
    };
    let action = current_definition(control, &proposal).map(|(action, _)| action);
    let is_of_node = action.is_some_and(|action| action.route() == Route::Node(&command.node));
    let action_id = proposal.subject.action_id();
    let expected = Ticket::of(&proposal)
        .zip(action_id)
        .and_then(|(ticket, id)| run_command(id.as_str(), &ticket));
    Ok(proposal.status() == Status::Running
        && is_of_node
        && expected.as_ref() == Some(&command.command)
        && on_record::holds(tx, &proposal).await?)
}

async fn carry(control: Control, stranded: StrandedCommand) {
    let id = stranded.id.clone();
    let command = Command {
        id: stranded.id,
        command: stranded.command,
        limit: stranded.limit,
        is_run: stranded.is_run,
    };
    let nodes_here = control.runs.channels.nodes();
    let reported = nodes_here.carry(&stranded.node, command, true).await;
    let text = written(&reported);
    let stored = write(&control, move |tx| {
        Box::pin(async move { nodes::answer_stranded(tx, &id, &text).await })
    });
    if let Err(error) = stored.await {
        tracing::warn!(%error, "a node's answer could not be passed on; its journal is asked");
    }
}

fn written(reported: &Reported) -> String {
    let failure = |failure: &Failure| json!({"code": failure.code, "message": failure.message});
    match reported {
        Reported::Answer(_) => json!({"answer": reported.to_value()}),
        Reported::NotSent(why) => json!({"not_sent": failure(why)}),
        Reported::Lost(why) => json!({"lost": failure(why)}),
    }
    .to_string()
}

fn read(text: &str) -> Reported {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let failure = |why: &Value| {
        let word = |name: &str| why.get(name).and_then(Value::as_str).unwrap_or_default();
        Failure::new(AnyCode::read(word("code")), word("message"))
    };
    match (
        value.get("answer"),
        value.get("not_sent"),
        value.get("lost"),
    ) {
        (Some(answer), _, _) => Reported::of(Some(answer.clone())),
        (None, Some(why), _) => Reported::NotSent(failure(why)),
        (None, None, Some(why)) => Reported::Lost(failure(why)),
        (None, None, None) => Reported::of(None),
    }
}
