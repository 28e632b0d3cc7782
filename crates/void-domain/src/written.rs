//! Reading files that people write by hand: every problem at once, each with its line and a way out.

mod fields;
mod problems;
mod source;

pub(crate) use fields::Fields;
pub(crate) use problems::Problems;
pub use problems::{Problem, Severity};
pub(crate) use source::{SourceContent, SourceNode, read};
