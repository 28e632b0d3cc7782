//! The table `projects`. A project has nothing of its own beside its title and its text.

use crate::entity_tables::{EntityTable, entity_table};

pub(crate) const TABLE: EntityTable = entity_table!("projects", "", "", "");
