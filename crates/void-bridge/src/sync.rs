//! One file and its record: what the place tells, what follows from it, and where the file ends up.

use serde_json::json;
use void_control::proposals::offers::{self, BY, Outcome};
use void_control::proposals::{self, DecideError, DecideRequest, Decision, ProposalKey};
use void_control::refusal_counts::{self, RefusalKind};
use void_control::{Ctx, facts, random};
use void_domain::actors::{Actor, Surface};
use void_domain::bridge::{Move, Note, Reported, Returned, StatusFolder};
use void_domain::capabilities::Capabilities;
use void_domain::fail_point;
use void_domain::failures::FailureCode;
use void_domain::ids::ProposalId;
use void_domain::proposals::{Failure, State, Status};
use void_store::{StoreError, bridge as files};

use crate::folder::{FileContent, FileStamp, Moved, Name};
use crate::records::{self, Record};
use crate::worker::{BridgeError, SETTLED, Worker};

/// Pending, decided, offered, taken, reported, put away; one to spare.
const STEPS_MAX: u32 = 8;
const NOT_WHOLE: &str = "not everything that you should read fits into this file; approve it on the web or on the command line";
const SWITCHED_OFF: &str = "decisions by file are switched off here; nothing was decided";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SyncStep {
    /// Something changed: look at it again.
    Again,
    Rest,
}

impl From<Moved> for SyncStep {
    fn from(moved: Moved) -> Self {
        match moved {
            Moved::Done => Self::Rest,
            Moved::Lost => Self::Again,
        }
    }
}

impl Worker {
    /// `fresh`: the record has just changed, so there should be a file even if it has ended.
    pub(super) async fn sync(&mut self, id: ProposalId, fresh: bool) -> Result<(), BridgeError> {
        for _ in 0..STEPS_MAX {
            let Some(record) = records::load(&self.control, id).await? else {
                return Ok(());
            };
            if self.step(&record, fresh).await? == SyncStep::Rest {
                return Ok(());
            }
        }
        self.look_again = true;
        Ok(())
    }

    async fn step(&mut self, record: &Record, fresh: bool) -> Result<SyncStep, BridgeError> {
        let name = Name::of(&record.instance);
        let looked = name.clone();
        let found = self.disk(move |folder| folder.locate(&looked)).await?;
        match found.as_slice() {
            [] => self.missing(record, &name, fresh).await,
            [(place, seen)] => self.found(record, &name, *place, *seen).await,
            several => self.doubled(record, &name, several).await,
        }
    }

    /// Deleting a file decides nothing; but an offer that is gone was taken.
    async fn missing(
        &mut self,
        record: &Record,
        name: &Name,
        fresh: bool,
    ) -> Result<SyncStep, BridgeError> {
        let status = record.proposal.status();
        if status == Status::Approved && record.offered {
            return self.missing_offer(record, name).await;
        }
        if status.is_end() && status != Status::Unknown && !fresh {
            return Ok(SyncStep::Rest);
        }
        self.place(record, name, None).await
    }

    async fn found(
        &mut self,
        record: &Record,
        name: &Name,
        place: StatusFolder,
        seen: FileStamp,
    ) -> Result<SyncStep, BridgeError> {
        match Move::read(&record.proposal, record.offered, place) {
            Move::None => self.at_home(record, name, place, seen).await,
            Move::Follow
                if record.proposal.status() == Status::Approved
                    && record.proposal.subject.is_by_file() =>
            {
                self.offer(record, name, place, seen).await
            }
            Move::Follow => self.bring_home(record, name, place, seen).await,
            Move::Approve => {
                self.decide(record, name, (place, seen), Decision::Approve)
                    .await
            }
            Move::Reject => {
                self.decide(record, name, (place, seen), Decision::Reject)
                    .await
            }
            Move::Claim => self.claim(record).await,
            Move::Done | Move::Failed => self.report(record, name, place, seen).await,
            Move::PutBack(why) => self.put_back(record, name, (place, seen), why).await,
        }
    }

