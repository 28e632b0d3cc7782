//! Writes what is to be told, in the transaction that causes it. Nothing is sent here.

use std::sync::Arc;

use serde_json::json;
use void_domain::alerts::Alert;
use void_domain::catalogue::Risk;
use void_domain::events::EventKind;
use void_domain::ids::AlertId;
use void_domain::notifications::{
    Content, News, QuietHours, Target, alert_not_before, decided_by_telegram, news, not_before,
};
use void_domain::proposals::{Proposal, State, Status};
use void_domain::questions::Question;
use void_domain::time::Timestamp;
use void_store::notifications::pairs;
use void_store::notifications::{self, New};
use void_store::{StoreError, Tx, alerts, mutes, proposals, questions};

use crate::random;

/// Where things are told. Empty, and free of cost, where no channel is set up.
#[derive(Debug, Clone, Default)]
pub struct Outbox(Option<Arc<Places>>);

/// The places that the settings name.
#[derive(Debug)]
pub struct Places {
    /// `None`: no bot.
    pub telegram: Option<TelegramPlaces>,
    pub ntfy: bool,
    /// By name.
    pub webhooks: Vec<String>,
    pub quiet: Option<QuietHours>,
}

#[derive(Debug)]
pub struct TelegramPlaces {
    /// Empty: whoever is paired.
    pub users: Vec<i64>,
    /// How much may be approved there in a day.
    pub approvals_per_day: u32,
}

impl Outbox {
    pub fn new(places: Places) -> Self {
        Self(Some(Arc::new(places)))
    }

    /// Whether there is anywhere to tell.
    pub(crate) const fn tells(&self) -> bool {
        self.0.is_some()
    }

    /// How much a chat may approve in a day; `None` without one.
    pub(crate) fn approvals_per_day(&self) -> Option<u32> {
        let telegram = self.0.as_ref()?.telegram.as_ref()?;
        Some(telegram.approvals_per_day)
    }
}

impl Places {
    /// Where a person reads.
    async fn people(&self, tx: &mut Tx) -> Result<Vec<Target>, StoreError> {
        let mut targets: Vec<Target> = match &self.telegram {
            None => Vec::new(),
            Some(telegram) if telegram.users.is_empty() => {
                let pairs = pairs::list(tx).await?;
                pairs.into_iter().map(|pair| pair.target).collect()
            }
            Some(telegram) => {
                let target = |user: &i64| Target::Telegram { user: *user };
                telegram.users.iter().map(target).collect()
            }
        };
        if self.ntfy {
            targets.push(Target::Ntfy);
        }
        Ok(targets)
    }

    fn programs(&self) -> impl Iterator<Item = Target> {
        let target = |name: &String| Target::Webhook { name: name.clone() };
        self.webhooks.iter().map(target)
    }
}

/// How many places there are to tell.
pub async fn count_places(tx: &mut Tx, outbox: &Outbox) -> Result<u64, StoreError> {
    let Some(places) = &outbox.0 else {
        return Ok(0);
    };
    let count = places.people(tx).await?.len() + places.webhooks.len();
    Ok(count as u64)
}

/// The event that is told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cause {
    pub seq: u64,
    pub at: Timestamp,
    pub kind: EventKind,
}

/// A proposal has moved, or was made: whoever was told about it is to be told again, and whoever
/// should know of it now is to be told.
pub(crate) async fn note(
    tx: &mut Tx,
    outbox: &Outbox,
    cause: Cause,
    proposal: &Proposal,
) -> Result<(), StoreError> {
    let Some(places) = &outbox.0 else {
        return Ok(());
    };
    let Cause { at, kind, .. } = cause;
    let quiet_until = not_before(places.quiet.as_ref(), proposal.subject.risk, at);
    if kind != EventKind::ProposalCreated {
        notifications::changed(tx, proposal.id, at).await?;
        // What has become critical is said on its own, and at once where quiet hours let that through.
        let has_risen =
            kind == EventKind::ProposalJoined && proposal.subject.risk == Risk::Critical;
        if has_risen {
            notifications::hasten(tx, proposal.id, quiet_until).await?;
        }
        if has_risen || matches!(proposal.state, State::Failed { .. } | State::Unknown { .. }) {
            notifications::leave_digest(tx, proposal.id, quiet_until).await?;
        }
    }
    if let Some(News::Ask | News::Trouble) = news(proposal) {
        for target in places.people(tx).await? {
            if kind == EventKind::ProposalCreated
                || !notifications::has_message(tx, proposal.id, &target).await?
            {
                let content = Content::Message(proposal.id);
                insert(tx, target, content, cause, quiet_until).await?;
            }
        }
    }
    if places.ntfy && is_decision(kind) && decided_by_telegram(proposal).is_some() {
        // The echo: said on its own, whether anything was said there before or not.
        let target = Target::Ntfy;
        if !notifications::say_alone(tx, proposal.id, &target, quiet_until).await? {
            let content = Content::Message(proposal.id);
            insert(tx, target, content, cause, quiet_until).await?;
        }
    }
    for target in places.programs() {
        let content = Content::Event(proposal.id, event_body(cause, proposal));
        // Programs do not sleep.
        insert(tx, target, content, cause, at).await?;
    }
    Ok(())
}

