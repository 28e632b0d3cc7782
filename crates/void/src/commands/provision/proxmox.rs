//! `void provision proxmox`: a user and a token that may look at and switch the guests of the
//! catalogue, and nothing else.
//!
//! With privilege separation a token can do what it and its user may both do, so every grant is given
//! to both. Each command can be run again: what is there already is set to the same.

mod accounts;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use void_domain::catalogue::Catalogue;
use void_domain::executions::{Guest, Route};
use void_domain::failures::FailureCode;
use void_domain::services::{Check, Location, Services};

pub(in crate::commands) use self::accounts::{POWER, Role, TokenName, WATCH};
use crate::commands::Session;
use crate::exit::{CommandError, Exit};
use crate::output::Output;
use crate::{catalogue, services};

/// What pveproxy shows: its own certificate if the node has one, else the cluster's.
const FINGERPRINT: &str = "for file in pveproxy-ssl.pem pve-ssl.pem; do openssl x509 -noout -fingerprint -sha256 -in /etc/pve/local/$file 2>/dev/null && break; done";

pub(super) fn run(session: &Session<'_>) -> Result<Exit, CommandError> {
    let catalogue = catalogue::load(&session.settings)?;
    let services = services::load(&session.settings)?;
    let grants = grants(&catalogue, &services);
    if grants.is_empty() {
        let message = "nothing here goes through Proxmox: no action of the catalogue switches a guest, and no service watches one";
        return Err(CommandError::new(FailureCode::NoGuests, message)
            .next("add a guest_power action to the catalogue, then run this again"));
    }
    let plan = ProxmoxPlan {
        token: TokenName::of(&session.settings, session.environment),
        url: session.settings.proxmox.url.value.clone(),
        settings_file: session.settings.config_file.value.display().to_string(),
        grants,
    };
    if session.output.json {
        session.output.value(plan.to_value());
    } else {
        session.output.line(plan.script(session.output));
    }
    Ok(Exit::Done)
}

/// What the token may do with one guest, and what for.
struct Grant {
    node: String,
    guest: Option<Guest>,
    role: Role,
    actions: Vec<String>,
    services: Vec<String>,
}

fn grants(catalogue: &Catalogue, services: &Services) -> BTreeMap<u32, Grant> {
    let mut grants: BTreeMap<u32, Grant> = BTreeMap::new();
    for action in catalogue.actions() {
        if let Route::Proxmox(power) = action.route() {
            let grant = grants.entry(power.vmid).or_insert_with(|| Grant {
                node: power.node.clone(),
                guest: Some(power.guest),
                role: POWER,
                actions: Vec::new(),
                services: Vec::new(),
            });
            grant.actions.push(action.id.to_string());
        }
    }
    for service in services.iter() {
        if let (Check::Guest, Some(Location::Guest { node, vmid })) =
            (&service.check, &service.place)
        {
            let grant = grants.entry(*vmid).or_insert_with(|| Grant {
                node: node.clone(),
                guest: None,
                role: WATCH,
                actions: Vec::new(),
                services: Vec::new(),
            });
            grant.services.push(service.id.to_string());
        }
    }
    grants
}

struct ProxmoxPlan {
    token: TokenName,
    url: Option<String>,
    settings_file: String,
    grants: BTreeMap<u32, Grant>,
}

impl ProxmoxPlan {
    fn roles(&self) -> impl Iterator<Item = Role> {
        let is_used = |role: &Role| self.grants.values().any(|grant| grant.role == *role);
        [POWER, WATCH].into_iter().filter(is_used)
    }

    /// Makes what is not there, and brings what is there into step.
    fn accounts(&self) -> Vec<String> {
        let TokenName { user, name } = &self.token;
        let mut commands: Vec<String> = self
            .roles()
            .map(|role| {
                let rest = format!("{} --privs '{}'", role.name, role.privileges);
                format!("pveum role add {rest} 2>/dev/null || pveum role modify {rest}")
            })
            .collect();
        commands.push(format!("pveum user add {user} --comment Void 2>/dev/null || pveum user modify {user} --comment Void"));
        commands.push(format!("pveum user token add {user} {name} --privsep 1 2>/dev/null || pveum user token modify {user} {name} --privsep 1"));
        commands
    }

    fn grant(&self, vmid: u32, grant: &Grant) -> String {
        format!(
            "pveum acl modify /vms/{vmid} {}",
            self.token.holders(grant.role)
        )
    }

