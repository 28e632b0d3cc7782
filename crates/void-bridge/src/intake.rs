//! A file that somebody dropped into `pending/`: it becomes a proposal if the catalogue has its action,
//! and always waits for a person. What it says is snapshotted in the same transaction; edits after that
//! change nothing.

use void_control::agents;
use void_control::proposals::{self, ProposeError, ProposeRequest, Proposed};
use void_domain::agents::InvalidAgentName;
use void_domain::bridge::{Dropped, InstanceId, StatusFolder, render_joined};
use void_domain::capabilities::Capability;
use void_domain::proposals::Proposal;
use void_domain::taint::Taint;
use void_store::StoreError;

use crate::folder::{FileContent, FileStamp, Name};
use crate::records;
use crate::worker::{BridgeError, QUIET, SETTLED, Worker};

/// The identity that dropped files act in. The owner can withdraw it like any token.
const AGENT: &str = "file";

impl Worker {
    pub(super) async fn take_in(
        &mut self,
        name: &Name,
        instance: &InstanceId,
    ) -> Result<(), BridgeError> {
        let looked = name.clone();
        let seen = self
            .disk(move |folder| folder.look(StatusFolder::Pending, &looked))
            .await?;
        let Some(seen) = seen else { return Ok(()) };
        if !self.is_quiet(StatusFolder::Pending, name, seen, QUIET) {
            return Ok(());
        }
        let read = name.clone();
        let content = self
            .disk(move |folder| folder.read(StatusFolder::Pending, &read))
            .await?;
        let parsed = match content {
            FileContent::Gone => return Ok(()),
            FileContent::Unfit(why) => Err(why),
            FileContent::Bytes(bytes) => Dropped::parse(&bytes, instance).map_err(|problems| {
                let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
                said.join("\n")
            }),
        };
        match parsed {
            Ok(dropped) => self.propose(name, seen, dropped).await,
            // It may be half-written still.
            Err(why) if self.is_quiet(StatusFolder::Pending, name, seen, SETTLED) => {
                self.aside(StatusFolder::Pending, name, &why).await
            }
            Err(_) => Ok(()),
        }
    }

    async fn propose(
        &mut self,
        name: &Name,
        seen: FileStamp,
        dropped: Dropped,
    ) -> Result<(), BridgeError> {
        let action = match dropped.subject.find(self.control.catalogue()) {
            Ok(action) => action.clone(),
            Err(why) => {
                return self
                    .aside(StatusFolder::Pending, name, &why.to_string())
                    .await;
            }
        };
        let agent = AGENT
            .parse()
            .map_err(|error: InvalidAgentName| StoreError::Internal(error.to_string()))?;
        let rights = [Capability::Act].into_iter().collect();
        let ctx = agents::resident_ctx(&self.control, &agent, &rights).await?;
        let Some(ctx) = ctx else {
            let why = "the owner has withdrawn the token of the agent \"file\"";
            return self.aside(StatusFolder::Pending, name, why).await;
        };
        let wanted = ProposeRequest {
            action_id: action.id.to_string(),
            params: dropped.params(&action),
            reason: dropped.details.reason.clone(),
            diff: dropped.details.diff.clone(),
            // Anybody who may write to the folder may have written it.
            taint: Taint::from_sources(vec![format!("file:{}", dropped.instance)]),
        };
        match proposals::propose_dropped(&self.control, &ctx, wanted, dropped.clone()).await {
            Ok(
                Proposed::Queued(proposal)
                | Proposed::Started(proposal)
                | Proposed::Refused(_, proposal),
            ) => self.arrived(name, seen, &dropped, &proposal).await,
            Err(ProposeError::Store(error)) => Err(error.into()),
            Err(ProposeError::InvalidParams(invalid)) => {
                let said: Vec<String> = invalid
                    .0
                    .iter()
                    .map(|(name, problem)| format!("parameter {name}: {problem}"))
                    .collect();
                self.aside(StatusFolder::Pending, name, &said.join("\n"))
                    .await
            }
            Err(error) => {
                self.aside(StatusFolder::Pending, name, &error.to_string())
                    .await
            }
        }
    }

    async fn arrived(
        &mut self,
        name: &Name,
        seen: FileStamp,
        dropped: &Dropped,
        proposal: &Proposal,
    ) -> Result<(), BridgeError> {
        let known = records::load_named(&self.control, &dropped.instance).await?;
        if known.is_some() {
            let note = format!("became {}", proposal.code);
            self.saw(dropped.instance.as_str(), None, "pending", &note);
            return self.sync(proposal.id, true).await;
        }
        // The same request waits already; this file was counted there and ends here.
        let (file, to) = (name.clone(), StatusFolder::Rejected);
        let content = render_joined(dropped, proposal, self.control.clock().now());
        self.disk(move |folder| {
            folder.put(Some((StatusFolder::Pending, seen)), to, &file, &content)
        })
        .await?;
        let note = format!("joined {}", proposal.code);
        self.saw(
            dropped.instance.as_str(),
            Some(StatusFolder::Pending),
            "rejected",
            &note,
        );
        Ok(())
    }
}
