//! `void doctor`: looks for what is wrong and names the next command. Reads only.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use void_control::{Clock, backups};
use void_domain::hosts::Reach;

use super::Session;
use super::rows::word;
use super::run::segment;
use crate::catalogue;
use crate::cli::DoctorArgs;
use crate::client::Client;
use crate::exit::{Exit, Problem};
use crate::output::Tone;

const DISK_FREE_BYTES_MIN: u64 = 256 * 1024 * 1024;
const BACKUP_AGE_MAX: Duration = Duration::from_secs(2 * 24 * 60 * 60);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Fine,
    Warning,
    Wrong,
}

impl Level {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Fine => "ok",
            Self::Warning => "warning",
            Self::Wrong => "problem",
        }
    }
}

struct Finding {
    check: &'static str,
    level: Level,
    message: String,
    next: Option<String>,
}

#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn fine(&mut self, check: &'static str, message: impl Into<String>) {
        self.0.push(Finding {
            check,
            level: Level::Fine,
            message: message.into(),
            next: None,
        });
    }

    fn warn(&mut self, check: &'static str, message: impl Into<String>, next: impl Into<String>) {
        self.0.push(Finding {
            check,
            level: Level::Warning,
            message: message.into(),
            next: Some(next.into()),
        });
    }

    fn wrong(&mut self, check: &'static str, message: impl Into<String>, next: impl Into<String>) {
        self.0.push(Finding {
            check,
            level: Level::Wrong,
            message: message.into(),
            next: Some(next.into()),
        });
    }
}

pub(super) async fn run(session: &Session<'_>, args: DoctorArgs) -> Result<Exit, Problem> {
    let mut findings = Findings::default();
    let catalogue = check_catalogue(session, &mut findings);
    check_data(session, &mut findings);
    check_key(session, catalogue.as_ref(), &mut findings);
    check_backups(session, &mut findings);
    let client = session.client()?;
    match client.get("/api/status").await {
        Ok(status) => {
            findings.fine(
                "server",
                format!("{} answers at {}", word(&status, "version"), client.base()),
            );
            if status.get("frozen") == Some(&Value::Bool(true)) {
                findings.warn("freeze", "everything is frozen; nothing runs", "void thaw");
            }
            check_hosts(&client, &mut findings).await;
        }
        Err(problem) => findings.wrong(
            "server",
            problem.message,
            problem.next.unwrap_or_else(|| "void serve".to_owned()),
        ),
    }
    Ok(report(session, &findings.0, args.strict))
}

fn report(session: &Session<'_>, findings: &[Finding], strict: bool) -> Exit {
    let worst = |level| findings.iter().any(|finding| finding.level == level);
    let exit = if worst(Level::Wrong) || (strict && worst(Level::Warning)) {
        Exit::Failed
    } else {
        Exit::Done
    };
    if session.output.json {
        let findings: Vec<Value> = findings
            .iter()
            .map(|finding| json!({"check": finding.check, "level": finding.level.as_str(), "message": finding.message, "next": finding.next}))
            .collect();
        session
            .output
            .value(json!({"ok": exit == Exit::Done, "findings": findings}));
        return exit;
    }
    for finding in findings {
        let tone = match finding.level {
            Level::Fine => Tone::Good,
            Level::Warning => Tone::Waiting,
            Level::Wrong => Tone::Bad,
        };
        let level = session
            .output
            .tone(tone, &format!("{:8}", finding.level.as_str()));
        session.output.line(format!(
            "{level} {:10} {}",
            finding.check,
            void_domain::text::escaped_lines(&finding.message)
        ));
        if let Some(next) = &finding.next {
            session.output.line(format!(
                "{:19} next: {}",
                "",
                void_domain::text::escaped(next)
            ));
        }
    }
    exit
}

fn check_catalogue(
    session: &Session<'_>,
    findings: &mut Findings,
) -> Option<void_domain::catalogue::Catalogue> {
    let path = &session.settings.actions.value;
    match catalogue::load(&session.settings) {
        Err(problem) => {
            let next = problem
                .next
                .unwrap_or_else(|| format!("void actions lint {}", path.display()));
            findings.wrong("catalogue", problem.message, next);
            None
        }
        Ok(catalogue) => {
            let count = catalogue.actions().len();
            if count == 0 {
                findings.warn(
                    "catalogue",
                    "it is empty: nothing may run",
                    format!("write {}", path.display()),
                );
            } else if catalogue.warnings().is_empty() {
                findings.fine(
                    "catalogue",
                    format!("{count} actions, digest {}", catalogue.digest().short()),
                );
            } else {
                let message = format!("{count} actions, {} warnings", catalogue.warnings().len());
                findings.warn(
                    "catalogue",
                    message,
                    format!("void actions lint {}", path.display()),
                );
            }
            Some(catalogue)
        }
    }
}

