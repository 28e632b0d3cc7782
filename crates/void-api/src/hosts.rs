//! `/api/hosts`: the machines behind the catalogue.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct HostsResponse {
    pub hosts: Vec<HostResponse>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct HostResponse {
    pub name: String,
    /// `local` or an SSH address.
    pub address: String,
    pub port: Option<u16>,
    pub user: Option<String>,
    /// Whether the catalogue pins the key.
    pub pinned: bool,
    /// Fingerprints of the keys that are trusted.
    pub trusted: Vec<String>,
    pub actions: usize,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CheckResponse {
    pub name: String,
    pub reachable: bool,
    /// SHA-256 of the host's list file.
    pub list: Option<String>,
    pub version: Option<String>,
    /// Whether the host's stop file is set.
    pub stopped: Option<bool>,
    /// The first difference from the catalogue.
    pub drift: Option<String>,
    /// Actions that the host could not start now, such as one that sudo does not let through, and why.
    pub cannot: BTreeMap<String, String>,
    pub error: Option<CheckError>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CheckError {
    pub code: String,
    pub message: String,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["fingerprint"]))]
pub struct TrustRequest {
    /// `SHA256:…`, as `ssh-keygen -lf` prints it on the host.
    #[serde(default)]
    #[schemars(regex(pattern = r"^SHA256:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]$"))]
    pub fingerprint: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct TrustedResponse {
    pub name: String,
    pub fingerprint: String,
}
