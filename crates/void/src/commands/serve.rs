//! `void serve`

use std::net::SocketAddr;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use void_agent::agents::Agent;
use void_agent::turns::Talk;
use void_control::{Control, setup_links};
use void_server::{Bound, ServerConfig, page_url};

use super::{Session, doctor};
use crate::agents;
use crate::cli::LogFormat;
use crate::compose::{self, Label};
use crate::exit::{Exit, Problem};
use crate::settings::{Environment, Settings};

/// How long running actions may take to end when the server stops; a second signal ends at once.
const PATIENCE: Duration = Duration::from_secs(150);

pub(super) async fn serve(session: &Session<'_>, format: LogFormat) -> Result<Exit, Problem> {
    // The SDK of MCP tells of every request, and warns of what its callers get wrong.
    // So does the library for passkeys; what it refuses we tell in one line of ours.
    start_log(
        session.environment,
        format,
        "info,rmcp=error,webauthn_rs_core=off",
    );
    let settings = &session.settings;
    let bound = Bound::to(settings.listen.value).await.map_err(|error| {
        let message = format!("{} cannot be listened on: {error}", settings.listen.value);
        Problem::failed("listen", message).next("choose another address with --listen")
    })?;
    let agents = agents::load(settings, session.environment, bound.address)?;
    let control = compose::control(settings, session.environment, Label::Real).await?;
    agents::introduce(&control, settings, session.environment).await?;
    let address = bound.address;
    tracing::info!(%address, version = env!("CARGO_PKG_VERSION"), actions = control.catalogue().actions().len(), "ready");
    if !session.output.json {
        session.output.line(format!(
            "Void {} is ready at http://{address}",
            env!("CARGO_PKG_VERSION")
        ));
        session.output.line(format!(
            "  {} actions, catalogue {}",
            control.catalogue().actions().len(),
            control.catalogue().digest().short()
        ));
        session
            .output
            .line("  next: void status, void actions ls, void doctor");
        show_setup_link(session, &control, address).await;
    }
    let serving = Serving::start(bound, control, agents, settings, session.environment);
    notify_systemd(session, "READY=1");
    wait_for_signal().await?;
    notify_systemd(session, "STOPPING=1");
    serving.stop().await;
    Ok(Exit::Done)
}

/// Until the owner has a way to sign in, every start offers one.
async fn show_setup_link(session: &Session<'_>, control: &Control, address: SocketAddr) {
    match setup_links::for_first_start(control).await {
        Ok(Some(link)) => {
            let base = page_url(session.settings.public_url.value.as_deref(), address);
            session.output.line(format!(
                "  set up, once and within an hour: {}",
                link.url(&base)
            ));
        }
        Ok(None) => {}
        Err(error) => tracing::warn!(%error, "no set-up link could be made: void setup-link"),
    }
}

/// A control plane that answers.
pub(super) struct Serving {
    control: Control,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Serving {
    pub(super) fn start(
        bound: Bound,
        control: Control,
        agents: Vec<Agent>,
        settings: &Settings,
        environment: &Environment,
    ) -> Self {
        let doctor = doctor::of_the_server(settings, environment, bound.address);
        let router = void_server::router(ServerConfig {
            control: control.clone(),
            talk: Talk::new(control.clone(), agents),
            public_url: settings.public_url.value.clone(),
            allowed_hosts: settings.allowed_hosts.value.clone(),
            doctor,
        });
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(void_server::serve(bound, router, stopped));
        Self {
            control,
            stop,
            task,
        }
    }

    pub(super) async fn until_told_to_stop(self) -> Result<(), Problem> {
        wait_for_signal().await?;
        self.stop().await;
        Ok(())
    }

    async fn stop(self) {
        tracing::info!("stopping: nothing new starts, running actions may end");
        tokio::select! {
            () = self.control.stop(PATIENCE) => {}
            _ = wait_for_signal() => tracing::warn!("told again: ending now; what runs is settled at the next start"),
        }
        self.stop.send_replace(true);
        let _ = tokio::time::timeout(Duration::from_secs(5), self.task).await;
    }
}

async fn wait_for_signal() -> Result<(), Problem> {
    let problem = |error: std::io::Error| {
        Problem::failed("internal", format!("signals cannot be watched: {error}"))
    };
    let mut terminate = signal(SignalKind::terminate()).map_err(problem)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(problem)?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

pub(super) fn start_log(environment: &Environment, format: LogFormat, default: &str) {
    use tracing_subscriber::EnvFilter;
    let wanted = environment.get("VOID_LOG").unwrap_or(default);
    let filter = EnvFilter::try_new(wanted).unwrap_or_else(|_| EnvFilter::new(default));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false);
    // A second subscriber only happens in tests.
    let _ = match format {
        LogFormat::Text => log.with_ansi(false).try_init(),
        LogFormat::Json => log.json().try_init(),
    };
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
