//! How much a tree holds.

use void_domain::agents::AGENTS_MAX;

/// Far more than [`MEMBERS_MAX`] names with their parents take.
pub const TOPOLOGY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// As many as there can be agents.
pub const MEMBERS_MAX: usize = AGENTS_MAX as usize;

/// How many generations may stand below the root.
pub const DEPTH_MAX: u8 = 64;
