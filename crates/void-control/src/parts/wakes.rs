//! Who is to be woken: told here when a cause was kept, heard by whoever looks after the processes of agents.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use void_domain::agents::AgentName;

#[derive(Default)]
pub(crate) struct Wakes {
    names: Mutex<BTreeSet<AgentName>>,
    told: Notify,
}

impl Wakes {
    /// However often somebody is told of before anybody listens, it is one word.
    pub(crate) fn tell(&self, name: &AgentName) {
        self.lock().insert(name.clone());
        self.told.notify_one();
    }

    /// Everybody who was told of since the last time, as soon as there is somebody.
    pub(crate) async fn next(&self) -> BTreeSet<AgentName> {
        loop {
            let told = std::mem::take(&mut *self.lock());
            if !told.is_empty() {
                return told;
            }
            self.told.notified().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<AgentName>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_is_told_of_often_is_woken_once() {
        let wakes = Wakes::default();
        let name = |text: &str| text.parse::<AgentName>().unwrap();
        for one in ["bob", "alice", "bob"] {
            wakes.tell(&name(one));
        }
        let told: Vec<AgentName> = wakes.next().await.into_iter().collect();
        assert_eq!(told, [name("alice"), name("bob")]);
        wakes.tell(&name("bob"));
        assert_eq!(wakes.next().await.len(), 1);
    }
}
