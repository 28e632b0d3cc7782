//! One run: what was asked for, one after the other. Nothing is measured beside anything else but what it is compared
//! with.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::Outcome;
use crate::measure::throughput::{self, Sides};
use crate::measure::{
    audit, copies, deep, disk, instances, knowledge, local, mcp, nodes, process, reads, streams,
    talk, tree,
};
use crate::plan::{Name, Plan};
use crate::postgres::Cluster;
use crate::product;
use crate::reference::Reference;

/// What is measured by the product as it is shipped.
const BY_PRODUCT: [Name; 9] = [
    Name::Streams,
    Name::Nodes,
    Name::Talk,
    Name::Process,
    Name::Mcp,
    Name::Local,
    Name::Reads,
    Name::Copies,
    Name::Rows,
];

pub(crate) struct Run {
    pub plan: Plan,
    /// On the disk that is measured.
    pub place: PathBuf,
    pub deep: bool,
    /// Everything if empty.
    pub only: Vec<Name>,
}

/// What Void is measured beside, as far as this machine has it.
pub(crate) struct Beside {
    pub cluster: Option<Cluster>,
    pub reference: Option<Reference>,
}

/// What was measured, and what ended before it had a number: a long run keeps the rest.
#[derive(Default)]
struct Sections {
    measured: Map<String, Value>,
    failed: Map<String, Value>,
}

impl Sections {
    fn keep(&mut self, name: &str, found: Outcome<Value>) {
        match found {
            Ok(found) => {
                self.measured.insert(name.to_owned(), found);
            }
            Err(error) => {
                eprintln!("{name}: {error}");
                self.failed
                    .insert(name.to_owned(), error.to_string().into());
            }
        }
    }
}

impl Run {
    /// `program` is the product; it is built if it is needed and not given.
    pub(crate) async fn measure(&self, program: Option<&Path>) -> Outcome<Map<String, Value>> {
        let program = match program {
            Some(program) => program.canonicalize()?,
            None if self.wants_any(&BY_PRODUCT) => product::build()?,
            None => PathBuf::new(),
        };
        let mut results = Map::new();
        results.insert("machine".to_owned(), product::machine());
        results.insert("deep".to_owned(), self.deep.into());
        let beside = self.beside()?;
        let (postgresql, npm) = (beside.cluster.is_some(), beside.reference.is_some());
        let found = json!({"postgresql": postgresql, "npm": npm});
        results.insert("beside".to_owned(), found);
        let mut sections = Sections::default();
        self.measure_beside(&mut sections, &program, &beside).await;
        drop(beside);
        self.measure_alone(&mut sections, &program).await;
        results.extend(sections.measured);
        if !sections.failed.is_empty() {
            results.insert("failed".to_owned(), Value::Object(sections.failed));
        }
        Ok(results)
    }

    /// What the documents' stack or PostgreSQL has a part in.
    async fn measure_beside(&self, sections: &mut Sections, program: &Path, beside: &Beside) {
        let (plan, place) = (&self.plan, &self.place);
        if self.wants(Name::Disk, "the disk") {
            sections.keep("disk", disk::measure(place, plan.disk));
        }
        let throughput = self.throughput(beside).await;
        sections.keep("throughput", throughput.map(Value::from));
        if let Some(cluster) = &beside.cluster
            && self.wants(Name::Instances, "two instances on one PostgreSQL")
        {
            let found = instances::measure(plan, place, cluster).await;
            sections.keep("instances", found);
        }
        if self.wants(Name::Reads, "catalogue and inbox") {
            sections.keep("reads", reads::measure(plan, place, program, beside).await);
        }
        if self.wants(Name::Talk, "turns") {
            let reference = beside.reference.as_ref();
            let found = talk::measure(plan, place, program, reference).await;
            sections.keep("talk", found);
        }
    }

    async fn measure_alone(&self, sections: &mut Sections, program: &Path) {
        let (plan, place) = (&self.plan, &self.place);
        if self.wants(Name::Local, "a local action") {
            sections.keep("local", local::measure(plan, place, program).await);
        }
        if self.wants(Name::Process, "start, memory, size") {
            sections.keep("process", process::measure(plan, place, program).await);
        }
        if self.wants(Name::Streams, "idle listeners") {
            sections.keep("streams", streams::measure(plan, place, program).await);
        }
        if self.wants(Name::Nodes, "nodes") {
            sections.keep("nodes", nodes::measure(plan, place, program).await);
        }
        if self.wants(Name::Audit, "the record") {
            sections.keep("audit", audit::measure(plan, place).await);
        }
        if self.wants(Name::Knowledge, "what the owner keeps") {
            sections.keep("knowledge", knowledge::measure(plan, place).await);
        }
        if self.wants(Name::Tree, "the tree of agents") {
            sections.keep("tree", tree::measure(plan, place).await);
        }
        if self.wants(Name::Mcp, "tools over MCP") {
            sections.keep("mcp", mcp::measure(plan, place, program).await);
        }
        if self.wants(Name::Copies, "verifying and copying") {
            sections.keep("copies", copies::measure(plan, place, program).await);
        }
        if self.wants(Name::Rows, "old rows") {
            sections.keep("rows", deep::measure(plan, place, program).await);
        }
    }

    /// What cannot be had here is said once, and its rows are left out.
    fn beside(&self) -> Outcome<Beside> {
        let throughput = [Name::Sqlite, Name::Postgres, Name::Reads];
        let cluster = if self.wants_any(&throughput) || self.wants_any(&[Name::Instances]) {
            let cluster = Cluster::start()?;
            if cluster.is_none() {
                eprintln!("PostgreSQL is not installed here; what is measured on it is left out");
            }
            cluster
        } else {
            None
        };
        let has_use = cluster.is_some() && self.wants_any(&throughput);
        let reference = if has_use || self.wants_any(&[Name::Talk]) {
            Reference::install(&self.place)?
        } else {
            None
        };
        Ok(Beside { cluster, reference })
    }

    async fn throughput(&self, beside: &Beside) -> Outcome<Vec<Value>> {
        let sides = Sides {
            sqlite: self.wants(Name::Sqlite, "queue, approve, run on SQLite"),
            postgres: self.wants(Name::Postgres, "queue, approve, run on PostgreSQL"),
            cluster: beside.cluster.as_ref(),
            reference: beside.reference.as_ref(),
        };
        let mut cells = Vec::new();
        if sides.postgres && sides.cluster.is_none() {
            cells.push(json!({"engine": "postgres", "operation": "none"}));
        }
        if sides.sqlite || (sides.postgres && sides.cluster.is_some()) {
            cells.extend(throughput::measure(&self.plan, &self.place, &sides).await?);
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

    fn wants_any(&self, names: &[Name]) -> bool {
        names.iter().any(|name| self.is_wanted(*name))
    }

    fn is_wanted(&self, name: Name) -> bool {
        (self.only.is_empty() || self.only.contains(&name)) && (name != Name::Rows || self.deep)
    }
}
