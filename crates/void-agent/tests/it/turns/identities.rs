//! In whose name an agent acts, and that the owner can take it away at any moment.

use std::sync::Arc;

use tokio::sync::Semaphore;
use void_control::agents;
use void_control::tokens::{self, TokenError};
use void_domain::actors::{Actor, ActorKind};
use void_domain::agents::{AgentRefusal, AgentState};
use void_domain::capabilities::{Capabilities, Capability};
use void_domain::conversations::TurnState;
use void_domain::ids::{AgentId, TokenId};

use crate::rooms::{Room, Setup, room};
use crate::scripted::{Scripted, proposes, results, says};

async fn identity(room: &Room) -> (AgentId, Capabilities) {
    let ctx = room.agent.ctx(&room.control).await.unwrap().unwrap();
    let Actor::Agent { id, name } = ctx.actor else {
        panic!("{ctx:?}")
    };
    assert_eq!(name, room.agent.persona.slug);
    (id, ctx.capabilities)
}

/// The one live token of the agent.
async fn token(room: &Room) -> TokenId {
    let (agent, _) = identity(room).await;
    let tokens = tokens::list(&room.control).await.unwrap().into_iter();
    let tokens = tokens.map(|listed| listed.token);
    let mut live =
        tokens.filter(|token| token.agent_id == Some(agent) && token.revoked_at.is_none());
    let found = live.next().unwrap();
    assert!(live.next().is_none());
    found.id
}

#[tokio::test]
async fn a_token_withdrawn_in_the_middle_of_a_turn_counts_at_its_next_call() {
    let gate = Arc::new(Semaphore::new(0));
    let answers = [
        proposes("touch-a"),
        proposes("touch-b").waits_for(&gate),
        says("I may not"),
    ];
    let (room, brain) = room(answers).await;
    let started = room.say("both").await;
    void_testkit::eventually("the first run", || async {
        (brain.prompts().len() == 2).then_some(())
    })
    .await;
    let id = token(&room).await;
    tokens::revoke(&room.control, &room.owner, id)
        .await
        .unwrap();
    gate.add_permits(1);
    let ended = room.ended(&started).await;
    assert_eq!(
        ended.tools(),
        [("propose_action", "ok"), ("propose_action", "error")]
    );
    assert_eq!(
        results(&brain.prompts()[2])[1]["error"]["code"],
        "withdrawn"
    );
    assert_eq!(room.lab.effects().get("touch-b"), None);
    // And the next turn does not even begin to think.
    let ended = room.turn("hello?").await;
    let TurnState::Failed { failure, .. } = &ended.turn.state else {
        panic!("{:?}", ended.turn)
    };
    assert_eq!(failure.code, "withdrawn");
    assert_eq!(brain.prompts().len(), 3);
}

#[tokio::test]
async fn rights_taken_away_in_the_middle_of_a_turn_are_gone_at_its_next_call() {
    let gate = Arc::new(Semaphore::new(0));
    let answers = [
        proposes("touch-a").waits_for(&gate),
        says("I may not any more"),
    ];
    let (room, brain) = room(answers).await;
    let started = room.say("touch it").await;
    void_testkit::eventually("the question", || async {
        (brain.prompts().len() == 1).then_some(())
    })
    .await;
    let name = "little-blue".to_owned();
    let rights: Capabilities = [Capability::Read].into_iter().collect();
    let made = tokens::create(&room.control, &room.owner, ActorKind::Agent, name, rights);
    made.await.unwrap();
    gate.add_permits(1);
    let ended = room.ended(&started).await;
    assert_eq!(ended.tools(), [("propose_action", "denied")]);
    let result = &results(&brain.prompts()[1])[0];
    assert_eq!(result["error"]["code"], "forbidden");
    assert!(room.lab.effects().is_empty() && room.proposals().await.is_empty());
}

