//! `cargo run --release -p void-bench`: measures Void over real sockets and says which of its targets
//! are met. Beside it, in the same run, a floor that does the same durable writes and nothing else,
//! and the disk's flush rate, so that the numbers mean something on any machine.

mod floor;
mod history;
mod http;
mod load;
mod measure;
mod plan;
mod postgres;
mod product;
mod report;
mod servers;
mod statistics;
mod subject;
mod verdicts;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use serde_json::{Value, json};

use crate::load::{Crowd, Operation};
use crate::measure::throughput::Databases;
use crate::plan::{Name, Plan};
use crate::postgres::Cluster;
use crate::subject::Engine;

/// Whatever goes wrong ends the run: half a measurement is none.
type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Debug, Parser)]
#[command(
    name = "void-bench",
    about = "Measures Void beside a floor that only does the same durable writes"
)]
struct Cli {
    /// Also 10,000 listeners, and lists, approvals and a restart over 1,000,000 old rows
    #[arg(long)]
    deep: bool,
    /// Where the numbers go
    #[arg(long, value_name = "FILE", default_value = "target/bench.json")]
    json: PathBuf,
    /// Only this; may be repeated
    #[arg(long, value_enum, value_name = "NAME")]
    only: Vec<Name>,
    /// The `void` to start; built by cargo if left out
    #[arg(long, value_name = "PROGRAM")]
    void: Option<PathBuf>,
    /// Everything once, at a size that says nothing
    #[arg(long, hide = true)]
    tiny: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

/// What this program is when it starts itself.
#[derive(Debug, Subcommand)]
enum Command {
    #[command(hide = true)]
    ServeVoid {
        #[arg(long)]
        folder: PathBuf,
        #[arg(long)]
        port: u16,
        #[arg(long)]
        postgres: Option<String>,
    },
    #[command(hide = true)]
    ServeFloor {
        #[arg(long)]
        folder: PathBuf,
        #[arg(long)]
        port: u16,
    },
    /// Load on one of the two above, started by hand: to look at it with a profiler
    #[command(hide = true)]
    Drive {
        #[arg(long)]
        port: u16,
        #[arg(long, default_value_t = 64)]
        clients: usize,
        #[arg(long)]
        operation: Operation,
        #[arg(long, default_value_t = 10)]
        seconds: u64,
    },
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("void-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Outcome<()> {
    match cli.command {
        Some(Command::ServeVoid {
            folder,
            port,
            postgres,
        }) => {
            let engine = postgres.map_or(Engine::Sqlite, Engine::Postgres);
            servers_runtime()?.block_on(subject::serve(&engine, &folder, port))
        }
        Some(Command::ServeFloor { folder, port }) => {
            servers_runtime()?.block_on(floor::serve(&folder, port))
        }
        Some(Command::Drive {
            port,
            clients,
            operation,
            seconds,
        }) => client_runtime()?.block_on(drive(port, clients, operation, seconds)),
        None => client_runtime()?.block_on(measure_all(&cli)),
    }
}

/// One thread asks: the cores are for what is measured.
fn client_runtime() -> Outcome<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?)
}

/// The same for Void and the floor.
fn servers_runtime() -> Outcome<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?)
}

async fn measure_all(cli: &Cli) -> Outcome<()> {
    let plan = Plan::of(cli.deep, cli.tiny);
    let place = cli.json.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(place)?;
    // Servers are started by absolute paths.
    let place = place.canonicalize()?;
    let wanted = |name: Name| {
        (cli.only.is_empty() || cli.only.contains(&name)) && (name != Name::Rows || cli.deep)
    };
    let needs_product = [Name::Streams, Name::Process, Name::Rows];
    let program = match &cli.void {
        Some(program) => program.canonicalize()?,
        None if needs_product.into_iter().any(wanted) => product::build()?,
        None => PathBuf::new(),
    };
    let mut results = json!({"machine": product::machine(), "deep": cli.deep, "tiny": cli.tiny});
    let mut keep = |name: &str, found: Value| {
        if let Some(results) = results.as_object_mut() {
            results.insert(name.to_owned(), found);
        }
    };
    let mut throughput = Vec::new();
    if wanted(Name::Disk) {
        say("the disk");
        keep("disk", measure::disk::measure(&place, plan.disk)?);
    }
    if wanted(Name::Process) {
        say("start, memory, size");
        keep(
            "process",
            measure::process::measure(&plan, &place, &program).await?,
        );
    }
    if wanted(Name::Sqlite) {
        say("queue, approve, run beside the floor");
        throughput.extend(measure::throughput::measure(&plan, &place, &Databases::Sqlite).await?);
    }
    if wanted(Name::Postgres) {
        match Cluster::start()? {
            Some(cluster) => {
                let databases = Databases::Postgres(cluster);
                throughput.extend(measure::throughput::measure(&plan, &place, &databases).await?);
            }
            None => say("PostgreSQL is not installed here; SQLite alone is measured"),
        }
    }
    keep("throughput", throughput.into());
    if wanted(Name::Streams) {
        say("idle listeners");
        keep(
            "streams",
            measure::streams::measure(&plan, &place, &program).await?,
        );
    }
    if wanted(Name::Audit) {
        say("the record");
        keep("audit", measure::audit::measure(&plan, &place).await?);
    }
    if wanted(Name::Rows) {
        say("old rows");
        keep(
            "rows",
            measure::deep::measure(&plan, &place, &program).await?,
        );
    }
    let verdicts = verdicts::judge(&results);
    if let Some(results) = results.as_object_mut() {
        results.insert(
            "targets".to_owned(),
            verdicts.iter().map(verdicts::Verdict::to_json).collect(),
        );
    }
    std::fs::write(&cli.json, serde_json::to_string_pretty(&results)? + "\n")?;
    print!("{}", report::table(&results, &verdicts));
    println!("\nwritten to {}", cli.json.display());
    Ok(())
}

async fn drive(port: u16, clients: usize, operation: Operation, seconds: u64) -> Outcome<()> {
    let mut crowd = Crowd::open(([127, 0, 0, 1], port).into(), clients).await?;
    let duration = Duration::from_secs(seconds);
    if operation == Operation::Approve {
        crowd.round(Operation::Queue, duration).await?;
        say("queued; now it is approved");
    }
    let round = crowd.round(operation, duration).await?;
    println!("{}", round.to_json());
    Ok(())
}

fn say(what: &str) {
    eprintln!("{what}");
}
