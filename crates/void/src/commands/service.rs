//! `void service`: prints the scripts that make Void a service of a machine, and that undo it.

use serde_json::json;

use super::quoted;
use crate::cli::ServiceCommand;
use crate::exit::Exit;
use crate::output::Output;

const INSTALL: &str = include_str!("../../../../deploy/install.sh");
const UNINSTALL: &str = include_str!("../../../../deploy/uninstall.sh");
const UNIT: &str = include_str!("../../../../deploy/void.service");
const INSTALL_USER: &str = include_str!("../../../../deploy/install-user.sh");
const UNINSTALL_USER: &str = include_str!("../../../../deploy/uninstall-user.sh");
const UNIT_USER: &str = include_str!("../../../../deploy/void-user.service");

pub(super) fn run(command: ServiceCommand, output: &Output) -> Exit {
    let script = match command {
        ServiceCommand::Install(args) if args.user => with_unit(INSTALL_USER, UNIT_USER),
        ServiceCommand::Install(_) => with_unit(INSTALL, UNIT),
        ServiceCommand::Uninstall(args) if args.user => UNINSTALL_USER.to_owned(),
        ServiceCommand::Uninstall(_) => UNINSTALL.to_owned(),
    };
    if output.json {
        output.value(json!({ "script": script }));
    } else {
        output.line(script.trim_end());
    }
    Exit::Done
}

/// The script with its unit, and with the path of this very program: whoever just built it has it in no `PATH`.
fn with_unit(script: &str, unit: &str) -> String {
    let this = std::env::current_exe().unwrap_or_default();
    script
        .replace("@THIS@", &quoted(&this.display().to_string()))
        .replace("@UNIT@", unit.trim_end())
}
