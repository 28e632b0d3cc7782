//! The measurements, one file each. Each returns what it found as JSON; `report` judges and prints.

pub(crate) mod audit;
pub(crate) mod deep;
pub(crate) mod disk;
pub(crate) mod mcp;
pub(crate) mod nodes;
pub(crate) mod process;
pub(crate) mod streams;
pub(crate) mod talk;
pub(crate) mod throughput;
