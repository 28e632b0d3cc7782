//! Queue, approve and run over HTTP. Void and the floor take turns in short rounds, so that both see
//! the same noise of the machine; at the end the rows must match the answers.

use std::path::Path;

use serde_json::{Value, json};
use void_domain::proposals::Status;
use void_store::{Store, proposals};

use crate::Outcome;
use crate::http::{self, Connection};
use crate::load::{Answers, Crowd, Operation};
use crate::plan::Plan;
use crate::postgres::Cluster;
use crate::servers::{Server, folder_in};
use crate::statistics::{Round, median_ratio, rounded};
use crate::subject::{EFFECTS_PATH, Engine};

/// Where databases come from. Only SQLite has a floor beside it.
pub(crate) enum Databases {
    Sqlite,
    Postgres(Cluster),
}

impl Databases {
    fn fresh(&self) -> Outcome<Engine> {
        Ok(match self {
            Self::Sqlite => Engine::Sqlite,
            Self::Postgres(cluster) => Engine::Postgres(cluster.database()?),
        })
    }

    const fn rounds(&self, plan: &Plan) -> usize {
        match self {
            Self::Sqlite => plan.rounds,
            Self::Postgres(_) => plan.rounds_postgres,
        }
    }
}

/// A cell of the table for every operation and number of clients.
pub(crate) async fn measure(
    plan: &Plan,
    place: &Path,
    databases: &Databases,
) -> Outcome<Vec<Value>> {
    let mut cells = Vec::new();
    for clients in plan.clients {
        let engine = databases.fresh()?;
        eprintln!("  {}, {clients} clients", engine.as_str());
        let (folder, floor_folder) = (folder_in(place)?, folder_in(place)?);
        let mut void = Side::open(
            Server::subject(&engine, folder.path()).await?,
            *clients,
            plan,
        )
        .await?;
        let mut floor = match engine {
            Engine::Sqlite => {
                let server = Server::floor(floor_folder.path()).await?;
                Some(Side::open(server, *clients, plan).await?)
            }
            Engine::Postgres(_) => None,
        };
        for _ in 0..databases.rounds(plan) {
            for operation in Operation::ALL {
                void.round(operation, plan).await?;
                if let Some(floor) = &mut floor {
                    floor.round(operation, plan).await?;
                }
            }
        }
        cells.extend(
            Operation::ALL
                .map(|operation| cell(&engine, operation, *clients, &void, floor.as_ref())),
        );
        let recorded = Recorded::of(void, &engine, folder.path()).await?;
        recorded.check()?;
        cells.push(recorded.to_json(&engine, *clients));
    }
    Ok(cells)
}

/// One side of the comparison.
struct Side {
    server: Server,
    crowd: Crowd,
    rounds: Vec<(Operation, Round)>,
}

impl Side {
    async fn open(server: Server, clients: usize, plan: &Plan) -> Outcome<Self> {
        let mut crowd = Crowd::open(server.address, clients).await?;
        // Connections, statements and pages are warm before anything counts.
        crowd.round(Operation::Run, plan.round / 4).await?;
        Ok(Self {
            server,
            crowd,
            rounds: Vec::new(),
        })
    }

    async fn round(&mut self, operation: Operation, plan: &Plan) -> Outcome<()> {
        let before = self.server.computed()?;
        let round = self.crowd.round(operation, plan.round).await?;
        let round = round.computed(self.server.computed()?.saturating_sub(before));
        self.rounds.push((operation, round));
        Ok(())
    }

    fn of(&self, operation: Operation) -> Vec<Round> {
        let of_it = self.rounds.iter().filter(|(done, _)| *done == operation);
        of_it.map(|(_, round)| round.clone()).collect()
    }
}

fn cell(
    engine: &Engine,
    operation: Operation,
    clients: usize,
    void: &Side,
    floor: Option<&Side>,
) -> Value {
    let rounds = void.of(operation);
    let mut cell = json!({
        "engine": engine.as_str(),
        "operation": operation.as_str(),
        "clients": clients,
        "void": Round::middle(&rounds).to_json(),
    });
    if let (Some(floor), Some(cell)) = (floor, cell.as_object_mut()) {
        let below = floor.of(operation);
        let ratio = |number: fn(&Round) -> f64| {
            let pairs = rounds.iter().zip(&below);
            rounded(median_ratio(
                pairs.map(|(void, floor)| (number(void), number(floor))),
            ))
        };
        cell.insert("floor".to_owned(), Round::middle(&below).to_json());
        cell.insert("ratio".to_owned(), ratio(|round| round.per_s).into());
        cell.insert("p99_ratio".to_owned(), ratio(|round| round.p99_ms).into());
    }
    cell
}

/// What is on the record afterwards, beside what was answered.
#[derive(Debug)]
struct Recorded {
    answers: Answers,
    effects: usize,
    executed: usize,
    pending: usize,
}

impl Recorded {
    /// Ends the server and looks into its database.
    async fn of(side: Side, engine: &Engine, folder: &Path) -> Outcome<Self> {
        let Side { server, crowd, .. } = side;
        let mut connection = Connection::open(server.address).await?;
        let asked = http::request("GET", EFFECTS_PATH, "");
        let answer = connection.call(&asked).await?;
        let effects = str::from_utf8(answer.body)?.parse()?;
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

    fn check(&self) -> Outcome<()> {
        let ran = self.answers.approve + self.answers.run;
        let waits = self.answers.queue - self.answers.approve;
        if (self.effects, self.executed, self.pending) == (ran, ran, waits) {
            return Ok(());
        }
        Err(format!("rows and answers do not match: {self:?}").into())
    }

    fn to_json(&self, engine: &Engine, clients: usize) -> Value {
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

async fn count(store: &Store, status: Status) -> Outcome<usize> {
    let read = store.read(move |tx| Box::pin(proposals::count_by_status(tx, status)));
    Ok(usize::try_from(read.await?)?)
}
