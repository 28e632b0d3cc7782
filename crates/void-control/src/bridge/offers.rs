//! Offers: what a foreign executor may take out of `approved/`.
//!
//! The intent is recorded before the file is public, and the file is taken back before the record says
//! that nobody may take it. An offer that is gone was taken: it is never made twice.

use void_domain::bridge::{Returned, StatusFolder};
use void_domain::fail_point;
use void_domain::failures::FailureCode;
use void_domain::ids::ProposalId;
use void_domain::policy::{Brakes, Cap, Cooldown};
use void_domain::proposals::{Failure, Run, State, Status};
use void_store::{StoreError, Tx, bridge as files, proposals as table};

use super::folder::{FileContent, FileStamp, Moved, Name};
use super::records::{self, Record};
use super::sync::SyncStep;
use super::worker::{BridgeError, Worker};
use crate::control::Control;
use crate::{facts, proposals};

const FREE: Brakes = Brakes {
    frozen: false,
    cooldown: Cooldown::Over,
    cap: Cap::Free,
};

/// Whether an approved proposal may be in `approved/` now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OfferStanding {
    Open,
    /// Frozen, cooling down, or its target is busy.
    Held,
    /// Nobody took it in time.
    Lapsed,
    /// No longer approved.
    Over,
}

impl Worker {
    /// Makes an offer, if nothing holds it back. The file is at `place` now.
    pub(super) async fn offer(
        &mut self,
        record: &Record,
        name: &Name,
        place: StatusFolder,
        seen: FileStamp,
    ) -> Result<SyncStep, BridgeError> {
        if self.content(record, name, place, seen).await?.is_none() {
            return Ok(self.wait_or_look());
        }
        match self.standing(record, TargetBusy::Counts).await? {
            OfferStanding::Open => {}
            OfferStanding::Lapsed => return self.retract(record, name).await,
            OfferStanding::Held if place == StatusFolder::Pending => return Ok(SyncStep::Rest),
            OfferStanding::Held => return self.place(record, name, Some((place, seen))).await,
            OfferStanding::Over => return Ok(SyncStep::Again),
        }
        let (file, content) = (name.clone(), record.render().bytes);
        self.disk(move |folder| folder.hold_offer(&file, &content))
            .await?;
        let file = name.clone();
        let taken = self
            .disk(move |folder| folder.take_away(place, &file, &seen))
            .await?;
        if taken == Moved::Lost || !self.record_offer(record.proposal.id).await? {
            let file = name.clone();
            self.disk(move |folder| folder.drop_offer(&file)).await?;
            return Ok(SyncStep::Again);
        }
        self.publish(record, name).await
    }

    async fn record_offer(&self, id: ProposalId) -> Result<bool, BridgeError> {
        let control = self.control.clone();
        let context = self.control.context(&self.control.system_ctx()?);
        fail_point!("bridge.offer.before");
        let offered = self
            .control
            .store
            .write(move |tx| {
                Box::pin(async move {
                    let standing = standing(tx, &control, id, TargetBusy::Counts).await?;
                    if standing != OfferStanding::Open
                        || !proposals::on_record::still_holds(tx, &control, &context, id).await?
                    {
                        return Ok(false);
                    }
                    files::set_offered(tx, id, Some(control.clock.now())).await?;
                    Ok::<_, StoreError>(true)
                })
            })
            .await?;
        fail_point!("bridge.offer.after");
        Ok(offered)
    }

    async fn publish(&mut self, record: &Record, name: &Name) -> Result<SyncStep, BridgeError> {
        let file = name.clone();
        let published = self.disk(move |folder| folder.publish_offer(&file)).await?;
        if published == Moved::Done {
            let from = Some(StatusFolder::Pending);
            self.saw(record.instance.as_str(), from, "approved", "offered");
        }
        Ok(published.into())
    }

    /// Offered, and in no place: either it never became public, or an executor took it away.
    pub(super) async fn missing_offer(
        &mut self,
        record: &Record,
        name: &Name,
    ) -> Result<SyncStep, BridgeError> {
        let file = name.clone();
        if !self.disk(move |folder| folder.has_offer(&file)).await? {
            return self.claim(record).await;
        }
        match self.standing(record, TargetBusy::IsItself).await? {
            OfferStanding::Open => self.publish(record, name).await,
            OfferStanding::Held | OfferStanding::Lapsed | OfferStanding::Over => {
                self.retract(record, name).await
            }
        }
    }

