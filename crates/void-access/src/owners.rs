//! What the ways to sign in share: the control plane, whose turn it is to have a password hashed, and how many
//! proofs were refused of late.

use std::sync::Arc;

use void_control::Control;

use crate::hashing::Hashing;
use crate::refusals::Refusals;

/// How the owner signs in. Cheap to clone; all clones are the same.
#[derive(Clone)]
pub struct OwnerAccess(Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) control: Control,
    /// Turns of whoever hashes a password.
    pub(crate) hashing: Hashing,
    pub(crate) refusals: Refusals,
    pub(crate) wrong_bearers: Refusals,
}

impl OwnerAccess {
    pub fn new(control: &Control) -> Self {
        Self(Arc::new(Shared {
            control: control.clone(),
            hashing: Hashing::default(),
            refusals: Refusals::default(),
            wrong_bearers: Refusals::default(),
        }))
    }

    /// The control plane whose owner signs in.
    pub fn control(&self) -> &Control {
        &self.0.control
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.0
    }
}
