//! `void serve`

mod first_steps;
mod greeting;

use std::net::SocketAddr;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tracing::Level;
use tracing_subscriber::filter::Targets;
use void_agent::agents::Agent;
use void_agent::turns::{ProcessAgents, Talk};
use void_capture::Captures;
use void_control::agent_processes::AgentProcesses;
use void_control::{Control, health, instances};
use void_domain::failures::FailureCode;
use void_domain::text;
use void_server::{Bound, Plane, ServerConfig};
use void_store::backups::held_by;

use super::{Session, doctor};
use crate::cli::{Cli, Command, LogFormat, ServeArgs};
use crate::compose::{self, Label};
use crate::exit::{CommandError, Exit};
use crate::running::{Note, Running};
use crate::settings::{Environment, Flags, Settings};
use crate::signals::{Hangup, Signals, Told};
use crate::{agents, catalogue, notifiers, processes, services, successor};

/// How long running actions may take to end when the server stops; a second signal ends at once.
const PATIENCE: Duration = Duration::from_secs(150);
/// The same when the next process takes over, which settles what still runs.
const RELOAD_PATIENCE: Duration = Duration::from_secs(30);
/// How long open requests may take to end after that.
const CLOSE_PATIENCE: Duration = Duration::from_secs(5);
/// Of what cannot be read in `VOID_LOG`.
const WRONG_BYTES_MAX: usize = 100;

/// What the command line sets, with the flags of `void serve`.
pub(super) fn flags(cli: &Cli, args: &ServeArgs) -> Flags {
    Flags {
        listen: args.listen.clone(),
        actions: args.actions.clone(),
        replace_catalogue: args.replace_catalogue,
        ..super::flags(cli)
    }
}

/// `again` is the command line, to be read anew when it is told to reload.
pub(super) async fn serve(
    session: &Session<'_>,
    again: &Cli,
    args: &ServeArgs,
) -> Result<Exit, CommandError> {
    // The SDK of MCP tells of every request, and warns of what its callers get wrong.
    // So does the library for passkeys; what it refuses we tell in one line of ours.
    start_log(
        session.environment,
        args.log_format,
        "info,rmcp=error,webauthn_rs_core=off",
    );
    let hangup = Hangup::watch()?;
    let settings = &session.settings;
    let bound = match successor::inherited(session.environment, settings.listen.value) {
        Some(bound) => bound,
        None => Bound::to(settings.listen.value).await.map_err(|error| {
            already_runs(settings).unwrap_or_else(|| {
                let message = format!("{} cannot be listened on: {error}", settings.listen.value);
                CommandError::failed(FailureCode::Listen, message)
                    .next("choose another address with --listen")
            })
        })?,
    };
    let socket = bound.socket().map_err(|error| {
        CommandError::failed(
            FailureCode::Internal,
            format!("the socket cannot be kept: {error}"),
        )
    })?;
    let agents = agents::load(settings, session.environment, bound.address)?;
    let minds = agents::of_processes(settings, session.environment, bound.address)?;
    let plane = compose::plane(settings, session.environment, Label::Real)
        .await
        .map_err(|problem| match problem.code.known() {
            Some(FailureCode::InUse) => already_runs(settings).unwrap_or(problem),
            _ => problem,
        })?;
    let control = plane.control();
    agents::admit(control, &agents).await?;
    agents::open_tree(control, settings, &agents);
    agents::introduce(control, settings, session.environment).await?;
    let address = bound.address;
    tracing::info!(%address, version = env!("CARGO_PKG_VERSION"), actions = control.catalogue().actions().len(), "ready");
    if let Some(warning) = greeting::beyond_this_machine(settings, address) {
        tracing::warn!("{warning}");
    }
    if !session.output.json {
        greeting::greet(session, plane.owner_access(), address, args.qr).await;
    }
    let mut signals = Signals::watch(hangup)?;
    let mut running = Running::start(&settings.data.value, note(settings, control, address));
    if running.is_none() {
        tracing::warn!(
            "what runs here cannot be noted in the data folder, so a reload by command does not work"
        );
    }
    let captures = compose::captures(settings)?;
    let api = agents::reached_at(address);
    let processes = processes::of(settings, plane.control(), api)?;
    let serves = (plane, captures, (agents, minds), processes);
    let mut serving = Serving::start(bound, serves, settings, session.environment);
    notify_systemd(session, "READY=1");
    loop {
        if let Told::ToStop = signals.next().await {
            return Ok(stop(session, &mut serving, &mut signals).await);
        }
        let checked = tokio::select! {
            checked = may_reload(session, again, &serving.control, address) => checked,
            () = signals.stop() => return Ok(stop(session, &mut serving, &mut signals).await),
        };
        match checked {
            Ok(()) => break,
            Err(problem) => {
                tracing::error!(
                    "not reloaded, everything goes on as before: {}",
                    problem.message
                );
                if let Some(running) = &mut running {
                    running.refuse(problem.message);
                }
            }
        }
    }
    notify_systemd(session, "RELOADING=1");
    tracing::info!("reloading: running actions may end, then the next process takes over");
    tokio::select! {
        () = serving.end(RELOAD_PATIENCE) => {}
        // To end, not to be followed by another one.
        () = signals.stop() => return Ok(stop(session, &mut serving, &mut signals).await),
    }
    let error = successor::replace(socket);
    let message = format!("the next process cannot be started: {error}");
    Err(CommandError::failed(FailureCode::Internal, message))
}

