//! The names of a result's columns: made once for each text of a statement, shared by all of its rows.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// Where a column stands, by its name. A name that two columns have stands for neither: an alias tells them
/// apart.
#[derive(Debug)]
pub(crate) struct Columns {
    positions: HashMap<Box<str>, usize>,
}

impl Columns {
    pub(crate) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let names: Vec<&str> = names.collect();
        let is_unique = |name: &str| names.iter().filter(|other| **other == name).count() == 1;
        let positions = names
            .iter()
            .enumerate()
            .filter(|(_, name)| is_unique(name))
            .map(|(position, name)| (Box::from(*name), position))
            .collect();
        Self { positions }
    }

    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }
}

/// The columns of an engine's statements. A statement's text decides them, so they are asked for once.
///
/// Texts are constants, so their address stands for them, and their number is bounded.
#[derive(Default)]
pub(crate) struct ColumnsCache {
    known: RwLock<HashMap<(usize, usize), Arc<Columns>>>,
}

impl ColumnsCache {
    pub(crate) fn of(&self, sql: &'static str, ask: impl FnOnce() -> Columns) -> Arc<Columns> {
        let key = (sql.as_ptr().addr(), sql.len());
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(columns) = known.get(&key) {
            return Arc::clone(columns);
        }
        drop(known);
        let columns = Arc::new(ask());
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(key, Arc::clone(&columns));
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_one_column_or_none() {
        let columns = Columns::new(["id", "name", "kind", "name"].into_iter());
        assert_eq!(columns.position("id"), Some(0));
        assert_eq!(columns.position("kind"), Some(2));
        assert_eq!(columns.position("name"), None, "two columns have it");
        assert_eq!(columns.position("verb"), None);
    }

    #[test]
    fn a_statement_is_asked_for_its_columns_once() {
        let cache = ColumnsCache::default();
        let first = cache.of("SELECT id", || Columns::new(["id"].into_iter()));
        let again = cache.of("SELECT id", || panic!("they are known"));
        assert!(Arc::ptr_eq(&first, &again));
        let other = cache.of("SELECT name", || Columns::new(["name"].into_iter()));
        assert_eq!(other.position("name"), Some(0));
    }
}
