//! What became of a change that was cut off. The commit in `meta` decides: with it, the steps that are left are done, and
//! without it nothing was changed.

use void_channels::Evidence;
use void_domain::agent_configs::{CommitId, ConfigFiles};
use void_domain::agents::AgentName;
use void_domain::changes::{Change, ChangeOp, ChangeTarget};
use void_domain::digests::Digest;
use void_domain::failures::FailureCode;
use void_domain::meta_locks::written_inputs;
use void_domain::proposals::Failure;

use super::deploys::{Deployment, Why, failure, held};
use super::writer::{Judged, Writing, read_failure};

impl Writing<'_> {
    pub(super) async fn settle(&self) -> Evidence {
        let settled = match (self.change.target, self.change.op) {
            (ChangeTarget::MetaInputs, _) => self.settle_pins().await,
            (ChangeTarget::AgentConfig, ChangeOp::Create) => self.settle_init().await,
            (ChangeTarget::AgentConfig, ChangeOp::Update) => self.settle_apply().await,
            _ => Err(failure(FailureCode::NoEvidence, "nothing is known of it")),
        };
        settled.unwrap_or_else(Evidence::None)
    }

    async fn settle_pins(&self) -> Result<Evidence, Failure> {
        let (tree, kept) = held(self.control).await?;
        let now = Digest::of(written_inputs(&tree.lock.inputs).as_bytes());
        if now == self.change.result {
            if let Some(folder) = kept.as_ref() {
                self.pinning(folder).record_again().await?;
            }
            let result = self.pinned_result();
            return Ok(Evidence::Done { result });
        }
        Ok(unless_done(self.change, Some(now.to_string())))
    }

    async fn settle_init(&self) -> Result<Evidence, Failure> {
        let agent = self.agent()?;
        let folders = self.folders(&agent)?;
        let (tree, kept) = held(self.control).await?;
        let Some(folder) = kept.as_ref() else {
            return Err(failure(FailureCode::TreeBroken, "no repository"));
        };
        let Some(commit) = tree.lock.agents.get(&agent) else {
            // Nobody has it: what was begun beside its place goes.
            if let Err(error) = std::fs::remove_dir_all(folders.begun()) {
                tracing::debug!(%error, "nothing was begun");
            }
            return Ok(unless_done(self.change, None));
        };
        let is_in_place = std::fs::symlink_metadata(folders.config()).is_ok();
        let repository = match is_in_place {
            true => folders.repository(folder),
            false => folders.begun_repository(folder),
        };
        let files = repository.read(commit).await.map_err(read_failure)?;
        if files.digest() != self.change.result {
            return Ok(unless_done(self.change, Some(commit.to_string())));
        }
        let judged = self.judged_files(&tree, files).await?;
        let making = self.making(folder, &agent, commit, &judged);
        making.finish().await?;
        let result = self.made_result(&agent, commit);
        Ok(Evidence::Done { result })
    }

    async fn settle_apply(&self) -> Result<Evidence, Failure> {
        let (agent, commit) = (self.agent()?, self.commit()?);
        {
            let (tree, kept) = held(self.control).await?;
            let Some(folder) = kept.as_ref() else {
                return Err(failure(FailureCode::TreeBroken, "no repository"));
            };
            let applied = tree.lock.agents.get(&agent);
            if applied != Some(&commit) {
                let base = self.base();
                if applied == base.as_ref()
                    && let Some(files) = self.files_of(folder, &agent, base.as_ref()).await?
                {
                    // A crash while it was rolled back may have left the files of the other one.
                    let put = self.folders(&agent)?.applied().put(&agent, &files);
                    put.map_err(|error| failure(FailureCode::NotWritten, error.to_string()))?;
                }
                return Ok(unless_done(self.change, applied.map(CommitId::to_string)));
            }
            let repository = self.folders(&agent)?.repository(folder);
            let judged = self.judged(&tree, &repository, &commit).await?;
            let applying = self.applying(folder, &agent, &commit, &judged);
            applying.finish().await?;
        }
        match self.restart(self.base()).await {
            Ok(result) => Ok(Evidence::Done { result }),
            Err(failure) => Ok(Evidence::Failed(failure)),
        }
    }

    fn base(&self) -> Option<CommitId> {
        let base = self.change.base.as_deref();
        base.and_then(|base| CommitId::parse(base).ok())
    }

    async fn files_of(
        &self,
        folder: &void_channels::MetaFolder,
        agent: &AgentName,
        commit: Option<&CommitId>,
    ) -> Result<Option<ConfigFiles>, Failure> {
        let Some(commit) = commit else {
            return Ok(None);
        };
        let repository = self.folders(agent)?.repository(folder);
        let files = repository.read(commit).await.map_err(read_failure)?;
        Ok(Some(files))
    }

    fn applying<'a>(
        &'a self,
        folder: &'a void_channels::MetaFolder,
        agent: &'a AgentName,
        commit: &'a CommitId,
        judged: &'a Judged,
    ) -> Deployment<'a> {
        Deployment {
            why: Why::Applied,
            ..self.making(folder, agent, commit, judged)
        }
    }
}

/// What it was made against is what there is: it was not done, or was rolled back. Anything else is nobody's to say.
fn unless_done(change: &Change, now: Option<String>) -> Evidence {
    match now == change.base {
        true => Evidence::Failed(failure(
            FailureCode::NotWritten,
            "it is not in force: it was not applied, or was rolled back as the log of meta says",
        )),
        false => Evidence::None(failure(
            FailureCode::NoEvidence,
            "what is in force is neither what it was made against nor what was approved",
        )),
    }
}