async fn stop(session: &Session<'_>, serving: &mut Serving, signals: &mut Signals) -> Exit {
    notify_systemd(session, "STOPPING=1");
    serving.stop(signals).await;
    Exit::Done
}

fn note(settings: &Settings, control: &Control, listen: SocketAddr) -> Note {
    Note {
        pid: std::process::id(),
        start: control.clock().now().to_string(),
        listen: Some(listen),
        actions: settings.actions.value.clone(),
        services: settings.services.value.clone(),
        watched: services::digests(health::list(control).iter().map(|view| &view.service)),
        refusals: 0,
        refusal: None,
    }
}

/// Whether the next process would start with what is in the files now.
async fn may_reload(
    session: &Session<'_>,
    again: &Cli,
    control: &Control,
    address: SocketAddr,
) -> Result<(), CommandError> {
    let Command::Serve(args) = &again.command else {
        return Ok(());
    };
    let settings = Settings::load(&flags(again, args), session.environment)?;
    let catalogue = catalogue::load(&settings)?;
    services::load(&settings)?;
    compose::channels(&settings, session.environment, &catalogue)?;
    notifiers::notifiers(&settings, session.environment)?;
    agents::load(&settings, session.environment, address)?;
    agents::of_processes(&settings, session.environment, address)?;
    let other = instances::who_disagrees(control, catalogue.digest())
        .await
        .map_err(compose::store_problem)?;
    match other.filter(|_| !settings.replace_catalogue) {
        None => Ok(()),
        Some(other) => Err(CommandError::config(format!(
            "{} works on this database with another catalogue ({}): stop it, reload, and start it with the new one",
            other.name,
            other.catalogue.short()
        ))),
    }
}

/// Another process that works on this very data folder.
fn already_runs(settings: &Settings) -> Option<CommandError> {
    if settings.database_url.value.is_some() {
        return None;
    }
    let process = held_by(&settings.database_file())?;
    let folder = settings.data.value.display();
    let message = format!("this Void runs already: process {process} works on {folder}");
    Some(CommandError::failed(FailureCode::InUse, message).next("void status"))
}

type Serves = (Plane, Captures, (Vec<Agent>, ProcessAgents), AgentProcesses);

