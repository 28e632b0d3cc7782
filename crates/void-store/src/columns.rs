//! The names of a result's columns: made once for each text of a statement, shared by all of its rows.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// Where a column stands, by its name. A name that two columns have stands for neither: an alias tells them
/// apart.
///
/// A hash table of its own, because a proposal is some 45 look-ups: with the standard one, whose hash withstands
/// attackers, a row takes a sixth longer to read. Names are ours, and nobody attacks them.
#[derive(Debug)]
pub(crate) struct Columns {
    names: Box<[Box<str>]>,
    /// Positions in `names`, at the place of their hash or behind it. A power of two, most of them free, so that a
    /// search ends soon.
    slots: Box<[u16]>,
}

impl Columns {
    pub(crate) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let names: Box<[Box<str>]> = names.map(Box::from).collect();
        let size = (names.len() * SLOTS_PER_NAME).next_power_of_two();
        let mut slots = vec![FREE; size].into_boxed_slice();
        for (position, name) in (0..FREE).zip(&names) {
            let is_unique = names.iter().filter(|other| *other == name).count() == 1;
            let place = hash(name) & (size - 1);
            let (front, back) = slots.split_at_mut(place);
            let free = back.iter_mut().chain(front).find(|slot| **slot == FREE);
            if let (Some(slot), true) = (free, is_unique) {
                *slot = position;
            }
        }
        Self { names, slots }
    }

    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        let (first, mask) = (hash(name), self.slots.len() - 1);
        for step in 0..self.slots.len() {
            let slot = self.slots.get((first + step) & mask)?;
            let position = usize::from(*slot);
            // No name stands where a free slot points.
            if **self.names.get(position)? == *name {
                return Some(position);
            }
        }
        None
    }
}

const FREE: u16 = u16::MAX;
const SLOTS_PER_NAME: usize = 4;

/// Cheap, and different for most names of one table.
#[inline]
fn hash(name: &str) -> usize {
    let bytes = name.as_bytes();
    let byte = |at: usize| bytes.get(at).map_or(0, |byte| usize::from(*byte));
    let ends = byte(0) ^ (byte(bytes.len().wrapping_sub(1)) << 3);
    ends ^ (byte(bytes.len() / 2) << 1) ^ (bytes.len() << 5)
}

/// The columns of an engine's statements. A statement's text decides them, so they are asked for once.
///
/// Texts are constants, so what lies at an address never changes, and their number is bounded. The same text at two
/// addresses is asked for twice, and both are told the same: an address is only ever compared to find a text again.
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

    /// Names that share their place are told apart, in a table as full as it gets.
    #[test]
    fn names_with_the_same_hash_have_places_of_their_own() {
        let alike = ["axbxc", "aybxc", "azbxc", "axbyc"];
        assert!(alike.iter().all(|name| hash(name) == hash("axbxc")));
        let columns = Columns::new(alike.into_iter());
        for (position, name) in alike.into_iter().enumerate() {
            assert_eq!(columns.position(name), Some(position));
        }
        assert_eq!(columns.position("azbzc"), None);
        assert_eq!(Columns::new([].into_iter()).position("id"), None);
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
