//! One file per noun. Commands are thin: they call the server, or a pure function, and print.

mod actions;
mod agent_messages;
mod agent_processes;
mod agents;
mod audit;
mod backup;
mod bridge;
mod chat;
mod clock;
mod config;
mod conversations;
mod demo;
mod diffs;
mod doctor;
mod freeze;
mod holds;
mod hosts;
mod inbox;
mod kb;
pub(crate) mod mcp;
mod mutes;
mod node;
mod notify;
mod provision;
mod quarantine;
mod questions;
mod reload;
mod reminders;
mod rows;
mod run;
mod serve;
mod service;
mod services;
mod setup_link;
mod status;
mod storage;
mod token;
mod word_diffs;

use clap::CommandFactory as _;
use serde_json::{Value, json};
use void_domain::failures::FailureCode;

use crate::cli::{ActionsCommand, Cli, Command, ConfigCommand, McpArgs, McpCommand};
use crate::client::{self, Client};
use crate::exit::{self, CommandError, Exit};
use crate::hints::NAME;
pub(crate) use crate::hints::{program, quoted};
use crate::output::Output;
use crate::running;
use crate::settings::{Environment, Flags, Settings};

/// What a command needs beside its own arguments.
pub(crate) struct Session<'a> {
    pub settings: Settings,
    pub environment: &'a Environment,
    pub output: &'a Output,
    url: Option<String>,
}

impl Session<'_> {
    pub(crate) fn client(&self) -> Result<Client, CommandError> {
        Client::new(self.url.as_deref(), &self.settings, self.environment)
    }

    /// Another command for the same server, to be copied.
    pub(crate) fn again(&self, command: &str) -> String {
        self.output.typed(&format!("{NAME} {command}"))
    }
}

/// A table for people or for programs.
fn list(output: &Output, text: String, value: Value) -> Exit {
    if output.json {
        output.value(value);
    } else {
        output.line(text);
    }
    Exit::Done
}

pub(crate) async fn run(
    cli: Cli,
    environment: &Environment,
    output: &Output,
) -> Result<Exit, CommandError> {
    let flags = match &cli.command {
        Command::Serve(args) => serve::flags(&cli, args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "void", &mut script);
            let script = String::from_utf8_lossy(&script);
            if output.json {
                output.value(json!({"shell": shell.to_string(), "script": script}));
            } else {
                output.put(&script);
            }
            return Ok(Exit::Done);
        }
        Command::HelpExitCodes => {
            return Ok(list(output, exit::exit_codes(), exit::exit_codes_value()));
        }
        Command::HelpCodes => {
            return Ok(list(
                output,
                exit::failure_codes(),
                exit::failure_codes_value(),
            ));
        }
        Command::Version => {
            version(output);
            return Ok(Exit::Done);
        }
        Command::Mcp(McpArgs {
            command: Some(McpCommand::Config(args)),
        }) => {
            // Where only a client runs there are no settings.
            let settings = Settings::load(&flags(&cli), environment);
            let here = settings.map_or_else(
                |_| mcp::URL_DEFAULT.to_owned(),
                |settings| client::local_url(&settings),
            );
            return mcp::config(args, cli.url.as_deref(), &here, environment, output);
        }
        Command::Demo(args) => {
            return demo::run(args, environment, output).await;
        }
        // The machine that runs this has no control plane, and needs no settings of one.
        Command::Node(command) if node::is_for_a_node(command) => {
            return node::on_a_node(command.clone(), output).await;
        }
        Command::Service(command) => {
            return Ok(service::run(*command, output));
        }
        Command::Config(ConfigCommand::Docs) => {
            config::docs(output);
            return Ok(Exit::Done);
        }
        _ => flags(&cli),
    };
    let settings = Settings::load(&flags, environment)
        .or_else(|problem| ask_anyway(&cli, &flags, environment, output, problem))?;
    let again = cli.clone();
    let session = Session {
        settings,
        environment,
        output,
        url: cli.url,
    };
    let exit = match cli.command {
        Command::Serve(args) => serve::serve(&session, &again, &args).await?,
        Command::Reload(args) => reload::run(&session, args).await?,
        Command::Status => status::status(&session).await?,
        Command::Actions(command) => actions::run(&session, command).await?,
        Command::Run(args) => run::run(&session, args).await?,
        Command::Inbox(command) => inbox::run(&session, command).await?,
        Command::Freeze(args) => freeze::freeze(&session, args).await?,
        Command::Thaw => freeze::thaw(&session).await?,
        Command::Services(args) => services::run(&session, args).await?,
        Command::Chat(args) => chat::run(&session, args).await?,
        Command::Conversations(command) => conversations::run(&session, command).await?,
        Command::Agents(command) => agents::run(&session, command).await?,
        Command::Kb(command) => kb::run(&session, command).await?,
        Command::Hosts(command) => hosts::run(&session, command).await?,
        Command::Node(command) => node::run(&session, command).await?,
        Command::Audit(command) => audit::run(&session, command).await?,
        Command::SetupLink(qr) => setup_link::run(&session, qr).await?,
        Command::Token(command) => token::run(&session, command).await?,
        Command::Notify(command) => notify::run(&session, command).await?,
        Command::Backup(command) => backup::run(&session, command).await?,
        Command::Quarantine(command) => quarantine::run(&session, command).await?,
        Command::Bridge(command) => bridge::run(&session, command).await?,
        Command::Clock(command) => clock::run(&session, &command)?,
        Command::Config(command) => config::run(&session, command)?,
        Command::Provision(command) => provision::run(&session, command)?,
        Command::Doctor(args) => doctor::run(&session, args).await?,
        Command::Demo(_)
        | Command::Mcp(_)
        | Command::Completions { .. }
        | Command::Service(_)
        | Command::Version
        | Command::HelpExitCodes
        | Command::HelpCodes => Exit::Done,
    };
    Ok(exit)
}

