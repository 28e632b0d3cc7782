//! What messages are about, as it is now: a message is made when it is sent, not when it is written down.

use std::time::Duration;

use void_control::proposals::display_state;
use void_domain::alerts::Alert;
use void_domain::ids::{AlertId, NotificationId, ProposalId, QuestionId};
use void_domain::mutes::Mute;
use void_domain::notifications::messages::{DIGEST_NAMED_MAX, Gathered};
use void_domain::proposals::Proposal;
use void_domain::questions::Question;
use void_store::{StoreError, alerts, mutes, notifications, proposals, questions};

use crate::notifications::Notifications;
use crate::notifiers::SendError;

/// A digest that was delivered says something new at most this often.
pub(crate) const DIGEST_EVERY: Duration = Duration::from_secs(2);
/// How much is kept of why something could not be sent.
pub(crate) const ERROR_BYTES_MAX: usize = 300;

/// The proposal that a message is about, as it is now.
pub(crate) async fn subject(notify: &Notifications, id: ProposalId) -> Result<Proposal, SendError> {
    let found = notify
        .store()
        .read(move |tx| Box::pin(proposals::find(tx, id)))
        .await?;
    let gone = || SendError::Never("its proposal is gone".to_owned());
    found.map(|stored| stored.proposal).ok_or_else(gone)
}

/// The question that a message is about, as it is now.
pub(crate) async fn question(
    notify: &Notifications,
    id: QuestionId,
) -> Result<Question, SendError> {
    let found = notify
        .store()
        .read(move |tx| Box::pin(questions::find(tx, id)))
        .await?;
    found.ok_or_else(|| SendError::Never("its question is gone".to_owned()))
}

/// What an alert says now, and the mute that holds for what is down in it: of several the longest.
pub(crate) async fn alert(
    notify: &Notifications,
    id: AlertId,
) -> Result<(Alert, Option<Mute>), SendError> {
    let now = notify.now();
    let found = notify
        .store()
        .read(move |tx| {
            Box::pin(async move {
                let found = alerts::find(tx, id).await?;
                Ok::<_, StoreError>(found.zip(Some(mutes::list(tx).await?)))
            })
        })
        .await?;
    let (alert, mutes) = found.ok_or_else(|| SendError::Never("its alert is gone".to_owned()))?;
    let covers = |mute: &Mute| {
        let mut down = alert.named.iter().filter(|one| one.is_down());
        down.any(|one| one.is_covered_by(mute))
    };
    let holding = mutes.into_iter().filter(|mute| mute.holds_at(now));
    let mute = holding
        .filter(covers)
        .max_by_key(|mute| (mute.until, mute.at));
    Ok((alert, mute))
}

/// What a digest says now.
pub(crate) async fn digest(
    notify: &Notifications,
    id: NotificationId,
) -> Result<Gathered, StoreError> {
    let control = notify.control().clone();
    notify
        .store()
        .read(move |tx| {
            Box::pin(async move {
                let mut gathered = Gathered {
                    tally: notifications::tally(tx, id).await?,
                    ..Gathered::default()
                };
                for id in notifications::members(tx, id, DIGEST_NAMED_MAX).await? {
                    if let Some(found) = proposals::find(tx, id).await? {
                        let shown = display_state(tx, &control, &found.proposal).await?;
                        gathered.proposals.push((found.proposal, shown));
                    }
                }
                let (count, named) =
                    notifications::alerts::members(tx, id, DIGEST_NAMED_MAX).await?;
                gathered.alert_count = count;
                for id in named {
                    gathered.alerts.extend(alerts::find(tx, id).await?);
                }
                Ok::<_, StoreError>(gathered)
            })
        })
        .await
}
