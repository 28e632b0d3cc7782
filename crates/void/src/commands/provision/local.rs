//! `void provision local`: the list, state folder and sudoers lines of the machine that Void lives on, for the
//! account that runs Void. What is printed is run by root; what belongs to the account is done as the account.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde_json::json;
use void_act::{Entry, LIST_VERSION, List, sudo_command};
use void_domain::catalogue::Catalogue;
use void_domain::failures::FailureCode;
use void_domain::hosts::{HostName, Reach};

use super::scripts::Script;
use super::ssh;
use crate::commands::{Session, quoted};
use crate::exit::{CommandError, Exit};
use crate::{accounts, catalogue};

const ROOT: &str = "root";
/// A file of its own: the machine may be reached by SSH too.
const SUDOERS: &str = "void-local";
const SERVICE: &str = "void.service";
/// Where units are, the machine's own first.
const UNITS: [&str; 2] = ["/etc/systemd/system", "/usr/lib/systemd/system"];
const UNCONFINED: &str = include_str!("../../../../../deploy/void-local.conf");

pub(super) fn run(session: &Session<'_>, user: Option<&str>) -> Result<Exit, CommandError> {
    if is_bare_container(Path::new("/")) {
        let message = "this is a container without systemd: what runs on the machine around it is not reached from here";
        return Err(CommandError::config(message).next(
            "reach that machine by SSH (void provision ssh HOST) or as a node (void node invite NAME); docs/operations.md",
        ));
    }
    let catalogue = catalogue::load(&session.settings)?;
    let account = match user {
        Some(name) => named_account(name)?,
        None => account_of(&session.settings.data.value)?,
    };
    let plan = LocalPlan::new(session, &catalogue, account)?;
    if session.output.json {
        session.output.value(json!({
            "host": HostName::LOCAL,
            "account": plan.account,
            "list": plan.list,
            "list_file": plan.list_file,
            "state": plan.state,
            "sudoers": plan.sudoers,
        }));
    } else {
        let user = user.map(|user| format!(" --user {}", quoted(user)));
        let again = format!("provision local{}", user.unwrap_or_default());
        let check = session.again("hosts check local");
        session
            .output
            .line(plan.script(&session.again(&again), &check));
    }
    Ok(Exit::Done)
}

/// Whether this is a container with a program and nothing else: no service manager, so no services of its own.
fn is_bare_container(root: &Path) -> bool {
    let has = |files: &[&str]| files.iter().any(|file| root.join(file).exists());
    has(&[".dockerenv", "run/.containerenv"]) && !has(&["usr/bin/systemctl", "bin/systemctl"])
}

struct LocalPlan {
    account: String,
    list: List,
    list_file: PathBuf,
    state: PathBuf,
    sudoers: Vec<String>,
    /// This program, as the account starts it.
    program: PathBuf,
}

impl LocalPlan {
    fn new(
        session: &Session<'_>,
        catalogue: &Catalogue,
        account: String,
    ) -> Result<Self, CommandError> {
        let mut entries = catalogue
            .hosts()
            .filter(|host| host.reach == Reach::Local)
            .flat_map(|host| catalogue.actions_on(&host.name))
            .map(|action| ssh::entry(action))
            .collect::<Result<Vec<_>, _>>()?;
        if entries.is_empty() {
            let message = "no action of the catalogue runs on this machine";
            return Err(CommandError::new(FailureCode::NotFound, message).next(
                "write one with \"host\": \"local\"; void actions ls shows where the others run",
            ));
        }
        if account == ROOT {
            entries.iter_mut().for_each(without_sudo);
        }
        let settings = &session.settings;
        let program = std::env::current_exe()
            .map_err(|error| CommandError::failed(FailureCode::Internal, error.to_string()))?;
        Ok(Self {
            sudoers: ssh::sudoers_lines(&account, &entries),
            account,
            list: List {
                version: LIST_VERSION,
                host: HostName::LOCAL.to_owned(),
                stop_file: settings.local_list.value.with_file_name("stop"),
                entries,
            },
            list_file: settings.local_list.value.clone(),
            state: settings.local_state.value.clone(),
            program: settings.local_program.value.clone().unwrap_or(program),
        })
    }

