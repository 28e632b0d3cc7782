//! Offers: what a foreign executor may take out of `approved/`.
//!
//! The intent is recorded before the file is public, and the file is taken back before the record says
//! that nobody may take it. An offer that is gone was taken: it is never made twice.

use void_control::proposals::offers::{self, OfferStanding, TargetBusy};
use void_domain::bridge::{Returned, StatusFolder};

use crate::folder::{FileContent, FileStamp, Moved, Name};
use crate::records::Record;
use crate::sync::SyncStep;
use crate::worker::{BridgeError, Worker};

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
        if taken == Moved::Lost || !offers::make(&self.control, record.proposal.id).await? {
            let file = name.clone();
            self.disk(move |folder| folder.drop_offer(&file)).await?;
            return Ok(SyncStep::Again);
        }
        self.publish(record, name).await
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
        offers::retract(&self.control, record.proposal.id).await?;
        let file = name.clone();
        self.disk(move |folder| folder.drop_offer(&file)).await?;
        Ok(SyncStep::Again)
    }

    async fn standing(
        &self,
        record: &Record,
        busy: TargetBusy,
    ) -> Result<OfferStanding, BridgeError> {
        Ok(offers::standing(&self.control, record.proposal.id, busy).await?)
    }
}
