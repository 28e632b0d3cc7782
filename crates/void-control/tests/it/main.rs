//! The use cases of proposals without a server: a control plane on SQLite and on PostgreSQL, with the real
//! `void-act` as the machine and a clock that the test moves. One file per use case.

#![allow(
    clippy::allow_attributes,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    unreachable_pub,
    reason = "tests stop at the first surprise"
)]

#[macro_use]
mod stories;

mod busy;
mod callers;
mod changes;
mod decide;
mod draft_decisions;
mod draft_edits;
mod draft_marks;
mod embeddings;
mod expire;
mod finish;
mod freezes;
mod instances;
mod knowledge;
mod knowledge_drafts;
mod knowledge_search;
mod links;
mod machines;
mod offers;
mod planes;
mod propose;
mod record;
mod recover;
mod requests;
mod residents;
mod runbooks;
mod settle;
mod spaces;
mod start;
mod together;
mod tree;
mod vaults;
mod verify;
mod withdrawals;

mod work_trees;
