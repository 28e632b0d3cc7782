//! Who else works on this database, and what is left to whom (I40).
//!
//! An instance is its data folder: the id in it stays over restarts, and with it goes the journal of
//! the machine that the catalogue calls `local`. A run there is started and settled by that instance
//! alone; everybody else leaves it be. A second instance with another catalogue does not start unless
//! it is told to, because it would withdraw what the others' owner is asked about. Nor does a second
//! process of the same instance (`processes`).

mod processes;

use std::time::Duration;

use void_domain::catalogue::definition_digest;
use void_domain::changes::Change;
use void_domain::digests::Digest;
use void_domain::failures::FailureCode;
use void_domain::hosts::Host;
use void_domain::instances::{
    self as domain, InstanceName, StartingInstance, is_known_to_claimant_only,
};
use void_domain::proposals::{Failure, Proposal, Subject};
use void_domain::time::Timestamp;
pub use void_store::instances::Instance;
use void_store::instances::{self, Claim, Claimant};
use void_store::{StoreError, Tx};

use crate::control::Control;
pub use crate::parts::instances::Identity;

pub use self::processes::is_displaced;
pub(crate) use self::processes::note_seen;

/// How often an instance says that it is there.
pub(crate) const SEEN_EVERY: Duration = Duration::from_secs(5);
/// How long after that it is believed, by the clock of the database.
pub const LIVE_FOR: Duration = Duration::from_secs(30);
/// Rows of instances that never came back.
const KEPT_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Why a control plane does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(
        "{} works on this database with another catalogue ({}, seen at {}); this one is {}. Starting would withdraw what waits \
         for its actions",
        .0.name, .0.catalogue.short(), .0.seen_at, .1.short()
    )]
    OtherCatalogue(Box<Instance>, Digest),
    #[error(
        "another instance on this database is called {} as well (seen at {}); runs on its machine could not be told from ours",
        .0.name, .0.seen_at
    )]
    NameTaken(Box<Instance>),
    #[error(
        "another process works under the id of this instance ({}) on this database and is there (seen at {}): this data folder is \
         a copy of its, or it is the same and runs already",
        .0.name, .0.seen_at
    )]
    Twin(Box<Instance>),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Whether somebody who is there contradicts. Nothing is written: who does not start changes nothing.
pub(crate) async fn look(control: &Control, replace: bool) -> Result<(), StartError> {
    processes::wait_for_predecessor(control).await?;
    let this = control.clone();
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let own = own(&this, this.clock.now());
                contradict(tx, &this, &own, replace).await
            })
        })
        .await
}

async fn contradict(
    tx: &mut Tx,
    control: &Control,
    own: &Instance,
    replace: bool,
) -> Result<(), StartError> {
    for other in others(tx, control).await? {
        if other.name == own.name {
            return Err(StartError::NameTaken(Box::new(other)));
        }
        if other.catalogue != own.catalogue && !replace {
            return Err(StartError::OtherCatalogue(Box::new(other), own.catalogue));
        }
    }
    Ok(())
}

/// Says who we are and what we would run, unless somebody who is there contradicts. A SQLite file has one process.
pub(crate) async fn register(control: &Control, replace: bool) -> Result<(), StartError> {
    if control.store.is_sqlite() {
        return Ok(());
    }
    let (this, own) = (control.clone(), own(control, control.clock.now()));
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                processes::refuse_twin(tx, &this).await?;
                contradict(tx, &this, &own, replace).await?;
                instances::prune(tx, KEPT_FOR).await?;
                Ok(instances::register(tx, &own, &this.process.mark).await?)
            })
        })
        .await
}

fn own(control: &Control, now: Timestamp) -> Instance {
    Instance {
        id: control.process.instance.id.clone(),
        name: control.process.instance.name.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        catalogue: control.in_force.catalogue.digest(),
        definitions: control
            .in_force
            .catalogue
            .actions()
            .map(|action| action.digest())
            .collect(),
        started_at: now,
        seen_at: now,
    }
}

/// We stop: nobody waits for us.
pub(crate) async fn leave(control: &Control) {
    if control.store.is_sqlite() {
        return;
    }
    let (id, process) = (
        control.process.instance.id.clone(),
        control.process.mark.clone(),
    );
    let left = control
        .store
        .write_closing(move |tx| {
            Box::pin(async move { instances::remove(tx, &id, &process).await })
        })
        .await;
    if let Err(error) = left {
        tracing::warn!(%error, "the others could not be told that this instance stops; they notice in a moment");
    }
}

/// The instances that are there, this one too.
pub async fn list(control: &Control) -> Result<Vec<Instance>, StoreError> {
    let mut all = vec![own(control, control.clock.now())];
    if !control.store.is_sqlite() {
        let this = control.clone();
        let read = control
            .store
            .read(move |tx| Box::pin(async move { others(tx, &this).await }));
        all.extend(read.await?);
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

/// Another instance that is there and would run another catalogue than this one.
pub async fn who_disagrees(
    control: &Control,
    catalogue: Digest,
) -> Result<Option<Instance>, StoreError> {
    let this = control.clone();
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let others = others(tx, &this).await?;
                Ok(others
                    .into_iter()
                    .find(|other| other.catalogue != catalogue))
            })
        })
        .await
}

/// The other instances that are there.
pub(crate) async fn others(tx: &mut Tx, control: &Control) -> Result<Vec<Instance>, StoreError> {
    if control.store.is_sqlite() {
        return Ok(Vec::new());
    }
    let mut seen = instances::list_seen(tx, LIVE_FOR).await?;
    seen.retain(|instance| instance.id != control.process.instance.id);
    Ok(seen)
}