/// The owner is asked, where they read: with the end of the quiet hours, like everything that is not urgent. What became of
/// it is said where it was asked.
pub(crate) async fn note_question(
    tx: &mut Tx,
    outbox: &Outbox,
    question: &Question,
    at: Timestamp,
) -> Result<(), StoreError> {
    let Some(places) = &outbox.0 else {
        return Ok(());
    };
    if !question.state.is_open() {
        notifications::questions::changed(tx, question.id, at).await?;
        return Ok(());
    }
    for target in places.people(tx).await? {
        insert_question(tx, places, target, question, at).await?;
    }
    Ok(())
}

async fn insert_question(
    tx: &mut Tx,
    places: &Places,
    target: Target,
    question: &Question,
    at: Timestamp,
) -> Result<(), StoreError> {
    if notifications::questions::find(tx, question.id, &target)
        .await?
        .is_some()
    {
        return Ok(());
    }
    let new = New {
        id: random::notification_id(at)?,
        target,
        content: Content::Question(question.id),
        seq: 0,
        at,
        not_before: alert_not_before(places.quiet.as_ref(), false, at),
    };
    notifications::insert(tx, &new).await
}

/// A service is told in an alert: whoever knows of it is to be told again, and whoever does not, now. What
/// is not urgent waits for the end of the quiet hours.
pub(crate) async fn note_alert(
    tx: &mut Tx,
    outbox: &Outbox,
    id: AlertId,
    is_urgent: bool,
    at: Timestamp,
) -> Result<(), StoreError> {
    let Some(places) = &outbox.0 else {
        return Ok(());
    };
    let quiet_until = alert_not_before(places.quiet.as_ref(), is_urgent, at);
    notifications::alerts::changed(tx, id, at).await?;
    // A mute of what was down before holds back nothing of this.
    notifications::alerts::hasten(tx, id, at, quiet_until).await?;
    for target in places.people(tx).await? {
        insert_alert(tx, target, id, at, quiet_until).await?;
    }
    for target in places.programs() {
        insert_alert(tx, target, id, at, at).await?;
    }
    Ok(())
}

/// Something urgent joins what was told: an edit makes no sound, so in quiet hours it is said as something new.
pub(crate) async fn raise_alert(
    tx: &mut Tx,
    outbox: &Outbox,
    id: AlertId,
    at: Timestamp,
) -> Result<(), StoreError> {
    let quiet = outbox.0.as_ref().and_then(|places| places.quiet.as_ref());
    if alert_not_before(quiet, false, at) > at {
        notifications::alerts::say_again(tx, id, at, at).await?;
    }
    Ok(())
}

async fn insert_alert(
    tx: &mut Tx,
    target: Target,
    id: AlertId,
    at: Timestamp,
    not_before: Timestamp,
) -> Result<(), StoreError> {
    if notifications::alerts::exists(tx, id, &target).await? {
        return Ok(());
    }
    let new = New {
        id: random::notification_id(at)?,
        target,
        content: Content::Alert(id),
        seq: 0,
        at,
        not_before,
    };
    notifications::insert(tx, &new).await
}

/// What was held back for a mute is due, when the quiet hours allow it.
pub(crate) async fn release_alert(
    tx: &mut Tx,
    outbox: &Outbox,
    alert: &Alert,
    at: Timestamp,
) -> Result<(), StoreError> {
    let Some(places) = &outbox.0 else {
        return Ok(());
    };
    let quiet_until = alert_not_before(places.quiet.as_ref(), alert.is_urgent(), at);
    notifications::alerts::hasten(tx, alert.id, at, quiet_until).await?;
    Ok(())
}