    async fn at_home(
        &mut self,
        record: &Record,
        name: &Name,
        place: StatusFolder,
        seen: FileStamp,
    ) -> Result<SyncStep, BridgeError> {
        let status = record.proposal.status();
        let by_file = record.proposal.subject.is_by_file();
        match status {
            Status::Approved if by_file && record.offered => {
                self.watch_offer(record, name, seen).await
            }
            Status::Approved if by_file => self.offer(record, name, place, seen).await,
            // A foreign executor has it: nobody takes it out of its hands.
            Status::Running if by_file => {
                self.remember(record, place, seen);
                Ok(SyncStep::Rest)
            }
            _ => self.refresh(record, name, place, seen).await,
        }
    }

    /// The file is in its place; it should also say what the record says.
    async fn refresh(
        &mut self,
        record: &Record,
        name: &Name,
        place: StatusFolder,
        seen: FileStamp,
    ) -> Result<SyncStep, BridgeError> {
        let Some(bytes) = self.content(record, name, place, seen).await? else {
            return Ok(SyncStep::Again);
        };
        let wanted = record.render().bytes;
        if bytes == wanted {
            self.remember(record, place, seen);
            return Ok(SyncStep::Rest);
        }
        let taken_by_others =
            record.proposal.subject.is_by_file() && record.proposal.status() == Status::Unknown;
        if taken_by_others {
            let name = name.clone();
            self.disk(move |folder| folder.replace(place, &name, &wanted))
                .await?;
            return Ok(SyncStep::Rest);
        }
        self.bring_home(record, name, place, seen).await
    }

    /// The bytes of a file that is still about the same request. `None`: it was gone, or was set aside.
    pub(super) async fn content(
        &mut self,
        record: &Record,
        name: &Name,
        place: StatusFolder,
        seen: FileStamp,
    ) -> Result<Option<Vec<u8>>, BridgeError> {
        let read = name.clone();
        let content = self.disk(move |folder| folder.read(place, &read)).await?;
        let why = match content {
            FileContent::Gone => return Ok(None),
            FileContent::Unfit(why) => why,
            // What we wrote ourselves is never set aside: it would be written again.
            FileContent::Bytes(bytes) if bytes == record.render().bytes => return Ok(Some(bytes)),
            FileContent::Bytes(bytes) => match record.read(&bytes) {
                Returned::Same { .. } => return Ok(Some(bytes)),
                Returned::Changed(why) => why,
            },
        };
        if self.is_quiet(place, name, seen, SETTLED) {
            self.aside(place, name, &why).await?;
        }
        Ok(None)
    }

    async fn bring_home(
        &mut self,
        record: &Record,
        name: &Name,
        place: StatusFolder,
        seen: FileStamp,
    ) -> Result<SyncStep, BridgeError> {
        let Some(bytes) = self.content(record, name, place, seen).await? else {
            // Half-written, gone or set aside: what is missing is made again, the rest can wait.
            return Ok(self.wait_or_look());
        };
        let over = record.proposal.status().is_end() && record.proposal.status() != Status::Unknown;
        if over && place == StatusFolder::Pending && !is_marked(&bytes, record) {
            let why = "this action_id was used before; a new wish needs a new one";
            self.aside(place, name, why).await?;
            return Ok(SyncStep::Rest);
        }
        self.place(record, name, Some((place, seen))).await
    }

    /// After a file could not be read: if it may be half-written, the next look sees more.
    pub(super) const fn wait_or_look(&self) -> SyncStep {
        if self.look_again {
            SyncStep::Rest
        } else {
            SyncStep::Again
        }
    }

    /// Writes the record's file where it belongs, in place of the one that was seen.
    pub(super) async fn place(
        &mut self,
        record: &Record,
        name: &Name,
        from: Option<(StatusFolder, FileStamp)>,
    ) -> Result<SyncStep, BridgeError> {
        let (to, content, file) = (record.place(), record.render().bytes, name.clone());
        let moved = self
            .disk(move |folder| folder.put(from, to, &file, &content))
            .await?;
        self.forget(record.proposal.id);
        if moved == Moved::Lost {
            return Ok(SyncStep::Again);
        }
        let from = from.map(|(place, _)| place);
        if from != Some(to) {
            let status = record.proposal.status().as_str();
            self.saw(record.instance.as_str(), from, to.as_str(), status);
        }
        // What has arrived is compared once more, so that the next look has nothing to do.
        let settled =
            record.proposal.status().is_end() && record.proposal.status() != Status::Unknown;
        Ok(if settled {
            SyncStep::Rest
        } else {
            SyncStep::Again
        })
    }

