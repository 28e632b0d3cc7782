//! The lab of `void demo`: a small cluster and its services, as real sockets and processes on loopback,
//! with the catalogue and the services of `config/` and a host list that belongs to them. All of it is in one
//! folder that goes away with the process.

mod examples;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use void_domain::catalogue::{Catalogue, Lockout};
use void_domain::executions::ActionKind;
use void_domain::failures::FailureCode;
use void_rehearsal::folder::{self, LabFolder};
use void_rehearsal::proxmox::{
    Access, Acl, Guest, GuestHook, Node, ProxmoxConfig, ProxmoxServer, TaskDurations, Token, User,
};
use void_rehearsal::services;

use self::examples::Part;
use crate::exit::CommandError;

/// The word behind `void` that makes a process a part of a lab.
pub(crate) const COMMAND: &str = "rehearsal";
const TASKS_TAKE: Duration = Duration::from_millis(700);
const TOKEN: &str = "void@pve!rehearsal";

/// What is down when the curtain rises.
const DOWN: &str = "caddy";

/// A running lab. Dropping it ends its processes and removes its folder.
pub(crate) struct Rehearsal {
    folder: LabFolder,
    _proxmox: ProxmoxServer,
}

impl Rehearsal {
    /// Starts a lab below `base`, after clearing away what a killed one left there.
    pub(crate) fn start(base: &Path, listen: std::net::SocketAddr) -> Result<Self, CommandError> {
        let problem = |error: std::io::Error| {
            CommandError::failed(
                FailureCode::Rehearsal,
                format!("the lab cannot be set up: {error}"),
            )
        };
        folder::sweep(base).map_err(problem)?;
        let folder = folder::create(base).map_err(problem)?;
        let parts = examples::parts()?;
        let ports = start_services(folder.path(), &parts)?;
        let secret = random_hex()?;
        let hook = guest_hook(folder.path().to_owned(), parts)?;
        let proxmox = ProxmoxServer::start(cluster(&secret, hook)).map_err(problem)?;
        let lab = Self {
            folder,
            _proxmox: proxmox,
        };
        lab.write_files(&ports, &secret, listen)?;
        Ok(lab)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Lets the rehearsal speak to a Bot API; without a token it says one that only a fake takes.
    pub(crate) fn set_up_telegram(
        &self,
        url: &str,
        token: Option<&str>,
    ) -> Result<(), CommandError> {
        let file = self.data().join("telegram.token");
        write(&file, token.unwrap_or("1:rehearsal"))?;
        let path = self.settings_file();
        let settings = fs::read_to_string(&path).map_err(|error| unwritable(&path, &error))?;
        let table = format!(
            "\n[notify.telegram]\ntoken = \"file:{}\"\napi_url = {}\n",
            file.display(),
            Value::from(url)
        );
        fs::write(&path, settings + &table).map_err(|error| unwritable(&path, &error))
    }

    pub(crate) fn settings_file(&self) -> PathBuf {
        self.data().join("void.toml")
    }

    fn write_files(
        &self,
        ports: &[u16],
        secret: &str,
        listen: std::net::SocketAddr,
    ) -> Result<(), CommandError> {
        let root = self.folder.path();
        let data = self.data();
        fs::create_dir(&data)
            .and_then(|()| fs::set_permissions(&data, fs::Permissions::from_mode(0o700)))
            .map_err(|error| unwritable(&data, &error))?;
        let actions = examples::actions()?;
        write(&data.join("actions.json"), &pretty(&actions))?;
        let services = examples::watched(ports)?;
        write(&data.join("services.json"), &pretty(&services))?;
        let list = host_list(root, &actions)?;
        write(&data.join("list.json"), &pretty(&list))?;
        write(&data.join("proxmox.token"), &format!("{TOKEN}={secret}\n"))?;
        let settings = format!(
            "# A rehearsal: everything here is on loopback and goes away.\n\
             listen = \"{listen}\"\n\n\
             [proxmox]\nurl = \"{url}\"\ntoken = \"file:{token}\"\nfingerprint = \"{fingerprint}\"\n\n\
             [local]\nlist = \"list.json\"\ntrust_own_list = true\n\n\
             [backups]\nenabled = false\n",
            url = self._proxmox.url(),
            token = data.join("proxmox.token").display(),
            fingerprint = self._proxmox.fingerprint(),
        );
        write(&self.settings_file(), &settings)
    }
}

/// What a process of a lab does: `rehearsal serve FOLDER NAME` and `rehearsal restart FOLDER NAME`.
pub(crate) fn part_of_a_lab(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.collect();
    let [verb, folder, name] = arguments.as_slice() else {
        eprintln!("void rehearsal is started by void demo only");
        return ExitCode::from(2);
    };
    let (folder, name) = (Path::new(folder), name.to_string_lossy());
    match verb.to_str() {
        Some("serve") => services::run(folder, &name),
        Some("restart") => match own_program() {
            Ok(program) => services::report(services::restart(folder, &name, &program, &serve())),
            Err(problem) => {
                eprintln!("{}", problem.message);
                ExitCode::FAILURE
            }
        },
        _ => {
            eprintln!("void rehearsal is started by void demo only");
            ExitCode::from(2)
        }
    }
}

fn serve() -> [OsString; 2] {
    [COMMAND.into(), "serve".into()]
}

/// All at once: each takes a moment to answer. The one that is down is prepared and broken.
fn start_services(folder: &Path, parts: &[Part]) -> Result<Vec<u16>, CommandError> {
    let problem = |error: services::ServiceError| {
        CommandError::failed(FailureCode::Rehearsal, error.to_string())
    };
    let program = own_program()?;
    let mut ports = Vec::new();
    for part in parts {
        ports.push(services::prepare(folder, &part.service, part.kind).map_err(problem)?);
    }
    std::thread::scope(|scope| {
        let starting: Vec<_> = parts
            .iter()
            .map(|part| {
                let program = &program;
                scope.spawn(move || match part.service.as_str() {
                    DOWN => services::break_it(folder, DOWN),
                    name => services::start(folder, name, program, &serve()),
                })
            })
            .collect();
        for started in starting {
            let lost =
                || CommandError::failed(FailureCode::Rehearsal, "a service could not be started");
            started.join().map_err(|_| lost())?.map_err(problem)?;
        }
        Ok(())
    })?;
    Ok(ports)
}

/// A service lives and dies with its guest. One that was broken before stays so.
fn guest_hook(folder: PathBuf, parts: Vec<Part>) -> Result<GuestHook, CommandError> {
    let program = own_program()?;
    Ok(Arc::new(move |vmid, runs| {
        for part in parts.iter().filter(|part| part.vmid == vmid) {
            // What cannot be started shows as down, which is what a health check is for.
            let _ = match runs {
                true => services::start(&folder, &part.service, &program, &serve()),
                false => services::stop(&folder, &part.service),
            };
        }
    }))
}

fn cluster(secret: &str, hook: GuestHook) -> ProxmoxConfig {
    let nodes = vec![Node::online("pve1"), Node::online("pve2")];
    let guests = vec![
        Guest::lxc(100, "pve1", "mediastack").running(),
        Guest::lxc(101, "pve1", "proxy").running(),
        Guest::lxc(107, "pve1", "iventoy").running(),
        Guest::lxc(110, "pve2", "monitoring").running(),
        Guest::qemu(200, "pve2", "homeassistant").running(),
    ];
    let acl: Vec<Acl> = guests
        .iter()
        .map(|guest| {
            Acl::new(
                &format!("/vms/{}", guest.vmid),
                &["VM.Audit", "VM.PowerMgmt"],
            )
        })
        // How busy and how full a node is.
        .chain([Acl::new("/nodes", &["Sys.Audit"])])
        .collect();
    let token = Token::separated("rehearsal", secret, acl.clone());
    let access = Access {
        users: vec![User::new("void@pve", acl, vec![token])],
        pools: Vec::new(),
    };
    ProxmoxConfig {
        durations: TaskDurations::all(TASKS_TAKE),
        on_guest_change: Some(hook),
        ..ProxmoxConfig::new(nodes, guests, access)
    }
}

/// The list of this machine: what `void-act` may run, which is restarting the lab's own services.
fn host_list(root: &Path, actions: &Value) -> Result<Value, CommandError> {
    let catalogue = Catalogue::parse(&actions.to_string(), &Lockout::default()).map_err(|_| {
        CommandError::failed(FailureCode::Internal, "the lab's catalogue is not valid")
    })?;
    let program = own_program()?;
    let mut entries = Vec::new();
    for action in catalogue.actions() {
        let ActionKind::ServiceRestart { service, .. } = &action.execution.kind else {
            continue;
        };
        let argv: [&OsStr; 5] = [
            program.as_os_str(),
            COMMAND.as_ref(),
            "restart".as_ref(),
            root.as_os_str(),
            service.as_ref(),
        ];
        let argv: Option<Vec<&str>> = argv.into_iter().map(OsStr::to_str).collect();
        let argv = argv
            .ok_or_else(|| CommandError::failed(FailureCode::Rehearsal, "paths must be UTF-8"))?;
        entries.push(json!({
            "id": action.id, "tier": action.tier, "def": action.exec_digest(), "argv": argv,
        }));
    }
    Ok(json!({
        "version": void_act::LIST_VERSION, "host": "local",
        "stop_file": root.join("stop"), "entries": entries,
    }))
}

fn own_program() -> Result<PathBuf, CommandError> {
    std::env::current_exe().map_err(|error| {
        CommandError::failed(
            FailureCode::Internal,
            format!("void cannot find its own program: {error}"),
        )
    })
}

fn random_hex() -> Result<String, CommandError> {
    let mut random = [0_u8; 16];
    getrandom::fill(&mut random)
        .map_err(|error| CommandError::failed(FailureCode::Internal, error.to_string()))?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

fn write(path: &Path, text: &str) -> Result<(), CommandError> {
    use std::io::Write as _;
    let file = fs::OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::failed(
        FailureCode::Rehearsal,
        format!("{}: {error}", path.display()),
    )
}
