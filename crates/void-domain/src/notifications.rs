//! Telling the owner: where messages go, when they may make a noise, how often they are tried, and
//! what they say. Sending is elsewhere; everything here is a rule that can be tested as a table.

pub mod messages;
mod quiet;

use std::fmt;
use std::time::Duration;

use crate::catalogue::Risk;
use crate::digests::Digest;
use crate::ids::{AlertId, NotificationId, ProposalId, QuestionId, is_slug};
use crate::proposals::{Proposal, State, Status};
use crate::questions::OPTIONS_MAX;
use crate::time::Timestamp;

pub use jiff::tz::TimeZone as Zone;
pub use quiet::{InvalidQuietHours, QuietHours, moment};

/// Somewhere a message can be delivered.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// The private chat with this account: its id is the account's.
    Telegram {
        user: i64,
    },
    Ntfy,
    /// A program of the owner's, by the name that the settings give it.
    Webhook {
        name: String,
    },
}

impl Target {
    pub const fn channel(&self) -> Channel {
        match self {
            Self::Telegram { .. } => Channel::Telegram,
            Self::Ntfy => Channel::Ntfy,
            Self::Webhook { .. } => Channel::Webhook,
        }
    }

    /// One spelling only: the text is a key of the outbox.
    pub fn parse(text: &str) -> Option<Self> {
        let target = match text.split_once(':') {
            None if text == "ntfy" => Self::Ntfy,
            Some(("telegram", user)) => Self::Telegram {
                user: user.parse().ok()?,
            },
            Some(("webhook", name)) if is_slug(name) => Self::Webhook {
                name: name.to_owned(),
            },
            _ => return None,
        };
        (target.to_string() == text).then_some(target)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Telegram { user } => write!(f, "telegram:{user}"),
            Self::Ntfy => f.write_str("ntfy"),
            Self::Webhook { name } => write!(f, "webhook:{name}"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Channel {
    Telegram,
    Ntfy,
    Webhook,
}

impl Channel {
    pub const ALL: [Self; 3] = [Self::Telegram, Self::Ntfy, Self::Webhook];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Telegram => "telegram",
            Self::Ntfy => "ntfy",
            Self::Webhook => "webhook",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|channel| channel.as_str() == text)
    }
}

/// Whether the owner knows of a proposal that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// On its way, or held until the quiet hours are over.
    NotYet,
    /// At least one message arrived.
    Somebody,
    /// Every way has been tried and none has worked so far.
    Nobody,
}

impl Told {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotYet => "not_yet",
            Self::Somebody => "somebody",
            Self::Nobody => "nobody",
        }
    }
}

/// Something to be delivered at one place, as the outbox holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    pub id: NotificationId,
    pub target: Target,
    pub content: Content,
    /// How often what it says has changed.
    pub wanted: u64,
    /// Up to which change it was delivered; 0 for never.
    pub shown: u64,
    /// Quiet hours kept it back.
    pub held: bool,
    /// Failures in a row.
    pub tries: u32,
    pub created_at: Timestamp,
    pub sent_at: Option<Timestamp>,
    /// What the other side calls the message.
    pub message_ref: Option<String>,
    pub last_error: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Rendered when it is sent, and again whenever the proposal moves.
    Message(ProposalId),
    /// Fixed when it happened.
    Event(ProposalId, String),
    /// Stands for many messages.
    Digest,
    /// Rendered when it is sent, and again whenever what is down has changed.
    Alert(AlertId),
    /// Rendered when it is sent, and again when it is over.
    Question(QuestionId),
}

/// What somebody means who sends a key back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// First tap: show what will happen.
    Ask,
    Back,
    Approve,
    /// First tap: offer reasons.
    Reject,
    RejectBecause(Because),
    Details,
    /// Show the message of a proposal that a list names.
    Show,
    /// The button of a test message.
    Test,
    /// Do not tell for a while what this message is about.
    Mute(MuteFor),
    /// Tell it again.
    Unmute,
    /// Answer a question with the option of this number.
    Option(OptionNumber),
}

/// The number of an option of a question, from 1 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionNumber(u8);

impl OptionNumber {
    const WORDS: [&'static str; OPTIONS_MAX] = [
        "option_1", "option_2", "option_3", "option_4", "option_5", "option_6", "option_7",
        "option_8",
    ];

    pub fn new(number: u8) -> Option<Self> {
        let is_one = (1..=OPTIONS_MAX).contains(&usize::from(number));
        is_one.then_some(Self(number))
    }

    pub const fn number(self) -> u8 {
        self.0
    }

    fn as_str(self) -> &'static str {
        let at = usize::from(self.0).saturating_sub(1);
        Self::WORDS.get(at).copied().unwrap_or_default()
    }

    fn parse(text: &str) -> Option<Self> {
        let at = Self::WORDS.iter().position(|word| *word == text)?;
        Self::new(u8::try_from(at + 1).ok()?)
    }
}

/// For how long one tap mutes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MuteFor {
    Hour,
    EightHours,
}

