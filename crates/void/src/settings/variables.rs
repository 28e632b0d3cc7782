//! Variables of the environment that are likely not what was meant.

use void_domain::text;

use super::brains::BrainKind;
use super::environment::Environment;
use super::rows::Variable;
use super::table;

/// What `void config check` says about them; nothing here keeps Void from starting.
pub(crate) fn warnings(environment: &Environment) -> Vec<String> {
    let known: Vec<&str> = known().collect();
    let empty = known
        .iter()
        .filter(|name| environment.get(name) == Some(""))
        .map(|name| format!("{name} is set and empty: that counts as not set"));
    let misspelt = environment
        .names()
        .filter(|name| name.starts_with("VOID_") && !known.contains(name))
        .filter_map(|name| {
            let near = text::nearest(name, known.iter().copied())?;
            let name = text::escaped(text::cut(name, 64));
            Some(format!("{name} is read by nothing; did you mean {near}?"))
        });
    empty.chain(misspelt).collect()
}

fn known() -> impl Iterator<Item = &'static str> {
    let settings = table::rows().flat_map(|row| names(row.variable));
    let others = table::OTHER_VARIABLES.into_iter().map(|(name, _)| name);
    settings.chain(others)
}

/// The variables of a row, each once.
pub(super) fn names(variable: Variable) -> Vec<&'static str> {
    match variable {
        Variable::None => Vec::new(),
        Variable::OverFile(name) | Variable::UnderFile(name) => vec![name],
        Variable::OfBrain(of) => {
            let names = BrainKind::by_text(of).into_iter();
            names.map(|(name, _)| name).collect()
        }
    }
}