fn check_data(session: &Session<'_>, findings: &mut Findings) {
    let folder = &session.settings.data.value;
    let Ok(metadata) = std::fs::metadata(folder) else {
        findings.warn(
            "data",
            format!("{} is not there yet", folder.display()),
            "void serve makes it",
        );
        return;
    };
    if metadata.permissions().mode() & 0o077 != 0 {
        let message = format!("others can look into {}", folder.display());
        findings.wrong("data", message, format!("chmod 700 {}", folder.display()));
    }
    if let Some(kind) = network_file_system(folder) {
        let message = format!(
            "{} is on {kind}; SQLite is not safe there",
            folder.display()
        );
        findings.wrong(
            "data",
            message,
            "move the data folder to a local disk and set VOID_DATA",
        );
    }
    match rustix::fs::statvfs(folder) {
        Ok(stat) => {
            let free = stat.f_bavail.saturating_mul(stat.f_frsize);
            if free < DISK_FREE_BYTES_MIN {
                let message = format!(
                    "only {} MiB are free in {}",
                    free / (1024 * 1024),
                    folder.display()
                );
                findings.wrong(
                    "disk",
                    message,
                    "free some space; new work is refused when it runs out",
                );
            } else {
                findings.fine("disk", format!("{} MiB are free", free / (1024 * 1024)));
            }
        }
        Err(error) => findings.warn(
            "disk",
            format!("free space cannot be read: {error}"),
            "df -h",
        ),
    }
}

/// Which network file system a folder is on, by its magic number.
fn network_file_system(folder: &Path) -> Option<&'static str> {
    let kind = rustix::fs::statfs(folder).ok()?.f_type;
    match kind & 0xffff_ffff {
        0x6969 => Some("NFS"),
        0xff53_4d42 | 0xfe53_4d42 => Some("SMB"),
        0x517b => Some("SMB"),
        0x0102_1997 => Some("9P"),
        0x00c3_6400 => Some("Ceph"),
        _ => None,
    }
}

fn check_key(
    session: &Session<'_>,
    catalogue: Option<&void_domain::catalogue::Catalogue>,
    findings: &mut Findings,
) {
    let needed = catalogue.is_some_and(|catalogue| {
        catalogue.hosts().any(|host| {
            matches!(host.reach, Reach::Ssh(_)) && catalogue.actions_on(&host.name).next().is_some()
        })
    });
    match &session.settings.ssh_key.value {
        None if needed => findings.wrong(
            "ssh key",
            "none is set, and the catalogue names machines to reach",
            "ssh-keygen -t ed25519 -N '' -f FILE, then ACTIONS_SSH_KEY=FILE",
        ),
        None => {}
        Some(key) => match std::fs::metadata(key) {
            Err(error) => findings.wrong(
                "ssh key",
                format!("{}: {error}", key.display()),
                format!("ssh-keygen -t ed25519 -N '' -f {}", key.display()),
            ),
            Ok(file) if file.permissions().mode() & 0o077 != 0 => {
                findings.wrong(
                    "ssh key",
                    format!("others can read {}; ssh will refuse it", key.display()),
                    format!("chmod 600 {}", key.display()),
                );
            }
            Ok(_) => findings.fine("ssh key", format!("{} is there and private", key.display())),
        },
    }
}

fn check_backups(session: &Session<'_>, findings: &mut Findings) {
    if session.settings.database_url.value.is_some() {
        return;
    }
    if !session.settings.backups.value {
        findings.warn(
            "backups",
            "they are switched off",
            "set backups.enabled, or copy the data folder yourself",
        );
        return;
    }
    let now = Clock::system().now();
    match backups::list_in(&session.settings.backups_folder.value).first() {
        None => findings.warn("backups", "there is none yet", "void backup create"),
        Some(newest) if now.since(newest.made_at) > BACKUP_AGE_MAX => {
            findings.warn(
                "backups",
                format!("the newest is from {}", newest.made_at),
                "void backup create",
            );
        }
        Some(newest) => findings.fine("backups", format!("the newest is from {}", newest.made_at)),
    }
}

async fn check_hosts(client: &Client, findings: &mut Findings) {
    let Ok(answer) = client.get("/api/hosts").await else {
        findings.warn(
            "hosts",
            "only the owner may ask about them",
            "set OWNER_TOKEN",
        );
        return;
    };
    for host in answer
        .get("hosts")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        if host.get("actions").and_then(Value::as_u64) == Some(0) {
            continue;
        }
        let name = word(host, "name");
        match client
            .post(&format!("/api/hosts/{}/check", segment(name)), json!({}))
            .await
        {
            Err(problem) => findings.wrong(
                "host",
                format!("{name}: {}", problem.message),
                "void hosts ls",
            ),
            Ok(checked) => describe_host(name, &checked, findings),
        }
    }
}

fn describe_host(name: &str, checked: &Value, findings: &mut Findings) {
    if let Some(error) = checked.get("error").filter(|error| error.is_object()) {
        let next = match word(error, "code") {
            "host_key_unknown" => format!(
                "compare the fingerprint, then void hosts trust {name} --fingerprint SHA256:…"
            ),
            "host_key_changed" => format!(
                "find out why; if the machine was set up anew, void hosts trust {name} --fingerprint SHA256:…"
            ),
            "auth_refused" | "no_answer" | "not_configured" => format!("void provision ssh {name}"),
            _ => format!("void hosts check {name}"),
        };
        findings.wrong("host", format!("{name}: {}", word(error, "message")), next);
        return;
    }
    if let Some(drift) = checked.get("drift").and_then(Value::as_str) {
        findings.wrong(
            "host",
            format!("{name}: {drift}"),
            format!("void provision ssh {name}"),
        );
        return;
    }
    if checked.get("stopped") == Some(&Value::Bool(true)) {
        findings.warn(
            "host",
            format!("{name}: its stop file is set"),
            format!("remove the stop file on {name} when it may run again"),
        );
        return;
    }
    findings.fine(
        "host",
        format!("{name}: reachable, its list is as the catalogue says"),
    );
}
