//! Turns in a real control plane: their limits, their ends, and what is on the record afterwards.

mod budgets;
mod crashes;
mod ends;
mod identities;
mod instances;
mod limits;
mod listeners;
mod passes;
mod retries;
mod taints;
mod truths;
