//! Exports built by an independent writer, then broken in every way we know.
//!
//! The modules are `cfg(test)` so that clippy counts their helpers as tests.

#[cfg(test)]
mod bytes;
#[cfg(test)]
mod command;
#[cfg(test)]
mod large;
#[cfg(test)]
mod logs;
#[cfg(test)]
mod spellings;
#[cfg(test)]
mod tampers;
