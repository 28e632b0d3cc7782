//! Reading files that people write by hand: every problem at once, each with its line and a way out.

mod fields;
mod problems;
mod source;

pub(crate) use fields::ObjectFields;
#[cfg(test)]
pub(crate) use problems::PROBLEMS_MAX;
pub(crate) use problems::Problems;
pub use problems::{Problem, Severity};
#[cfg(test)]
pub(crate) use source::MEMBERS_MAX;
pub(crate) use source::{SourceContent, SourceNode, read};