impl MuteFor {
    pub const ALL: [Self; 2] = [Self::Hour, Self::EightHours];

    pub const fn duration(self) -> Duration {
        const HOUR_S: u64 = 60 * 60;
        match self {
            Self::Hour => Duration::from_secs(HOUR_S),
            Self::EightHours => Duration::from_secs(8 * HOUR_S),
        }
    }

    pub const fn words(self) -> &'static str {
        match self {
            Self::Hour => "1 h",
            Self::EightHours => "8 h",
        }
    }
}

/// Reasons that one tap gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    Unsaid,
    NotNow,
    WrongTarget,
    AskFirst,
}

impl Because {
    pub const ALL: [Self; 4] = [
        Self::NotNow,
        Self::WrongTarget,
        Self::AskFirst,
        Self::Unsaid,
    ];

    /// What the requester is told.
    pub const fn reason(self) -> Option<&'static str> {
        match self {
            Self::Unsaid => None,
            Self::NotNow => Some("not now"),
            Self::WrongTarget => Some("wrong target"),
            Self::AskFirst => Some("ask me first"),
        }
    }

    pub const fn button(self) -> &'static str {
        match self {
            Self::Unsaid => "Just reject",
            Self::NotNow => "Not now",
            Self::WrongTarget => "Wrong target",
            Self::AskFirst => "Ask me first",
        }
    }
}

impl Meaning {
    /// Those without a number.
    pub const ALL: [Self; 14] = [
        Self::Ask,
        Self::Back,
        Self::Approve,
        Self::Reject,
        Self::RejectBecause(Because::Unsaid),
        Self::RejectBecause(Because::NotNow),
        Self::RejectBecause(Because::WrongTarget),
        Self::RejectBecause(Because::AskFirst),
        Self::Details,
        Self::Show,
        Self::Test,
        Self::Mute(MuteFor::Hour),
        Self::Mute(MuteFor::EightHours),
        Self::Unmute,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Back => "back",
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::RejectBecause(Because::Unsaid) => "reject_now",
            Self::RejectBecause(Because::NotNow) => "reject_later",
            Self::RejectBecause(Because::WrongTarget) => "reject_wrong",
            Self::RejectBecause(Because::AskFirst) => "reject_ask",
            Self::Details => "details",
            Self::Show => "show",
            Self::Test => "test",
            Self::Mute(MuteFor::Hour) => "mute_1h",
            Self::Mute(MuteFor::EightHours) => "mute_8h",
            Self::Unmute => "unmute",
            Self::Option(option) => option.as_str(),
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|meaning| meaning.as_str() == text)
            .or_else(|| OptionNumber::parse(text).map(Self::Option))
    }

    /// Whether it moves the proposal, and so may be used once.
    pub const fn decides(self) -> bool {
        matches!(self, Self::Approve | Self::RejectBecause(_))
    }
}

/// What a key is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// The button of a test message.
    Nothing,
    /// With the digest of what was shown then.
    Proposal(ProposalId, Digest),
    Alert(AlertId),
    Question(QuestionId),
}

/// A key as it is stored: what it was made for, and nothing that could be sent back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub hash: Digest,
    pub target: Target,
    pub about: About,
    /// The revision of what was shown with it; a later one needs another look.
    pub revision: u64,
    pub meaning: Meaning,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub used_at: Option<Timestamp>,
}

/// What a person wants to be told about a proposal of which they were told nothing yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// It waits for a decision.
    Ask,
    /// It ended in a way that nobody asked for.
    Trouble,
}

/// Nothing for what policy let run and what went well, nor for what the owner decided elsewhere.
pub const fn news(proposal: &Proposal) -> Option<News> {
    match &proposal.state {
        State::Pending => Some(News::Ask),
        State::Failed { .. } | State::Unknown { .. } => Some(News::Trouble),
        State::Expired { lapsed: None, .. }
        | State::Cancelled {
            why: crate::proposals::Cancellation::NotOnRecord,
            ..
        } => Some(News::Trouble),
        State::Executed {
            verification: Some(seen),
            ..
        } => match seen.outcome {
            crate::proposals::VerificationOutcome::Failed => Some(News::Trouble),
            crate::proposals::VerificationOutcome::Verified
            | crate::proposals::VerificationOutcome::Unverified => None,
        },
        State::Approved { .. }
        | State::Running { .. }
        | State::Executed { .. }
        | State::Rejected { .. }
        | State::Expired { .. }
        | State::Cancelled { .. }
        | State::Refused { .. } => None,
    }
}

/// When it was decided by Telegram, if it was. Whoever holds the account or the bot may not be the owner,
/// so such a decision is told on the other channels too.
pub fn decided_by_telegram(proposal: &Proposal) -> Option<Timestamp> {
    let (by, at) = match (proposal.approval(), &proposal.state) {
        (Some(approval), _) => (approval.by.as_str(), approval.at),
        (None, State::Rejected { by, at, .. }) => (by.as_str(), *at),
        (None, _) => return None,
    };
    by.starts_with(BY_TELEGRAM).then_some(at)
}

