//! The tree against a walk from child to parent, in random forests, and the table of rights in words of its own.
//!
//! The modules are `cfg(test)` so that clippy counts their helpers as tests.

#[cfg(test)]
mod differences;
#[cfg(test)]
mod forests;
#[cfg(test)]
mod malformed;
#[cfg(test)]
mod moves;
#[cfg(test)]
mod reconciling;
#[cfg(test)]
mod relations;
#[cfg(test)]
mod rights;
#[cfg(test)]
mod routes;