    /// An offer that is public: still unchanged, still allowed, still in time?
    pub(super) async fn watch_offer(
        &mut self,
        record: &Record,
        name: &Name,
        seen: FileStamp,
    ) -> Result<SyncStep, BridgeError> {
        let file = name.clone();
        let content = self
            .disk(move |folder| folder.read(StatusFolder::Approved, &file))
            .await?;
        let edited = match content {
            FileContent::Gone => return Ok(SyncStep::Again),
            FileContent::Unfit(why) => Some(why),
            FileContent::Bytes(bytes) => match record.read(&bytes) {
                Returned::Same { .. } => None,
                Returned::Changed(why) => Some(why),
            },
        };
        if let Some(why) = edited {
            // At once: an executor could take it as it is now. The true one is ready before, so that its
            // absence cannot look like a claim.
            let (file, content) = (name.clone(), record.render().bytes);
            self.disk(move |folder| folder.hold_offer(&file, &content))
                .await?;
            self.aside(StatusFolder::Approved, name, &why).await?;
            return Ok(SyncStep::Again);
        }
        if self.standing(record, TargetBusy::IsItself).await? == OfferStanding::Open {
            self.remember(record, StatusFolder::Approved, seen);
            return Ok(SyncStep::Rest);
        }
        let file = name.clone();
        let taken = self
            .disk(move |folder| folder.withdraw_offer(&file))
            .await?;
        match taken {
            Moved::Done => self.retract(record, name).await,
            Moved::Lost => Ok(SyncStep::Again),
        }
    }

    /// The file is in Void's hands, so the record may say that the offer is over.
    async fn retract(&mut self, record: &Record, name: &Name) -> Result<SyncStep, BridgeError> {
        let (control, id) = (self.control.clone(), record.proposal.id);
        let context = self.control.context(&self.control.system_ctx()?);
        fail_point!("bridge.retract.before");
        self.control
            .store
            .write_closing(move |tx| {
                Box::pin(async move {
                    let now = control.clock.now();
                    files::set_offered(tx, id, None).await?;
                    let Some(stored) = table::find(tx, id).await? else {
                        return Ok(());
                    };
                    if proposals::has_lapsed(&stored.proposal, control.clock.latest())
                        && let Ok(moved) = stored.proposal.expire(now)
                        && table::advance(tx, &moved).await?
                    {
                        facts::moved(tx, &context, &moved).await?;
                    }
                    Ok::<_, StoreError>(())
                })
            })
            .await?;
        fail_point!("bridge.retract.after");
        self.control.waiters.wake_id(id);
        let file = name.clone();
        self.disk(move |folder| folder.drop_offer(&file)).await?;
        Ok(SyncStep::Again)
    }

    async fn standing(
        &self,
        record: &Record,
        busy: TargetBusy,
    ) -> Result<OfferStanding, BridgeError> {
        let (control, id) = (self.control.clone(), record.proposal.id);
        let found = self
            .control
            .store
            .read(move |tx| Box::pin(async move { standing(tx, &control, id, busy).await }));
        Ok(found.await?)
    }
}

/// Whether what is under way on the target holds it back; an offer that was made holds its own target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TargetBusy {
    Counts,
    IsItself,
}

async fn standing(
    tx: &mut Tx,
    control: &Control,
    id: ProposalId,
    busy: TargetBusy,
) -> Result<OfferStanding, StoreError> {
    let Some(record) = records::find(tx, control, id).await? else {
        return Ok(OfferStanding::Over);
    };
    let proposal = record.proposal;
    let now = control.clock.now();
    if proposal.status() != Status::Approved {
        return Ok(OfferStanding::Over);
    }
    if proposals::has_lapsed(&proposal, control.clock.latest()) {
        return Ok(OfferStanding::Lapsed);
    }
    let Some(action) = proposal
        .subject
        .action_id()
        .and_then(|id| control.catalogue.get(id))
    else {
        return Ok(OfferStanding::Held);
    };
    let bound = proposals::bound(&proposal);
    let free = proposals::brakes(tx, action, bound, now).await? == FREE;
    let busy =
        busy == TargetBusy::Counts && proposals::is_busy(tx, control, &proposal.subject).await?;
    Ok(if free && !busy {
        OfferStanding::Open
    } else {
        OfferStanding::Held
    })
}

/// The bridge was switched off while an offer was public: whether somebody took it cannot be known here.
/// `false` if there was no offer.
pub(crate) async fn lose_offer(control: &Control, id: ProposalId) -> Result<bool, StoreError> {
    let (this, context) = (control.clone(), control.context(&control.system_ctx()?));
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                let Some(record) = records::find(tx, &this, id).await? else {
                    return Ok(false);
                };
                if !record.offered || !matches!(record.proposal.state, State::Approved { .. }) {
                    return Ok(false);
                }
                let now = this.clock.now();
                let run = Run {
                    started_at: now,
                    ticket_expires_at: now,
                    lease_until: now,
                };
                let message = "its file was offered, and the file bridge is switched off now; \
                               whether somebody took it is not known";
                let impossible = |error: void_domain::proposals::InvalidTransition| {
                    StoreError::Internal(error.to_string())
                };
                files::set_offered(tx, id, None).await?;
                let started = record.proposal.start(run).map_err(impossible)?;
                let failure = Failure::new(FailureCode::BridgeOff, message);
                let lost = started
                    .proposal
                    .clone()
                    .mark_unknown(now, failure)
                    .map_err(impossible)?;
                for moved in [started, lost] {
                    if !table::advance(tx, &moved).await? {
                        return Ok(false);
                    }
                    facts::moved(tx, &context, &moved).await?;
                }
                Ok::<_, StoreError>(true)
            })
        })
        .await
}
