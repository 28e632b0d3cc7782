//! How the owner signs in on the web: passwords, passkeys and set-up links, and the sessions that they open. Who a
//! caller is, once they are known, says `void-control` (`callers`); nothing of this is needed to decide or to run.

pub mod credentials;
mod hashing;
mod owners;
pub mod passkeys;
pub mod passwords;
mod refusals;
pub mod sessions;
pub mod setup_links;

pub use owners::OwnerAccess;