#[tokio::test]
async fn a_token_made_under_a_residents_name_is_the_same_agent() {
    let (room, brain) = room([proposes("stop-a"), says("asked")]).await;
    room.turn("stop it").await;
    let (id, capabilities) = identity(&room).await;
    assert!(capabilities.has(Capability::Act));
    let name = "little-blue".to_owned();
    let rights: Capabilities = [Capability::Read].into_iter().collect();
    let made = tokens::create(&room.control, &room.owner, ActorKind::Agent, name, rights);
    let made = made.await.unwrap();
    assert_eq!(made.id, token(&room).await);
    // The one identity has the rights that the owner gave it last, also here.
    brain.then([proposes("touch-a"), says("I may not")]);
    room.turn("touch it").await;
    let prompt = &brain.prompts()[3];
    let result = &results(prompt)[0];
    assert_eq!(result["error"]["code"], "forbidden");
    let mut offered = prompt.tools.iter();
    assert!(
        offered.all(|tool| tool.name != "propose_action"),
        "not even shown"
    );
    assert_eq!(identity(&room).await.0, id);
    // A second holder is refused; withdrawing it withdraws the agent.
    let name = "little-blue".to_owned();
    let again = tokens::create(
        &room.control,
        &room.owner,
        ActorKind::Agent,
        name,
        Capabilities::none(),
    );
    let read: Capabilities = [Capability::Read].into_iter().collect();
    let other = AgentRefusal::OtherCapabilities(read.clone());
    assert!(matches!(again.await, Err(TokenError::Refused(refusal)) if refusal == other));
    tokens::revoke(&room.control, &room.owner, made.id)
        .await
        .unwrap();
    assert!(room.agent.ctx(&room.control).await.unwrap().is_none());
    let gone = room.agent.identity(&room.control).await.unwrap().unwrap();
    assert!(matches!(gone.state, AgentState::Withdrawn { .. }) && gone.id == id);
    // A token under its name is not taken for it; the owner says that it is to be the same one.
    for rights in [read.clone(), Capabilities::none()] {
        let name = "little-blue".to_owned();
        let again = tokens::create(&room.control, &room.owner, ActorKind::Agent, name, rights);
        let refused = again.await.err().unwrap();
        assert!(matches!(
            refused,
            TokenError::Refused(AgentRefusal::Withdrawn)
        ));
    }
    assert!(room.agent.ctx(&room.control).await.unwrap().is_none());
    let back = tokens::restore_agent(&room.control, &room.owner, "little-blue", read.clone());
    let back = back.await.unwrap();
    assert_eq!(identity(&room).await, (id, read));
    assert_eq!(token(&room).await, back.id);
}

#[tokio::test]
async fn a_persona_that_only_reads_cannot_propose() {
    let brain = Scripted::new([proposes("touch-a"), says("I may not")]);
    let setup = Setup {
        persona: "sentinel",
        ..Setup::default()
    };
    let room = setup.open(Arc::clone(&brain) as _).await;
    let ended = room.turn("touch it").await;
    assert_eq!(ended.tools(), [("propose_action", "denied")]);
    let offered = &brain.prompts()[0];
    assert!(
        offered
            .tools
            .iter()
            .all(|tool| tool.name != "propose_action")
    );
    assert!(offered.system.contains("You may not propose actions"));
    assert!(room.proposals().await.is_empty() && room.lab.effects().is_empty());
}

/// A persona that is given more, or less, by its file: as long as nobody was handed a token, that counts.
#[tokio::test]
async fn an_agent_that_nobody_was_handed_follows_its_persona() {
    let (room, _) = room([]).await;
    let name = "night-watch".parse().unwrap();
    let rights = |list: &[Capability]| -> Capabilities { list.iter().copied().collect() };
    let (read, more) = (
        rights(&[Capability::Read]),
        rights(&[Capability::Read, Capability::AuditRead]),
    );
    let control = &room.control;
    for wanted in [&read, &more, &read, &more] {
        let ctx = agents::resident_ctx(control, &name, wanted).await.unwrap();
        assert_eq!(&ctx.unwrap().capabilities, wanted);
    }
    let made = tokens::create(
        control,
        &room.owner,
        ActorKind::Agent,
        name.to_string(),
        read.clone(),
    );
    made.await.unwrap();
    for persona in [&more, &Capabilities::none()] {
        let ctx = agents::resident_ctx(control, &name, persona).await.unwrap();
        assert_eq!(ctx.unwrap().capabilities, read, "what the owner said stays");
    }
    let verbs: Vec<String> = room
        .audit()
        .await
        .into_iter()
        .map(|entry| entry.verb)
        .filter(|verb| verb.starts_with("agent."))
        .collect();
    assert_eq!(
        verbs,
        [
            "agent.created",
            "agent.changed",
            "agent.changed",
            "agent.changed",
            "agent.changed"
        ]
    );
}
