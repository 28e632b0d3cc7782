//! A local action as it is shipped: `void serve`, the list of its own machine, the journal, and `true` as the command;
//! beside it a program that starts `true` and does nothing else. And the same with a journal of many old tickets.

pub(crate) mod bare;
mod journals;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::lists::write_list;
use crate::Outcome;
use crate::http::{self, Connection};
use crate::load::{Crowd, Operation};
use crate::plan::Plan;
use crate::servers::{Server, folder_in};
use crate::statistics::{Round, median_ratio, rounded};
use crate::subject::safe_catalogue_text;

/// What the bar is for, and what the floor starts.
const COMMAND: &str = "/bin/true";

pub(crate) async fn measure(plan: &Plan, place: &Path, program: &Path) -> Outcome<Value> {
    let most = plan.local_clients.iter().copied().max().unwrap_or(1);
    let new = Lab::start(place, program, most).await?;
    let full = match plan.old_tickets {
        0 => None,
        tickets => {
            eprintln!("  writing {tickets} old tickets");
            Some(Lab::with_tickets(place, program, most, tickets).await?)
        }
    };
    let mut cells = Vec::new();
    for clients in plan.local_clients {
        let mut sides = LocalSides {
            new: Crowd::open(new.server.address, *clients).await?,
            full: match &full {
                None => None,
                Some(full) => Some(Crowd::open(full.server.address, *clients).await?),
            },
        };
        cells.push(sides.compare(plan, *clients).await?);
    }
    Ok(json!({
        "command": COMMAND,
        "old_tickets": plan.old_tickets,
        "cells": cells,
    }))
}

struct LocalSides {
    new: Crowd,
    full: Option<Crowd>,
}

impl LocalSides {
    async fn compare(&mut self, plan: &Plan, clients: usize) -> Outcome<Value> {
        let (mut new, mut bare, mut full) = (Vec::new(), Vec::new(), Vec::new());
        self.new.round(Operation::Run, plan.round / 4).await?;
        for _ in 0..plan.rounds {
            new.push(self.new.round(Operation::Run, plan.round).await?);
            bare.push(starts(clients, plan.round)?);
            if let Some(crowd) = &mut self.full {
                full.push(crowd.round(Operation::Run, plan.round).await?);
            }
        }
        let ratio = |above: &[Round], below: &[Round], number: fn(&Round) -> f64| {
            let pairs = above.iter().zip(below);
            rounded(median_ratio(
                pairs.map(|(above, below)| (number(above), number(below))),
            ))
        };
        let mut cell = Map::from_iter([
            ("clients".to_owned(), clients.into()),
            ("void".to_owned(), Round::middle(&new).to_json()),
            ("bare".to_owned(), Round::middle(&bare).to_json()),
            (
                "ratio".to_owned(),
                ratio(&new, &bare, |round| round.per_s).into(),
            ),
        ]);
        if !full.is_empty() {
            // Time, so that more is worse.
            let time = ratio(&new, &full, |round| round.per_s);
            cell.insert("full".to_owned(), Round::middle(&full).to_json());
            cell.insert("full_time_ratio".to_owned(), time.into());
        }
        Ok(cell.into())
    }
}

/// The product with a list of its own machine in which every action is `true`.
struct Lab {
    server: Server,
    folder: TempDir,
}

impl Lab {
    async fn start(place: &Path, program: &Path, clients: usize) -> Outcome<Self> {
        let folder = folder_in(place)?;
        let path = folder.path().canonicalize()?;
        let catalogue = safe_catalogue_text(clients);
        write_list(&path, "local", &catalogue, &json!([COMMAND]))?;
        // The list of a rehearsal is below a folder that others may write to, which root's own list never is.
        let settings = format!(
            "[local]\nlist = \"{}\"\ntrust_own_list = true\n",
            path.join("list.json").display()
        );
        let server = Server::with_settings(program, &path, &catalogue, &settings).await?;
        Ok(Self { server, folder })
    }

    async fn with_tickets(
        place: &Path,
        program: &Path,
        clients: usize,
        tickets: u64,
    ) -> Outcome<Self> {
        let lab = Self::start(place, program, clients).await?;
        // What the product writes for one run is what is copied.
        let mut connection = Connection::open(lab.server.address).await?;
        let run = http::request("POST", "/api/actions/safe-0/run", "{}");
        if connection.call(&run).await?.status != 200 {
            return Err("the first run was refused".into());
        }
        journals::fill(&lab.state(), tickets)?;
        Ok(lab)
    }

    /// Where the product keeps the journal if nothing else is said.
    fn state(&self) -> PathBuf {
        self.folder.path().join("void-act")
    }
}

/// A process of its own, so that what this one has mapped is not copied at each start.
fn starts(at_once: usize, duration: Duration) -> Outcome<Round> {
    bare::in_a_process(Path::new(COMMAND), at_once, duration)
}
