//! What a check says: fine, a warning or wrong, and what to do next.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Fine,
    Warning,
    Wrong,
}

impl Level {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Fine => "ok",
            Self::Warning => "warning",
            Self::Wrong => "problem",
        }
    }

    pub(super) fn parse(word: &str) -> Option<Self> {
        let all = [Self::Fine, Self::Warning, Self::Wrong];
        all.into_iter().find(|level| level.as_str() == word)
    }
}

pub(super) struct Finding {
    pub check: &'static str,
    pub level: Level,
    pub message: String,
    pub next: Option<String>,
}

#[derive(Default)]
pub(super) struct Findings(pub Vec<Finding>);

impl Findings {
    pub(super) fn fine(&mut self, check: &'static str, message: impl Into<String>) {
        self.push(check, Level::Fine, message.into(), None);
    }

    pub(super) fn warn(
        &mut self,
        check: &'static str,
        message: impl Into<String>,
        next: impl Into<String>,
    ) {
        self.push(check, Level::Warning, message.into(), Some(next.into()));
    }

    pub(super) fn wrong(
        &mut self,
        check: &'static str,
        message: impl Into<String>,
        next: impl Into<String>,
    ) {
        self.push(check, Level::Wrong, message.into(), Some(next.into()));
    }

    fn push(&mut self, check: &'static str, level: Level, message: String, next: Option<String>) {
        self.0.push(Finding {
            check,
            level,
            message,
            next,
        });
    }
}
