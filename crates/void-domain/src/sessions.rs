//! The owner's browser sessions: by which proof one was opened, on what, and when it is over.

use std::time::Duration;

use crate::time::Timestamp;

/// Counted from the last use.
pub const SESSION_LASTS: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Counted from its beginning, however much it is used: a cookie that was stolen unnoticed ends too.
pub const SESSION_ENDS: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// When a session is over that is used now and then no more.
pub fn expires_at(created_at: Timestamp, now: Timestamp) -> Timestamp {
    now.plus(SESSION_LASTS).min(created_at.plus(SESSION_ENDS))
}

/// Whether a session has come to its end, whatever was noted when it was last used.
pub fn is_over(created_at: Timestamp, now: Timestamp) -> bool {
    now >= created_at.plus(SESSION_ENDS)
}

/// How far the clock of the instance that saw a proof may be ahead of this one's.
const PROOF_AHEAD_MAX: Duration = Duration::from_secs(10);

/// How long ago a proof was shown. One of the future was dated by a wrong clock, or by whoever edited its row: it
/// is as old as can be.
pub fn authenticated_ago(authenticated_at: Timestamp, now: Timestamp) -> Duration {
    if authenticated_at.since(now) > PROOF_AHEAD_MAX {
        return Duration::MAX;
    }
    now.since(authenticated_at)
}

/// What somebody showed to be let in as the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// The owner's token.
    Token,
    Password,
    /// A one-time set-up link.
    Setup,
    Passkey,
}

impl Method {
    pub const ALL: [Self; 4] = [Self::Token, Self::Password, Self::Setup, Self::Passkey];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Password => "password",
            Self::Setup => "setup",
            Self::Passkey => "passkey",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == text)
    }
}

/// Longer ones are not looked at.
const USER_AGENT_BYTES_MAX: usize = 512;

const UNKNOWN_DEVICE: &str = "an unknown device";

/// Browsers call themselves by the names of others too, so the pickier name comes first.
const BROWSERS: [(&str, &str); 11] = [
    ("Edg/", "Edge"),
    ("EdgA/", "Edge"),
    ("EdgiOS/", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("FxiOS/", "Firefox"),
    ("Firefox/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
];
const SYSTEMS: [(&str, &str); 7] = [
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows NT", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
];

/// What a session was opened on, in plain words of ours: nothing of what was sent is kept.
pub fn device(user_agent: &str) -> String {
    let known = |words: &[(&str, &'static str)]| {
        let found = words.iter().find(|(mark, _)| user_agent.contains(mark));
        found.map(|(_, name)| *name)
    };
    if user_agent.len() > USER_AGENT_BYTES_MAX {
        return UNKNOWN_DEVICE.to_owned();
    }
    match (known(&BROWSERS), known(&SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => UNKNOWN_DEVICE.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn use_keeps_a_session_open_up_to_its_end() {
        let begun = Timestamp::from_ms(1_000);
        let days = |days: u64| Duration::from_secs(days * 24 * 60 * 60);
        assert_eq!(expires_at(begun, begun), begun.plus(days(30)));
        assert_eq!(
            expires_at(begun, begun.plus(days(60))),
            begun.plus(days(90))
        );
        assert_eq!(
            expires_at(begun, begun.plus(days(61))),
            begun.plus(days(90))
        );
        let end = begun.plus(days(90));
        assert!(!is_over(begun, end.minus(Duration::from_millis(1))));
        assert!(is_over(begun, end));
    }

    #[test]
    fn a_proof_of_the_future_is_no_fresh_one() {
        let now = Timestamp::from_ms(1_000_000);
        let second = Duration::from_secs(1);
        for (at, ago) in [
            (now.minus(second), second),
            (now, Duration::ZERO),
            (now.plus(PROOF_AHEAD_MAX), Duration::ZERO),
            (now.plus(PROOF_AHEAD_MAX + second), Duration::MAX),
            (Timestamp::from_ms(i64::MAX), Duration::MAX),
        ] {
            assert_eq!(authenticated_ago(at, now), ago);
            assert_eq!(crate::policy::is_fresh(Some(ago)), ago < Duration::MAX);
        }
    }

    #[test]
    fn methods_are_read_as_they_are_written() {
        for method in Method::ALL {
            assert_eq!(Method::parse(method.as_str()), Some(method));
        }
        assert_eq!(Method::parse("Token"), None);
    }

    #[test]
    fn devices_are_told_in_words_of_ours() {
        for (sent, told) in [
            (
                "Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0",
                "Firefox on Android",
            ),
            (
                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
                "Chrome on Linux",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
                "Safari on iPhone",
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15",
                "Safari on macOS",
            ),
            (
                "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36",
                "Samsung Internet on Android",
            ),
            ("curl/8.14.1", "curl"),
            ("", UNKNOWN_DEVICE),
            ("<script>\u{202e}", UNKNOWN_DEVICE),
            (&format!("Firefox/{}", "1".repeat(600)), UNKNOWN_DEVICE),
        ] {
            assert_eq!(device(sent), told);
        }
    }
}
