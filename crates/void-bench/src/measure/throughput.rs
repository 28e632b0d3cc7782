//! Queue, approve and run over HTTP: Void on SQLite and on PostgreSQL, the documents' stack on that same PostgreSQL
//! server, and the floor. All take turns in short rounds, so that all see the same noise of the machine; at the end
//! the rows must match the answers.

pub(super) mod recorded;

use std::path::Path;

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use self::recorded::Recorded;
use crate::Outcome;
use crate::load::{Crowd, Operation};
use crate::plan::Plan;
use crate::postgres::{Cluster, Database};
use crate::reference::Reference;
use crate::servers::{Server, folder_in};
use crate::statistics::{Round, median_ratio, rounded};
use crate::subject::{CLIENTS_MAX, Engine, catalogue_text};

/// What takes turns.
pub(crate) struct Sides<'a> {
    pub sqlite: bool,
    /// Whether Void is measured on it; the documents' stack needs it in any case.
    pub postgres: bool,
    pub cluster: Option<&'a Cluster>,
    pub reference: Option<&'a Reference>,
}

/// A cell for every database of Void's, operation and number of clients.
pub(crate) async fn measure(plan: &Plan, place: &Path, sides: &Sides<'_>) -> Outcome<Vec<Value>> {
    let mut cells = Vec::new();
    for clients in plan.clients {
        eprintln!("  {clients} clients");
        let mut open = sides.open(plan, place, *clients).await?;
        for _ in 0..plan.rounds {
            for operation in Operation::ALL {
                for side in &mut open {
                    side.round(operation, plan).await?;
                }
            }
        }
        for void in open.iter().filter(|side| side.engine().is_some()) {
            cells.extend(Operation::ALL.map(|operation| cell(operation, *clients, void, &open)));
        }
        for side in open {
            cells.extend(side.end(sides.cluster).await?);
        }
    }
    Ok(cells)
}

impl Sides<'_> {
    async fn open(&self, plan: &Plan, place: &Path, clients: usize) -> Outcome<Vec<Side>> {
        let mut open = Vec::new();
        if self.sqlite {
            open.push(Side::void(Engine::Sqlite, plan, place, clients).await?);
            open.push(Side::floor(plan, place, clients).await?);
        }
        if let Some(cluster) = self.cluster {
            if self.postgres {
                let engine = Engine::Postgres(cluster.database()?.url());
                open.push(Side::void(engine, plan, place, clients).await?);
            }
            if let Some(reference) = self.reference {
                let database = cluster.database()?;
                open.push(Side::reference(reference, database, plan, place, clients).await?);
            }
        }
        Ok(open)
    }
}

enum Kind {
    Void(Engine),
    Floor,
    Reference(Database),
}

/// One side of the comparison.
struct Side {
    kind: Kind,
    folder: TempDir,
    server: Server,
    crowd: Crowd,
    rounds: Vec<(Operation, Round)>,
}

impl Side {
    async fn void(engine: Engine, plan: &Plan, place: &Path, clients: usize) -> Outcome<Self> {
        let folder = folder_in(place)?;
        let server = Server::subject(&engine, folder.path()).await?;
        Self::open(Kind::Void(engine), folder, server, plan, clients).await
    }

    async fn floor(plan: &Plan, place: &Path, clients: usize) -> Outcome<Self> {
        let folder = folder_in(place)?;
        let server = Server::floor(folder.path()).await?;
        Self::open(Kind::Floor, folder, server, plan, clients).await
    }

    async fn reference(
        reference: &Reference,
        database: Database,
        plan: &Plan,
        place: &Path,
        clients: usize,
    ) -> Outcome<Self> {
        let folder = folder_in(place)?;
        let catalogue = catalogue_text(CLIENTS_MAX);
        let server = reference
            .actions(folder.path(), &catalogue, &database)
            .await?;
        Self::open(Kind::Reference(database), folder, server, plan, clients).await
    }

    async fn open(
        kind: Kind,
        folder: TempDir,
        server: Server,
        plan: &Plan,
        clients: usize,
    ) -> Outcome<Self> {
        let mut crowd = Crowd::open(server.address, clients).await?;
        // Connections, statements and pages are warm before anything counts, and so is the compiler of JavaScript.
        for operation in Operation::ALL {
            crowd.round(operation, plan.round / 2).await?;
        }
        Ok(Self {
            kind,
            folder,
            server,
            crowd,
            rounds: Vec::new(),
        })
    }

    const fn engine(&self) -> Option<&Engine> {
        match &self.kind {
            Kind::Void(engine) => Some(engine),
            Kind::Floor | Kind::Reference(_) => None,
        }
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

    /// Ends it; what it wrote must be what it answered.
    async fn end(self, cluster: Option<&Cluster>) -> Outcome<Option<Value>> {
        let Self {
            kind,
            folder,
            server,
            crowd,
            ..
        } = self;
        let clients = crowd.len();
        match (kind, cluster) {
            (Kind::Void(engine), _) => {
                let recorded = Recorded::of_void(server, crowd, &engine, folder.path()).await?;
                recorded.check()?;
                Ok(Some(recorded.to_json(&engine, clients)))
            }
            (Kind::Reference(database), Some(cluster)) => {
                let recorded = Recorded::of_reference(server, crowd, cluster, &database).await?;
                recorded.check()?;
                Ok(None)
            }
            (Kind::Reference(_), None) | (Kind::Floor, _) => Ok(None),
        }
    }
}

/// Void's numbers, and what they are of each other side's, round by round.
fn cell(operation: Operation, clients: usize, void: &Side, all: &[Side]) -> Value {
    let rounds = void.of(operation);
    let engine = void.engine().map_or("", Engine::as_str);
    let mut cell = Map::from_iter([
        ("engine".to_owned(), engine.into()),
        ("operation".to_owned(), operation.as_str().into()),
        ("clients".to_owned(), clients.into()),
        ("void".to_owned(), Round::middle(&rounds).to_json()),
    ]);
    for side in all {
        let (name, ratio_name) = match (&side.kind, void.engine()) {
            (Kind::Floor, Some(Engine::Sqlite)) => ("floor", "ratio"),
            (Kind::Reference(_), _) => ("reference", "reference_ratio"),
            (Kind::Void(_) | Kind::Floor, _) => continue,
        };
        let beside = side.of(operation);
        let ratio = |number: fn(&Round) -> f64| -> Value {
            let pairs = rounds.iter().zip(&beside);
            let pairs = pairs.map(|(void, other)| (number(void), number(other)));
            json!(rounded(median_ratio(pairs)))
        };
        cell.insert(name.to_owned(), Round::middle(&beside).to_json());
        cell.insert(ratio_name.to_owned(), ratio(|round| round.per_s));
        let tail = format!("p99_{ratio_name}");
        cell.insert(tail, ratio(|round| round.p99_ms));
    }
    cell.into()
}
