//! What others make of the things that are in force. Those are read once at the start, so it is made once too.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// One value of each type.
#[derive(Default)]
pub(crate) struct Derived(Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl Derived {
    pub(crate) fn get<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = made.get(&TypeId::of::<T>()).cloned();
        if let Some(Ok(known)) = known.map(Arc::downcast) {
            return known;
        }
        let value = Arc::new(make());
        made.insert(TypeId::of::<T>(), Arc::<T>::clone(&value));
        value
    }
}
