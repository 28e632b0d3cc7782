//! Files for a Void that has none yet: a catalogue with one action on the machine that Void lives on, and a
//! services file that watches what the action restarts. They are as valid as any other; the page shows them
//! and the command line prints them. The action is risky, so that a first run waits for its owner.

use crate::executions;
use crate::ids::is_slug;

const SLUG_BYTES_MAX: usize = 48;

// Short lines: they are read on phones too.
const CATALOGUE: &str = r#"{"actions": [{
  "id": "restart-SLUG",
  "label": "Restart NAME",
  "kind": "service_restart",
  "host": "local",
  "service": "NAME",
  "tier": "risky",
  "verify": {"service": "SLUG"}
}]}
"#;

const SERVICES: &str = r#"{"services": [{
  "id": "SLUG",
  "label": "NAME",
  "host": "local",
  "check": {
    "kind": "tcp",
    "address": "127.0.0.1:PORT"
  }
}]}
"#;

/// The two files for one service of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Starter {
    name: String,
    slug: String,
}

impl Starter {
    /// `None` for what a catalogue does not take as the name of a service.
    pub fn for_service(name: &str) -> Option<Self> {
        if !executions::is_service_name(name) {
            return None;
        }
        let bare = name.strip_suffix(".service").unwrap_or(name);
        let slug: String = bare
            .chars()
            .take(SLUG_BYTES_MAX)
            .map(|letter| match letter.to_ascii_lowercase() {
                plain @ ('a'..='z' | '0'..='9') => plain,
                _ => '-',
            })
            .collect();
        is_slug(&slug).then(|| Self {
            name: name.to_owned(),
            slug,
        })
    }

    pub fn catalogue(&self) -> String {
        self.fill(CATALOGUE)
    }

    pub fn services(&self, port: u16) -> String {
        self.fill(&SERVICES.replace("PORT", &port.to_string()))
    }

    fn fill(&self, text: &str) -> String {
        // The name last: it may hold any of the words.
        text.replace("SLUG", &self.slug).replace("NAME", &self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::Starter;
    use crate::catalogue::{Catalogue, Lockout};
    use crate::services::Services;

    #[test]
    fn both_files_are_valid_and_belong_together() {
        for (name, id) in [
            ("caddy", "caddy"),
            ("caddy.service", "caddy"),
            ("wg-quick@wg0:1.service", "wg-quick-wg0-1"),
            ("PORT", "port"),
            ("NAME", "name"),
            ("Jellyfin", "jellyfin"),
            (&"x".repeat(128), &"x".repeat(48)),
        ] {
            let starter = Starter::for_service(name).unwrap();
            let catalogue = Catalogue::parse(&starter.catalogue(), &Lockout::default()).unwrap();
            assert_eq!(catalogue.warnings(), [], "{name}");
            let action = catalogue.actions().next().unwrap();
            assert_eq!(action.id.as_str(), format!("restart-{id}"));
            assert_eq!(action.execution.verify.as_deref(), Some(id));
            let services = Services::parse(&starter.services(80)).unwrap();
            assert_eq!(services.get(id).unwrap().label, name);
        }
    }

    #[test]
    fn what_is_no_service_has_no_starter() {
        for name in [
            "",
            "-x",
            "a b",
            "a\"b",
            "a\nb",
            "../x",
            "é",
            &"x".repeat(129),
        ] {
            assert_eq!(Starter::for_service(name), None, "{name:?}");
        }
    }
}
