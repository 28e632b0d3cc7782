//! The one worker: events of the record, hints of the folder, and a full look every few seconds.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::CString;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use void_control::Control;
use void_control::events::{StoredEvent, Subscription};
use void_domain::bridge::{InstanceId, Returned, StatusFolder};
use void_domain::events::EventKind;
use void_domain::ids::ProposalId;
use void_domain::proposals::{Proposal, Status};
use void_store::{StoreError, proposals};

use crate::folder::{FileContent, FileStamp, Folder, Name};
use crate::records;
use crate::shared::{Shared, WorkerState};
use crate::watching::FolderWatch;

/// A hint can be missed; nothing stays unseen for longer.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How soon to look again at what was still being written.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// A dropped file is taken when nobody has written to it for this long.
pub(super) const QUIET: Duration = Duration::from_millis(200);
/// What cannot be read is believed to be wrong, and not half-written, after this long.
pub(super) const SETTLED: Duration = Duration::from_secs(2);
/// Above the bound on what may be open.
const OPEN_MAX: u32 = 10_000;
const EVENTS_AT_ONCE: usize = 256;
/// How many unknown files are judged in one look; each may cost a proposal or an audit entry.
const STRANGERS_MAX: u32 = 100;

#[derive(Debug, thiserror::Error)]
pub(super) enum BridgeError {
    #[error("{0}")]
    Disk(#[from] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What was last seen in order; equal means that there is nothing to do.
struct KnownFile {
    instance: InstanceId,
    status: Status,
    checked: bool,
    place: StatusFolder,
    seen: FileStamp,
}

pub(super) struct Worker {
    pub(super) control: Control,
    bridge: Arc<Shared>,
    pub(super) folder: Arc<Folder>,
    known: HashMap<ProposalId, KnownFile>,
    /// Since when a name has been bound to the same bytes.
    observed: BTreeMap<(StatusFolder, CString), (FileStamp, Instant)>,
    /// What could not be put in order; tried again at every look.
    unfinished: BTreeSet<ProposalId>,
    pub(super) look_again: bool,
    strangers_left: u32,
    problem: Option<String>,
    foreign: usize,
}

pub(super) async fn run(bridge: Arc<Shared>) {
    let control = &bridge.control;
    let mut stopping = control.stopping();
    while !control.is_stopping() {
        match open(&bridge).await {
            Ok(folder) => tokio::select! {
                () = work(&bridge, folder) => {}
                _ = stopping.wait_for(|stop| *stop) => return,
            },
            Err(problem) => {
                tracing::error!(%problem, "the file bridge cannot use its folder; it is tried again");
                bridge.change(|state| state.problem = Some(problem));
            }
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            _ = stopping.wait_for(|stop| *stop) => return,
        }
    }
}

async fn open(bridge: &Shared) -> Result<Folder, String> {
    let path = bridge.config.folder.clone();
    let opened = tokio::task::spawn_blocking(move || Folder::open(&path)).await;
    let folder = opened.map_err(|error| error.to_string())??;
    tracing::info!(folder = %bridge.config.folder.display(), decisions = bridge.config.decisions, "the file bridge is on");
    Ok(folder)
}

/// Until the folder is no longer the one that was opened.
async fn work(bridge: &Arc<Shared>, folder: Folder) {
    let control = &bridge.control;
    let watching = FolderWatch::start(&folder);
    if let Err(error) = &watching {
        tracing::warn!(%error, "the folder cannot be watched; it is looked at every few seconds");
    }
    // A number from the future is from before a restore.
    let cursor = folder.cursor().filter(|seq| *seq <= control.hub().last());
    let mut events = control.subscribe(cursor);
    let mut worker = Worker {
        control: control.clone(),
        bridge: Arc::clone(bridge),
        folder: Arc::new(folder),
        known: HashMap::new(),
        observed: BTreeMap::new(),
        unfinished: BTreeSet::new(),
        look_again: false,
        strangers_left: 0,
        problem: None,
        foreign: 0,
    };
    if let Err(error) = worker.clear_held().await {
        worker.complain("what was held could not be put back", &error);
    }
    let mut due = Instant::now();
    loop {
        let now = Instant::now();
        if now >= due {
            worker.look().await;
            bridge.change(|state| *state = worker.state());
            if !worker.is_ours().await {
                tracing::warn!("the bridge's folder was replaced; it is opened again");
                return;
            }
            due = Instant::now() + LOOK_EVERY;
        }
        // Hints come in floods, not least from our own hand; looks keep their distance.
        let soon = now + LOOK_AGAIN;
        if worker.look_again {
            due = due.min(soon);
        }
        let hint = async {
            match &watching {
                Ok(watching) => watching.changed().await,
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            event = events.next() => match event {
                Ok(Some(event)) => if worker.follow(event, &mut events).await {
                    due = due.min(soon);
                },
                Ok(None) => return,
                Err(error) => {
                    worker.complain("events could not be read", &error.into());
                    due = due.min(soon);
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
            },
            () = hint => due = due.min(soon),
            () = control.wait_for_offer() => due = due.min(soon),
            () = tokio::time::sleep_until(due) => {}
        }
    }
}

impl Worker {
    fn state(&mut self) -> WorkerState {
        WorkerState {
            problem: self.problem.take(),
            last_scan_at: Some(self.control.clock().now()),
            foreign: self.foreign,
        }
    }

    pub(super) fn decisions_count(&self) -> bool {
        self.bridge.config.decisions
    }

    /// File work, away from the threads that serve requests.
    pub(super) async fn disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Folder) -> io::Result<T> + Send + 'static,
    ) -> Result<T, BridgeError> {
        let folder = Arc::clone(&self.folder);
        let done = tokio::task::spawn_blocking(move || work(&folder)).await;
        Ok(done.map_err(io::Error::other)??)
    }

    pub(super) fn complain(&mut self, what: &str, error: &BridgeError) {
        tracing::warn!(%error, "file bridge: {what}; it is tried again");
        self.problem = Some(format!("{what}: {error}"));
    }

    pub(super) fn saw(&self, file: &str, from: Option<StatusFolder>, to: &str, note: &str) {
        let from = from.map(StatusFolder::as_str);
        let now = self.control.clock().now();
        self.bridge.saw(now, file, from, to, note);
    }

    async fn is_ours(&self) -> bool {
        let path = self.bridge.config.folder.clone();
        let still = self.disk(move |folder| Ok(folder.is_still(&path))).await;
        still.unwrap_or(false)
    }

    /// How long this name has been bound to the same bytes, as far as was seen.
    pub(super) fn quiet_for(
        &mut self,
        place: StatusFolder,
        name: &Name,
        seen: FileStamp,
    ) -> Duration {
        let now = Instant::now();
        let entry = self.observed.entry((place, name.raw.clone()));
        let (last, since) = entry.or_insert((seen, now));
        if *last != seen {
            (*last, *since) = (seen, now);
        }
        now.duration_since(*since)
    }

    /// Whether it may be judged now; otherwise it is looked at again soon.
    pub(super) fn is_quiet(
        &mut self,
        place: StatusFolder,
        name: &Name,
        seen: FileStamp,
        wanted: Duration,
    ) -> bool {
        let quiet = self.quiet_for(place, name, seen) >= wanted;
        if !quiet {
            self.look_again = true;
        }
        quiet
    }

    pub(super) fn forget(&mut self, id: ProposalId) {
        self.known.remove(&id);
    }

    pub(super) fn remember(
        &mut self,
        record: &records::Record,
        place: StatusFolder,
        seen: FileStamp,
    ) {
        let known = KnownFile {
            instance: record.instance.clone(),
            status: record.proposal.status(),
            checked: record.proposal.verification().is_some(),
            place,
            seen,
        };
        self.known.insert(record.proposal.id, known);
    }

    /// Files follow what has just been recorded. Whether a look at the whole folder is due.
    async fn follow(&mut self, first: Arc<StoredEvent>, events: &mut Subscription) -> bool {
        let mut whole = false;
        let mut moved = BTreeSet::new();
        let mut next = Some(first);
        let mut last = 0;
        for _ in 0..EVENTS_AT_ONCE {
            let Some(event) = next else { break };
            last = event.seq;
            match proposal_of(&event) {
                Some(id) => _ = moved.insert(id),
                None => whole |= event.kind == EventKind::FreezeChanged,
            }
            let more = tokio::time::timeout(Duration::ZERO, events.next()).await;
            next = match more {
                Ok(Ok(more)) => more,
                Ok(Err(_)) | Err(_) => None,
            };
        }
        let moved_any = !moved.is_empty();
        for id in moved {
            self.put_in_order(id, true).await;
        }
        if moved_any && let Err(error) = self.disk(move |folder| folder.save_cursor(last)).await {
            self.complain("the place in the events could not be noted", &error);
        }
        whole
    }

    async fn put_in_order(&mut self, id: ProposalId, fresh: bool) {
        match self.sync(id, fresh).await {
            Ok(()) => _ = self.unfinished.remove(&id),
            Err(error) => {
                self.forget(id);
                if fresh {
                    self.unfinished.insert(id);
                }
                self.complain("a file could not be put in order", &error);
            }
        }
    }

    /// The whole folder, and everything that is open.
    async fn look(&mut self) {
        self.look_again = false;
        self.strangers_left = STRANGERS_MAX;
        if let Err(error) = self.look_at_all().await {
            self.complain("the folder could not be looked at", &error);
        }
    }

    async fn look_at_all(&mut self) -> Result<(), BridgeError> {
        for id in std::mem::take(&mut self.unfinished) {
            self.put_in_order(id, true).await;
        }
        let open = self.open_proposals().await?;
        let ids: BTreeSet<ProposalId> = open.iter().map(|proposal| proposal.id).collect();
        self.known.retain(|id, _| ids.contains(id));
        for proposal in &open {
            if !self.is_in_order(proposal).await? {
                self.put_in_order(proposal.id, false).await;
            }
        }
        let mut mine: BTreeSet<InstanceId> = BTreeSet::new();
        mine.extend(self.known.values().map(|known| known.instance.clone()));
        self.foreign = 0;
        let mut present = BTreeSet::new();
        for place in [
            StatusFolder::Pending,
            StatusFolder::Approved,
            StatusFolder::Running,
        ] {
            let names = self.disk(move |folder| folder.names(place)).await?;
            if names.len() >= super::folder::NAMES_MAX {
                let why = io::Error::other(format!("{place}/ holds too many files"));
                self.complain("only some files were looked at", &why.into());
            }
            for name in names {
                present.insert((place, name.raw.clone()));
                let known = name.instance().is_some_and(|id| mine.contains(&id));
                if known || name.is_temporary() {
                    continue;
                }
                if let Err(error) = self.judge_stranger(place, &name).await {
                    self.complain("a file could not be judged", &error);
                }
            }
        }
        self.observed
            .retain(|key, (_, since)| present.contains(key) || since.elapsed() < 2 * SETTLED);
        Ok(())
    }

    async fn open_proposals(&self) -> Result<Vec<Proposal>, StoreError> {
        let open = [
            Status::Pending,
            Status::Approved,
            Status::Running,
            Status::Unknown,
        ];
        let found = self.control.store().read(move |tx| {
            Box::pin(async move {
                let mut found = Vec::new();
                for status in open {
                    found.extend(proposals::list_in(tx, status, OPEN_MAX).await?);
                }
                Ok::<_, StoreError>(found)
            })
        });
        Ok(found.await?.into_iter().map(|one| one.proposal).collect())
    }

    /// Whether its file is exactly where and what it was when it was last put in order.
    async fn is_in_order(&self, proposal: &Proposal) -> Result<bool, BridgeError> {
        let Some(known) = self.known.get(&proposal.id) else {
            return Ok(false);
        };
        let same = known.status == proposal.status()
            && known.checked == proposal.verification().is_some()
            // An offer is judged again every time.
            && proposal.status() != Status::Approved;
        if !same {
            return Ok(false);
        }
        let (place, seen, name) = (known.place, known.seen, Name::of(&known.instance));
        let found = self.disk(move |folder| folder.locate(&name)).await?;
        Ok(found == [(place, seen)])
    }

    async fn judge_stranger(
        &mut self,
        place: StatusFolder,
        name: &Name,
    ) -> Result<(), BridgeError> {
        if self.strangers_left == 0 {
            self.look_again = true;
            return Ok(());
        }
        self.strangers_left -= 1;
        let Some(instance) = name.instance() else {
            let why = "a file is called by its action_id and .json: letters, digits and . _ -, \
                       beginning with a letter or digit, at most 128 characters";
            return self.set_aside_if_settled(place, name, why).await;
        };
        if let Some(record) = records::load_named(&self.control, &instance).await? {
            return self.sync(record.proposal.id, false).await;
        }
        match place {
            StatusFolder::Pending => self.take_in(name, &instance).await,
            StatusFolder::Approved => {
                let why = "nobody proposed this here; a new wish goes into pending/";
                self.set_aside_if_settled(place, name, why).await
            }
            // Somebody else's work, from before the bridge or beside it.
            _ => {
                self.foreign += 1;
                Ok(())
            }
        }
    }

    /// What a stop or a crash left in Void's own hands. The record makes every file again; what is not
    /// from the record is kept.
    async fn clear_held(&mut self) -> Result<(), BridgeError> {
        for held in self.disk(Folder::held_names).await? {
            let Some(text) = held.raw.to_str().ok().map(str::to_owned) else {
                continue;
            };
            let (prefix, file) = text.split_once('-').unwrap_or((&text, ""));
            match prefix {
                "old" | "offer" => self.clear_taken(&held, prefix, file).await?,
                "lock" => {}
                "cursor" if file.is_empty() => {}
                _ => {
                    self.disk(move |folder| folder.drop_held_name(&held))
                        .await?;
                }
            }
        }
        Ok(())
    }

    async fn clear_taken(
        &mut self,
        held: &Name,
        prefix: &str,
        file: &str,
    ) -> Result<(), BridgeError> {
        let instance = InstanceId::from_file_name(file);
        let record = match &instance {
            Some(instance) => records::load_named(&self.control, instance).await?,
            None => None,
        };
        let public = Name {
            raw: CString::new(file).unwrap_or_default(),
        };
        let (looked, read) = (held.clone(), held.clone());
        let content = self.disk(move |folder| folder.read_held(&looked)).await?;
        let ours = match (&record, &content) {
            (Some(record), FileContent::Bytes(bytes)) => {
                matches!(record.read(bytes), Returned::Same { .. })
            }
            _ => false,
        };
        let waits = prefix == "offer"
            && record.is_some_and(|record| {
                record.offered && record.proposal.status() == Status::Approved
            });
        if ours && waits {
            return Ok(());
        }
        if ours {
            return self.disk(move |folder| folder.drop_held_name(&read)).await;
        }
        let why = "Void was stopped while it had this in its hands";
        self.disk(move |folder| folder.set_held_aside(&read, &public, why).map(|_| ()))
            .await
    }
}

fn proposal_of(event: &StoredEvent) -> Option<ProposalId> {
    if !event.kind.is_of_proposal() {
        return None;
    }
    let payload: Value = serde_json::from_str(&event.payload).ok()?;
    payload.get("id")?.as_str()?.parse().ok()
}
