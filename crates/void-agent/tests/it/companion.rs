//! The companion: it answers from what the owner keeps, in one space, and drafts changes that wait. What it reads of strangers
//! marks its turn and its drafts, and nothing that it or anybody else calls writes a word.

mod drafts;
mod injection_paths;
mod injections;
mod outcomes;
mod places;
mod reading;
mod real_readers;
mod rules;
mod views;

use std::sync::Arc;

use serde_json::Value;
use void_agent::turns::Started;
use void_control::knowledge::{self, EntityFilter, NewEntity, TextSource};
use void_control::proposals::{
    self, DecideRequest, Decision, KnowledgeRequest, ProposalKey, Proposed, WantedChange,
};
use void_control::{Ctx, conversations};
use void_domain::conversations::{Conversation, MessageView};
use void_domain::ids::SpaceId;
use void_domain::knowledge::{
    Body, Details, Entity, EntityId, EntityKind, Fields, FieldsPatch, PageDetails, RefDetails,
    RefUrl, SpaceDetails, Tags, TaskDetails, Title,
};
use void_domain::proposals::Proposal;
use void_domain::taint::Taint;

use crate::rooms::{Ended, Room, Setup};
use crate::scripted::{Scripted, ScriptedReply, calls, says};

/// A room with what the owner keeps, and an agent that is asked in one of its spaces.
pub(crate) struct CompanionRig {
    pub room: Room,
    pub brain: Arc<Scripted>,
    pub space: SpaceId,
    pub elsewhere: SpaceId,
}

pub(crate) fn page_of(title: &str, body: &str) -> Fields {
    fields(title, body, Details::Page(PageDetails::default()))
}

pub(crate) fn task_of(title: &str, body: &str) -> Fields {
    fields(title, body, Details::Task(TaskDetails::default()))
}

pub(crate) fn ref_of(title: &str, body: &str) -> Fields {
    let details = RefDetails {
        project_id: None,
        url: RefUrl::parse("https://example.org/a").unwrap(),
        tags: Tags::default(),
    };
    fields(title, body, Details::Ref(details))
}

pub(crate) fn fields(title: &str, body: &str, details: Details) -> Fields {
    Fields {
        title: Title::parse(title).unwrap(),
        body: Body::parse(body).unwrap(),
        details,
    }
}

impl CompanionRig {
    pub(crate) async fn of(
        persona: &'static str,
        answers: impl IntoIterator<Item = ScriptedReply>,
    ) -> Self {
        let brain = Scripted::new(answers);
        let setup = Setup {
            persona,
            ..Setup::default()
        };
        let room = setup.open(Arc::clone(&brain) as _).await;
        let space = space(&room, "Lab").await;
        let elsewhere = self::space(&room, "Elsewhere").await;
        Self {
            room,
            brain,
            space,
            elsewhere,
        }
    }

    pub(crate) async fn companion(answers: impl IntoIterator<Item = ScriptedReply>) -> Self {
        Self::of("companion", answers).await
    }

    pub(crate) async fn keep(&self, fields: Fields) -> Entity {
        self.keep_in(self.space, fields, TextSource::Owner).await
    }

    pub(crate) async fn keep_in(
        &self,
        space: SpaceId,
        fields: Fields,
        source: TextSource,
    ) -> Entity {
        kept(&self.room, Some(space), fields, source).await
    }

    pub(crate) async fn now(&self, id: EntityId) -> Entity {
        let found = knowledge::find(&self.room.control, &self.room.owner, id);
        found.await.unwrap()
    }

    pub(crate) async fn conversation(&self) -> Conversation {
        let agent = self.room.agent.persona.slug.as_str();
        let (control, owner) = (&self.room.control, &self.room.owner);
        let found = conversations::ambient(control, owner, self.space, agent);
        found.await.unwrap()
    }

    pub(crate) async fn say(&self, text: &str, view: Option<MessageView>) -> Started {
        let id = self.conversation().await.id;
        let (room, text) = (&self.room, text.to_owned());
        let said = room
            .talk
            .say_looking_at(&room.owner, &room.agent, id, text, view);
        said.await.unwrap()
    }

