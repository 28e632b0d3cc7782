//! What this process is working on. A run that is here is not abandoned, and a stop waits for it.

use void_domain::ids::ProposalId;

use crate::control::{Control, Parts};
use crate::parts::executing::Executing;

/// Marks a run as being worked on here, until it is dropped.
pub(super) struct Working {
    control: Control,
    id: ProposalId,
    among: fn(&Parts) -> &Executing,
}

impl Working {
    /// `None` if somebody here works on it already.
    pub(super) fn on(control: &Control, id: ProposalId) -> Option<Self> {
        Self::among(control, id, |parts| &parts.runs.executing)
    }

    /// The same for its check, which a stop does not wait for.
    pub(super) fn checking(control: &Control, id: ProposalId) -> Option<Self> {
        Self::among(control, id, |parts| &parts.runs.checking)
    }

    fn among(control: &Control, id: ProposalId, among: fn(&Parts) -> &Executing) -> Option<Self> {
        let first = among(control).change(|ids| ids.insert(id));
        first.then(|| Self {
            control: control.clone(),
            id,
            among,
        })
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        (self.among)(&self.control).change(|ids| ids.remove(&self.id));
    }
}
