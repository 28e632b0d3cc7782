//! Plans as a person reads them: one line a step, then the sums. Names are shown with what deceives escaped.

use std::fmt;

use super::{ExportPlan, ImportPlan};

impl<K> fmt::Display for ImportPlan<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.create {
            let kind = step.file.kind.as_str();
            writeln!(f, "create    {} ({kind})", step.file.path)?;
        }
        for step in &self.update {
            writeln!(f, "update    {}", step.path)?;
        }
        for step in &self.rename {
            writeln!(f, "rename    {} -> {}", step.from, step.to)?;
        }
        for step in &self.gone {
            writeln!(f, "gone      {}", step.path)?;
        }
        for conflict in &self.conflicts {
            writeln!(f, "conflict  {}: {}", conflict.path, conflict.reason)?;
        }
        writeln!(
            f,
            "{} to create, {} to update, {} to rename, {} gone, {} in conflict, {} unchanged",
            self.create.len(),
            self.update.len(),
            self.rename.len(),
            self.gone.len(),
            self.conflicts.len(),
            self.unchanged.len()
        )
    }
}

impl<K> fmt::Display for ExportPlan<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.write {
            let verb = match step.replaces {
                Some(_) => "replace ",
                None => "write   ",
            };
            writeln!(f, "{verb}  {}", step.path)?;
        }
        for (path, conflict) in &self.conflicts {
            writeln!(f, "conflict  {path}: {conflict}")?;
        }
        writeln!(
            f,
            "{} to write, {} in conflict, {} unchanged",
            self.write.len(),
            self.conflicts.len(),
            self.unchanged.len()
        )
    }
}