/// A control plane that answers.
pub(super) struct Serving {
    control: Control,
    processes: AgentProcesses,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Serving {
    pub(super) fn start(
        bound: Bound,
        (plane, captures, (agents, minds), processes): Serves,
        settings: &Settings,
        environment: &Environment,
    ) -> Self {
        let control = plane.control().clone();
        let doctor = doctor::of_the_server(settings, environment, bound.address);
        let router = void_server::router(ServerConfig {
            talk: Talk::with_processes(control.clone(), agents, Some(minds)),
            plane,
            captures,
            processes: processes.clone(),
            public_url: settings.public_url.value.clone(),
            allowed_hosts: settings.allowed_hosts.clone(),
            listens_on: bound.address,
            first_steps: first_steps::of(settings, environment, bound.address),
            doctor,
        });
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(void_server::serve(bound, router, stopped));
        let resumed = processes.clone();
        tokio::spawn(async move {
            if let Err(error) = resumed.resume().await {
                tracing::error!(%error, "agents that ran before cannot be started again");
            }
            resumed.attend().await;
        });
        Self {
            control,
            processes,
            stop,
            task,
        }
    }

    pub(super) async fn until_told_to_stop(mut self) -> Result<(), CommandError> {
        let mut signals = Signals::watch(Hangup::watch()?)?;
        // There is nothing to read anew: a hang-up ends it too.
        signals.next().await;
        self.stop(&mut signals).await;
        Ok(())
    }

    async fn stop(&mut self, signals: &mut Signals) {
        tracing::info!("stopping: nothing new starts, running actions may end");
        tokio::select! {
            () = self.end(PATIENCE) => return,
            () = signals.stop() => {}
        }
        tracing::warn!("told again: ending now; what runs is settled at the next start");
        self.close().await;
    }

    /// Lets what runs end, and then the open requests.
    async fn end(&mut self, patience: Duration) {
        self.processes.end().await;
        self.control.stop(patience).await;
        self.close().await;
    }

    async fn close(&mut self) {
        self.stop.send_replace(true);
        let _ = tokio::time::timeout(CLOSE_PATIENCE, &mut self.task).await;
    }
}

pub(super) fn start_log(environment: &Environment, format: LogFormat, default: &str) {
    use tracing_subscriber::layer::SubscriberExt as _;
    use tracing_subscriber::util::SubscriberInitExt as _;
    use tracing_subscriber::{fmt, registry};
    let wanted = environment.get("VOID_LOG").unwrap_or_default();
    let by_default = || match targets(default) {
        Ok(Some(filter)) => filter,
        Ok(None) | Err(_) => Targets::new().with_default(Level::INFO),
    };
    let (filter, wrong) = match targets(wanted) {
        Ok(filter) => (filter.unwrap_or_else(by_default), None),
        Err(wrong) => (by_default(), Some(wrong)),
    };
    let log = fmt::layer().with_writer(std::io::stderr).with_target(false);
    let filtered = registry().with(filter);
    // A second subscriber only happens in tests.
    let _ = match format {
        LogFormat::Text => filtered.with(log.with_ansi(false)).try_init(),
        LogFormat::Json => filtered.with(log.json()).try_init(),
    };
    if let Some(wrong) = wrong {
        tracing::error!(
            "VOID_LOG: {wrong} is neither a level nor PART=LEVEL with a part of letters, digits, _, - and :; the usual is logged"
        );
    }
}

/// What is logged, as `VOID_LOG` says it: a level, and others for single parts. `None` where it says nothing; otherwise
/// what of it cannot be read. A part that nothing can be called would switch off all the others, and say nothing itself.
fn targets(wanted: &str) -> Result<Option<Targets>, String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "_-:".contains(c);
    let mut named = Vec::new();
    for one in wanted.split(',').map(str::trim) {
        if one.is_empty() {
            continue;
        }
        let words: Vec<&str> = one.split('=').map(str::trim).collect();
        let part = words.first().copied().unwrap_or_default();
        let one = words.join("=");
        let is_read = !part.is_empty() && part.chars().all(is_word);
        if !is_read || one.parse::<Targets>().is_err() {
            return Err(text::value_in_quotes(text::cut(&one, WRONG_BYTES_MAX)));
        }
        named.push(one);
    }
    let targets = named.join(",").parse();
    Ok(targets.ok().filter(|_| !named.is_empty()))
}

/// Tells systemd how it stands, where it asks to be told.
fn notify_systemd(session: &Session<'_>, state: &str) {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::{SocketAddr, UnixDatagram};
    let Some(path) = session.environment.get("NOTIFY_SOCKET") else {
        return;
    };
    let address = match path.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(path),
    };
    if let (Ok(address), Ok(socket)) = (address, UnixDatagram::unbound()) {
        let _ = socket.send_to_addr(state.as_bytes(), &address);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_logged_is_a_level_and_levels_of_single_parts() {
        let targets = |wanted: &str| targets(wanted).map(Option::unwrap);
        let shipped = targets("info,rmcp=error,webauthn_rs_core=off").unwrap();
        assert!(shipped.would_enable("void_control::freezes", &Level::INFO));
        assert!(!shipped.would_enable("void_control::freezes", &Level::DEBUG));
        assert!(shipped.would_enable("rmcp::service", &Level::ERROR));
        assert!(!shipped.would_enable("rmcp::service", &Level::WARN));
        assert!(!shipped.would_enable("webauthn_rs_core::core", &Level::ERROR));
        let one = targets("void_control=debug").unwrap();
        assert!(one.would_enable("void_control::freezes", &Level::DEBUG));
        assert!(!one.would_enable("void_server::mcp", &Level::ERROR));
        assert_eq!(targets("debug,").unwrap(), targets("debug").unwrap());
        for spread in [" debug ", "\tdebug\n", ", debug ,"] {
            assert_eq!(targets(spread).unwrap(), targets("debug").unwrap());
        }
        let one = targets("info, void_control::freezes = debug").unwrap();
        assert_eq!(one, targets("info,void_control::freezes=debug").unwrap());
    }

    #[test]
    fn what_nothing_can_be_called_is_named_and_changes_nothing() {
        for nothing in ["", " ", ",", " , "] {
            assert_eq!(targets(nothing), Ok(None), "{nothing:?}");
        }
        for (wanted, wrong) in [
            ("info,void_control=loud", r#""void_control=loud""#),
            ("void control=debug", r#""void control=debug""#),
            ("info,void[x]=debug", r#""void[x]=debug""#),
            ("v\u{43e}id=debug", r#""v\u{43e}id=debug""#),
            ("'debug'", r#""'debug'""#),
            ("=debug", r#""=debug""#),
            ("a=b=debug", r#""a=b=debug""#),
        ] {
            assert_eq!(targets(wanted), Err(wrong.to_owned()), "{wanted:?}");
        }
        let long = "?".repeat(WRONG_BYTES_MAX + 1);
        let quoted = format!("\"{}\"", "?".repeat(WRONG_BYTES_MAX));
        assert_eq!(targets(&long), Err(quoted));
    }
}
