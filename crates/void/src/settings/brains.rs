//! The kinds of brain that the settings can name, and what goes by the kind: the variables that hold its key and
//! address, its usual address, and the default model.

/// The model of Anthropic's API where nobody names another; no other file repeats the name.
const ANTHROPIC_MODEL: &str = "claude-sonnet-4-5";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BrainKind {
    Builtin,
    Anthropic,
    OpenAi,
    Ollama,
    Claude,
}

impl BrainKind {
    pub(super) const ALL: [Self; 5] = [
        Self::Builtin,
        Self::Anthropic,
        Self::OpenAi,
        Self::Ollama,
        Self::Claude,
    ];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Ollama => "ollama",
            Self::Claude => "claude",
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// What goes by the brain: each text once, with the brains that it is for.
    pub(super) fn by_text(
        of: fn(Self) -> Option<&'static str>,
    ) -> Vec<(&'static str, Vec<&'static str>)> {
        let mut texts: Vec<(&str, Vec<&str>)> = Vec::new();
        for brain in Self::ALL {
            let Some(text) = of(brain) else {
                continue;
            };
            match texts.iter_mut().find(|(known, _)| *known == text) {
                Some((_, brains)) => brains.push(brain.as_str()),
                None => texts.push((text, vec![brain.as_str()])),
            }
        }
        texts
    }

    pub(super) const fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::Builtin | Self::Ollama => None,
            Self::Anthropic | Self::Claude => Some("ANTHROPIC_API_KEY"),
            Self::OpenAi => Some("OPENAI_API_KEY"),
        }
    }

    pub(super) const fn url_variable(self) -> Option<&'static str> {
        match self {
            Self::Builtin => None,
            Self::Anthropic | Self::Claude => Some("ANTHROPIC_BASE_URL"),
            Self::OpenAi => Some("OPENAI_BASE_URL"),
            Self::Ollama => Some("OLLAMA_HOST"),
        }
    }

    pub(super) const fn url_default(self) -> Option<&'static str> {
        match self {
            Self::Builtin => None,
            Self::Anthropic | Self::Claude => Some("https://api.anthropic.com"),
            Self::OpenAi => Some("https://api.openai.com/v1"),
            Self::Ollama => Some("127.0.0.1"),
        }
    }

    pub(super) const fn model_default(self) -> Option<&'static str> {
        match self {
            Self::Builtin | Self::OpenAi | Self::Ollama => None,
            Self::Anthropic | Self::Claude => Some(ANTHROPIC_MODEL),
        }
    }
}
