//! Where turns are tested: a real control plane with a real store and real channels, an agent with a
//! scripted brain, and the owner.

use std::sync::Arc;

use serde_json::{Value, json};
use void_agent::agents::Agent;
use void_agent::brains::Brain;
use void_agent::personas::Personas;
use void_agent::turns::{ChatEvent, Live, Started, Talk};
use void_channels::Checker;
use void_control::conversations;
use void_control::instances::Identity;
use void_control::{Beside, Clock, Control, ControlConfig, Ctx, Limits};
use void_domain::actors::{Actor, Surface};
use void_domain::capabilities::Capabilities;
use void_domain::conversations::{Conversation, Message, Said, Turn};
use void_domain::facts::Fact;
use void_domain::ids::{MessageId, RequestId};
use void_domain::proposals::Proposal;
use void_domain::secrets::Secret;
use void_domain::services::Services;
use void_store::proposals::ProposalFilter;
use void_store::{PostgresConfig, SqliteConfig, Store, StoreError, facts, proposals};
use void_testkit::{eventually, postgres_database};

use crate::labs::Lab;
use crate::scripted::{Scripted, ScriptedReply};

pub(crate) const OWNER_TOKEN: &str = "owner-canary-5f0c2d7be1a94c3b";

#[derive(Clone)]
pub(crate) enum Engine {
    Sqlite,
    Postgres(String),
}

impl Engine {
    pub(crate) async fn postgres() -> Self {
        let made = tokio::task::spawn_blocking(postgres_database).await;
        Self::Postgres(made.unwrap())
    }
}

/// What differs from the ordinary.
pub(crate) struct Setup {
    pub engine: Engine,
    pub clock: Clock,
    pub lab: Arc<Lab>,
    pub services: Services,
    pub persona: &'static str,
    /// Which data folder it has.
    pub instance: &'static str,
    pub daily_tokens: Option<u64>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            engine: Engine::Sqlite,
            clock: Clock::system(),
            lab: Arc::new(Lab::new()),
            services: Services::default(),
            persona: "little-blue",
            instance: "own",
            daily_tokens: None,
        }
    }
}

pub(crate) struct Room {
    pub control: Control,
    pub store: Store,
    pub talk: Talk,
    pub agent: Arc<Agent>,
    pub lab: Arc<Lab>,
    pub owner: Ctx,
}

/// The room of an agent that says this.
pub(crate) async fn room(
    answers: impl IntoIterator<Item = ScriptedReply>,
) -> (Room, Arc<Scripted>) {
    let brain = Scripted::new(answers);
    let room = Setup::default().open(Arc::clone(&brain) as _).await;
    (room, brain)
}

impl Setup {
    pub(crate) async fn open(self, brain: Arc<dyn Brain>) -> Room {
        let store = self.store().await;
        let catalogue = self.lab.catalogue();
        let folder = self.lab.path().join(self.instance);
        std::fs::create_dir_all(&folder).unwrap();
        let config = ControlConfig {
            store: store.clone(),
            channels: Arc::new(self.lab.channels(&catalogue)),
            catalogue,
            catalogue_commit: None,
            catalogue_source: None,
            services: self.services,
            checker: Checker::new(None),
            executor: None,
            rehearsal: false,
            clock: self.clock,
            owner_token: Secret::new(OWNER_TOKEN),
            limits: Limits {
                safe_runs_per_agent_hour: u32::MAX,
                ..Limits::default()
            },
            backups_folder: None,
            witness_file: None,
            instance: Identity::of_folder(&folder, None).unwrap(),
            replace_catalogue: false,
        };
        let control = Control::start(config, Beside::default()).await.unwrap();
        let personas = Personas::builtin().unwrap();
        let persona = Arc::clone(personas.get(self.persona).unwrap());
        let agent = Agent {
            daily_tokens: self.daily_tokens,
            ..Agent::new(persona, "scripted", brain)
        };
        let talk = Talk::new(control.clone(), vec![agent]);
        Room {
            agent: Arc::clone(talk.agent(self.persona).unwrap()),
            owner: owner(&control),
            control,
            store,
            talk,
            lab: self.lab,
        }
    }

