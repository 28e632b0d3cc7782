//! Agents that talk. It has neither machines nor SQL: whatever an agent wants done, it proposes.

pub mod agents;
pub mod brains;
pub mod gateway;
pub mod personas;
pub mod tools;
pub mod turns;
