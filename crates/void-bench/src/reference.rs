//! The documents' stack, which Void is measured beside: a server of actions and a chat, one Node process each.
//! `reference/README.md` says what they do and do not do.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use void_testkit::free_port;

use crate::Outcome;
use crate::packages::{self, PackageFile};
use crate::postgres::Database;
use crate::servers::{Server, folder_in, quoted};
use crate::subject::OWNER_TOKEN;

const FILES: [PackageFile; 4] = [
    ("package.json", include_str!("../reference/package.json")),
    (
        "package-lock.json",
        include_str!("../reference/package-lock.json"),
    ),
    ("actions.mjs", include_str!("../reference/actions.mjs")),
    ("chat.mjs", include_str!("../reference/chat.mjs")),
];

pub(crate) struct Reference {
    scripts: PathBuf,
    _folder: TempDir,
}

impl Reference {
    /// `None`: it cannot be had here.
    pub(crate) fn install(place: &Path) -> Outcome<Option<Self>> {
        let folder = folder_in(place)?;
        let installed = packages::install(folder.path().join("reference"), &FILES)?;
        Ok(installed.map(|scripts| Self {
            scripts,
            _folder: folder,
        }))
    }

    /// The server of actions with this catalogue and an empty database of its own.
    pub(crate) async fn actions(
        &self,
        folder: &Path,
        catalogue: &str,
        database: &Database,
    ) -> Outcome<Server> {
        let file = folder.join("reference.json");
        fs::write(&file, catalogue)?;
        let settings = format!(
            "OWNER_TOKEN={OWNER_TOKEN} PGHOST={} PGUSER=postgres PGDATABASE={}",
            quoted(&database.socket),
            database.name
        );
        self.start("actions.mjs", &file, folder, &settings).await
    }

    /// The chat, whose one tool hands out this file.
    pub(crate) async fn chat(
        &self,
        folder: &Path,
        payload: &Path,
        model: SocketAddr,
    ) -> Outcome<Server> {
        let settings = format!("ANTHROPIC_API_KEY=unused ANTHROPIC_BASE_URL=http://{model}");
        self.start("chat.mjs", payload, folder, &settings).await
    }

    async fn start(
        &self,
        script: &str,
        file: &Path,
        folder: &Path,
        settings: &str,
    ) -> Outcome<Server> {
        let port = free_port();
        let command = format!(
            "env NODE_ENV=production {settings} node {} {} {port}",
            quoted(&self.scripts.join(script)),
            quoted(file)
        );
        Server::start(&command, folder, port, "/readyz").await
    }
}
