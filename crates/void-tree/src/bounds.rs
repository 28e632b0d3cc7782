//! How much a tree holds.

use void_domain::agents::AGENTS_MAX;

/// Far more than [`MEMBERS_MAX`] names with their parents take.
pub const TOPOLOGY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// As many as there can be agents.
pub const MEMBERS_MAX: usize = AGENTS_MAX as usize;

/// How many generations may stand below the root.
pub const DEPTH_MAX: u8 = 64;

/// The allow-list of mailboxes, and how many ways it may have.
pub const ROUTES_BYTES_MAX: usize = 1024 * 1024;
pub const ROUTES_MAX: usize = 10_000;
