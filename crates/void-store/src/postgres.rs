//! PostgreSQL: one writer task per process with group commit, a pool of readers beside it, and a
//! connection that listens for the commits of other instances.

mod flights;
mod limits;
mod listener;
mod writer;

use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use tokio::sync::{mpsc, watch};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;
use void_domain::secrets::Secret;

use crate::errors::StoreError;
use crate::heads::Newest;
use crate::lanes::ReadTurn;
use crate::migrations;
use crate::rollbacks::HighWater;
use crate::store::Reading;
use crate::tx::{Engine, PostgresTx, Tx};
use crate::writer::Job;

pub(crate) const READERS_MAX: usize = 8;
/// Until a connection is free, or made.
const CONNECTION_WITHIN: Duration = Duration::from_secs(10);

#[derive(Debug, Clone)]
pub struct PostgresConfig {
    /// `postgres://user:password@host/database`; a secret, for the password in it.
    pub url: Secret,
    /// The authority that signed the server's certificate. With it TLS is required, without it
    /// the connection is plain; there is no unverified TLS.
    pub ca_file: Option<PathBuf>,
}

impl PostgresConfig {
    /// For how long an instance that stops in the middle of a batch can hold up the writes of others:
    /// the server ends its transaction, then those that wait get their turn.
    pub const HELD_UP_MAX: Duration = limits::LOCK_WITHIN;
    /// After so long every write is answered, whatever the database and its other clients do.
    pub const ANSWERED_WITHIN: Duration = Duration::from_secs(
        CONNECTION_WITHIN.as_secs()
            + limits::BATCH_WITHIN.as_secs()
            + limits::COMMIT_WITHIN.as_secs()
            + limits::SETTLE_WITHIN.as_secs(),
    );
}

pub(crate) async fn open(
    config: &PostgresConfig,
    queue: mpsc::Receiver<Box<dyn Job>>,
) -> Result<(PostgresReaders, watch::Receiver<Newest>, HighWater), StoreError> {
    let settings = settings(config)?;
    let tls = tls(config.ca_file.as_deref())?;
    // The writer has a connection of its own: a crowd of readers cannot hold up what must be recorded.
    let for_writing = pool(&settings, &tls, 1)?;
    let for_reading = pool(&settings, &tls, READERS_MAX)?;
    let client = for_writing.get().await?;
    limits::assert_durable(&client).await?;
    limits::allow_migrations(&client).await?;
    migrations::run_postgres(&client).await?;
    limits::prepare(&client).await?;
    let heads = writer::heads_now(client).await?;
    let high_water = HighWater::new(heads);
    let (committed, watcher) = watch::channel(heads.newest());
    let committed = Arc::new(committed);
    writer::start(
        for_writing,
        queue,
        Arc::clone(&committed),
        high_water.clone(),
    );
    listener::start(settings, tls, for_reading.clone(), committed);
    Ok((PostgresReaders { pool: for_reading }, watcher, high_water))
}

fn pool(
    settings: &tokio_postgres::Config,
    tls: &MakeRustlsConnect,
    size: usize,
) -> Result<Pool, StoreError> {
    let recycling = ManagerConfig {
        recycling_method: RecyclingMethod::Fast,
    };
    let manager = Manager::from_config(settings.clone(), tls.clone(), recycling);
    Pool::builder(manager)
        .max_size(size)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(CONNECTION_WITHIN))
        .create_timeout(Some(CONNECTION_WITHIN))
        .post_create(limits::on_connect())
        .build()
        .map_err(|error| StoreError::Internal(error.to_string()))
}

fn settings(config: &PostgresConfig) -> Result<tokio_postgres::Config, StoreError> {
    // The parser's own message may repeat a part of the text, and the text holds the password.
    let mut settings = tokio_postgres::Config::from_str(config.url.expose()).map_err(|_| {
        StoreError::Unavailable("database.url is not a PostgreSQL address".to_owned())
    })?;
    let mode = match (&config.ca_file, settings.get_ssl_mode()) {
        (Some(_), _) => SslMode::Require,
        (None, SslMode::Require) => {
            let text = "database.url asks for TLS; name the server's authority in database.ca_file";
            return Err(StoreError::Unavailable(text.to_owned()));
        }
        (None, _) => SslMode::Disable,
    };
    settings.ssl_mode(mode).application_name("void");
    limits::of_sockets(&mut settings);
    Ok(settings)
}

fn tls(ca_file: Option<&Path>) -> Result<MakeRustlsConnect, StoreError> {
    let mut roots = rustls::RootCertStore::empty();
    if let Some(path) = ca_file {
        let unreadable = |error: &dyn std::fmt::Display| {
            StoreError::Unavailable(format!("database.ca_file {}: {error}", path.display()))
        };
        for certificate in
            CertificateDer::pem_file_iter(path).map_err(|error| unreadable(&error))?
        {
            let certificate = certificate.map_err(|error| unreadable(&error))?;
            roots.add(certificate).map_err(|error| unreadable(&error))?;
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| StoreError::Internal(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

#[derive(Clone)]
pub(crate) struct PostgresReaders {
    pool: Pool,
}

impl PostgresReaders {
    pub(crate) async fn read(&self, turn: ReadTurn, read: Reading) -> Result<(), StoreError> {
        let _turn = turn;
        let reading = async {
            let client = self.pool.get().await.map_err(StoreError::from)?;
            let reader = PostgresTx::new(client);
            reader
                .batch("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                .await?;
            let mut tx = Tx::new(Engine::Postgres(reader));
            read(&mut tx).await;
            if let Engine::Postgres(reader) = tx.into_engine()
                && reader.batch("COMMIT").await.is_ok()
            {
                reader.release();
            }
            Ok(())
        };
        match tokio::time::timeout(limits::READ_WITHIN, reading).await {
            Ok(outcome) => outcome,
            Err(_late) => Err(limits::late("a read", limits::READ_WITHIN)),
        }
    }
}
