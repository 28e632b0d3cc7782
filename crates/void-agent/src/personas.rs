//! Personas: who speaks, with which tools. Each has a file of its own; one template makes the prompt,
//! from the persona and the capabilities. Nothing else can enter it.

use void_domain::capabilities::{Capabilities, Capability};

use crate::tools::Registry;

const TEMPLATE: &str = include_str!("../personas/template.md");

pub struct Persona {
    pub slug: &'static str,
    pub name: &'static str,
    /// One line for lists.
    pub about: &'static str,
    /// The registry of its tools.
    pub registry: &'static str,
    /// What it may when the owner has said nothing else.
    pub capabilities: &'static [Capability],
    text: &'static str,
}

pub static PERSONAS: [Persona; 2] = [
    Persona {
        slug: "little-blue",
        name: "Little Blue",
        about: "The caretaker: sees what is wrong, offers what helps, does what you order",
        registry: "blue",
        capabilities: &[Capability::Read, Capability::Act],
        text: include_str!("../personas/little-blue.md"),
    },
    Persona {
        slug: "sentinel",
        name: "Sentinel",
        about: "Security: reads the record and explains it; never acts",
        registry: "security",
        capabilities: &[Capability::Read],
        text: include_str!("../personas/sentinel.md"),
    },
];

impl Persona {
    pub fn named(slug: &str) -> Option<&'static Self> {
        PERSONAS.iter().find(|persona| persona.slug == slug)
    }

    /// Every persona names a registry that exists, and a test says so; without one it could do nothing.
    pub fn tools(&self) -> &'static Registry {
        Registry::named(self.registry).unwrap_or(&Registry::NONE)
    }

    /// The system prompt. Its parts are constants and the set of capabilities, so no secret and no
    /// stranger's word can be in it.
    pub fn prompt(&self, capabilities: &Capabilities) -> String {
        let mut rights = Vec::new();
        if capabilities.has(Capability::Read) {
            rights.push("- You may look at services, actions, proposals and the record.");
        }
        if capabilities.has(Capability::Act) {
            rights.push("- You may propose actions by their id. Safe ones run at once; risky ones wait for the owner.");
        } else {
            rights.push(
                "- You may not propose actions. If something should be done, say so to the owner.",
            );
        }
        TEMPLATE
            .replace("{persona}", self.text.trim())
            .replace("{rights}", &rights.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_persona_has_its_tools() {
        for persona in &PERSONAS {
            assert!(
                Registry::named(persona.registry).is_some(),
                "{}",
                persona.slug
            );
        }
    }

    #[test]
    fn a_prompt_says_what_its_capabilities_are_and_nothing_more() {
        for persona in &PERSONAS {
            let acting = persona.prompt(&[Capability::Read, Capability::Act].into_iter().collect());
            let reading = persona.prompt(&[Capability::Read].into_iter().collect());
            assert!(acting.contains("You may propose actions"), "{acting}");
            assert!(reading.contains("You may not propose"), "{reading}");
            for prompt in [&acting, &reading] {
                assert!(!prompt.contains('{'), "{prompt}");
                assert!(prompt.contains(persona.name), "{prompt}");
            }
        }
    }

    /// Whatever an agent may, every line of its prompt stands in a file of ours or in this one.
    #[test]
    fn nothing_but_constants_and_capabilities_enters_a_prompt() {
        let rights = [
            "- You may look at services, actions, proposals and the record.",
            "- You may propose actions by their id. Safe ones run at once; risky ones wait for the owner.",
            "- You may not propose actions. If something should be done, say so to the owner.",
        ];
        for persona in &PERSONAS {
            let ours: Vec<&str> = TEMPLATE
                .lines()
                .chain(persona.text.lines())
                .chain(rights)
                .collect();
            for set in 0..1_u32 << Capability::ALL.len() {
                let all = Capability::ALL.into_iter().enumerate();
                let held = all.filter(|(n, _)| set & (1 << n) != 0);
                let capabilities = held.map(|(_, capability)| capability).collect();
                let prompt = persona.prompt(&capabilities);
                for line in prompt.lines() {
                    assert!(ours.contains(&line), "{line}");
                }
                let may_act = prompt.contains("You may propose actions");
                assert_eq!(may_act, capabilities.has(Capability::Act));
            }
        }
    }
}
