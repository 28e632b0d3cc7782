//! Reading the record.

mod mismatches;

use std::time::Duration;

use serde_json::Value;
use void_domain::actors::Actor;
use void_domain::capabilities::Capability;
use void_domain::digests::Digest;
use void_domain::facts::Fact;
use void_domain::ids::ActionId;
use void_store::facts::chains::{self, Link};
use void_store::{Page, StoreError, Tx, facts};

use crate::context::Ctx;
use crate::control::Control;

pub use mismatches::{Mismatch, Mismatches};
pub use void_store::facts::FactFilter;

/// Entries that are read and checked at a time; fewer by the walk that is in no hurry.
const VERIFIED_AT_ONCE: u32 = 2_000;
const VERIFIED_AT_ONCE_SLOWLY: u32 = 500;
/// Between two pieces of the walk after a start, which is in no hurry.
const WALK_PAUSE: Duration = Duration::from_millis(20);

pub async fn list(
    control: &Control,
    filter: FactFilter,
    cursor: Option<u64>,
    limit: u32,
) -> Result<Page<Fact>, StoreError> {
    control
        .store
        .read(move |tx| Box::pin(async move { facts::list(tx, &filter, cursor, limit).await }))
        .await
}

/// Whether somebody may read the record: the owner, and agents that the owner gave `audit.read`. A person who
/// may look at everything else may not: it holds what is the owner's alone.
pub fn may_read(ctx: &Ctx) -> bool {
    match &ctx.actor {
        Actor::Owner { .. } => true,
        Actor::Agent { .. } => ctx.capabilities.has(Capability::AuditRead),
        Actor::Viewer { .. } | Actor::Node { .. } | Actor::System => false,
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("reading the record needs the capability audit.read")]
    Forbidden,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The record as this reader may see it, newest first: the owner whole, an agent without what somebody or a
/// machine wrote.
pub async fn read(
    control: &Control,
    ctx: &Ctx,
    filter: FactFilter,
    cursor: Option<u64>,
    limit: u32,
) -> Result<Page<Fact>, ReadError> {
    if !may_read(ctx) {
        return Err(ReadError::Forbidden);
    }
    let page = list(control, filter, cursor, limit).await?;
    let items = page.items.into_iter();
    Ok(Page {
        items: items.map(|entry| seen_by(control, ctx, entry)).collect(),
        next: page.next,
    })
}

/// One entry, as this reader may see it.
pub async fn read_one(control: &Control, ctx: &Ctx, seq: u64) -> Result<Option<Fact>, ReadError> {
    if !may_read(ctx) {
        return Err(ReadError::Forbidden);
    }
    let found = find(control, seq).await?;
    Ok(found.map(|entry| seen_by(control, ctx, entry)))
}

fn seen_by(control: &Control, ctx: &Ctx, entry: Fact) -> Fact {
    if ctx.actor.is_owner() {
        return entry;
    }
    let mut detail = entry.typed_detail();
    if let Some(members) = detail.as_object_mut() {
        // A refused request may name anything; only what the catalogue has is repeated.
        members.retain(|name, value| name != "action_id" || is_known(control, value));
    }
    Fact {
        detail: detail.to_string(),
        ..entry
    }
}

fn is_known(control: &Control, action: &Value) -> bool {
    let id = action.as_str().and_then(|id| ActionId::parse(id).ok());
    id.is_some_and(|id| control.in_force.catalogue.get(&id).is_some())
}

/// What a walk over the record found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walk {
    /// Entries that are as they were written.
    pub checked: u64,
    pub head: (u64, Digest),
    /// The first row that is not, and what is wrong with it.
    pub broken: Option<(u64, &'static str)>,
    /// Rows beyond the head that were found earlier and set aside.
    pub set_aside: u64,
    /// Rows that do not say what the record says.
    pub mismatches: Mismatches,
}

/// Recomputes every hash from the first entry to the head, and looks for what stands beyond it. It shows
/// what was changed behind Void's back; whoever can rewrite the whole record and its head is found by a
/// head that was kept elsewhere.
pub async fn verify(control: &Control) -> Result<Walk, StoreError> {
    verify_with(control, Duration::ZERO).await
}

async fn verify_with(control: &Control, pause: Duration) -> Result<Walk, StoreError> {
    let head = head(control).await?;
    let found = mismatches::find(control);
    let walked = walk(control, head, pause);
    let ((checked, mut broken), mismatches) = if pause.is_zero() {
        tokio::try_join!(walked, found)?
    } else {
        (walked.await?, found.await?)
    };
    let (outside, set_aside) = control
        .store
        .read(|tx| Box::pin(async move { outside(tx).await }))
        .await?;
    broken = broken.or(outside);
    Ok(Walk {
        checked,
        head,
        broken,
        set_aside,
        mismatches,
    })
}

/// The first row that stands outside the record, and how many were set aside before.
async fn outside(tx: &mut Tx) -> Result<(Option<(u64, &'static str)>, u64), StoreError> {
    let beyond = facts::strays::find(tx).await?;
    let outside = if facts::strays::is_any_before_first(tx).await? {
        Some((0, "it stands before the first entry: Void did not write it"))
    } else {
        beyond.map(|beyond| {
            let why = "it stands beyond the head: Void did not write it";
            (beyond.first, why)
        })
    };
    Ok((outside, facts::strays::count_set_aside(tx).await?))
}

/// How many entries are good, and the first that is not.
async fn walk(
    control: &Control,
    head: (u64, Digest),
    pause: Duration,
) -> Result<(u64, Option<(u64, &'static str)>), StoreError> {
    let mut at = Link::START;
    let broken = |seq, why| Ok((seq - 1, Some((seq, why))));
    let limit = if pause.is_zero() {
        VERIFIED_AT_ONCE
    } else {
        VERIFIED_AT_ONCE_SLOWLY
    };
    while at.seq < head.0 {
        let piece = control
            .store
            .read(move |tx| Box::pin(chains::walk(tx, at, head.0, limit)))
            .await?;
        match piece.broken {
            Some((seq, why)) => return broken(seq, why),
            None if piece.at == at => return broken(at.seq + 1, chains::MISSING),
            None => at = piece.at,
        }
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
    }
    if at.hash != head.1 {
        return broken(at.seq.max(1), "it is not the entry that the head names");
    }
    Ok((at.seq, None))
}

/// Walks the record once after a start, beside everything else, and names what is wrong with it.
pub(crate) fn start_walk(control: &Control) {
    let control = control.clone();
    tokio::spawn(async move {
        let mut stopping = control.process.stopping.subscribe();
        let walked = tokio::select! {
            walked = verify_with(&control, WALK_PAUSE) => walked,
            _ = stopping.wait_for(|stop| *stop) => return,
        };
        match walked {
            Ok(Walk {
                broken: Some((seq, why)),
                ..
            }) => tracing::error!(
                seq,
                why,
                "the record is damaged; reading, rejecting and freezing go on. Next: void audit verify names the places, void backup ls shows copies to compare with"
            ),
            Ok(walk) => {
                if let Some(first) = walk.mismatches.named.first() {
                    tracing::error!(
                        rows = walk.mismatches.total,
                        table = first.table,
                        id = first.id,
                        "rows do not say what the record says: {}. Somebody edited the database; void audit verify names them",
                        first.message
                    );
                }
            }
            Err(error) => tracing::warn!(%error, "the record could not be walked after the start"),
        }
    });
}

async fn find(control: &Control, seq: u64) -> Result<Option<Fact>, StoreError> {
    control
        .store
        .read(move |tx| Box::pin(facts::find(tx, seq)))
        .await
}

/// Oldest first, after an entry: one piece of an export, and the number of its last entry.
pub async fn export(
    control: &Control,
    after: u64,
    limit: u32,
) -> Result<Option<(String, u64)>, StoreError> {
    control
        .store
        .read(move |tx| Box::pin(chains::export(tx, after, limit)))
        .await
}

/// The newest entry's number, and for people its hash. It covers words and parameters that are withheld from agents, and
/// short ones are found by trying: whoever is not shown all of an entry is not shown a hash of it.
pub const fn head_for(ctx: &Ctx, (seq, hash): (u64, Digest)) -> (u64, Option<Digest>) {
    let is_person = match &ctx.actor {
        Actor::Owner { .. } | Actor::Viewer { .. } => true,
        Actor::Agent { .. } | Actor::Node { .. } | Actor::System => false,
    };
    match is_person {
        true => (seq, Some(hash)),
        false => (seq, None),
    }
}

pub async fn head(control: &Control) -> Result<(u64, Digest), StoreError> {
    control.store.read(|tx| Box::pin(facts::head(tx))).await
}