    fn removal(&self) -> Vec<String> {
        let TokenName { user, name } = &self.token;
        let mut commands = vec![
            format!("pveum user token delete {user} {name}"),
            format!("pveum user delete {user}"),
        ];
        commands.extend(
            self.roles()
                .map(|role| format!("pveum role delete {}", role.name)),
        );
        commands
    }

    fn url(&self) -> &str {
        self.url.as_deref().unwrap_or("https://ADDRESS:8006")
    }

    fn settings(&self) -> [(&'static str, String); 3] {
        [
            ("PROXMOX_API_URL", self.url().to_owned()),
            ("PROXMOX_API_TOKEN", format!("{}=VALUE", self.token.id())),
            ("PROXMOX_FINGERPRINT", "AB:CD:…".to_owned()),
        ]
    }

    fn to_value(&self) -> Value {
        let guests = self.grants.iter().map(|(vmid, grant)| {
            json!({
                "vmid": vmid, "node": grant.node, "guest": grant.guest.map(Guest::as_str), "role": grant.role.name,
                "actions": grant.actions, "services": grant.services,
            })
        });
        let roles = self.roles().map(|role| {
            let privileges: Vec<&str> = role.privileges.split(' ').collect();
            (role.name.to_owned(), json!(privileges))
        });
        let acls = self.grants.iter().map(|(vmid, one)| self.grant(*vmid, one));
        let settings = self
            .settings()
            .map(|(name, value)| (name.to_owned(), json!(value)));
        json!({
            "user": self.token.user,
            "token": self.token.id(),
            "roles": Value::Object(roles.collect()),
            "guests": guests.collect::<Vec<_>>(),
            "commands": self.accounts().into_iter().chain(acls).collect::<Vec<_>>(),
            "fingerprint_command": FINGERPRINT,
            "settings": Value::Object(settings.into_iter().collect()),
            "removal": self.removal(),
        })
    }

    /// One text to run on a node as root; what belongs elsewhere is a comment in it.
    fn script(&self, output: &Output) -> String {
        let mut lines = vec![
            "# For Proxmox: run this as root on one node of the cluster. Made from the catalogue; run it again after".to_owned(),
            "# every change of it: what is there already stays, and keeps its secret.".to_owned(),
        ];
        lines.extend(self.accounts());
        lines.push("# A new token's secret is shown this once, as \"value\". If it is lost: pveum user token delete".to_owned());
        lines.push(format!(
            "# {} {}, then all of this again.",
            self.token.user, self.token.name
        ));
        lines.push(String::new());
        for (vmid, grant) in &self.grants {
            let kind = match grant.guest {
                Some(Guest::Lxc) => "CT",
                Some(Guest::Qemu) => "VM",
                None => "guest",
            };
            let watched = grant.services.iter().map(|id| format!("the check of {id}"));
            let all: Vec<String> = grant.actions.iter().cloned().chain(watched).collect();
            let what_for = all.join(", ");
            lines.push(format!("# {kind} {vmid} on {}: {what_for}", grant.node));
            lines.push(self.grant(*vmid, grant));
        }
        lines.push(String::new());
        lines.push(
            "# The certificate that Void is to trust; on the node that PROXMOX_API_URL names:"
                .to_owned(),
        );
        lines.push(FINGERPRINT.to_owned());
        lines.push(String::new());
        lines.extend(self.afterwards(output));
        lines.join("\n")
    }

    fn afterwards(&self, output: &Output) -> Vec<String> {
        let mut lines =
            vec!["# Then on Void's machine, in the environment of void serve:".to_owned()];
        let settings = self.settings();
        lines.extend(settings.map(|(name, value)| format!("#   {name}='{value}'")));
        lines.push(format!(
            "# or in {}, with the token in a file of mode 0600:",
            self.settings_file
        ));
        let table = [
            "[proxmox]".to_owned(),
            format!("url = \"{}\"", self.url()),
            format!("token = \"file:PATH\"   # {}=VALUE", self.token.id()),
            "fingerprint = \"AB:CD:…\"".to_owned(),
        ];
        lines.extend(table.map(|line| format!("#   {line}")));
        lines.push(output.typed("# and start it again. void doctor says whether the token fits the catalogue, and names"));
        lines.push("# what to take away for a guest that has left it.".to_owned());
        lines.push("#".to_owned());
        lines.push("# To remove all of it, on one node:".to_owned());
        lines.extend(self.removal().into_iter().map(|line| format!("#   {line}")));
        lines
    }
}
