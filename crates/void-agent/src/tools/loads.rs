//! How busy and how full nodes and guests are, as Proxmox tells it. Numbers, and names that are spelled like a machine's:
//! what somebody called a guest is not in here.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use void_control::lab::{self, GuestStatus, LabGuest, LabNode, Load};
use void_domain::conversations::MachineName;

use super::Call;

/// Of each; the fullest come first, and what is beyond is counted.
const NAMED_MAX: usize = 50;
/// Several questions of one turn cost Proxmox one.
const AGE_MAX: Duration = Duration::from_secs(10);

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MachineLoads {
    /// Whether a Proxmox is connected at all.
    connected: bool,
    /// Why it did not answer, or what it hides, as a stable word.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    nodes: Vec<NodeLoad>,
    /// Those that run.
    guests: Vec<GuestLoad>,
    left_out: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct NodeLoad {
    name: String,
    /// online, offline or unknown
    status: &'static str,
    #[serde(flatten)]
    load: Shares,
}

#[derive(Debug, Serialize, JsonSchema)]
struct GuestLoad {
    vmid: u32,
    node: String,
    #[serde(flatten)]
    load: Shares,
}

/// Percent of what there is; left out where it is not known.
#[derive(Debug, Serialize, JsonSchema)]
struct Shares {
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_percent: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpus: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_percent: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_bytes_max: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disk_percent: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disk_bytes_max: Option<u64>,
}

impl Shares {
    fn of(load: &Load) -> Self {
        Self {
            cpu_percent: load.cpu_permille.map(|permille| permille.div_ceil(10)),
            cpus: load.cpus,
            memory_percent: percent(load.memory_bytes, load.memory_bytes_max),
            memory_bytes_max: load.memory_bytes_max,
            disk_percent: percent(load.disk_bytes, load.disk_bytes_max),
            disk_bytes_max: load.disk_bytes_max,
        }
    }

    /// Of what runs out; a busy processor does not.
    fn fullest(&self) -> u64 {
        let shares = [self.memory_percent, self.disk_percent];
        shares.into_iter().flatten().max().unwrap_or(0)
    }
}

fn percent(used: Option<u64>, max: Option<u64>) -> Option<u64> {
    let (used, max) = (u128::from(used?), u128::from(max?));
    u64::try_from((used * 100).div_ceil(max.max(1))).ok()
}

pub(super) async fn look(call: &Call) -> MachineLoads {
    if !lab::is_connected(&call.control) {
        return MachineLoads {
            connected: false,
            problem: None,
            nodes: Vec::new(),
            guests: Vec::new(),
            left_out: 0,
        };
    }
    let sight = lab::look(&call.control, AGE_MAX).await;
    let (seen, problem) = match &sight.lab {
        Ok(lab) => (lab.nodes.as_slice(), lab.hidden.as_ref()),
        Err(failure) => (Default::default(), Some(failure)),
    };
    let (nodes, nodes_left) = cut(seen.iter().filter_map(node_load), |node| {
        node.load.fullest()
    });
    let guests = seen
        .iter()
        .flat_map(|node| node.guests.iter().map(move |guest| (node, guest)));
    let guests = guests.filter_map(|(node, guest)| guest_load(node, guest));
    let (guests, guests_left) = cut(guests, |guest| guest.load.fullest());
    MachineLoads {
        connected: true,
        problem: problem.map(|failure| failure.code.to_string()),
        nodes,
        guests,
        left_out: nodes_left + guests_left,
    }
}

fn node_load(node: &LabNode) -> Option<NodeLoad> {
    Some(NodeLoad {
        name: MachineName::parse(&node.name)?.as_str().to_owned(),
        status: node.status.as_str(),
        load: Shares::of(&node.load),
    })
}

fn guest_load(node: &LabNode, guest: &LabGuest) -> Option<GuestLoad> {
    let runs = guest.state.status == GuestStatus::Running;
    let node = MachineName::parse(&node.name).filter(|_| runs)?;
    Some(GuestLoad {
        vmid: guest.state.vmid,
        node: node.as_str().to_owned(),
        load: Shares::of(&guest.load),
    })
}

/// The first of them by this, and how many are left out.
fn cut<T>(all: impl Iterator<Item = T>, fullest: impl Fn(&T) -> u64) -> (Vec<T>, usize) {
    let mut all: Vec<T> = all.collect();
    all.sort_by_key(|one| std::cmp::Reverse(fullest(one)));
    let left_out = all.len().saturating_sub(NAMED_MAX);
    all.truncate(NAMED_MAX);
    (all, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_left_out_and_nearly_all_is_never_less() {
        assert_eq!(percent(None, Some(8)), None);
        assert_eq!(percent(Some(8), None), None);
        assert_eq!(percent(Some(0), Some(8)), Some(0));
        assert_eq!(percent(Some(997), Some(1000)), Some(100));
        assert_eq!(percent(Some(u64::MAX), Some(u64::MAX)), Some(100));
        assert_eq!(percent(Some(1), Some(0)), Some(100));
        let nothing = Shares::of(&Load::default());
        assert_eq!(serde_json::json!(nothing), serde_json::json!({}));
    }
}
