//! What can go wrong below a use case. The texts are for people and carry no data of any row.

use rusqlite::ErrorCode;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Nothing was written. The same call may work later.
    #[error("the database cannot be reached: {0}")]
    Unavailable(String),
    /// A commit was sent and not answered, and the database cannot be asked. It may have happened:
    /// whoever needs to know reads the record.
    #[error("the database did not say whether the change was recorded")]
    Unconfirmed,
    /// The database would lose acknowledged commits in a crash.
    #[error("the database does not keep what it acknowledges: {0}")]
    NotDurable(String),
    /// No room for new work; what closes work is still tried.
    #[error("the disk is full; new work is refused until there is room")]
    DiskFull,
    #[error("the database cannot be written: {0}")]
    ReadOnly(String),
    /// A row that cannot exist, or a damaged file. Nothing is guessed from it.
    #[error("damaged data in {table} ({id}): {what}")]
    Corrupt {
        table: &'static str,
        id: String,
        what: String,
    },
    #[error(
        "the database was written by a newer Void (it has {found}); this one knows nothing of it"
    )]
    NewerSchema { found: String },
    #[error("another Void is already using this data folder")]
    InUse,
    /// The database refused what it must not hold, such as a second running proposal per target.
    #[error("the database refused the change: {0}")]
    Constraint(String),
    /// The record is not what this process has seen of it. Nothing was written.
    #[error(
        "the database went back to an older state while Void ran; what waited in it is void and everything is frozen: \
         look at it again"
    )]
    RolledBack,
    /// The path names another file than the one that is open. Nothing is written to either.
    #[error(
        "the database file was replaced while Void ran; nothing is written any more: stop Void, make sure that the right \
         file is in place, and start it again"
    )]
    Replaced,
    /// The row of this instance is another process's: it is a copy of this data folder, or this one is.
    #[error(
        "another process works under this instance's id on this database, so this one starts and settles nothing: stop one of \
         the two, and delete instance.json in the data folder that is the copy"
    )]
    Displaced,
    /// A defect of ours: a statement that does not fit, a panic in a use case.
    #[error("internal database error: {0}")]
    Internal(String),
}

impl StoreError {
    pub fn corrupt(table: &'static str, id: impl ToString, what: impl ToString) -> Self {
        Self::Corrupt {
            table,
            id: id.to_string(),
            what: what.to_string(),
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let Some(code) = error.sqlite_error_code() else {
            return Self::Internal(error.to_string());
        };
        match code {
            ErrorCode::DiskFull => Self::DiskFull,
            ErrorCode::ReadOnly => Self::ReadOnly(error.to_string()),
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
                Self::corrupt("the database file", "whole", error)
            }
            ErrorCode::ConstraintViolation => Self::Constraint(error.to_string()),
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::CannotOpen
            | ErrorCode::SystemIoFailure
            | ErrorCode::PermissionDenied => Self::Unavailable(error.to_string()),
            _ => Self::Internal(error.to_string()),
        }
    }
}

impl From<tokio_postgres::Error> for StoreError {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(db) = error.as_db_error() else {
            return Self::Unavailable(with_causes(&error));
        };
        let code = db.code().code();
        match code.get(..2) {
            Some("23") => Self::Constraint(db.constraint().unwrap_or(code).to_owned()),
            Some("53") if code == "53100" => Self::DiskFull,
            Some("08" | "53" | "57" | "40") => Self::Unavailable(db.message().to_owned()),
            // A lock that was not given in time, and a transaction that the server ended.
            Some("55") if code == "55P03" => Self::Unavailable(db.message().to_owned()),
            Some("25") if code == "25P03" => Self::Unavailable(db.message().to_owned()),
            Some("25") => Self::ReadOnly(db.message().to_owned()),
            _ => Self::Internal(format!("{code}: {}", db.message())),
        }
    }
}

impl From<deadpool_postgres::PoolError> for StoreError {
    fn from(error: deadpool_postgres::PoolError) -> Self {
        match error {
            deadpool_postgres::PoolError::Backend(error) => error.into(),
            deadpool_postgres::PoolError::PostCreateHook(
                deadpool_postgres::HookError::Backend(error),
            ) => error.into(),
            other => Self::Unavailable(other.to_string()),
        }
    }
}

/// tokio-postgres says only "error connecting to server"; the cause has the reason.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
