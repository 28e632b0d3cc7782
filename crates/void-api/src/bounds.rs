//! What texts and numbers on the wire look like: for the schemas here, and for the server's own checks.

/// The largest number that every JSON reader holds exactly.
pub const NUMBER_MAX: u64 = (1 << 53) - 1;
/// Text without a NUL, which no database of ours has to keep.
pub const PLAIN: &str = "^[^\\u0000]*$";
pub const UUID: &str = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";
pub const SLUG: &str = "^[a-z0-9][a-z0-9-]{0,63}$";
/// A name of a machine; one shorter, as it is a label of DNS.
pub const HOST: &str = "^[a-z0-9][a-z0-9-]{0,62}$";
pub const DIGEST: &str = "^[0-9a-f]{64}$";
/// As `openssl` and Proxmox print it, or without colons.
pub const FINGERPRINT: &str = "^([0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2}$";
