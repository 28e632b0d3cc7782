//! `cargo run --release -p void-bench`: measures Void over real sockets and says which of its targets are met. Beside
//! it, in the same run and round by round in turn: the documents' stack (Express and PostgreSQL), servers of the
//! official SDKs, a floor that writes a durable row and nothing else, and the disk's flush rate. What a machine gives
//! to both sides of a ratio falls out of it, so that the numbers mean something on any machine.

mod bare;
mod floor;
mod history;
mod http;
mod load;
mod measure;
mod packages;
mod plan;
mod postgres;
mod product;
mod reference;
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
use crate::subject::{Engine, Host};

/// Whatever goes wrong in a section ends it: half a measurement is none. The other sections go on.
type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Debug, Parser)]
#[command(
    name = "void-bench",
    about = "Measures Void beside the stack that its documents describe, and beside floors that do the least"
)]
struct Cli {
    /// Also 10,000 listeners; a journal of 1,000,000 tickets; lists, approvals, a restart, a verification and a copy over
    /// 1,000,000 old rows
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
    /// Fail if a target is missed
    #[arg(long)]
    strict: bool,
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
        /// Its actions are on a machine that other instances reach, too
        #[arg(long)]
        remote: bool,
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
        /// Over HTTP, for whoever has the token; on standard input and output if left out
        #[arg(long, requires = "token")]
        port: Option<u16>,
        #[arg(long)]
        token: Option<String>,
    },
    /// Starts a program again and again, so many at a time
    #[command(hide = true)]
    StartPrograms {
        #[arg(long)]
        program: PathBuf,
        #[arg(long)]
        at_once: usize,
        #[arg(long)]
        ms: u64,
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
            remote,
        }) => {
            let engine = postgres.map_or(Engine::Sqlite, Engine::Postgres);
            let host = if remote { Host::Remote } else { Host::Local };
            servers_runtime()?.block_on(subject::serve(&engine, host, &folder, port))
        }
        Some(Command::ServeFloor { folder, port }) => {
            servers_runtime()?.block_on(floor::serve(&folder, port))
        }
        Some(Command::ServeRmcp {
            payload,
            port: Some(port),
            token,
        }) => {
            let token = token.unwrap_or_default();
            servers_runtime()?.block_on(bare::serve_http(&payload, port, &token))
        }
        Some(Command::ServeRmcp { payload, .. }) => {
            servers_runtime()?.block_on(bare::serve(&payload))
        }
        Some(Command::StartPrograms {
            program,
            at_once,
            ms,
        }) => measure::local::bare::start_programs(&program, at_once, Duration::from_millis(ms)),
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
    if let Some(failed) = results.get("failed") {
        return Err(format!("not measured: {failed}").into());
    }
    let missed = report::missed(&verdicts).len();
    match cli.strict && missed > 0 {
        true => Err(format!("{missed} of {} targets are missed", verdicts.len()).into()),
        false => Ok(()),
    }
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
