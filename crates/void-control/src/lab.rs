//! The nodes and guests behind Proxmox, read at most every few seconds however many ask.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;
pub use void_channels::{Lab, LabGuest, LabNode};
pub use void_domain::proposals::Failure;
use void_domain::time::Timestamp;

use crate::control::Control;

/// What was seen, and when.
#[derive(Debug, Clone)]
pub struct Sight {
    pub read_at: Timestamp,
    pub lab: Result<Arc<Lab>, Failure>,
}

#[derive(Default)]
pub(crate) struct LastSight(Mutex<Option<(Instant, Sight)>>);

pub fn is_connected(control: &Control) -> bool {
    control.channels.probe().has_proxmox()
}

/// The lab as it was at most `age_max` ago. Those who ask together share one answer.
pub async fn look(control: &Control, age_max: Duration) -> Sight {
    let mut last = control.last_sight.0.lock().await;
    if let Some((at, sight)) = &*last
        && at.elapsed() <= age_max
    {
        return sight.clone();
    }
    let lab = control.channels.probe().lab().await.map(Arc::new);
    let sight = Sight {
        read_at: control.clock.now(),
        lab,
    };
    *last = Some((Instant::now(), sight.clone()));
    sight
}
