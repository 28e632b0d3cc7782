//! Personas: who speaks, and what they may when the owner has said nothing else. Each is a file, of ours or of
//! the owner's; one template makes the prompt, from the persona and the capabilities. Nothing else can enter it.

use std::sync::Arc;

use serde::Deserialize;
use void_domain::agents::{AgentName, RESERVED_NAMES, judge_grant};
use void_domain::capabilities::{Capabilities, Capability};
use void_domain::text;

const TEMPLATE: &str = include_str!("../personas/template.md");
const BUILTIN: [(&str, &str); 3] = [
    ("companion.toml", include_str!("../personas/companion.toml")),
    (
        "little-blue.toml",
        include_str!("../personas/little-blue.toml"),
    ),
    ("sentinel.toml", include_str!("../personas/sentinel.toml")),
];

const DRAFTS: &str = "- You may draft changes of what the owner keeps. You write nothing: every draft waits for the owner.";

const CHILDREN: &str = "- You may ask for agents below yourself, and for commits of their configs to be applied. Each waits for the owner.";
const INPUTS: &str = "- You may ask for pinned inputs to be moved. It waits for the owner.";

pub const PERSONA_BYTES_MAX: usize = 32 * 1024;
/// Ours and the owner's.
pub const PERSONAS_MAX: usize = 64;
const NAME_CHARS_MAX: usize = 64;
const ABOUT_CHARS_MAX: usize = 200;
/// What else no persona of the owner's is called where it speaks.
const TAKEN_DISPLAY_NAMES: [&str; 2] = ["Void", "You"];

#[derive(Debug)]
pub struct Persona {
    pub slug: AgentName,
    pub name: String,
    /// One line for lists.
    pub about: String,
    /// What it may when the owner has said nothing else.
    pub capabilities: Capabilities,
    text: String,
}

/// A file that is no persona; it says which.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the persona {}: {problem}", text::escaped(.file))]
pub struct InvalidPersona {
    pub file: String,
    pub problem: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PersonaFile {
    name: String,
    about: String,
    capabilities: Capabilities,
    text: String,
}

/// Everybody who can talk here, by name.
#[derive(Debug, Clone)]
pub struct Personas(Vec<Arc<Persona>>);

impl Personas {
    /// Those that come with Void.
    pub fn builtin() -> Result<Self, InvalidPersona> {
        let mut personas = Self(Vec::new());
        for (file, text) in BUILTIN {
            personas.add(file, text)?;
        }
        Ok(personas)
    }

    /// One more, from the text of a file called `NAME.toml`.
    pub fn add(&mut self, file: &str, text: &str) -> Result<(), InvalidPersona> {
        let invalid = |problem: String| InvalidPersona {
            file: file.to_owned(),
            problem,
        };
        if self.0.len() >= PERSONAS_MAX {
            return Err(invalid(format!("there are {PERSONAS_MAX} already")));
        }
        let persona = Persona::parse(file, text).map_err(&invalid)?;
        let like = self.0.iter().find(|one| one.slug.reads_like(&persona.slug));
        if let Some(like) = like {
            let problem = format!("its name reads like that of \"{}\"", like.slug);
            return Err(invalid(problem));
        }
        if self.is_shown_as_another(&persona.name) {
            return Err(invalid(
                "its name is shown as somebody else's is".to_owned(),
            ));
        }
        let at = self.0.partition_point(|one| one.slug < persona.slug);
        self.0.insert(at, Arc::new(persona));
        Ok(())
    }

    /// Whether people would read it as the name of one of ours, or of somebody who is no agent.
    fn is_shown_as_another(&self, name: &str) -> bool {
        let ours = self.0.iter().filter(|one| one.is_builtin());
        let mut taken = ours
            .map(|one| one.name.as_str())
            .chain(TAKEN_DISPLAY_NAMES)
            .chain(RESERVED_NAMES);
        let shown = display_letters(name);
        taken.any(|taken| display_letters(taken) == shown)
    }

    pub fn get(&self, slug: &str) -> Option<&Arc<Persona>> {
        self.0.iter().find(|persona| persona.slug.as_str() == slug)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<Persona>> {
        self.0.iter()
    }
}

/// What people compare of a name: its letters and digits, one for all that look alike.
fn display_letters(name: &str) -> Vec<char> {
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    letters
        .flat_map(char::to_lowercase)
        .map(|letter| match letter {
            '0' => 'o',
            '1' | 'l' => 'i',
            other => other,
        })
        .collect()
}

/// What is wrong and in which line, without the line: a file that is no persona may hold anything.
fn located(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start));
    let line = 1 + before.map_or(0, |before| before.matches('\n').count());
    let message = error.message().lines().next().unwrap_or_default();
    format!("line {line}: {message}")
}

impl Persona {
    fn is_builtin(&self) -> bool {
        let files = BUILTIN.iter().map(|(file, _)| file.strip_suffix(".toml"));
        files
            .into_iter()
            .any(|slug| slug == Some(self.slug.as_str()))
    }

    fn parse(file: &str, text: &str) -> Result<Self, String> {
        let slug = file.strip_suffix(".toml").unwrap_or_default();
        let slug: AgentName = slug
            .parse()
            .map_err(|error| format!("it is to be called NAME.toml, and {error}"))?;
        if slug.is_reserved() {
            return Err("this name is not a persona's to have".to_owned());
        }
        if text.len() > PERSONA_BYTES_MAX {
            return Err(format!("it is longer than {PERSONA_BYTES_MAX} bytes"));
        }
        let read: PersonaFile = toml::from_str(text).map_err(|error| located(text, &error))?;
        judge_grant(&read.capabilities).map_err(|error| error.to_string())?;
        let line = |member: &str, value: String, chars_max: usize| {
            let fits = (1..=chars_max).contains(&value.chars().count()) && !value.trim().is_empty();
            match fits && !value.contains(char::is_control) && text::escaped(&value) == value {
                true => Ok(value),
                false => Err(format!(
                    "{member} is one line of 1 to {chars_max} characters"
                )),
            }
        };
        if read.text.trim().is_empty() {
            return Err("text is empty".to_owned());
        }
        Ok(Self {
            slug,
            name: line("name", read.name, NAME_CHARS_MAX)?,
            about: line("about", read.about, ABOUT_CHARS_MAX)?,
            capabilities: read.capabilities,
            text: read.text,
        })
    }

    /// The system prompt. Its parts are constants, the persona's file and the set of capabilities, so no
    /// secret and no stranger's word can be in it.
    pub fn prompt(&self, capabilities: &Capabilities) -> String {
        let mut rights = Vec::new();
        if capabilities.has(Capability::Read) || capabilities.has(Capability::Suggest) {
            rights.push("- You may look at services, actions, proposals and what happened lately.");
        }
        if capabilities.has(Capability::AuditRead) {
            rights.push("- You may read the record: who did what and when, and what was refused.");
        }
        if capabilities.has(Capability::Act) {
            rights.push("- You may propose actions by their id. Safe ones run at once; risky ones wait for the owner.");
        } else {
            rights.push(
                "- You may not propose actions. If something should be done, say so to the owner.",
            );
        }
        if capabilities.has(Capability::Suggest) {
            rights.push(DRAFTS);
        }
        if capabilities.has(Capability::Spawn) {
            rights.push(CHILDREN);
        }
        if capabilities.has(Capability::MetaUpdate) {
            rights.push(INPUTS);
        }
        TEMPLATE
            .replace("{rights}", &rights.join("\n"))
            .replace("{persona}", self.text.trim())
    }
}

#[cfg(test)]
mod tests;
