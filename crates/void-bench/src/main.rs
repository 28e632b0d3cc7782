//! `cargo run --release -p void-bench`: measures Void over real sockets and says which of its targets
//! are met. Beside it, in the same run, a floor that does the same durable writes and nothing else,
//! and the disk's flush rate, so that the numbers mean something on any machine.

mod bare;
mod floor;
mod history;
mod http;
mod load;
mod measure;
mod plan;
mod postgres;
mod product;
mod report;
mod runs;
mod servers;
mod statistics;
mod subject;
mod talker;
mod verdicts;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use serde_json::Value;

use crate::load::{Crowd, Operation};
use crate::plan::{Name, Plan};
use crate::runs::Run;
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
    #[command(hide = true)]
    ServeRmcp {
        #[arg(long)]
        payload: PathBuf,
    },
    #[command(hide = true)]
    NoteTime {
        #[arg(long)]
        file: PathBuf,
    },
    /// Load on one of the first two, started by hand: to look at it with a profiler
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
        Some(Command::ServeRmcp { payload }) => servers_runtime()?.block_on(bare::serve(&payload)),
        Some(Command::NoteTime { file }) => measure::nodes::starts::note_time(&file),
        Some(Command::Drive {
            port,
            clients,
            operation,
            seconds,
        }) => client_runtime()?.block_on(drive(port, clients, operation, seconds)),
        None => client_runtime()?.block_on(measure_and_report(&cli)),
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

async fn measure_and_report(cli: &Cli) -> Outcome<()> {
    let place = cli.json.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(place)?;
    let run = Run {
        plan: Plan::of(cli.deep, cli.tiny),
        // Servers are started by absolute paths.
        place: place.canonicalize()?,
        deep: cli.deep,
        only: cli.only.clone(),
    };
    let mut results = Value::Object(run.measure(cli.void.as_deref()).await?);
    let verdicts = verdicts::judge(&results);
    if let Some(results) = results.as_object_mut() {
        let judged = verdicts.iter().map(verdicts::Verdict::to_json).collect();
        results.insert("targets".to_owned(), judged);
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
        eprintln!("queued; now it is approved");
    }
    let round = crowd.round(operation, duration).await?;
    println!("{}", round.to_json());
    Ok(())
}
