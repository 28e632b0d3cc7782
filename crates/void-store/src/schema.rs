//! What the database does besides what Void tells it: triggers, rules and views. Void has none, so whatever is there was
//! put there by somebody else, and could refuse a freeze or undo it.

use crate::errors::StoreError;
use crate::tx::{Engine, Tx};

const SQLITE: &str =
    "SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view') ORDER BY name LIMIT 20";
const POSTGRES: &str = "SELECT CAST(tgname AS text) AS name FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid \
    JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE NOT tgisinternal AND nspname = current_schema() \
    UNION ALL SELECT CAST(rulename AS text) FROM pg_rules WHERE schemaname = current_schema() LIMIT 20";

/// The names of the first of them.
pub async fn foreign(tx: &mut Tx) -> Result<Vec<String>, StoreError> {
    let sql = match tx.engine() {
        Engine::Sqlite(_) => SQLITE,
        Engine::Postgres(_) | Engine::Flight(_) => POSTGRES,
    };
    let rows = tx.all("schema", sql, &[]).await?;
    rows.iter().map(|row| row.string("name")).collect()
}

pub(crate) async fn refuse_foreign(tx: &mut Tx) -> Result<(), StoreError> {
    match foreign(tx).await?.first() {
        None => Ok(()),
        Some(name) => Err(StoreError::corrupt(
            "schema",
            name,
            "it is not Void's, and it can change or refuse what Void writes: find out who put it there, and drop it",
        )),
    }
}
