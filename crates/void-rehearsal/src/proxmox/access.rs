//! Who may do what: users, their API tokens, per-path grants and pools, evaluated as Proxmox does.
//!
//! A grant on a deeper path replaces what is inherited; a grant that does not propagate counts on its
//! own path only; a token with privilege separation has the intersection of its own and its user's
//! rights, one without has its user's; an empty grant is the role `NoAccess`. Read from
//! `PVE/RPCEnvironment.pm` and `roles()` in `PVE/AccessControl.pm`, libpve-access-control 8.2.

use std::collections::{BTreeMap, BTreeSet};

use void_domain::time::Timestamp;

use crate::proxmox::roles;

pub(crate) const ROOT: &str = "root@pam";
const TOP_PATHS: [&str; 8] = [
    "/",
    "/access",
    "/access/groups",
    "/nodes",
    "/pool",
    "/sdn",
    "/storage",
    "/vms",
];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Access {
    pub users: Vec<User>,
    pub pools: Vec<Pool>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// `void@pve`.
    pub id: String,
    pub enabled: bool,
    pub acl: Vec<Acl>,
    pub tokens: Vec<Token>,
}

impl User {
    pub fn new(id: &str, acl: Vec<Acl>, tokens: Vec<Token>) -> Self {
        Self {
            id: id.to_owned(),
            enabled: true,
            acl,
            tokens,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What follows the `!`.
    pub name: String,
    pub secret: String,
    pub privsep: Privsep,
    /// Counts only with privilege separation.
    pub acl: Vec<Acl>,
    pub expires_at: Option<Timestamp>,
}

impl Token {
    /// A token that can at most what `acl` says.
    pub fn separated(name: &str, secret: &str, acl: Vec<Acl>) -> Self {
        Self {
            name: name.to_owned(),
            secret: secret.to_owned(),
            privsep: Privsep::On,
            acl,
            expires_at: None,
        }
    }

    /// A token that can all that its user can (`--privsep 0`).
    pub fn unseparated(name: &str, secret: &str) -> Self {
        Self {
            privsep: Privsep::Off,
            ..Self::separated(name, secret, Vec::new())
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privsep {
    On,
    Off,
}

/// One role on one path. No privileges at all is the role `NoAccess`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acl {
    pub path: String,
    pub privileges: Vec<String>,
    pub propagate: bool,
}

impl Acl {
    /// Propagates, as `pveum acl modify` does unless told otherwise.
    pub fn new(path: &str, privileges: &[&str]) -> Self {
        Self {
            path: path.to_owned(),
            privileges: privileges.iter().map(|&one| one.to_owned()).collect(),
            propagate: true,
        }
    }

    #[must_use]
    pub fn here_only(mut self) -> Self {
        self.propagate = false;
        self
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pool {
    pub name: String,
    pub vmids: Vec<u32>,
}

/// A token that proved its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    pub user: String,
    pub token: String,
}

impl Identity {
    pub(crate) fn full(&self) -> String {
        format!("{}!{}", self.user, self.token)
    }
}

/// Privileges on one path; the value says whether the privilege goes on to deeper ones.
pub(crate) type Permissions = BTreeMap<String, bool>;

impl Access {
    pub(crate) fn permissions(&self, who: &Identity, path: &str) -> Permissions {
        let Some((user, token)) = self.find(who) else {
            return Permissions::new();
        };
        match (token.privsep, user.id == ROOT) {
            (Privsep::Off, true) => roles::ADMINISTRATOR
                .iter()
                .map(|&one| (one.to_owned(), true))
                .collect(),
            (Privsep::Off, false) => self.granted(&user.acl, path),
            (Privsep::On, true) => self.granted(&token.acl, path),
            (Privsep::On, false) => {
                let (of_user, mut both) = (
                    self.granted(&user.acl, path),
                    self.granted(&token.acl, path),
                );
                both.retain(|privilege, propagate| {
                    let user_propagates = of_user.get(privilege);
                    *propagate &= user_propagates.copied().unwrap_or(false);
                    user_propagates.is_some()
                });
                both
            }
        }
    }

    pub(crate) fn allows(&self, who: &Identity, path: &str, privilege: &str) -> bool {
        self.permissions(who, path).contains_key(privilege)
    }

    /// Every path that any grant or pool names, and the top ones, where `who` may do something.
    pub(crate) fn effective(&self, who: &Identity) -> BTreeMap<String, Permissions> {
        let mut paths: BTreeSet<String> = TOP_PATHS.iter().map(|&path| path.to_owned()).collect();
        for user in &self.users {
            let of_tokens = user.tokens.iter().flat_map(|token| &token.acl);
            for acl in user.acl.iter().chain(of_tokens) {
                paths.extend(steps(&acl.path));
            }
        }
        for pool in &self.pools {
            paths.extend(pool.vmids.iter().map(|vmid| format!("/vms/{vmid}")));
        }
        let with_rights = paths.into_iter().map(|path| {
            let permissions = self.permissions(who, &path);
            (path, permissions)
        });
        with_rights
            .filter(|(_, permissions)| !permissions.is_empty())
            .collect()
    }

    pub(crate) fn pool_of(&self, vmid: u32) -> Option<&Pool> {
        self.pools.iter().find(|pool| pool.vmids.contains(&vmid))
    }

    pub(crate) fn user(&self, id: &str) -> Option<&User> {
        self.users.iter().find(|user| user.id == id)
    }

    fn find(&self, who: &Identity) -> Option<(&User, &Token)> {
        let user = self.user(&who.user)?;
        let token = user.tokens.iter().find(|token| token.name == who.token)?;
        Some((user, token))
    }

    /// What these grants give on `path`, those of a guest's pool included. `NoAccess` wins on either side.
    fn granted(&self, acl: &[Acl], path: &str) -> Permissions {
        let own = on_path(acl, path);
        let vmid = path.strip_prefix("/vms/").and_then(|id| id.parse().ok());
        let pool = vmid.and_then(|vmid| self.pool_of(vmid));
        let of_pool = pool.map_or_else(Vec::new, |pool| {
            on_path(acl, &format!("/pool/{}", pool.name))
        });
        if own
            .iter()
            .chain(&of_pool)
            .any(|one| one.privileges.is_empty())
        {
            return Permissions::new();
        }
        let mut granted = Permissions::new();
        let with_reach = own.iter().map(|one| (one, one.propagate));
        for (one, propagate) in with_reach.chain(of_pool.iter().map(|one| (one, false))) {
            for privilege in &one.privileges {
                *granted.entry(privilege.clone()).or_insert(false) |= propagate;
            }
        }
        granted
    }
}

/// The grants that count on `path`: those of the deepest step that has any which count there.
fn on_path<'a>(acl: &'a [Acl], path: &str) -> Vec<&'a Acl> {
    let steps = steps(path);
    let mut counting = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let is_final = index + 1 == steps.len();
        let here: Vec<&Acl> = acl
            .iter()
            .filter(|one| normalized(&one.path) == *step && (is_final || one.propagate))
            .collect();
        if !here.is_empty() {
            counting = here;
        }
    }
    counting
}

/// `/`, `/vms`, `/vms/107` for `/vms/107`.
fn steps(path: &str) -> Vec<String> {
    let mut steps = vec!["/".to_owned()];
    let mut so_far = String::new();
    for part in path.split('/').filter(|part| !part.is_empty()) {
        so_far.push('/');
        so_far.push_str(part);
        steps.push(so_far.clone());
    }
    steps
}

fn normalized(path: &str) -> String {
    steps(path).pop().unwrap_or_default()
}
