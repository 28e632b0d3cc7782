//! What the record says about a file: the proposal, its history, and what the bridge knows beside them.

use void_control::Control;
use void_control::proposals::display_state;
use void_domain::bridge::{
    self, DroppedDetails, InstanceId, Note, Rendered, Returned, StatusFolder,
};
use void_domain::ids::ProposalId;
use void_domain::proposals::{DisplayState, Proposal, Transition};
use void_store::facts::steps;
use void_store::{StoreError, Tx, bridge as files, proposals};

#[derive(Debug, Clone)]
pub(super) struct Record {
    pub instance: InstanceId,
    pub proposal: Proposal,
    pub offered: bool,
    shown: DisplayState,
    history: Vec<Transition>,
    details: Option<DroppedDetails>,
    notes: Vec<Note>,
}

impl Record {
    pub(super) const fn place(&self) -> StatusFolder {
        StatusFolder::of(&self.proposal, self.offered)
    }

    /// Whether this is still the file of this record, and what it reports.
    pub(super) fn read(&self, bytes: &[u8]) -> Returned {
        let details = self.details.as_ref();
        Returned::read(bytes, &self.instance, &self.proposal, details)
    }

    pub(super) fn render(&self) -> Rendered {
        let details = self.details.as_ref();
        bridge::render(
            &self.instance,
            &self.proposal,
            self.shown,
            &self.history,
            details,
            &self.notes,
        )
    }
}

pub(super) async fn load(control: &Control, id: ProposalId) -> Result<Option<Record>, StoreError> {
    let this = control.clone();
    control
        .store()
        .read(move |tx| Box::pin(async move { find(tx, &this, id).await }))
        .await
}

/// The proposal whose file has this name.
pub(super) async fn load_named(
    control: &Control,
    instance: &InstanceId,
) -> Result<Option<Record>, StoreError> {
    let (this, instance) = (control.clone(), instance.clone());
    control
        .store()
        .read(move |tx| {
            Box::pin(async move {
                if let Some(known) = files::find(tx, &instance).await? {
                    return find(tx, &this, known.proposal_id).await;
                }
                let Ok(id) = instance.as_str().parse() else {
                    return Ok(None);
                };
                let found = find(tx, &this, id).await?;
                Ok(found.filter(|record| record.instance == instance))
            })
        })
        .await
}

pub(super) async fn find(
    tx: &mut Tx,
    control: &Control,
    id: ProposalId,
) -> Result<Option<Record>, StoreError> {
    let Some(stored) = proposals::find(tx, id).await? else {
        return Ok(None);
    };
    let known = files::find_of(tx, id).await?;
    let history = steps::history(tx, &stored.proposal).await?;
    let instance = match &known {
        Some(known) => known.instance.clone(),
        None => InstanceId::of(&stored.proposal),
    };
    Ok(Some(Record {
        instance,
        shown: display_state(tx, control, &stored.proposal).await?,
        proposal: stored.proposal,
        offered: known
            .as_ref()
            .is_some_and(|known| known.offered_at.is_some()),
        history,
        details: known.as_ref().and_then(|known| known.details.clone()),
        notes: known.map(|known| known.notes).unwrap_or_default(),
    }))
}
