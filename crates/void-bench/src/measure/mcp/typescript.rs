//! The minimal server in TypeScript, where npm and its registry can be reached.

use std::fs;
use std::path::{Path, PathBuf};

use void_testkit::free_port;

use crate::Outcome;
use crate::servers::Server;

const FILES: [(&str, &str); 3] = [
    (
        "package.json",
        include_str!("../../../typescript/package.json"),
    ),
    (
        "package-lock.json",
        include_str!("../../../typescript/package-lock.json"),
    ),
    ("server.mjs", include_str!("../../../typescript/server.mjs")),
];

pub(super) struct Typescript {
    script: PathBuf,
}

impl Typescript {
    /// `None`: it cannot be had here.
    #[expect(
        clippy::disallowed_methods,
        reason = "npm brings what is measured beside Void"
    )]
    pub(super) fn install(folder: &Path) -> Outcome<Option<Self>> {
        let folder = folder.join("typescript");
        fs::create_dir_all(&folder)?;
        for (name, text) in FILES {
            fs::write(folder.join(name), text)?;
        }
        let installed = std::process::Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--ignore-scripts"])
            .current_dir(&folder)
            .output();
        if installed.is_ok_and(|output| output.status.success()) {
            let script = folder.join("server.mjs");
            return Ok(Some(Self { script }));
        }
        eprintln!("npm cannot install the TypeScript SDK here; Void is measured beside rmcp alone");
        Ok(None)
    }

    pub(super) fn command(&self, payload: &Path) -> String {
        format!("node '{}' '{}'", self.script.display(), payload.display())
    }

    pub(super) async fn serve(&self, payload: &Path, folder: &Path) -> Outcome<Server> {
        let port = free_port();
        let command = format!("{} {port}", self.command(payload));
        Server::start(&command, folder, port, "/").await
    }
}
