//! One run: what was asked for, one after the other. Nothing is measured beside anything else.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::Outcome;
use crate::measure::throughput::{self, Databases};
use crate::measure::{audit, deep, disk, mcp, nodes, process, streams, talk};
use crate::plan::{Name, Plan};
use crate::postgres::Cluster;
use crate::product;

pub(crate) struct Run {
    pub plan: Plan,
    /// On the disk that is measured.
    pub place: PathBuf,
    pub deep: bool,
    /// Everything if empty.
    pub only: Vec<Name>,
}

impl Run {
    /// `program` is the product; it is built if it is needed and not given.
    pub(crate) async fn measure(&self, program: Option<&Path>) -> Outcome<Map<String, Value>> {
        let program = match program {
            Some(program) => program.canonicalize()?,
            None if self.needs_product() => product::build()?,
            None => PathBuf::new(),
        };
        let (plan, place) = (&self.plan, &self.place);
        let mut results = Map::new();
        results.insert("machine".to_owned(), product::machine());
        results.insert("deep".to_owned(), self.deep.into());
        let mut keep = |name: &str, found: Value| results.insert(name.to_owned(), found);
        if self.wants(Name::Disk, "the disk") {
            keep("disk", disk::measure(place, plan.disk)?);
        }
        if self.wants(Name::Process, "start, memory, size") {
            keep("process", process::measure(plan, place, &program).await?);
        }
        keep("throughput", self.throughput().await?.into());
        if self.wants(Name::Streams, "idle listeners") {
            keep("streams", streams::measure(plan, place, &program).await?);
        }
        if self.wants(Name::Nodes, "nodes") {
            keep("nodes", nodes::measure(plan, place, &program).await?);
        }
        if self.wants(Name::Talk, "turns") {
            keep("talk", talk::measure(plan, place, &program).await?);
        }
        if self.wants(Name::Audit, "the record") {
            keep("audit", audit::measure(plan, place).await?);
        }
        if self.wants(Name::Mcp, "tools over MCP") {
            keep("mcp", mcp::measure(plan, place, &program).await?);
        }
        if self.wants(Name::Rows, "old rows") {
            keep("rows", deep::measure(plan, place, &program).await?);
        }
        Ok(results)
    }

    async fn throughput(&self) -> Outcome<Vec<Value>> {
        let mut cells = Vec::new();
        if self.wants(Name::Sqlite, "queue, approve, run beside the floor") {
            cells.extend(throughput::measure(&self.plan, &self.place, &Databases::Sqlite).await?);
        }
        if self.wants(Name::Postgres, "queue, approve, run on PostgreSQL") {
            match Cluster::start()? {
                Some(cluster) => {
                    let databases = Databases::Postgres(cluster);
                    cells.extend(throughput::measure(&self.plan, &self.place, &databases).await?);
                }
                None => {
                    eprintln!("PostgreSQL is not installed here; SQLite alone is measured");
                    cells.push(json!({"engine": "postgres", "operation": "none"}));
                }
            }
        }
        Ok(cells)
    }

    fn wants(&self, name: Name, words: &str) -> bool {
        let wanted = self.is_wanted(name);
        if wanted {
            eprintln!("{words}");
        }
        wanted
    }

    fn is_wanted(&self, name: Name) -> bool {
        (self.only.is_empty() || self.only.contains(&name)) && (name != Name::Rows || self.deep)
    }

    fn needs_product(&self) -> bool {
        [
            Name::Streams,
            Name::Nodes,
            Name::Talk,
            Name::Process,
            Name::Mcp,
            Name::Rows,
        ]
        .into_iter()
        .any(|name| self.is_wanted(name))
    }
}