    /// Says something in the conversation of the space, looking at nothing in particular.
    pub(crate) async fn turn(&self, text: &str) -> Ended {
        let started = self.say(text, None).await;
        self.room.ended(&started).await
    }

    /// The turn in which the agent calls this one tool, and what the tool gave.
    pub(crate) async fn called(&self, tool: &str, arguments: Value) -> (Value, Ended) {
        self.brain.then([calls(tool, arguments), says("so it is")]);
        let ended = self.turn("go on").await;
        let prompts = self.brain.prompts();
        let results = crate::scripted::results(prompts.last().unwrap());
        (results.last().unwrap().clone(), ended)
    }

    /// The same text, as a draft has it whose writer had read a stranger's.
    pub(crate) async fn taint(&self, entity: &Entity) -> Entity {
        let body = format!("{}\n", entity.body.as_str());
        let wanted = WantedChange::Update {
            id: entity.head.id,
            base: None,
            fields: FieldsPatch {
                body: Body::parse(&body).ok(),
                ..FieldsPatch::default()
            },
            edits: Vec::new(),
        };
        let request = KnowledgeRequest {
            wanted,
            reason: None,
            taint: Taint::from_sources(vec!["ref:1".to_owned()]),
            turn: None,
        };
        let (control, owner) = (&self.room.control, &self.room.owner);
        let drafted = proposals::propose_knowledge(control, owner, request).await;
        let Ok(Proposed::Queued(row)) = drafted else {
            panic!("{drafted:?}")
        };
        self.decide(&row, Decision::Approve).await;
        self.now(entity.head.id).await
    }

    pub(crate) async fn decide(&self, row: &Proposal, decision: Decision) -> Proposal {
        let request = DecideRequest {
            decision,
            digest: Some(row.subject.digest),
            revision: None,
            reason: Some("not like this".to_owned()).filter(|_| decision == Decision::Reject),
            key: None,
        };
        let (control, owner) = (&self.room.control, &self.room.owner);
        let decided = proposals::decide(control, owner, ProposalKey::Id(row.id), request);
        decided.await.unwrap()
    }

    /// Everything that the owner keeps, in all its words.
    pub(crate) async fn everything(&self) -> Vec<Entity> {
        let (control, owner) = (&self.room.control, &self.room.owner);
        let mut all = Vec::new();
        for kind in EntityKind::ALL {
            let filters = match kind {
                EntityKind::Space => vec![EntityFilter::spaces()],
                EntityKind::Project | EntityKind::Page | EntityKind::Task | EntityKind::Ref => {
                    let spaces = [self.space, self.elsewhere];
                    spaces
                        .map(|space| EntityFilter::within(space, kind))
                        .to_vec()
                }
            };
            for filter in filters {
                let mut cursor = None;
                loop {
                    let listed = knowledge::list(control, owner, filter, cursor, 100);
                    let page = listed.await.unwrap();
                    for head in page.items {
                        all.push(self.now(head.id).await);
                    }
                    cursor = page.next;
                    if cursor.is_none() {
                        break;
                    }
                }
            }
        }
        all
    }
}

pub(crate) async fn space(room: &Room, title: &str) -> SpaceId {
    let details = Details::Space(SpaceDetails::default());
    let made = kept(room, None, fields(title, "", details), TextSource::Owner).await;
    made.head.space_id
}

pub(crate) async fn kept(
    room: &Room,
    space_id: Option<SpaceId>,
    fields: Fields,
    source: TextSource,
) -> Entity {
    let new = NewEntity {
        space_id,
        fields,
        source,
        reason: None,
    };
    let made = knowledge::create(&room.control, &room.owner, new);
    made.await.unwrap()
}

/// The agent's own context, as a client outside would have it.
pub(crate) async fn ctx(room: &Room) -> Ctx {
    room.agent.ctx(&room.control).await.unwrap().unwrap()
}
