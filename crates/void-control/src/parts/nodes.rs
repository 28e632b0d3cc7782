//! What is stored of each node that polls here, so that a poll with nothing new writes nothing.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use void_domain::nodes::Presence;

/// What is stored of each node that polls here, so that a poll with nothing new writes nothing.
#[derive(Default)]
pub(crate) struct StoredNodes(pub(crate) Mutex<HashMap<String, Presence>>);

impl StoredNodes {
    pub(crate) fn get(&self, node: &str) -> Option<Presence> {
        let stored = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stored.get(node).cloned()
    }

    pub(crate) fn set(&self, node: &str, presence: Option<Presence>) {
        let mut stored = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match presence {
            Some(presence) => stored.insert(node.to_owned(), presence),
            None => stored.remove(node),
        };
    }
}
