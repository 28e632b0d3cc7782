//! The nodes of the cluster and the guests on them, as far as the token may see. Reads only.

use serde::{Serialize, Serializer};
use serde_json::Value;
use void_domain::executions::Guest;
use void_domain::failures::FailureCode;
use void_domain::proposals::Failure;
use void_domain::text;

use super::guests::{GuestState, GuestStatus};
use super::permissions::AUDIT;
use super::powers::is_word;
use super::{Proxmox, number, rows};

const NODE_BYTES_MAX: usize = 63;

#[derive(Debug, Clone, PartialEq)]
pub struct Lab {
    pub nodes: Vec<LabNode>,
    /// Why no guest is shown, if it is not that there are none: to a token without rights Proxmox
    /// answers with empty lists.
    pub hidden: Option<Failure>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LabNode {
    pub name: String,
    pub status: NodeStatus,
    /// Zero also where the token may not see it.
    pub uptime_s: u64,
    pub load: Load,
    pub guests: Vec<LabGuest>,
}

/// How busy and how full something is. Nothing where the token may not see it, it does not run, or Proxmox
/// does not know: zero would be a claim.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Load {
    /// Thousandths of all its processors together.
    pub cpu_permille: Option<u64>,
    pub cpus: Option<u64>,
    pub memory_bytes: Option<u64>,
    pub memory_bytes_max: Option<u64>,
    pub disk_bytes: Option<u64>,
    pub disk_bytes_max: Option<u64>,
}

impl Load {
    fn parse(row: &Value, runs: bool) -> Self {
        let now = |name: &str| number(row.get(name)).filter(|_| runs);
        let max = |name: &str| number(row.get(name)).filter(|max| *max > 0);
        let disk_bytes_max = max("maxdisk");
        Self {
            cpu_permille: row.get("cpu").and_then(permille).filter(|_| runs),
            cpus: max("maxcpu"),
            memory_bytes: now("mem"),
            memory_bytes_max: max("maxmem"),
            // Of a machine's own disk Proxmox says 0: it does not look inside.
            disk_bytes: number(row.get("disk"))
                .filter(|used| *used > 0 && disk_bytes_max.is_some()),
            disk_bytes_max,
        }
    }
}

/// A share of 1 as Proxmox writes it, in thousandths; more than all of it is not believed.
fn permille(share: &Value) -> Option<u64> {
    let share = share
        .as_f64()
        .or_else(|| share.as_str()?.parse::<f64>().ok())?;
    let share = Some(share).filter(|share| share.is_finite())?;
    format!("{:.0}", share.clamp(0.0, 1.0) * 1000.0)
        .parse()
        .ok()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeStatus {
    Online,
    Offline,
    Unknown,
}

impl NodeStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Online => "online",
            Self::Offline => "offline",
            Self::Unknown => "unknown",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LabGuest {
    #[serde(serialize_with = "guest_word")]
    pub kind: Guest,
    #[serde(flatten)]
    pub state: GuestState,
    pub load: Load,
}

fn guest_word<S: Serializer>(kind: &Guest, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.as_str())
}

impl Lab {
    pub fn guest(&self, vmid: u32) -> Option<&LabGuest> {
        let mut guests = self.nodes.iter().flat_map(|node| &node.guests);
        guests.find(|guest| guest.state.vmid == vmid)
    }
}

impl Proxmox {
    /// Everything that the token may see, in two calls; a third if it sees no guest at all.
    pub(crate) async fn lab(&self) -> Result<Lab, Failure> {
        let nodes = self.client.get("/nodes").await;
        let nodes = nodes.map_err(|error| error.into_failure("the nodes"))?;
        let mut nodes: Vec<LabNode> = rows(&nodes).filter_map(parse_node).collect();
        let guests = self.guests().await?;
        let hidden = match guests.as_slice() {
            [] => self.hidden().await?,
            _ => None,
        };
        for (node, guest) in guests {
            match nodes.iter_mut().find(|found| found.name == node) {
                Some(found) => found.guests.push(guest),
                // The token may see a guest and not its node.
                None => nodes.push(LabNode {
                    name: node,
                    status: NodeStatus::Unknown,
                    uptime_s: 0,
                    load: Load::default(),
                    guests: vec![guest],
                }),
            }
        }
        nodes.sort_by(|left, right| left.name.cmp(&right.name));
        for node in &mut nodes {
            node.guests.sort_by_key(|guest| guest.state.vmid);
        }
        Ok(Lab { nodes, hidden })
    }

    /// Every guest that the token may see, with its node.
    pub(super) async fn guests(&self) -> Result<Vec<(String, LabGuest)>, Failure> {
        let listed = self.client.get("/cluster/resources?type=vm").await;
        let listed = listed.map_err(|error| error.into_failure("the guests"))?;
        Ok(rows(&listed).filter_map(parse_guest).collect())
    }

    async fn hidden(&self) -> Result<Option<Failure>, Failure> {
        let sees = self.permissions().await?.grants_somewhere(AUDIT);
        Ok((!sees).then(|| {
            let message = format!("the token may look at no guest: it lacks {AUDIT}");
            Failure::new(FailureCode::NoPrivilege, message)
        }))
    }
}

fn parse_node(row: &Value) -> Option<LabNode> {
    let name = row.get("node")?.as_str()?;
    let status = match row.get("status").and_then(Value::as_str) {
        Some("online") => NodeStatus::Online,
        Some("offline") => NodeStatus::Offline,
        Some(_) | None => NodeStatus::Unknown,
    };
    let runs = status == NodeStatus::Online;
    Some(LabNode {
        name: text::escaped(text::cut(name, NODE_BYTES_MAX)),
        status,
        uptime_s: number(row.get("uptime")).unwrap_or(0),
        load: Load::parse(row, runs),
        guests: Vec::new(),
    })
}

fn parse_guest(row: &Value) -> Option<(String, LabGuest)> {
    let kind = match row.get("type")?.as_str()? {
        "lxc" => Guest::Lxc,
        "qemu" => Guest::Qemu,
        _ => return None,
    };
    // Templates are no guests that run.
    if number(row.get("template")) == Some(1) {
        return None;
    }
    let vmid = u32::try_from(number(row.get("vmid"))?).ok()?;
    // It may become part of a path.
    let node = row.get("node")?.as_str().filter(|node| is_word(node))?;
    let state = GuestState::parse(vmid, row)?;
    let load = Load::parse(row, state.status == GuestStatus::Running);
    Some((node.to_owned(), LabGuest { kind, state, load }))
}
