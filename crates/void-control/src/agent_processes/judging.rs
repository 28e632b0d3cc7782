//! Who may do what to an agent's process: the owner, and whoever [`tree::right_now`] says, by the tree in force at that
//! moment. A freeze is no time for agents to start or change each other; ending one, and reading what it wrote, is.

use void_domain::agents::AgentName;
use void_store::StoreError;
use void_tree::{Operation, Right};

use super::AgentProcessError;
use super::house::House;
use crate::context::Ctx;
use crate::{freezes, tree};

impl House {
    /// Whoever may not is not told whether there is such an agent.
    pub(super) async fn judge(
        &self,
        ctx: &Ctx,
        operation: Operation,
        name: &AgentName,
    ) -> Result<(), AgentProcessError> {
        if ctx.actor.is_owner() {
            return self.judge_place(name).await;
        }
        self.tree().await;
        match tree::right_now(&self.control, ctx, operation, name).await? {
            Right::Alone => {}
            // Nobody can be asked for a nod to it.
            Right::WithNod | Right::Never => {
                let name = name.clone();
                return Err(AgentProcessError::NotAbove { operation, name });
            }
        }
        self.judge_place(name).await?;
        match is_held_by_a_freeze(operation) && self.is_frozen().await? {
            true => Err(AgentProcessError::Frozen),
            false => Ok(()),
        }
    }

    async fn is_frozen(&self) -> Result<bool, StoreError> {
        let control = self.control.clone();
        let now = control.clock.now();
        self.control
            .store
            .read(move |tx| Box::pin(async move { freezes::holds(tx, &control, now).await }))
            .await
    }
}

fn is_held_by_a_freeze(operation: Operation) -> bool {
    !matches!(operation, Operation::Kill | Operation::GetLogs)
}
