//! Guests as Proxmox reports them. Reads only.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant;
use void_domain::executions::{Guest, GuestPower};
use void_domain::failures::FailureCode;
use void_domain::proposals::Failure;
use void_domain::services::{Bad, CheckResult, Unreadable};
use void_domain::text;

use super::labs::LabGuest;
use super::powers::{guest_name, status_path};
use super::{Proxmox, number};

const NAME_BYTES_MAX: usize = 100;
const LOCK_BYTES_MAX: usize = 60;
/// Guests whose kind is remembered.
const KINDS_MAX: usize = 5_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GuestStatus {
    Running,
    Stopped,
    /// Paused, suspended, or a word that is not known here.
    Other,
    /// Proxmox does not know either: its node is away.
    Unknown,
}

impl GuestStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Other => "other",
            Self::Unknown => "unknown",
        }
    }

    fn parse(word: &str) -> Self {
        match word {
            "running" => Self::Running,
            "stopped" => Self::Stopped,
            "unknown" => Self::Unknown,
            _ => Self::Other,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GuestState {
    pub vmid: u32,
    pub name: String,
    pub status: GuestStatus,
    pub uptime_s: u64,
    /// What holds it, such as a backup.
    pub lock: Option<String>,
}

impl GuestState {
    pub(super) fn parse(vmid: u32, data: &Value) -> Option<Self> {
        let word = |name: &str| data.get(name).and_then(Value::as_str);
        let status = GuestStatus::parse(word("status")?);
        // A paused machine is "running" to the host and says so beside it.
        let runs = matches!(word("qmpstatus"), None | Some("running" | "stopped"));
        let lock = word("lock").filter(|lock| !lock.is_empty());
        Some(Self {
            vmid,
            name: text::escaped(text::cut(word("name").unwrap_or_default(), NAME_BYTES_MAX)),
            status: if runs { status } else { GuestStatus::Other },
            uptime_s: number(data.get("uptime")).unwrap_or(0),
            lock: lock.map(|lock| text::escaped(text::cut(lock, LOCK_BYTES_MAX))),
        })
    }
}

/// Where a guest is and what it is: neither changes often.
#[derive(Default)]
pub(super) struct Whereabouts(Mutex<BTreeMap<u32, (String, Guest)>>);

impl Whereabouts {
    fn get(&self, vmid: u32) -> Option<(String, Guest)> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&vmid).cloned()
    }

    fn set<'a>(&self, found: impl Iterator<Item = (&'a str, &'a LabGuest)>) {
        let found = found.take(KINDS_MAX);
        let found = found.map(|(node, guest)| (guest.state.vmid, (node.to_owned(), guest.kind)));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = found.collect();
    }
}

impl Proxmox {
    /// One guest, now.
    pub(super) async fn guest(&self, power: &GuestPower) -> Result<GuestState, Failure> {
        self.guest_at(&power.node, power.guest, power.vmid).await
    }

    pub(crate) async fn guest_at(
        &self,
        node: &str,
        kind: Guest,
        vmid: u32,
    ) -> Result<GuestState, Failure> {
        let name = guest_name(node, kind, vmid);
        let path = status_path(node, kind, vmid, "current");
        let data = self.client.get(&path).await;
        let data = data.map_err(|error| error.into_failure(&name))?;
        GuestState::parse(vmid, &data).ok_or_else(|| {
            let message = format!("Proxmox answers about {name} in a form that is not known");
            Failure::new(FailureCode::BadAnswer, message)
        })
    }

    /// Whether the guest with this number runs, wherever in the cluster it is.
    pub(crate) async fn check(&self, vmid: u32, timeout: Duration) -> CheckResult {
        let start = Instant::now();
        let unreadable = CheckResult::None {
            reason: Unreadable::Proxmox,
        };
        match tokio::time::timeout(timeout, self.find(vmid)).await {
            Ok(Ok(GuestStatus::Running)) => CheckResult::Good {
                latency_ms: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
                code: None,
            },
            Ok(Ok(GuestStatus::Stopped | GuestStatus::Other)) => CheckResult::Bad {
                reason: Bad::Stopped,
                code: None,
            },
            Ok(Ok(GuestStatus::Unknown) | Err(_)) | Err(_) => unreadable,
        }
    }

    async fn find(&self, vmid: u32) -> Result<GuestStatus, Failure> {
        if let Some((node, kind)) = self.whereabouts.get(vmid)
            && let Ok(state) = self.guest_at(&node, kind, vmid).await
        {
            return Ok(state.status);
        }
        // New here, or moved, or gone.
        let guests = self.guests().await?;
        let listed = guests.iter().map(|(node, guest)| (node.as_str(), guest));
        self.whereabouts.set(listed);
        let (node, kind) = self.whereabouts.get(vmid).ok_or_else(|| {
            Failure::new(
                FailureCode::NoSuchGuest,
                format!("Proxmox shows no guest {vmid}"),
            )
        })?;
        Ok(self.guest_at(&node, kind, vmid).await?.status)
    }
}
