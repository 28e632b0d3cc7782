//! The bounds of DESIGN 14 that the domain and several crates share, each with its unit in the name.

use std::time::Duration;

pub const REQUEST_BODY_BYTES_MAX: usize = 1024 * 1024;
pub const CATALOGUE_BYTES_MAX: usize = 1024 * 1024;
pub const CATALOGUE_ACTIONS_MAX: usize = 4_096;
pub const REASON_BYTES_MAX: usize = 4 * 1024;
pub const DIFF_BYTES_MAX: usize = 16 * 1024;
/// A change that is proposed, as a unified diff.
pub const CHANGE_PATCH_BYTES_MAX: usize = 64 * 1024;
/// How many further words of later requests for the same are kept with it, and how long they are together.
pub const JOINED_WORDS_MAX: usize = 8;
pub const JOINED_BYTES_MAX: usize = 32 * 1024;
/// How many sources of foreign content are named one by one when requests join.
pub const TAINT_SOURCES_MAX: usize = 32;
pub const LABEL_CHARS_MAX: usize = 200;
pub const CHANNEL_OUTPUT_BYTES_MAX: usize = 64 * 1024;
pub const OPEN_PROPOSALS_MAX: u64 = 1_000;
pub const OPEN_PROPOSALS_PER_AGENT_MAX: u64 = 50;
/// What a chat may approve in a day, if the settings do not say otherwise: a stolen account is noticed
/// before it can do more.
pub const TELEGRAM_APPROVALS_PER_DAY: u32 = 30;
/// How long an agent waits between two runs of a safe action that does not say it.
pub const SAFE_COOLDOWN: Duration = Duration::from_secs(60);
/// How many safe actions one agent may start in an hour, all of them together.
pub const SAFE_RUNS_PER_AGENT_HOUR: u32 = 60;
pub const SAFE_RUNS_PER_AGENT_HOUR_MAX: u32 = 3_600;
pub const PAGE_ROWS_DEFAULT: u32 = 100;
pub const PAGE_ROWS_MAX: u32 = 500;

pub const PROPOSAL_EXPIRES_AFTER: Duration = Duration::from_secs(24 * 60 * 60);
/// An approval that has not started by then has lapsed: the world it was given for is gone.
pub const APPROVAL_LAPSES_AFTER: Duration = Duration::from_secs(5 * 60);
pub const ACTION_TIMEOUT: Duration = Duration::from_secs(120);
/// Connecting and sending fit in well; asking earlier would make a slow start fail for nothing.
pub const CLAIM_LEASE: Duration = Duration::from_secs(60);
pub const MESSAGE_BYTES_MAX: usize = 16 * 1024;
/// How far back a prompt goes, whichever is reached first.
pub const HISTORY_MESSAGES_MAX: u32 = 40;
pub const HISTORY_BYTES_MAX: usize = 128 * 1024;
/// What an agent says in one turn; far above what its tokens give, for servers that count wrongly.
pub const ANSWER_BYTES_MAX: usize = 64 * 1024;
pub const TURN_TOOL_ROUNDS_MAX: u32 = 12;
pub const TURN_TOOL_CALLS_MAX: usize = 40;
pub const TURN_TIME_MAX: Duration = Duration::from_secs(120);
pub const TURN_OUTPUT_TOKENS_MAX: u32 = 4_096;
pub const TOOL_RESULT_BYTES_MAX: usize = 16 * 1024;
pub const VERIFY_WITHIN: Duration = Duration::from_secs(60);
/// How fresh a person's authentication must be to approve something critical on the web.
pub const CRITICAL_AUTH_MAX_AGE: Duration = Duration::from_secs(5 * 60);
