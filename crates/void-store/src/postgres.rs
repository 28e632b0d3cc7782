//! PostgreSQL: one writer task per process with group commit, a pool of readers beside it, and a
//! connection that listens for the commits of other instances.

mod limits;
mod listener;
mod writer;

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use futures_util::TryStreamExt as _;
use futures_util::future::BoxFuture;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use tokio::sync::{mpsc, watch};
use tokio_postgres::config::SslMode;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type};
use tokio_postgres_rustls::MakeRustlsConnect;
use void_domain::secrets::Secret;

use crate::errors::StoreError;
use crate::lanes::ReadTurn;
use crate::migrations;
use crate::rollbacks::HighWater;
use crate::tx::{Engine, Tx};
use crate::values::{Gathering, Listing, Row, Value};
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
) -> Result<(PostgresReaders, watch::Receiver<u64>, HighWater), StoreError> {
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
    let (committed, watcher) = watch::channel(heads.event_seq);
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

/// A connection in use. Statements are prepared once per connection.
///
/// Whoever is dropped in the middle (a caller that hung up, a use case that panicked) may leave a
/// transaction open, so only [`release`](Self::release) gives the connection back to the pool.
pub(crate) struct PostgresTx {
    /// `None` once it went back.
    client: Option<Object>,
}

impl PostgresTx {
    pub(crate) const fn new(client: Object) -> Self {
        Self {
            client: Some(client),
        }
    }

    /// For a connection that has no transaction open.
    pub(crate) fn release(mut self) {
        drop(self.client.take());
    }

    fn client(&self) -> Result<&Object, StoreError> {
        self.client
            .as_ref()
            .ok_or_else(|| StoreError::Internal("the connection went back".to_owned()))
    }

    pub(crate) async fn batch(&self, sql: &str) -> Result<(), StoreError> {
        Ok(self.client()?.batch_execute(sql).await?)
    }

    pub(crate) async fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        let client = self.client()?;
        let statement = client.prepare_cached(sql).await?;
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        Ok(client.execute(&statement, &values).await?)
    }

    pub(crate) async fn query(
        &self,
        table: &'static str,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        let client = self.client()?;
        let statement = client.prepare_cached(sql).await?;
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        let rows = client.query(&statement, &values).await?;
        rows.iter().map(|row| read(table, row)).collect()
    }

    /// Keeps no more than `bytes_max` of what comes.
    pub(crate) async fn query_up_to(
        &self,
        table: &'static str,
        sql: &str,
        values: &[Value<'_>],
        bytes_max: usize,
    ) -> Result<Listing, StoreError> {
        let client = self.client()?;
        let statement = client.prepare_cached(sql).await?;
        let values = values.iter().map(|value| value as &(dyn ToSql + Sync));
        let mut rows = pin!(client.query_raw(&statement, values).await?);
        let (mut gathering, mut is_cut) = (Gathering::up_to(bytes_max), false);
        // The rest is received and dropped: the connection is used again.
        while let Some(row) = rows.try_next().await? {
            is_cut = is_cut || !gathering.push(read(table, &row)?);
        }
        Ok(gathering.end(is_cut))
    }
}

fn read(table: &'static str, row: &tokio_postgres::Row) -> Result<Row, StoreError> {
    let cells: Result<Vec<Value<'static>>, StoreError> = (0..row.len())
        .map(|column| cell(table, row, column))
        .collect();
    cells.map(|cells| Row::new(table, cells))
}

impl Drop for PostgresTx {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            // Closed: the server rolls back whatever was left open.
            drop(Object::take(client));
        }
    }
}

fn cell(
    table: &'static str,
    row: &tokio_postgres::Row,
    column: usize,
) -> Result<Value<'static>, StoreError> {
    let kind = row
        .columns()
        .get(column)
        .map(|column| column.type_().clone());
    match kind {
        Some(Type::INT8) => Ok(Value::from(row.try_get::<_, Option<i64>>(column)?)),
        Some(Type::TEXT) => Ok(Value::from(row.try_get::<_, Option<String>>(column)?)),
        _ => Err(StoreError::corrupt(
            table,
            "?",
            "a column of a foreign type",
        )),
    }
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(number) if *kind == Type::INT8 => number.to_sql(kind, out),
            Self::Text(text) if *kind == Type::TEXT => text.to_sql(kind, out),
            Self::Int(_) | Self::Text(_) | Self::Foreign => {
                Err(format!("a value of another type than {kind}").into())
            }
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}

#[derive(Clone)]
pub(crate) struct PostgresReaders {
    pool: Pool,
}

impl PostgresReaders {
    pub(crate) async fn read<T, E, F>(&self, turn: ReadTurn, body: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
    {
        let _turn = turn;
        let reading = async {
            let client = self.pool.get().await.map_err(StoreError::from)?;
            let reader = PostgresTx::new(client);
            reader
                .batch("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                .await?;
            let mut tx = Tx::new(Engine::Postgres(reader));
            let outcome = body(&mut tx).await;
            if let Engine::Postgres(reader) = tx.into_engine()
                && reader.batch("COMMIT").await.is_ok()
            {
                reader.release();
            }
            outcome
        };
        match tokio::time::timeout(limits::READ_WITHIN, reading).await {
            Ok(outcome) => outcome,
            Err(_late) => Err(limits::late("a read", limits::READ_WITHIN).into()),
        }
    }
}
