//! The minimal server in TypeScript, where npm and its registry can be reached.

use std::path::{Path, PathBuf};

use void_testkit::free_port;

use crate::Outcome;
use crate::packages::{self, PackageFile};
use crate::servers::Server;

const FILES: [PackageFile; 3] = [
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
    pub(super) fn install(folder: &Path) -> Outcome<Option<Self>> {
        let installed = packages::install(folder.join("typescript"), &FILES)?;
        Ok(installed.map(|scripts| Self {
            script: scripts.join("server.mjs"),
        }))
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