async fn names_of_others(tx: &mut Tx, control: &Control) -> Result<Vec<InstanceName>, StoreError> {
    if control.store.is_sqlite() {
        return Ok(Vec::new());
    }
    instances::list_names_of_others(tx, LIVE_FOR, &control.process.instance.id).await
}

/// Which instance would start a request.
pub(crate) async fn starting_instance(
    tx: &mut Tx,
    control: &Control,
    subject: &Subject,
) -> Result<StartingInstance, StoreError> {
    if subject.is_by_file() {
        return Ok(StartingInstance::This);
    }
    if let Some(name) = subject.change().and_then(Change::instance) {
        return instance_called(tx, control, &name).await;
    }
    instance_of(tx, control, subject.host()).await
}

async fn instance_called(
    tx: &mut Tx,
    control: &Control,
    name: &InstanceName,
) -> Result<StartingInstance, StoreError> {
    if *name == control.process.instance.name {
        return Ok(StartingInstance::This);
    }
    let others = names_of_others(tx, control).await?;
    Ok(if others.contains(name) {
        StartingInstance::Other
    } else {
        StartingInstance::Away
    })
}

/// Whose machine a host is; what is not `local` is anybody's.
async fn instance_of(
    tx: &mut Tx,
    control: &Control,
    host: Option<&Host>,
) -> Result<StartingInstance, StoreError> {
    if !is_known_to_claimant_only(host) {
        return Ok(StartingInstance::This);
    }
    let others = names_of_others(tx, control).await?;
    let own = &control.process.instance.name;
    Ok(domain::starting_instance(host, own, others.iter()))
}

/// Why this instance does not ask a host: `local` is the machine of another one, or of nobody in particular.
pub(crate) async fn why_not_asked(
    control: &Control,
    host: &Host,
) -> Result<Option<Failure>, StoreError> {
    let (this, of_host) = (control.clone(), host.clone());
    let instance = control
        .store
        .read(move |tx| Box::pin(async move { instance_of(tx, &this, Some(&of_host)).await }))
        .await?;
    let owner = host.instance.as_ref().map_or("", InstanceName::as_str);
    let (code, message) = match instance {
        StartingInstance::This => return Ok(None),
        StartingInstance::Other => (
            FailureCode::OtherInstance,
            format!("it is the machine of {owner}, which looks after it; ask there"),
        ),
        StartingInstance::Away => (
            FailureCode::InstanceAway,
            format!("it is the machine of {owner}, which is away"),
        ),
        StartingInstance::Ambiguous => (
            FailureCode::AmbiguousHost,
            "several instances are there, and the catalogue does not name the one whose machine it is".to_owned(),
        ),
    };
    Ok(Some(Failure::new(code, message)))
}

/// Whether the catalogue gives a request to the machine of another instance.
pub(crate) fn is_of_another(control: &Control, subject: &Subject) -> bool {
    let of_host = subject.host().and_then(|host| host.instance.clone());
    let instance = of_host.or_else(|| subject.change().and_then(Change::instance));
    instance.is_some_and(|named| named != control.process.instance.name)
}

/// Whether another instance that is there would run what waits.
pub(crate) async fn somebody_else_would_run(
    tx: &mut Tx,
    control: &Control,
    subject: &Subject,
) -> Result<Option<InstanceName>, StoreError> {
    let action = subject.action();
    let Some(Ok(definition)) = action.map(|action| definition_digest(&action.definition)) else {
        return Ok(None);
    };
    let others = others(tx, control).await?;
    let knows = others
        .into_iter()
        .find(|other| other.definitions.contains(&definition));
    Ok(knows.map(|other| other.name))
}

/// Who can find out how a run ended.
pub(crate) enum Knower {
    Us,
    /// Another instance, or another process of this one, which is there and does.
    Other,
    /// Another instance, which is away; the sentence says so.
    Away(Failure),
}

pub(crate) async fn knower(
    tx: &mut Tx,
    control: &Control,
    proposal: &Proposal,
) -> Result<Knower, StoreError> {
    if !processes::holds(tx, control).await? {
        return Ok(Knower::Other);
    }
    let is_anybodys =
        !is_known_to_claimant_only(proposal.subject.host()) && !proposal.subject.is_change();
    if is_anybodys || proposal.subject.is_by_file() {
        return Ok(Knower::Us);
    }
    let claimant = instances::claimant(tx, proposal.id).await?;
    let Some(claimant) = claimant else {
        // From before claims were stored: on a file of its own nobody else can have been it.
        return Ok(if control.store.is_sqlite() {
            Knower::Us
        } else {
            Knower::Away(away("an instance whose name was not stored"))
        });
    };
    if claimant.id == control.process.instance.id {
        return Ok(Knower::Us);
    }
    let others = others(tx, control).await?;
    Ok(if others.iter().any(|other| other.id == claimant.id) {
        Knower::Other
    } else {
        Knower::Away(away(&claimant.name))
    })
}

fn away(name: &str) -> Failure {
    Failure::new(
        FailureCode::InstanceAway,
        format!(
            "it runs on the machine of {name}, which is away and alone can tell how it ended: start {name} again, or look there \
             and settle it with void inbox settle"
        ),
    )
}

/// In whose name this process claims a run.
pub(crate) fn claim<'a>(control: &'a Control, by: &'a Claimant) -> Claim<'a> {
    let process = (!control.store.is_sqlite()).then_some(control.process.mark.as_str());
    Claim { by, process }
}
