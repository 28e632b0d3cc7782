//! How a control plane starts and stops: in which order what a crash left behind is settled, and what is at work
//! afterwards.

use std::time::Duration;

use serde_json::json;
use void_store::StoreError;

use crate::control::{Beside, Control, ControlConfig};
use crate::instances::{self, StartError};
use crate::{
    agent_configs, alerts, audit, clock_notes, conversations, embeddings, events, facts, freezes,
    health, maintenance, nodes, proposals, readiness, refusal_counts, rollbacks, stops, witness,
};

impl Control {
    /// Opens for business: settles what a crash left behind, then starts the sweeps. What works beside it starts
    /// after this.
    pub async fn start(config: ControlConfig, beside: Beside) -> Result<Self, StartError> {
        let replace_catalogue = config.replace_catalogue;
        let control = Self::assemble(config, beside).await?;
        // Before anything is dated.
        clock_notes::resume(&control).await;
        instances::look(&control, replace_catalogue).await?;
        rollbacks::start(&control);
        witness::compare(&control).await?;
        // After it: who is there vouches for the database.
        instances::register(&control, replace_catalogue).await?;
        control.record_start().await?;
        freezes::apply_stored(&control).await?;
        events::start(&control);
        nodes::remember(&control).await?;
        nodes::start_relay(&control);
        // Before anything that was cut off is settled.
        agent_configs::begin(&control);
        proposals::recover(&control).await?;
        stops::refresh(&control).await?;
        alerts::forget_unwatched(&control).await?;
        conversations::fail_abandoned(&control).await?;
        maintenance::start(&control);
        audit::start_walk(&control);
        health::start(&control);
        embeddings::start(&control);
        Ok(control)
    }

    /// The record shows from when on which catalogue was in force.
    async fn record_start(&self) -> Result<(), StoreError> {
        let (context, at) = (self.context(&self.system_ctx()?), self.clock.now());
        let detail = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "commit": self.in_force.catalogue_commit,
            "actions": self.in_force.catalogue.actions().len(),
            "rehearsal": self.lab.is_rehearsal,
            "instance": self.process.instance.name,
        });
        self.store
            .write_closing(move |tx| {
                Box::pin(async move {
                    void_store::facts::strays::set_aside(tx, at).await?;
                    facts::audit(tx, &context, at, "server.started", None, detail).await
                })
            })
            .await
    }

    /// Whether a write reaches the disk, within [`readiness::READY_WITHIN`].
    pub async fn is_ready(&self) -> Result<(), StoreError> {
        readiness::check(self).await
    }

    /// Stops starting things, and waits for what is under way, up to `patience`.
    pub async fn stop(&self, patience: Duration) {
        self.process.stopping.send_replace(true);
        let idle = self.runs.executing.wait_until_idle();
        if tokio::time::timeout(patience, idle).await.is_err() {
            tracing::warn!("stopping while actions still run; they are settled at the next start");
        }
        if let Err(error) = refusal_counts::flush(self).await {
            tracing::error!(%error, "counted refusals could not be recorded");
        }
        witness::note(self).await;
        instances::leave(self).await;
    }
}
