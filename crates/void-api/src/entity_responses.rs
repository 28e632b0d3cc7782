//! An entity of whichever kind, as an answer has it.

use serde::{Deserialize, Serialize};

use crate::pages::PageResponse;
use crate::projects::ProjectResponse;
use crate::refs::RefResponse;
use crate::spaces::SpaceResponse;
use crate::tasks::TaskResponse;

/// Any of the five, each with the members of its own kind.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EntityResponse {
    // Each has a member that those below it lack.
    Space(Box<SpaceResponse>),
    Task(Box<TaskResponse>),
    Ref(Box<RefResponse>),
    Page(Box<PageResponse>),
    Project(Box<ProjectResponse>),
}
