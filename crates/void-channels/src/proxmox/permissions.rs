//! What the token may do, compared with what the catalogue needs. One privilege covers start and stop
//! alike, so a token can never be as narrow as the catalogue; this says how much wider it is.
//!
//! `/access/permissions` maps paths to privileges, each with whether it goes on to deeper paths. Paths
//! without any are left out, so what a token lacks on a guest is asked for by the guest's own path.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;
use void_domain::proposals::Failure;
use void_domain::text;

use super::Proxmox;

pub(super) const POWER: &str = "VM.PowerMgmt";
pub(super) const AUDIT: &str = "VM.Audit";
/// How busy and how full a node is, which the Lab shows where the token may see it.
const NODE_AUDIT: &str = "Sys.Audit";
const WORD_BYTES_MAX: usize = 100;

/// The token's rights beside the catalogue's needs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Rights {
    /// What it may do that no action needs.
    pub excesses: Vec<Excess>,
    /// What it lacks for guests of the catalogue.
    pub shortages: Vec<Shortage>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Excess {
    pub path: String,
    pub privileges: Vec<String>,
    /// Whether all of it is looking only.
    pub only_reads: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shortage {
    pub vmid: u32,
    pub privilege: &'static str,
}

/// Path → privileges.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Permissions(BTreeMap<String, BTreeSet<String>>);

impl Permissions {
    fn parse(data: &Value) -> Self {
        let shown = |word: &String| text::escaped(text::cut(word, WORD_BYTES_MAX));
        let paths = data.as_object().into_iter().flatten();
        let paths = paths.map(|(path, privileges)| {
            let held = privileges.as_object().into_iter().flatten();
            (shown(path), held.map(|(name, _)| shown(name)).collect())
        });
        Self(paths.collect())
    }

    pub(super) fn grants_somewhere(&self, privilege: &str) -> bool {
        self.0.values().any(|held| held.contains(privilege))
    }

    /// What goes beyond looking at and switching these guests, and looking at nodes.
    fn excesses(&self, guests: &BTreeSet<u32>) -> Vec<Excess> {
        let beyond = self.0.iter().map(|(path, held)| {
            let vmid = path.strip_prefix("/vms/").and_then(|id| id.parse().ok());
            let switches = vmid.is_some_and(|vmid| guests.contains(&vmid));
            let is_node = path == "/nodes" || path.starts_with("/nodes/");
            let is_needed = |privilege: &str| match privilege {
                POWER | AUDIT => switches,
                NODE_AUDIT => is_node,
                _ => false,
            };
            let beyond = held.iter().filter(|privilege| !is_needed(privilege));
            let privileges: Vec<String> = beyond.cloned().collect();
            Excess {
                path: path.clone(),
                only_reads: privileges.iter().all(|name| name.ends_with(".Audit")),
                privileges,
            }
        });
        beyond
            .filter(|excess| !excess.privileges.is_empty())
            .collect()
    }

    fn shortages(&self, vmid: u32) -> Vec<Shortage> {
        let held = self.0.get(&format!("/vms/{vmid}"));
        [POWER, AUDIT]
            .into_iter()
            .filter(|privilege| !held.is_some_and(|held| held.contains(*privilege)))
            .map(|privilege| Shortage { vmid, privilege })
            .collect()
    }
}

impl Proxmox {
    pub(super) async fn permissions(&self) -> Result<Permissions, Failure> {
        self.permissions_at("/access/permissions").await
    }

    /// One call for everything and one for each guest.
    pub(crate) async fn rights(&self, guests: &BTreeSet<u32>) -> Result<Rights, Failure> {
        let excesses = self.permissions().await?.excesses(guests);
        let mut shortages = Vec::new();
        for vmid in guests {
            let path = format!("/access/permissions?path=/vms/{vmid}");
            shortages.extend(self.permissions_at(&path).await?.shortages(*vmid));
        }
        Ok(Rights {
            excesses,
            shortages,
        })
    }

    async fn permissions_at(&self, path: &str) -> Result<Permissions, Failure> {
        let data = self.client.get(path).await;
        let data = data.map_err(|error| error.into_failure("the token's rights"))?;
        Ok(Permissions::parse(&data))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_privilege_that_does_not_go_deeper_is_held_all_the_same() {
        let guests = BTreeSet::from([105]);
        let here = |flag: Value| {
            Permissions::parse(&json!({"/vms/105": {POWER: flag, AUDIT: flag, "VM.Console": flag}}))
        };
        for flag in [json!(1), json!(0), json!("1"), json!("0")] {
            let permissions = here(flag);
            assert_eq!(permissions.shortages(105), []);
            let [excess] = &permissions.excesses(&guests)[..] else {
                panic!("{permissions:?}")
            };
            assert_eq!(
                (excess.only_reads, &*excess.privileges[0]),
                (false, "VM.Console")
            );
        }
        assert_eq!(Permissions::parse(&json!(null)).shortages(105).len(), 2);
        assert_eq!(Permissions::parse(&json!({"/": {}})).excesses(&guests), []);
    }
}
