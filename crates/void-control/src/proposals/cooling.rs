//! Which actions are cooling down, and until when: so that whoever may ask for one knows before it asks.

use void_domain::actors::ActorKind;
use void_domain::ids::ActionId;
use void_domain::policy::Cooldown;
use void_domain::time::Timestamp;
use void_store::StoreError;

use super::start;
use crate::control::Control;

/// The actions that this kind of caller could not run now because they ran a moment ago.
pub async fn cooling(
    control: &Control,
    bound: ActorKind,
) -> Result<Vec<(ActionId, Timestamp)>, StoreError> {
    let now = control.clock.now();
    let this = control.clone();
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let mut found = Vec::new();
                for action in this.in_force.catalogue.actions() {
                    let cooldown = start::cooldown(tx, action, bound, now).await?;
                    if let Cooldown::Until(until) = cooldown {
                        found.push((action.id.clone(), until));
                    }
                }
                Ok(found)
            })
        })
        .await
}
