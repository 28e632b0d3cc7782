//! Work that goes to its end even if its caller goes away.

use void_store::{StoreError, lanes};

/// Between the commit of a claim and its execution nobody may let go of it: a use case that may claim
/// runs in a task of its own, whatever becomes of whoever asked. So does a freeze.
pub(crate) async fn detached<T, E>(
    work: impl Future<Output = Result<T, E>> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
{
    match tokio::spawn(lanes::run_in(lanes::current(), work)).await {
        Ok(ended) => ended,
        Err(error) => Err(StoreError::Internal(error.to_string()).into()),
    }
}
