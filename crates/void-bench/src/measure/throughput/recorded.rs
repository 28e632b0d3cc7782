//! What is on the record afterwards, beside what was answered.

use std::path::Path;

use serde_json::{Value, json};
use void_domain::proposals::Status;
use void_store::{Store, proposals};

use crate::Outcome;
use crate::http::{self, Connection};
use crate::load::{Answers, Crowd};
use crate::postgres::{Cluster, Database};
use crate::servers::Server;
use crate::subject::{EFFECTS_PATH, Engine};

#[derive(Debug)]
pub(crate) struct Recorded {
    answers: Answers,
    effects: usize,
    executed: usize,
    pending: usize,
}

impl Recorded {
    /// Ends the server and looks into its database.
    pub(crate) async fn of_void(
        server: Server,
        crowd: Crowd,
        engine: &Engine,
        folder: &Path,
    ) -> Outcome<Self> {
        let effects = effects(&server).await?;
        let answers = crowd.answers;
        drop((server, crowd));
        let store = engine.open(folder).await?;
        Ok(Self {
            answers,
            effects,
            executed: count(&store, Status::Executed).await?,
            pending: count(&store, Status::Pending).await?,
        })
    }

    /// The same of the documents' stack.
    pub(super) async fn of_reference(
        server: Server,
        crowd: Crowd,
        cluster: &Cluster,
        database: &Database,
    ) -> Outcome<Self> {
        let effects = effects(&server).await?;
        let answers = crowd.answers;
        drop((server, crowd));
        let rows = |status: &str| {
            let sql = format!("SELECT COUNT(*) FROM agent_actions WHERE status = '{status}'");
            cluster.count(database, &sql)
        };
        Ok(Self {
            answers,
            effects,
            executed: rows("executed")?,
            pending: rows("pending")?,
        })
    }

    pub(super) fn check(&self) -> Outcome<()> {
        let ran = self.answers.approve + self.answers.run;
        let waits = self.answers.queue - self.answers.approve;
        if (self.effects, self.executed, self.pending) == (ran, ran, waits) {
            return Ok(());
        }
        Err(format!("rows and answers do not match: {self:?}").into())
    }

    pub(super) fn to_json(&self, engine: &Engine, clients: usize) -> Value {
        json!({
            "engine": engine.as_str(),
            "operation": "all",
            "clients": clients,
            "answers": {"queue": self.answers.queue, "approve": self.answers.approve, "run": self.answers.run},
            "effects": self.effects,
            "executed_rows": self.executed,
            "pending_rows": self.pending,
        })
    }
}

/// How often the stub was asked to act.
async fn effects(server: &Server) -> Outcome<usize> {
    let mut connection = Connection::open(server.address).await?;
    let asked = http::request("GET", EFFECTS_PATH, "");
    let answer = connection.call(&asked).await?;
    Ok(str::from_utf8(answer.body)?.parse()?)
}

pub(crate) async fn count(store: &Store, status: Status) -> Outcome<usize> {
    let read = store.read(move |tx| Box::pin(proposals::count_by_status(tx, status)));
    Ok(usize::try_from(read.await?)?)
}
