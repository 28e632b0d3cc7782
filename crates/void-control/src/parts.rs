//! What a control plane keeps in memory, one file a part. Nothing here knows a use case or [`crate::Control`]:
//! use cases ask for the part that they need by its name.

pub(crate) mod bounds;
pub(crate) mod change_writers;
pub(crate) mod derived;
pub(crate) mod drafting;
pub(crate) mod embeddings;
pub(crate) mod executing;
pub(crate) mod halted;
pub(crate) mod hub;
pub(crate) mod in_force;
pub(crate) mod instances;
pub(crate) mod lab;
pub(crate) mod listeners;
pub(crate) mod nodes;
pub(crate) mod offers;
pub(crate) mod owner_token;
pub(crate) mod process;
pub(crate) mod process_tokens;
pub(crate) mod readiness;
pub(crate) mod refusal_counts;
pub(crate) mod remembered;
pub(crate) mod row_budgets;
pub(crate) mod runs;
pub(crate) mod safekeeping;
pub(crate) mod sizes;
pub(crate) mod stops;
pub(crate) mod tree;
pub(crate) mod waiters;
pub(crate) mod watch;
pub(crate) mod witness;
