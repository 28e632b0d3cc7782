//! The measurements, one file each. Each returns what it found as JSON; `report` judges and prints.

pub(crate) mod audit;
pub(crate) mod copies;
pub(crate) mod deep;
pub(crate) mod disk;
pub(crate) mod instances;
pub(crate) mod knowledge;
mod lists;
pub(crate) mod local;
pub(crate) mod mcp;
pub(crate) mod nodes;
pub(crate) mod process;
pub(crate) mod reads;
pub(crate) mod streams;
pub(crate) mod talk;
pub(crate) mod throughput;
pub(crate) mod tree;