    async fn decide(
        &mut self,
        record: &Record,
        name: &Name,
        at: (StatusFolder, FileStamp),
        decision: Decision,
    ) -> Result<SyncStep, BridgeError> {
        let Some(bytes) = self.content(record, name, at.0, at.1).await? else {
            return Ok(self.wait_or_look());
        };
        if !self.decisions_count() {
            return self.put_back(record, name, at, SWITCHED_OFF).await;
        }
        let (digest, revision) = match record.read(&bytes) {
            Returned::Same {
                digest, revision, ..
            } => (digest, revision),
            Returned::Changed(_) => return Ok(SyncStep::Again),
        };
        if decision == Decision::Approve && !record.render().is_whole {
            return self.put_back(record, name, at, NOT_WHOLE).await;
        }
        let request = DecideRequest {
            decision,
            digest,
            revision: Some(revision),
            reason: None,
            key: None,
        };
        let ctx = Ctx {
            actor: Actor::Owner {
                surface: Surface::File,
            },
            capabilities: Capabilities::none(),
            request_id: random::request_id(self.control.clock().now())?,
            authenticated_ago: None,
            is_from_outside: false,
            token: None,
        };
        let key = ProposalKey::Id(record.proposal.id);
        match proposals::decide(&self.control, &ctx, key, request).await {
            Ok(_) => {
                let verb = match decision {
                    Decision::Approve => "approved by file",
                    Decision::Reject => "rejected by file",
                };
                self.saw(record.instance.as_str(), None, at.0.as_str(), verb);
                Ok(SyncStep::Again)
            }
            Err(DecideError::Store(error)) => Err(error.into()),
            Err(refused) => self.put_back(record, name, at, &refused.to_string()).await,
        }
    }

    /// The file goes back to where the record says, and its history says why.
    async fn put_back(
        &mut self,
        record: &Record,
        name: &Name,
        at: (StatusFolder, FileStamp),
        why: &str,
    ) -> Result<SyncStep, BridgeError> {
        let now = self.control.clock().now();
        let note = Note {
            from: at.0,
            to: record.place(),
            at_ms: now.as_ms(),
            note: why.to_owned(),
        };
        let (id, context) = (
            record.proposal.id,
            self.control.context(&self.control.system_ctx()?),
        );
        let detail = json!({"from": at.0, "to": note.to, "why": why});
        self.control
            .store()
            .write(move |tx| {
                Box::pin(async move {
                    if files::add_note(tx, id, &note).await? {
                        let subject = Some(id.to_string());
                        facts::audit(tx, &context, now, "bridge.put_back", subject, detail).await?;
                    }
                    Ok::<_, StoreError>(())
                })
            })
            .await?;
        self.saw(
            record.instance.as_str(),
            Some(at.0),
            record.place().as_str(),
            why,
        );
        let Some(noted) = records::load(&self.control, id).await? else {
            return Ok(SyncStep::Rest);
        };
        // The record may have moved on meanwhile; then there is another decision.
        if noted.place() != record.place() {
            return Ok(SyncStep::Again);
        }
        if self.content(&noted, name, at.0, at.1).await?.is_none() && self.look_again {
            return Ok(SyncStep::Rest);
        }
        self.place(&noted, name, Some(at)).await
    }

    /// A foreign executor took the file. The record follows: this is the move to *running*.
    pub(super) async fn claim(&mut self, record: &Record) -> Result<SyncStep, BridgeError> {
        let claimed = offers::claim(&self.control, record.proposal.id).await?;
        if claimed {
            let from = Some(StatusFolder::Approved);
            self.saw(record.instance.as_str(), from, "running", "taken by file");
        }
        Ok(SyncStep::Again)
    }

    /// A foreign executor says how it ended.
    async fn report(
        &mut self,
        record: &Record,
        name: &Name,
        place: StatusFolder,
        seen: FileStamp,
    ) -> Result<SyncStep, BridgeError> {
        let read = name.clone();
        let content = self.disk(move |folder| folder.read(place, &read)).await?;
        let (outcome, believed) = match content {
            FileContent::Gone => return Ok(SyncStep::Again),
            FileContent::Unfit(why) => (changed(&why), false),
            FileContent::Bytes(bytes) => match record.read(&bytes) {
                Returned::Same { reported, .. } => (reported_outcome(place, reported), true),
                Returned::Changed(why) => (changed(&why), false),
            },
        };
        if !believed && !self.is_quiet(place, name, seen, SETTLED) {
            return Ok(SyncStep::Rest);
        }
        fail_point!("bridge.report.before");
        if believed || matches!(record.proposal.state, State::Running { .. }) {
            offers::report(&self.control, record.proposal.id, outcome).await;
        }
        fail_point!("bridge.report.after");
        if !believed {
            self.aside(place, name, "what came back is not what was offered")
                .await?;
        }
        Ok(SyncStep::Again)
    }

