//! Proofs that were refused are on the record, but guessing does not fill it: one entry a minute, which
//! says how many there were.

use std::time::Duration;

use serde_json::json;
use void_control::{Ctx, facts};
use void_domain::ids::{RequestId, SessionId};
use void_domain::sessions::Method;
use void_store::StoreError;

use crate::owners::OwnerAccess;

const RECORD_EVERY: Duration = Duration::from_secs(60);
/// A program that was forgotten may show its old token for years.
const RECORD_BEARERS_EVERY: Duration = Duration::from_secs(10 * 60);

/// Records a proof that was refused, with those before it that were not recorded.
pub(super) async fn record(
    access: &OwnerAccess,
    request_id: RequestId,
    method: Method,
    address: &str,
    session: Option<SessionId>,
) -> Result<(), StoreError> {
    let at = access.control().clock().now();
    let Some(tries) = access.shared().refusals.note(at, RECORD_EVERY) else {
        return Ok(());
    };
    let context = access.control().context(&Ctx::system(request_id));
    let detail = json!({"method": method.as_str(), "from": address, "tries": tries});
    let subject = session.map(|id| id.to_string());
    access
        .control()
        .store()
        .write(move |tx| {
            Box::pin(async move {
                facts::audit(tx, &context, at, "session.refused", subject, detail).await
            })
        })
        .await
}

/// Records that bearer tokens were shown that are none, with those before that were not recorded.
pub async fn record_bearer(
    access: &OwnerAccess,
    request_id: RequestId,
    address: &str,
) -> Result<(), StoreError> {
    let at = access.control().clock().now();
    let Some(tries) = access.shared().wrong_bearers.note(at, RECORD_BEARERS_EVERY) else {
        return Ok(());
    };
    let context = access.control().context(&Ctx::system(request_id));
    let detail = json!({"from": address, "tries": tries});
    access
        .control()
        .store()
        .write(move |tx| {
            Box::pin(
                async move { facts::audit(tx, &context, at, "token.refused", None, detail).await },
            )
        })
        .await
}

#[cfg(test)]
mod tests {
    use void_domain::time::Timestamp;

    use super::*;
    use crate::refusals::Refusals;

    #[test]
    fn one_entry_a_minute_that_counts_the_others() {
        let refusals = Refusals::default();
        let at = Timestamp::from_ms;
        assert_eq!(refusals.note(at(0), RECORD_EVERY), Some(1));
        for ms in 1..=100 {
            assert_eq!(refusals.note(at(ms), RECORD_EVERY), None);
        }
        assert_eq!(refusals.note(at(59_999), RECORD_EVERY), None);
        assert_eq!(refusals.note(at(60_000), RECORD_EVERY), Some(102));
        assert_eq!(refusals.note(at(60_001), RECORD_EVERY), None);
        assert_eq!(refusals.note(at(200_000), RECORD_EVERY), Some(2));
    }
}
