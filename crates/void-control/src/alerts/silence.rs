//! Why a service that is down is not told: the owner stopped it, a run through Void is under way on it, or it
//! is muted. None of them makes it less down; it is told as soon as none holds.

use std::sync::Arc;

use void_domain::alerts::{RUN_SETTLES_WITHIN, explains};
use void_domain::catalogue::Action;
use void_domain::mutes::Mute;
use void_domain::proposals::Status;
use void_domain::services::{Service, ServiceId};
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, mutes, proposals};

use crate::control::Control;
use crate::{service_views, stops};

/// More runs at once than this are not looked at: what they are about is told.
const RUNS_MAX: u32 = 500;

/// What speaks at this moment against telling.
pub(super) struct Silences {
    mutes: Vec<Mute>,
    /// The actions of runs that are under way, or just were.
    runs: Vec<Arc<Action>>,
}

impl Silences {
    pub(super) async fn load(
        tx: &mut Tx,
        control: &Control,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let mut mutes = mutes::list(tx).await?;
        mutes.retain(|mute| mute.holds_at(now));
        let verify_within = control.bounds.limits.verify_within;
        let since = now.minus(verify_within + RUN_SETTLES_WITHIN);
        let mut runs = proposals::list_in(tx, Status::Running, RUNS_MAX).await?;
        runs.extend(proposals::list_ended_since(tx, since, RUNS_MAX).await?);
        let actions = runs
            .iter()
            .map(|stored| &stored.proposal)
            .filter(|run| explains(run, verify_within, now))
            .filter_map(|run| {
                control
                    .in_force
                    .catalogue
                    .get(run.subject.action_id()?)
                    .cloned()
            });
        Ok(Self {
            mutes,
            runs: actions.collect(),
        })
    }

    /// Those that hold.
    pub(super) fn mutes(&self) -> &[Mute] {
        &self.mutes
    }

    /// Of what is on no host.
    pub(super) fn mute(&self, id: &ServiceId) -> bool {
        let mut mutes = self.mutes.iter();
        mutes.any(|mute| mute.subject.covers(id, None))
    }

    pub(super) fn hold(&self, control: &Control, service: &Service) -> bool {
        let is_run = |action: &Arc<Action>| service_views::concerns(&action.execution, service);
        stops::of_service(control, service).is_some()
            || self.mutes.iter().any(|mute| mute.covers(service))
            || self.runs.iter().any(is_run)
    }
}
