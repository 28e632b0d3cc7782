//! Names at Proxmox: the roles that Void needs, and the user and the token that get them.

use crate::settings::{Environment, Settings};

/// For guests that actions switch. One privilege covers start and stop alike.
pub(in crate::commands) const POWER: Role = Role {
    name: "VoidPower",
    privileges: "VM.PowerMgmt VM.Audit",
};
/// For guests that only a service's check looks at.
pub(in crate::commands) const WATCH: Role = Role {
    name: "VoidWatch",
    privileges: "VM.Audit",
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) struct Role {
    pub name: &'static str,
    /// As pveum takes them.
    pub privileges: &'static str,
}

/// The user and the token that Void is to have. Never its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::commands) struct TokenName {
    pub user: String,
    pub name: String,
}

impl TokenName {
    /// That of the settings, so that the commands fit a token that is there already.
    pub(in crate::commands) fn of(settings: &Settings, environment: &Environment) -> Self {
        let token = settings.proxmox.token.value.as_ref();
        token
            .and_then(|token| token.resolve(environment, "proxmox.token").ok())
            .and_then(|token| Self::parse(token.expose()))
            .unwrap_or_else(|| Self {
                user: "void@pve".to_owned(),
                name: "actions".to_owned(),
            })
    }

    /// That of the settings, whoever's it is; `None` if it cannot be read.
    pub(in crate::commands) fn set(settings: &Settings, environment: &Environment) -> Option<Self> {
        let token = settings.proxmox.token.value.as_ref()?;
        let token = token.resolve(environment, "proxmox.token").ok()?;
        Self::read(token.expose())
    }

    /// Root needs no grants, and is no account for this.
    fn parse(token: &str) -> Option<Self> {
        Self::read(token).filter(|token| token.user != "root@pam")
    }

    /// `user@realm!name=secret`.
    fn read(token: &str) -> Option<Self> {
        let (id, _) = token.split_once('=')?;
        let (user, name) = id.split_once('!')?;
        let (login, realm) = user.split_once('@')?;
        let is_word = |word: &str| {
            let plain = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
            !word.is_empty() && !word.starts_with('-') && word.bytes().all(plain)
        };
        let fits = [login, realm, name].into_iter().all(is_word);
        fits.then(|| Self {
            user: user.to_owned(),
            name: name.to_owned(),
        })
    }

    pub(super) fn id(&self) -> String {
        format!("{}!{}", self.user, self.name)
    }

    /// The command that takes `role` away again on one path.
    pub(in crate::commands) fn withdrawal(&self, path: &str, role: Role) -> String {
        format!("pveum acl delete {path} {}", self.holders(role))
    }

    pub(super) fn holders(&self, role: Role) -> String {
        format!(
            "--users {} --tokens '{}' --roles {}",
            self.user,
            self.id(),
            role.name
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_that_is_there_is_known_whoever_owns_it() {
        let read = |token: &str| TokenName::read(token).map(|token| token.id());
        assert_eq!(read("root@pam!ci=x-1").as_deref(), Some("root@pam!ci"));
        assert_eq!(read("ops@pve!void=x").as_deref(), Some("ops@pve!void"));
        assert_eq!(read("root@pam!$(id)=x"), None);
    }

    #[test]
    fn only_a_plain_name_is_taken_from_a_token() {
        let parsed = TokenName::parse("lab@pam!void-1=8b6ad8a5").unwrap();
        assert_eq!((&*parsed.user, &*parsed.name), ("lab@pam", "void-1"));
        for other in [
            "",
            "8b6ad8a5-1d2c",
            "lab@pam!void",
            "root@pam!void=x",
            "lab@pam!=x",
            "lab!void=x",
            "-lab@pam!void=x",
            "lab@pam!$(reboot)=x",
            "lab@pam!a'b=x",
        ] {
            assert_eq!(TokenName::parse(other), None, "{other}");
        }
    }
}
