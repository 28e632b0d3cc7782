//! The doctor, as the program that starts the server knows it: it looks at files and machines, which is
//! not this crate's business.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use void_api::doctor::Finding;

/// How far it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DoctorScope {
    #[default]
    Everything,
    /// What the server's process can do where it runs: a command that is started elsewhere is not behind the same fences.
    Process,
}

/// Looks around once.
pub type Doctor = Arc<dyn Fn(DoctorScope) -> BoxFuture<'static, Vec<Finding>> + Send + Sync>;
