//! `/api/questions`: what agents ask the owner and each other, and what the owner asks them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use void_domain::questions::{
    EXPIRES_AFTER_MAX, EXPIRES_AFTER_MIN, OPTION_CHARS_MAX, OPTIONS_MAX, REPLY_BYTES_MAX,
    TEXT_BYTES_MAX,
};

use crate::Word;
use crate::bounds::SLUG;
use crate::mutes::NOT_BLANK;

pub const EXPIRES_SECONDS_MIN: u64 = EXPIRES_AFTER_MIN.as_secs();
pub const EXPIRES_SECONDS_MAX: u64 = EXPIRES_AFTER_MAX.as_secs();

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct QuestionsResponse {
    /// Newest first.
    pub questions: Vec<QuestionResponse>,
    pub next: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Question")]
pub struct QuestionResponse {
    pub id: String,
    /// For people to say: `Q-` and four characters.
    pub code: String,
    /// `owner`, or the name of an agent.
    pub asker: String,
    /// `owner`, or the name of an agent.
    pub asked: String,
    /// The asker's own words, as they came.
    pub text: String,
    /// In this order; the first one is number 1.
    pub options: Vec<String>,
    /// What the asker had read that a stranger could have written.
    pub taint: Vec<String>,
    #[schemars(extend("enum" = ["open", "answered", "cancelled", "expired"]))]
    pub status: Word,
    pub asked_at: String,
    pub expires_at: String,
    /// Set if it was answered.
    pub answer: Option<QuestionAnswerResponse>,
    /// Who answered or took it back, as the record names them.
    pub ended_by: Option<String>,
    pub ended_at: Option<String>,
    /// Why it was cancelled: `withdrawn`, `gone` (asker or asked is not there any more) or `older_copy`.
    #[schemars(extend("enum" = ["withdrawn", "gone", "older_copy", null]))]
    pub why: Option<Word>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "QuestionAnswer")]
pub struct QuestionAnswerResponse {
    pub text: String,
    /// The number of the option that it is.
    pub option: Option<u8>,
    /// What whoever answered had read that a stranger could have written.
    pub taint: Vec<String>,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["to", "text"]))]
pub struct AskQuestionRequest {
    /// The agent.
    #[serde(default)]
    #[schemars(regex(pattern = SLUG))]
    pub to: String,
    #[serde(default)]
    #[schemars(length(min = 1, max = TEXT_BYTES_MAX), regex(pattern = NOT_BLANK), extend("x-max-bytes" = TEXT_BYTES_MAX))]
    pub text: String,
    /// One line each, and no two alike.
    #[serde(default)]
    #[schemars(length(max = OPTIONS_MAX), inner(length(min = 1, max = OPTION_CHARS_MAX)))]
    pub options: Vec<String>,
    /// Seconds; a day if it is left out.
    #[serde(default)]
    #[schemars(range(min = EXPIRES_SECONDS_MIN, max = EXPIRES_SECONDS_MAX))]
    pub expires_s: Option<u64>,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("allOf" = [crate::schemas::one_of("text", "string", "option", "integer")]))]
pub struct AnswerQuestionRequest {
    /// Words,
    #[serde(default)]
    #[schemars(length(min = 1, max = REPLY_BYTES_MAX), regex(pattern = NOT_BLANK), extend("x-max-bytes" = REPLY_BYTES_MAX))]
    pub text: Option<String>,
    /// or the number of an option.
    #[serde(default)]
    #[schemars(range(min = 1, max = OPTIONS_MAX))]
    pub option: Option<u8>,
}
