//! The tree of agents: read, whole and in force. Where the server does not answer, the file itself is looked at.

use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use void_api::tree::TopologyResponse;
use void_domain::text;
use void_tree::{RouteProblem, Routes, TOPOLOGY_BYTES_MAX, Topology, TreeProblem};

use super::findings::Findings;
use crate::client::Client;
use crate::commands::{Session, counted, quoted};

const CHECK: &str = "tree";
const TOPOLOGY: &str = "topology.json";
const ROUTES: &str = "routes.json";
/// How many things that are wrong are told one by one.
const TOLD_MAX: usize = 10;

pub(super) async fn check(session: &Session<'_>, client: &Client, findings: &mut Findings) {
    // Whether the owner may ask was said where the hosts were asked.
    let Ok(tree) = client
        .get_as::<TopologyResponse>("/api/agents/topology")
        .await
    else {
        return;
    };
    let placed = tree.agents.iter().filter(|agent| agent.depth.is_some());
    let message = format!("{} in the tree", counted(placed.count(), "agent"));
    tell(session, findings, &tree.problems, message);
}

/// The file as it is on the disk. Before the first start there is none.
pub(super) fn check_file(session: &Session<'_>, findings: &mut Findings) {
    let meta = session.settings.data.value.join("meta");
    if !meta.join(".git").exists() {
        return;
    }
    let reading = match read(&meta.join(TOPOLOGY)) {
        Ok(text) => Topology::read(text.as_deref()),
        Err(error) => {
            let problem = TreeProblem::Unreadable(text::escaped(&error.to_string()));
            return tell(session, findings, &[problem.to_string()], String::new());
        }
    };
    let mut problems: Vec<String> = reading.problems.iter().map(ToString::to_string).collect();
    problems.extend(problems_of_routes(&meta.join(ROUTES)));
    let message = format!("{} in the file", counted(reading.topology.len(), "agent"));
    tell(session, findings, &problems, message);
}

/// The allow-list of mailboxes beside it; there may be none.
fn problems_of_routes(path: &Path) -> Vec<String> {
    let problems = match read(path) {
        Ok(None) => return Vec::new(),
        Ok(Some(text)) => Routes::read(&text).err().unwrap_or_default(),
        Err(error) => vec![RouteProblem::Unreadable(text::escaped(&error.to_string()))],
    };
    let file = text::escaped(&path.display().to_string());
    let problems = problems.iter();
    problems
        .map(|problem| format!("{file}: {problem}"))
        .collect()
}

fn read(path: &Path) -> std::io::Result<Option<String>> {
    let most = u64::try_from(TOPOLOGY_BYTES_MAX).unwrap_or(u64::MAX);
    let mut text = String::new();
    match fs::File::open(path) {
        Ok(file) => file
            .take(most.saturating_add(1))
            .read_to_string(&mut text)?,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(Some(text))
}

fn tell(session: &Session<'_>, findings: &mut Findings, problems: &[String], fine: String) {
    let meta = session.settings.data.value.join("meta");
    let next = |file: &str| {
        format!(
            "mend {file} in {meta}, or put back what was committed: git -C {meta} checkout HEAD -- {file}; then void reload",
            meta = quoted(&meta.display().to_string()),
        )
    };
    let of_routes = format!("/{ROUTES}: ");
    for problem in problems.iter().take(TOLD_MAX) {
        let file = match problem.contains(&of_routes) {
            true => ROUTES,
            false => TOPOLOGY,
        };
        findings.wrong(CHECK, problem.as_str(), next(file));
    }
    match problems.len().saturating_sub(TOLD_MAX) {
        0 if problems.is_empty() => findings.fine(CHECK, fine),
        0 => {}
        more => findings.wrong(CHECK, format!("and {more} more"), "void agents tree"),
    }
}
