//! What `void inbox hold`, `veto` and `annotate` take.

use clap::Args;

#[derive(Debug, Clone, Args)]
pub(crate) struct HoldArgs {
    /// Its code, such as K7M2, or its id
    pub id: String,
    /// Why, in up to 500 bytes; it stands on the request
    #[arg(long)]
    pub reason: String,
}
