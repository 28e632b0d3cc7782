//! `void provision node`: the list of a machine that runs the pull executor, and where its programs go.
//!
//! A deploy looks first what runs, so that a rollback of the same service has something to return to.

use std::path::{Path, PathBuf};

use serde_json::json;
use void_act::{Arg, Entry, LIST_VERSION, List, ParamRef, RecordSpec, RecordedRef};
use void_domain::catalogue::{Action, Catalogue};
use void_domain::executions::{ActionKind, NodeOp, Route};
use void_domain::failures::FailureCode;
use void_domain::text;

use super::scripts::Script;
use super::ssh;
use crate::catalogue;
use crate::commands::Session;
use crate::exit::{CommandError, Exit};

/// Where an owner's own programs for the node kinds are expected.
const PROGRAMS: &str = "/usr/local/lib/void-node";
const LIST: &str = "/etc/void-node/list.json";
/// An image or a version: nothing that a program could read as an option or as more than a word.
const RECORDED: &str = "^[A-Za-z0-9][A-Za-z0-9._:/@+-]*$";
const RECORDED_BYTES_MAX: usize = 300;

pub(super) fn run(session: &Session<'_>, name: &str) -> Result<Exit, CommandError> {
    let list = list(&catalogue::load(&session.settings)?, name)?;
    if session.output.json {
        session.output.value(json!({"node": name, "list": list}));
    } else {
        session.output.line(script(name, &list));
    }
    Ok(Exit::Done)
}

fn list(catalogue: &Catalogue, name: &str) -> Result<List, CommandError> {
    let on_node = |action: &&Action| matches!(action.route(), Route::Node(node) if node == name);
    let actions: Vec<&Action> = catalogue
        .actions()
        .map(AsRef::as_ref)
        .filter(on_node)
        .collect();
    if actions.is_empty() {
        let known = catalogue
            .actions()
            .filter_map(|action| match action.route() {
                Route::Node(node) => Some(node),
                Route::Host(_) | Route::Proxmox(_) | Route::File => None,
            });
        let shown = text::escaped(name);
        let problem = CommandError::new(
            FailureCode::NotFound,
            format!("no action of the catalogue runs on a node \"{shown}\""),
        );
        return Err(match text::nearest(name, known) {
            Some(near) => problem.next(format!("did you mean {near}?")),
            None => problem.next("void actions ls"),
        });
    }
    let entries = actions
        .iter()
        .map(|action| entry(action, &actions))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(List {
        version: LIST_VERSION,
        host: name.to_owned(),
        stop_file: PathBuf::from("/etc/void-node/stop"),
        entries,
    })
}

fn entry(action: &Action, all: &[&Action]) -> Result<Entry, CommandError> {
    let mut entry = ssh::entry(action)?;
    let ActionKind::OnNode { op, service, .. } = &action.execution.kind else {
        return Ok(entry);
    };
    let program = format!("{PROGRAMS}/{}", op.as_str());
    entry.argv = ssh::fixed(&[&program, service]);
    let params = action.params.iter().map(|(name, _)| {
        Arg::Param(ParamRef {
            param: name.to_owned(),
        })
    });
    entry.argv.extend(params);
    match op {
        NodeOp::DeployService => {
            entry.record = Some(RecordSpec {
                argv: vec![format!("{PROGRAMS}/current"), service.clone()],
                pattern: RECORDED.to_owned(),
                max_len: RECORDED_BYTES_MAX,
            });
        }
        NodeOp::Rollback => entry.argv.extend(returns_to(service, all)),
        NodeOp::Scale => {
            entry.count = (action.execution.replicas_param.as_ref())
                .and_then(|param| ssh::count(action, PROGRAMS, param));
        }
        NodeOp::RestartService => {}
    }
    Ok(entry)
}

/// What the deploy of the same service recorded; without one the rollback's own program must know.
fn returns_to(service: &str, all: &[&Action]) -> Option<Arg> {
    let deploy = all.iter().find(|action| {
        matches!(&action.execution.kind, ActionKind::OnNode { op: NodeOp::DeployService, service: of, .. } if of == service)
    })?;
    let recorded = void_act::ActionId::parse(deploy.id.as_str())?;
    Some(Arg::Recorded(RecordedRef { recorded }))
}

fn script(name: &str, list: &List) -> String {
    let mut script = Script::new(&format!(
        "For {name}: run it there as root, after void node install. Made from the catalogue; run it again after every change of it.\n# Programs that the list names belong to root: {PROGRAMS}/deploy_service SERVICE PARAMETER…, and so on;\n# {PROGRAMS}/current SERVICE prints what runs now, as one word; {PROGRAMS}/running SERVICE how many copies run. Examples for docker compose: deploy/programs."
    ));
    script.step("writing the list");
    script.line(format!("install -d -m 0755 -o root -g root {PROGRAMS}"));
    script.list(Path::new(LIST), list);
    script.step("having void act check the list");
    script.line(format!("void act --check --list {LIST}"));
    script.done(&format!("Done: {name} has its list."))
}