    /// `again` prints it, `check` tries what it made.
    fn script(&self, again: &str, check: &str) -> String {
        let account = &self.account;
        let mut script = Script::new(&format!(
            "For this machine, where Void runs as {account}: read it, then run it as root:\n# {again} | sudo sh\n# Made from the catalogue; run it again after every change of it."
        ));
        let list = self.list_file.display().to_string();
        script.step("looking at the list that is here already");
        script.line(format!(
            "if [ -e {list} ] && ! grep -Eq '\"host\": ?\"{host}\"' {list}; then echo {why} >&2; exit 1; fi",
            list = quoted(&list),
            host = HostName::LOCAL,
            why = quoted(&format!(
                "{list} is the list of another host: this machine is reached by SSH too. Set list under [local] in void.toml to another file"
            )),
        ));
        script.step("writing the list");
        script.list(&self.list_file, &self.list);
        script.step("making the state folder");
        let state = quoted(&self.state.display().to_string());
        script.line(self.as_account(&format!("umask 077 && mkdir -p {state} && test -w {state}")));
        if self.account != ROOT {
            script.step("writing the sudoers lines");
            script.sudoers(SUDOERS, &self.sudoers);
            script.step("trying what sudo allows");
            for entry in &self.list.entries {
                if let Some(command) = sudo_command(entry) {
                    let command: Vec<String> = command.iter().map(|word| quoted(word)).collect();
                    let command = command.join(" ");
                    script.line(self.as_account(&format!("sudo -n -l {command} >/dev/null")));
                }
            }
        }
        if !self.sudoers.is_empty() {
            script.step("letting the service use sudo");
            self.unconfine_service(&mut script);
        }
        script.step("having void-act check the list");
        let program = self.program.display().to_string();
        let act = if self.program.file_name() == Some("void-act".as_ref()) {
            quoted(&program)
        } else {
            format!("{} act", quoted(&program))
        };
        script.line(self.as_account(&format!("{act} --check --list {}", quoted(&list))));
        script.done(&format!(
            "Done: this machine has its list, {account} its state folder and {} sudoers lines. Next: {check}",
            self.sudoers.len()
        ))
    }

    /// Where Void is a service of this machine, its unit keeps all of it from becoming root, sudo included.
    fn unconfine_service(&self, script: &mut Script) {
        let user = quoted(&format!("User={}", self.account));
        let units = UNITS.map(|folder| format!("{folder}/{SERVICE}")).join(" ");
        script.line(format!("if grep -qsx {user} {units}; then"));
        let folder = format!("{}/{SERVICE}.d", UNITS[0]);
        script.line(format!("install -d -m 0755 -o root -g root {folder}"));
        let file = Path::new(&folder).join("void-local.conf");
        script.file(&file, "0644", UNCONFINED.trim_end());
        script.line("systemctl daemon-reload");
        let told = format!(
            "The unit {SERVICE} lets sudo work from its next start on: systemctl restart void"
        );
        script.line(format!("echo {}\nfi", quoted(&told)));
    }

    /// Root runs nothing that the account could have changed.
    fn as_account(&self, command: &str) -> String {
        if self.account == ROOT {
            return format!("sh -c {}", quoted(command));
        }
        let (command, account) = (quoted(command), quoted(&self.account));
        format!("su -s /bin/sh -c {command} {account}")
    }
}

/// Root needs no leave of its own.
fn without_sudo(entry: &mut Entry) {
    if sudo_command(entry).is_some() {
        entry.argv.drain(..2);
    }
}

/// Who the data folder belongs to runs Void; before there is one, whoever asks will.
fn account_of(data: &Path) -> Result<String, CommandError> {
    let owner = std::fs::metadata(data).map(|folder| folder.uid());
    let uid = owner.unwrap_or_else(|_| rustix::process::geteuid().as_raw());
    accounts::name_of(uid).ok_or_else(|| {
        let message = format!("/etc/passwd has no account with the number {uid}");
        CommandError::config(message).next("void provision local --user ACCOUNT")
    })
}

fn named_account(name: &str) -> Result<String, CommandError> {
    accounts::named(name).ok_or_else(|| {
        let message = "/etc/passwd has no such account";
        CommandError::new(FailureCode::NotFound, message)
            .next("getent passwd shows all; on a directory's accounts use a local one")
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::is_bare_container;

    #[test]
    fn a_container_is_one_only_without_a_service_manager() {
        let root = tempfile::tempdir().unwrap();
        assert!(!is_bare_container(root.path()), "a plain machine");
        fs::write(root.path().join(".dockerenv"), "").unwrap();
        assert!(is_bare_container(root.path()));
        fs::create_dir_all(root.path().join("usr/bin")).unwrap();
        fs::write(root.path().join("usr/bin/systemctl"), "").unwrap();
        assert!(
            !is_bare_container(root.path()),
            "systemd in a container has services"
        );
    }
}
