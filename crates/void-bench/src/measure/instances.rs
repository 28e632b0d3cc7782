//! Two instances on one PostgreSQL: together they should do what one does alone, for the database is one.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use void_domain::proposals::Status;

use super::throughput::recorded::count;
use crate::Outcome;
use crate::load::{Crowd, Operation};
use crate::plan::Plan;
use crate::postgres::Cluster;
use crate::servers::{Server, folder_in};
use crate::statistics::{Round, median, median_ratio, rounded};
use crate::subject::{Engine, Host};

/// On one instance, or half of them on each of two.
const CLIENTS: usize = 64;

pub(crate) async fn measure(plan: &Plan, place: &Path, cluster: &Cluster) -> Outcome<Value> {
    let engine = Engine::Postgres(cluster.database()?.url());
    let first = start(&engine, place).await?;
    let second = start(&engine, place).await?;
    let (one, other) = (first.0.address, second.0.address);
    let mut alone = Crowd::open(one, CLIENTS).await?;
    let mut halves = (
        Crowd::open_from(one, 0, CLIENTS / 2).await?,
        Crowd::open_from(other, CLIENTS / 2, CLIENTS / 2).await?,
    );
    both(&mut halves, Operation::Run, plan).await?;
    let mut found: [(Vec<Round>, Vec<f64>); 3] = Default::default();
    for _ in 0..plan.rounds {
        for (operation, (ones, twos)) in Operation::ALL.into_iter().zip(&mut found) {
            ones.push(alone.round(operation, plan.round).await?);
            twos.push(both(&mut halves, operation, plan).await?);
        }
    }
    let ran = [&alone, &halves.0, &halves.1].map(|crowd| crowd.answers.approve + crowd.answers.run);
    drop((alone, halves));
    let store = engine.open(first.1.path()).await?;
    let executed = count(&store, Status::Executed).await?;
    if executed != ran.iter().sum::<usize>() {
        return Err(format!("{ran:?} were answered and {executed} are on the record").into());
    }
    let cells = Operation::ALL.into_iter().zip(found);
    let cells = cells.map(|(operation, (ones, twos))| {
        let pairs = twos.iter().copied().zip(ones.iter().map(|one| one.per_s));
        json!({
            "operation": operation.as_str(),
            "one": Round::middle(&ones).to_json(),
            "two_per_s": rounded(median(twos.iter().copied())),
            "ratio": rounded(median_ratio(pairs)),
        })
    });
    Ok(json!({"clients": CLIENTS, "cells": cells.collect::<Vec<_>>()}))
}

async fn start(engine: &Engine, place: &Path) -> Outcome<(Server, TempDir)> {
    let folder = folder_in(place)?;
    let server = Server::subject_on(Host::Remote, engine, folder.path()).await?;
    Ok((server, folder))
}

/// What both do at once, a second.
async fn both(halves: &mut (Crowd, Crowd), operation: Operation, plan: &Plan) -> Outcome<f64> {
    let (one, other) = tokio::join!(
        halves.0.round(operation, plan.round),
        halves.1.round(operation, plan.round),
    );
    Ok(one?.per_s + other?.per_s)
}
