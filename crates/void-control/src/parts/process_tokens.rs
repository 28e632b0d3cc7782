//! Tokens of the agent processes that run here, by the hash of their text. They are in memory alone: with the process
//! its token ends, and with the server all of them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use void_domain::agents::AgentName;
use void_domain::digests::Digest;
use void_domain::ids::AgentId;

#[derive(Default)]
pub(crate) struct ProcessTokens {
    held: Mutex<HashMap<Digest, (AgentId, AgentName)>>,
    /// Told whenever one begins or ends.
    changed: watch::Sender<()>,
}

impl ProcessTokens {
    /// The only one of this agent from now on.
    pub(crate) fn give(&self, agent: AgentId, name: AgentName, hash: Digest) {
        let mut all = self.lock();
        all.retain(|_, (holder, _)| *holder != agent);
        all.insert(hash, (agent, name));
        drop(all);
        self.changed.send_replace(());
    }

    pub(crate) fn end(&self, name: &AgentName) {
        self.lock().retain(|_, (_, holder)| holder != name);
        self.changed.send_replace(());
    }

    /// The one that an agent has.
    pub(crate) fn held(&self, agent: AgentId) -> Option<Digest> {
        let all = self.lock();
        let mut all = all.iter();
        all.find_map(|(hash, (holder, _))| (*holder == agent).then_some(*hash))
    }

    /// Comes when the agent has another one than this, or none.
    pub(crate) async fn ended(&self, agent: AgentId, held: Option<Digest>) {
        let mut changed = self.changed.subscribe();
        while held.is_some() && self.held(agent) == held {
            // The sender lives as long as we do, so the wait cannot fail.
            let _ = changed.changed().await;
        }
    }

    /// Whose it is. A hash is compared, never the text, so the time that takes tells nothing about it.
    pub(crate) fn holder(&self, hash: Digest) -> Option<(AgentId, AgentName)> {
        self.lock().get(&hash).cloned()
    }

    pub(crate) fn has(&self, agent: AgentId) -> bool {
        self.lock().values().any(|(holder, _)| *holder == agent)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Digest, (AgentId, AgentName)>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use void_domain::time::Timestamp;

    use super::*;

    #[test]
    fn an_agent_has_one_and_after_its_end_none() {
        let tokens = ProcessTokens::default();
        let id = |n| AgentId::new(Timestamp::from_ms(1), [n; 10]);
        let name = |text: &str| text.parse::<AgentName>().unwrap();
        let hash = |text: &str| Digest::of(text.as_bytes());
        tokens.give(id(1), name("alice"), hash("a"));
        tokens.give(id(2), name("bob"), hash("b"));
        assert_eq!(tokens.holder(hash("a")), Some((id(1), name("alice"))));
        tokens.give(id(1), name("alice"), hash("c"));
        assert_eq!(tokens.holder(hash("a")), None);
        assert!(tokens.has(id(1)));
        tokens.end(&name("alice"));
        assert_eq!(tokens.holder(hash("c")), None);
        assert!(!tokens.has(id(1)));
        assert_eq!(tokens.holder(hash("b")), Some((id(2), name("bob"))));
    }

    #[tokio::test]
    async fn the_end_of_one_is_heard_whatever_comes_after_it() {
        let tokens = ProcessTokens::default();
        let (id, hash) = (
            AgentId::new(Timestamp::from_ms(1), [1; 10]),
            Digest::of(b"a"),
        );
        tokens.ended(id, None).await;
        tokens.give(id, "alice".parse().unwrap(), hash);
        let held = tokens.held(id);
        assert_eq!(held, Some(hash));
        let (ended, ()) = tokio::join!(
            tokio::time::timeout(std::time::Duration::from_secs(5), tokens.ended(id, held)),
            async { tokens.give(id, "alice".parse().unwrap(), Digest::of(b"b")) },
        );
        assert_eq!(ended, Ok(()));
    }
}
