//! The stop switch. Anyone may pull it; only the owner lets go.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Freeze {
    Thawed,
    Frozen(Frozen),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frozen {
    pub by: String,
    pub at: Timestamp,
    pub reason: Option<String>,
    /// Set only by the owner: when the freeze ends by itself.
    pub until: Option<Timestamp>,
}

impl Freeze {
    /// What holds at `now`: a freeze with an end is over once the end has come.
    pub fn holds_at(&self, now: Timestamp) -> bool {
        match self {
            Self::Thawed => false,
            Self::Frozen(frozen) => frozen.until.is_none_or(|until| now < until),
        }
    }
}

/// The freeze as permits see it: looked at once more right before the first byte goes out, so that
/// nothing starts after the switch, however long a connection took.
#[derive(Debug, Clone, Default)]
pub struct Brake(Arc<AtomicBool>);

impl Brake {
    pub fn pull(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    pub fn release(&self) {
        self.0.store(false, Ordering::SeqCst);
    }

    pub fn is_pulled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freeze_holds_until_its_end() {
        let frozen = |until| {
            Freeze::Frozen(Frozen {
                by: "owner-cli".into(),
                at: Timestamp::from_ms(10),
                reason: None,
                until,
            })
        };
        let now = Timestamp::from_ms(100);
        assert!(!Freeze::Thawed.holds_at(now));
        assert!(frozen(None).holds_at(now));
        assert!(frozen(Some(Timestamp::from_ms(101))).holds_at(now));
        assert!(!frozen(Some(now)).holds_at(now));
    }
}
