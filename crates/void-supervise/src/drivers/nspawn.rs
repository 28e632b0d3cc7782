//! A container of systemd-nspawn around the same process: its own root file system, read-only, with the agent's folders
//! mounted where the plan says. In it the process confines itself all the same, and gives up every capability then.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use void_sandbox::FolderAccess;

use super::{Driver, Launch, NotLaunched, plan};
use crate::orders::Order;

/// The container's first process is a small one of systemd's, and the agent is its child.
const FIRST_PROCESS: u32 = 1;
const PROGRAM_INSIDE: &str = "/usr/local/bin/void";

#[derive(Debug, Clone)]
pub struct NspawnDriver {
    /// `systemd-nspawn`.
    pub nspawn: PathBuf,
    /// The root file system of every agent's container, with the libraries that this program needs.
    pub root: PathBuf,
    /// This program.
    pub program: PathBuf,
    /// The words that lead to `run_agent`.
    pub words: Vec<&'static str>,
}

impl Driver for NspawnDriver {
    fn launch(&self, order: &Order) -> Result<Launch, NotLaunched> {
        if !self.nspawn.is_file() {
            let program = self.nspawn.clone();
            return Err(NotLaunched::Missing { program });
        }
        let plan = plan(order, FIRST_PROCESS, |mounted| mounted.inside.clone());
        plan.to_line()?;
        let mut arguments: Vec<OsString> = [
            "--quiet",
            "--keep-unit",
            "--register=no",
            "--console=pipe",
            "--as-pid2",
            "--read-only",
            "--no-new-privileges=yes",
            "--link-journal=no",
            "--resolv-conf=off",
            "--timezone=off",
        ]
        .map(OsString::from)
        .into();
        arguments.push(option("--machine=void-", Path::new(&order.facts.name)));
        arguments.push(option("--directory=", &self.root));
        arguments.push(bind(
            "--bind-ro=",
            &self.program,
            Path::new(PROGRAM_INSIDE),
        )?);
        for mounted in &order.folders {
            let kind = match mounted.folder.access {
                FolderAccess::ReadWrite => "--bind=",
                FolderAccess::ReadOnly => "--bind-ro=",
            };
            arguments.push(bind(kind, &mounted.folder.path, &mounted.inside)?);
        }
        for (name, value) in order.facts.environment() {
            arguments.push(format!("--setenv={name}={value}").into());
        }
        arguments.push("--".into());
        arguments.push(PROGRAM_INSIDE.into());
        arguments.extend(self.words.iter().map(OsString::from));
        Ok(Launch {
            program: self.nspawn.clone(),
            arguments,
            environment: Vec::new(),
            plan,
        })
    }
}

fn option(name: &str, value: &Path) -> OsString {
    let mut text = OsString::from(name);
    text.push(value);
    text
}

/// A colon parts the two paths for it, and a backslash quotes.
fn bind(kind: &str, outside: &Path, inside: &Path) -> Result<OsString, NotLaunched> {
    for path in [outside, inside] {
        let text = path.to_string_lossy();
        if !path.is_absolute() || text.contains([':', ',', '\\']) {
            return Err(NotLaunched::Path(path.to_owned()));
        }
    }
    let mut text = option(kind, outside);
    text.push(":");
    text.push(inside);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orders::{AgentFacts, MountedFolder, TokenText};
    use void_sandbox::{Folder, SandboxLimits, SandboxMode};

    fn order(state: &str) -> Order {
        let mounted = |path: &str, access, inside: &str| MountedFolder {
            folder: Folder {
                path: path.into(),
                access,
            },
            inside: inside.into(),
        };
        Order {
            facts: AgentFacts {
                name: "alice".to_owned(),
                parent: Some("root".to_owned()),
                api_url: "http://127.0.0.1:3000".to_owned(),
            },
            token: TokenText::new("void_agent_hunter2").unwrap(),
            folders: vec![
                mounted(state, FolderAccess::ReadWrite, "/agents/alice/state"),
                mounted(
                    "/data/agents/bob/state",
                    FolderAccess::ReadWrite,
                    "/agents/bob/state",
                ),
                mounted(
                    "/data/applied/alice",
                    FolderAccess::ReadOnly,
                    "/applied/alice",
                ),
                mounted("/data/meta", FolderAccess::ReadOnly, "/meta"),
            ],
            server_port: 3000,
            user: Some(70_001),
            groups: vec![70_002],
            limits: SandboxLimits {
                memory_bytes: 1,
                file_bytes: 1,
            },
            mode: SandboxMode::Full,
            log: "/data/agents/alice/log".into(),
        }
    }

    fn driver(nspawn: &str) -> NspawnDriver {
        NspawnDriver {
            nspawn: nspawn.into(),
            root: "/var/lib/machines/void-agents".into(),
            program: "/usr/bin/void".into(),
            words: vec!["agent", "run"],
        }
    }

    #[test]
    fn the_container_has_the_mounts_of_the_tree_and_no_secret() {
        let launch = driver("/bin/sh")
            .launch(&order("/data/agents/alice/state"))
            .unwrap();
        let words: Vec<&str> = launch
            .arguments
            .iter()
            .map(|word| word.to_str().unwrap())
            .collect();
        let expected = [
            "--machine=void-alice",
            "--directory=/var/lib/machines/void-agents",
            "--bind-ro=/usr/bin/void:/usr/local/bin/void",
            "--bind=/data/agents/alice/state:/agents/alice/state",
            "--bind=/data/agents/bob/state:/agents/bob/state",
            "--bind-ro=/data/applied/alice:/applied/alice",
            "--bind-ro=/data/meta:/meta",
            "--setenv=VOID_API_URL=http://127.0.0.1:3000",
            "--setenv=VOID_AGENT=alice",
            "--setenv=VOID_TOKEN_FD=0",
            "--setenv=VOID_PARENT=root",
            "--setenv=HIVE_PARENT=root",
            "--",
            "/usr/local/bin/void",
            "agent",
            "run",
        ];
        assert_eq!(words[words.len() - expected.len()..], expected);
        let options = &words[..words.len() - expected.len()];
        for option in [
            "--read-only",
            "--no-new-privileges=yes",
            "--as-pid2",
            "--console=pipe",
        ] {
            assert!(options.contains(&option), "{option}");
        }
        assert!(!words.iter().any(|word| word.contains("hunter2")));
        assert!(launch.environment.is_empty());
        let inside: Vec<&str> = launch
            .plan
            .folders
            .iter()
            .map(|folder| folder.path.to_str().unwrap())
            .collect();
        assert_eq!(
            inside,
            [
                "/agents/alice/state",
                "/agents/bob/state",
                "/applied/alice",
                "/meta"
            ]
        );
        assert_eq!(launch.plan.server_process, 1);
    }

    #[test]
    fn what_cannot_be_mounted_or_run_is_refused() {
        for path in ["/data:x/state", "/data,x/state", "/data\\x/state", "state"] {
            let refused = driver("/bin/sh").launch(&order(path));
            assert!(matches!(refused, Err(NotLaunched::Path(_))), "{path}");
        }
        let refused = driver("/does/not/exist").launch(&order("/data/state"));
        assert!(
            matches!(refused, Err(NotLaunched::Missing { .. })),
            "{refused:?}"
        );
    }
}
