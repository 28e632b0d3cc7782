//! Tokens of the agent processes that run here, by the hash of their text. They are in memory alone: with the process
//! its token ends, and with the server all of them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use void_domain::agents::AgentName;
use void_domain::digests::Digest;
use void_domain::ids::AgentId;

#[derive(Default)]
pub(crate) struct ProcessTokens(Mutex<HashMap<Digest, (AgentId, AgentName)>>);

impl ProcessTokens {
    /// The only one of this agent from now on.
    pub(crate) fn give(&self, agent: AgentId, name: AgentName, hash: Digest) {
        let mut all = self.lock();
        all.retain(|_, (holder, _)| *holder != agent);
        all.insert(hash, (agent, name));
    }

    pub(crate) fn end(&self, name: &AgentName) {
        self.lock().retain(|_, (_, holder)| holder != name);
    }

    /// Whose it is. A hash is compared, never the text, so the time that takes tells nothing about it.
    pub(crate) fn holder(&self, hash: Digest) -> Option<(AgentId, AgentName)> {
        self.lock().get(&hash).cloned()
    }

    pub(crate) fn has(&self, agent: AgentId) -> bool {
        self.lock().values().any(|(holder, _)| *holder == agent)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Digest, (AgentId, AgentName)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
}
