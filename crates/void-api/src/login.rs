//! `/api/login`: what a page needs to know before anybody is signed in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Word;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct LoginResponse {
    /// What this lab is called.
    pub lab: Word,
    /// Everything behind this is a simulated lab.
    pub rehearsal: bool,
    pub methods: MethodsResponse,
    /// Whether there is a passkey or a password at all.
    pub is_set_up: bool,
    /// How the program is called where Void runs, as in `Setup`: said of a rehearsal only, whose folder is no secret.
    pub called: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "LoginMethods")]
pub struct MethodsResponse {
    /// There is a passkey that is good at the address by which the page was reached.
    pub passkey: bool,
    pub password: bool,
    pub token: bool,
}
