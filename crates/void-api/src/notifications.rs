//! `/api/notifications`: where the owner is told, and what a notification sends back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Word;

/// One place, in the one spelling that it has.
pub const TARGET: &str = "^(ntfy|telegram:(0|-?[1-9][0-9]{0,17})|webhook:[a-z0-9][a-z0-9-]{0,63})$";

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct NotificationsResponse {
    pub places: Vec<PlaceResponse>,
    /// What was put aside, newest first.
    pub failed: Vec<FailedResponse>,
    /// Proposals that wait and that nobody could be told about.
    pub untold: u64,
    /// Services that are down and that nobody could be told of.
    pub services_untold: u64,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "NotificationPlace")]
pub struct PlaceResponse {
    /// `telegram`, `ntfy` or `webhook`.
    pub channel: Word,
    /// null: set up, but nobody is paired.
    pub target: Option<String>,
    pub name: String,
    pub paired_at: Option<String>,
    pub waiting: u64,
    pub failed: u64,
    pub last_sent_at: Option<String>,
    /// What is wrong with it now.
    pub problem: Option<String>,
    pub problem_since: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "FailedNotification")]
pub struct FailedResponse {
    pub id: String,
    pub target: String,
    pub proposal_id: Option<String>,
    pub tries: u32,
    pub error: Option<String>,
    pub created_at: String,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["channel"]))]
pub struct PairRequest {
    /// `telegram`; the other channels are set up in the settings file.
    #[serde(default)]
    #[schemars(extend("enum" = ["telegram"]))]
    pub channel: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Invitation")]
pub struct InvitationResponse {
    /// To be opened on the phone, once.
    pub link: String,
    pub bot: String,
    pub expires_at: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct UnpairedResponse {
    pub unpaired: bool,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestRequest {
    /// One place, as the list spells it; all of them if left out.
    #[serde(default)]
    #[schemars(regex(pattern = TARGET))]
    pub target: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct TestResponse {
    pub results: Vec<TestResult>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "NotificationTest")]
pub struct TestResult {
    pub target: String,
    pub sent: bool,
    pub problem: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RetriedResponse {
    pub retried: bool,
}

#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["token"]))]
pub struct ActRequest {
    /// What the notification carried.
    #[serde(default)]
    #[schemars(length(max = 128))]
    pub token: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ActedResponse {
    /// `approve` or `reject`.
    pub decision: Word,
    pub code: String,
    pub status: Word,
}
