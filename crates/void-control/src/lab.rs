//! The nodes and guests behind Proxmox, read at most every few seconds however many ask, and by one
//! question at a time. Whoever asks gets an answer in bounded time, and whoever stops waiting takes the
//! answer away from nobody.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;
pub use void_channels::{GuestStatus, Lab, LabGuest, LabNode, Load};
use void_domain::failures::FailureCode;
pub use void_domain::proposals::Failure;

use crate::control::Control;
pub use crate::parts::lab::Sight;
use crate::stops;

/// How long anybody waits for Proxmox. The question itself may take longer; the next one to ask gets
/// its answer.
const PATIENCE: Duration = Duration::from_secs(10);

pub fn is_connected(control: &Control) -> bool {
    control.runs.channels.probe().has_proxmox()
}

/// The lab as it was at most `age_max` ago. Those who ask together share one answer.
pub async fn look(control: &Control, age_max: Duration) -> Sight {
    let looking = async {
        let last = Arc::clone(&control.lab.last_sight.0).lock_owned().await;
        if let Some((at, sight)) = &*last
            && at.elapsed() <= age_max
        {
            return Some(sight.clone());
        }
        // In a task of its own, which ends when Proxmox has answered or its own time is over.
        tokio::spawn(ask(control.clone(), last)).await.ok()
    };
    let seen = tokio::time::timeout(PATIENCE, looking).await;
    seen.ok().flatten().unwrap_or_else(|| Sight {
        read_at: control.clock.now(),
        lab: Err(Failure::new(
            FailureCode::TimedOut,
            "Proxmox takes long to answer",
        )),
    })
}

async fn ask(control: Control, mut last: OwnedMutexGuard<Option<(Instant, Sight)>>) -> Sight {
    let lab = control.runs.channels.probe().lab().await.map(Arc::new);
    let sight = Sight {
        read_at: control.clock.now(),
        lab,
    };
    if let Ok(lab) = &sight.lab {
        stops::note_running(&control, lab, sight.read_at);
    }
    *last = Some((Instant::now(), sight.clone()));
    sight
}
