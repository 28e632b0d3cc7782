//! What nobody answered in time is over.

use void_store::{StoreError, questions as stored};

use super::announce;
use crate::control::Control;

/// How many end in one transaction.
const BATCH: u32 = 100;

pub(crate) async fn sweep(control: &Control) -> Result<(), StoreError> {
    while expire_some(control).await? == BATCH as usize {}
    Ok(())
}

/// Looks first: most of the time there is nothing to do, and then nothing is written.
async fn expire_some(control: &Control) -> Result<usize, StoreError> {
    let latest = control.clock.latest();
    let due = control
        .store
        .read(move |tx| Box::pin(stored::list_overdue(tx, latest, BATCH)))
        .await?;
    let count = due.len();
    if count == 0 {
        return Ok(0);
    }
    let context = control.context(&control.system_ctx()?);
    let now = control.clock.now();
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                for id in due {
                    let Some(question) = stored::find(tx, id).await? else {
                        continue;
                    };
                    // Answered meanwhile: then it did not run out of time.
                    let Ok(expired) = question.expire(latest.max(now)) else {
                        continue;
                    };
                    if stored::end(tx, &expired).await? {
                        announce(tx, &context, now, &expired).await?;
                    }
                }
                Ok::<_, StoreError>(())
            })
        })
        .await?;
    Ok(count)
}
