//! The doctor, as the program that starts the server knows it: it looks at files and machines, which is
//! not this crate's business.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Serialize;

/// Looks around once.
pub type Doctor = Arc<dyn Fn() -> BoxFuture<'static, Vec<Finding>> + Send + Sync>;

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Finding {
    /// The name of the check; stable.
    pub check: String,
    /// `ok`, `warning` or `problem`.
    #[schemars(extend("enum" = ["ok", "warning", "problem"]))]
    pub level: &'static str,
    pub message: String,
    /// The next command.
    pub next: Option<String>,
}
