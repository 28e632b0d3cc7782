//! The built `void-act` against real files and real processes. Effects are counted outside of it.
//!
//! The suite runs as root, because who owns a file is part of what it tests, and needs `strace`.

#[cfg(test)]
mod answers;
#[cfg(test)]
mod arguments;
#[cfg(test)]
mod brakes;
mod counts;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod journals;
#[cfg(test)]
mod lab;
#[cfg(test)]
mod lists;
#[cfg(test)]
mod old_journals;
#[cfg(test)]
mod pruning;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod tickets;
#[cfg(test)]
mod vectors;
