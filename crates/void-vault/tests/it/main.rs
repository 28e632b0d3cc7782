//! Vaults on a real file system: random ones, hostile ones, and what comes of them in and out.
//!
//! The modules are `cfg(test)` so that clippy counts their helpers as tests.

#[cfg(test)]
mod folders;
#[cfg(test)]
mod round_trips;
#[cfg(test)]
mod vaults;
