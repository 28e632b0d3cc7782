//! A control plane with what works beside it, started in the one order that a crash allows: first the control plane,
//! which settles what was left behind, then the file bridge and the notification workers, which act on what is
//! settled. They end with it: each of them watches its stop signal.

use void_access::OwnerAccess;
use void_bridge::{Bridge, BridgeConfig};
use void_control::embeddings::EmbeddingsConfig;
use void_control::instances::StartError;
use void_control::{Beside, Control, ControlConfig};
use void_notify::Notifications;
use void_notify::notifiers::Notifiers;

pub struct PlaneConfig {
    pub control: ControlConfig,
    /// The folder of the file bridge; `None` switches it off.
    pub bridge: Option<BridgeConfig>,
    /// By which ways the owner is told.
    pub notifiers: Notifiers,
    /// Where vectors for the search come from.
    pub embeddings: EmbeddingsConfig,
}

/// Cheap to clone; all clones are the same.
#[derive(Clone)]
pub struct Plane {
    control: Control,
    owner_access: OwnerAccess,
    bridge: Option<Bridge>,
    notifications: Notifications,
}

impl Plane {
    pub async fn start(config: PlaneConfig) -> Result<Self, StartError> {
        let beside = Beside {
            bridge: config.bridge.is_some(),
            outbox: config.notifiers.outbox(),
            embeddings: config.embeddings,
        };
        let control = Control::start(config.control, beside).await?;
        let bridge = config.bridge.map(|bridge| Bridge::start(&control, bridge));
        let notifications = Notifications::start(&control, config.notifiers)?;
        Ok(Self {
            owner_access: OwnerAccess::new(&control),
            bridge,
            notifications,
            control,
        })
    }

    pub fn control(&self) -> &Control {
        &self.control
    }

    /// How the owner signs in.
    pub fn owner_access(&self) -> &OwnerAccess {
        &self.owner_access
    }

    /// `None` if it is switched off.
    pub(crate) fn bridge(&self) -> Option<&Bridge> {
        self.bridge.as_ref()
    }

    /// Telling the owner.
    pub(crate) fn notifications(&self) -> &Notifications {
        &self.notifications
    }
}