    async fn store(&self) -> Store {
        match &self.engine {
            Engine::Sqlite => {
                let file = self.lab.path().join("void.db");
                // After a restart what the last one had begun may hold it for a moment.
                let opened = eventually("the file to be free", || async {
                    let opened = Store::open_sqlite(SqliteConfig::new(file.clone())).await;
                    (!matches!(opened, Err(StoreError::InUse))).then_some(opened)
                });
                opened.await.unwrap()
            }
            Engine::Postgres(url) => {
                let config = PostgresConfig {
                    url: Secret::new(url.as_str()),
                    ca_file: None,
                };
                Store::open_postgres(config).await.unwrap()
            }
        }
    }
}

pub(crate) fn owner(control: &Control) -> Ctx {
    Ctx {
        actor: Actor::Owner {
            surface: Surface::Web,
        },
        capabilities: Capabilities::none(),
        request_id: RequestId::new(control.clock().now(), [7; 10]),
        authenticated_ago: None,
        is_from_outside: false,
        token: None,
    }
}

impl Room {
    pub(crate) async fn conversation(&self) -> Conversation {
        let found = self.talk.conversation(&self.owner, &self.agent).await;
        found.unwrap()
    }

    /// The owner says something in the one conversation.
    pub(crate) async fn say(&self, text: &str) -> Started {
        let id = self.conversation().await.id;
        let said = self.talk.say(&self.owner, &self.agent, id, text.to_owned());
        said.await.unwrap()
    }

    /// Says it and waits for the end: the turn, what was said, what was heard.
    pub(crate) async fn turn(&self, text: &str) -> Ended {
        let started = self.say(text).await;
        self.ended(&started).await
    }

    pub(crate) async fn retry(&self, id: MessageId) -> Ended {
        let started = self.talk.retry(&self.owner, &self.agent, id).await;
        self.ended(&started.unwrap()).await
    }

    pub(crate) async fn ended(&self, started: &Started) -> Ended {
        let heard = all(&started.live).await;
        let (message, turn) = self.stored(started.message_id).await;
        Ended {
            id: started.message_id,
            body: message.body,
            turn,
            heard,
        }
    }

    pub(crate) async fn stored(&self, id: MessageId) -> (Message, Turn) {
        let message = conversations::message(&self.control, id).await.unwrap();
        let message = message.unwrap();
        let Said::ByAgent(turn) = message.said.clone() else {
            panic!("{message:?}")
        };
        (message, *turn)
    }

    /// Oldest first.
    pub(crate) async fn proposals(&self) -> Vec<Proposal> {
        let read = self
            .store
            .read(|tx| Box::pin(proposals::list(tx, ProposalFilter::default(), None, 500)));
        let rows = read.await.unwrap().items.into_iter();
        let mut rows: Vec<Proposal> = rows.map(|stored| stored.proposal).collect();
        rows.reverse();
        rows
    }

    /// The whole record, oldest first, checked by the program that knows nothing of Void.
    pub(crate) async fn audit(&self) -> Vec<Fact> {
        let read = self
            .store
            .read(|tx| Box::pin(facts::list_after(tx, 0, 100_000)));
        let entries = read.await.unwrap();
        let lines: String = entries
            .iter()
            .map(|entry| format!("{}\n", entry.export_line()))
            .collect();
        let options = void_verify::Options {
            head: None,
            threads: 1,
        };
        let report = void_verify::verify(lines.as_bytes(), &options).unwrap();
        assert!(report.problems.is_empty(), "{report:?}");
        assert_eq!(report.entries, entries.len() as u64);
        entries
    }
}

pub(crate) struct Ended {
    pub id: MessageId,
    pub body: String,
    pub turn: Turn,
    pub heard: Vec<ChatEvent>,
}

impl Ended {
    /// The tools that were used, as the trace has them.
    pub(crate) fn tools(&self) -> Vec<(&str, &str)> {
        let steps = self.turn.trace.iter();
        steps
            .map(|step| (step.tool.as_str(), step.status.as_str()))
            .collect()
    }

    /// What the last event said.
    pub(crate) fn last(&self) -> Value {
        let last = self.heard.last().unwrap();
        assert!(last.is_last());
        json!({"event": last.name(), "data": last.payload()})
    }
}

/// Everything that a listener hears from the beginning to the end.
pub(crate) async fn all(live: &Live) -> Vec<ChatEvent> {
    let mut heard = Vec::new();
    loop {
        let more = live.after(heard.len()).await;
        if more.is_empty() {
            return heard;
        }
        heard.extend(more);
    }
}