/// How the record names whoever acts by Telegram, without the number of the account.
pub const BY_TELEGRAM: &str = "owner-telegram-";

/// When a message that makes a noise may go out: the one place that knows about quiet hours.
pub fn not_before(quiet: Option<&QuietHours>, risk: Risk, now: Timestamp) -> Timestamp {
    match quiet {
        Some(quiet) if !(risk == Risk::Critical && quiet.critical_breaks_through) => {
            quiet.end_of(now).unwrap_or(now)
        }
        Some(_) | None => now,
    }
}

/// The same for what is down: only what the owner marked breaks through.
pub fn alert_not_before(quiet: Option<&QuietHours>, is_urgent: bool, now: Timestamp) -> Timestamp {
    match quiet {
        Some(quiet) if !is_urgent => quiet.end_of(now).unwrap_or(now),
        Some(_) | None => now,
    }
}

/// A database that was found at an older entry of the record than the one that was noted, or that may be older.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RolledBack {
    /// `None`: there was no note beside the database, or none that could be read.
    pub noted_seq: Option<u64>,
    pub found_seq: u64,
    pub at: Timestamp,
}

/// Instances on one database each notice a rollback for themselves within this time.
const NOTICED_WITHIN: Duration = Duration::from_secs(60);

impl RolledBack {
    /// Whether this is what the owner was told of already, noticed by another instance. Of a note that was not
    /// there nobody can say that.
    pub fn is_same_as(&self, told: &Self) -> bool {
        let (Some(noted), Some(told_of)) = (self.noted_seq, told.noted_seq) else {
            return false;
        };
        let is_within = noted <= told_of && self.found_seq >= told.found_seq;
        is_within && self.at.since(told.at).max(told.at.since(self.at)) <= NOTICED_WITHIN
    }
}

/// A message is tried this often before it is put aside.
pub const TRIES_MAX: u32 = 9;
const PAUSE_FIRST: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(5 * 60);

/// How long to wait after this many failures: doubling, unless the other side said how long.
pub fn pause_after(failures: u32, asked: Option<Duration>) -> Duration {
    let doubled = PAUSE_FIRST.saturating_mul(1 << failures.saturating_sub(1).min(16));
    asked
        .unwrap_or_default()
        .max(doubled)
        .min(PAUSE_MAX.max(asked.unwrap_or_default()))
}

/// More new messages than this at once become one digest.
pub const SEPARATE_MAX: usize = 5;
/// So are more than this in a minute.
pub const SEPARATE_PER_MINUTE_MAX: u64 = 10;
/// So are more alerts than this in an hour.
pub const ALERTS_PER_HOUR_MAX: u64 = 20;
/// A digest is continued, not repeated, for this long.
pub const DIGEST_GROWS_FOR: Duration = Duration::from_secs(10 * 60);
/// What comes right behind a digest belongs to it, even alone.
pub const DIGEST_FOLLOWED_FOR: Duration = Duration::from_secs(15);

/// Counts of a digest, in the words of its states.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub waiting: u64,
    pub running: u64,
    pub done: u64,
    pub rejected: u64,
    pub expired: u64,
    pub withdrawn: u64,
    pub failed: u64,
    pub unknown: u64,
}

impl Tally {
    pub const fn add(&mut self, status: Status, count: u64) {
        match status {
            Status::Pending => self.waiting += count,
            Status::Approved | Status::Running => self.running += count,
            Status::Executed => self.done += count,
            Status::Rejected => self.rejected += count,
            Status::Expired => self.expired += count,
            Status::Cancelled => self.withdrawn += count,
            Status::Failed | Status::Refused => self.failed += count,
            Status::Unknown => self.unknown += count,
        }
    }

    pub const fn total(&self) -> u64 {
        self.waiting
            + self.running
            + self.done
            + self.rejected
            + self.expired
            + self.withdrawn
            + self.failed
            + self.unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_one_spelling() {
        for text in ["telegram:12345", "ntfy", "webhook:n8n"] {
            assert_eq!(Target::parse(text).unwrap().to_string(), text);
        }
        for bad in [
            "",
            "telegram",
            "telegram:",
            "telegram:012",
            "telegram:+1",
            "telegram:x",
            "ntfy:",
            "webhook:",
            "webhook:A",
            "webhook:-x",
            "mail:x",
        ] {
            assert_eq!(Target::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn pauses_double_up_to_a_limit_and_heed_what_was_asked() {
        let second = Duration::from_secs(1);
        assert_eq!(pause_after(1, None), second);
        assert_eq!(pause_after(4, None), 8 * second);
        assert_eq!(pause_after(40, None), PAUSE_MAX);
        assert_eq!(pause_after(1, Some(30 * second)), 30 * second);
        assert_eq!(pause_after(1, Some(900 * second)), 900 * second);
        assert_eq!(pause_after(5, Some(second)), 16 * second);
    }
}
