//! A child of this server: this very program, which confines itself.

use std::path::PathBuf;

use super::{Driver, Launch, NotLaunched, plan};
use crate::orders::Order;

#[derive(Debug, Clone)]
pub struct ProcessDriver {
    pub program: PathBuf,
    /// The words that lead to `run_agent`.
    pub words: Vec<&'static str>,
}

impl Driver for ProcessDriver {
    fn launch(&self, order: &Order) -> Result<Launch, NotLaunched> {
        let plan = plan(order, std::process::id(), |mounted| {
            mounted.folder.path.clone()
        });
        plan.to_line()?;
        Ok(Launch {
            program: self.program.clone(),
            arguments: self.words.iter().map(Into::into).collect(),
            environment: order.facts.environment(),
            plan,
        })
    }
}
