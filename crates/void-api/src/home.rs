//! `/api/home`: what the page needs to begin, in one answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Word;
use crate::cards::CardResponse;
use crate::freeze::FreezeResponse;
use crate::inbox::InboxResponse;
use crate::mutes::MuteResponse;
use crate::proposals::RowResponse;
use crate::services::ServicesResponse;
use crate::session::WhoResponse;
use crate::status::StatusResponse;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Home")]
pub struct HomeResponse {
    /// All events up to this one are in it; the stream goes on after it.
    pub event: String,
    pub who: WhoResponse,
    pub status: StatusResponse,
    pub inbox: InboxResponse,
    /// The cards of what waits first.
    pub cards: Vec<CardResponse>,
    pub services: ServicesResponse,
    pub freeze: FreezeResponse,
    /// What is not told for a time.
    pub mutes: Vec<MuteResponse>,
    /// What ended, newest first.
    pub recent: Vec<RowResponse>,
    pub setup: SetupResponse,
}

/// How far the owner has come in setting things up.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Setup")]
pub struct SetupResponse {
    /// Something of the catalogue has a way to its machine, and this machine, if it is named, was set up.
    pub lab_connected: bool,
    pub phone_paired: bool,
    pub actions_loaded: bool,
    /// Something ended that somebody had decided.
    pub decided_once: bool,
    /// The files that say nothing yet.
    pub empty_files: Vec<EmptyFileResponse>,
    /// What checks a file that was written and takes it over, as the owner types it where Void runs.
    pub commands: Vec<String>,
    /// How the program is called where Void runs: every command that begins with `void` begins with this instead.
    pub called: String,
    /// The program alone, as it is called there: its path, or its name where the shell finds it.
    pub program: String,
    /// The file with the owner's token on Void's machine; null where the settings have it elsewhere.
    pub owner_token_file: Option<String>,
    /// What prints the script that lets this machine run its actions, while it was never run: none of them can start.
    pub provision: Option<String>,
}

/// A file that is read and has nothing in it, or is not there.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "EmptyFile")]
pub struct EmptyFileResponse {
    /// `actions` or `services`.
    pub what: Word,
    pub path: String,
    /// Something valid to put into it.
    pub example: String,
}