/// Whether nothing but a server is asked: its settings are those that count.
const fn only_asks(command: &Command) -> bool {
    matches!(
        command,
        Command::Status
            | Command::Actions(ActionsCommand::Ls | ActionsCommand::Show { .. })
            | Command::Run(_)
            | Command::Inbox(_)
            | Command::Freeze(_)
            | Command::Thaw
            | Command::Services(_)
            | Command::Chat(_)
            | Command::Conversations(_)
            | Command::Agents(_)
            | Command::SetupLink(_)
            | Command::Token(_)
            | Command::Notify(_)
            | Command::Quarantine(_)
    )
}

/// A slip in the settings file keeps nobody from a server that runs. Where that is must be known otherwise: the
/// owner's token goes to no guessed address.
fn ask_anyway(
    cli: &Cli,
    flags: &Flags,
    environment: &Environment,
    output: &Output,
    problem: CommandError,
) -> Result<Settings, CommandError> {
    if !only_asks(&cli.command) || problem.code != FailureCode::ConfigInvalid {
        return Err(problem);
    }
    let Ok(settings) = Settings::load_to_ask(flags, environment) else {
        return Err(problem);
    };
    let is_named = cli.url.is_some()
        || environment
            .get("VOID_API_URL")
            .is_some_and(|url| !url.is_empty());
    let note = running::find(&settings.data.value);
    if !is_named && note.is_none_or(|note| note.listen.is_none()) {
        return Err(problem);
    }
    output.warning(&problem);
    Ok(settings)
}

/// What the command line sets, whatever the command.
pub(crate) fn flags(cli: &Cli) -> Flags {
    Flags {
        config: cli.config.clone(),
        data: cli.data.clone(),
        ..Flags::default()
    }
}

/// This program with the flags that say which server, as it can be typed again.
pub(crate) fn called_as(cli: &Cli, environment: &Environment) -> String {
    let mut called = program(environment);
    let mut add = |flag: &str, value: Option<String>| {
        if let Some(value) = value {
            called.push_str(&format!(" {flag} {}", quoted(&value)));
        }
    };
    add(
        "--config",
        cli.config.as_ref().map(|path| path.display().to_string()),
    );
    add(
        "--data",
        cli.data.as_ref().map(|path| path.display().to_string()),
    );
    add("--url", cli.url.clone());
    called
}

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

fn version(output: &Output) {
    let version = env!("CARGO_PKG_VERSION");
    if output.json {
        output.value(json!({"name": "void", "version": version}));
    } else {
        output.line(format!("void {version}"));
    }
}

/// Asks the server, shows progress when it takes long, and lets Ctrl-C go without undoing anything.
pub(crate) async fn patiently<T>(
    session: &Session<'_>,
    what: &str,
    work: impl Future<Output = Result<T, CommandError>>,
) -> Result<T, CommandError> {
    tokio::select! {
        done = session.output.waiting(what, work) => done,
        _ = tokio::signal::ctrl_c() => {
            Err(CommandError::new(FailureCode::Interrupted, "stopped waiting; what was started goes on")
                .next("void inbox ls, or void inbox watch"))
        }
    }
}
