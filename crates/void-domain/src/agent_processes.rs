//! Processes of agents: what is wanted of each, which is kept over a restart of the server. How a process stands at
//! the moment is not kept; whoever starts them knows it.

/// What the owner, or experience, wants of an agent's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    Running,
    Stopped,
    /// It ended unasked too often. Somebody has to start it.
    GivenUp,
}

impl Wanted {
    pub const ALL: [Self; 3] = [Self::Running, Self::Stopped, Self::GivenUp];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::GivenUp => "given_up",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wanted| wanted.as_str() == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_back_and_no_other() {
        for wanted in Wanted::ALL {
            assert_eq!(Wanted::parse(wanted.as_str()), Some(wanted));
        }
        for text in ["", "Running", "asleep"] {
            assert_eq!(Wanted::parse(text), None, "{text}");
        }
    }
}
