//! The binary: command line, settings, composition. Rules live elsewhere.

mod accounts;
mod agents;
mod catalogue;
mod cli;
mod client;
mod commands;
mod compose;
mod core_dumps;
mod digest_words;
mod embeddings;
mod exit;
#[cfg(feature = "failpoints")]
mod failpoints;
mod first_process;
mod fitting;
mod hints;
mod node;
mod notifiers;
mod output;
mod personas;
mod processes;
mod proxmox;
mod qr;
mod rehearsal;
mod running;
mod services;
mod settings;
mod signals;
mod successor;
mod times;

use std::process::ExitCode;

use clap::Parser as _;
use void_domain::failures::FailureCode;

use crate::cli::{Cli, Command, McpArgs};
use crate::exit::Exit;
use crate::settings::Environment;

fn main() -> ExitCode {
    let environment = Environment::of_process();
    // The host side as a child of the server: no settings, no runtime, its own arguments.
    let first = std::env::args_os().nth(1).unwrap_or_default();
    if first == "act" {
        return void_act::main_with(std::env::args_os().skip(2), environment.original_command());
    }
    // What reads foreign bytes: the same, and nothing before it confines itself.
    if first == compose::EXTRACT {
        let words = std::env::args_os().skip(2);
        return void_capture::run_extractor(
            words,
            std::io::stdin().lock(),
            std::io::stdout().lock(),
        );
    }
    // An agent: the same.
    if std::env::args_os().skip(1).eq(processes::RUN) {
        return void_supervise::run_agent(|name| environment.get(name).map(str::to_owned));
    }
    // A process of a rehearsal lab: the same.
    if first == rehearsal::COMMAND {
        return rehearsal::part_of_a_lab(std::env::args_os().skip(2));
    }
    core_dumps::switch_off();
    #[cfg(feature = "failpoints")]
    failpoints::install(&environment);
    // One provider for all of TLS, before anything can ask for one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let wants_json = std::env::args_os().any(|word| word == "--json");
            if wants_json && error.use_stderr() {
                let problem = exit::CommandError::usage(usage_message(&error)).next("void --help");
                let program = hints::program(&environment);
                eprint_json(&problem.to_value(|said| hints::called(said, &program)));
                return exit::to_code(Exit::Usage);
            }
            let _ = error.print();
            return if error.use_stderr() {
                exit::to_code(Exit::Usage)
            } else {
                exit::to_code(Exit::Done)
            };
        }
    };
    run(cli, environment)
}

/// What the command line's reader says, without its advice.
fn usage_message(error: &clap::Error) -> String {
    let text = error.to_string();
    let said = text.split("\n\n").next().unwrap_or_default();
    let said = said.strip_prefix("error: ").unwrap_or(said);
    match error.kind() {
        clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "a command is missing".to_owned()
        }
        _ => said.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

fn serve_as_child(cli: &Cli, environment: &Environment) -> ExitCode {
    first_process::serve().unwrap_or_else(|error| {
        let times = times::Times::as_they_come();
        let output = output::Output::new(cli.json, cli.color, times, environment);
        output.error(&exit::CommandError::failed(
            FailureCode::Internal,
            format!("the server cannot be started as a child of the first process: {error}"),
        ));
        exit::to_code(Exit::Failed)
    })
}

fn eprint_json(problem: &serde_json::Value) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{problem}");
}

fn run(cli: Cli, environment: Environment) -> ExitCode {
    if matches!(cli.command, Command::Serve(_)) && first_process::is_this() {
        return serve_as_child(&cli, &environment);
    }
    let times = if cli.utc {
        times::Times::as_they_come()
    } else {
        times::Times::local(|| void_control::Clock::system().now().as_ms())
    };
    let output = output::Output::new(cli.json, cli.color, times, &environment)
        .with_hints_for(commands::called_as(&cli, &environment));
    // It passes messages on in threads of its own, and has to be there at once.
    if let Command::Mcp(McpArgs { command: None }) = &cli.command {
        return commands::mcp::bridge(cli.url.as_deref(), &environment, &output);
    }
    let threads = if matches!(cli.command, Command::Serve(_)) {
        None
    } else {
        Some(1)
    };
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if let Some(threads) = threads {
        builder.worker_threads(threads);
    }
    let runtime = match builder.enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            output.error(&exit::CommandError::failed(
                FailureCode::Internal,
                format!("the runtime cannot start: {error}"),
            ));
            return exit::to_code(Exit::Failed);
        }
    };
    let code = match runtime.block_on(commands::run(cli, &environment, &output)) {
        Ok(exit) => exit::to_code(exit),
        Err(problem) => {
            output.error(&problem);
            exit::to_code(problem.exit)
        }
    };
    // A watcher on standard input must not keep the process.
    runtime.shutdown_background();
    code
}
