//! The doctor, as the program that starts the server knows it: it looks at files and machines, which is
//! not this crate's business.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use void_api::doctor::Finding;

/// Looks around once.
pub type Doctor = Arc<dyn Fn() -> BoxFuture<'static, Vec<Finding>> + Send + Sync>;
