//! What the Proxmox token may do, beside what the catalogue and the services need.

use std::collections::BTreeMap;

use void_channels::{Excess, Probe, Shortage};
use void_domain::services::{Check, Location, Services};

use super::definitions::Definitions;
use super::findings::Findings;
use crate::commands::Session;
use crate::commands::provision::proxmox::{POWER, TokenName, WATCH};

/// A token of an administrator has hundreds; a few say enough.
const PATHS_SHOWN_MAX: usize = 4;
const PRIVILEGES_SHOWN_MAX: usize = 3;
const GUESTS_SHOWN_MAX: usize = 10;

const CHECK: &str = "proxmox rights";
const PROVISION: &str = "run on a node what void provision proxmox prints";

pub(super) async fn check(
    session: &Session<'_>,
    probe: &Probe<'_>,
    definitions: &Definitions,
    findings: &mut Findings,
) {
    // What is needed is known only if both files can be read.
    let (Some(_), Some(services)) = (&definitions.catalogue, &definitions.services) else {
        return;
    };
    let rights = match probe.proxmox_rights().await {
        Ok(rights) => rights,
        Err(failure) => {
            let next = "on the node: journalctl -u pveproxy -n 20";
            findings.wrong(CHECK, failure.message, next);
            return;
        }
    };
    let watched = watched(services);
    let excesses: Vec<&Excess> = rights
        .excesses
        .iter()
        .filter(|excess| !is_for_a_check(excess, &watched))
        .collect();
    // The token that is there, root's too: the commands are about it and no other.
    let token = TokenName::set(&session.settings, session.environment);
    let token = token.unwrap_or_else(|| TokenName::of(&session.settings, session.environment));
    describe_excesses(&token, &excesses, findings);
    describe_shortages(&rights.shortages, findings);
    let unseen = check_watched(probe, &watched, findings).await;
    if excesses.is_empty() && rights.shortages.is_empty() && !unseen {
        findings.fine(
            CHECK,
            "the token may do what the catalogue needs, and no more",
        );
    }
}

/// Guests that services watch: number → service.
pub(super) fn watched(services: &Services) -> BTreeMap<u32, &str> {
    let guests = services
        .iter()
        .filter_map(|service| match (&service.check, &service.place) {
            (Check::Guest, Some(Location::Guest { vmid, .. })) => {
                Some((*vmid, service.id.as_str()))
            }
            (Check::Guest | Check::Http(_) | Check::Tcp { .. }, _) => None,
        });
    guests.collect()
}

fn vmid(excess: &Excess) -> Option<u32> {
    excess.path.strip_prefix("/vms/")?.parse().ok()
}

fn is_for_a_check(excess: &Excess, watched: &BTreeMap<u32, &str>) -> bool {
    let looks = excess.privileges.iter().all(|name| name == "VM.Audit");
    looks && vmid(excess).is_some_and(|vmid| watched.contains_key(&vmid))
}

fn describe_excesses(token: &TokenName, excesses: &[&Excess], findings: &mut Findings) {
    // What this program itself has granted once, for guests that have left the catalogue.
    let (left, other): (Vec<&Excess>, Vec<&Excess>) = excesses.iter().partition(|excess| {
        let ours = |name: &String| name == "VM.PowerMgmt" || name == "VM.Audit";
        vmid(excess).is_some() && excess.privileges.iter().all(ours)
    });
    for excess in left.iter().take(PATHS_SHOWN_MAX) {
        let message = format!("no action needs {}", shown(excess));
        if excess.only_reads {
            findings.warn(CHECK, message, token.withdrawal(&excess.path, WATCH));
        } else {
            findings.wrong(CHECK, message, token.withdrawal(&excess.path, POWER));
        }
    }
    if left.len() > PATHS_SHOWN_MAX {
        let more = left.len() - PATHS_SHOWN_MAX;
        let message = format!("{more} more guests that no action needs");
        findings.wrong(
            CHECK,
            message,
            "the same commands for those; then void doctor again",
        );
    }
    if other.is_empty() {
        return;
    }
    let paths: Vec<String> = other
        .iter()
        .take(PATHS_SHOWN_MAX)
        .map(|one| shown(one))
        .collect();
    let more = match other.len().saturating_sub(PATHS_SHOWN_MAX) {
        0 => String::new(),
        more => format!(", and {more} more paths"),
    };
    let message = format!(
        "the token may do what no action needs: {}{more}",
        paths.join("; ")
    );
    let next = format!(
        "pveum user token permissions {} {} shows all; give Void a token of its own: void provision proxmox",
        token.user, token.name
    );
    if other.iter().all(|excess| excess.only_reads) {
        findings.warn(CHECK, message, next);
    } else {
        findings.wrong(CHECK, message, next);
    }
}

fn shown(excess: &Excess) -> String {
    let few: Vec<&str> = excess
        .privileges
        .iter()
        .take(PRIVILEGES_SHOWN_MAX)
        .map(String::as_str)
        .collect();
    let more = match excess.privileges.len().saturating_sub(PRIVILEGES_SHOWN_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more} on {}", few.join(", "), excess.path)
}

fn few(guests: &[String]) -> String {
    let shown: Vec<&str> = guests
        .iter()
        .take(GUESTS_SHOWN_MAX)
        .map(String::as_str)
        .collect();
    match guests.len().saturating_sub(GUESTS_SHOWN_MAX) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn describe_shortages(shortages: &[Shortage], findings: &mut Findings) {
    let mut lacking: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for shortage in shortages {
        let guests = lacking.entry(shortage.privilege).or_default();
        guests.push(shortage.vmid.to_string());
    }
    for (privilege, guests) in lacking {
        let message = format!(
            "the token lacks {privilege} for the guests {}",
            few(&guests)
        );
        findings.wrong(CHECK, message, PROVISION);
    }
}

/// Whether a guest that a service watches is out of sight. Its service stays unknown.
async fn check_watched(
    probe: &Probe<'_>,
    watched: &BTreeMap<u32, &str>,
    findings: &mut Findings,
) -> bool {
    if watched.is_empty() {
        return false;
    }
    let lab = match probe.lab().await {
        Ok(lab) => lab,
        Err(failure) => {
            findings.wrong(CHECK, failure.message, PROVISION);
            return true;
        }
    };
    let unseen: Vec<String> = watched
        .iter()
        .filter(|(vmid, _)| lab.guest(**vmid).is_none())
        .map(|(vmid, service)| format!("{vmid} ({service})"))
        .collect();
    if unseen.is_empty() {
        return false;
    }
    let message = format!(
        "services watch guests that the token does not see, or that are gone: {}",
        few(&unseen)
    );
    findings.wrong(CHECK, message, PROVISION);
    true
}
