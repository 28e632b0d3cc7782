//! The bounds of DESIGN 14 that the domain and several crates share, each with its unit in the name.

use std::time::Duration;

pub const REQUEST_BODY_BYTES_MAX: usize = 1024 * 1024;
pub const CATALOGUE_BYTES_MAX: usize = 1024 * 1024;
pub const CATALOGUE_ACTIONS_MAX: usize = 4_096;
pub const REASON_BYTES_MAX: usize = 4 * 1024;
/// Of whoever holds, vetoes or annotates a request.
pub const HOLD_WORDS_BYTES_MAX: usize = 500;
/// Of one writer on one request.
pub const HOLD_ANNOTATIONS_MAX: usize = 3;
/// Holds and annotations on one request, lifted ones included.
pub const HOLDS_PER_PROPOSAL_MAX: usize = 20;
pub const DIFF_BYTES_MAX: usize = 16 * 1024;
/// A change that is proposed, as a unified diff.
pub const CHANGE_PATCH_BYTES_MAX: usize = 64 * 1024;
/// How many further words of later requests for the same are kept with it, and how long they are together.
pub const JOINED_WORDS_MAX: usize = 8;
pub const JOINED_BYTES_MAX: usize = 32 * 1024;
/// So many other words may follow each other at once; from then on each has to wait a while after the one before, so that a
/// person can read them and answer.
pub const JOINED_WORDS_AT_ONCE: usize = 3;
pub const JOINED_WORDS_APART: Duration = Duration::from_secs(60);
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
/// A machine that was busy is not asked for the same again sooner than this after the claim.
pub const BUSY_LASTS: Duration = Duration::from_secs(10);
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

/// The text of a page, a task, a ref, a project or a space.
pub const PAGE_BYTES_MAX: usize = 512 * 1024;
pub const TITLE_CHARS_MAX: usize = 200;
pub const TAGS_MAX: usize = 32;
pub const TAG_CHARS_MAX: usize = 64;
pub const REF_URL_BYTES_MAX: usize = 2 * 1024;
/// The place of a note in the folder that it came from.
pub const NOTE_PATH_BYTES_MAX: usize = 1024;
pub const ATTACHMENT_BYTES_MAX: usize = 20 * 1024 * 1024;
/// How many files a space holds, and their bytes; those that were thrown away are left out.
pub const SPACE_ATTACHMENTS_MAX: u64 = 20_000;
pub const SPACE_ATTACHMENT_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// After so many days a file that was thrown away cannot be taken back, and its bytes go.
pub const ATTACHMENT_DELETED_DAYS: i64 = 30;
pub const ATTACHMENT_NAME_BYTES_MAX: usize = 255;
pub const MEDIA_TYPE_BYTES_MAX: usize = 127;
/// How many links of one text are read; further ones stay text.
pub const LINKS_MAX: usize = 2_000;
/// What stands between the brackets of a link.
pub const LINK_BYTES_MAX: usize = 1024;
/// How much of the head of a page is read.
pub const FRONT_MATTER_BYTES_MAX: usize = 16 * 1024;
/// How many services and actions one page may be the runbook of.
pub const RUNBOOK_NAMES_MAX: usize = 64;
/// How many drafts one request decides.
pub const DRAFTS_AT_ONCE_MAX: usize = 50;
/// How many places that do not merge are told one by one; the others are counted.
pub const MERGE_CONFLICTS_TOLD_MAX: usize = 20;
/// Find-and-replace edits of one draft.
pub const EDITS_MAX: usize = 64;
pub const SPACES_MAX: u32 = 200;
/// How many of each kind a space holds, deleted ones left out.
pub const SPACE_ENTITIES_MAX: u64 = 100_000;
/// A search that a person types.
pub const SEARCH_QUERY_BYTES_MAX: usize = 1024;
pub const SEARCH_QUERY_WORDS_MAX: usize = 32;
/// `a*` would read a twentieth of all words.
pub const SEARCH_PREFIX_CHARS_MIN: usize = 2;
/// Words that differ only after that are one word to a search.
pub const SEARCH_WORD_CHARS_MAX: usize = 64;
/// How many words of a text a search counts and looks for phrases in without reading the text.
pub const SEARCH_SEQUENCE_WORDS_MAX: usize = 8 * 1024;
/// The distinct words of one text that can be found, together; far more than a text of ordinary words has.
pub const SEARCH_LEXEMES_BYTES_MAX: usize = 768 * 1024;
/// How many results a search looks at: the newest with all words in the title, and the newest at all.
pub const SEARCH_CANDIDATES_MAX: u32 = 512;
pub const SEARCH_TITLE_CANDIDATES_MAX: u32 = 256;
/// So often a word counts as frequent; further texts with it are not counted.
pub const SEARCH_RARITY_MAX: u32 = 1_000;
pub const SEARCH_CANDIDATES_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Long texts that are read for a phrase which is not in their beginning.
pub const SEARCH_TEXTS_READ_MAX: usize = 16;
pub const SEARCH_RESULTS_DEFAULT: u32 = 20;
pub const SEARCH_RESULTS_MAX: u32 = 50;
pub const SEARCH_TIME_MAX: Duration = Duration::from_secs(5);
pub const SNIPPET_CHARS_MAX: usize = 240;
/// How many hits of a text a snippet chooses from.
pub const SNIPPET_HITS_MAX: usize = 256;
