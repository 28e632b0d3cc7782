//! What happens by itself: expiry, lapses, waiting starts, settling, abandoned turns, the notes beside
//! the database, the daily backup. One loop each, ended by the stop signal.

use std::sync::Arc;
use std::time::Duration;

use crate::control::Control;
use crate::{
    agent_messages, alerts, backups, clock_notes, conversations, freezes, health, instances,
    knowledge, nodes, notification_keys, proposals, questions, refusal_counts, reminders,
    retention, stops, witness,
};

const SWEEP_EVERY: Duration = Duration::from_secs(1);
const NOTE_EVERY: Duration = Duration::from_secs(2);
const CLOCK_EVERY: Duration = Duration::from_secs(10);
const SETTLE_EVERY: Duration = Duration::from_secs(5);
const BACKUP_LOOK_EVERY: Duration = Duration::from_secs(15 * 60);

pub(crate) fn start(control: &Control) {
    every(control, SWEEP_EVERY, |control| async move {
        sweep(&control).await;
    });
    every(control, NOTE_EVERY, |control| async move {
        witness::note(&control).await;
    });
    every(control, CLOCK_EVERY, |control| async move {
        if let Err(error) = clock_notes::look(&control).await {
            tracing::warn!(%error, "the clock could not be compared; it is tried again");
        }
    });
    every(control, instances::SEEN_EVERY, |control| async move {
        if let Err(error) = instances::note_seen(&control).await {
            tracing::warn!(%error, "this instance could not say that it is there; it is tried again");
        }
    });
    let settling = Arc::new(proposals::Settling::default());
    every(control, SETTLE_EVERY, move |control| {
        let settling = Arc::clone(&settling);
        async move {
            settle(&control, &settling).await;
        }
    });
    every(control, nodes::NOTE_SEEN_EVERY, |control| async move {
        if let Err(error) = nodes::note_seen(&control).await {
            tracing::warn!(%error, "when nodes were seen could not be noted; it is tried again");
        }
    });
    every(control, BACKUP_LOOK_EVERY, |control| async move {
        backups::daily(&control).await;
        forget_old(&control).await;
    });
}

async fn sweep(control: &Control) {
    if let Err(error) = proposals::sweep(control).await {
        tracing::error!(%error, "the sweep failed; it is tried again");
    }
    if let Err(error) = questions::sweep(control).await {
        tracing::error!(%error, "questions could not expire; it is tried again");
    }
    if let Err(error) = reminders::sweep(control).await {
        tracing::error!(%error, "reminders could not fire; it is tried again");
    }
    if let Err(error) = refusal_counts::sweep(control).await {
        tracing::error!(%error, "counted refusals could not be recorded; it is tried again");
    }
    if let Err(error) = alerts::sweep(control).await {
        tracing::warn!(%error, "what is down could not be told; it is tried again");
    }
    // A freeze with an end is over when its time comes, without anybody touching it.
    let _ = freezes::apply_stored(control).await;
}

async fn settle(control: &Control, settling: &Arc<proposals::Settling>) {
    proposals::settle_unknown(control, settling).await;
    if let Err(error) = conversations::fail_overdue(control).await {
        tracing::error!(%error, "abandoned turns could not be ended; it is tried again");
    }
    if let Err(error) = agent_messages::sweep(control).await {
        tracing::error!(%error, "messages that reach nobody could not be ended; it is tried again");
    }
    // Another instance may have stopped something, or a guest was started outside Void.
    if let Err(error) = stops::refresh(control).await {
        tracing::warn!(%error, "what the owner stopped could not be read; it is tried again");
    }
}

async fn forget_old(control: &Control) {
    if let Err(error) = notification_keys::forget_old(control).await {
        tracing::warn!(%error, "old keys of buttons could not be dropped; it is tried again");
    }
    if let Err(error) = retention::prune(control).await {
        tracing::warn!(%error, "what is too old could not be dropped; it is tried again");
    }
    if let Err(error) = knowledge::forget_deleted_files(control).await {
        tracing::warn!(%error, "files that were thrown away could not be dropped; it is tried again");
    }
    if let Err(error) = health::forget_old(control).await {
        tracing::warn!(%error, "old changes of services could not be dropped; it is tried again");
    }
}

fn every<F, Fut>(control: &Control, period: Duration, work: F)
where
    F: Fn(Control) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send,
{
    let control = control.clone();
    tokio::spawn(async move {
        let mut stopping = control.process.stopping.subscribe();
        let mut ticks = tokio::time::interval(period);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            let go_on = tokio::select! {
                _ = ticks.tick() => true,
                _ = stopping.wait_for(|stop| *stop) => false,
            };
            if !go_on {
                return;
            }
            work(control.clone()).await;
        }
    });
}
