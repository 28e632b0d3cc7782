//! Several Voids on one database, and what only one of them can do: `local` is the machine of one
//! instance. Nobody else starts a run there, and nobody else can know how it ended (I40).

use std::fmt;

use serde::Serialize;

use crate::hosts::{Host, Reach};
use crate::ids::is_slug;

/// What an instance is called in the settings, and in the catalogue where a host is its machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct InstanceName(String);

impl InstanceName {
    /// How much of a machine's name a name made from it keeps.
    const FROM_MACHINE_MAX: usize = 32;

    pub fn parse(text: &str) -> Option<Self> {
        is_slug(text).then(|| Self(text.to_owned()))
    }

    /// A name for whoever was given none: the machine's, and enough of the id to be another one than
    /// that of a second instance there.
    pub fn made_from(machine: &str, id: &str) -> Self {
        let kept = |text: &str, max: usize| -> String {
            let lower = text.to_ascii_lowercase();
            let host = lower.split('.').next().unwrap_or_default();
            let slug: String = host
                .chars()
                .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
                .take(max)
                .collect();
            slug.trim_matches('-').to_owned()
        };
        let tail: String = id
            .chars()
            .rev()
            .take(4)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect();
        let machine = kept(machine, Self::FROM_MACHINE_MAX);
        let machine = if machine.is_empty() { "void" } else { &machine };
        Self(format!("{machine}-{}", kept(&tail, 4)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for InstanceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which instance may start a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartingInstance {
    /// The one that is asked.
    This,
    /// Another one, which is there.
    Other,
    /// Another one, which is not there.
    Away,
    /// Nobody: the catalogue does not say whose machine `local` is, and there are several.
    Ambiguous,
}

/// Which instance starts a run on this host. `others` are the other instances that are there, each on a machine
/// of its own.
pub fn starting_instance<'a>(
    host: Option<&Host>,
    own: &InstanceName,
    mut others: impl Iterator<Item = &'a InstanceName>,
) -> StartingInstance {
    let Some(host) = host.filter(|host| host.reach == Reach::Local) else {
        return StartingInstance::This;
    };
    match &host.instance {
        Some(named) if named == own => StartingInstance::This,
        Some(named) if others.any(|other| other == named) => StartingInstance::Other,
        Some(_) => StartingInstance::Away,
        None if others.next().is_none() => StartingInstance::This,
        None => StartingInstance::Ambiguous,
    }
}

/// Whether only the instance that claimed a run on this host can find out how it ended.
pub fn is_known_to_claimant_only(host: Option<&Host>) -> bool {
    host.is_some_and(|host| host.reach == Reach::Local)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::{HostName, SshAddress};

    fn name(text: &str) -> InstanceName {
        InstanceName::parse(text).unwrap()
    }

    fn host(reach: Reach, instance: Option<&str>) -> Host {
        Host {
            name: HostName::parse("box").unwrap(),
            reach,
            instance: instance.map(name),
        }
    }

    fn ssh() -> Reach {
        Reach::Ssh(SshAddress {
            address: "nas".into(),
            port: 22,
            user: "voidact".into(),
            host_key: None,
        })
    }

    #[test]
    fn only_a_local_host_belongs_to_an_instance() {
        let (alpha, beta) = (name("alpha"), name("beta"));
        let at = |host: Option<&Host>, others: &[InstanceName]| {
            starting_instance(host, &alpha, others.iter())
        };
        let others = [beta.clone()];
        assert_eq!(at(None, &others), StartingInstance::This);
        assert_eq!(
            at(Some(&host(ssh(), None)), &others),
            StartingInstance::This
        );
        let bare = host(Reach::Local, None);
        assert_eq!(at(Some(&bare), &[]), StartingInstance::This);
        assert_eq!(at(Some(&bare), &others), StartingInstance::Ambiguous);
        let own = host(Reach::Local, Some("alpha"));
        assert_eq!(at(Some(&own), &others), StartingInstance::This);
        assert_eq!(at(Some(&own), &[]), StartingInstance::This);
        let theirs = host(Reach::Local, Some("beta"));
        assert_eq!(at(Some(&theirs), &others), StartingInstance::Other);
        assert_eq!(at(Some(&theirs), &[]), StartingInstance::Away);
        assert_eq!(at(Some(&theirs), &[name("gamma")]), StartingInstance::Away);
        assert!(is_known_to_claimant_only(Some(&bare)));
        assert!(is_known_to_claimant_only(Some(&theirs)));
        assert!(!is_known_to_claimant_only(Some(&host(ssh(), None))));
        assert!(!is_known_to_claimant_only(None));
    }

    #[test]
    fn a_made_name_is_a_name() {
        for machine in [
            "NAS.lan",
            "",
            "-",
            "über_host",
            &"a".repeat(200),
            "a-",
            "...",
            "x y",
        ] {
            let made = InstanceName::made_from(machine, "0190f6f0-0000-7000-8000-00000000ab12");
            assert_eq!(
                InstanceName::parse(made.as_str()),
                Some(made.clone()),
                "{machine}"
            );
            assert!(made.as_str().ends_with("-ab12"), "{made}");
        }
        assert_eq!(
            InstanceName::made_from("NAS.lan", "ab12").as_str(),
            "nas-ab12"
        );
    }
}
