//! `/api/pages/{id}/runbook`, and the runbooks of a service, an action and a proposal.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use void_domain::limits::RUNBOOK_NAMES_MAX;

use crate::actions::ActionResponse;
use crate::bounds::{NUMBER_MAX, SLUG};

/// A page that says that it is about this.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Runbook")]
pub struct RunbookResponse {
    pub page_id: String,
    /// null for an agent, where a stranger could have written it.
    pub title: Option<String>,
    /// A stranger could have written it, and the owner has not answered for it.
    pub foreign: bool,
    /// The first line that names what it is about, from 1; null if none does.
    pub line: Option<u64>,
    /// That line, word for word. The words are the page's, and nothing in them is Void's.
    pub says: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ActionWithRunbooks")]
pub struct ActionWithRunbooksResponse {
    #[serde(flatten)]
    pub action: ActionResponse,
    pub runbooks: Vec<RunbookResponse>,
}

/// What a page is about, all of it: what is left out it is not about any more.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RunbookOf", extend("required" = ["base_revision"]))]
pub struct SetRunbookRequest {
    /// The revision that was looked at.
    #[serde(default)]
    #[schemars(required, range(min = 1, max = NUMBER_MAX))]
    pub base_revision: Option<u64>,
    #[serde(default)]
    #[schemars(length(max = RUNBOOK_NAMES_MAX), inner(regex(pattern = SLUG)))]
    pub services: Vec<String>,
    #[serde(default)]
    #[schemars(length(max = RUNBOOK_NAMES_MAX), inner(regex(pattern = SLUG)))]
    pub actions: Vec<String>,
}