/// Says an alert as something new, with a sound, when the quiet hours allow it.
pub(crate) async fn say_alert_again(
    tx: &mut Tx,
    outbox: &Outbox,
    alert: &Alert,
    at: Timestamp,
) -> Result<(), StoreError> {
    let Some(places) = &outbox.0 else {
        return Ok(());
    };
    let quiet_until = alert_not_before(places.quiet.as_ref(), alert.is_urgent(), at);
    notifications::alerts::say_again(tx, alert.id, at, quiet_until).await?;
    Ok(())
}

const fn is_decision(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::ProposalApproved | EventKind::ProposalRejected
    )
}

/// Everybody who should know of what waits, and was not there when it was asked for.
pub async fn tell_everybody_waiting(
    tx: &mut Tx,
    outbox: &Outbox,
    at: Timestamp,
) -> Result<(), StoreError> {
    let Some(places) = &outbox.0 else {
        return Ok(());
    };
    for target in places.people(tx).await? {
        tell_waiting(tx, outbox, &target, at).await?;
    }
    Ok(())
}

/// Whoever is new hears of what waits already, and of what is down.
pub async fn tell_waiting(
    tx: &mut Tx,
    outbox: &Outbox,
    target: &Target,
    at: Timestamp,
) -> Result<(), StoreError> {
    const WAITING_MAX: u32 = 1_000;
    let Some(places) = &outbox.0 else {
        return Ok(());
    };
    for stored in proposals::list_in(tx, Status::Pending, WAITING_MAX).await? {
        let proposal = stored.proposal;
        if notifications::has_message(tx, proposal.id, target).await? {
            continue;
        }
        let cause = Cause {
            seq: 0,
            at,
            kind: EventKind::ProposalCreated,
        };
        let quiet_until = not_before(places.quiet.as_ref(), proposal.subject.risk, at);
        let content = Content::Message(proposal.id);
        insert(tx, target.clone(), content, cause, quiet_until).await?;
    }
    for question in questions::list_open_to_owner(tx, WAITING_MAX).await? {
        insert_question(tx, places, target.clone(), &question, at).await?;
    }
    let mut mutes = mutes::list(tx).await?;
    mutes.retain(|mute| mute.holds_at(at));
    for id in alerts::list_open(tx).await? {
        let Some(alert) = alerts::find(tx, id).await? else {
            continue;
        };
        let mut not_before = alert_not_before(places.quiet.as_ref(), alert.is_urgent(), at);
        if alert.is_muted_by(&mutes) {
            // At the end of each mute it is looked at anew.
            let ends = mutes.iter().map(|mute| mute.until);
            not_before = ends.fold(not_before, Timestamp::max);
        }
        insert_alert(tx, target.clone(), id, at, not_before).await?;
    }
    Ok(())
}

async fn insert(
    tx: &mut Tx,
    target: Target,
    content: Content,
    cause: Cause,
    not_before: Timestamp,
) -> Result<(), StoreError> {
    let new = New {
        id: random::notification_id(cause.at)?,
        target,
        content,
        seq: cause.seq,
        at: cause.at,
        not_before,
    };
    notifications::insert(tx, &new).await
}

/// What a program is told; the words of the requester are a member of their own.
fn event_body(cause: Cause, proposal: &Proposal) -> String {
    let subject = &proposal.subject;
    json!({
        "type": cause.kind.as_str(),
        "seq": cause.seq,
        "at": cause.at,
        "proposal": {
            "id": proposal.id,
            "code": proposal.code,
            "subject": subject.word(),
            "action_id": subject.action_id(),
            "label": subject.label,
            "params": subject.params(),
            "tier": subject.tier,
            "risk": subject.risk,
            "target": subject.target,
            "digest": subject.digest,
            "status": proposal.status().as_str(),
            "verification": proposal.verification().map(|seen| seen.outcome.as_str()),
            "requested_by": proposal.requested_by.name,
            "decided_by": decided_by(proposal),
            "reason": proposal.reason,
            "taint": proposal.taint,
            "expires_at": proposal.expires_at,
        },
    })
    .to_string()
}

/// Who said yes or no, as the record names them.
fn decided_by(proposal: &Proposal) -> Option<&str> {
    match (proposal.approval(), &proposal.state) {
        (Some(approval), _) => Some(&approval.by),
        (None, State::Rejected { by, .. }) => Some(by),
        (None, _) => None,
    }
}