    /// In two places at once, and not because it is moving: the record's place counts, and of what an
    /// executor left behind the furthest; the rest is set aside.
    async fn doubled(
        &mut self,
        record: &Record,
        name: &Name,
        found: &[(StatusFolder, FileStamp)],
    ) -> Result<SyncStep, BridgeError> {
        let status = record.proposal.status();
        let in_foreign_hands = record.proposal.subject.is_by_file()
            && matches!(status, Status::Approved | Status::Running | Status::Unknown);
        let furthest = found.iter().rev().map(|(place, _)| *place).find(|place| {
            matches!(
                place,
                StatusFolder::Running | StatusFolder::Completed | StatusFolder::Failed
            )
        });
        let kept = match furthest {
            Some(furthest) if in_foreign_hands => furthest,
            _ => record.place(),
        };
        let places: Vec<&str> = found.iter().map(|(place, _)| place.as_str()).collect();
        let why = format!("it was in several states at once: {}", places.join(", "));
        for (place, seen) in found.iter().filter(|(place, _)| *place != kept) {
            // An offer that was copied away must not be taken a second time; the rest may be moving.
            let offer = *place == StatusFolder::Approved;
            if !offer && !self.is_quiet(*place, name, *seen, SETTLED) {
                return Ok(SyncStep::Rest);
            }
            self.aside(*place, name, &why).await?;
        }
        Ok(SyncStep::Again)
    }

    pub(super) async fn set_aside_if_settled(
        &mut self,
        place: StatusFolder,
        name: &Name,
        why: &str,
    ) -> Result<(), BridgeError> {
        let looked = name.clone();
        let seen = self.disk(move |folder| folder.look(place, &looked)).await?;
        match seen {
            Some(seen) if self.is_quiet(place, name, seen, SETTLED) => {
                self.aside(place, name, why).await
            }
            _ => Ok(()),
        }
    }

    /// Into `invalid/`, with the reason beside it and on the record.
    pub(super) async fn aside(
        &mut self,
        place: StatusFolder,
        name: &Name,
        why: &str,
    ) -> Result<(), BridgeError> {
        let (file, reason) = (name.clone(), why.to_owned());
        let moved = self
            .disk(move |folder| folder.set_aside(place, &file, &reason))
            .await?;
        if moved == Moved::Lost {
            return Ok(());
        }
        self.saw(&name.shown(), Some(place), "invalid", why);
        // Whoever may write to the folder can fill it: of a minute's files the first is on the record, the
        // others are counted. Each has its reason beside it.
        let detail = json!({"file": name.shown(), "place": place, "why": why});
        Ok(refusal_counts::note(&self.control, unfit(place), detail).await?)
    }
}

const INVALID: &str = "bridge.invalid";

/// Which files are counted together: nothing in it is made up by who wrote them.
fn unfit(place: StatusFolder) -> RefusalKind {
    RefusalKind {
        actor: Actor::System.to_string(),
        verb: INVALID,
        what: place.as_str().to_owned(),
        code: FailureCode::Unfit.to_string(),
    }
}

/// Whether Void itself wrote it: its own files carry the digest.
fn is_marked(bytes: &[u8], record: &Record) -> bool {
    let returned = record.read(bytes);
    matches!(
        returned,
        Returned::Same {
            digest: Some(_),
            ..
        }
    )
}

fn changed(why: &str) -> Outcome {
    let message = format!("the file that came back is not the one that was offered: {why}");
    Outcome::Unknown(Failure::new(FailureCode::Changed, message))
}

fn reported_outcome(place: StatusFolder, reported: Reported) -> Outcome {
    if place == StatusFolder::Failed {
        return Outcome::Failed(reported.into_failure());
    }
    let result = json!({"reported_by": BY, "result": reported.result});
    Outcome::Done { result }
}
