//! Which actions are cooling down, and until when: so that whoever may ask for one knows before it asks.

use std::sync::Arc;

use void_domain::actors::ActorKind;
use void_domain::catalogue::Action;
use void_domain::ids::ActionId;
use void_domain::policy::{self, Cooldown};
use void_domain::time::Timestamp;
use void_store::StoreError;

use super::start::{self, Starts};
use crate::control::Control;

/// The actions that this kind of caller could not run now because they ran a moment ago.
pub async fn cooling(
    control: &Control,
    bound: ActorKind,
) -> Result<Vec<(ActionId, Timestamp)>, StoreError> {
    let now = control.clock.now();
    let may_cool = |action: &Arc<Action>| {
        let cooldown = policy::cooldown(action.cooldown, action.tier, bound);
        cooldown.is_some()
    };
    if !control.in_force.catalogue.actions().any(may_cool) {
        return Ok(Vec::new());
    }
    let memory = &control.remembered.cooling;
    let reading = read(control, bound, now);
    let found = memory.find(&control.store, bound, reading).await?;
    let mut found = found.unwrap_or_default();
    found.retain(|(_, until)| *until > now);
    Ok(found)
}

async fn read(
    control: &Control,
    bound: ActorKind,
    now: Timestamp,
) -> Result<Option<Vec<(ActionId, Timestamp)>>, StoreError> {
    let this = control.clone();
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let mut found = Vec::new();
                for action in this.in_force.catalogue.actions() {
                    let cooldown =
                        start::cooldown(tx, action, bound, now, Starts::AndToCome).await?;
                    if let Cooldown::Until(until) = cooldown {
                        found.push((action.id.clone(), until));
                    }
                }
                Ok(Some(found))
            })
        })
        .await
}
