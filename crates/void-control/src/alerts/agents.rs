//! An agent whose process ended unasked is told like a service that is down, and that it is there again too. The root
//! lives in the server, so whoever watches the server watches it.

use void_domain::agents::AgentName;
use void_domain::alerts::{Ended, Scope};
use void_domain::services::ServiceId;
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, alerts};

use super::silence::Silences;
use super::{Troubled, end, tell};
use crate::control::Control;

/// What is believed of an agent's process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AgentHealth {
    Up,
    /// It ended unasked; how, in words of ours.
    Down(String),
    /// Somebody wants it so.
    Stopped,
}

/// In the transaction that records it. `false`: nothing is told that was not told before.
pub(crate) async fn follow_agent(
    tx: &mut Tx,
    control: &Control,
    name: &AgentName,
    to: &AgentHealth,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let id = ServiceId::of_agent(name);
    let known = alerts::find_outage(tx, &id).await?;
    let reason = match to {
        AgentHealth::Up if known.is_none() => return Ok(false),
        AgentHealth::Up => {
            end(tx, &id, Ended::Up(now), now).await?;
            return Ok(true);
        }
        AgentHealth::Stopped if known.is_none() => return Ok(false),
        AgentHealth::Stopped => {
            end(tx, &id, Ended::Stopped(now), now).await?;
            // Whoever starts it wants it to be up: what was is over.
            alerts::end_outage(tx, &id, Ended::Up(now)).await?;
            return Ok(true);
        }
        AgentHealth::Down(reason) => reason,
    };
    alerts::begin_outage(tx, &id, now, Some(reason)).await?;
    let outage = alerts::find_outage(tx, &id).await?;
    let Some(outage) = outage.filter(|outage| outage.alert.is_none()) else {
        return Ok(false);
    };
    let silences = Silences::load(tx, control, now).await?;
    if silences.mute(&id) {
        return Ok(false);
    }
    let told = Troubled {
        label: format!("Agent {name}"),
        host: None,
        urgent: false,
        scope: Scope::Service(id.clone()),
        id,
    };
    let last = alerts::last_of(tx, &told.id).await?;
    tell(tx, control, &told, &outage, last, now).await?;
    Ok(true)
}
