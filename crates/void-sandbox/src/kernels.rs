//! What of the sandbox the kernel can hold. Landlock came in steps, and each has a number; what an older kernel
//! lacks is named in words, never passed over.

use std::fmt;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    Scope,
};

/// The step from which on nothing is missing.
const COMPLETE: ABI = ABI::V6;

/// A fence that only Landlock holds, or that it holds first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fence {
    /// Which files and folders can be opened, made, renamed and removed.
    Files,
    /// Which files can be emptied. The filter of system calls refuses it as well.
    Truncation,
    /// Which TCP ports can be connected to, and that none can be listened on.
    Network,
    /// Commands to devices. No device is in reach.
    Devices,
    /// Signals and abstract sockets of other processes. The filter refuses them as well.
    Others,
}

impl Fence {
    const ALL: [Self; 5] = [
        Self::Files,
        Self::Truncation,
        Self::Network,
        Self::Devices,
        Self::Others,
    ];

    fn since(self) -> ABI {
        match self {
            Self::Files => ABI::V1,
            Self::Truncation => ABI::V3,
            Self::Network => ABI::V4,
            Self::Devices => ABI::V5,
            Self::Others => ABI::V6,
        }
    }

    /// What is open without it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Files => "files outside of its folders",
            Self::Truncation => "emptying files (Landlock from Linux 6.2)",
            Self::Network => "connections to other ports (Landlock from Linux 6.7)",
            Self::Devices => "commands to devices (Landlock from Linux 6.10)",
            Self::Others => "signals to other processes (Landlock from Linux 6.12)",
        }
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// How far the kernel's Landlock goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel {
    landlock: ABI,
}

impl Kernel {
    /// Asks it, and changes nothing.
    #[must_use]
    pub fn of_this_machine() -> Self {
        let steps = [ABI::V1, ABI::V2, ABI::V3, ABI::V4, ABI::V5, ABI::V6];
        let known = steps.into_iter().rev().find(|step| knows(*step));
        Self {
            landlock: known.unwrap_or(ABI::Unsupported),
        }
    }

    /// The same kernel with an older Landlock; 0 has none.
    #[must_use]
    pub fn no_newer_than(self, step: i32) -> Self {
        let landlock = self.landlock.min(ABI::from(step));
        Self { landlock }
    }

    /// What it cannot hold; nothing from Linux 6.12 on.
    #[must_use]
    pub fn missing(self) -> Vec<Fence> {
        let missing = |fence: &Fence| fence.since() > self.landlock;
        Fence::ALL.into_iter().filter(missing).collect()
    }

    pub(crate) fn landlock(self) -> ABI {
        self.landlock.min(COMPLETE)
    }
}

fn knows(step: ABI) -> bool {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(step));
    let ruleset = match ruleset {
        Ok(ruleset) if step >= ABI::V4 => ruleset.handle_access(AccessNet::from_all(step)),
        asked => asked,
    };
    let ruleset = match ruleset {
        Ok(ruleset) if step >= ABI::V6 => ruleset.scope(Scope::from_all(step)),
        asked => asked,
    };
    ruleset.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_older_kernel_lacks_is_named() {
        let newest = Kernel { landlock: ABI::V7 };
        let missing = |step| newest.no_newer_than(step).missing();
        use Fence::{Devices, Files, Network, Others, Truncation};
        assert_eq!(missing(0), [Files, Truncation, Network, Devices, Others]);
        assert_eq!(missing(1), [Truncation, Network, Devices, Others]);
        assert_eq!(missing(2), [Truncation, Network, Devices, Others]);
        assert_eq!(missing(3), [Network, Devices, Others]);
        assert_eq!(missing(4), [Devices, Others]);
        assert_eq!(missing(5), [Others]);
        for step in 6..12 {
            assert_eq!(missing(step), []);
        }
    }

    #[test]
    fn an_older_kernel_is_never_made_newer() {
        let old = Kernel { landlock: ABI::V3 };
        assert_eq!(old.no_newer_than(9), old);
    }
}
